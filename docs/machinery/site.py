"""Hold one build of the site, from Markdown to the last link."""

import re
from collections.abc import Iterable
from pathlib import Path

from machinery.errors import PageError
from machinery.figures import drawn
from machinery.formulas import FormulaError, with_mathml
from machinery.pages import proven
from machinery.references import Use, uses, with_indices

__all__ = ["Site"]

_FIGURE = re.compile(r"(?:<p>\s*)?<!-- figure: (\w+) -->(?:\s*</p>)?")


class Site:
    """Know the pages of one build.

    Args:
        root: The folder of `mkdocs.yml`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sources: dict[str, tuple[str, int]] = {}
        self._uses: list[tuple[str, Use]] = []

    def markdown(self, page: str, source: str, text: str) -> str:
        """Prove a page.

        Args:
            page: Its path below the root.
            source: The whole file.
            text: The file without its header.
        """
        first_line = source.count("\n") - text.count("\n") + 1
        self._sources[page] = text, first_line
        return proven(text, page, first_line)

    def content(self, page: str, url: str, content: str) -> str:
        """Put MathML and figures into a page's HTML, and note what its sections use."""
        self._uses += [(url, use) for use in uses(content)]
        content = with_mathml(with_indices(content), lambda error: self._formula_error(page, error))
        return _FIGURE.sub(lambda found: drawn(found[1]), content)

    def uses(self) -> list[tuple[str, Use]]:
        """List what sections use, with the address of their page."""
        return self._uses

    def line_of(self, page: str, needle: str) -> int:
        """Find the line of a page on which a text stands."""
        text, first_line = self._sources[page]
        return text.count("\n", 0, max(text.find(needle), 0)) + first_line

    def _formula_error(self, page: str, error: FormulaError) -> PageError:
        text, _ = self._sources[page]
        start = error.formula.split("\\computed")[0]
        if start in text:
            return PageError(page, self.line_of(page, start), str(error))
        for path, source in self._modules():
            if error.formula in source:
                return PageError(path, source.count("\n", 0, source.find(error.formula)) + 1, str(error))
        return PageError(page, 1, str(error))

    def _modules(self) -> Iterable[tuple[str, str]]:
        for path in sorted((self._root / "src").rglob("*.py")):
            yield path.relative_to(self._root).as_posix(), path.read_text(encoding="utf-8")
