"""Say who may see whom.

A mask is a list of rows, one a query; `mask[i][j]` is True where query i may see key j. PyTorch's
`scaled_dot_product_attention` reads booleans the same way; its `nn.MultiheadAttention` reads them the other way round.

| function | row i may see |
|---|---|
| [`causal_mask`][attention_primer.masks.causal_mask] | itself and its past |
| [`sliding_window_mask`][attention_primer.masks.sliding_window_mask] | itself and the last few before it |
| [`padding_mask`][attention_primer.masks.padding_mask] | the keys that are real tokens |
| [`strided_mask`][attention_primer.masks.strided_mask] | itself, and one in every few before it |
| [`global_mask`][attention_primer.masks.global_mask] | a few chosen tokens; a chosen one sees all |
| [`combine_masks`][attention_primer.masks.combine_masks] | what all the given masks let it see |
| [`unite_masks`][attention_primer.masks.unite_masks] | what at least one of them lets it see |

Other programs write masks in other ways: [`read_mask`][attention_primer.masks.read_mask] and
[`write_mask`][attention_primer.masks.write_mask] translate.

| convention | a visible key | a hidden key | for instance |
|---|---|---|---|
| `"true-keeps"` | `True` | `False` | this library; PyTorch's `scaled_dot_product_attention` |
| `"true-drops"` | `False` | `True` | PyTorch's `nn.MultiheadAttention` |
| `"additive"` | 0 | −∞ | what is added to the scores, in all of them |
| `"ones"` | 1 | 0 | the `attention_mask` of a tokenizer |
"""

from collections.abc import Sequence
from math import inf

from attention_primer.checks import Mask, Matrix, ShapeError, boolean_matrix, boolean_vector, matrix, shown, size

__all__ = [
    "causal_mask",
    "combine_masks",
    "global_mask",
    "padding_mask",
    "read_mask",
    "sliding_window_mask",
    "strided_mask",
    "unite_masks",
    "write_mask",
]

# How each convention writes a visible key and a hidden one.
_CONVENTIONS: dict[str, tuple[float, float]] = {
    "true-keeps": (True, False),
    "true-drops": (False, True),
    "additive": (0.0, -inf),
    "ones": (1, 0),
}


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


def strided_mask(n_q: int, n_k: int | None = None, *, stride: int) -> list[list[bool]]:
    """Let every position see itself and every so many-th position before it.

    With a stride near √n, a window of the same length and this one together reach every position of the past in two
    layers, and each query sees about 2·√n keys instead of n. Source: Child et al., 2019, *Generating Long Sequences
    with Sparse Transformers*.

    Args:
        n_q: How many queries.
        n_k: How many keys, at least n_q. Defaults to n_q. The last query lines up with the last key.
        stride: How many positions apart the keys are that a query sees.

    Returns:
        Mask, (n_q, n_k). With a stride of 1 it is the causal mask.

    Raises:
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1, or there are fewer keys than queries.

    Examples:
        Every second one, counted back from the query:

        >>> strided_mask(4, stride=2)[3]
        [False, True, False, True]

        Together with a window of the same length:

        >>> sparse = unite_masks(sliding_window_mask(6, window=3), strided_mask(6, stride=3))
        >>> for row in sparse:
        ...     print("".join("x" if seen else "." for seen in row))
        x.....
        xx....
        xxx...
        xxxx..
        .xxxx.
        ..xxxx

        A step of nothing goes nowhere:

        >>> strided_mask(4, stride=0)
        Traceback (most recent call last):
        ValueError: stride is 0: it must be at least 1
    """
    n_q, n_k = _counts(n_q, n_k)
    stride = size(stride, "stride")
    past = n_k - n_q
    return [[j <= past + i and (past + i - j) % stride == 0 for j in range(n_k)] for i in range(n_q)]


def global_mask(is_global: Sequence[bool], n_q: int | None = None) -> list[list[bool]]:
    """Let a few chosen tokens see everything, and be seen by everybody.

    They collect what is far away and hand it on, while all others look around locally. So it comes with a window.
    Source: Beltagy, Peters and Cohan, 2020, *Longformer: The Long-Document Transformer*.

    Args:
        is_global: (n_k,) booleans, True for a chosen token.
        n_q: How many queries, at most n_k. Defaults to n_k. The last query lines up with the last key.

    Returns:
        Mask, (n_q, n_k); True where the query or the key is a chosen token. Without a chosen one, it shows nothing.

    Raises:
        TypeError: If is_global does not hold booleans, or n_q is not a whole number.
        ShapeError: If is_global is empty.
        ValueError: If n_q is below 1 or above n_k.

    Examples:
        A chosen token is a full row and a full column:

        >>> global_mask([False, True, False])
        [[False, True, False], [True, True, True], [False, True, False]]

        United with a window, and then without the future:

        >>> local = sliding_window_mask(5, window=2)
        >>> mask = combine_masks(causal_mask(5), unite_masks(local, global_mask([True, False, False, False, False])))
        >>> for row in mask:
        ...     print("".join("x" if seen else "." for seen in row))
        x....
        xx...
        xxx..
        x.xx.
        x..xx

        It takes booleans and no places:

        >>> global_mask([0])
        Traceback (most recent call last):
        TypeError: is_global[0] is 0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
    """
    is_global = boolean_vector(is_global, "is_global")
    n_k = len(is_global)
    n_q = size(n_k if n_q is None else n_q, "n_q")
    if n_q > n_k:
        raise ValueError(f"{n_q} queries for {n_k} keys: the last ones line up, so there must be at least as many keys")
    return [[chosen or key for key in is_global] for chosen in is_global[n_k - n_q :]]


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
    return [
        [all(cells) for cells in zip(*rows, strict=True)]
        for rows in zip(*_of_one_shape(masks, "combine_masks"), strict=True)
    ]


