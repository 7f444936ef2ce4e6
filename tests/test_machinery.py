"""What is wrong on a page stops the build, with page and line; what is right is the same in every build."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest

from attention_primer import Heatmap
from machinery.drawing import (
    FIGURES,
    Figure,
    arrow,
    box,
    cell,
    computed,
    curve,
    figure,
    group,
    heatmap,
    hidden_cell,
    html_of,
    line,
    number,
    svg,
    table,
    text,
)
from machinery.errors import PageError
from machinery.expressions import agrees, evaluate, marked, shown_before, tex
from machinery.frame import with_policy
from machinery.pages import parts, proven
from machinery.proofs import ROOT
from machinery.references import named, uses
from machinery.scan import numbers, scan
from machinery.sessions import fences, unread

Build = Callable[..., "subprocess.CompletedProcess[str]"]

# Numbers and the expressions that compute them.


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("0.63", 0.6285),
        ("−8.9", -8.94),
        ("-8.9", -8.94),
        ("0.00", -0.0001),
        ("2.0", 2),
        ("5", 5.0),
        ("338,350", 338350),
        ("1,234.5", 1234.54),
        ("63%", 0.63),
        ("12.5 %", 0.125),
        ("1/8", 0.125),
        ("1/3", 1 / 3),
        ("−1/16", Fraction(-1, 16)),
        ("1e-16", 1.11e-16),
        ("∞", float("inf")),
        ("−∞", float("-inf")),
        ("[10, 2]", [10.0, 2.0]),
        ("`[10, 2]`", [10.0, 2.0]),
        ("[1,000, 2]", (1000, 2)),
        ("(3, 4)", (3, 4)),
        ("[[1, 2], [3, 0.5]]", [[1, 2], [3, 0.5]]),
        ("[1/8, 0.23]", [0.125, 0.2312]),
        ("cat", "cat"),
        ("True", True),
    ],
)
def test_what_is_shown_agrees_with_its_value(shown: str, value: object) -> None:
    assert agrees(shown, value)


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("0.62", 0.6285),
        ("2", 2.3),
        ("63%", 0.6285),
        ("1/8", 0.126),
        ("1e-16", 1e-15),
        ("∞", 1.0),
        ("5", float("nan")),
        ("[10, 2]", [10.0, 2.4]),
        ("[10, 2]", [10.0]),
        ("10, 2", [10.0, 2.0]),
        ("cat", "sat"),
        ("cat", 3),
        ("1", True),
    ],
)
def test_what_is_shown_disagrees_with_another_value(shown: str, value: object) -> None:
    assert not agrees(shown, value)


@pytest.mark.parametrize(
    ("prose", "shown"),
    [
        ("an output of [10, 2]", "[10, 2]"),
        ("| animal | 0.63", "0.63"),
        ("(so 0.63", "0.63"),
        ("**0.63", "0.63"),
        ("from 3-5", "5"),
        ("it is −0.5", "−0.5"),
        ("about 63 %", "63 %"),
        ("it is 1,338,350", "1,338,350"),
        ("the word `cat`", "`cat`"),
        ("the word *cat", "cat"),
        ("nothing ", ""),
    ],
)
def test_the_shown_text_is_what_stands_right_before_the_comment(prose: str, shown: str) -> None:
    assert shown_before(prose) == shown


def test_an_expression_knows_the_page_then_the_library_then_mathematics() -> None:
    assert evaluate("exp(0) + dot([1], [1])", {}) == 2
    assert evaluate("exp", {"exp": 5}) == 5
    assert evaluate("[n * k for n in range(2)]", {"k": 3}) == [0, 3]


@pytest.mark.parametrize(
    ("value", "latex"),
    [(2.0, "2.0"), (1024, "1024"), (338350, "338{,}350"), ("0.50", "0.50"), (Fraction(4, 2), "2"), ((1, 2), "(1, 2)")],
)
def test_a_value_in_a_formula(value: object, latex: str) -> None:
    assert tex(value) == latex


def test_no_sign_of_an_expression_is_left_for_markdown() -> None:
    assert not set("|[]()*`$<>\\_\"'{}#&;") - set("&#;<>\"'_/") & set(marked("1", "a|b[0](c)*`$<>\\_\"'{}"))


# A page is proven from top to bottom.


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("\nIt is 2.73<!-- = exp(1) -->.", "docs/p.md:2: the text says 2.73, but exp(1) is 2.718281828459045"),
        ("It is 2.72<!-- = epx(1) -->.", "docs/p.md:1: epx(1): NameError: name 'epx' is not defined"),
        ("It is 2.72<!-- = exp(1 -->.", "docs/p.md:1: exp(1: SyntaxError: '(' was never closed"),
        ("It is <!-- = exp(1) -->.", "docs/p.md:1: nothing is shown right before <!-- = exp(1) -->"),
        ("\n\n$\\run{nope}$", "docs/p.md:3: nope: NameError: name 'nope' is not defined"),
        ("$\\run{1$", "docs/p.md:1: \\run{ has no closing brace in its line"),
        ("\n<!-- figure: nope -->", "docs/p.md:2: figure nope: LookupError: there is no such figure; there are "),
        ("<!-- figure: exponential -->\n<!-- figure: exponential -->", "docs/p.md:2: figure exponential stands on"),
        ("\n```pycon\n>>> 1 + 1\n3\n```", "docs/p.md:3: 1 + 1\n  shown:\n    3\n  computed:\n    2"),
        ("```pycon\n>>> x = 1\n>>> 1 / 0\n```", "docs/p.md:3: 1 / 0\n  shown:\n    nothing\n  computed:\n    Zero"),
        ("```pycon\n```", "docs/p.md:1: this session holds no >>> line"),
        ("a\n```pycon\n>>> 1\n1\n", "docs/p.md:2: this fence is never closed"),
        ("```pycon\n>>> dot([1], [2])\n2.0\n```", "docs/p.md:2: dot([1], [2])\n"),  # a session imports what it uses
    ],
)
def test_what_is_wrong_on_a_page_is_told_with_its_line(page: str, message: str) -> None:
    with pytest.raises(PageError) as told:
        proven(page, "docs/p.md")
    assert str(told.value).startswith(message)


def test_names_flow_down_the_page() -> None:
    page = (
        "```pycon\n>>> x = 2\n```\n\n2<!-- = x -->\n\n    ```pycon\n    >>> x += 1\n    ```\n\n3<!-- = x --> $\\run{x}$"
    )
    assert proven(page, "p").endswith('<data value="3" title="x">3</data> $\\computed{3}$')


@pytest.mark.parametrize(
    "page", ["`0.5<!-- = 1 -->`", "```\n0.5<!-- = 1 -->\n```", "`\\run{nope}`", "<!-- a remark -->"]
)
def test_code_and_remarks_are_left_alone(page: str) -> None:
    assert parts(page, "p") == []
    assert proven(page, "p") == page


def test_a_fence_ends_only_at_its_own_marks() -> None:
    (fence,) = fences("````markdown\n```pycon\n>>> 1\n```\n````")
    assert (fence.language, fence.first, fence.last) == ("markdown", 1, 5)


@pytest.mark.parametrize(
    "page",
    [
        "    >>> 1\n",
        "```python\n>>> 1\n```",
        "> >>> 1",
        "```{.pycon}\nx\n```",
        "``` py3con\nx\n```",
        "~~~ doctest\n~~~",
    ],
)
def test_what_looks_like_a_session_is_found(page: str) -> None:
    assert unread(page)


# A package that may be missing.

_SESSION = "```pycon\n>>> from math import tau as x\n>>> x\n1\n```\n"


def test_without_a_package_what_needs_it_stays_as_recorded_and_says_so() -> None:
    page = proven(f"<!-- needs: no_such_package -->\n\nIt is 3.5<!-- = x.y -->.\n\n{_SESSION}", "docs/p.md")
    assert "no_such_package is not installed where the site was built" in page
    assert 'It is <data value="3.5" title="recorded from x.y">3.5</data>.' in page
    assert _SESSION in page


def test_with_the_package_the_page_is_proven_like_any_other() -> None:
    assert proven("<!-- needs: math -->\n\nA page.", "docs/p.md") == "<!-- needs: math -->\n\nA page."
    with pytest.raises(PageError, match=r"docs/p\.md:5: x"):
        proven(f"<!-- needs: math -->\n\n{_SESSION}", "docs/p.md")


def test_what_stands_above_the_need_is_computed_everywhere() -> None:
    with pytest.raises(PageError, match=r"docs/p\.md:1: the text says 3, but 1 \+ 1 is 2"):
        proven("It is 3<!-- = 1 + 1 -->.\n\n<!-- needs: no_such_package -->\n", "docs/p.md")


def test_a_formula_can_not_be_recorded() -> None:
    with pytest.raises(PageError, match=r"docs/p.md:3: \\run can't be recorded, and no_such_package is not installed"):
        proven("<!-- needs: no_such_package -->\n\n$\\run{x}$", "docs/p.md")


# Formulas, in docstrings, too.


needs_math_core = pytest.mark.skipif(not find_spec("math_core"), reason="needs math-core: pip install -e '.[docs]'")


@needs_math_core
def test_a_formula_says_what_was_computed() -> None:
    from machinery.formulas import mathml

    result = mathml(r"x = \computed{0.5}", display=True)
    assert result.startswith('<math alttext="x = 0.5" data-computed="0.5" display="block">')
    assert scan(result) == []
    assert [found.number for found in scan(mathml("x = 0.5", display=False))] == ["0.5", "0.5"]


@needs_math_core
def test_an_unknown_command_is_told_with_its_line(tmp_path: Path) -> None:
    from machinery.site import Site

    (tmp_path / "src").mkdir()
    (tmp_path / "src/vectors.py").write_text('"""Add.\n\n$$\\baz$$\n"""\n')
    site = Site(tmp_path)
    site.markdown("docs/p.md", "---\ntitle: x\n---\n\n$\\foo$\n", "$\\foo$\n")
    with pytest.raises(PageError, match=r'^docs/p.md:5: formula \\foo: Unknown command "\\foo"'):
        site.content("docs/p.md", '<span class="arithmatex">\\(\\foo\\)</span>')
    with pytest.raises(PageError, match=r"^src/vectors.py:3: formula \\baz"):
        site.content("docs/p.md", '<div class="arithmatex">\\[\\baz\\]</div>')


# Figures.


def _draw(shown: str) -> str:
    parts = [
        text(0, 10, shown),
        line(0, 0, 10, 10, dashed=True),
        arrow(0, 0, 10, 0, role="query"),
        curve(0, 0, 10, 0, bend=-5, width=3),
        box(0, 0, 5, 5, role="key"),
        cell(0, 0, 20, 0.96, "c"),
        group(hidden_cell(0, 0, 20), x=5.25),
    ]
    return svg(500, 20, *parts, title="A drawing")


def test_a_figure_has_a_name_a_caption_and_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        FIGURES, "mine", lambda: Figure(_draw(number(-0.6285)), "So.", table(["a"], [["b"]], caption="c"))
    )
    drawn = html_of("mine")
    assert '<figure class="ap-figure" id="figure-mine" data-computed="0.63">' in drawn
    assert 'role="img"' in drawn
    assert "−0.63" in drawn
    assert "var(--ap-w10-ink)" in drawn
    assert "<figcaption><p>So.</p><details data-search-exclude><summary>" in drawn
    assert "<caption>c</caption>" in drawn


@pytest.mark.parametrize(
    ("picture", "caption"), [("0.63", "So."), ("x", "It is 0.63."), ("x", '<span title="5%">x</span>')]
)
def test_a_typed_number_in_a_figure_is_refused(picture: str, caption: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIGURES, "mine", lambda: Figure(_draw(picture), caption, ""))
    with pytest.raises(ValueError, match="was typed: show it with number"):
        html_of("mine")


def test_a_figure_of_a_heatmap_needs_no_more() -> None:
    drawn = heatmap(Heatmap([[0.25, 0.75]], ["it"], ["cat", "sat"]), "Most goes to sat.")
    assert "<svg" in drawn.svg
    assert "<table" in drawn.table


def test_two_figures_of_one_name_are_refused() -> None:
    def exponential() -> Figure:
        raise NotImplementedError

    with pytest.raises(ValueError, match="two figures named exponential"):
        figure(exponential)


def test_outside_of_a_figure_numbers_are_just_written() -> None:
    assert computed("0.5") == "0.5"


# The scan.


@pytest.mark.parametrize(
    "text",
    [
        "In 2017",
        "Python 3.11.2",
        "CPython 3.11 to 3.14",
        "release 1.23.2",
        "arXiv:1706.03762",
        "#1234",
        "section 3.2",
        "Llama 3.1",
        "a KiB is 1,024 of them",
        "12 of 768",
    ],
)
def test_exceptions_pass_the_scan(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(
    "text", ["0.5", "−0.5", "5%", "5 %", "0.5%", "1024", "2048", "1,024", "2,017", "1e-16", "0.5e9"]
)
def test_numbers_that_a_run_must_have_made_are_found(text: str) -> None:
    assert len(numbers(f"It is {text}, so.")) == 1


@pytest.mark.parametrize(
    "page",
    [
        "<p>0.5</p>",
        '<img alt="0.5">',
        '<p aria-label="0.5"/>',
        "<svg><title>0.5</title></svg>",
        '<figure data-computed="0.5">0.6</figure>',
        "<code>0.5</code>",
        '<div class="language-text"><pre>0.5</pre></div>',
        "<h2>Half, or <data>0.5</data></h2>",
        '<div data-computed="0.5"></div><p>0.5</p>',
        '<li class="doc-section-item"><p><code>0.5</code></p></li>',
    ],
)
def test_the_scan_finds_what_nothing_computed(page: str) -> None:
    assert [found.number for found in scan(page)] in (["0.5"], ["0.6"])


@pytest.mark.parametrize(
    "page",
    [
        '<p><data title="x[0.5]">0.5</data></p>',
        '<div class="language-pycon highlight"><pre><span>0.5</span><br>0.5</pre></div>',
        '<figure data-computed="0.5"><svg><text>0.5</text></svg><table><td>0.5</td></table></figure>',
        "<html><p>0.5</p><article><p>Half</p></article></html>",
        '<div class="doc-signature"><code>x=0.5</code></div>',
        '<li class="doc-section-item"><b>x</b> (<code>float</code>, default: <code>0.5</code>)</li>',
    ],
)
def test_the_scan_lets_pass_what_a_run_has_made(page: str) -> None:
    assert scan(page) == []


# Links back.


def test_a_section_names_what_it_uses() -> None:
    content = (
        '<h2 id="a">A <em>b</em> &amp; c<a class="headerlink" href="#a">¶</a></h2>'
        '<p><em>In code:</em> <autoref identifier="attention_primer.dot">dot</autoref></p>'
        '<p>Also <autoref identifier="attention_primer.mix">mix</autoref></p>'
        '<p>In code: <autoref identifier="attention_primer.mix">mix</autoref>.</p>'
    )
    assert [(use.identifier[17:], use.anchor, use.title) for use in uses(content)] == [
        ("dot", "a", "A b & c"),
        ("mix", "a", "A b & c"),
    ]


def test_the_source_of_a_page_names_the_same() -> None:
    assert named(
        "*In code:* [x][attention_primer.dot], [`attention_primer.mix`][].\n\nSee [y][attention_primer.shape]"
    ) == {
        "attention_primer.dot",
        "attention_primer.mix",
    }


# The frame.


def test_the_policy_allows_a_page_its_own_inline_scripts_alone() -> None:
    page = with_policy('<meta charset="utf-8"><script>a()</script><script src="b.js"></script><script>c()</script>')
    assert page.count("'sha256-") == 2
    assert "'unsafe-inline'" not in page.partition("script-src")[2].partition(";")[0]


def test_the_style_sheet_has_the_colors_of_the_figures() -> None:
    from attention_primer.heatmaps import palette

    style = (ROOT / "docs/assets/extra.css").read_text(encoding="utf-8")
    light, dark = style.split('[data-md-color-scheme="slate"] {', 1)
    for role, color in palette().items():
        assert f"--ap-{role}: {color};" in light
    for role, color in palette(dark=True).items():
        assert f"--ap-{role}: {color};" in dark


# Whole builds.


_FIGURE = """
from attention_primer import softmaxes
from machinery.drawing import Figure, figure, number, svg, text

