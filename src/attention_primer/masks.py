"""Say who may see whom.

A mask is a list of rows, one a query; `mask[i][j]` is True where query i may see key j. PyTorch's
`scaled_dot_product_attention` reads booleans the same way; its `nn.MultiheadAttention` reads them the other way round.

| function | row i may see |
|---|---|
| [`causal_mask`][attention_primer.masks.causal_mask] | itself and its past |
| [`sliding_window_mask`][attention_primer.masks.sliding_window_mask] | itself and the last few before it |
| [`padding_mask`][attention_primer.masks.padding_mask] | the keys that are real tokens |
| [`combine_masks`][attention_primer.masks.combine_masks] | what all the given masks let it see |
"""

from collections.abc import Sequence

from attention_primer.checks import Mask, ShapeError, boolean_matrix, boolean_vector, size

__all__ = ["causal_mask", "combine_masks", "padding_mask", "sliding_window_mask"]


def causal_mask(n_q: int, n_k: int | None = None) -> list[list[bool]]:
    """Let every position see itself and its past, and hide its future.

    Row i belongs to query i. The diagonal is always True, so no row is empty and softmax is never asked to share
    nothing. When there are more keys than queries, the extra keys are the cached past: the last query lines up with
    the last key. (PyTorch's `is_causal=True` lines up the first ones instead.)

    Args:
        n_q: How many queries.
        n_k: How many keys, at least n_q. Defaults to n_q.

    Returns:
        Mask, (n_q, n_k); True at [i][j] means that query i may see key j.

    Raises:
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1, or there are fewer keys than queries.

    Examples:
        Three tokens make a lower triangle:

        >>> causal_mask(3)
        [[True, False, False], [True, True, False], [True, True, True]]

        One new token after four cached ones may see all five:

        >>> causal_mask(1, 5)
        [[True, True, True, True, True]]

        More queries than keys would leave the first queries with nothing to see:

        >>> causal_mask(3, 2)
        Traceback (most recent call last):
        ValueError: 3 queries for 2 keys: a causal mask needs at least as many keys, or the first queries see nothing
    """
    n_q, n_k = _counts(n_q, n_k)
    past = n_k - n_q
    return [[j <= past + i for j in range(n_k)] for i in range(n_q)]


def sliding_window_mask(n_q: int, n_k: int | None = None, *, window: int) -> list[list[bool]]:
    """Let every position see itself and the few positions just before it.

    The window counts the token itself, so a window of 1 sees nothing else. (Some libraries count the tokens before it
    instead: their 2 is the 3 here.)

    Args:
        n_q: How many queries.
        n_k: How many keys, at least n_q. Defaults to n_q. The last query lines up with the last key.
        window: How many keys each query may see at most, itself included.

    Returns:
        Mask, (n_q, n_k). With a window of n_k or more it is the causal mask.

    Raises:
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1, or there are fewer keys than queries.

    Examples:
        A window of two makes two diagonals:

        >>> sliding_window_mask(3, window=2)
        [[True, False, False], [True, True, False], [False, True, True]]

        A window as long as the text hides only the future:

        >>> sliding_window_mask(3, window=3) == causal_mask(3)
        True

        A window that holds nothing is refused:

        >>> sliding_window_mask(3, window=0)
        Traceback (most recent call last):
        ValueError: window is 0: it must be at least 1
    """
    n_q, n_k = _counts(n_q, n_k)
    window = size(window, "window")
    past = n_k - n_q
    return [[past + i - window < j <= past + i for j in range(n_k)] for i in range(n_q)]


def padding_mask(is_real: Sequence[bool], n_q: int | None = None) -> list[list[bool]]:
    """Hide the keys that are only padding.

    Padding fills up short sentences so that several fit into one table. It hides columns: nobody may look at a
    filler. The rows of fillers stay, and what they compute is thrown away.

    Args:
        is_real: (n_k,) booleans, True for a real token.
        n_q: How many queries. Defaults to n_k.

    Returns:
        Mask, (n_q, n_k); every row is is_real.

    Raises:
        TypeError: If is_real does not hold booleans, or n_q is not a whole number.
        ShapeError: If is_real is empty.
        ValueError: If n_q is below 1.

    Examples:
        The last of three tokens is a filler:

        >>> padding_mask([True, True, False])
        [[True, True, False], [True, True, False], [True, True, False]]

        Ones and zeros are refused, because other libraries read a one as a filler:

        >>> padding_mask([1, 1, 0])
        Traceback (most recent call last):
        TypeError: is_real[0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
    """
    is_real = boolean_vector(is_real, "is_real")
    n_q = size(len(is_real) if n_q is None else n_q, "n_q")
    return [list(is_real) for _ in range(n_q)]


def combine_masks(*masks: Mask) -> list[list[bool]]:
    """Let a query see what all the masks let it see.

    Args:
        masks: One or more masks, (n_q, n_k) each.

    Returns:
        Mask, (n_q, n_k). The order of the masks doesn't matter. A row may end up empty; attention then refuses it.

    Raises:
        TypeError: If there is no mask, or one holds something else than booleans.
        ShapeError: If the masks are not of one shape.

    Examples:
        Causal, and the first token is a filler:

        >>> combine_masks(causal_mask(3), padding_mask([False, True, True]))
        [[False, False, False], [False, True, False], [False, True, True]]

        Masks of two shapes have no common meaning:

        >>> combine_masks(causal_mask(2), causal_mask(3))
        Traceback (most recent call last):
        attention_primer.ShapeError: masks[0] is (2, 2) and masks[1] is (3, 3): all masks must have one shape
    """
    if not masks:
        raise TypeError("no mask was given: combine_masks needs at least one")
    checked = [boolean_matrix(mask, f"masks[{m}]") for m, mask in enumerate(masks)]
    shapes = [(len(mask), len(mask[0])) for mask in checked]
    for m, here in enumerate(shapes):
        if here != shapes[0]:
            raise ShapeError(f"masks[0] is {shapes[0]} and masks[{m}] is {here}: all masks must have one shape")
    return [[all(cells) for cells in zip(*rows, strict=True)] for rows in zip(*checked, strict=True)]


def _counts(n_q: int, n_k: int | None) -> tuple[int, int]:
    n_q = size(n_q, "n_q")
    n_k = n_q if n_k is None else size(n_k, "n_k")
    if n_q > n_k:
        raise ValueError(
            f"{n_q} queries for {n_k} keys: a causal mask needs at least as many keys, or the first queries see nothing"
        )
    return n_q, n_k
