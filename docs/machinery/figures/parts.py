"""Share what the chapter's figures have in common: drawings that stand side by side, and exact numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import lcm

from machinery.drawing import number

__all__ = ["exact", "listed", "over_one", "plain", "side_by_side", "signed"]

NO_BREAK = "\u00a0"
_ROW = '<div class="ap-row">'


def side_by_side(*drawings: str) -> str:
    """Put drawings in a row, where there is room for it, and else one above the other."""
    return f"{_ROW}{''.join(drawings)}</div>"


@cache
def exact(value: float, parts: int = 1) -> str:
    """Write a number as the fraction that it is, in so many parts of a whole if they are given.

    Examples:
        >>> exact(0.125), exact(-2.0), exact(2.4)
        ('1/8', '−2', '12/5')
        >>> exact(0.25, parts=8)
        '2/8'
    """
    fraction = Fraction(value).limit_denominator(max(100, parts))
    if abs(fraction - value) > 1e-6:
        raise ValueError(f"{value} is no simple fraction: show it with number(…)")
    shown = f"{fraction * parts}/{parts}" if parts > 1 else str(fraction)
    return shown.replace("-", "−")


def plain(value: float, spec: str = ".2f", *, letters: int = 5) -> str:
    """Write a number as the fraction that it is if that is short, and with decimals if not.

    Examples:
        >>> plain(0.125), plain(64 / 337), plain(64 / 69, letters=4)
        ('1/8', '0.19', '0.93')
    """
    try:
        shown = exact(value)
    except ValueError:
        return number(value, spec)
    return shown if len(shown) <= letters else number(value, spec)


def over_one(shares: Sequence[float]) -> list[str]:
    """Write shares over one denominator, so that they can be compared at sight.

    Examples:
        >>> over_one([0.125, 0.125, 0.5, 0.25])
        ['1/8', '1/8', '4/8', '2/8']

        Where that would take too many parts, each is written by itself:

        >>> over_one([0.2, 1 / 7, 0.5, 1 / 3])
        ['1/5', '1/7', '1/2', '1/3']
    """
    plain = [exact(share) for share in shares]
    parts = lcm(*(Fraction(share).limit_denominator(100).denominator for share in shares))
    return [exact(share, parts=parts) for share in shares] if parts < 50 else plain


def listed(shown: Iterable[str]) -> str:
    """Write a list that no line break can take apart.

    Examples:
        >>> listed(["8", "12/5"]).replace(NO_BREAK, "~")
        '[8,~12/5]'
    """
    return f"[{f',{NO_BREAK}'.join(shown)}]"


def signed(value: float) -> str:
    """Write a number with its sign, so that a push to the right and one to the left read differently.

    Examples:
        >>> signed(1.5), signed(-40), signed(0)
        ('+1.5', '−40', '0')
    """
    return f"{round(value, 6):+g}".replace("-", "−") if round(value, 6) else "0"
