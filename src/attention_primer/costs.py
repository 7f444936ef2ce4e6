r"""Count what attention costs: multiply-adds as FLOPs, and the memory of a KV cache.

| function | in one line |
|---|---|
| [`attention_cost`][attention_primer.costs.attention_cost] | FLOPs of one layer, part by part |
| [`crossover_length`][attention_primer.costs.crossover_length] | the length beyond which attention is the larger part |
| [`kv_cache_bytes`][attention_primer.costs.kv_cache_bytes] | bytes that the keys and values of a text take up |
"""

from typing import NamedTuple

from attention_primer.checks import ShapeError, size

__all__ = ["Cost", "attention_cost", "crossover_length", "kv_cache_bytes"]


class Cost(NamedTuple):
    """FLOPs of one layer, counted as two a multiply-add.

    Attributes:
        scores: Every query with every key, all heads.
        mix: Every output out of all values, all heads.
        projections: To queries, keys and values, and back.
        feed_forward: The two matrices after attention, four times as wide as the model.
        total: All four together.

    Examples:
        The parts add up:

        >>> cost = attention_cost(10, 4)
        >>> sum(cost[:4]) == cost.total
        True
    """

    scores: int
    mix: int
    projections: int
    feed_forward: int
    total: int


def attention_cost(n: int, d_model: int, *, n_heads: int = 1, n_kv_heads: int | None = None) -> Cost:
    r"""Count the FLOPs of one transformer layer over a text.

    $$2 n^2 d + 2 n^2 d + 8 n d^2 + 16 n d^2$$

    These are scores, mix, projections and feed-forward. Only the first two grow with the square of the length.
    Softmax, scaling, biases and norms are left out, and no mask saves anything: a causal mask needs about half of the
    first two.

    Args:
        n: How many tokens.
        d_model: The width of the model.
        n_heads: How many query heads. They change nothing but what sharing saves.
        n_kv_heads: How many heads of keys and values. Defaults to n_heads; fewer shrink two of four projections.

    Returns:
        Cost with scores, mix, projections, feed_forward and total, in FLOPs: two a multiply-add.

    Raises:
        ShapeError: If the heads don't divide the width, or each other, evenly.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        Twice the text costs four times as much for scores, and twice as much for the projections:

        >>> one, two = attention_cost(1000, 768), attention_cost(2000, 768)
        >>> two.scores / one.scores, two.projections / one.projections
        (4.0, 2.0)

        With one KV head for four query heads, two of the four projections shrink to a quarter:

        >>> attention_cost(10, 8, n_heads=4, n_kv_heads=1).projections / attention_cost(10, 8).projections
        0.625

        Nothing to read is no text:

        >>> attention_cost(0, 768)
        Traceback (most recent call last):
        ValueError: n is 0: it must be at least 1
    """
    n, d_model = size(n, "n"), size(d_model, "d_model")
    d_kv = _kv_width(d_model, n_heads, n_kv_heads)
    scores = mix = 2 * n * n * d_model
    projections = 4 * n * d_model * (d_model + d_kv)
    feed_forward = 16 * n * d_model * d_model
    return Cost(scores, mix, projections, feed_forward, scores + mix + projections + feed_forward)


def crossover_length(d_model: int, *, n_heads: int = 1, n_kv_heads: int | None = None) -> int:
    r"""Find the length at which scores and mix cost as much as all the rest of the layer.

    $$4 n^2 d = 8 n d^2 + 16 n d^2 \quad\Rightarrow\quad n = 6 d$$

    With shared keys and values it comes earlier, at $(5 + n_\text{kv heads} / n_\text{heads})\, d$.

    Args:
        d_model: The width of the model.
        n_heads: How many query heads.
        n_kv_heads: How many heads of keys and values. Defaults to n_heads.

    Returns:
        A number of tokens. Beyond it, attention is the larger part.

    Raises:
        ShapeError: If the heads don't divide the width, or each other, evenly.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        The width of GPT-2 small, and that of Llama 3 8B with its shared heads:

        >>> crossover_length(768)
        4608
        >>> crossover_length(4096, n_heads=32, n_kv_heads=8)
        21504

        Half a width is no width:

        >>> crossover_length(0.5)
        Traceback (most recent call last):
        TypeError: d_model is 0.5: it must be a whole number
    """
    d_model = size(d_model, "d_model")
    return 5 * d_model + _kv_width(d_model, n_heads, n_kv_heads)


def kv_cache_bytes(n_tokens: int, n_layers: int, n_kv_heads: int, d_head: int, bytes_per_number: int = 2) -> int:
    r"""Count the bytes that the keys and values of a text take up.

    $$2 \cdot n_\text{tokens} \cdot n_\text{layers} \cdot n_\text{kv heads} \cdot d_\text{head} \cdot \text{bytes}$$

    The 2 is for keys and values. The number of query heads plays no part: that is what sharing saves. The width of a
    head is asked for, since it is not always the width of the model divided by the heads.

    Args:
        n_tokens: How many tokens are kept, of all texts together.
        n_layers: How many layers.
        n_kv_heads: How many heads of keys and values a layer.
        d_head: How many numbers a key, or a value, of one head has.
        bytes_per_number: 2 for 16-bit floats, 1 for 8-bit ones.

    Returns:
        A number of bytes; a KiB is 1,024 of them.

    Raises:
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        One token of Llama 2 7B takes 512 KiB, one of Llama 3 8B a quarter of that:

        >>> kv_cache_bytes(1, 32, 32, 128) // 1024, kv_cache_bytes(1, 32, 8, 128) // 1024
        (512, 128)

        A cache without tokens is no cache:

        >>> kv_cache_bytes(0, 32, 8, 128)
        Traceback (most recent call last):
        ValueError: n_tokens is 0: it must be at least 1
    """
    numbers_a_layer = 2 * size(n_kv_heads, "n_kv_heads") * size(d_head, "d_head")
    return (
        size(n_tokens, "n_tokens")
        * size(n_layers, "n_layers")
        * numbers_a_layer
        * size(bytes_per_number, "bytes_per_number")
    )


def _kv_width(d_model: int, n_heads: int, n_kv_heads: int | None) -> int:
    n_heads = size(n_heads, "n_heads")
    n_kv_heads = n_heads if n_kv_heads is None else size(n_kv_heads, "n_kv_heads")
    if d_model % n_heads or n_heads % n_kv_heads:
        raise ShapeError(
            f"d_model is {d_model}, n_heads {n_heads}, n_kv_heads {n_kv_heads}: "
            "the heads must divide the width, and the KV heads the heads"
        )
    return d_model // n_heads * n_kv_heads
