r"""Turn scores into shares: softmax and its relatives.

| name | in one line |
|---|---|
| [`softmax`][attention_primer.softmaxes.softmax] | any list of scores becomes shares that sum to 1 |
| [`log_softmax`][attention_primer.softmaxes.log_softmax] | their logarithms, also where a share underflows to 0 |
| [`softmax_jacobian`][attention_primer.softmaxes.softmax_jacobian] | how much each share moves when a score moves |
| [`OnlineSoftmax`][attention_primer.softmaxes.OnlineSoftmax] | the same shares from scores that arrive one at a time |
"""

from math import ceil, exp, fsum, inf, isfinite, isnan, log1p

from attention_primer.checks import ShapeError, Vector, finite_vector, in_range, number, require_finite, vector

__all__ = ["OnlineSoftmax", "log_softmax", "softmax", "softmax_jacobian"]


def softmax(scores: Vector) -> list[float]:
    r"""Turn scores into shares: positive, summing to 1, a lead multiplied.

    $$\text{softmax}(s)_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$

    Only differences count: a number added to all scores multiplies top and bottom alike and cancels. The code uses
    that where it must: it takes off what makes the largest score too high or too low for its e-value to fit into a
    float.

    Args:
        scores: (n,) numbers. A score of −∞ means hidden, and its share is exactly 0.

    Returns:
        (n,) shares, in the order of the scores. They are not negative and sum to 1, but for the last digits of
        floats; a share far behind the largest can underflow to 0.

    Raises:
        ShapeError: If there is no score.
        TypeError: If the scores are not a list of numbers.
        ValueError: If a score is NaN or +∞, or if all are −∞, so that there is nothing to share among.

    Examples:
        Scores of ln 1, ln 2 and ln 5 get shares in the ratio of one to two to five:

        >>> from math import inf, log
        >>> [round(share, 9) for share in softmax([log(1), log(2), log(5)])]
        [0.125, 0.25, 0.625]

        Adding the same number to all changes nothing, not even a thousand:

        >>> [round(share, 9) for share in softmax([1000 + log(1), 1000 + log(2), 1000 + log(5)])]
        [0.125, 0.25, 0.625]

        A hidden score gets nothing, and the others keep their ratio:

        >>> [round(share, 9) for share in softmax([log(1), log(3), -inf])]
        [0.25, 0.75, 0.0]

        With everything hidden there is no right answer:

        >>> softmax([-inf, -inf])
        Traceback (most recent call last):
        ValueError: all 2 scores are -inf: at least one must be a number, or there is nothing to share among
    """
    scores = _checked(scores)
    largest = max(scores)
    # e to anything from 0 to 512 fits, even a trillion times. So no more is taken off than needed, and that in whole
    # numbers, which rounds the other scores least. Where floats lie far apart, what stays of 500 rounds up to 512.
    shift = float(ceil(largest - min(max(largest, 0.0), 500.0)))
    e_values = [exp(s - shift) for s in scores]
    total = fsum(e_values)
    return [e / total for e in e_values]


def log_softmax(scores: Vector) -> list[float]:
    r"""Give the logarithm of each share, without computing the share.

    $$\log \text{softmax}(s)_i = s_i - \log \sum_j e^{s_j}$$

    A share of less than about one in $10^{323}$ underflows to 0 and has lost its logarithm; this way keeps it.

    Args:
        scores: (n,) numbers; −∞ means hidden.

    Returns:
        (n,) numbers, none above 0; their e-values sum to 1. A hidden score gives −∞.

    Raises:
        ShapeError: If there is no score.
        TypeError: If the scores are not a list of numbers.
        ValueError: If a score is NaN or +∞, or if all are −∞.

    Examples:
        Two equal scores share half and half:

        >>> from math import exp
        >>> [round(exp(x), 9) for x in log_softmax([3, 3])]
        [0.5, 0.5]

        A share too small for a float still has a logarithm:

        >>> softmax([0, -1000])
        [1.0, 0.0]
        >>> log_softmax([0, -1000])
        [0.0, -1000.0]

        NaN is no score:

        >>> log_softmax([0, float("nan")])
        Traceback (most recent call last):
        ValueError: scores[1] is nan: it must be a number, or -inf to hide it
    """
    scores = _checked(scores)
    largest = max(scores)
    # The largest counts 1 in the total. log1p takes the rest alone, which 1 would round away where it is small.
    log_total = log1p(fsum([*(exp(s - largest) for s in scores), -1.0]))
    return [(s - largest) - log_total for s in scores]


