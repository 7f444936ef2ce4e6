"""Bugs that people reported in public, each as a case: the library gives the right answer, and never the bug's."""

import json
from collections import Counter
from math import exp, inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_primer
from attention_primer import (
    KVCache,
    MultiHeadAttention,
    OnlineSoftmax,
    ShapeError,
    causal_mask,
    combine_masks,
    kv_cache_bytes,
    log_softmax,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
)
from public_reports_adapter import ANSWERS, answers, attend, head_to_kv, identity, refused, sdpa, seen
from strategies import matrices, numbers, sizes

FLOATS = {"nan": nan, "inf": inf, "-inf": -inf}


def floats(x: Any) -> Any:
    """Read the words that stand for floats that JSON can't write."""
    if isinstance(x, dict):
        return {key: floats(value) for key, value in x.items()}
    if isinstance(x, list):
        return [floats(part) for part in x]
    return FLOATS.get(x, x) if isinstance(x, str) else x


def named(answer: Any) -> dict[str, Any]:
    return answer if isinstance(answer, dict) else {"": answer}


REPORTS = {
    report["id"]: floats(report)
    for report in json.loads((Path(__file__).parent / "data" / "public_reports.json").read_text("utf-8"))["cases"]
}

# What the library has no name for. If such a name appears, its cases are to be tested.
NOT_COVERED = {
    "rope-01-mixed-layouts": ("there is no rotation of positions", ("rope", "rotary", "rotated")),
}
COVERED = sorted(set(REPORTS) - set(NOT_COVERED))
# Parts of expected answers that nothing here could give.
NOT_ASKED = {"rope-02-cache-offset": {"score"}}
# What a report would forgive and the library need not be forgiven.
STRICTER = {"grad-04-saturated": {"abs": 0, "rel": 1e-10}}


def close(got: Any, right: Any, tolerance: dict[str, float]) -> bool:
    if isinstance(right, dict):
        return all(close(got[key], right[key], tolerance) for key in right)
    if isinstance(right, list):
        return len(got) == len(right) and all(close(a, b, tolerance) for a, b in zip(got, right, strict=True))
    if not isinstance(right, float):
        return bool(got == right)
    if not isfinite(right):
        return got == right or (isnan(got) and isnan(right))
    return bool(abs(got - right) <= tolerance["abs"] + tolerance["rel"] * abs(right))


def tolerance_of(report: dict[str, Any]) -> dict[str, float]:
    given: dict[str, float] = report["tolerance"]
    return STRICTER.get(report["id"], given)


def test_all_reports_are_here() -> None:
    assert Counter(report["strength"] for report in REPORTS.values()) == {"must": 36, "may": 7}
    assert {report["op"] for key, report in REPORTS.items() if key in COVERED} == set(ANSWERS)


def test_only_optional_reports_are_left_out_and_only_while_the_library_has_nothing_for_them() -> None:
    for key, (reason, words) in NOT_COVERED.items():
        assert REPORTS[key]["strength"] == "may", reason
        names = {name for module in (attention_primer, *MODULES) for name in dir(module) if not name.startswith("_")}
        assert not [name for name in names if set(words) & set(name.lower().split("_"))], key


MODULES = [vars(attention_primer)[name] for name in ("attention", "caches", "heads", "masks", "softmaxes")]


@pytest.mark.parametrize("key", COVERED)
def test_the_library_gives_the_right_answer(key: str) -> None:
    report = REPORTS[key]
    expected = named(report["expected"])
    ways = answers(report)
    assert set(expected) - set(ways[0]) == NOT_ASKED.get(key, set())
    for way in ways:
        for part in set(way) & set(expected):
            assert close(way[part], expected[part], tolerance_of(report)), (part, way[part])


