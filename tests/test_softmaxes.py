from itertools import permutations
from math import fsum, inf, isfinite, log, nan, ulp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import OnlineSoftmax, ShapeError, log_softmax, mix, softmax, softmax_jacobian
from oracles import TINY, U, bits, exact_attention, exact_softmax, mp, watched
from strategies import Table, dyadics, matrices, numbers, scores, vectors, wild_numbers

with_hidden = scores(numbers | st.floats(-2000, 2000) | wild_numbers)
moderate = scores(numbers | st.floats(-2000, 2000))


def roundings(row: list[float]) -> list[float]:
    """Bound the relative error of each share.

    Taking off the largest rounds a score by half a step, which exp hands on in full; the total passes on the errors of
    all, each by its share, and x·e^−x is below 0.4; exp, total and quotient round once more.
    """
    largest = max(row)
    return [(abs(s - largest) + 0.4 * len(row) + 4) * U for s in row]


# Softmax.


@given(with_hidden)
def test_shares_are_finite_not_negative_and_sum_to_one_within_one_ulp(row: list[float]) -> None:
    shares = softmax(row)
    assert all(isfinite(p) and p >= 0 for p in shares)
    assert abs(fsum(shares) - 1) <= ulp(1.0)


@given(with_hidden)
def test_shares_keep_the_order_of_the_scores(row: list[float]) -> None:
    shares = softmax(row)
    by_score = sorted(zip(row, shares, strict=True))
    assert [p for _, p in by_score] == sorted(shares)
    assert len({(s, p) for s, p in by_score}) == len(set(row)), "equal scores must get equal shares"


@given(moderate)
def test_shares_agree_with_fifty_digits(row: list[float]) -> None:
    visible = [s for s in row if s > -inf]
    shares = [p for s, p in zip(row, softmax(row), strict=True) if s > -inf]
    for share, exact, bound in zip(shares, exact_softmax(visible), roundings(visible), strict=True):
        assert abs(share - exact) <= bound * exact + TINY


@given(scores(dyadics), dyadics)
def test_a_shift_of_all_scores_changes_no_share_by_more_than_six_ulps(row: list[float], shift: float) -> None:
    # These numbers are binary fractions, so that the shift itself rounds nothing.
    for share, shifted in zip(softmax(row), softmax([s + shift for s in row]), strict=True):
        assert abs(share - shifted) <= 6 * ulp(share)


@given(with_hidden, st.randoms(use_true_random=False))
def test_a_permutation_of_the_scores_permutes_the_shares_to_the_last_bit(row: list[float], rng: Random) -> None:
    order = list(range(len(row)))
    rng.shuffle(order)
    shares = softmax(row)
    assert bits(softmax([row[i] for i in order])) == bits([shares[i] for i in order])


@given(with_hidden)
def test_a_hidden_score_gets_exactly_zero_and_the_others_what_they_get_without_it(row: list[float]) -> None:
    shares = softmax(row)
    assert all(p == 0 for s, p in zip(row, shares, strict=True) if s == -inf)
    visible = [p for s, p in zip(row, shares, strict=True) if s > -inf]
    assert bits(visible) == bits(softmax([s for s in row if s > -inf]))


@pytest.mark.parametrize(("n", "exponents"), [(1, range(-1074, 1024)), (600, range(90))], ids=["alone", "many"])
def test_equal_scores_share_equally_at_every_power_of_two(n: int, exponents: range) -> None:
    # Between floats that lie far apart, taking something off a score may take off more or less than was meant.
    for exponent in exponents:
        for lead in (1.0, 1.25, 1.5, 1.75, 2 - 2**-52):
            for score in (lead * 2.0**exponent, -lead * 2.0**exponent):
                assert abs(softmax([score] * n)[0] - 1 / n) <= ulp(1 / n), score


@given(scores(st.floats(-700, 500)).filter(lambda row: max(row) >= 0))
def test_between_0_and_500_a_share_costs_six_roundings_however_far_the_scores_are_apart(row: list[float]) -> None:
    # exp, the total of such and the quotient. Taking the largest off each score would cost half a step of the lead.
    visible = [s for s in row if s > -inf]
    shares = [p for s, p in zip(row, softmax(row), strict=True) if s > -inf]
    for share, exact in zip(shares, exact_softmax(visible), strict=True):
        assert abs(share - exact) <= 6 * U * exact + TINY


@given(st.integers(1, 8), st.floats(-1e308, 1e308))
def test_equal_scores_share_equally(n: int, score: float) -> None:
    assert all(abs(share - 1 / n) <= ulp(1 / n) for share in softmax([score] * n))


@given(vectors(2, dyadics), st.integers(1, 12))
def test_a_lead_of_ln_2_doubles_a_share_against_each_other(row: list[float], doublings: int) -> None:
    ahead, behind = softmax([row[0] + doublings * log(2), row[0]])
    assert ahead / behind == pytest.approx(2**doublings, rel=(abs(row[0]) + 20) * 4 * U)


# Log-softmax.


