r"""Measure what the chapter claims about √d_k.

| function | in one line |
|---|---|
| [`sqrt_dk_experiment`][attention_primer.experiments.sqrt_dk_experiment] | spread, sharpness and slope by width |
"""

from collections.abc import Sequence
from math import fsum, hypot, sqrt
from random import Random
from typing import NamedTuple

from attention_primer.checks import entries, size
from attention_primer.softmaxes import softmax, softmax_jacobian
from attention_primer.vectors import quick_sumprod

__all__ = ["Measured", "WidthRow", "sqrt_dk_experiment"]


class Measured(NamedTuple):
    """What one way to scale does to scores and shares, on average.

    Attributes:
        spread: The standard deviation of the scores.
        largest_share: How much the best key of each query gets.
        slope: The Frobenius norm of the softmax Jacobian: how much signal can flow back to the scores.

    Examples:
        Shares that are all alike leave the largest slope:

        >>> equal = _measured([[0.0, 0.0]])
        >>> equal.largest_share, equal.slope
        (0.5, 0.5)
    """

    spread: float
    largest_share: float
    slope: float


class WidthRow(NamedTuple):
    """One width of the experiment.

    Attributes:
        d_k: How many numbers a query and a key have.
        raw: Measured on the raw scores, q·k.
        scaled: Measured on the scores divided by √d_k.

    Examples:
        It unpacks:

        >>> [(d_k, raw, scaled)] = sqrt_dk_experiment([16])
        >>> d_k, round(raw.spread / scaled.spread, 9)
        (16, 4.0)
    """

    d_k: int
    raw: Measured
    scaled: Measured


def sqrt_dk_experiment(
    widths: Sequence[int] = (4, 16, 64, 256, 1024),
    *,
    seed: int = 0,
    n_queries: int = 20,
    n_groups: int = 10,
    n_keys: int = 8,
) -> list[WidthRow]:
    r"""Draw random queries and keys of several widths, and see what the width does to the shares.

    All entries are standard normal, as at the start of training: mean 0, variance 1, independent. Then q·k has variance
    d_k, so raw scores spread like √d_k and softmax saturates; divided by √d_k, they spread alike at every width.

    Args:
        widths: The widths d_k to try.
        seed: Where the random numbers start from.
        n_queries: How many queries; each asks every group of keys, which gives n_queries · n_groups rows a width.
        n_groups: How many groups of keys.
        n_keys: How many keys a group has.

    Returns:
        One row a width, each with raw and scaled measures: spread, largest_share and slope.

    Raises:
        ShapeError: If there is no width.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        Without the divisor wide vectors let one key take nearly all; with it the width plays no part:

        >>> for row in sqrt_dk_experiment([4, 1024]):
        ...     print(row.d_k, round(row.raw.largest_share, 1), round(row.scaled.largest_share, 1))
        4 0.5 0.3
        1024 1.0 0.4

        A width is a count:

        >>> sqrt_dk_experiment([0])
        Traceback (most recent call last):
        ValueError: widths[0] is 0: it must be at least 1
    """
    widths = [size(d_k, f"widths[{w}]") for w, d_k in enumerate(entries(widths, "widths", "widths"))]  # type: ignore[arg-type]
    counts = size(n_queries, "n_queries"), size(n_groups, "n_groups"), size(n_keys, "n_keys")
    rng = Random(size(seed, "seed", least=0))
    queries = [[rng.gauss(0, 1) for _ in range(max(widths))] for _ in range(counts[0])]
    groups = [[[rng.gauss(0, 1) for _ in range(max(widths))] for _ in range(counts[2])] for _ in range(counts[1])]
    return [_row(d_k, queries, groups) for d_k in widths]


def _row(d_k: int, queries: list[list[float]], groups: list[list[list[float]]]) -> WidthRow:
    # Every width uses the first d_k numbers of the same draws: the width is all that changes.
    raw = [[quick_sumprod(q[:d_k], k_j[:d_k]) for k_j in k] for q in queries for k in groups]
    scaled = [[s / sqrt(d_k) for s in scores] for scores in raw]
    return WidthRow(d_k, _measured(raw), _measured(scaled))


def _measured(rows: list[list[float]]) -> Measured:
    shares = [softmax(scores) for scores in rows]
    norms = [hypot(*(x for row in softmax_jacobian(p) for x in row)) for p in shares]
    squares = [s * s for scores in rows for s in scores]
    return Measured(
        spread=sqrt(fsum(squares) / len(squares)),  # the mean of q·k is known to be 0
        largest_share=fsum(map(max, shares)) / len(shares),
        slope=fsum(norms) / len(norms),
    )
