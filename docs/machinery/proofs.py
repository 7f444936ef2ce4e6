"""Hand the parts of every page and of the README to pytest, each as one test.

Names flow down a page as they do in the build, and start empty, so that a page imports what it uses.
"""

from collections.abc import Iterator
from pathlib import Path
from unittest import SkipTest

from sybil import Document, Example, Region, Sybil

from machinery.errors import PageError
from machinery.pages import lacking, parts
from machinery.sessions import new_names

__all__ = ["PAGES", "ROOT", "pages"]

ROOT = Path(__file__).resolve().parent.parent.parent


def pages() -> list[Path]:
    """List what a reader reads: every page that is written by hand, and the README."""
    written = sorted((ROOT / "docs").rglob("*.md"))
    return [path for path in written if "machinery" not in path.parts] + [ROOT / "README.md"]


def _regions(document: Document) -> Iterator[Region]:
    page = Path(document.path).relative_to(ROOT).as_posix()
    for part in parts(document.text, page):
        yield Region(part.start, part.end, part, _proven)


def _proven(example: Example) -> str | None:
    if package := lacking(example.namespace):
        raise SkipTest(f"{package} is not installed: pip install -e '.[{package}]'")
    try:
        example.parsed.prove(example.namespace)
    except PageError as error:
        return str(error)
    return None


PAGES = Sybil(
    parsers=[_regions],
    path=str(ROOT),
    patterns=["*.md"],
    excludes=["machinery/*.md"],
    setup=lambda names: names.update(new_names()),
)
