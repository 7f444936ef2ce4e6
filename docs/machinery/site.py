"""Hold one build of the site, from Markdown to the last link."""

import re
from collections.abc import Callable
from pathlib import Path

from machinery.errors import PageError
from machinery.figures import drawn
from machinery.formulas import FormulaError, with_mathml
from machinery.pages import proven
from machinery.references import unresolved, uses, with_indices, with_uses
from machinery.wholes import unbroken

__all__ = ["Site"]

_FIGURE = re.compile(r"(?:<p>\s*)?<!-- figure: (\w+) -->(?:\s*</p>)?")

Address = Callable[[str], str]


class Site:
    """Know the pages of one build.

    Args:
        root: The folder of `mkdocs.yml`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sources: dict[str, str] = {}
        self._sections: dict[str, list[tuple[str, str]]] = {}

    def markdown(self, page: str, source: str, text: str) -> str:
        """Prove a page.

        Args:
            page: Its path below the root.
            source: The whole file.
            text: The file without its header; blank lines stand in for that, so that lines are counted right.
        """
        text = "\n" * (source.count("\n") - text.count("\n")) + text
        self._sources[page] = text
        return proven(text, page)

    def content(self, page: str, content: str) -> str:
        """Put MathML and figures into a page's HTML, and keep together what belongs together."""
        content = with_mathml(with_indices(content), lambda error: self._formula_error(page, error))
        return _FIGURE.sub(lambda found: drawn(found[1]), unbroken(content))

    def note_uses(self, page: str, url: str, content: str, address: Address) -> None:
        """Note what the sections of a page use.

        Args:
            page: Its path below the root.
            url: Its address.
            content: Its HTML, before links are resolved.
            address: Finds the address of a reference entry, or raises `KeyError`.
        """
        for identifier in unresolved(content, address):
            if identifier in self._sources[page]:  # else it stands in a docstring, and the plugin tells where
                line = self._line_of(self._sources[page], identifier)
                raise PageError(page, line, f"there is no reference entry for {identifier}")
        for use in uses(content):
            self._sections.setdefault(address(use.identifier), []).append((f"{url}#{use.anchor}", use.title))

    def linked_back(self, url: str, content: str, relative: Address) -> str:
        """Add to the reference entries of a page the sections that use them.

        Args:
            url: The page's address.
            content: Its HTML.
            relative: Writes an address as seen from this page.
        """
        links = {
            entry.partition("#")[2]: [(relative(section), title) for section, title in sections]
            for entry, sections in self._sections.items()
            if entry.partition("#")[0] == url
        }
        return with_uses(content, links)

    def _formula_error(self, page: str, error: FormulaError) -> PageError:
        start = error.formula.partition("\\computed")[0]
        if start in self._sources[page]:
            return PageError(page, self._line_of(self._sources[page], start), str(error))
        for path in sorted((self._root / "src").rglob("*.py")):  # then it stands in a docstring
            source = path.read_text(encoding="utf-8")
            if error.formula in source:
                return PageError(path.relative_to(self._root).as_posix(), self._line_of(source, start), str(error))
        return PageError(page, 1, str(error))

    @staticmethod
    def _line_of(text: str, needle: str) -> int:
        return text.count("\n", 0, text.find(needle)) + 1
