r"""Follow the signal backwards: what the loss asks of queries, keys and values.

$$dV = A^\top dO, \quad dA = dO\, V^\top, \quad dS_i = \left(\text{diag}(A_i) - A_i A_i^\top\right) dA_i,
\quad dQ = c\; dS\, K, \quad dK = c\; dS^\top Q$$

Here $A$ are the weights, $O$ is the output and $c$ is the scale, $1/\sqrt{d_k}$.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import NamedTuple

from attention_primer.attention import prepared, scaled_dot_product_attention
from attention_primer.checks import Mask, Matrix, ShapeError, finite, finite_matrix, in_range
from attention_primer.vectors import shape, sumprod

__all__ = ["Gradients", "attention_gradients"]


class Gradients(NamedTuple):
    """How much the loss grows when a number of q, k or v grows a little.

    Attributes:
        d_q: (n_q, d_k), one number for each number of q.
        d_k: (n_k, d_k), one for each number of k; all 0 for a key that nobody sees.
        d_v: (n_k, d_v), one for each number of v; all 0 for a key that nobody sees.

    Examples:
        Each is as large as what it belongs to:

        >>> d_q, d_k, d_v = attention_gradients([[1, 2]], [[3, 4]], [[5]], d_output=[[1]])
        >>> shape(d_q), shape(d_k), shape(d_v)
        ((1, 2), (1, 2), (1, 1))
    """

    d_q: list[list[float]]
    d_k: list[list[float]]
    d_v: list[list[float]]


def attention_gradients(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    d_output: Matrix,
    mask: Mask | None = None,
    *,
    bias: Matrix | None = None,
    scale: float | None = None,
) -> Gradients:
    r"""Carry the gradient of the output back to queries, keys and values.

    $$d_{v_j} = \sum_i A_{ij}\, d_{o_i}, \qquad
    d_{s_{ij}} = A_{ij} \left(d_{o_i} \cdot v_j - \sum_m A_{im}\; d_{o_i} \cdot v_m\right)$$

    Values learn by how much they are read. Scores learn only where shares can still move: a share of 0 or 1 passes
    nothing back, and that is why scores are scaled.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).
        d_output: (n_q, d_v), how much the loss grows when a number of the output grows a little.
        mask: (n_q, n_k) booleans; True at [i][j] means that query i may see key j. By default all see all.
        bias: (n_q, n_k) numbers added to the scaled scores; −∞ hides.
        scale: What to multiply the raw scores with. Defaults to 1/√d_k.

    Returns:
        Gradients with d_q, (n_q, d_k), d_k, (n_k, d_k), and d_v, (n_k, d_v). They are the slopes of the sum of
        d_output times output, so a tiny step on either side of a number measures the same.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, something that it may see is NaN or infinite, or a gradient overflows.

    Examples:
        Two keys that match alike, and a loss that wants more: the query should turn to the key with more to give:

        >>> d_q, d_k, d_v = attention_gradients([[0]], [[1], [-1]], [[4], [0]], d_output=[[1]])
        >>> d_q
        [[2.0]]
        >>> d_v
        [[0.5], [0.5]]

        A tiny step on either side tells the same slope:

        >>> from attention_primer import scaled_dot_product_attention
        >>> after, before = [scaled_dot_product_attention([[h]], [[1], [-1]], [[4], [0]]).output for h in (1e-4, -1e-4)]
        >>> round((after[0][0] - before[0][0]) / 2e-4, 6)
        2.0

        A key that is hidden learns nothing:

        >>> attention_gradients([[1]], [[1], [2]], [[3], [4]], [[1]], mask=[[True, False]]).d_v
        [[1.0], [0.0]]

        The gradient of the output has the shape of the output:

        >>> attention_gradients([[0]], [[1], [-1]], [[4], [0]], d_output=[[1, 1]])
        Traceback (most recent call last):
        attention_primer.ShapeError: d_output is (1, 2): it must be (1, 1), as the output is
    """
    q, k, v, may_see, bias = prepared(q, k, v, mask, bias)
    d_output = finite_matrix(d_output, "d_output")
    if shape(d_output) != (len(q), len(v[0])):
        raise ShapeError(f"d_output is {shape(d_output)}: it must be ({len(q)}, {len(v[0])}), as the output is")
    scale = 1 / sqrt(len(k[0])) if scale is None else finite(scale, "scale")
    weights = scaled_dot_product_attention(q, k, v, may_see, bias=bias, scale=scale).weights

    # Mix, backwards: a value gets what its readers get, by their shares of it.
    d_v = _products(zip(*weights, strict=True), d_output)
    # A share is worth as much as its value agrees with what the output should become.
    d_weights = [
        [sumprod(d_i, v_j) if seen else 0.0 for v_j, seen in zip(v, seen_i, strict=True)]
        for d_i, seen_i in zip(d_output, may_see, strict=True)
    ]
    # Share, backwards: through the Jacobian of softmax, one row at a time.
    d_scores = [_through_softmax(w_i, d_i) for w_i, d_i in zip(weights, d_weights, strict=True)]
    # Scale, backwards; then match, backwards: q·k hands each the other.
    d_scores = [[d * scale for d in d_i] for d_i in d_scores]
    return Gradients(_products(d_scores, k), _products(zip(*d_scores, strict=True), q), d_v)


def _through_softmax(w_i: list[float], d_i: list[float]) -> list[float]:
    mean = sumprod(w_i, d_i)
    d_scores = [w * (d - mean) for w, d in zip(w_i, d_i, strict=True)]
    # What one score gains the others lose. For the largest share, d − mean would lose all its digits as it nears 1.
    top = w_i.index(max(w_i))
    d_scores[top] = 0.0
    d_scores[top] = 0.0 - sum(d_scores)
    return d_scores


def _products(A: Iterable[Sequence[float]], B: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*B, strict=True))
    return [in_range([sumprod(row, column) for column in columns]) for row in A]
