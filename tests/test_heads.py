from math import inf, nan, sqrt
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import (
    MultiHeadAttention,
    ShapeError,
    causal_mask,
    matmul,
    scaled_dot_product_attention,
    shape,
)
from attention_primer.heads import grouped_attention
from oracles import U, bits, watched
from strategies import Layout, Table, head_layouts, matrices, whole_numbers

small_whole_numbers = st.integers(-3, 3).map(float)


def built(layout: Layout, *without: str) -> MultiHeadAttention:
    """Build the layout, with all biases but those that are named."""
    biases: dict[str, Any] = {
        name: getattr(layout, name) for name in ("b_q", "b_k", "b_v", "b_o") if name not in without
    }
    weights = (layout.W_q, layout.W_k, layout.W_v, layout.W_o)
    return MultiHeadAttention.from_weights(*weights, layout.n_heads, layout.n_kv_heads, **biases)


def answer(layout: Layout, *without: str) -> Table:
    return built(layout, *without)(layout.x, layout.mask, context=layout.context)


def columns(W: Table, head: int, n_heads: int) -> Table:
    width = len(W[0]) // n_heads
    return [row[head * width : (head + 1) * width] for row in W]


def projected(x: Table, W: Table, b: list[float]) -> Table:
    return [[y + b_c for y, b_c in zip(row, b, strict=True)] for row in matmul(x, W)]


@st.composite
def models(draw: st.DrawFn) -> tuple[int, int, int]:
    """Draw d_model, n_heads and n_kv_heads."""
    n_kv_heads, group, d_head = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return n_kv_heads * group * d_head, n_kv_heads * group, n_kv_heads


# Heads, by hand and by class.


@given(head_layouts())
def test_heads_by_hand_give_what_the_class_gives_to_the_last_bit(layout: Layout) -> None:
    n_heads, n_kv_heads, group = layout.n_heads, layout.n_kv_heads, layout.n_heads // layout.n_kv_heads
    heads = []
    for h in range(n_heads):
        kv = h // group
        q = projected(layout.x, columns(layout.W_q, h, n_heads), *columns([layout.b_q], h, n_heads))
        k = projected(layout.context, columns(layout.W_k, kv, n_kv_heads), *columns([layout.b_k], kv, n_kv_heads))
        v = projected(layout.context, columns(layout.W_v, kv, n_kv_heads), *columns([layout.b_v], kv, n_kv_heads))
        heads.append(scaled_dot_product_attention(q, k, v, layout.mask))
    glued = [[y for head in heads for y in head.output[i]] for i in range(len(layout.x))]

    mha = built(layout)
    assert bits(mha.attend(layout.x, layout.mask, context=layout.context)) == bits(heads)
    assert bits(answer(layout)) == bits(projected(glued, layout.W_o, layout.b_o))


@given(head_layouts())
def test_shapes_are_those_of_the_weights(layout: Layout) -> None:
    mha, d_k, d_v = built(layout), len(layout.W_q[0]) // layout.n_heads, len(layout.W_v[0]) // layout.n_kv_heads
    assert (mha.d_model, mha.d_context, mha.d_k, mha.d_v) == (len(layout.W_q), len(layout.W_k), d_k, d_v)
    assert [shape(q) for q in mha.queries(layout.x)] == [(len(layout.x), d_k)] * layout.n_heads
    assert [shape(k) for k in mha.keys(layout.context)] == [(len(layout.context), d_k)] * layout.n_kv_heads
    assert [shape(v) for v in mha.values(layout.context)] == [(len(layout.context), d_v)] * layout.n_kv_heads
    assert shape(answer(layout)) == (len(layout.x), len(layout.W_o[0]))


@given(models(), st.integers(0, 9), matrices(3, 1))
def test_as_many_kv_heads_as_heads_is_plain_multi_head_attention(
    model: tuple[int, int, int], seed: int, rows: Table
) -> None:
    d_model, n_heads, _ = model
    x = [row * d_model for row in rows]
    grouped, plain = (
        MultiHeadAttention(d_model, n_heads, n_heads, seed=seed),
        MultiHeadAttention(d_model, n_heads, seed=seed),
    )
    assert bits(grouped(x)) == bits(plain(x))
    assert grouped.kv_params == plain.kv_params == 2 * d_model**2