def log_roundings(row: list[float]) -> list[float]:
    """Bound the error of each logarithm: both subtractions round, and the log of the total errs a little."""
    largest = max(row)
    return [(2 * abs(s - largest) + 3 * log(len(row)) + len(row) + 2) * U for s in row]


@given(moderate)
def test_logarithms_of_shares_agree_with_fifty_digits(row: list[float]) -> None:
    visible = [s for s in row if s > -inf]
    logs = [x for s, x in zip(row, log_softmax(row), strict=True) if s > -inf]
    for x, share, bound in zip(logs, exact_softmax(visible), log_roundings(visible), strict=True):
        assert abs(x - mp.log(share)) <= bound


@given(with_hidden)
def test_logarithms_are_those_of_the_shares_wherever_a_share_is_left(row: list[float]) -> None:
    for s, x, share in zip(row, log_softmax(row), softmax(row), strict=True):
        assert x <= 0
        if s == -inf:
            assert x == -inf
        elif share > 1e-300:  # below, a share has lost digits
            assert abs(x - log(share)) <= (3 * abs(x) + len(row) + 6) * U


@given(scores(dyadics), dyadics)
def test_a_shift_of_all_scores_changes_no_bit_of_their_logarithms(row: list[float], shift: float) -> None:
    assert bits(log_softmax([s + shift for s in row])) == bits(log_softmax(row))


@given(st.floats(0, 700))
def test_a_share_next_to_one_keeps_its_logarithm(lead: float) -> None:
    found, _ = log_softmax([lead, 0.0])
    assert abs(found + mp.log1p(mp.exp(-lead))) <= 4 * ulp(found)


@given(vectors(4, st.floats(-8e307, 8e307)))
def test_logarithms_stay_finite_where_shares_underflow(row: list[float]) -> None:
    assert all(map(isfinite, log_softmax(row)))


# The Jacobian.


@given(with_hidden)
def test_the_jacobian_is_symmetric_to_the_last_bit_and_its_rows_sum_to_zero(row: list[float]) -> None:
    J = softmax_jacobian(softmax(row))
    assert bits(J) == bits([list(column) for column in zip(*J, strict=True)])
    for i, row_of_J in enumerate(J):
        assert abs(fsum(row_of_J)) <= ulp(row_of_J[i]) / 2
        assert all((x >= 0) if i == j else (x <= 0) for j, x in enumerate(row_of_J))


@given(with_hidden)
def test_the_jacobian_is_diag_p_minus_p_pT_also_where_a_share_nears_1(row: list[float]) -> None:
    p = softmax(row)
    J = softmax_jacobian(p)
    for i, p_i in enumerate(p):
        rest = fsum(p[:i] + p[i + 1 :])
        for j, p_j in enumerate(p):
            exact = p_i * rest if i == j else -p_i * p_j
            assert abs(J[i][j] - exact) <= 4 * ulp(exact)


@given(st.lists(numbers, min_size=1, max_size=5))
def test_the_jacobian_agrees_with_finite_differences(row: list[float]) -> None:
    J, step = softmax_jacobian(softmax(row)), 2.0**-17
    for j in range(len(row)):
        up = softmax([s + step * (i == j) for i, s in enumerate(row)])
        down = softmax([s - step * (i == j) for i, s in enumerate(row)])
        for i in range(len(row)):
            # A third derivative of softmax is below 1/8, and step³/6 of it is left out; the rest is rounding.
            assert (up[i] - down[i]) / (2 * step) == pytest.approx(J[i][j], rel=0, abs=step**2 / 48 + 20 * U / step)


def test_the_jacobian_of_the_row_of_sat_is_in_sixteenths() -> None:
    assert [[16 * x for x in row] for row in softmax_jacobian([1 / 4, 1 / 2, 1 / 4])] == [
        [3, -2, -1],
        [-2, 4, -2],
        [-1, -2, 3],
    ]


# The online softmax.


@st.composite
def streams(draw: st.DrawFn, entries: st.SearchStrategy[float] = numbers) -> tuple[list[float], Table]:
    row = draw(scores(entries))
    return row, draw(matrices(len(row), draw(st.integers(1, 3))))


def run(row: list[float], values: Table) -> OnlineSoftmax:
    online = OnlineSoftmax()
    for score, value in zip(row, values, strict=True):
        online.add(score, value)
    return online


def state(online: OnlineSoftmax) -> list[object]:
    return [online.largest, online.total, list(online.weighted)]


def assert_close(output: list[float], row: list[float], values: Table) -> None:
    """Compare with 50 digits: each add rounds a few times, and a new largest score rounds by half a step of itself."""
    [[*exact]], _ = exact_attention([[1.0]], [[s if s > -inf else 0.0] for s in row], values, [[s > -inf for s in row]])
    visible = [s for s in row if s > -inf]
    bound = (6 * len(row) + max(visible) - min(visible)) * U * max(abs(x) for value in values for x in value)
    assert all(abs(x - y) <= bound + TINY for x, y in zip(output, exact, strict=True))


@given(streams())
def test_scores_one_at_a_time_give_what_softmax_then_mix_gives(stream: tuple[list[float], Table]) -> None:
    row, values = stream
    assert_close(run(row, values).output, row, values)
    assert_close(mix(softmax(row), values), row, values)


