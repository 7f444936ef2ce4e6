"""Read a page as a list of parts, and prove them from top to bottom.

The build and the tests use the same parts: the build puts what `prove` returns in their place, the tests only run it.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import accumulate
from typing import NamedTuple, Protocol

from machinery.errors import PageError
from machinery.expressions import agrees, evaluate, marked, shown_before, tex
from machinery.figures import drawn
from machinery.sessions import Fence, Names, fences, new_names, run

__all__ = ["Need", "Part", "Placeholder", "Session", "TiedNumber", "TiedTex", "lacking", "parts", "proven"]

_COMMENT = re.compile(r"<!--\s*(?P<kind>=|figure:|needs:)\s*(?P<body>.*?)\s*-->")
_RUN = re.compile(r"\\run(?=\{)")
_LACKING = "<lacking>"  # no name of Python, so that no page can define it
_RECORDED = (
    '!!! note "Recorded"\n\n'
    "    What this page shows was computed with {0}, and kept, since {0} is not installed where the site was built. "
    "A test that has {0} computes it anew and holds it true.\n"
)


class Part(Protocol):
    """A piece of a page that has something to prove, from `start` to `end` in its text."""

    @property
    def start(self) -> int:
        """Where it begins."""

    @property
    def end(self) -> int:
        """Where it ends."""

    def prove(self, names: Names) -> str:
        """Prove it in the names that the page has defined so far; return what replaces it, or nothing if it stays."""


class Need(NamedTuple):
    """`<!-- needs: package -->`: what follows is computed where the package is installed, and recorded elsewhere."""

    start: int
    end: int
    package: str

    def prove(self, names: Names) -> str:
        """Look for the package; without it, say so on the page and leave alone what follows."""
        if find_spec(self.package):
            return ""
        names[_LACKING] = self.package
        return _RECORDED.format(self.package)


def lacking(names: Names) -> str:
    """Name the package that a page needs and that is not installed, or nothing.

    Examples:
        >>> names = new_names()
        >>> _ = Need(0, 0, "no_such_package").prove(names)
        >>> lacking(names), lacking(new_names())
        ('no_such_package', '')
    """
    return str(names.get(_LACKING, ""))


class Session(NamedTuple):
    """A ```pycon fence."""

    start: int
    end: int
    page: str
    fence: Fence

    def prove(self, names: Names) -> str:
        """Run it, if it can; it stays as it is."""
        if not lacking(names):
            run(self.fence, names, self.page)
        return ""


class TiedNumber(NamedTuple):
    """`0.63<!-- = expression -->`."""

    start: int
    end: int
    page: str
    line: int
    shown: str
    expression: str

    def prove(self, names: Names) -> str:
        """Evaluate the expression, compare, and mark the number as computed."""
        if not self.shown:
            raise PageError(self.page, self.line, f"nothing is shown right before <!-- = {self.expression} -->")
        if lacking(names):
            return marked(self.shown, f"recorded from {self.expression}")
        value = _value(self.expression, names, self.page, self.line)
        if not agrees(self.shown, value):
            problem = f"the text says {self.shown}, but {self.expression} is {value!r}"
            raise PageError(self.page, self.line, problem)
        return marked(self.shown, self.expression)


class TiedTex(NamedTuple):
    r"""`\run{expression}` in a formula."""

    start: int
    end: int
    page: str
    line: int
    expression: str

    def prove(self, names: Names) -> str:
        r"""Evaluate the expression and fill it in, marked as computed."""
        if lacking(names):
            raise PageError(self.page, self.line, rf"\run can't be recorded, and {lacking(names)} is not installed")
        return rf"\computed{{{tex(_value(self.expression, names, self.page, self.line))}}}"


class Placeholder(NamedTuple):
    """`<!-- figure: name -->`."""

    start: int
    end: int
    page: str
    line: int
    name: str

    def prove(self, names: Names) -> str:  # noqa: ARG002  # a figure computes its own numbers
        """Draw the figure, to see that it can be drawn; the comment stays until the page is HTML."""
        try:
            drawn(self.name)
        except Exception as error:
            raise PageError(self.page, self.line, f"figure {self.name}: {_told(error)}") from error
        return ""


def parts(text: str, page: str) -> list[Part]:
    r"""Find the parts of a page, in order.

    Args:
        text: The Markdown.
        page: What to call the page in messages.

    Examples:
        >>> [type(part).__name__ for part in parts("2<!-- = 1 + 1 -->\n\n$\\run{1 + 1}$\n\n<!-- figure: x -->", "page")]
        ['TiedNumber', 'TiedTex', 'Placeholder']
    """
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    blocks = list(fences(text, page))
    fenced = {number for block in blocks for number in range(block.first, block.last + 1)}
    found: list[Part] = [
        Session(starts[block.first - 1], starts[block.last] - 1, page, block)
        for block in blocks
        if block.language == "pycon"
    ]
    for number, line in enumerate(lines, 1):
        if number not in fenced:
            found += _in_line(line, starts[number - 1], page, number)
    _refuse_twins([part for part in found if isinstance(part, Placeholder)])
    return sorted(found, key=lambda part: part.start)


def _refuse_twins(placeholders: list[Placeholder]) -> None:
    seen: set[str] = set()
    for part in placeholders:
        if part.name in seen:
            raise PageError(part.page, part.line, f"figure {part.name} stands on this page already")
        seen.add(part.name)


def _in_line(line: str, offset: int, page: str, number: int) -> Iterator[Part]:
    for comment in _COMMENT.finditer(line):
        start, end = offset + comment.start(), offset + comment.end()
        if _is_code(line, comment.start()):
            continue
        if comment["kind"] == "needs:":
            yield Need(start, end, comment["body"])
        elif comment["kind"] == "figure:":
            yield Placeholder(start, end, page, number, comment["body"])
        else:
            shown = shown_before(line[: comment.start()])
            yield TiedNumber(start - len(shown), end, page, number, shown, comment["body"])
    for macro in _RUN.finditer(line):
        if not _is_code(line, macro.start()):
            end = _closing_brace(line, macro.end(), page, number)
            yield TiedTex(offset + macro.start(), offset + end + 1, page, number, line[macro.end() + 1 : end])


def _is_code(line: str, position: int) -> bool:
    return line.count("`", 0, position) % 2 == 1


def _closing_brace(line: str, opening: int, page: str, number: int) -> int:
    depth = 0
    for i in range(opening, len(line)):
        depth += (line[i] == "{") - (line[i] == "}")
        if depth == 0:
            return i
    raise PageError(page, number, r"\run{ has no closing brace in its line")


def _value(expression: str, names: Names, page: str, line: int) -> object:
    try:
        return evaluate(expression, names)
    except Exception as error:
        raise PageError(page, line, f"{expression}: {_told(error)}") from error


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def proven(text: str, page: str) -> str:
    """Prove a page from top to bottom, and return its Markdown with every part in its place.

    Examples:
        >>> proven("So 2.72<!-- = exp(1) --> it is.", "docs/page.md")
        'So <data value="2.72" title="exp&#40;1&#41;">2.72</data> it is.'
        >>> proven("So 2.73<!-- = exp(1) --> it is.", "docs/page.md")
        Traceback (most recent call last):
        machinery.errors.PageError: docs/page.md:1: the text says 2.73, but exp(1) is 2.718281828459045
    """
    names, done, at = new_names(), [], 0
    for part in parts(text, page):
        shown = part.prove(names)
        done += [text[at : part.start], shown or text[part.start : part.end]]
        at = part.end
    return "".join([*done, text[at:]])