def unite_masks(*masks: Mask) -> list[list[bool]]:
    """Let a query see what at least one of the masks lets it see.

    Args:
        masks: One or more masks, (n_q, n_k) each.

    Returns:
        Mask, (n_q, n_k). The order of the masks doesn't matter.

    Raises:
        TypeError: If there is no mask, or one holds something else than booleans.
        ShapeError: If the masks are not of one shape.

    Examples:
        A window, and the first token for everybody:

        >>> unite_masks(sliding_window_mask(3, window=1), padding_mask([True, False, False]))
        [[True, False, False], [True, True, False], [True, False, True]]

        Hiding fillers this way shows them to whoever another mask lets see them; combine_masks hides them:

        >>> unite_masks(causal_mask(2), padding_mask([False, True]))[1]
        [True, True]
        >>> combine_masks(causal_mask(2), padding_mask([False, True]))[1]
        [False, True]

        Masks of two shapes have no common meaning:

        >>> unite_masks(causal_mask(2), causal_mask(3))
        Traceback (most recent call last):
        attention_primer.ShapeError: masks[0] is (2, 2) and masks[1] is (3, 3): all masks must have one shape
    """
    return [
        [any(cells) for cells in zip(*rows, strict=True)]
        for rows in zip(*_of_one_shape(masks, "unite_masks"), strict=True)
    ]


def read_mask(table: Mask | Matrix, convention: str) -> list[list[bool]]:
    """Translate a mask that another program has written.

    No convention can be told from the table alone: the same ones may mean opposite things. So it has to be said.

    Args:
        table: (n_q, n_k) entries of the convention, and no others.
        convention: "true-keeps", "true-drops", "additive" or "ones".

    Returns:
        Mask, (n_q, n_k); True = may see. It gives the table back when written in the same convention.

    Raises:
        TypeError: If an entry is of another kind: a number among booleans, or a boolean among numbers.
        ShapeError: If the table is empty or ragged.
        ValueError: If there is no such convention, or a number is neither of its two.

    Examples:
        Four ways to hide the second key:

        >>> read_mask([[True, False]], "true-keeps"), read_mask([[False, True]], "true-drops")
        ([[True, False]], [[True, False]])
        >>> read_mask([[0, float("-inf")]], "additive"), read_mask([[1, 0]], "ones")
        ([[True, False]], [[True, False]])

        A large negative number is only a low score, and hides nothing for sure:

        >>> read_mask([[0, -1e9]], "additive")
        Traceback (most recent call last):
        ValueError: table[0][1] is -1000000000.0: it must be 0 (may see) or -inf (hidden) to be additive
    """
    sees, hides = _signs(convention)
    if isinstance(sees, bool):
        return [[x is sees for x in row] for row in boolean_matrix(table, "table")]  # type: ignore[arg-type]
    rows = matrix(table, "table")
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            if x not in (sees, hides):
                two = f"{sees:g} (may see) or {hides:g} (hidden)"
                raise ValueError(f"table[{i}][{j}] is {x}: it must be {two} to be {convention}")
    return [[x == sees for x in row] for row in rows]


def write_mask(mask: Mask, convention: str) -> list[list[float]]:
    """Translate a mask for another program.

    Args:
        mask: (n_q, n_k) booleans; True = may see.
        convention: "true-keeps", "true-drops", "additive" or "ones".

    Returns:
        (n_q, n_k) booleans or numbers, as the convention has them. Added to scores, the additive form hides the same
        keys as the mask.

    Raises:
        TypeError: If the mask does not hold booleans.
        ShapeError: If it is empty or ragged.
        ValueError: If there is no such convention.

    Examples:
        The same triangle in four ways:

        >>> for convention in ("true-keeps", "true-drops", "additive", "ones"):
        ...     print(write_mask(causal_mask(2), convention))
        [[True, False], [True, True]]
        [[False, True], [False, False]]
        [[0.0, -inf], [0.0, 0.0]]
        [[1, 0], [1, 1]]

        A name that nobody knows:

        >>> write_mask(causal_mask(2), "boolean")
        Traceback (most recent call last):
        ValueError: convention is 'boolean': it must be one of true-keeps, true-drops, additive, ones
    """
    sees, hides = _signs(convention)
    return [[sees if seen else hides for seen in row] for row in boolean_matrix(mask, "mask")]


def _signs(convention: str) -> tuple[float, float]:
    if not isinstance(convention, str) or convention not in _CONVENTIONS:
        raise ValueError(f"convention is {shown(convention)}: it must be one of {', '.join(_CONVENTIONS)}")
    return _CONVENTIONS[convention]


def _of_one_shape(masks: Sequence[Mask], function: str) -> list[list[list[bool]]]:
    if not masks:
        raise TypeError(f"no mask was given: {function} needs at least one")
    checked = [boolean_matrix(mask, f"masks[{m}]") for m, mask in enumerate(masks)]
    shapes = [(len(mask), len(mask[0])) for mask in checked]
    for m, here in enumerate(shapes):
        if here != shapes[0]:
            raise ShapeError(f"masks[0] is {shapes[0]} and masks[{m}] is {here}: all masks must have one shape")
    return checked


def _counts(n_q: int, n_k: int | None) -> tuple[int, int]:
    n_q = size(n_q, "n_q")
    n_k = n_q if n_k is None else size(n_k, "n_k")
    if n_q > n_k:
        raise ValueError(
            f"{n_q} queries for {n_k} keys: a causal mask needs at least as many keys, or the first queries see nothing"
        )
    return n_q, n_k
