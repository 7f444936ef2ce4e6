from math import fsum, inf, isfinite, log, nan, sqrt, ulp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import Attention, causal_mask, mix, scaled_dot_product_attention, softmax
from oracles import TINY, U, bits, exact_attention, watched
from strategies import Inputs, Table, attention_inputs, matrices, numbers, vectors, whole_numbers, wild_numbers

RUBBISH = [nan, inf, -inf, 1e308, -0.0]


def of_one_query(found: Attention, i: int) -> tuple[object, object]:
    return bits(found.output[i]), bits(found.weights[i])


def error_of_scores(inputs: Inputs, scale: float, bias: Table | None = None) -> float:
    """Bound the error of a score: a rounding for each term and each later step, measured by the sum without signs."""
    largest = max(
        scale * fsum(abs(a * b) for a, b in zip(q_i, k_j, strict=True)) for q_i in inputs.q for k_j in inputs.k
    )
    largest_bias = max((abs(b) for row in bias or [] for b in row if b > -inf), default=0.0)
    return ((len(inputs.k[0]) + 6) * largest + 2 * largest_bias) * U


def assert_agrees_with_fifty_digits(
    found: Attention, inputs: Inputs, bias: Table | None, scale: float | None, softcap: float | None
) -> None:
    """Compare with the exact answer; an error of a score moves its share and the total by as much, relatively."""
    output, weights = exact_attention(*inputs, bias, scale, softcap)
    factor = 1 / sqrt(len(inputs.k[0])) if scale is None else abs(scale)
    relative = 3 * error_of_scores(inputs, factor, bias) + 2 * (len(inputs.k) + 4) * U
    largest = max(abs(x) for row in inputs.v for x in row)
    for found_row, exact_row in zip(found.weights, weights, strict=True):
        assert all(abs(w - e) <= relative * e + TINY for w, e in zip(found_row, exact_row, strict=True))
    for found_row, exact_row in zip(found.output, output, strict=True):
        assert all(abs(o - e) <= relative * largest + TINY for o, e in zip(found_row, exact_row, strict=True))


# What attention is.


@given(attention_inputs(), st.none() | st.floats(-2, 2), st.none() | st.floats(0.1, 50), st.data())
def test_attention_agrees_with_fifty_digits(
    inputs: Inputs, scale: float | None, softcap: float | None, data: st.DataObject
) -> None:
    bias = data.draw(st.none() | matrices(len(inputs.q), len(inputs.k)))
    found = scaled_dot_product_attention(*inputs, bias=bias, scale=scale, softcap=softcap)
    assert_agrees_with_fifty_digits(found, inputs, bias, scale, softcap)


@given(attention_inputs())
def test_weights_sum_to_one_and_are_exactly_zero_where_hidden(inputs: Inputs) -> None:
    for weights, seen in zip(scaled_dot_product_attention(*inputs).weights, inputs.mask, strict=True):
        assert abs(fsum(weights) - 1) <= ulp(1.0)
        assert all(w >= 0 if visible else w == 0 for w, visible in zip(weights, seen, strict=True))


@given(attention_inputs(numbers | st.floats(-1e150, 1e150)))
def test_each_output_lies_within_four_ulps_of_the_range_of_the_values_that_are_seen(inputs: Inputs) -> None:
    zero_queries = [[0.0] * len(row) for row in inputs.q]  # or scores could overflow
    for q in (zero_queries, [[max(-8.0, min(8.0, x)) / 1e150 for x in row] for row in inputs.q]):
        output = scaled_dot_product_attention(q, inputs.k, inputs.v, inputs.mask).output
        for o_i, seen in zip(output, inputs.mask, strict=True):
            for c, o in enumerate(o_i):
                visible = [v_j[c] for v_j, s in zip(inputs.v, seen, strict=True) if s]
                slack = 4 * ulp(max(map(abs, visible)))
                assert min(visible) - slack <= o <= max(visible) + slack


@pytest.mark.parametrize("n_k", [1, 10, 100, 1000])
def test_the_range_of_the_values_holds_for_many_keys_too(n_k: int) -> None:
    rng = Random(n_k)
    q, k = [[rng.gauss(0, 1)]], [[rng.gauss(0, 1)] for _ in range(n_k)]
    for value in (1.0, 1.999, 0.1, -3.7):
        [[output]], _ = scaled_dot_product_attention(q, k, [[value]] * n_k)
        assert abs(output - value) <= 4 * ulp(value)


@given(attention_inputs())
def test_the_output_is_the_mix_of_the_values_by_the_weights(inputs: Inputs) -> None:
    output, weights = scaled_dot_product_attention(*inputs)
    assert output == [mix(w_i, inputs.v) for w_i in weights]


