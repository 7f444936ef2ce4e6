"""Refuse what can't be right, and say why.

Every public function checks its arguments here first, so that the formula beneath can trust them. All messages
have one form: *what you gave: what must hold*.

| check | lets through | refuses |
|---|---|---|
| [`vector`][attention_primer.checks.vector] | a list of numbers | text, `None`, nothing at all |
| [`matrix`][attention_primer.checks.matrix] | a list of equally long lists | ragged rows |
| [`size`][attention_primer.checks.size] | 1, 2, 3, … | 0, negative, fractional |
| [`number`][attention_primer.checks.number] | one number | `True`, text, a list |
| [`finite`][attention_primer.checks.finite] | one finite number | NaN and infinity |
| [`flag`][attention_primer.checks.flag] | `True` or `False` | anything else, though Python would take it |
| [`positive`][attention_primer.checks.positive] | one finite number above 0 | 0, negative, NaN, infinity |
| [`boolean_matrix`][attention_primer.checks.boolean_matrix] | rows of `True` and `False` | 0 and 1, ragged rows |
| [`finite_vector`][attention_primer.checks.finite_vector] | a list of finite numbers | NaN and infinity, by place |
| [`finite_matrix`][attention_primer.checks.finite_matrix] | rows of finite numbers | NaN and infinity, by place |
| [`require_finite`][attention_primer.checks.require_finite] | finite entries | NaN and infinity, by place |
| [`require_width`][attention_primer.checks.require_width] | a row as long as the first | ragged rows |
| [`in_range`][attention_primer.checks.in_range] | sums that fit into a float | overflow |
"""

from collections.abc import Sequence
from math import isfinite
from numbers import Number, Real
from operator import index
from reprlib import Repr
from typing import Any, SupportsIndex

__all__ = [
    "Mask",
    "Matrix",
    "ShapeError",
    "Vector",
    "boolean_matrix",
    "boolean_vector",
    "entries",
    "finite",
    "finite_matrix",
    "finite_vector",
    "flag",
    "in_range",
    "matrix",
    "number",
    "positive",
    "require_finite",
    "require_width",
    "shown",
    "size",
    "vector",
]

Vector = Sequence[float]
Matrix = Sequence[Sequence[float]]
Mask = Sequence[Sequence[bool]]

_brief = Repr()
_brief.maxlist = _brief.maxtuple = _brief.maxdict = 4
_brief.maxlevel = 2


class ShapeError(ValueError):
    """Tell that lists don't fit: empty, ragged, or of sizes that don't go together.

    It is a `ValueError`, so catching that catches this, too.

    Examples:
        Rows of a matrix must be equally long:

        >>> from attention_primer import shape
        >>> shape([[1, 2], [3]])
        Traceback (most recent call last):
        attention_primer.ShapeError: A[1] has 1 entry and A[0] has 2: all rows must be equally long
    """

    # Tracebacks then name the place that people import it from.
    __module__ = "attention_primer"


def shown(given: object) -> str:
    """Show briefly what somebody gave, for the first half of a message.

    Args:
        given: Anything.

    Returns:
        Its `repr`, shortened in the middle when it is long; only its type where the `repr` itself fails.

    Examples:
        Long lists don't flood the screen:

        >>> shown(list(range(1000)))
        '[0, 1, 2, 3, ...]'
    """
    try:
        return _brief.repr(given)
    except Exception:  # Python refuses to write out whole numbers of more than 4,300 digits
        return f"<{type(given).__name__}>"


