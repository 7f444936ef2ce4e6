"""Find the sessions of a page and run them as doctests.

A session is the content of a ```pycon fence. There are no flags, the closing fence is never output, and names flow
down the page, since all sessions of a page share one namespace.
"""

import re
from collections.abc import Iterator
from doctest import DebugRunner, DocTest, DocTestFailure, DocTestParser, UnexpectedException
from textwrap import indent
from typing import Any, NamedTuple

from machinery.errors import PageError

__all__ = ["Fence", "Names", "fences", "new_names", "run", "sessions", "unread"]

Names = dict[str, Any]

_OPEN = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w.+-]*)(?P<rest>[^`]*)")
_PROMPT = re.compile(r"[\s>`]*>>>(\s|$)")
_LOOKS_LIKE_SESSION = re.compile(r"[\s>]*(`{3,}|~{3,})[\s{.]*(pycon|py3?con|doctest|python-repl)", re.IGNORECASE)


class Fence(NamedTuple):
    """A fenced block: its language, its text without the fence's indent, and its first and last line, from 1."""

    language: str
    text: str
    first: int
    last: int


def fences(text: str, page: str = "page") -> Iterator[Fence]:
    r"""Yield every fenced block of a page, in order.

    Args:
        text: The Markdown.
        page: What to call it in messages.

    Examples:
        A fence may be indented, as in the answer to a question:

        >>> list(fences("??? question\n\n    ```pycon\n    >>> 1 + 1\n    2\n    ```\n"))
        [Fence(language='pycon', text='>>> 1 + 1\n2\n', first=3, last=6)]
    """
    opening, body, first = None, [""], 0
    for number, line in enumerate(text.split("\n"), 1):
        if opening is None:
            opening, body, first = _OPEN.fullmatch(line), [], number
        elif _closes(line, opening["marks"]):
            yield Fence(opening["language"], "".join(f"{inner}\n" for inner in body), first, number)
            opening = None
        else:
            body.append(line.removeprefix(opening["indent"]))
    if opening is not None:
        raise PageError(page, first, "this fence is never closed")


def _closes(line: str, marks: str) -> bool:
    text = line.strip()
    return len(text) >= len(marks) and set(text) == {marks[0]}


def sessions(text: str) -> list[Fence]:
    r"""List the sessions of a page.

    Examples:
        Other languages are no sessions:

        >>> sessions("```sh\nls\n```")
        []
    """
    return [fence for fence in fences(text) if fence.language == "pycon"]


def new_names() -> Names:
    """Start the namespace of a page, as `python` starts its own.

    Examples:
        >>> new_names()
        {'__name__': '__main__'}
    """
    return {"__name__": "__main__"}


def run(session: Fence, names: Names, page: str) -> None:
    r"""Run one session in the names of its page, and stop at the first line that does not answer as shown.

    Examples:
        >>> names = new_names()
        >>> run(Fence("pycon", ">>> x = 2\n>>> x + 1\n3\n", 1, 5), names, "docs/page.md")
        >>> names["x"]
        2
        >>> run(Fence("pycon", ">>> x + 1\n4\n", 7, 10), names, "docs/page.md")
        Traceback (most recent call last):
        machinery.errors.PageError: docs/page.md:8: x + 1
          shown:
            4
          computed:
            3
    """
    examples = DocTestParser().get_examples(session.text, page)
    if not examples:
        raise PageError(page, session.first, "this session holds no >>> line")
    test = DocTest(examples, names, page, page, session.first, session.text)
    test.globs = names  # not the copy, so that names flow down the page
    try:
        DebugRunner(verbose=False).run(test, clear_globs=False)
    except DocTestFailure as failure:
        raise _difference(session, failure, failure.got, page) from None
    except UnexpectedException as failure:
        kind, error, _ = failure.exc_info
        raise _difference(session, failure, f"{kind.__name__}: {error}", page) from None


def _difference(session: Fence, failure: DocTestFailure | UnexpectedException, got: str, page: str) -> PageError:
    example = failure.example
    shown = indent(example.want or "nothing", "    ").rstrip()
    computed = indent(got or "nothing", "    ").rstrip()
    problem = f"{example.source.strip()}\n  shown:\n{shown}\n  computed:\n{computed}"
    return PageError(page, session.first + example.lineno + 1, problem)


def unread(text: str) -> list[tuple[int, str]]:
    r"""List the lines that look like a session and would never run: line and reason.

    Examples:
        A prompt in a python fence shows output that nobody checks:

        >>> unread("```python\n>>> 1 + 1\n3\n```")
        [(2, 'a prompt outside a ```pycon fence never runs')]
    """
    read = {number for session in sessions(text) for number in range(session.first, session.last + 1)}
    firsts = {session.first for session in sessions(text)}
    wrong = []
    for number, line in enumerate(text.split("\n"), 1):
        if number not in read and _PROMPT.match(line):
            wrong.append((number, "a prompt outside a ```pycon fence never runs"))
        if number not in firsts and _LOOKS_LIKE_SESSION.match(line):
            wrong.append((number, "a session must open with ```pycon"))
    return wrong