def softmax_jacobian(shares: Vector) -> list[list[float]]:
    r"""Tell how much each share moves when one score moves a little.

    $$\frac{\partial p_i}{\partial s_j} = p_i\,[i = j] - p_i\, p_j, \qquad J = \text{diag}(p) - p\,p^\top$$

    When one share nears 1, all entries near 0: softmax is saturated and passes no signal back to its scores. The
    diagonal is taken as minus the sum of the rest of its row, since p − p² loses its digits just there.

    Args:
        shares: (n,) shares, as softmax gives them: not negative, with sum 1.

    Returns:
        (n, n) numbers; symmetric, and every row sums to 0: what one share gains, the others lose.

    Raises:
        ShapeError: If there is no share.
        TypeError: If the shares are not a list of numbers.
        ValueError: If a share is negative or they don't sum to 1.

    Examples:
        Two equal shares give the largest slope that there is:

        >>> softmax_jacobian([0.5, 0.5])
        [[0.25, -0.25], [-0.25, 0.25]]

        One share of 1 gives no slope at all:

        >>> softmax_jacobian([1, 0])
        [[0.0, 0.0], [0.0, 0.0]]

        It takes shares, not scores:

        >>> softmax_jacobian([2, 1])
        Traceback (most recent call last):
        ValueError: the shares sum to 3.0: they must sum to 1, as softmax gives them
    """
    p = _shares(shares)
    rest = [[p_i * p_j if i != j else 0.0 for j, p_j in enumerate(p)] for i, p_i in enumerate(p)]
    return [[fsum(row) if i == j else 0.0 - x for j, x in enumerate(row)] for i, row in enumerate(rest)]


