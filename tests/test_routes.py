"""Every two routes to one answer agree: plain, tiled, streamed, chunked, cached, grouped, batched, windowed."""

from itertools import combinations
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_primer import (
    KVCache,
    MultiHeadAttention,
    OnlineSoftmax,
    causal_mask,
    combine_masks,
    dot,
    flash_attention,
    linear_attention,
    linear_attention_weights,
    matmul,
    mix,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
    transpose,
    unite_masks,
)
from attention_primer.heads import grouped_attention
from oracles import U, bits
from strategies import Inputs, Layout, Mask, Table, attention_inputs, head_layouts, matrices, sizes

small = st.floats(-2, 2, allow_subnormal=False)
Routes = dict[str, Table]


def apart(a: Table, b: Table) -> float:
    assert [len(row) for row in a] == [len(row) for row in b]
    return max(abs(x - y) for a_i, b_i in zip(a, b, strict=True) for x, y in zip(a_i, b_i, strict=True))


def largest(*tables: Table) -> float:
    return max(abs(x) for table in tables for row in table for x in row)


def cut(n: int, pieces: list[int]) -> list[slice]:
    """Cut n rows into pieces, the lengths of which are taken in turn."""
    cuts: list[slice] = []
    start = 0
    while start < n:
        piece = pieces[len(cuts) % len(pieces)]
        cuts.append(slice(start, min(start + piece, n)))
        start += piece
    return cuts


pieces = st.lists(st.integers(1, 3), min_size=1, max_size=3)


# One head, any mask.


def by_the_formula(q: Table, k: Table, v: Table, mask: Mask) -> Table:
    scores = [[s / len(k[0]) ** 0.5 for s in row] for row in matmul(q, transpose(k))]
    hidden = [[s if seen else -inf for s, seen in zip(*rows, strict=True)] for rows in zip(scores, mask, strict=True)]
    return matmul([softmax(row) for row in hidden], v)


def by_stream(q: Table, k: Table, v: Table, mask: Mask) -> Table:
    output = []
    for q_i, seen_i in zip(q, mask, strict=True):
        online = OnlineSoftmax()
        for k_j, v_j, seen in zip(k, v, seen_i, strict=True):
            online.add(dot(q_i, k_j) / len(k_j) ** 0.5 if seen else -inf, v_j)
        output.append(online.output)
    return output


def without_the_hidden(q: Table, k: Table, v: Table, mask: Mask) -> Table:
    output = []
    for q_i, seen_i in zip(q, mask, strict=True):
        visible = [j for j, seen in enumerate(seen_i) if seen]
        output += scaled_dot_product_attention([q_i], [k[j] for j in visible], [v[j] for j in visible]).output
    return output


@given(attention_inputs(small), sizes, sizes, pieces, st.randoms(use_true_random=False))
def test_all_routes_of_one_head_agree(
    inputs: Inputs, tile_q: int, tile_k: int, lengths: list[int], rng: Random
) -> None:
    q, k, v, mask = inputs
    order = list(range(len(k)))
    rng.shuffle(order)
    plain = scaled_dot_product_attention(*inputs)
    routes: Routes = {
        "plain": plain.output,
        "weights, then mix": [mix(w_i, v) for w_i in plain.weights],
        "by the formula": by_the_formula(*inputs),
        "hidden by bias": scaled_dot_product_attention(
            q, k, v, bias=[[0.0 if seen else -inf for seen in row] for row in mask]
        ).output,
        "scaled beforehand": scaled_dot_product_attention(
            [[x / len(k[0]) ** 0.5 for x in row] for row in q], k, v, mask, scale=1
        ).output,
        "tiled": flash_attention(*inputs, tile_q=tile_q, tile_k=tile_k).output,
        "one tile": flash_attention(*inputs).output,
        "online": by_stream(*inputs),
        "without the hidden": without_the_hidden(*inputs),
        "chunks of queries": [
            row
            for part in cut(len(q), lengths)
            for row in scaled_dot_product_attention(q[part], k, v, mask[part]).output
        ],
        "keys in another order": scaled_dot_product_attention(
            q, [k[j] for j in order], [v[j] for j in order], [[row[j] for j in order] for row in mask]
        ).output,
        "one column at a time": transpose(
            [
                [row[0] for row in scaled_dot_product_attention(q, k, [[x] for x in column], mask).output]
                for column in transpose(v)
            ]
        ),
        "grouped": grouped_attention([q, q], [k], [v], mask)[1].output,
    }
    for a, b in combinations(routes, 2):
        # Scores up to 20, five keys: a few dozen roundings on each route.
        assert apart(routes[a], routes[b]) <= 400 * U * largest(v), (a, b)
    # What does the same operations in the same order gives the same bits.
    for same in ("chunks of queries", "one column at a time", "grouped", "hidden by bias"):
        assert bits(routes[same]) == bits(routes["plain"]), same