# The library raises an error where these give a number, so there is nothing to compare.
REFUSED = {"err-01-heads-do-not-divide", "err-03-kv-length-mismatch"}
# What these give is no answer but an error, a test that is too strict, and an answer to another question, tested below.
APART = {
    ("softmax-01-overflow", "exp_raw_python"),
    ("softmax-04-sum-not-exactly-one", "exact_test"),
    ("heads-05-weights-per-head", "head_mean"),
}
BUGS = {
    (key, bug["name"]): named(bug["answer"])
    for key in COVERED
    if key not in REFUSED
    for bug in REPORTS[key]["buggy_variants"]
}


@pytest.mark.parametrize(("key", "bug"), sorted(set(BUGS) - APART))
def test_the_library_does_not_give_the_answer_of_the_bug(key: str, bug: str) -> None:
    wrong = BUGS[key, bug]
    ways = answers(REPORTS[key])
    assert set(ways[0]) & set(wrong)
    for way in ways:
        # Told apart by far more than rounding.
        same = [close(way[part], wrong[part], {"abs": 1e-20, "rel": 1e-3}) for part in set(way) & set(wrong)]
        assert not same or not all(same)


def test_weights_are_those_of_each_head_and_never_their_mean() -> None:
    report = REPORTS["heads-05-weights-per-head"]
    mean = report["buggy_variants"][0]["answer"]["weights"]
    [answer] = answers(report)
    assert not any(close(weights, mean, {"abs": 1e-3, "rel": 0}) for weights in answer["weights_per_head"])


def test_shares_sum_to_one_but_for_the_last_digits() -> None:
    shares = softmax(REPORTS["softmax-04-sum-not-exactly-one"]["inputs"]["x"])
    assert abs(sum(shares) - 1) <= 1e-15 * len(shares)


# The kind, not the case: others like them.


def test_a_query_that_sees_nothing_is_refused_wherever_it_stands_and_whatever_hides_its_keys() -> None:
    x = [[1.0], [2.0], [3.0]]
    for i in range(3):
        mask = [[row != i] * 3 for row in range(3)]
        bias = [[-inf if row == i else 0.0] * 3 for row in range(3)]
        half = [[not (row == i and j == 0) for j in range(3)] for row in range(3)]
        other_half = [[-inf if row == i and j > 0 else 0.0 for j in range(3)] for row in range(3)]
        for hidden, added in ((mask, None), (None, bias), (half, other_half)):
            with pytest.raises(ValueError, match=f"query {i} may see no key"):
                scaled_dot_product_attention(x, x, x, hidden, bias=added)


