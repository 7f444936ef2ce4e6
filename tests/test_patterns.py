from itertools import pairwise
from math import exp, log2, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import (
    MultiHeadAttention,
    OnlineSoftmax,
    alibi_bias,
    alibi_slopes,
    causal_mask,
    combine_masks,
    flash_attention,
    global_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
    strided_mask,
    unite_masks,
)
from attention_primer.checks import ShapeError
from oracles import U, watched
from strategies import Mask, masks

counts = st.integers(1, 8)


@st.composite
def lengths(draw: st.DrawFn) -> tuple[int, int]:
    n_q = draw(counts)
    return n_q, n_q + draw(st.integers(0, 5))


def seen(mask: Mask) -> list[set[int]]:
    return [{j for j, visible in enumerate(row) if visible} for row in mask]


def n_pairs(mask: Mask) -> int:
    return sum(map(sum, mask))


# Strided.


@given(lengths(), counts)
def test_a_strided_query_sees_every_so_many_th_key_back_from_its_own_place(n: tuple[int, int], stride: int) -> None:
    n_q, n_k = n
    assert seen(strided_mask(n_q, n_k, stride=stride)) == [
        set(range(place, -1, -stride)) for place in range(n_k - n_q, n_k)
    ]


@given(lengths())
def test_a_stride_of_one_hides_only_the_future(n: tuple[int, int]) -> None:
    assert strided_mask(*n, stride=1) == causal_mask(*n)


@given(lengths(), counts)
def test_a_stride_as_long_as_the_text_sees_only_itself(n: tuple[int, int], more: int) -> None:
    n_q, n_k = n
    assert strided_mask(n_q, n_k, stride=n_k + more - 1) == sliding_window_mask(n_q, n_k, window=1)


@given(st.integers(1, 24), st.integers(1, 6))
def test_a_window_and_then_a_stride_reach_all_of_the_past_in_two_layers(n: int, stride: int) -> None:
    near, far = seen(sliding_window_mask(n, window=stride)), seen(strided_mask(n, stride=stride))
    for i in range(n):
        assert set().union(*(far[j] for j in near[i])) == set(range(i + 1))


def test_a_strided_pattern_saves_more_the_longer_the_text() -> None:
    shares = []
    for n in (16, 64, 256):
        sparse = unite_masks(sliding_window_mask(n, window=int(sqrt(n))), strided_mask(n, stride=int(sqrt(n))))
        assert max(map(sum, sparse)) <= 2 * sqrt(n)
        shares.append(n_pairs(sparse) / n_pairs(causal_mask(n)))
    assert shares[0] > 1.5 * shares[1] > 2.25 * shares[2]


# Global tokens.


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_a_global_token_sees_all_and_is_seen_by_all(is_global: list[bool]) -> None:
    mask = global_mask(is_global)
    chosen = {j for j, one in enumerate(is_global) if one}
    assert seen(mask) == [set(range(len(is_global))) if i in chosen else chosen for i in range(len(is_global))]
    assert [list(column) for column in zip(*mask, strict=True)] == mask


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_the_last_queries_are_the_last_rows(is_global: list[bool], data: st.DataObject) -> None:
    n_q = data.draw(st.integers(1, len(is_global)))
    assert global_mask(is_global, n_q) == global_mask(is_global)[-n_q:]


def test_a_sink_at_the_start_and_a_window_see_a_fixed_number_of_keys() -> None:
    n = 40
    sink = combine_masks(causal_mask(n), global_mask([True] + [False] * (n - 1)))
    assert [sum(row) for row in unite_masks(sliding_window_mask(n, window=4), sink)] == [1, 2, 3, 4] + [5] * (n - 4)


def test_without_a_global_token_a_query_sees_nothing_and_attention_says_so() -> None:
    with pytest.raises(ValueError, match="query 0 may see no key"):
        scaled_dot_product_attention([[1]], [[1]], [[1]], global_mask([False]))


# United.


@st.composite
def several(draw: st.DrawFn) -> list[Mask]:
    n_q, n_k = draw(counts), draw(counts)
    return draw(st.lists(masks(n_q, n_k), min_size=1, max_size=4))


@given(several(), st.randoms(use_true_random=False))
def test_a_query_sees_what_any_of_the_masks_lets_it_see(given_masks: list[Mask], rng: Random) -> None:
    united = watched(unite_masks, *given_masks)
    assert seen(united) == [set().union(*rows) for rows in zip(*map(seen, given_masks), strict=True)]
    rng.shuffle(given_masks)
    assert unite_masks(*given_masks) == united


@given(several())
def test_to_unite_what_is_hidden_is_to_combine_what_is_seen(given_masks: list[Mask]) -> None:
    def turned(mask: Mask) -> Mask:
        return [[not x for x in row] for row in mask]

    assert turned(unite_masks(*map(turned, given_masks))) == combine_masks(*given_masks)


# ALiBi.


def test_the_slopes_of_the_authors_code() -> None:
    assert alibi_slopes(8) == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(1) == [2.0**-8]
    # The authors' own list for 12 heads: 8 slopes, then every second of 16.
    assert [log2(slope) for slope in alibi_slopes(12)] == pytest.approx(
        [-1, -2, -3, -4, -5, -6, -7, -8, -0.5, -1.5, -2.5, -3.5], rel=4 * U, abs=0
    )


