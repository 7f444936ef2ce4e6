r"""Speak for a key by a number that is added to its score, such as one for its distance.

A mask says yes or no; a bias says how much. Attention adds it to the scaled scores, so any rule can be written as one:
−∞ hides, 0 changes nothing, and the same number for a whole row cancels.

| function | in one line |
|---|---|
| [`alibi_slopes`][attention_primer.biases.alibi_slopes] | how much each head minds distance |
| [`alibi_bias`][attention_primer.biases.alibi_bias] | the bias of each head: what is far away loses |

Source: Press, Smith and Lewis, 2022, *Train Short, Test Long: Attention with Linear Biases Enables Input Length
Extrapolation*.
"""

from attention_primer.checks import size

__all__ = ["alibi_bias", "alibi_slopes"]


def alibi_slopes(n_heads: int) -> list[float]:
    r"""Give each head its own dislike of distance.

    $$\text{slope}_h = 2^{-8 (h + 1) / n_\text{heads}}$$

    That is for a power of two. For other counts the authors' code takes the slopes of the power of two below, and fills
    up with every second slope of the power of two above; other programs apply the formula to all counts.

    Args:
        n_heads: How many heads.

    Returns:
        (n_heads,) slopes, each above 0 and below 1, no two of them equal.

    Raises:
        TypeError: If n_heads is not a whole number.
        ValueError: If it is below 1.

    Examples:
        Four heads, from near to far:

        >>> alibi_slopes(4)
        [0.25, 0.0625, 0.015625, 0.00390625]

        Six heads are these four and two more:

        >>> alibi_slopes(6) == alibi_slopes(4) + alibi_slopes(8)[0:4:2]
        True

        No head, no slope:

        >>> alibi_slopes(0)
        Traceback (most recent call last):
        ValueError: n_heads is 0: it must be at least 1
    """
    n_heads = size(n_heads, "n_heads")
    below = 2 ** (n_heads.bit_length() - 1)
    return (_geometric(below) + _geometric(2 * below)[::2])[:n_heads]


def alibi_bias(n_heads: int, n_q: int, n_k: int | None = None) -> list[list[list[float]]]:
    r"""Take a little off the score of a key for each step that it is away.

    $$\text{bias}^h_{ij} = -\,\text{slope}_h \cdot |\,\text{place of } i - \text{place of } j\,|$$

    This tells attention about order without any position in the vectors, and works at lengths that were never trained.
    It hides nothing: the future is the mask's business.

    Args:
        n_heads: How many heads.
        n_q: How many queries.
        n_k: How many keys, at least n_q. Defaults to n_q. The last query lines up with the last key.

    Returns:
        n_heads matrices, (n_q, n_k) each, one for each call of attention; 0 where a token meets itself, negative
        elsewhere.

    Raises:
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1, or there are fewer keys than queries.

    Examples:
        The last head of two minds distance least:

        >>> near, far = alibi_bias(2, 3)
        >>> far
        [[0.0, -0.00390625, -0.0078125], [-0.00390625, 0.0, -0.00390625], [-0.0078125, -0.00390625, 0.0]]

        Three keys that match alike; the nearest gets most, and head by head less so:

        >>> from attention_primer import causal_mask, scaled_dot_product_attention
        >>> k = v = [[1], [1], [1]]
        >>> for bias in alibi_bias(2, 1, 3):
        ...     weights = scaled_dot_product_attention([[1]], k, v, causal_mask(1, 3), bias=bias).weights
        ...     print([round(w, 3) for w in weights[0]])
        [0.313, 0.333, 0.354]
        [0.332, 0.333, 0.335]

        More queries than keys have no common end:

        >>> alibi_bias(1, 3, 2)
        Traceback (most recent call last):
        ValueError: 3 queries for 2 keys: the last ones line up, so there must be at least as many keys
    """
    slopes, n_q = alibi_slopes(n_heads), size(n_q, "n_q")
    n_k = n_q if n_k is None else size(n_k, "n_k")
    if n_q > n_k:
        raise ValueError(f"{n_q} queries for {n_k} keys: the last ones line up, so there must be at least as many keys")
    past = n_k - n_q
    # 0.0 minus the product, since minus zero would be printed as -0.0.
    return [[[0.0 - slope * abs(past + i - j) for j in range(n_k)] for i in range(n_q)] for slope in slopes]


def _geometric(n: int) -> list[float]:
    return [2.0 ** (-8 * (h + 1) / n) for h in range(n)]