@given(attention_inputs(whole_numbers))
def test_a_query_that_asks_nothing_gets_the_plain_average_of_what_it_may_see(inputs: Inputs) -> None:
    nothing = [[0.0] * len(row) for row in inputs.q]
    for w_i, seen in zip(scaled_dot_product_attention(nothing, *inputs[1:]).weights, inputs.mask, strict=True):
        assert w_i == [s / sum(seen) for s in seen]


@given(st.integers(1, 6), st.integers(0, 9))
def test_copies_of_a_key_vote(copies: int, doublings: int) -> None:
    k = [[doublings * log(2)]] * copies + [[0.0]]
    [weights] = scaled_dot_product_attention([[1]], k, [[0]] * len(k)).weights
    votes = copies * 2**doublings
    assert fsum(weights[:-1]) == pytest.approx(votes / (votes + 1), rel=20 * U)


# What can't matter.


@given(attention_inputs(), st.randoms(use_true_random=False))
def test_permuting_keys_with_their_values_permutes_the_weights_and_leaves_the_mix(inputs: Inputs, rng: Random) -> None:
    q, k, v, mask = inputs
    order = list(range(len(k)))
    rng.shuffle(order)
    plain = scaled_dot_product_attention(*inputs)
    moved = scaled_dot_product_attention(
        q, [k[j] for j in order], [v[j] for j in order], [[row[j] for j in order] for row in mask]
    )
    assert bits(moved.weights) == bits([[row[j] for j in order] for row in plain.weights])
    for moved_row, row in zip(moved.output, plain.output, strict=True):
        for c, (x, y) in enumerate(zip(moved_row, row, strict=True)):
            assert abs(x - y) <= len(k) * ulp(max(abs(v_j[c]) for v_j in v))


@given(attention_inputs(), st.randoms(use_true_random=False))
def test_permuting_queries_permutes_the_answers_to_the_last_bit(inputs: Inputs, rng: Random) -> None:
    q, k, v, mask = inputs
    order = list(range(len(q)))
    rng.shuffle(order)
    plain = scaled_dot_product_attention(*inputs)
    moved = scaled_dot_product_attention([q[i] for i in order], k, v, [mask[i] for i in order])
    assert all(of_one_query(moved, place) == of_one_query(plain, i) for place, i in enumerate(order))


