"""Hold attention with one classic bug each: wrong on purpose, one whole function a bug.

The first line of a docstring says what went wrong, the rest how to tell and where it happened in public. On the
sentence "The cat sat down" every bug leaves weights of its own: see
[`fingerprint`][attention_primer.grader.impostors.fingerprint].

Most take queries, keys, values and a mask; those in `LAYER_IMPOSTORS` take the vectors of the words, the three
matrices and a mask. All return output and weights, as the right one does. None checks its arguments, and some give NaN:
so do the programs that they stand for.
"""

from collections.abc import Callable
from math import exp, fsum, inf, nan, sqrt

from attention_primer.attention import Attention
from attention_primer.examples import worked_example_sentence
from attention_primer.vectors import matmul, sumprod, transpose

__all__ = ["ATTENTION_IMPOSTORS", "HARMLESS", "LAYER_IMPOSTORS", "fingerprint"]

Table = list[list[float]]
Mask = list[list[bool]]
AttentionLike = Callable[[Table, Table, Table, Mask], Attention]
LayerLike = Callable[[Table, Table, Table, Table, Mask], Attention]


# The wrong scale.


def no_scale(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The scores are not divided by √d_k.

    The shares are too sharp, and sharper the wider the vectors: every ratio is the right one to the power of √d_k.
    """
    weights = [_share(row) for row in _hide(_match(q, k), mask)]
    return Attention(_mix(weights, v), weights)


def divided_by_d_k(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The scores are divided by d_k instead of √d_k.

    The shares are too flat: every ratio is the right one's √d_k-th root.
    """
    scores = [[s / len(k[0]) for s in row] for row in _match(q, k)]
    weights = [_share(row) for row in _hide(scores, mask)]
    return Attention(_mix(weights, v), weights)


def multiplied_by_sqrt_d_k(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The scores are multiplied by √d_k instead of divided by it.

    The shares are far too sharp; one key takes nearly all.
    """
    scores = [[s * sqrt(len(k[0])) for s in row] for row in _match(q, k)]
    weights = [_share(row) for row in _hide(scores, mask)]
    return Attention(_mix(weights, v), weights)


def sign_of_scores(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The scores have the wrong sign, so that the worst match gets the most."""
    scores = [[-s / sqrt(len(k[0])) for s in row] for row in _match(q, k)]
    weights = [_share(row) for row in _hide(scores, mask)]
    return Attention(_mix(weights, v), weights)


# The mask, missing or misplaced.


def no_mask(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask is never used, so every word reads the future.

    Only the last row is right. In training the scores look too good to be true: the answer leaks.
    """
    weights = [_share(row) for row in _scores(q, k)]
    return Attention(_mix(weights, v), weights)


def mask_after_softmax(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask is multiplied in after the softmax, and the shares are not renewed.

    The rows don't sum to 1: what the future took is lost.
    """
    shares = [_share(row) for row in _scores(q, k)]
    weights = [[w * seen for w, seen in zip(*rows, strict=True)] for rows in zip(shares, mask, strict=True)]
    return Attention(_mix(weights, v), weights)


def mask_multiplied_in(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """Hidden scores are set to 0 instead of −∞.

    A score of 0 is an ordinary score: e to the 0 is 1, so the future still gets a share.
    """
    scaled = _scores(q, k)
    scores = [[s * seen for s, seen in zip(*rows, strict=True)] for rows in zip(scaled, mask, strict=True)]
    weights = [_share(row) for row in scores]
    return Attention(_mix(weights, v), weights)


def mask_added_as_ones(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """A mask of ones and zeros is added to the scores.

    What may be seen gets a lead of one point, a factor of e, and nothing is hidden.
    """
    scaled = _scores(q, k)
    scores = [[s + seen for s, seen in zip(*rows, strict=True)] for rows in zip(scaled, mask, strict=True)]
    weights = [_share(row) for row in scores]
    return Attention(_mix(weights, v), weights)


def mask_transposed(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask is turned over its diagonal, so that words see the future and not the past."""
    turned = [list(column) for column in zip(*mask, strict=True)]
    weights = [_share(row) for row in _hide(_scores(q, k), turned)]
    return Attention(_mix(weights, v), weights)


def mask_inverted(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """True is read as hidden, where it means may see.

    The last row sees nothing and turns to NaN. Libraries differ in what True means, so this happens when one's mask is
    handed to another.
    """
    inverted = [[not seen for seen in row] for row in mask]
    weights = [_share(row) for row in _hide(_scores(q, k), inverted)]
    return Attention(_mix(weights, v), weights)


def diagonal_hidden(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask hides each word from itself.

    The first row sees nothing and turns to NaN: the triangle starts one place too early.
    """
    shifted = [[seen and i != j for j, seen in enumerate(row)] for i, row in enumerate(mask)]
    weights = [_share(row) for row in _hide(_scores(q, k), shifted)]
    return Attention(_mix(weights, v), weights)


def sees_one_ahead(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask lets each word see the next one, which it should predict.

    The triangle starts one place too late; the first row is not alone with itself.
    """
    shifted = [[seen or (j > 0 and mask[i][j - 1]) for j, seen in enumerate(row)] for i, row in enumerate(mask)]
    weights = [_share(row) for row in _hide(_scores(q, k), shifted)]
    return Attention(_mix(weights, v), weights)


def window_of_two(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """Each word sees only itself and the one before it.

    A sliding window is on where the whole past was meant, or its width is off by one.
    """
    near = [[seen and j > i - 2 for j, seen in enumerate(row)] for i, row in enumerate(mask)]
    weights = [_share(row) for row in _hide(_scores(q, k), near)]
    return Attention(_mix(weights, v), weights)


# The wrong axis, or the wrong list.


def softmax_down_the_columns(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The softmax runs over the queries instead of the keys.

    The columns sum to 1 and the rows don't.
    """
    scores = _hide(_scores(q, k), mask)
    weights = transpose([_share(column) for column in transpose(scores)])
    return Attention(_mix(weights, v), weights)


def softmax_over_everything(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """One softmax runs over the whole table of scores.

    All weights together sum to 1, not each row.
    """
    scores = _hide(_scores(q, k), mask)
    shares = iter(_share([s for row in scores for s in row]))
    weights = [[next(shares) for _ in row] for row in scores]
    return Attention(_mix(weights, v), weights)


def queries_and_keys_swapped(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """Keys ask and queries answer: the scores are turned over their diagonal."""
    weights = [_share(row) for row in _hide(_scores(k, q), mask)]
    return Attention(_mix(weights, v), weights)


def queries_ignored(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """Every visible key gets the same share: a plain average, whatever is asked."""
    scores = [[0.0] * len(k) for _ in q]
    weights = [_share(row) for row in _hide(scores, mask)]
    return Attention(_mix(weights, v), weights)


# The wrong matrix.


def divided_by_sqrt_d_model(x: Table, W_q: Table, W_k: Table, W_v: Table, mask: Mask) -> Attention:
    """The scores are divided by √d_model instead of √d_k.

    With several heads the width of the model is not the width of a key, and the shares come out too flat.
    """
    q, k, v = matmul(x, W_q), matmul(x, W_k), matmul(x, W_v)
    scores = [[s / sqrt(len(x[0])) for s in row] for row in _match(q, k)]
    weights = [_share(row) for row in _hide(scores, mask)]
    return Attention(_mix(weights, v), weights)


def W_q_for_the_keys(x: Table, W_q: Table, W_k: Table, W_v: Table, mask: Mask) -> Attention:
    """The keys are made with W_q, so that asking and offering are the same.

    The scores are the same on both sides of the diagonal.
    """
    q, v = matmul(x, W_q), matmul(x, W_v)
    weights = [_share(row) for row in _hide(_scores(q, q), mask)]
    return Attention(_mix(weights, v), weights)


def x_itself_as_queries_and_keys(x: Table, W_q: Table, W_k: Table, W_v: Table, mask: Mask) -> Attention:
    """The words are compared with themselves; W_q and W_k are never used.

    Every word likes best what is most like it.
    """
    weights = [_share(row) for row in _hide(_scores(x, x), mask)]
    return Attention(_mix(weights, matmul(x, W_v)), weights)


# Not bugs: other ways to the same answer.


def masked_and_renewed(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """The mask comes after the softmax, and each row is divided by what is left.

    The same shares, at a higher price; it fails only where all that is visible has underflowed to 0.
    """
    shares = [_share(row) for row in _scores(q, k)]
    kept = [[w * seen for w, seen in zip(*rows, strict=True)] for rows in zip(shares, mask, strict=True)]
    weights = [[w / fsum(row) for w in row] for row in kept]
    return Attention(_mix(weights, v), weights)


def minus_a_billion(q: Table, k: Table, v: Table, mask: Mask) -> Attention:
    """Hidden scores are set to minus a billion instead of −∞.

    The same shares while no row is empty and no real score comes near it; an empty row silently becomes an average.
    """
    scaled = _scores(q, k)
    scores = [[s if seen else -1e9 for s, seen in zip(*rows, strict=True)] for rows in zip(scaled, mask, strict=True)]
    weights = [_share(row) for row in scores]
    return Attention(_mix(weights, v), weights)


ATTENTION_IMPOSTORS: tuple[AttentionLike, ...] = (
    no_scale,
    divided_by_d_k,
    multiplied_by_sqrt_d_k,
    no_mask,
    mask_after_softmax,
    mask_multiplied_in,
    mask_added_as_ones,
    softmax_down_the_columns,
    softmax_over_everything,
    queries_and_keys_swapped,
    mask_transposed,
    mask_inverted,
    diagonal_hidden,
    sees_one_ahead,
    window_of_two,
    sign_of_scores,
    queries_ignored,
)
LAYER_IMPOSTORS: tuple[LayerLike, ...] = (
    divided_by_sqrt_d_model,
    W_q_for_the_keys,
    x_itself_as_queries_and_keys,
)
HARMLESS: tuple[AttentionLike, ...] = (masked_and_renewed, minus_a_billion)


def fingerprint(impostor: Callable[..., Attention]) -> list[list[float]]:
    """Run one of them on "The cat sat down", and show the weights that it leaves.

    Args:
        impostor: A function of this module, or one of yours that takes q, k, v and a mask.

    Returns:
        (4, 4) weights; NaN where the bug gives NaN.

    Examples:
        Without the scale the row of "sat" has a ratio of four where it should have two:

        >>> [round(w * 6, 6) for w in fingerprint(no_scale)[2]]
        [1.0, 4.0, 1.0, 0.0]

        The right one has quarters:

        >>> from attention_primer import scaled_dot_product_attention
        >>> [round(w * 4, 6) for w in fingerprint(scaled_dot_product_attention)[2]]
        [1.0, 2.0, 1.0, 0.0]
    """
    steps = worked_example_sentence()
    if impostor in LAYER_IMPOSTORS:
        return impostor(steps.x, steps.W_q, steps.W_k, steps.W_v, steps.mask).weights
    return impostor(steps.q, steps.k, steps.v, steps.mask).weights


# The right boxes of the diagram, without checks.


def _match(q: Table, k: Table) -> Table:
    return [[sumprod(q_i, k_j) for k_j in k] for q_i in q]


def _scores(q: Table, k: Table) -> Table:
    return [[s / sqrt(len(k[0])) for s in row] for row in _match(q, k)]


def _hide(scores: Table, mask: Mask) -> Table:
    return [[s if seen else -inf for s, seen in zip(*rows, strict=True)] for rows in zip(scores, mask, strict=True)]


def _share(scores: list[float]) -> list[float]:
    e_values = [exp(s) for s in scores]
    total = fsum(e_values)
    return [e / total if total else nan for e in e_values]


def _mix(weights: Table, v: Table) -> Table:
    return [[sumprod(w_i, column) for column in zip(*v, strict=True)] for w_i in weights]