def test_left_padding_under_a_causal_mask_is_refused_until_padded_queries_are_left_out() -> None:
    mha, x = MultiHeadAttention(2, 1), [[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]
    both = combine_masks(causal_mask(3), padding_mask([False, True, True]))
    with pytest.raises(ValueError, match="query 0 may see no key"):
        mha(x, both)
    assert mha(x[1:], both[1:], context=x) == mha(x[1:], causal_mask(2))


@given(st.data(), sizes, sizes, st.integers(0, 3), st.sampled_from([9.0, nan, inf, -inf, 1e308]))
def test_padding_on_either_side_changes_nothing_whatever_it_holds(
    data: st.DataObject, n: int, d: int, n_pad: int, held: float
) -> None:
    q, k, v = (data.draw(matrices(n, d)) for _ in "qkv")
    expected = scaled_dot_product_attention(q, k, v, causal_mask(n))
    pads = [[held] * d] * n_pad
    left = combine_masks(causal_mask(n, n + n_pad), padding_mask([False] * n_pad + [True] * n, n))
    output, weights = scaled_dot_product_attention(q, pads + k, pads + v, left)
    assert (output, [row[n_pad:] for row in weights]) == expected
    right = [[*row, *[False] * n_pad] for row in causal_mask(n)]
    output, weights = scaled_dot_product_attention(q, k + pads, v + pads, right)
    assert (output, [row[:n] for row in weights]) == expected


@given(st.data(), st.integers(1, 6))
def test_the_first_token_reads_itself_and_every_token_may_read_itself(data: st.DataObject, n: int) -> None:
    q, k, v = (data.draw(matrices(n, 2)) for _ in "qkv")
    output, weights = scaled_dot_product_attention(q, k, v, causal_mask(n))
    assert output[0] == v[0]
    assert seen(weights) == [list(range(i + 1)) for i in range(n)]
    assert scaled_dot_product_attention(q, k, v, sliding_window_mask(n, window=1)).output == v


@given(st.data(), st.integers(1, 5))
def test_true_shows_and_false_hides(data: st.DataObject, n: int) -> None:
    q, k, v = (data.draw(matrices(n, 2)) for _ in "qkv")
    chosen = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    mask = [[j == only for j in range(n)] for only in chosen]
    assert scaled_dot_product_attention(q, k, v, mask).output == [v[only] for only in chosen]


@pytest.mark.parametrize(
    "mask", [[[1, 0]], [[1.0, 0.0]], [[0.0, -inf]], [[0.0, -1e9]], [["True", "False"]], [[True, 0]]]
)
def test_a_mask_of_numbers_is_refused_and_never_added(mask: Any) -> None:
    with pytest.raises(TypeError, match=r"it must be True \(may see\) or False \(hidden\)"):
        scaled_dot_product_attention([[1.0]], [[1.0], [2.0]], [[3.0], [4.0]], mask)


def test_the_same_ones_and_zeros_are_right_as_booleans_and_refused_as_numbers() -> None:
    inputs = REPORTS["mask-06-zero-one-added"]["inputs"]
    with pytest.raises(TypeError, match="a 1 means hidden elsewhere"):
        attend({**inputs, "keep_mask": inputs["same_mask_as_ints"]})
    as_booleans = [[bool(x) for x in row] for row in inputs["same_mask_as_ints"]]
    assert attend({**inputs, "keep_mask": as_booleans}) == attend(inputs)


@given(st.data(), sizes, sizes)
def test_a_bias_of_minus_infinity_hides_as_a_mask_does(data: st.DataObject, n_q: int, n_k: int) -> None:
    q, k, v = data.draw(matrices(n_q, 2)), data.draw(matrices(n_k, 2)), data.draw(matrices(n_k, 2))
    mask = [[True, *data.draw(st.lists(st.booleans(), min_size=n_k - 1, max_size=n_k - 1))] for _ in range(n_q)]
    bias = [[0.0 if may_see else -inf for may_see in row] for row in mask]
    assert scaled_dot_product_attention(q, k, v, bias=bias) == scaled_dot_product_attention(q, k, v, mask)


@pytest.mark.parametrize("size", [1e3, 1e5, 1e9, 1e30, 1e150, 1e300])
@pytest.mark.parametrize("sign", [1, -1])
def test_no_score_is_low_enough_for_a_hidden_key_to_win(size: float, sign: int) -> None:
    q, k, v = [[1.0]], [[sign * size], [-sign * size], [0.0]], [[1.0], [2.0], [3.0]]
    for shown in range(3):
        mask = [[j == shown for j in range(3)]]
        assert scaled_dot_product_attention(q, k, v, mask, scale=1).weights == [[float(x) for x in mask[0]]]


@pytest.mark.parametrize("n_k", range(1, 7))
def test_the_last_query_lines_up_with_the_last_key(n_k: int) -> None:
    for n_q in range(1, n_k + 1):
        assert causal_mask(n_q, n_k) == causal_mask(n_k)[n_k - n_q :]
        assert [sum(row) for row in causal_mask(n_q, n_k)] == list(range(n_k - n_q + 1, n_k + 1))
    with pytest.raises(ValueError, match="a causal mask needs at least as many keys"):
        causal_mask(n_k + 1, n_k)


@pytest.mark.parametrize("window", range(1, 8))
def test_a_window_counts_the_token_itself_in_the_mask_and_in_the_cache(window: int) -> None:
    assert [sum(row) for row in sliding_window_mask(6, window=window)] == [min(i + 1, window) for i in range(6)]
    cache = KVCache(MultiHeadAttention(1, 1), window=window)
    cache.extend([[1.0]] * 6)
    assert list(cache.positions) == list(range(max(0, 6 - window), 6))


@given(st.data(), st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_packed_texts_read_as_they_read_alone(data: st.DataObject, lengths: list[int]) -> None:
    n, texts = sum(lengths), [t for t, length in enumerate(lengths) for _ in range(length)]
    q, k, v = (data.draw(matrices(n, 2)) for _ in "qkv")
    mask = combine_masks(causal_mask(n), [[a == b for b in texts] for a in texts])
    packed, start = scaled_dot_product_attention(q, k, v, mask).output, 0
    for length in lengths:
        part = slice(start, start + length)
        alone = scaled_dot_product_attention(q[part], k[part], v[part], causal_mask(length)).output
        assert packed[part] == alone
        start += length


@pytest.mark.parametrize(("n_heads", "d_head"), [(1, 4), (2, 4), (4, 4), (8, 1), (3, 9)])
def test_scores_are_divided_by_the_root_of_the_width_of_a_head(n_heads: int, d_head: int) -> None:
    d_model = n_heads * d_head
    W = identity(d_model)
    mha = MultiHeadAttention.from_weights(W, W, W, W, n_heads)
    x = [[((i + 2) * (c + 3)) % 7 / 4 - 0.5 for c in range(d_model)] for i in range(3)]
    for h, head in enumerate(mha.attend(x)):
        part = [row[h * d_head : (h + 1) * d_head] for row in x]
        assert head == scaled_dot_product_attention(part, part, part, scale=d_head**-0.5)


@given(st.data())
def test_the_order_of_heads_plays_no_part_when_weights_move_along(data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(4)))
    mha, x = MultiHeadAttention(4, 4, seed=3), data.draw(matrices(3, 4))
    W_q, W_k, W_v = ([[row[c] for c in order] for row in W] for W in (mha.W_q, mha.W_k, mha.W_v))
    moved = MultiHeadAttention.from_weights(W_q, W_k, W_v, [mha.W_o[c] for c in order], n_heads=4)
    assert [head.weights for head in moved.attend(x)] == [mha.attend(x)[h].weights for h in order]
    assert close(moved(x), mha(x), {"abs": 1e-12, "rel": 1e-12})


@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(1, 1), (6, 1), (6, 2), (6, 3), (6, 6), (12, 4), (32, 8)])
def test_neighbors_share_a_head_of_keys_and_values(n_heads: int, n_kv_heads: int) -> None:
    assert head_to_kv(n_heads, n_kv_heads) == [g for g in range(n_kv_heads) for _ in range(n_heads // n_kv_heads)]


@pytest.mark.parametrize("sizes", [(10, 4, 4), (7, 2, 2), (8, 8, 3), (8, 4, 8), (1, 2, 2)])
def test_heads_that_do_not_divide_are_refused_with_their_numbers(sizes: tuple[int, int, int]) -> None:
    d_model, n_heads, n_kv_heads = sizes
    with pytest.raises(ShapeError) as caught:
        MultiHeadAttention(d_model, n_heads, n_kv_heads)
    assert str(n_heads) in str(caught.value)
    for wrong in ((8, 0), (8, 4, 0), (0, 1)):
        with pytest.raises(ValueError, match="is 0: it must be at least 1"):
            MultiHeadAttention(*wrong)


@given(st.integers(1, 4), st.integers(1, 4))
def test_no_list_is_cut_to_the_length_of_another(n: int, m: int) -> None:
    if n != m:
        ones, others = [1.0] * n, [1.0] * m
        sdpa_call = {"call": "sdpa", "q": [ones], "k": [others], "v": [[1.0]]}
        values_call = {"call": "sdpa", "q": [[1.0]], "k": [[1.0]] * n, "v": [[1.0]] * m}
        products = [{"call": "dot", "a": ones, "b": others}, {"call": "matmul", "a": [ones], "b": [[1.0]] * m}]
        assert refused({"cases": [sdpa_call, values_call, *products]})["raises"] == "ValueError"


@pytest.mark.parametrize(
    "scores", [[1e308, -1e308], [-1e308, -1.1e308], [710.0, 0.0], [-750.0, -751.0], [1e16, 1e16 + 2]]
)
def test_softmax_and_its_logarithm_hold_where_exponentials_overflow_or_vanish(scores: list[float]) -> None:
    lead = scores[0] - scores[1]
    shares = softmax(scores)
    assert abs(sum(shares) - 1) <= 1e-15
    if abs(lead) <= 2:
        assert close(
            shares[0] / shares[1], {1.0: 2.718281828459045, -2.0: 0.1353352832366127}[lead], {"abs": 0, "rel": 1e-12}
        )
    else:
        assert shares[0] == 1.0
        assert log_softmax(scores) == [-exp(-lead), -lead]


@pytest.mark.parametrize("low", [-1e4, -6e4, -1e9, -1e38, -1e300])
def test_an_online_softmax_notices_scores_however_low(low: float) -> None:
    online = OnlineSoftmax()
    for value in (2.0, 4.0):
        online.add(low, [value])
    assert (online.largest, online.output) == (low, [3.0])


@given(st.data(), sizes, sizes, numbers)
def test_a_number_added_to_all_scores_of_a_row_changes_nothing(
    data: st.DataObject, n_q: int, n_k: int, c: float
) -> None:
    q, k, v = data.draw(matrices(n_q, 2)), data.draw(matrices(n_k, 2)), data.draw(matrices(n_k, 2))
    bias = data.draw(matrices(n_q, n_k))
    plain = scaled_dot_product_attention(q, k, v, bias=bias)
    shifted = scaled_dot_product_attention(q, k, v, bias=[[b + c for b in row] for row in bias])
    assert close(list(shifted), list(plain), {"abs": 1e-12, "rel": 1e-12})


@given(st.data(), sizes, sizes)
def test_every_row_sums_to_one_and_columns_need_not(data: st.DataObject, n_q: int, n_k: int) -> None:
    q, k = data.draw(matrices(n_q, 2)), data.draw(matrices(n_k, 2))
    weights = scaled_dot_product_attention(q, k, k).weights
    assert close([sum(row) for row in weights], [1.0] * n_q, {"abs": 1e-14, "rel": 0})
    assert close(sum(map(sum, weights)), float(n_q), {"abs": 1e-13, "rel": 0})


def test_a_cache_grows_with_tokens_layers_and_heads_of_keys_and_with_nothing_else() -> None:
    plain = [64, 4, 2, 8, 2]
    for i in range(len(plain)):
        doubled = [2 * x if i == j else x for j, x in enumerate(plain)]
        assert kv_cache_bytes(*doubled) == 2 * kv_cache_bytes(*plain)


def test_whole_numbers_give_what_floats_give() -> None:
    q, k, v = [[1, 0], [2, 3]], [[1, 2], [0, 1], [4, 0]], [[5], [6], [7]]
    float_q, float_k, float_v = ([[float(x) for x in row] for row in A] for A in (q, k, v))
    assert scaled_dot_product_attention(q, k, v) == scaled_dot_product_attention(float_q, float_k, float_v)
    assert (q, k, v) == ([[1, 0], [2, 3]], [[1, 2], [0, 1], [4, 0]], [[5], [6], [7]])


def test_asking_twice_gives_the_same_since_nothing_is_dropped() -> None:
    inputs = REPORTS["dropout-01-eval"]["inputs"]
    assert sdpa(inputs) == sdpa(inputs)
    with pytest.raises(TypeError, match="dropout_p"):
        attend(inputs, dropout_p=0.5)