@figure
def edited() -> Figure:
    shown = number(softmaxes.edited())
    return Figure(svg(100, 20, text(0, 10, shown), title="A number of the library"), "So.", "")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the site with a home page and the reference alone, and with one figure, of a function to edit."""
    root = tmp_path / "copy"
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("assets", "machinery", "reference"):
        ignored = shutil.ignore_patterns("__pycache__", *(path.name for path in _figures()))
        shutil.copytree(ROOT / "docs" / folder, root / "docs" / folder, ignore=ignored)
    (root / "docs/machinery/figures/edited.py").write_text(_FIGURE, encoding="utf-8")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"^ +- (?:[^:\n]+: )?(?!reference/|index)[\w-]+\.md\n", "", config, flags=re.MULTILINE)
    (root / "mkdocs.yml").write_text(config, encoding="utf-8")
    return root


def _figures() -> list[Path]:
    return [path for path in (ROOT / "docs/machinery/figures").glob("*.py") if path.name != "__init__.py"]


def test_two_builds_are_identical_byte_for_byte(build: Build, site: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again", PYTHONHASHSEED="1", TZ="Pacific/Auckland", SOURCE_DATE_EPOCH="1")
    assert again.returncode == 0, again.stderr
    files = {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    others = {
        path.relative_to(tmp_path / "again"): path.read_bytes()
        for path in (tmp_path / "again").rglob("*")
        if path.is_file()
    }
    assert files.keys() == others.keys()
    assert [name for name in files if files[name] != others[name]] == []


def test_a_site_that_knows_its_address_has_a_sitemap_and_a_preview(build: Build, copy: Path, tmp_path: Path) -> None:
    (copy / "docs/index.md").write_text("# Home\n", encoding="utf-8")
    site = tmp_path / "site"
    result = build(site, root=copy, SITE_URL="https://example.org/a/b/")
    assert result.returncode == 0, result.stderr
    sitemap = (site / "sitemap.xml").read_text(encoding="utf-8")
    assert "<loc>https://example.org/a/b/reference/masks/</loc>" in sitemap
    assert "lastmod" not in sitemap
    assert (site / "assets/preview.png").stat().st_size < 10_000
    page = (site / "reference/masks/index.html").read_text(encoding="utf-8")
    assert '<meta property="og:url" content="https://example.org/a/b/reference/masks/">' in page
    assert '<meta name="description" content="Say who may see whom.">' in page
    assert '<base href="/a/b/">' in (site / "404.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("It is 2.73<!-- = exp(1) -->.", "docs/index.md:3: the text says 2.73"),
        ("$\\foo$", 'docs/index.md:3: formula \\foo: Unknown command "\\foo"'),
        ("[dot][attention_primer.dott]", "docs/index.md:3: there is no reference entry for attention_primer.dott"),
    ],
)
def test_a_wrong_page_stops_the_build(wrong: str, message: str, build: Build, copy: Path, tmp_path: Path) -> None:
    (copy / "docs/index.md").write_text(f"# Home\n\n{wrong}\n", encoding="utf-8")
    result = build(tmp_path / "site", root=copy)
    assert result.returncode != 0
    assert message in result.stderr


def test_an_edit_of_the_library_shows_while_the_site_is_served(build: Build, copy: Path) -> None:
    del build  # it skips where the site's tools are missing
    (copy / "docs/index.md").write_text("# Home\n\n<!-- figure: edited -->\n", encoding="utf-8")
    module = copy / "src/attention_primer/softmaxes.py"
    source = module.read_text(encoding="utf-8")
    module.write_text(f"{source}\n\ndef edited():\n    return 0.25\n", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen(  # noqa: S603  # this very Python
        [sys.executable, "-m", "mkdocs", "serve", "--quiet", "--dev-addr", address],
        cwd=copy,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(copy / "src")},
    )
    try:
        assert _served(f"http://{address}/", "0.25")
        module.write_text(f"{source}\n\ndef edited():\n    return 0.75\n", encoding="utf-8")
        assert _served(f"http://{address}/", "0.75")
    finally:
        server.terminate()
        server.wait(timeout=20)


def _served(url: str, shown: str, *, within: float = 90) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5) as page:  # noqa: S310  # it is ours
                if f">{shown}<" in page.read().decode():
                    return True
        except OSError:
            pass
        time.sleep(0.2)
    return False
