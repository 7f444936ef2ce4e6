r"""Replace the exponential by a product of features, so that the past fits into a state that never grows.

Softmax needs every key again for each new query. With features $\phi$ of queries and keys apart, the sum over keys can
be taken first, once, and each new key is only added to it.

Source: Katharopoulos et al., 2020, *Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention*.

| function | in one line |
|---|---|
| [`linear_attention`][attention_primer.recurrences.linear_attention] | token by token, with a state |
| [`linear_attention_weights`][attention_primer.recurrences.linear_attention_weights] | the same shares, all at once |
"""

from collections.abc import Iterator
from itertools import chain, repeat
from math import exp
from typing import NamedTuple

from attention_primer.attention import fitting, prepared, visible_rows
from attention_primer.checks import Mask, Matrix, in_range, require_finite
from attention_primer.vectors import sumprod

__all__ = ["LinearAttention", "linear_attention", "linear_attention_weights"]

# Products of features below this are so near to the end of floats that their digits are lost.
_LEAST_TOTAL = 1e-290


class LinearAttention(NamedTuple):
    """What linear attention hands back: the output, and the state after the last token.

    Attributes:
        output: (n_q, d_v), a mix of values for each query.
        state: (d_k, d_v), the sum over all keys seen of feature times value.
        totals: (d_k,), the sum over all keys seen of their features.

    Examples:
        However many tokens were read, the state has one size:

        >>> from attention_primer import shape
        >>> for n in (2, 50):
        ...     x = [[1, 0, 0]] * n
        ...     shape(linear_attention(x, x, [[1, 2]] * n).state)
        (3, 2)
        (3, 2)
    """

    output: list[list[float]]
    state: list[list[float]]
    totals: list[float]


def linear_attention(q: Matrix, k: Matrix, v: Matrix, mask: Mask | None = None) -> LinearAttention:
    r"""Let every query read a running sum, instead of every key.

    $$S_i = \sum_{j \text{ seen by } i} \phi(k_j)\, v_j^\top, \qquad z_i = \sum_{j \text{ seen by } i} \phi(k_j), \qquad
    o_i = \frac{\phi(q_i)\, S_i}{\phi(q_i) \cdot z_i}, \qquad \phi(x) = \text{elu}(x) + 1$$

    Work and memory grow with the text and not with its square. The price: it is another function than softmax, with
    softer shares, and a sum can't forget, so each query must see all that the one before it saw.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).
        mask: (n_q, n_k) booleans; True at [i][j] means that query i may see key j. What is seen may only grow from row
            to row, as under a causal mask. By default all see all.

    Returns:
        LinearAttention with output, (n_q, d_v), state, (d_k, d_v), and totals, (d_k,). But for the last digits, the
        output is what the shares of linear_attention_weights mix.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, or not all that the one before it saw; if something that it may see is
            NaN or infinite; if features grow or shrink past what a float can hold.

    Examples:
        The second query reads the first value with a share of one fifth, the second with four fifths:

        >>> from attention_primer import causal_mask
        >>> q, k, v = [[1], [1]], [[0], [3]], [[10], [20]]
        >>> linear_attention(q, k, v, causal_mask(2)).output
        [[10.0], [18.0]]

        All at once gives the same mix:

        >>> from attention_primer import mix
        >>> [mix(shares, v) for shares in linear_attention_weights(q, k, causal_mask(2))]
        [[10.0], [18.0]]

        A window would have to forget:

        >>> from attention_primer import sliding_window_mask
        >>> linear_attention(q, k, v, sliding_window_mask(2, window=1))
        Traceback (most recent call last):
        ValueError: query 1 may not see key 0, which query 0 saw: a sum can't forget, so what is seen may only grow
    """
    q, k, v = fitting(q, k, v)
    state, totals = [[0.0] * len(v[0]) for _ in k[0]], [0.0] * len(k[0])
    output = []
    for i, (q_i, new) in enumerate(zip(q, _arrivals(len(q), len(k), mask), strict=True)):
        # Write: each key that can be seen from now on adds its value to the state, once.
        for j in new:
            require_finite(k[j], f"k[{j}]")
            require_finite(v[j], f"v[{j}]")
            features = _features(k[j])
            totals = [total + f for total, f in zip(totals, features, strict=True)]
            state = [
                [s + f * x for s, x in zip(row, v[j], strict=True)] for row, f in zip(state, features, strict=True)
            ]
        # Read: the query's features weigh the rows of the state.
        asked = _features(q_i)
        total = _checked_total(sumprod(asked, totals), i)
        output.append(in_range([sumprod(asked, column) / total for column in zip(*state, strict=True)]))
    return LinearAttention(output, state, totals)


def linear_attention_weights(q: Matrix, k: Matrix, mask: Mask | None = None) -> list[list[float]]:
    r"""Share out by products of features: the parallel form of linear attention.

    $$A_{ij} = \frac{\phi(q_i) \cdot \phi(k_j)}{\sum_{m \text{ seen by } i} \phi(q_i) \cdot \phi(k_m)}$$

    It writes down all pairs, so it saves nothing; it shows the shares that the recurrence never computes. Any mask
    will do.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        mask: (n_q, n_k) booleans; True at [i][j] means that query i may see key j. By default all see all.

    Returns:
        (n_q, n_k) shares; each row sums to 1, and a hidden key has exactly 0.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, or something that it may see is NaN or infinite; if features grow or
            shrink past what a float can hold.

    Examples:
        A key that matches far better gets four shares of five; softmax would give it nearly all:

        >>> linear_attention_weights([[3]], [[0], [3]])
        [[0.2, 0.8]]
        >>> from attention_primer import scaled_dot_product_attention
        >>> [round(w, 3) for w in scaled_dot_product_attention([[3]], [[0], [3]], [[0], [0]]).weights[0]]
        [0.0, 1.0]

        Features far below zero vanish, and nothing is left to share by:

        >>> linear_attention_weights([[-800]], [[1], [2]])
        Traceback (most recent call last):
        ValueError: what the features of query 0 and its keys have in common is 0.0: it must not vanish
    """
    q, k, _, may_see, _ = prepared(q, k, k, mask, None)
    asked, offered = [_features(q_i) for q_i in q], [_features(k_j) for k_j in k]
    weights = []
    for i, (a_i, seen_i) in enumerate(zip(asked, may_see, strict=True)):
        products = in_range([sumprod(a_i, o_j) if seen else 0.0 for o_j, seen in zip(offered, seen_i, strict=True)])
        total = _checked_total(sum(products), i)
        weights.append([x / total for x in products])
    return weights


def _features(row: list[float]) -> list[float]:
    # elu(x) + 1: a straight line above 0, the exponential below, and never negative.
    return [x + 1 if x > 0 else exp(x) for x in row]


def _arrivals(n_q: int, n_k: int, mask: Mask | None) -> Iterator[list[int]]:
    if mask is None:
        yield from chain([list(range(n_k))], repeat([], n_q - 1))
        return
    held = [False] * n_k
    for i, (seen_i, _) in enumerate(visible_rows(n_q, n_k, mask, None)):
        for j in range(n_k):
            if held[j] and not seen_i[j]:
                raise ValueError(
                    f"query {i} may not see key {j}, which query {i - 1} saw: "
                    "a sum can't forget, so what is seen may only grow"
                )
        yield [j for j in range(n_k) if seen_i[j] and not held[j]]
        held = seen_i


def _checked_total(total: float, i: int) -> float:
    if total < _LEAST_TOTAL:
        raise ValueError(f"what the features of query {i} and its keys have in common is {total}: it must not vanish")
    return in_range([total])[0]