@given(head_layouts())
def test_shared_heads_are_plain_heads_whose_keys_and_values_are_written_out_for_each(layout: Layout) -> None:
    n_heads, n_kv_heads, group = layout.n_heads, layout.n_kv_heads, layout.n_heads // layout.n_kv_heads

    def repeated(W: Table) -> Table:
        return [[w for h in range(n_heads) for w in columns([row], h // group, n_kv_heads)[0]] for row in W]

    plain = MultiHeadAttention.from_weights(
        layout.W_q,
        repeated(layout.W_k),
        repeated(layout.W_v),
        layout.W_o,
        n_heads,
        b_q=layout.b_q,
        b_k=repeated([layout.b_k])[0],
        b_v=repeated([layout.b_v])[0],
        b_o=layout.b_o,
    )
    assert bits(answer(layout)) == bits(plain(layout.x, layout.mask, context=layout.context))
    assert plain.kv_params == built(layout).kv_params * group


@pytest.mark.parametrize(("n_kv_heads", "read"), [(8, [*range(8)]), (2, [0] * 4 + [1] * 4), (1, [0] * 8)])
def test_query_heads_that_are_neighbors_share(n_kv_heads: int, read: list[int]) -> None:
    identity = [[float(i == j) for j in range(8)] for i in range(8)]
    # KV head j hands over the number j.
    W_v = [[float(j) for j in range(n_kv_heads)]]
    W_k, W_q = [[0.0] * n_kv_heads], [[0.0] * 8]
    mha = MultiHeadAttention.from_weights(W_q, W_k, W_v, identity, 8, n_kv_heads)
    assert mha([[1.0]]) == [read]


def test_heads_of_keys_need_as_many_heads_of_values() -> None:
    with pytest.raises(ShapeError, match="2 heads of keys and 1 of values: there must be as many of both"):
        grouped_attention([[[1]]] * 4, [[[1]]] * 2, [[[5]]])


# What changes nothing.


@given(head_layouts(), st.data())
def test_a_bias_of_the_keys_changes_nothing_beyond_rounding(layout: Layout, data: st.DataObject) -> None:
    # It adds the same to all scores of a query; a bias of the queries does not.
    b_k = data.draw(st.lists(small_whole_numbers, min_size=len(layout.b_k), max_size=len(layout.b_k)))
    plain, biased = built(layout, "b_k"), built(layout._replace(b_k=b_k))
    for one, other in zip(
        plain.attend(layout.x, layout.mask, context=layout.context),
        biased.attend(layout.x, layout.mask, context=layout.context),
        strict=True,
    ):
        for row, other_row in zip(one.weights, other.weights, strict=True):
            # Scores are below 3 terms · (3 · 64 + 8) · (3 · 64 + 3), and each rounds some ten times.
            assert other_row == pytest.approx(row, rel=0, abs=10 * U * 3 * 200 * 200)


@given(head_layouts())
def test_a_bias_of_the_output_is_added_last(layout: Layout) -> None:
    without = answer(layout, "b_o")
    assert answer(layout) == [[y + b for y, b in zip(row, layout.b_o, strict=True)] for row in without]


@given(head_layouts(whole_numbers))
def test_a_bias_of_the_values_comes_out_whole_since_shares_sum_to_one(layout: Layout) -> None:
    mha, without = built(layout), built(layout, "b_v")
    group = layout.n_heads // layout.n_kv_heads
    heads, heads_without = (m.attend(layout.x, layout.mask, context=layout.context) for m in (mha, without))
    for h, (one, other) in enumerate(zip(heads, heads_without, strict=True)):
        [b] = columns([layout.b_v], h // group, layout.n_kv_heads)
        for row, other_row in zip(one.output, other.output, strict=True):
            moved = [x + b_c for x, b_c in zip(other_row, b, strict=True)]
            assert row == pytest.approx(moved, rel=0, abs=16 * U * 30_000)


@given(models(), matrices(3, 1))
def test_leaving_biases_out_is_adding_zeros(model: tuple[int, int, int], rows: Table) -> None:
    d_model, n_heads, n_kv_heads = model
    x, drawn = [row * d_model for row in rows], MultiHeadAttention(*model)
    weights = (drawn.W_q, drawn.W_k, drawn.W_v, drawn.W_o)
    d_kv = len(drawn.W_k[0])
    zeros: dict[str, Any] = {"b_q": [0.0] * d_model, "b_k": [0.0] * d_kv, "b_v": [0.0] * d_kv, "b_o": [0.0] * d_model}
    bare = MultiHeadAttention.from_weights(*weights, n_heads, n_kv_heads)
    biased = MultiHeadAttention.from_weights(*weights, n_heads, n_kv_heads, **zeros)
    assert bits(drawn(x)) == bits(bare(x)) == bits(biased(x))


@given(models(), st.integers(1, 4), st.integers(1, 3), st.data())
def test_changing_the_future_never_changes_the_past(
    model: tuple[int, int, int], n_past: int, n_future: int, data: st.DataObject
) -> None:
    mha, n = MultiHeadAttention(*model), n_past + n_future
    past = data.draw(matrices(n_past, model[0]))
    answers = [mha(past + data.draw(matrices(n_future, model[0])), causal_mask(n))[:n_past] for _ in range(2)]
    assert bits(answers[0]) == bits(answers[1]) == bits(mha(past, causal_mask(n_past)))


# Another sequence for keys and values.


@given(models(), st.integers(1, 4), st.data())
def test_a_context_that_is_x_itself_is_self_attention(model: tuple[int, int, int], n: int, data: st.DataObject) -> None:
    mha, x = MultiHeadAttention(*model), data.draw(matrices(n, model[0]))
    assert bits(mha(x, causal_mask(n), context=x)) == bits(mha(x, causal_mask(n)))


@given(head_layouts())
def test_a_hidden_row_of_the_context_may_hold_nan_and_infinity(layout: Layout) -> None:
    unseen = [not any(column) for column in zip(*layout.mask, strict=True)]
    context = [[nan] * len(row) if hidden else row for row, hidden in zip(layout.context, unseen, strict=True)]
    context.append([inf, -inf, nan][: len(context[0])])
    mask = [[*row, False] for row in layout.mask]
    assert bits(built(layout)(layout.x, mask, context=context)) == bits(answer(layout))


@given(head_layouts(), st.data())
def test_a_bias_of_the_scores_goes_to_every_head(layout: Layout, data: st.DataObject) -> None:
    bias = data.draw(matrices(len(layout.x), len(layout.context)))
    mha, group = built(layout), layout.n_heads // layout.n_kv_heads
    q, k, v = mha.queries(layout.x), mha.keys(layout.context), mha.values(layout.context)
    by_hand = [
        scaled_dot_product_attention(q[h], k[h // group], v[h // group], layout.mask, bias=bias)
        for h in range(layout.n_heads)
    ]
    assert bits(mha.attend(layout.x, layout.mask, context=layout.context, bias=bias)) == bits(by_hand)
    joined = mha.join([head.output for head in by_hand])
    assert bits(mha(layout.x, layout.mask, context=layout.context, bias=bias)) == bits(joined)


# Weights.


@given(models(), st.integers(0, 99))
def test_a_seed_gives_the_same_weights_in_any_order_of_first_use(model: tuple[int, int, int], seed: int) -> None:
    one, other = MultiHeadAttention(*model, seed=seed), MultiHeadAttention(*model, seed=seed)
    forward = [one.W_q, one.W_k, one.W_v, one.W_o]
    backward = [other.W_o, other.W_v, other.W_k, other.W_q]
    assert forward == backward[::-1]
    assert MultiHeadAttention(*model, seed=seed + 1).W_q != one.W_q
    assert len({W[0][0] for W in forward}) == 4, "each matrix is drawn on its own"


def test_sharing_heads_leaves_the_queries_as_they_are() -> None:
    assert MultiHeadAttention(12, 4, 1).W_q == MultiHeadAttention(12, 4, 4).W_q


@pytest.mark.parametrize("d_model", [16, 64, 256])
def test_drawn_weights_keep_the_spread_of_x_whatever_the_width(d_model: int) -> None:
    W = MultiHeadAttention(d_model, 1).W_q
    spread = sqrt(sum(x * x for row in W for x in row)) / d_model
    # The mean of d_model² squares of unit normals errs by √2 / d_model, its root by half; four times it is allowed.
    assert spread == pytest.approx(1 / sqrt(d_model), rel=2 * sqrt(2) / d_model)


@given(head_layouts())
def test_weights_are_copied(layout: Layout) -> None:
    mha, before = built(layout), answer(layout)
    for row in [*layout.W_q, *layout.W_k, *layout.W_v, *layout.W_o, layout.b_q, layout.b_k, layout.b_v, layout.b_o]:
        row[:] = [7.0 for _ in row]
    assert bits(mha(layout.x, layout.mask, context=layout.context)) == bits(before)


@given(models())
def test_kv_params_counts_the_weights_of_keys_and_values_without_drawing_any(model: tuple[int, int, int]) -> None:
    mha = MultiHeadAttention(*model)
    counted = mha.kv_params
    assert not {"W_q", "W_k", "W_v", "W_o"} & set(vars(mha))
    assert counted == sum(len(row) for W in (mha.W_k, mha.W_v) for row in W)


@given(head_layouts())
def test_kv_params_counts_weights_of_odd_shapes_too(layout: Layout) -> None:
    assert built(layout).kv_params == sum(len(row) for W in (layout.W_k, layout.W_v) for row in W)


def test_kv_params_answers_at_once_for_the_shape_of_llama_3_8b() -> None:
    start = process_time()
    mha = MultiHeadAttention(4096, 32, 8)
    assert mha.kv_params == 2 * 4096 * 1024
    assert "W_k" not in vars(mha)
    assert process_time() - start < 0.1  # drawing eight million numbers takes seconds


@given(head_layouts())
def test_no_argument_is_changed_and_no_row_is_handed_out_twice(layout: Layout) -> None:
    mha = built(layout)
    own = bits([mha.W_q, mha.W_k, mha.W_v, mha.W_o, mha.b_q, mha.b_k, mha.b_v, mha.b_o])
    watched(mha, layout.x, layout.mask, context=layout.context)
    heads = watched(mha.attend, layout.x, layout.mask, context=layout.context)
    watched(mha.join, [head.output for head in heads])
    watched(mha.queries, layout.x)
    watched(mha.keys, layout.context)
    watched(mha.values, layout.context)
    assert bits([mha.W_q, mha.W_k, mha.W_v, mha.W_o, mha.b_q, mha.b_k, mha.b_v, mha.b_o]) == own
    before = repr(layout)
    built(layout)
    assert repr(layout) == before