@given(st.integers(1, 200))
def test_every_head_has_a_slope_of_its_own(n_heads: int) -> None:
    slopes = alibi_slopes(n_heads)
    assert len(set(slopes)) == len(slopes) == n_heads
    assert all(0 < slope < 1 for slope in slopes)


@given(st.integers(1, 5), lengths())
def test_each_step_away_costs_the_same(n_heads: int, n: tuple[int, int]) -> None:
    n_q, n_k = n
    biases = watched(alibi_bias, n_heads, n_q, n_k)
    for slope, bias in zip(alibi_slopes(n_heads), biases, strict=True):
        assert [len(bias), *map(len, bias)] == [n_q] + [n_k] * n_q
        for i, row in enumerate(bias):
            place = n_k - n_q + i
            assert row[place] == 0
            assert [-b / slope for b in row] == [abs(place - j) for j in range(n_k)]


def test_zero_is_not_printed_as_minus_zero() -> None:
    assert repr(alibi_bias(1, 1)) == "[[[0.0]]]"


def test_a_bias_by_distance_to_the_end_gives_the_same_shares() -> None:
    # slope·(j − i) and slope·(j − last) differ by one number for each row, and that cancels.
    n, (slope,) = 5, alibi_slopes(1)
    q = [[0.1 * i] for i in range(n)]
    by_distance = scaled_dot_product_attention(q, q, q, causal_mask(n), bias=alibi_bias(1, n)[0]).weights
    from_the_end = [[slope * (j - n) for j in range(n)] for _ in range(n)]
    for a, b in zip(
        by_distance, scaled_dot_product_attention(q, q, q, causal_mask(n), bias=from_the_end).weights, strict=True
    ):
        assert a == pytest.approx(b, abs=4 * U, rel=0)


def test_each_head_minds_distance_by_its_own_slope() -> None:
    mha = MultiHeadAttention(8, 4, 2)
    x = [[1.0] * 8] * 6
    q, k, v = mha.queries(x), mha.keys(x), mha.values(x)
    heads = [
        scaled_dot_product_attention(q[h], k[h // 2], v[h // 2], causal_mask(6), bias=bias)
        for h, bias in enumerate(alibi_bias(4, 6))
    ]
    # Equal tokens match alike, so a step away divides a share by e to the slope.
    for head, slope in zip(heads, alibi_slopes(4), strict=True):
        last = head.weights[-1]
        assert [b / a for a, b in pairwise(last)] == pytest.approx([exp(slope)] * 5, rel=1e-12)


def test_order_matters_with_distance_and_not_without() -> None:
    k, v = [[1.0], [2.0], [3.0]], [[4.0], [5.0], [7.0]]
    there, back = ((k, v), (k[::-1], v[::-1]))
    plain = [scaled_dot_product_attention([[1]], *kv).output[0][0] for kv in (there, back)]
    biased = [
        scaled_dot_product_attention([[1]], *kv, bias=alibi_bias(1, 1, 3)[0]).output[0][0] for kv in (there, back)
    ]
    assert plain[0] == pytest.approx(plain[1], rel=4 * U)
    assert abs(biased[0] - biased[1]) > 1e-3


# A sink: one more key that hands over nothing takes its part of the total once, however the keys are split.


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(-20, 20), st.integers(1, 7))
def test_a_sink_is_one_more_key_with_a_value_of_zero(scores: list[float], sink: float, tile_k: int) -> None:
    values = [[float(j + 1)] for j in range(len(scores))]
    # Scores through the bias, so that the sink needs no key vector.
    k, v, bias = [[0.0]] * (len(scores) + 1), [*values, [0.0]], [[*scores, sink]]
    weights = softmax([*scores, sink])
    expected = sum(w * v_j[0] for w, v_j in zip(weights, values, strict=False))
    whole = scaled_dot_product_attention([[1]], k, v, bias=bias)
    assert whole.weights[0] == weights
    for output in (whole.output, flash_attention([[1]], k, v, bias=bias, tile_k=tile_k).output):
        assert output[0][0] == pytest.approx(expected, abs=64 * U * len(scores), rel=0)
    online = OnlineSoftmax()
    online.add(sink, [0.0])
    for score, value in zip(scores, values, strict=True):
        online.add(score, value)
    assert online.output[0] == pytest.approx(expected, abs=64 * U * len(scores), rel=0)


def test_softmax_plus_one_is_a_sink_with_score_zero() -> None:
    scores = [0.3, -1.2, 2.0]
    total = 1 + sum(map(exp, scores))
    assert softmax([*scores, 0])[:3] == pytest.approx([exp(s) / total for s in scores], rel=4 * U, abs=0)


@pytest.mark.parametrize("unite", [unite_masks, combine_masks])
def test_masks_of_two_shapes_have_no_common_meaning(unite: object) -> None:
    with pytest.raises(ShapeError, match=r"masks\[0\] is \(2, 2\) and masks\[1\] is \(3, 3\)"):
        unite(causal_mask(2), causal_mask(3))  # type: ignore[operator]