# Many heads, causal, with and without a window.


def layer_of(drawn: Layout) -> MultiHeadAttention:
    return MultiHeadAttention.from_weights(
        drawn.W_q, drawn.W_k, drawn.W_v, drawn.W_o, drawn.n_heads, drawn.n_kv_heads,
        b_q=drawn.b_q, b_k=drawn.b_k, b_v=drawn.b_v, b_o=drawn.b_o,
    )  # fmt: skip


def copied_for_each_head(mha: MultiHeadAttention) -> MultiHeadAttention:
    """Write the same layer with keys and values of its own for each query head."""

    def spread(row: list[float], width: int) -> list[float]:
        group = mha.n_heads // mha.n_kv_heads
        return [x for h in range(mha.n_heads) for x in row[h // group * width : (h // group + 1) * width]]

    return MultiHeadAttention.from_weights(
        mha.W_q, [spread(row, mha.d_k) for row in mha.W_k], [spread(row, mha.d_v) for row in mha.W_v], mha.W_o,
        mha.n_heads, b_q=mha.b_q, b_k=spread(mha.b_k or [], mha.d_k), b_v=spread(mha.b_v or [], mha.d_v), b_o=mha.b_o,
    )  # fmt: skip


def read_in_pieces(mha: MultiHeadAttention, x: Table, lengths: list[int], **how: int | None) -> Table:
    cache = KVCache(mha, **how)
    return [row for part in cut(len(x), lengths) for row in cache.extend(x[part])]


def by_hand(mha: MultiHeadAttention, x: Table, mask: Mask) -> Table:
    q, k, v = mha.queries(x), mha.keys(x), mha.values(x)
    group = mha.n_heads // mha.n_kv_heads
    heads = [scaled_dot_product_attention(q[h], k[h // group], v[h // group], mask) for h in range(mha.n_heads)]
    return mha.join([head.output for head in heads])


def in_tiles(mha: MultiHeadAttention, x: Table, mask: Mask, tile: int) -> Table:
    q, k, v = mha.queries(x), mha.keys(x), mha.values(x)
    group = mha.n_heads // mha.n_kv_heads
    heads = [
        flash_attention(q[h], k[h // group], v[h // group], mask, tile_q=tile, tile_k=tile) for h in range(mha.n_heads)
    ]
    return mha.join([head.output for head in heads])


@st.composite
def texts(draw: st.DrawFn) -> tuple[MultiHeadAttention, Table]:
    mha = layer_of(draw(head_layouts(small).filter(lambda drawn: len(drawn.W_q) == len(drawn.W_k))))
    return mha, draw(matrices(draw(st.integers(1, 8)), mha.d_model, small))


@given(texts(), pieces, sizes, st.none() | st.integers(1, 9))
@settings(max_examples=40)
def test_all_routes_of_many_heads_agree(
    text: tuple[MultiHeadAttention, Table], lengths: list[int], tile: int, window: int | None
) -> None:
    mha, x = text
    n = len(x)
    mask = causal_mask(n) if window is None else sliding_window_mask(n, window=window)
    start = [max(0, i + 1 - (window or n)) for i in range(n)]
    exact: Routes = {
        "plain": mha(x, mask),
        "head by head": by_hand(mha, x, mask),
        "x as its own context": mha(x, mask, context=x),
        "cached in pieces": read_in_pieces(mha, x, lengths, window=window),
        "cached one by one": read_in_pieces(mha, x, [1], window=window),
        "cached at once": read_in_pieces(mha, x, [n], window=window),
        "cached in tight room": read_in_pieces(mha, x, lengths, window=window, capacity=n),
        "a batch of prefixes": [mha(prefix, rows)[-1] for prefix, rows in prefixes(x, window)],
        "a batch of what is seen": [mha(x[start[i] : i + 1], causal_mask(i + 1 - start[i]))[-1] for i in range(n)],
        "last queries of a text": [mha([x[i]], context=x[start[i] : i + 1])[0] for i in range(n)],
        "keys and values copied": copied_for_each_head(mha)(x, mask),
    }
    for name, output in exact.items():
        assert bits(output) == bits(exact["plain"]), name
    # Up to 9 heads times 3 channels, each a mix of values up to 14 with scores up to 340, times weights up to 2.
    tolerance = 27 * 2 * 14 * 1000 * U
    assert apart(in_tiles(mha, x, mask, tile), exact["plain"]) <= tolerance


def prefixes(x: Table, window: int | None) -> list[tuple[Table, Mask]]:
    lengths = range(1, len(x) + 1)
    return [(x[:n], causal_mask(n) if window is None else sliding_window_mask(n, window=window)) for n in lengths]


@given(texts(), st.integers(1, 9))
@settings(max_examples=20)
def test_a_window_as_long_as_the_text_is_no_window(text: tuple[MultiHeadAttention, Table], more: int) -> None:
    mha, x = text
    window = len(x) + more - 1
    assert bits(read_in_pieces(mha, x, [1], window=window)) == bits(read_in_pieces(mha, x, [2]))


@given(st.lists(texts(), min_size=1, max_size=3), st.data())
@settings(max_examples=20)
def test_a_batch_is_a_comprehension_and_texts_in_it_never_meet(
    batch: list[tuple[MultiHeadAttention, Table]], data: st.DataObject
) -> None:
    mha = batch[0][0]
    sequences = [x for layer, x in batch if layer.d_model == mha.d_model]
    one_by_one = [mha(x, causal_mask(len(x))) for x in sequences]
    # Packed into one long text, with a mask that keeps each among itself.
    owner = [b for b, x in enumerate(sequences) for _ in x]
    blocks = [[a == b for b in owner] for a in owner]
    packed = mha([row for x in sequences for row in x], combine_masks(blocks, causal_mask(len(owner))))
    assert bits(packed) == bits([row for output in one_by_one for row in output])
    # Padded to one length; what the fillers hold doesn't matter.
    n = max(map(len, sequences))
    junk = data.draw(matrices(1, mha.d_model, small))[0]
    for x, output in zip(sequences, one_by_one, strict=True):
        is_real = [True] * len(x) + [False] * (n - len(x))
        mask = combine_masks(causal_mask(n), padding_mask(is_real))
        assert bits(mha([*x, *[junk] * (n - len(x))], mask)[: len(x)]) == bits(output)


# Linear attention, masks.


@given(attention_inputs(small, causal=True))
def test_the_routes_of_linear_attention_agree(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    routes: Routes = {
        "recurrence": linear_attention(*inputs).output,
        "parallel": matmul(linear_attention_weights(q, k, mask), v),
        "one query at a time": [
            linear_attention([q_i], k, v, [seen_i]).output[0] for q_i, seen_i in zip(q, mask, strict=True)
        ],
        "of what is seen": [
            linear_attention([q_i], k[: sum(seen_i)], v[: sum(seen_i)]).output[0]
            for q_i, seen_i in zip(q, mask, strict=True)
        ],
    }
    for a, b in combinations(routes, 2):
        assert apart(routes[a], routes[b]) <= 64 * U * largest(v), (a, b)


@given(sizes, sizes, st.integers(0, 4))
def test_a_window_is_the_causal_mask_without_the_older_past(n_q: int, window: int, past: int) -> None:
    n_k = n_q + past
    older = [[j <= place - window for j in range(n_k)] for place in range(past, n_k)]
    assert unite_masks(sliding_window_mask(n_q, n_k, window=window), older) == causal_mask(n_q, n_k)
    assert combine_masks(sliding_window_mask(n_q, n_k, window=window), older) == [[False] * n_k] * n_q


def test_a_route_that_is_wrong_would_be_told_apart() -> None:
    # The tolerance of one head is far below what the smallest slip changes: one key too few, or the scale forgotten.
    q, k, v = [[0.5, -1.0]], [[1.0, 0.5], [0.25, 1.0], [-1.0, 0.75]], [[1.0], [2.0], [-0.5]]
    plain = scaled_dot_product_attention(q, k, v).output
    for slip in (
        scaled_dot_product_attention(q, k[:2], v[:2]).output,
        scaled_dot_product_attention(q, k, v, scale=1).output,
    ):
        assert apart(slip, plain) > 1e10 * 400 * U * largest(v)
    with pytest.raises(AssertionError):
        assert apart([[1.0]], [[1.0, 2.0]]) == 0
