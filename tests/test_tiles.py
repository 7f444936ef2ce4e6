import tracemalloc
from math import exp, fsum, inf, log, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import (
    OnlineSoftmax,
    causal_mask,
    flash_attention,
    log_softmax,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from attention_primer.checks import ShapeError
from oracles import U, bits, exact_attention, watched
from strategies import Inputs, Table, attention_inputs, dyadics, matrices, numbers

tile_sizes = st.integers(1, 6)
small = st.floats(-2, 2, allow_subnormal=False)


def random_table(rng: Random, n: int, d: int) -> Table:
    return [[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]


def most_apart(A: Table, B: Table) -> float:
    return max(abs(a - b) for a_i, b_i in zip(A, B, strict=True) for a, b in zip(a_i, b_i, strict=True))


# The same answer.


@given(attention_inputs(small), st.data(), tile_sizes, tile_sizes)
def test_tiles_change_nothing_but_the_last_digits(
    inputs: Inputs, data: st.DataObject, tile_q: int, tile_k: int
) -> None:
    bias = data.draw(st.none() | matrices(len(inputs.q), len(inputs.k), small))
    how = {"bias": bias, "scale": data.draw(st.none() | small), "softcap": data.draw(st.none() | st.floats(0.5, 50))}
    flash = flash_attention(*inputs, **how, tile_q=tile_q, tile_k=tile_k)  # type: ignore[arg-type]
    exact, _ = exact_attention(*inputs, **how)  # type: ignore[arg-type]
    largest = max(abs(x) for row in inputs.v for x in row)
    # Scores up to 42 with 10 roundings on the way, exponentials and five keys: some hundred units of the last place.
    for o_i, e_i in zip(flash.output, exact, strict=True):
        assert all(abs(o - e) <= 500 * U * largest for o, e in zip(o_i, e_i, strict=True))


@given(attention_inputs(dyadics), tile_sizes)
def test_scores_in_the_hundreds_cost_no_more_than_their_own_rounding(inputs: Inputs, tile_k: int) -> None:
    plain = scaled_dot_product_attention(*inputs)
    flash = flash_attention(*inputs, tile_k=tile_k)
    largest = max(abs(x) for row in inputs.v for x in row)
    # A score of up to 600 is off by up to 600 roundings of 1, and so is its e-value; both routes have two such errors.
    assert most_apart(flash.output, plain.output) <= 2000 * U * largest


def test_tiles_are_not_bit_for_bit_the_plain_answer() -> None:
    # Sums in another order round in another way: somewhere in a few hundred numbers a last digit differs.
    rng = Random(0)
    q, k, v = (random_table(rng, 24, 8) for _ in range(3))
    plain, flash = scaled_dot_product_attention(q, k, v).output, flash_attention(q, k, v, tile_k=5).output
    assert bits(plain) != bits(flash)
    assert 0 < most_apart(plain, flash) <= 16 * U


@given(attention_inputs(small), tile_sizes)
def test_the_log_totals_turn_scores_into_shares(inputs: Inputs, tile_k: int) -> None:
    q, k, v, mask = inputs
    flash = flash_attention(q, k, v, mask, scale=1, tile_k=tile_k)
    for i, log_total in enumerate(flash.log_totals):
        scores = [fsum(a * b for a, b in zip(q[i], k_j, strict=True)) for k_j in k]
        visible = [s for s, seen in zip(scores, mask[i], strict=True) if seen]
        assert visible[0] - log_total == pytest.approx(log_softmax(visible)[0], abs=200 * U, rel=0)


def test_two_halves_merge_by_their_log_totals() -> None:
    rng = Random(1)
    q, k, v = random_table(rng, 3, 4), random_table(rng, 9, 4), random_table(rng, 9, 2)
    left, right = flash_attention(q, k[:4], v[:4]), flash_attention(q, k[4:], v[4:])
    whole = flash_attention(q, k, v)
    for i in range(3):
        # Each half's part of the whole.
        a, b = (exp(half.log_totals[i] - whole.log_totals[i]) for half in (left, right))
        assert a + b == pytest.approx(1, abs=8 * U, rel=0)
        merged = [a * x + b * y for x, y in zip(left.output[i], right.output[i], strict=True)]
        assert merged == pytest.approx(whole.output[i], abs=16 * U, rel=0)


# The classic faults.


@pytest.mark.parametrize("tile_k", [1, 2, 3, 4])
def test_a_first_block_that_is_hidden_leaves_no_trace(tile_k: int) -> None:
    # −∞ minus −∞ is NaN: a running maximum that meets only hidden keys at first must stay out of the sums.
    q, k, v = [[1.0]] * 2, [[5.0], [7.0], [1.0], [1.0]], [[nan], [inf], [2.0], [4.0]]
    mask = [[False, False, True, True]] * 2
    assert flash_attention(q, k, v, mask, tile_k=tile_k).output == [[3.0], [3.0]]


def test_a_block_that_only_one_query_of_the_tile_sees_is_nothing_to_the_other() -> None:
    mask = [[True, False, False, False], [False, False, False, True]]
    assert flash_attention([[1], [1]], [[9]] * 4, [[1], [2], [3], [4]], mask, tile_k=2).output == [[1.0], [4.0]]


@pytest.mark.parametrize("tile_k", [1, 2, 3])
@pytest.mark.parametrize("lowest", [-6e4, -1e6, -1e300])
def test_scores_below_any_stand_in_for_minus_infinity_still_count(lowest: float, tile_k: int) -> None:
    flash = flash_attention([[1]], [[lowest]] * 3, [[1], [2], [6]], scale=1, tile_k=tile_k)
    assert flash.output == [[3.0]]


@pytest.mark.parametrize("tile_k", [1, 2, 3])
@pytest.mark.parametrize("level", [1000.0, -1000.0])
def test_scores_near_a_thousand_neither_overflow_nor_vanish(level: float, tile_k: int) -> None:
    flash = flash_attention([[1]], [[level], [level + 2], [level - 1]], [[1], [3], [10]], scale=1, tile_k=tile_k)
    plain = flash_attention([[1]], [[0], [2], [-1]], [[1], [3], [10]], scale=1, tile_k=tile_k)
    assert flash.output[0] == pytest.approx(plain.output[0], rel=4 * U, abs=0)
    assert flash.log_totals[0] == pytest.approx(plain.log_totals[0] + level, rel=4 * U, abs=0)


@pytest.mark.parametrize("keys", [[0, 1000, -1000], [-1000, 0, 1000], [1000, 0, -1000]], ids=str)
def test_a_new_largest_score_takes_over_whenever_it_comes(keys: list[float]) -> None:
    values = [[float(key)] for key in keys]
    assert flash_attention([[1]], [[key] for key in keys], values, scale=1, tile_k=1).output == [[1000.0]]


@given(attention_inputs(numbers), st.data(), tile_sizes, tile_sizes)
def test_what_a_hidden_key_holds_never_matters(inputs: Inputs, data: st.DataObject, tile_q: int, tile_k: int) -> None:
    q, k, v, mask = inputs
    hidden = [not any(seen_by) for seen_by in zip(*mask, strict=True)]
    junk = data.draw(st.sampled_from([nan, inf, -inf, 1e308]))
    k2 = [[junk] * len(row) if gone else row for row, gone in zip(k, hidden, strict=True)]
    v2 = [[junk] * len(row) if gone else row for row, gone in zip(v, hidden, strict=True)]
    before, after = (flash_attention(q, *kv, mask, tile_q=tile_q, tile_k=tile_k) for kv in ((k, v), (k2, v2)))
    assert bits(before.output) == bits(after.output)


# What it takes.


@given(attention_inputs(), tile_sizes, tile_sizes)
def test_every_tile_is_computed_unless_all_its_pairs_are_hidden(inputs: Inputs, tile_q: int, tile_k: int) -> None:
    flash = flash_attention(*inputs, tile_q=tile_q, tile_k=tile_k)
    visible = {(i // tile_q, j // tile_k) for i, row in enumerate(inputs.mask) for j, seen in enumerate(row) if seen}
    assert flash.n_tiles == len(visible)
    assert flash.n_tiles + flash.n_skipped == -(-len(inputs.q) // tile_q) * -(-len(inputs.k) // tile_k)


def test_masks_that_hide_whole_tiles_save_them() -> None:
    q = [[0.0]] * 64
    tiles = {
        name: flash_attention(q, q, q, mask, tile_q=8, tile_k=8).n_tiles
        for name, mask in {
            "none": None,
            "causal": causal_mask(64),
            "window": sliding_window_mask(64, window=8),
            "padding": padding_mask([True] * 16 + [False] * 48),
        }.items()
    }
    assert tiles == {"none": 64, "causal": 36, "window": 15, "padding": 16}


def test_a_skipped_tile_is_not_even_multiplied() -> None:
    class Poisoned(float):
        def __rmul__(self, other: float) -> float:
            raise AssertionError("a hidden key was multiplied")

    k: Table = [[1.0], [1.0], [Poisoned(1)], [Poisoned(1)]]
    mask = [[True, True, False, False]] * 2
    assert flash_attention([[1.0]] * 2, k, [[5]] * 4, mask, tile_q=2, tile_k=2).n_skipped == 1


@pytest.mark.parametrize("n", [4, 16, 64])
def test_what_is_kept_grows_with_the_tile_and_not_with_the_text(n: int) -> None:
    q, v = [[0.0]] * n, [[0.0] * 3] * n
    # 4 × 4 scores; four queries with a largest score, a total and three values added up.
    assert flash_attention(q, q, v, tile_q=4, tile_k=4).n_kept == 4 * 4 + 4 * (1 + 1 + 3)


def test_no_table_of_all_pairs_is_ever_made() -> None:
    n = 400
    q = [[float(i)] for i in range(n)]
    tracemalloc.start()
    try:
        flash_attention(q, q, q, tile_q=8, tile_k=32)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A list of lists has at least a pointer of eight bytes for each pair.
    assert peak < 8 * n * n / 4


@given(attention_inputs(small), tile_sizes)
def test_a_tile_of_one_query_is_the_online_softmax(inputs: Inputs, tile_q: int) -> None:
    q, k, v, mask = inputs
    flash = flash_attention(q, k, v, mask, scale=1, tile_q=tile_q, tile_k=1)
    for i, row in enumerate(flash.output):
        online = OnlineSoftmax()
        for k_j, v_j, seen in zip(k, v, mask[i], strict=True):
            online.add(sum(a * b for a, b in zip(q[i], k_j, strict=True)) if seen else -inf, v_j)
        assert row == pytest.approx(online.output, abs=200 * U, rel=0)
        assert flash.log_totals[i] == pytest.approx(online.largest + log(online.total), abs=200 * U, rel=0)


def test_arguments_stay_as_they_are() -> None:
    watched(flash_attention, [[1], [2]], [[1], [2]], [[1, 0], [0, 1]], causal_mask(2), bias=[[0, 0], [0, 1]], tile_k=1)


# Wrong calls: the words of plain attention, whichever tile the fault stands in.

Q, K = [[1.0]] * 3, [[1.0], [2.0]]
WRONG_CALLS: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"q": []}, ShapeError, "q is empty: it must hold at least one of the rows"),
    ({"q": [[1, 2]]}, ShapeError, "q is (1, 2) and k is (2, 1): queries and keys must be equally wide"),
    ({"v": [[1]]}, ShapeError, "k is (2, 1) and v is (1, 1): every key needs one value"),
    ({"q": [[1], [nan], [1]]}, ValueError, "q[1][0] is nan: it must be a finite number"),
    ({"k": [[1], [nan]]}, ValueError, "k[1][0] is nan: it must be a finite number"),
    ({"v": [[1], [inf]]}, ValueError, "v[1][0] is inf: it must be a finite number"),
    ({"k": [[1], "x"]}, TypeError, "k[1] is 'x': it must be a list of numbers"),
    ({"mask": [[True]] * 3}, ShapeError, "mask is (3, 1): 3 queries and 2 keys need (3, 2)"),
    ({"mask": [[True, True]] * 2}, ShapeError, "mask is (2, 2): 3 queries and 2 keys need (3, 2)"),
    (
        {"mask": [[True, True], [True, True], [True]]},
        ShapeError,
        "mask[2] has 1 entry and mask[0] has 2: all rows must be equally long",
    ),
    (
        {"mask": [[True, True], [True, True], [1, 0]]},
        TypeError,
        "mask[2][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere",
    ),
    ({"mask": [[True, True], [True, True], 1]}, TypeError, "mask[2] is 1: it must be a list of booleans"),
    (
        {"mask": [[True, True], [True, False], [False, False]]},
        ValueError,
        "query 2 may see no key: every query needs at least one",
    ),
    ({"bias": [[0, 0]]}, ShapeError, "bias is (1, 2): 3 queries and 2 keys need (3, 2)"),
    (
        {"bias": [[0, 0], [0, 0], [0, nan]]},
        ValueError,
        "bias[2][1] is nan: it must be a number, or -inf to hide the key",
    ),
    ({"bias": [[0, 0], [0, 0], [-inf, -inf]]}, ValueError, "query 2 may see no key: every query needs at least one"),
    ({"scale": nan}, ValueError, "scale is nan: it must be a finite number"),
    ({"softcap": 0}, ValueError, "softcap is 0.0: it must be above 0"),
    (
        {"q": [[1], [1], [1e200]], "k": [[1], [1e200]]},
        ValueError,
        "the score of query 2 and key 1 is inf: it must fit into a float",
    ),
    ({"tile_q": 0}, ValueError, "tile_q is 0: it must be at least 1"),
    ({"tile_k": 1.5}, TypeError, "tile_k is 1.5: it must be a whole number"),
]


@pytest.mark.parametrize("tile", [1, 2, 9])
@pytest.mark.parametrize(("changed", "error", "message"), WRONG_CALLS, ids=lambda x: str(x)[:40])
def test_wrong_calls_say_what_must_hold(
    changed: dict[str, object], error: type[Exception], message: str, tile: int
) -> None:
    given_here = {"q": Q, "k": K, "v": K, "tile_q": tile, "tile_k": tile, **changed}
    with pytest.raises(error) as raised:
        flash_attention(**given_here)  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)
    if not {"tile_q", "tile_k"} & set(changed):
        with pytest.raises(error) as plain:
            scaled_dot_product_attention(**{"q": Q, "k": K, "v": K, **changed})  # type: ignore[arg-type]
        assert str(plain.value) == message


def test_values_that_add_up_past_a_float_are_refused() -> None:
    with pytest.raises(ValueError, match="a sum of products overflows: it must fit into a float"):
        flash_attention([[0]], [[0], [0]], [[1.5e308], [1.5e308]])