def number(given: float, name: str) -> float:
    """Let one number through as a float.

    A whole number becomes a float, a NumPy scalar becomes Python's own. A subclass of float keeps its type, so that
    a test can hand in floats that count their multiplications.

    Args:
        given: What should be a number; `True` and `False` are not numbers here, since they mean *may see*.
        name: What to call it in the message.

    Returns:
        The number as a float. NaN and infinity pass: see [`finite`][attention_primer.checks.finite].

    Raises:
        TypeError: If it is not a number.
        ValueError: If it is too large for a float.

    Examples:
        Whole numbers are welcome:

        >>> number(3, "scale")
        3.0

        Text is not, even if it looks like a number:

        >>> number("3", "scale")
        Traceback (most recent call last):
        TypeError: scale is '3': it must be a number
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        other = isinstance(given, Number) and not isinstance(given, bool)  # complex, Decimal
        kind = "a float or a whole number" if other else "a number"
        raise TypeError(f"{name} is {shown(given)}: it must be {kind}")
    if hasattr(given, "item"):  # a NumPy scalar
        return float(given.item())
    if isinstance(given, float):
        return given
    try:
        return float(given)
    except OverflowError:
        raise ValueError(f"{name} is {shown(given)}: it must fit into a float, so below 1.8e308") from None


def finite(given: float, name: str) -> float:
    """Let one number through if it is neither NaN nor infinite.

    Args:
        given: What should be a finite number.
        name: What to call it in the message.

    Returns:
        The number as a float.

    Raises:
        TypeError: If it is not a number.
        ValueError: If it is NaN or infinite.

    Examples:
        NaN is stopped at the door:

        >>> finite(float("nan"), "scale")
        Traceback (most recent call last):
        ValueError: scale is nan: it must be a finite number
    """
    value = number(given, name)
    if not isfinite(value):
        raise ValueError(f"{name} is {value}: it must be a finite number")
    return value


def positive(given: float, name: str) -> float:
    """Let one finite number through if it is above 0.

    Args:
        given: What should be a finite number above 0.
        name: What to call it in the message.

    Returns:
        The number as a float.

    Raises:
        TypeError: If it is not a number.
        ValueError: If it is NaN, infinite, 0 or negative.

    Examples:
        Zero is not above zero:

        >>> positive(0, "softcap")
        Traceback (most recent call last):
        ValueError: softcap is 0.0: it must be above 0
    """
    value = finite(given, name)
    if value <= 0:
        raise ValueError(f"{name} is {value}: it must be above 0")
    return value


def size(given: SupportsIndex, name: str, *, least: int = 1) -> int:
    """Let one count or width through: a whole number, not too small.

    Args:
        given: What should be a whole number.
        name: What to call it in the message.
        least: The smallest number that makes sense.

    Returns:
        The number as an int.

    Raises:
        TypeError: If it is not a whole number.
        ValueError: If it is below `least`, or so large that no computer counts that far.

    Examples:
        Counts start at one:

        >>> size(0, "n_heads")
        Traceback (most recent call last):
        ValueError: n_heads is 0: it must be at least 1

        Half a head is no head:

        >>> size(2.5, "n_heads")
        Traceback (most recent call last):
        TypeError: n_heads is 2.5: it must be a whole number
    """
    try:
        whole = index(given)
    except TypeError:
        whole = None
    if whole is None or isinstance(given, bool):
        raise TypeError(f"{name} is {shown(given)}: it must be a whole number")
    if whole < least:
        raise ValueError(f"{name} is {shown(whole)}: it must be at least {least}")
    if whole >= 2**64:
        raise ValueError(f"{name} is {shown(whole)}: it must be below 2**64")
    return whole


def flag(given: bool, name: str) -> bool:
    """Let `True` or `False` through.

    Args:
        given: What should be one of the two.
        name: What to call it in the message.

    Returns:
        The same.

    Raises:
        TypeError: If it is anything else.

    Examples:
        Text counts as true for Python, whatever it says:

        >>> flag("no", "causal")
        Traceback (most recent call last):
        TypeError: causal is 'no': it must be True or False
    """
    if not isinstance(given, bool):
        raise TypeError(f"{name} is {shown(given)}: it must be True or False")
    return given


def entries(given: Sequence[object], name: str, of: str) -> list[object]:
    """Let a non-empty sequence through as a fresh list of whatever it holds.

    Args:
        given: A list, a tuple, a NumPy array or another sequence; text is no sequence here.
        name: What to call it in the message.
        of: What it should hold, in the plural.

    Returns:
        A new list, never the caller's own.

    Raises:
        TypeError: If it is not a sequence.
        ShapeError: If it is empty.

    Examples:
        Text is a sequence to Python, but not a list of numbers:

        >>> entries("1, 2", "scores", "numbers")
        Traceback (most recent call last):
        TypeError: scores is '1, 2': it must be a list of numbers
    """
    if hasattr(given, "tolist") and not isinstance(given, type):  # a NumPy array: its numbers become Python's own
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray):
        raise TypeError(f"{name} is {shown(given)}: it must be a list of {of}")
    fresh = list(given)
    if not fresh:  # the copy is asked, since another sequence might be wrong about its own length
        raise ShapeError(f"{name} is empty: it must hold at least one of the {of}")
    return fresh


def vector(given: Vector, name: str) -> list[float]:
    """Let a list of numbers through as a fresh list of floats.

    Args:
        given: (d,) numbers.
        name: What to call it in the message.

    Returns:
        (d,) floats, a new list; d is at least 1.

    Raises:
        TypeError: If it is not a sequence, or holds something that is not a number.
        ShapeError: If it is empty.

    Examples:
        Whole numbers become floats:

        >>> vector([1, 2], "a")
        [1.0, 2.0]

        The message names the entry that is wrong:

        >>> vector([1, None], "a")
        Traceback (most recent call last):
        TypeError: a[1] is None: it must be a number
    """
    row = entries(given, name, "numbers")
    if set(map(type, row)) == {float}:
        return row  # type: ignore[return-value]  # the line above has just checked it
    return [number(x, f"{name}[{i}]") for i, x in enumerate(row)]  # type: ignore[arg-type]  # number checks it


def matrix(given: Matrix, name: str) -> list[list[float]]:
    """Let a list of equally long rows through as fresh lists of floats.

    Args:
        given: (n, d) numbers.
        name: What to call it in the message.

    Returns:
        (n, d) floats; no row is the caller's own.

    Raises:
        TypeError: If it is not a sequence of sequences of numbers.
        ShapeError: If it is empty or ragged.

    Examples:
        Tuples are as good as lists:

        >>> matrix(((1, 2), (3, 4)), "A")
        [[1.0, 2.0], [3.0, 4.0]]

        A flat list is no matrix:

        >>> matrix([1, 2], "A")
        Traceback (most recent call last):
        TypeError: A[0] is 1: it must be a list of numbers
    """
    rows = [vector(row, f"{name}[{i}]") for i, row in enumerate(entries(given, name, "rows"))]  # type: ignore[arg-type]
    _require_rectangle(rows, name)
    return rows


def boolean_matrix(given: Mask, name: str) -> list[list[bool]]:
    """Let rows of `True` and `False` through as fresh lists.

    Args:
        given: (n, d) booleans; a NumPy array of booleans works, too.
        name: What to call it in the message.

    Returns:
        (n, d) booleans; no row is the caller's own.

    Raises:
        TypeError: If it is not a sequence of sequences of booleans.
        ShapeError: If it is empty or ragged.

    Examples:
        Whole numbers are refused, because libraries read them both ways:

        >>> boolean_matrix([[1, 0], [1, 1]], "mask")
        Traceback (most recent call last):
        TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
    """
    rows = [boolean_vector(row, f"{name}[{i}]") for i, row in enumerate(entries(given, name, "rows"))]  # type: ignore[arg-type]
    _require_rectangle(rows, name)
    return rows


def boolean_vector(given: Sequence[bool], name: str) -> list[bool]:
    """Let a list of `True` and `False` through as a fresh list.

    Args:
        given: (n,) booleans; a NumPy array of booleans works, too.
        name: What to call it in the message.

    Returns:
        (n,) booleans, a new list.

    Raises:
        TypeError: If it is not a sequence of booleans.
        ShapeError: If it is empty.

    Examples:
        One boolean a token:

        >>> boolean_vector((True, False), "is_real")
        [True, False]
    """
    row = [_python_own(x) for x in entries(given, name, "booleans")]
    for j, x in enumerate(row):
        if not isinstance(x, bool):
            raise TypeError(
                f"{name}[{j}] is {shown(x)}: it must be True (may see) or False (hidden), "
                "since a 1 means hidden elsewhere"
            )
    return row  # type: ignore[return-value]  # the loop above has just checked it


def finite_vector(given: Vector, name: str) -> list[float]:
    """Let a list of finite numbers through as a fresh list of floats.

    Args:
        given: (d,) numbers.
        name: What to call it in the message.

    Returns:
        (d,) floats, a new list; d is at least 1.

    Raises:
        TypeError: If it is not a sequence, or holds something that is not a number.
        ShapeError: If it is empty.
        ValueError: If an entry is NaN or infinite.

    Examples:
        The place is part of the message:

        >>> finite_vector([1, float("inf")], "x")
        Traceback (most recent call last):
        ValueError: x[1] is inf: it must be a finite number
    """
    row = vector(given, name)
    require_finite(row, name)
    return row


def finite_matrix(given: Matrix, name: str) -> list[list[float]]:
    """Let a list of equally long rows of finite numbers through as fresh lists of floats.

    Args:
        given: (n, d) numbers.
        name: What to call it in the message.

    Returns:
        (n, d) floats; no row is the caller's own.

    Raises:
        TypeError: If it is not a sequence of sequences of numbers.
        ShapeError: If it is empty or ragged.
        ValueError: If an entry is NaN or infinite.

    Examples:
        Row and column are part of the message:

        >>> finite_matrix([[1, 2], [3, float("nan")]], "W_q")
        Traceback (most recent call last):
        ValueError: W_q[1][1] is nan: it must be a finite number
    """
    rows = matrix(given, name)
    for i, row in enumerate(rows):
        require_finite(row, f"{name}[{i}]")
    return rows


def require_finite(row: Vector, name: str) -> None:
    """Stop NaN and infinity, and say where they stand.

    Args:
        row: (d,) floats, already checked to be numbers.
        name: What to call the list in the message.

    Raises:
        ValueError: If an entry is NaN or infinite.

    Examples:
        The place is part of the message:

        >>> require_finite([1.0, float("inf")], "v[3]")
        Traceback (most recent call last):
        ValueError: v[3][1] is inf: it must be a finite number
    """
    if not all(map(isfinite, row)):
        i = list(map(isfinite, row)).index(False)
        finite(row[i], f"{name}[{i}]")


def in_range(sums: list[float]) -> list[float]:
    """Let sums of products through, unless one has grown past what a float can hold.

    Args:
        sums: (d,) floats that were computed from finite numbers.

    Returns:
        The same list.

    Raises:
        ValueError: If one is infinite or NaN.

    Examples:
        A float ends near ten to the 308:

        >>> in_range([1e308 * 10])
        Traceback (most recent call last):
        ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
    """
    if not all(map(isfinite, sums)):
        raise ValueError("a sum of products overflows: it must fit into a float, so below 1.8e308")
    return sums


def _python_own(x: Any) -> object:
    # NumPy has a True of its own, which a list of its rows' entries holds.
    return x.item() if getattr(x, "shape", None) == () else x


def require_width(row: Sequence[object], i: int, width: int, name: str) -> None:
    """Stop a row that is not as long as the first one.

    Args:
        row: Row i of a table, already checked to be a sequence.
        i: Its number.
        width: How long row 0 is.
        name: What to call the table in the message.

    Raises:
        ShapeError: If the row is longer or shorter.

    Examples:
        The message names both rows:

        >>> require_width([1], 3, 2, "A")
        Traceback (most recent call last):
        attention_primer.ShapeError: A[3] has 1 entry and A[0] has 2: all rows must be equally long
    """
    if len(row) != width:
        entries_here = f"{len(row)} {'entry' if len(row) == 1 else 'entries'}"
        raise ShapeError(f"{name}[{i}] has {entries_here} and {name}[0] has {width}: all rows must be equally long")


def _require_rectangle(rows: Sequence[Sequence[object]], name: str) -> None:
    for i, row in enumerate(rows):
        require_width(row, i, len(rows[0]), name)
