"""Share what the chapter's figures have in common: drawings that stand side by side, and exact numbers."""

from fractions import Fraction

__all__ = ["exact", "side_by_side", "signed"]

_ROW = '<div class="ap-row" style="display:flex;flex-wrap:wrap;gap:1.2rem 1rem">'


def side_by_side(*drawings: str) -> str:
    """Put drawings in a row, where there is room for it, and else one above the other."""
    return f"{_ROW}{''.join(drawings)}</div>"


def exact(value: float, parts: int = 1) -> str:
    """Write a number as the fraction that it is, in so many parts of a whole if they are given.

    Examples:
        >>> exact(0.125), exact(-2.0), exact(2.4)
        ('1/8', '−2', '12/5')
        >>> exact(0.25, parts=8)
        '2/8'
    """
    fraction = Fraction(value).limit_denominator(100)
    if abs(fraction - value) > 1e-6:
        raise ValueError(f"{value} is no simple fraction: show it with number(…)")
    shown = f"{fraction * parts}/{parts}" if parts > 1 else str(fraction)
    return shown.replace("-", "−")


def signed(value: float) -> str:
    """Write a number with its sign, so that a push to the right and one to the left read differently.

    Examples:
        >>> signed(1.5), signed(-40), signed(0)
        ('+1.5', '−40', '0')
    """
    return f"{round(value, 6):+g}".replace("-", "−") if round(value, 6) else "0"
