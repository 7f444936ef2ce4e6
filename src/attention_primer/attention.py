r"""Attention itself: match, scale, hide, share, mix.

$$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$

Source: Vaswani et al., 2017, *Attention Is All You Need*, section 3.2.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from math import inf, isfinite, isnan, sqrt, tanh
from typing import NamedTuple, TypeVar

from attention_primer.checks import (
    Mask,
    Matrix,
    ShapeError,
    boolean_vector,
    entries,
    finite,
    finite_matrix,
    in_range,
    matrix,
    positive,
    require_finite,
    require_width,
    vector,
)
from attention_primer.softmaxes import softmax
from attention_primer.vectors import quick_sumprod, shape, sumprod

__all__ = ["Attention", "scaled_dot_product_attention"]

S = TypeVar("S")
T = TypeVar("T")


class Attention(NamedTuple):
    """What attention hands back.

    Attributes:
        output: (n_q, d_v), a mix of values for each query.
        weights: (n_q, n_k), the shares of this mix; each row sums to 1.

    Examples:
        It unpacks like any pair:

        >>> output, weights = scaled_dot_product_attention([[0]], [[0], [0]], [[2], [4]])
        >>> output
        [[3.0]]
        >>> weights
        [[0.5, 0.5]]
    """

    output: list[list[float]]
    weights: list[list[float]]


def scaled_dot_product_attention(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    mask: Mask | None = None,
    *,
    bias: Matrix | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> Attention:
    r"""Let every query mix the values of the keys that it may see, by how well they match.

    $$\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + \text{mask}\right) V$$

    One sequence and one head; a batch is a list comprehension. A hidden key never matters, whatever it or its value
    holds, NaN and infinity included: it is left out of every sum.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).
        mask: (n_q, n_k) booleans; True at [i][j] means that query i may see key j. By default all see all.
        bias: (n_q, n_k) numbers added to the scaled scores; −∞ hides.
        scale: What to multiply the raw scores with. Defaults to 1/√d_k.
        softcap: If given, a bound c that scaled scores approach but never pass, as c·tanh(score/c); it comes
            before bias and mask.

    Returns:
        Output, (n_q, d_v), and weights, (n_q, n_k). Each row of weights sums to 1, a hidden key has weight exactly 0,
        and each number of an output lies between the least and the largest of the values that its query may see.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, or something that it may see is NaN or infinite.

    Examples:
        Raw scores of 4, 2 and 1 become 2, 1 and a half, and then shares:

        >>> q, k, v = [[1, 1, 1, 1]], [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], [[1, 0], [0, 1], [1, 1]]
        >>> output, weights = scaled_dot_product_attention(q, k, v)
        >>> [round(w, 2) for w in weights[0]]
        [0.63, 0.23, 0.14]
        >>> [round(o, 2) for o in output[0]]
        [0.77, 0.37]

        What a hidden key holds doesn't matter:

        >>> nan = float("nan")
        >>> scaled_dot_product_attention([[1]], [[2], [nan]], [[3], [nan]], mask=[[True, False]])
        Attention(output=[[3.0]], weights=[[1.0, 0.0]])

        A query that may see nothing has no answer, so there is none:

        >>> scaled_dot_product_attention([[1]], [[2]], [[3]], mask=[[False]])
        Traceback (most recent call last):
        ValueError: query 0 may see no key: every query needs at least one
    """
    q, k, v, may_see, bias = prepared(q, k, v, mask, bias)
    scale = 1 / sqrt(len(k[0])) if scale is None else finite(scale, "scale")
    softcap = None if softcap is None else positive(softcap, "softcap")

    # Match: each query with each key that it may see. A hidden key is not even looked at.
    scores = [
        [quick_sumprod(q_i, k_j) if seen else 0.0 for k_j, seen in zip(k, seen_i, strict=True)]
        for q_i, seen_i in zip(q, may_see, strict=True)
    ]
    # Scale: wide vectors have large sums.
    scores = [[s * scale for s in s_i] for s_i in scores]
    # Cap: hold the scores within ±c.
    if softcap is not None:
        scores = [[softcap * tanh(s / softcap) for s in s_i] for s_i in scores]
    # Bias: add whatever else speaks for a key.
    if bias is not None:
        scores = [[s + b for s, b in zip(s_i, b_i, strict=True)] for s_i, b_i in zip(scores, bias, strict=True)]
    # Mask: what is hidden scores −∞.
    scores = [
        [s if seen else -inf for s, seen in zip(s_i, seen_i, strict=True)]
        for s_i, seen_i in zip(scores, may_see, strict=True)
    ]
    _require_no_overflow(scores, may_see)
    # Share: softmax, one row at a time.
    weights = [softmax(s_i) for s_i in scores]
    # Mix: the values, by their shares.
    columns = list(zip(*v, strict=True))
    output = [in_range(_mixed(w_i, columns, seen_i)) for w_i, seen_i in zip(weights, may_see, strict=True)]
    return Attention(output, weights)


def prepared(
    q: Matrix, k: Matrix, v: Matrix, mask: Mask | None, bias: Matrix | None
) -> tuple[list[list[float]], list[list[float]], list[list[float]], list[list[bool]], list[list[float]] | None]:
    """Check the arguments that every kind of attention takes.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).
        mask: (n_q, n_k) booleans or None.
        bias: (n_q, n_k) numbers or None; −∞ hides.

    Returns:
        q, k and v as floats; who may see whom, (n_q, n_k), by mask and bias together; the bias. Every query sees a key,
        and all that it sees is finite. A key that nobody sees has become zeros, so that what it held can't matter.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, or something that it may see is NaN or infinite.

    Examples:
        A key needs a value, and a value a key:

        >>> prepared([[1]], [[1], [2]], [[3]], None, None)
        Traceback (most recent call last):
        attention_primer.ShapeError: k is (2, 1) and v is (1, 1): every key needs one value
    """
    q, k, v = fitting(q, k, v)
    rows = list(visible_rows(len(q), len(k), mask, bias))
    may_see = [seen_i for seen_i, _ in rows]
    for j, seen_by in enumerate(zip(*may_see, strict=True)):
        if any(seen_by):
            require_finite(k[j], f"k[{j}]")
            require_finite(v[j], f"v[{j}]")
        else:
            k[j], v[j] = [0.0] * len(k[j]), [0.0] * len(v[j])
    return q, k, v, may_see, None if bias is None else [b_i for _, b_i in rows]


def fitting(q: Matrix, k: Matrix, v: Matrix) -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
    """Check queries, keys and values, before anybody asks who may see whom.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).

    Returns:
        q, k and v as fresh lists of floats. Keys and values may still hold NaN or infinity: they may be hidden.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers.
        ValueError: If q holds NaN or infinity.

    Examples:
        Queries and keys meet number by number:

        >>> fitting([[1, 2]], [[1]], [[3]])
        Traceback (most recent call last):
        attention_primer.ShapeError: q is (1, 2) and k is (1, 1): queries and keys must be equally wide
    """
    q, k, v = finite_matrix(q, "q"), matrix(k, "k"), matrix(v, "v")
    if len(q[0]) != len(k[0]):
        raise ShapeError(f"q is {shape(q)} and k is {shape(k)}: queries and keys must be equally wide")
    if len(k) != len(v):
        raise ShapeError(f"k is {shape(k)} and v is {shape(v)}: every key needs one value")
    return q, k, v


def visible_rows(
    n_q: int, n_k: int, mask: Mask | None, bias: Matrix | None
) -> Iterator[tuple[list[bool], list[float]]]:
    """Tell who may see whom, by mask and bias together, one query at a time.

    A row is read and checked when its turn comes. So whoever needs one at a time never holds a table of all pairs.

    Args:
        n_q: How many queries.
        n_k: How many keys.
        mask: (n_q, n_k) booleans or None; True = may see.
        bias: (n_q, n_k) numbers or None; −∞ hides.

    Yields:
        For each query: (n_k,) booleans, one of them True at least, and its row of the bias; no numbers without a bias.

    Raises:
        ShapeError: If a table doesn't fit the queries and keys.
        TypeError: If the mask is not made of booleans, or the bias not of numbers.
        ValueError: If a query may see no key, or a bias is NaN or +∞.

    Examples:
        By the mask query 1 may see both keys, but the bias hides one:

        >>> for seen_i, b_i in visible_rows(2, 2, [[True, False], [True, True]], [[0, 0], [float("-inf"), 5]]):
        ...     print(seen_i, b_i)
        [True, False] [0.0, 0.0]
        [False, True] [-inf, 5.0]
    """
    masks = ([True] * n_k for _ in range(n_q)) if mask is None else _rows(mask, "mask", boolean_vector, n_q, n_k)
    biases = repeat([], n_q) if bias is None else _rows(bias, "bias", vector, n_q, n_k)
    for i, (seen_i, b_i) in enumerate(zip(masks, biases, strict=True)):
        if b_i:
            seen_i = _unless_biased_away(seen_i, b_i, f"bias[{i}]")
        if not any(seen_i):
            raise ValueError(f"query {i} may see no key: every query needs at least one")
        yield seen_i, b_i


def _rows(table: Sequence[S], name: str, checked: Callable[[S, str], list[T]], n_q: int, n_k: int) -> Iterator[list[T]]:
    rows: list[S] = entries(table, name, "rows")  # type: ignore[assignment]  # each is checked when its turn comes
    width = len(checked(rows[0], f"{name}[0]"))
    if (len(rows), width) != (n_q, n_k):
        raise ShapeError(f"{name} is ({len(rows)}, {width}): {n_q} queries and {n_k} keys need ({n_q}, {n_k})")
    for i, given in enumerate(rows):
        row = checked(given, f"{name}[{i}]")
        require_width(row, i, width, name)
        yield row


def _unless_biased_away(seen_i: list[bool], b_i: list[float], name: str) -> list[bool]:
    for j, b in enumerate(b_i):
        if isnan(b) or b == inf:
            raise ValueError(f"{name}[{j}] is {b}: it must be a number, or -inf to hide the key")
    return [seen and b != -inf for seen, b in zip(seen_i, b_i, strict=True)]


def _require_no_overflow(scores: list[list[float]], may_see: list[list[bool]]) -> None:
    for i, (s_i, seen_i) in enumerate(zip(scores, may_see, strict=True)):
        if list(map(isfinite, s_i)) != seen_i:
            j = next(j for j, s in enumerate(s_i) if isfinite(s) != seen_i[j])
            raise ValueError(f"the score of query {i} and key {j} is {s_i[j]}: it must fit into a float")


def _mixed(w_i: list[float], columns: list[tuple[float, ...]], seen_i: list[bool]) -> list[float]:
    # Before the first and after the last key that is seen all products are 0: under a causal mask, half of them.
    span = slice(seen_i.index(True), len(seen_i) - seen_i[::-1].index(True))
    w_i = w_i[span]
    return [sumprod(w_i, column[span]) for column in columns]
