"""Read from a page what can be proven: its sessions, and the numbers that its prose ties to an expression.

| name | in one line |
|---|---|
| [`Session`][attention_primer.cli.pages.Session] | what stands between ```` ```pycon ```` and its closing fence |
| [`Tied`][attention_primer.cli.pages.Tied] | a number in prose, with the expression behind it |
| [`parts`][attention_primer.cli.pages.parts] | both, in the order of the page |
| [`agrees`][attention_primer.cli.pages.agrees] | whether prose shows a value |
| [`numbers_in`][attention_primer.cli.pages.numbers_in] | the numbers that a text shows |
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import isclose
from typing import NamedTuple

__all__ = ["Session", "Tied", "agrees", "numbers_in", "parts"]

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})\s*(\S*)")
_TIE = re.compile(r"<!--\s*=\s*(.*?)\s*-->")
_NUMBER = re.compile(
    r"(?:(?<![\w.)\]])[-−])?(?<![\w.])(?:∞|\d+/\d+|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-−+]?\d+)?(?:\s?%)?)"
)


class Session(NamedTuple):
    r"""Hold a session of a page.

    Attributes:
        line: The line of its first prompt, from 1.
        source: Prompts and answers, without the fence's indent.

    Examples:
        The fence itself is left out:

        >>> list(parts("```pycon\n>>> 1 + 1\n2\n```"))
        [Session(line=2, source='>>> 1 + 1\n2\n')]
    """

    line: int
    source: str


class Tied(NamedTuple):
    """Hold what prose says right before a comment, and the expression in the comment.

    Attributes:
        line: Where it stands, from 1.
        before: The line up to the comment.
        expression: What the number must agree with.

    Examples:
        The comment follows its number at once:

        >>> list(parts("It takes 0.25<!-- = 1 / 4 --> of it."))
        [Tied(line=1, before='It takes 0.25', expression='1 / 4')]
    """

    line: int
    before: str
    expression: str


def parts(text: str) -> Iterator[Session | Tied]:
    r"""Find what a page can prove, from top to bottom.

    Args:
        text: The page, in Markdown.

    Yields:
        Sessions and tied numbers. Comments in fences and in code are shown, not meant.

    Examples:
        Other languages are no sessions:

        >>> list(parts("```sh\nls\n```"))
        []
    """
    fence, start, body = None, 0, [""]
    for number, line in enumerate(text.split("\n"), 1):
        if fence is None:
            fence, start, body = _FENCE.match(line), number, []
            if fence is None:
                yield from _ties(line, number)
        elif line.strip() == fence[2]:
            if fence[3] == "pycon":
                yield Session(start + 1, "".join(body))
            fence = None
        else:
            body.append(line.removeprefix(fence[1]) + "\n")


def agrees(before: str, value: object) -> bool:
    """Tell whether a text ends in what shows a value.

    A number is compared at the decimals that are shown, in percent if it says so; a list number by number; anything
    else as text.

    Args:
        before: The text.
        value: A number, a list, or anything.

    Returns:
        Whether it holds.

    Examples:
        What is shown is rounded, but not wrong:

        >>> agrees("so 0.63", 0.6285), agrees("so 0.62", 0.6285), agrees("so 63 %", 0.63), agrees("so 1/8", 0.125)
        (True, False, True, True)
        >>> agrees("the output [10, 2]", [10.0, 2.0]), agrees("the `cat`", "cat")
        (True, True)
    """
    flat = list(_flat(value))
    values = [x for x in flat if isinstance(x, int | float | Fraction) and not isinstance(x, bool)]
    if not values or len(values) < len(flat):
        return before.replace("`", "").endswith(str(value))
    shown = numbers_in(before)[-len(values) :]
    ends = bool(shown) and before.rstrip("`])").endswith(shown[-1])
    return ends and len(shown) == len(values) and all(map(_shows, shown, values))


def numbers_in(text: str) -> list[str]:
    """List the numbers that a text shows.

    Args:
        text: Prose, or what Python has answered.

    Returns:
        Each number as it is written.

    Examples:
        Digits in a name are no number:

        >>> numbers_in("GPT2 gives [0.25, −1e-16], 338,350 and 63%")
        ['0.25', '−1e-16', '338,350', '63%']
    """
    return _NUMBER.findall(text)


def _ties(line: str, number: int) -> Iterator[Tied]:
    for comment in _TIE.finditer(line):
        before = line[: comment.start()]
        if before.count("`") % 2 == 0:
            yield Tied(number, before, comment[1])


def _flat(value: object) -> Iterable[object]:
    if isinstance(value, list | tuple):
        for x in value:
            yield from _flat(x)
    else:
        yield value


def _shows(shown: str, value: float | Fraction) -> bool:
    text = shown.replace("−", "-").replace(",", "").replace("∞", "inf")
    if text.endswith("%"):
        text, value = text[:-1].strip(), 100 * value
    if "/" in text:
        return isclose(value, Fraction(text), rel_tol=1e-12)
    decimals = len(text.partition("e")[0].partition(".")[2])
    if "e" in text or decimals:
        return float(f"{float(value):.{decimals}{'e' if 'e' in text else 'f'}}") == float(text)
    return isclose(value, float(text), rel_tol=1e-9, abs_tol=1e-9)
