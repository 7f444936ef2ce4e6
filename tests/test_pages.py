"""The pages say what the library does, all of it, and nothing that was not run."""

import pkgutil
import re
from pathlib import Path

import pytest

import attention_primer
from machinery.pages import Session
from machinery.proofs import PAGES, ROOT, pages
from machinery.references import named
from machinery.scan import scan
from machinery.sessions import unread

PUBLIC = sorted(attention_primer.__all__)

# Names whose page is still to come. Take a name from the list when it has its "In code" line.
WITHOUT_A_PLACE: set[str] = set()

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
each_name = pytest.mark.parametrize("name", PUBLIC)


# Sessions.


@each_page
def test_every_session_of_a_page_runs(page: Path) -> None:
    fences = re.findall(r"^[ \t>]*```+[ \t]*pycon", page.read_text(encoding="utf-8"), re.MULTILINE)
    run = [example for example in PAGES.parse(page).examples() if isinstance(example.parsed, Session)]
    assert PAGES.should_parse(page)
    assert len(run) == len(fences)


@each_page
def test_nothing_looks_like_a_session_and_never_runs(page: Path) -> None:
    assert unread(page.read_text(encoding="utf-8")) == []


# The map.


def _modules() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(attention_primer.__path__, "attention_primer."))
    return [name for name in found if not name.endswith((".cli", ".__main__"))]


@each_name
def test_a_public_name_has_a_rung(name: str) -> None:
    assert f"| `{name}`" in attention_primer.__doc__ or f", `{name}`" in attention_primer.__doc__


@each_name
def test_a_public_name_has_examples(name: str) -> None:
    shown = getattr(attention_primer, name).__doc__
    _, _, examples = shown.partition("Examples:\n")
    assert ">>> " in examples


@pytest.mark.parametrize("module", _modules())
def test_a_module_has_a_reference_page_in_the_navigation(module: str) -> None:
    page = f"reference/{module.rpartition('.')[2]}.md"
    assert f"::: {module}\n" in (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"- {page}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@each_name
def test_a_public_name_has_a_place_in_the_text_or_is_listed_as_still_to_come(name: str) -> None:
    links = set[str]().union(*(named(page.read_text(encoding="utf-8")) for page in pages()))
    # The twin in PyTorch bears some of the same names for other things.
    has_a_place = any(name in link.split(".") for link in links if not link.startswith("attention_primer.torch_twin."))
    assert has_a_place != (name in WITHOUT_A_PLACE), "take it from the list" if has_a_place else "no page uses it"


# The built site.


def _built_pages(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]


def test_nothing_is_shown_that_was_not_computed(site: Path) -> None:
    for page in _built_pages(site):
        assert scan(page.read_text(encoding="utf-8")) == [], page.relative_to(site)


@each_name
def test_a_public_name_has_a_reference_entry(name: str, site: Path) -> None:
    entries = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").rglob("*.html"))
    assert re.search(rf'<h\d id="attention_primer\.\w+\.{name}" class="doc doc-heading"', entries)


def test_every_formula_became_mathml(site: Path) -> None:
    for page in _built_pages(site):
        text = page.read_text(encoding="utf-8")
        assert "arithmatex" not in text, page
        assert r"\computed" not in text, page
        assert r"\run{" not in text, page


def test_the_font_for_formulas_has_all_their_signs_and_knows_how_to_set_them(site: Path) -> None:
    from fontTools.ttLib import TTFont

    from machinery.fonts import signs

    file = site / "assets/math.woff2"
    assert file.stat().st_size < 16_000
    with TTFont(file) as font:
        assert "MATH" in font
        has = set(map(chr, font.getBestCmap()))
    needs = signs(page.read_text(encoding="utf-8") for page in _built_pages(site))
    assert len(needs) > 100
    assert needs <= has


def test_no_page_loads_from_another_host(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*\bhref=["']?(?:https?:)?//"""
    )
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_no_link_of_a_page_depends_on_where_the_site_stands(site: Path) -> None:
    for page in _built_pages(site):
        assert not re.search(r"""\b(?:href|src)=["']?/""", page.read_text(encoding="utf-8")), page


def test_no_id_stands_twice_on_a_page(site: Path) -> None:
    for page in _built_pages(site):
        ids = re.findall(r'\sid="([^"<>\s]+)"', page.read_text(encoding="utf-8"))
        assert len(ids) == len(set(ids)), (page, sorted(i for i in set(ids) if ids.count(i) > 1))


def test_every_table_became_one(site: Path) -> None:
    for page in _built_pages(site):
        prose = re.sub(r"<pre\b.*?</pre>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\|\s*:?---|^\s*\|", prose, flags=re.MULTILINE), page


def test_every_column_of_a_table_has_a_name(site: Path) -> None:
    for page in _built_pages(site):
        assert not re.search(r"<th\b[^>]*>\s*</th>", page.read_text(encoding="utf-8")), page


def test_a_colon_in_what_a_function_returns_makes_no_type(site: Path) -> None:
    entry = (site / "reference/softmaxes/index.html").read_text(encoding="utf-8")
    assert "<p>(n, n) numbers; symmetric, and every row sums to 0: what one share gains, the others lose.</p>" in entry


def test_the_code_that_builds_the_site_is_not_published(site: Path) -> None:
    assert not (site / "machinery").exists()