@given(streams(), st.data())
def test_the_stream_may_be_cut_anywhere_and_merged_in_any_order(
    stream: tuple[list[float], Table], data: st.DataObject
) -> None:
    row, values = stream
    part_of = data.draw(st.lists(st.integers(0, 3), min_size=len(row), max_size=len(row)))
    parts = [OnlineSoftmax() for _ in range(4)]
    for score, value, part in zip(row, values, part_of, strict=True):
        parts[part].add(score, value)
    while len(parts) > 1:
        taken = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        parts[data.draw(st.integers(0, len(parts) - 1))].merge(taken)
    assert_close(parts[0].output, row, values)


def test_six_orders_of_three_merges_agree() -> None:
    row, values = [log(2), log(4), log(2)], [[8.0, 0.0], [16.0, 0.0], [0.0, 8.0]]
    for order in permutations(range(3)):
        whole = OnlineSoftmax()
        for j in order:
            whole.merge(run([row[j]], [values[j]]))
        assert whole.output == pytest.approx([10, 2], rel=8 * U)


@given(streams())
def test_the_state_is_the_largest_score_and_two_sums_measured_against_it(stream: tuple[list[float], Table]) -> None:
    row, values = stream
    online = run(row, values)
    seen = [j for j, s in enumerate(row) if s > -inf]
    e_values = [share / max(exact_softmax([row[j] for j in seen])) for share in exact_softmax([row[j] for j in seen])]
    bound = (6 * len(row) + max(row) - min(row[j] for j in seen)) * U * sum(e_values)
    assert online.largest == max(row)
    assert abs(online.total - sum(e_values)) <= bound
    for c, x in enumerate(online.weighted):
        exact = sum(e * values[j][c] for e, j in zip(e_values, seen, strict=True))
        assert abs(x - exact) <= bound * max(abs(values[j][c]) for j in seen) + TINY


@given(streams())
def test_hidden_scores_may_come_with_any_value_and_change_nothing(stream: tuple[list[float], Table]) -> None:
    row, values = stream
    online, rubbish = OnlineSoftmax(), [nan, inf, 1.0, 2.0]
    for score, value in zip(row, values, strict=True):
        online.add(-inf, rubbish)
        online.add(score, value)
    assert bits([online.largest, online.total, online.weighted]) == bits(state(run(row, values)))


@pytest.mark.parametrize(
    ("score", "value", "error"),
    [
        (nan, [1.0, 2.0], ValueError),
        (inf, [1.0, 2.0], ValueError),
        (9.0, [1.0, nan], ValueError),
        (9.0, [1.0, 2.0, 3.0], ShapeError),
        (1.0, [1.7e308, 0.0], ValueError),
        (1.5, [1.7e308, 0.0], ValueError),
        ("9", [1.0, 2.0], TypeError),
        (9.0, "ab", TypeError),
    ],
)
def test_an_add_that_fails_leaves_everything_as_it_was(
    score: float, value: list[float], error: type[Exception]
) -> None:
    online = run([1.0, 0.5], [[1.7e308, 3.0], [0.0, 4.0]])
    before = state(online)
    with pytest.raises(error):
        online.add(score, value)
    assert state(online) == before


def test_a_merge_that_fails_leaves_both_as_they_were() -> None:
    one, other = run([1.0], [[1.7e308]]), run([1.0], [[1.7e308]])
    with pytest.raises(ValueError, match="overflows"):
        one.merge(other)
    assert state(one) == state(other) == [1.0, 1.0, [1.7e308]]


@given(streams(), streams())
def test_a_merge_leaves_the_other_as_it_was_and_shares_no_list_with_it(
    stream: tuple[list[float], Table], second: tuple[list[float], Table]
) -> None:
    width = len(stream[1][0])
    other = run(second[0], [(value * width)[:width] for value in second[1]])
    before = state(other)
    for one in (OnlineSoftmax(), run(*stream)):
        one.merge(other)
        assert state(other) == before
        assert one.weighted is not other.weighted


def test_an_empty_one_merges_without_a_trace() -> None:
    online = run([3.0], [[5.0]])
    online.merge(OnlineSoftmax())
    assert state(online) == [3.0, 1.0, [5.0]]


@given(st.lists(wild_numbers, min_size=1, max_size=6))
def test_scores_of_any_size_stay_finite_online(row: list[float]) -> None:
    online = run(row, [[float(j)] for j in range(len(row))])
    assert 0 <= online.output[0] <= len(row) - 1
    assert 1 <= online.total <= len(row)


@given(with_hidden)
def test_no_softmax_changes_its_scores_or_hands_out_a_list_twice(row: list[float]) -> None:
    shares = watched(softmax, row)
    watched(log_softmax, row)
    watched(softmax_jacobian, shares)
    online, value = OnlineSoftmax(), [1.0, 2.0]
    watched(online.add, 1.0, value)
    assert online.weighted is not value
    assert watched(lambda: online.output) is not online.weighted