@given(attention_inputs(causal=True), st.data())
def test_changing_the_future_never_changes_the_past(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, mask = inputs
    first_changed = data.draw(st.integers(len(k) - len(q), len(k) - 1))
    d_k, d_v = len(k[0]), len(v[0])
    n_new = len(k) - first_changed
    other_k = k[:first_changed] + data.draw(matrices(n_new, d_k))
    other_v = v[:first_changed] + data.draw(matrices(n_new, d_v, wild_numbers.map(lambda x: x / 16)))
    plain, changed = scaled_dot_product_attention(*inputs), scaled_dot_product_attention(q, other_k, other_v, mask)
    for i in range(first_changed - (len(k) - len(q))):
        assert of_one_query(changed, i) == of_one_query(plain, i)


@given(attention_inputs(causal=True), st.data())
def test_words_that_are_added_never_change_the_rows_before(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, _ = inputs
    more = data.draw(st.integers(1, 3))
    new_q, new_k = data.draw(matrices(more, len(q[0]))), data.draw(matrices(more, len(k[0])))
    new_v = data.draw(matrices(more, len(v[0])))
    before = scaled_dot_product_attention(*inputs)
    after = scaled_dot_product_attention(q + new_q, k + new_k, v + new_v, causal_mask(len(q) + more, len(k) + more))
    for i in range(len(q)):
        assert bits(after.output[i]) == bits(before.output[i])
        assert bits(after.weights[i]) == bits(before.weights[i] + [0.0] * more)


@given(attention_inputs(), st.data())
def test_what_a_hidden_key_holds_never_matters_by_a_single_bit(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, mask = inputs
    hidden = data.draw(st.sets(st.integers(0, len(k) - 1), max_size=len(k) - 1))
    shows = [[seen and j not in hidden for j, seen in enumerate(row)] for row in mask]
    kept = [i for i, row in enumerate(shows) if any(row)]
    if not kept:
        return
    q, shows = [q[i] for i in kept], [shows[i] for i in kept]
    unseen = {j for j in range(len(k)) if not any(row[j] for row in shows)}
    rubbish = st.sampled_from(RUBBISH)
    other_k = [data.draw(vectors(len(k_j), rubbish)) if j in unseen else k_j for j, k_j in enumerate(k)]
    other_v = [data.draw(vectors(len(v_j), rubbish)) if j in unseen else v_j for j, v_j in enumerate(v)]
    plain = scaled_dot_product_attention(q, k, v, shows)
    assert bits(scaled_dot_product_attention(q, other_k, other_v, shows)) == bits(plain)


@given(attention_inputs(), st.data())
def test_a_key_hidden_from_one_query_may_hold_anything_finite_for_it(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, mask = inputs
    i = data.draw(st.integers(0, len(q) - 1))
    other_k = [k_j if seen else data.draw(vectors(len(k_j))) for k_j, seen in zip(k, mask[i], strict=True)]
    other_v = [
        v_j if seen else data.draw(vectors(len(v_j), wild_numbers.map(lambda x: x / 16)))
        for v_j, seen in zip(v, mask[i], strict=True)
    ]
    plain = scaled_dot_product_attention(*inputs)
    assert of_one_query(scaled_dot_product_attention(q, other_k, other_v, mask), i) == of_one_query(plain, i)


@given(attention_inputs())
def test_leaving_hidden_keys_out_is_the_same_as_hiding_them(inputs: Inputs) -> None:
    plain = scaled_dot_product_attention(*inputs)
    for i, seen in enumerate(inputs.mask):
        visible = [j for j, s in enumerate(seen) if s]
        k, v = [inputs.k[j] for j in visible], [inputs.v[j] for j in visible]
        alone = scaled_dot_product_attention([inputs.q[i]], k, v)
        assert bits(alone.weights[0]) == bits([plain.weights[i][j] for j in visible])
        assert alone.output[0] == plain.output[i]


@given(attention_inputs(whole_numbers), st.data())
def test_a_vector_added_to_all_keys_changes_nothing(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, mask = inputs
    shift = data.draw(vectors(len(k[0]), whole_numbers))
    shifted = [[x + y for x, y in zip(k_j, shift, strict=True)] for k_j in k]
    # Whole numbers and a scale that is a power of two, so that the shift itself rounds nothing.
    plain, moved = (scaled_dot_product_attention(q, keys, v, mask, scale=2.0**-6) for keys in (k, shifted))
    for row, moved_row in zip(plain.weights, moved.weights, strict=True):
        assert all(abs(x - y) <= 6 * ulp(x) for x, y in zip(row, moved_row, strict=True))


@given(attention_inputs(), st.integers(-9, 9))
def test_doubling_queries_and_halving_keys_changes_no_bit(inputs: Inputs, doublings: int) -> None:
    q, k, v, mask = inputs
    factor = 2.0**doublings
    q, k = ([[round(x, 3) for x in row] for row in table] for table in (q, k))  # far from underflow
    doubled, halved = [[x * factor for x in row] for row in q], [[x / factor for x in row] for row in k]
    plain = scaled_dot_product_attention(q, k, v, mask)
    assert bits(scaled_dot_product_attention(doubled, halved, v, mask)) == bits(plain)


# Mask, bias, scale and cap.


@given(attention_inputs())
def test_no_mask_and_a_mask_that_hides_nothing_are_the_same_to_the_last_bit(inputs: Inputs) -> None:
    q, k, v, _ = inputs
    all_seen = [[True] * len(k) for _ in q]
    assert bits(scaled_dot_product_attention(q, k, v)) == bits(scaled_dot_product_attention(q, k, v, all_seen))


@given(attention_inputs())
def test_a_bias_of_minus_infinity_hides_like_a_mask_to_the_last_bit(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    bias = [[0.0 if seen else -inf for seen in row] for row in mask]
    assert bits(scaled_dot_product_attention(q, k, v, bias=bias)) == bits(scaled_dot_product_attention(*inputs))


@given(attention_inputs())
def test_a_bias_may_hide_what_holds_rubbish(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    unseen = [not any(column) for column in zip(*mask, strict=True)]
    k = [[nan] * len(k_j) if hidden else k_j for k_j, hidden in zip(k, unseen, strict=True)]
    bias = [[0.0 if seen else -inf for seen in row] for row in mask]
    assert bits(scaled_dot_product_attention(q, k, v, bias=bias)) == bits(scaled_dot_product_attention(*inputs))


@given(attention_inputs(), st.data())
def test_mask_and_bias_together_show_what_both_show(inputs: Inputs, data: st.DataObject) -> None:
    q, k, v, mask = inputs
    hides = data.draw(matrices(len(q), len(k), st.sampled_from([0.0, -inf])))
    for i, row in enumerate(mask):
        hides[i][row.index(True)] = 0.0
    both = [[seen and h == 0 for seen, h in zip(row, h_i, strict=True)] for row, h_i in zip(mask, hides, strict=True)]
    assert bits(scaled_dot_product_attention(*inputs, bias=hides)) == bits(scaled_dot_product_attention(q, k, v, both))


@given(attention_inputs(), st.floats(-50, 50))
def test_the_same_bias_for_all_keys_of_a_query_cancels(inputs: Inputs, b: float) -> None:
    plain = scaled_dot_product_attention(*inputs)
    biased = scaled_dot_product_attention(*inputs, bias=[[b] * len(inputs.k) for _ in inputs.q])
    relative = 2 * error_of_scores(inputs, 1.0, [[b]]) + 8 * U
    for row, other in zip(plain.weights, biased.weights, strict=True):
        assert all(abs(x - y) <= relative * x + TINY for x, y in zip(row, other, strict=True))


@given(attention_inputs())
def test_the_default_scale_is_one_over_the_root_of_the_width_of_a_key(inputs: Inputs) -> None:
    by_hand = scaled_dot_product_attention(*inputs, scale=1 / sqrt(len(inputs.q[0])))
    assert bits(scaled_dot_product_attention(*inputs)) == bits(by_hand)


@given(attention_inputs(), st.floats(0.5, 3))
def test_a_cap_bounds_every_lead_to_twice_itself(inputs: Inputs, softcap: float) -> None:
    q, k, v, mask = inputs
    wild = scaled_dot_product_attention([[100 * x for x in row] for row in q], k, v, mask, softcap=softcap)
    for row, seen in zip(wild.weights, mask, strict=True):
        visible = [w for w, s in zip(row, seen, strict=True) if s]
        assert log(max(visible)) - log(min(visible)) <= 2 * softcap + 8 * U * softcap + 8 * U


@given(attention_inputs())
def test_a_cap_far_above_all_scores_changes_next_to_nothing(inputs: Inputs) -> None:
    plain, capped = scaled_dot_product_attention(*inputs), scaled_dot_product_attention(*inputs, softcap=1e9)
    # tanh(x) misses x by x³/3, and scores are below 5 · 8 · 8.
    relative = 2 * 320**3 / 3 / 1e18 + 2 * error_of_scores(inputs, 1.0) + 8 * U
    for row, other in zip(plain.weights, capped.weights, strict=True):
        assert all(abs(x - y) <= relative * x + TINY for x, y in zip(row, other, strict=True))


def test_the_cap_comes_before_the_bias_and_the_bias_is_not_scaled() -> None:
    k, v = [[1], [0]], [[0], [0]]
    [weights] = scaled_dot_product_attention([[1000]], k, v, bias=[[0, 3]], scale=0.5, softcap=2).weights
    assert weights == pytest.approx(softmax([2, 3]), rel=4 * U)


# Fewer queries than keys, large numbers, and what is handed back.


@given(attention_inputs(causal=True))
def test_the_last_queries_alone_get_the_last_rows_of_the_whole_text(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    for n_q in range(1, len(q) + 1):
        alone = scaled_dot_product_attention(q[-n_q:], k, v, causal_mask(n_q, len(k)))
        whole = scaled_dot_product_attention(q, k, v, mask)
        assert bits(alone) == bits([whole.output[-n_q:], whole.weights[-n_q:]])


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=6), st.floats(-1e150, 1e150))
def test_scores_up_to_the_end_of_floats_give_finite_shares(k: list[float], q: float) -> None:
    output, weights = scaled_dot_product_attention([[q]], [[k_j] for k_j in k], [[1e308] for _ in k])
    assert all(map(isfinite, weights[0]))
    assert output[0][0] == pytest.approx(1e308, rel=8 * U)


@given(attention_inputs(), st.data())
def test_no_argument_is_changed_and_no_row_is_handed_out_twice(inputs: Inputs, data: st.DataObject) -> None:
    bias = data.draw(matrices(len(inputs.q), len(inputs.k)))
    q, k, v, mask = inputs
    for j, seen in enumerate(zip(*mask, strict=True)):
        if not any(seen):
            k[j][0] = v[j][0] = nan
    output, weights = watched(scaled_dot_product_attention, q, k, v, mask, bias=bias)
    before = bits((output, weights))
    for row in [*q, *k, *v, *bias]:
        row.clear()
    assert bits((output, weights)) == before


@given(attention_inputs(whole_numbers))
def test_whole_numbers_and_tuples_are_as_good_as_lists_of_floats(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    whole_q, whole_k, whole_v = (tuple(tuple(map(int, row)) for row in table) for table in (q, k, v))
    found = scaled_dot_product_attention(whole_q, whole_k, whole_v, tuple(map(tuple, mask)), scale=1)
    assert bits(found) == bits(scaled_dot_product_attention(*inputs, scale=1.0))