class OnlineSoftmax:
    r"""Mix values by softmax while the scores still arrive, keeping three things only.

    Kept are the largest score so far $m$, the sum of the e-values $\ell = \sum_j e^{s_j - m}$, and the values added up
    with these e-values, $\sum_j e^{s_j - m}\, v_j$. A new largest score rescales the other two. So no list of scores is
    ever needed: this is what makes attention in tiles possible.

    Source: Milakov and Gimelshein, 2018, *Online normalizer calculation for softmax*.

    Attributes:
        largest: The largest score so far; −∞ before the first.
        total: The sum of e-values, measured against the largest score; 0 before the first.
        weighted: (d,) the values added up with these e-values; empty before the first.

    Examples:
        The row of "sat" of the chapter, in three steps:

        >>> from math import log
        >>> online = OnlineSoftmax()
        >>> for score, value in [(log(2), [8, 0]), (log(4), [16, 0]), (log(2), [0, 8])]:
        ...     online.add(score, value)
        ...     print(round(online.total, 9), [round(x, 9) for x in online.weighted])
        1.0 [8.0, 0.0]
        1.5 [20.0, 0.0]
        2.0 [20.0, 4.0]
        >>> [round(x, 9) for x in online.output]
        [10.0, 2.0]

        With nothing seen there is nothing to mix:

        >>> OnlineSoftmax().output
        Traceback (most recent call last):
        ValueError: no visible score was added: a mix needs at least one
    """

    __slots__ = ("largest", "total", "weighted")

    def __init__(self) -> None:
        self.largest = -inf
        self.total = 0.0
        self.weighted: list[float] = []

    def add(self, score: float, value: Vector) -> None:
        """Take in one score with its value.

        Args:
            score: One number; −∞ means hidden, and then the value doesn't matter, whatever it holds.
            value: (d,) numbers, the same d every time.

        Raises:
            ShapeError: If the value is not as wide as the ones before.
            TypeError: If the score is not a number or the value not a list of numbers.
            ValueError: If the score is NaN or +∞, or a visible value is not finite; nothing is changed then.

        Examples:
            A hidden score changes nothing:

            >>> online = OnlineSoftmax()
            >>> online.add(float("-inf"), [float("nan")])
            >>> online.add(0, [5])
            >>> online.output
            [5.0]
        """
        score, value = number(score, "score"), vector(value, "value")
        if isnan(score) or score == inf:
            raise ValueError(f"score is {score}: it must be a number, or -inf to hide it")
        if score == -inf:
            return
        require_finite(value, "value")
        one = OnlineSoftmax()
        one.largest, one.total, one.weighted = score, 1.0, value
        self.merge(one)

    def merge(self, other: "OnlineSoftmax") -> None:
        r"""Take in everything that another one has seen.

        Both sums are first measured against the larger of the two largest scores, then added.

        Args:
            other: An online softmax over other keys, with values of the same width. It stays as it is.

        Raises:
            ShapeError: If the values are not equally wide.
            TypeError: If it is not an OnlineSoftmax.
            ValueError: If the values add up to more than a float can hold; nothing is changed then.

        Examples:
            Two halves, each with one score, are as good as one run over both:

            >>> left, right = OnlineSoftmax(), OnlineSoftmax()
            >>> left.add(0, [2])
            >>> right.add(0, [4])
            >>> left.merge(right)
            >>> left.output
            [3.0]
        """
        if not isinstance(other, OnlineSoftmax):
            raise TypeError(f"merge got {type(other).__name__}: it must be an OnlineSoftmax")
        if not other.weighted:
            return
        mine = self.weighted or [0.0] * len(other.weighted)
        if len(mine) != len(other.weighted):
            raise ShapeError(f"values of widths {len(mine)} and {len(other.weighted)}: all must be equally wide")
        largest = max(self.largest, other.largest)
        a, b = exp(self.largest - largest), exp(other.largest - largest)
        self.weighted = in_range([a * x + b * y for x, y in zip(mine, other.weighted, strict=True)])
        self.total = a * self.total + b * other.total
        self.largest = largest

    @property
    def output(self) -> list[float]:
        """Give the mix so far: what attention over the scores seen would hand back.

        Returns:
            (d,) numbers.

        Raises:
            ValueError: If no visible score was added.

        Examples:
            Equal scores give the plain average:

            >>> online = OnlineSoftmax()
            >>> online.add(7, [1, 0])
            >>> online.add(7, [0, 1])
            >>> online.output
            [0.5, 0.5]
        """
        if not self.weighted:
            raise ValueError("no visible score was added: a mix needs at least one")
        return [x / self.total for x in self.weighted]


def _checked(scores: Vector) -> list[float]:
    scores = vector(scores, "scores")
    if all(map(isfinite, scores)):
        return scores
    for i, s in enumerate(scores):
        if isnan(s) or s == inf:
            raise ValueError(f"scores[{i}] is {s}: it must be a number, or -inf to hide it")
    if max(scores) == -inf:
        raise ValueError(
            f"all {len(scores)} scores are -inf: at least one must be a number, or there is nothing to share among"
        )
    return scores


def _shares(shares: Vector) -> list[float]:
    shares = finite_vector(shares, "shares")
    for i, p in enumerate(shares):
        if p < 0:
            raise ValueError(f"shares[{i}] is {p}: a share must not be negative")
    total = sum(shares)  # fsum would raise its own error where the sum is too large for a float
    if abs(total - 1) > 1e-9:
        raise ValueError(f"the shares sum to {round(total, 9)}: they must sum to 1, as softmax gives them")
    return shares
