"""Compare a shown number with the expression that computes it.

`0.63<!-- = softmax([2, 1, 0.5])[0] -->` shows 0.63 and says where it comes from. What is shown is the text right
before the comment:

| shown | agrees when |
|---|---|
| `0.63`, `−8.9`, `1,234.5` | the value, rounded to the decimals that are shown, is the number |
| `5`, `338,350` | the value is that whole number: write `round(…)` to round to one |
| `63%`, `12.5 %` | a hundred times the value is the number |
| `1/8` | the value is that fraction |
| `1e-16` | the value, rounded to the digits that are shown, is the number |
| `∞`, `−∞` | the value is infinite |
| `[10, 2]`, `(3, 4)` | each entry agrees |
| `` `[10, 2]` `` | the same, set as code |
| any other word | `str` of the value is the word |
"""

import html
import math
import re
from fractions import Fraction
from types import ModuleType
from typing import Any

import attention_primer
from machinery.sessions import Names

__all__ = ["agrees", "evaluate", "marked", "shown_before", "tex"]

_LIST = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]$|\((?:[^()]|\([^()]*\))*\)$")
_CODE = re.compile(r"`[^`]+`$")
_NUMBER = re.compile(
    r"(?:(?<![\w.)\]])[-−])?(?<![\w.])(?<!\d,)"
    r"(?:∞|\d+/\d+|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-−]?\d+)?(?:[ \u00a0\u202f]?%)?)$"
)
_WORD = re.compile(r"[^\s|*_\[\](){}<>\"“”'‘’]+$")
_WHOLE = 1e-9
_GROUPED = 10_000  # from here on, digits are grouped by threes


def shown_before(text: str) -> str:
    """Find what is shown at the end of a text: code, a list, a number or a word.

    Examples:
        >>> shown_before("an output of [10, 2]")
        '[10, 2]'
        >>> shown_before("(so 0.63")
        '0.63'
        >>> shown_before("nothing here ")
        ''
    """
    for pattern in (_CODE, _LIST, _NUMBER, _WORD):
        if found := pattern.search(text):
            return found[0]
    return ""


def evaluate(expression: str, names: Names) -> Any:
    """Evaluate an expression of a page: its own names, then the public ones, then those of `math`.

    Examples:
        >>> evaluate("round(sqrt(x), 2)", {"x": 3})
        1.73
    """
    known = {**_public(math), **_public(attention_primer), "attention_primer": attention_primer, **names}
    return eval(expression, known)  # noqa: S307  # the page's own authors wrote it


def _public(module: ModuleType) -> Names:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names}


def agrees(shown: str, value: Any) -> bool:
    """Tell whether a shown text is what a value looks like, by the table above.

    Examples:
        >>> agrees("0.63", 0.6285), agrees("0.62", 0.6285)
        (True, False)
        >>> agrees("[10, 2]", [10.0, 2.0]), agrees("1/8", 0.125), agrees("338,350", 338350), agrees("63%", 0.63)
        (True, True, True, True)

        A whole number is exact unless the expression says `round`:

        >>> agrees("2", 2.3), agrees("2", round(2.3))
        (False, True)
    """
    shown = shown.strip("`").replace("−", "-")
    if isinstance(value, list | tuple):
        entries = _entries(shown)
        return entries is not None and len(entries) == len(value) and all(map(agrees, entries, value))
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        try:
            return _number_agrees(shown, value)
        except ValueError:
            return False
    return shown == str(value)


def _entries(shown: str) -> list[str] | None:
    """Split `[[1, 2], 3]` into `[1, 2]` and `3`; a comma without a space belongs to a number."""
    if shown[:1] + shown[-1:] not in ("[]", "()"):
        return None
    return [entry.strip() for entry in re.split(r",\s+(?![^\[(]*[\])])", shown[1:-1])]


def _number_agrees(shown: str, number: float | Fraction) -> bool:
    digits, value = shown.replace(",", ""), number
    if digits.endswith("%"):
        digits, value = digits[:-1].rstrip(), 100 * value
    if "∞" in digits:
        return bool(value == float(digits.replace("∞", "inf")))
    if "/" in digits:
        return math.isclose(value, Fraction(digits), rel_tol=1e-12)
    mantissa, e, _ = digits.partition("e")
    decimals = len(mantissa.partition(".")[2])
    if e or decimals:
        return float(f"{float(value):.{decimals}{'e' if e else 'f'}}") == float(digits)
    return math.isclose(value, int(digits), rel_tol=_WHOLE, abs_tol=_WHOLE)


def marked(shown: str, expression: str) -> str:
    """Write a shown number as a `data` element, whose title says what computed it.

    Every sign that Markdown could read is written as an entity.

    Examples:
        >>> marked("0.63", "f(x)[0]")
        '<data value="0.63" title="f&#40;x&#41;&#91;0&#93;">0.63</data>'
    """
    value = html.escape(shown.strip("`").replace("−", "-"))
    title = re.sub(r"[^\w\s.,]|_", lambda sign: f"&#{ord(sign[0])};", expression)
    return f'<data value="{value}" title="{title}">{shown}</data>'


def tex(value: Any) -> str:
    r"""Write a value in LaTeX; text stays as it is, so `format(x, ".2f")` gives two decimals.

    Examples:
        >>> tex(0.5), tex(338350), tex([10.0, 2.0]), tex(Fraction(1, 8)), tex(1e-16)
        ('0.5', '338{,}350', '[10.0, 2.0]', '\\tfrac{1}{8}', '1 \\times 10^{-16}')
        >>> tex(float("-inf"))
        '-\\infty'
    """
    match value:
        case list() | tuple():
            left, right = "[]" if isinstance(value, list) else "()"
            return left + ", ".join(map(tex, value)) + right
        case Fraction(numerator=above, denominator=below) if below > 1:
            return rf"{'-' if above < 0 else ''}\tfrac{{{abs(above)}}}{{{below}}}"
        case bool() | str():
            return str(value)
        case Fraction():
            return tex(int(value))
        case int():
            return (f"{value:,}" if abs(value) >= _GROUPED else f"{value}").replace(",", "{,}")
    mantissa, e, exponent = str(value).replace("inf", r"\infty").partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if e else mantissa
