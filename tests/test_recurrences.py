from math import exp, inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import fdot, mp, mpf  # type: ignore[import-untyped]

from attention_primer import (
    causal_mask,
    combine_masks,
    linear_attention,
    linear_attention_weights,
    matmul,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from attention_primer.checks import Matrix, ShapeError
from oracles import U, bits, watched
from strategies import Inputs, Mask, attention_inputs, numbers, sizes


@st.composite
def growing_masks(draw: st.DrawFn, n_q: int, n_k: int) -> Mask:
    # Each key has a query that is the first to see it, or none.
    first = [draw(st.integers(0, n_q)) for _ in range(n_k)]
    first[draw(st.integers(0, n_k - 1))] = 0
    return [[start <= i for start in first] for i in range(n_q)]


@st.composite
def growing_inputs(draw: st.DrawFn) -> Inputs:
    inputs = draw(attention_inputs(numbers))
    return inputs._replace(mask=draw(growing_masks(len(inputs.q), len(inputs.k))))


def exact_weights(q: Matrix, k: Matrix, mask: Mask) -> list[list[mpf]]:
    def features(row: list[float]) -> list[mpf]:
        return [mpf(x) + 1 if x > 0 else mp.exp(x) for x in row]

    rows = []
    for q_i, seen_i in zip(q, mask, strict=True):
        products = [
            fdot(features(list(q_i)), features(list(k_j))) if seen else mpf(0)
            for k_j, seen in zip(k, seen_i, strict=True)
        ]
        rows.append([x / mp.fsum(products) for x in products])
    return rows


@given(attention_inputs(numbers))
def test_the_shares_are_products_of_features(inputs: Inputs) -> None:
    q, k, _, mask = inputs
    for got, want in zip(linear_attention_weights(q, k, mask), exact_weights(q, k, mask), strict=True):
        # All terms are positive, so nothing cancels: an exponential, a product, two sums of five, a quotient.
        assert all(abs(g - w) <= 32 * U * w for g, w in zip(got, want, strict=True))
        assert [g > 0 for g in got] == [w > 0 for w in want]
        assert sum(got) == pytest.approx(1, abs=16 * U, rel=0)


@given(growing_inputs())
def test_the_recurrence_is_the_parallel_form(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    recurrent, parallel = linear_attention(*inputs).output, matmul(exact_weights(q, k, mask), v)
    largest = max(abs(x) for row in v for x in row)
    for r_i, p_i in zip(recurrent, parallel, strict=True):
        assert all(abs(r - p) <= 64 * U * largest for r, p in zip(r_i, p_i, strict=True))


@given(attention_inputs(numbers, causal=True))
def test_changing_the_future_never_changes_the_past(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    before = linear_attention(*inputs).output
    q, k, v = [*q[:-1], [9.0] * len(q[0])], [*k[:-1], [9.0] * len(k[0])], [*v[:-1], [9.0] * len(v[0])]
    assert bits(linear_attention(q, k, v, mask).output[:-1]) == bits(before[:-1])


@given(attention_inputs(numbers))
def test_without_a_mask_all_see_all(inputs: Inputs) -> None:
    q, k, v, _ = inputs
    assert linear_attention(q, k, v) == linear_attention(q, k, v, [[True] * len(k)] * len(q))
    assert linear_attention_weights(q, k) == linear_attention_weights(q, k, [[True] * len(k)] * len(q))


@given(growing_inputs())
def test_the_state_holds_what_the_last_query_saw_whoever_asked(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    last = linear_attention(q[-1:], k, v, mask[-1:])
    run = linear_attention(*inputs)
    assert [len(row) for row in run.state] == [len(v[0])] * len(k[0])
    for got, want in zip([*run.state, run.totals], [*last.state, last.totals], strict=True):
        assert got == pytest.approx(want, abs=1e4 * U, rel=0)


@given(sizes, sizes)
def test_equal_tokens_share_alike(n: int, d: int) -> None:
    values = [[float(j)] for j in range(n)]
    assert linear_attention([[0.0] * d], [[0.0] * d] * n, values).output == [[(n - 1) / 2]]


def test_the_features_are_elu_plus_one() -> None:
    # Read off the state: one key, value 1.
    keys = [-2.0, -0.5, 0.0, 0.5, 2.0]
    assert linear_attention([[0.0] * 5], [keys], [[1]]).totals == [exp(-2), exp(-0.5), 1.0, 1.5, 3.0]


def test_shares_are_softer_than_those_of_softmax() -> None:
    rng = Random(0)
    q, k = ([[3 * rng.gauss(0, 1) for _ in range(16)] for _ in range(12)] for _ in range(2))
    soft = scaled_dot_product_attention(q, k, k).weights
    linear = linear_attention_weights(q, k)
    assert sum(map(max, soft)) / 12 > 0.8
    assert sum(map(max, linear)) / 12 < 0.2


def test_work_grows_with_the_text_and_not_with_its_square() -> None:
    class Counted(float):
        n_products = 0

        def __mul__(self, other: float) -> float:
            Counted.n_products += 1
            return float(self) * other

        __rmul__ = __mul__

    def products(n: int) -> int:
        Counted.n_products = 0
        linear_attention([[1.0]] * n, [[1.0]] * n, [[Counted(2)]] * n)
        return Counted.n_products

    assert (products(10), products(100)) == (10, 100)


@pytest.mark.parametrize(
    "mask",
    [
        causal_mask(3, 4),
        padding_mask([True, False, True, True], 3),
        combine_masks(causal_mask(3, 4), padding_mask([True, False, True, True], 3)),
        [[True, True, False, False], [True, True, False, False], [True, True, True, True]],
    ],
    ids=["causal", "padding", "both", "prefix"],
)
def test_masks_that_only_grow_are_welcome(mask: Mask) -> None:
    q, k = [[1.0], [0.0], [2.0]], [[0.0], [1.0], [2.0], [1.0]]
    weights = linear_attention_weights(q, k, mask)
    output = linear_attention(q, k, [[1.0, 0.0], [0.0, 1.0], [4.0, 2.0], [8.0, 2.0]], mask).output
    for got, want in zip(output, matmul(weights, [[1, 0], [0, 1], [4, 2], [8, 2]]), strict=True):
        assert got == pytest.approx(want, rel=8 * U, abs=0)


@given(growing_inputs(), st.sampled_from([nan, inf, -inf, 1e308]))
def test_what_a_hidden_key_holds_never_matters(inputs: Inputs, junk: float) -> None:
    q, k, v, mask = inputs
    hidden = [not any(seen_by) for seen_by in zip(*mask, strict=True)]
    k2 = [[junk] * len(row) if gone else row for row, gone in zip(k, hidden, strict=True)]
    v2 = [[junk] * len(row) if gone else row for row, gone in zip(v, hidden, strict=True)]
    assert bits(linear_attention(q, k2, v2, mask)) == bits(linear_attention(q, k, v, mask))
    assert bits(linear_attention_weights(q, k2, mask)) == bits(linear_attention_weights(q, k, mask))


def test_arguments_stay_as_they_are() -> None:
    watched(linear_attention, [[1], [2]], [[1], [2]], [[1, 0], [0, 1]], causal_mask(2))
    watched(linear_attention_weights, [[1], [2]], [[1], [2]], causal_mask(2))


# Wrong calls.

K = [[1.0], [2.0]]
VANISHED = "what the features of query 0 and its keys have in common is 0.0: it must not vanish"
WRONG_INPUTS: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"q": []}, ShapeError, "q is empty: it must hold at least one of the rows"),
    ({"q": [[1, 2]] * 2}, ShapeError, "q is (2, 2) and k is (2, 1): queries and keys must be equally wide"),
    ({"q": [[1], [nan]]}, ValueError, "q[1][0] is nan: it must be a finite number"),
    ({"k": [[1], [inf]]}, ValueError, "k[1][0] is inf: it must be a finite number"),
    ({"mask": [[True]]}, ShapeError, "mask is (1, 1): 2 queries and 2 keys need (2, 2)"),
    ({"mask": [[True, True], [False, False]]}, ValueError, "query 1 may see no key: every query needs at least one"),
    (
        {"mask": [[1, 1], [1, 1]]},
        TypeError,
        "mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere",
    ),
    ({"q": [[-800], [1]]}, ValueError, VANISHED),
    ({"k": [[-800], [-800]]}, ValueError, VANISHED),
    (
        {"q": [[1e200], [1]], "k": [[1e200], [1]]},
        ValueError,
        "a sum of products overflows: it must fit into a float, so below 1.8e308",
    ),
    (
        {"q": [[0], [0]], "k": [[1e308], [1e308]]},
        ValueError,
        "a sum of products overflows: it must fit into a float, so below 1.8e308",
    ),
    (
        {"k": [[1.7e308], [1.7e308]]},
        ValueError,
        "a sum of products overflows: it must fit into a float, so below 1.8e308",
    ),
]


@pytest.mark.parametrize(("changed", "error", "message"), WRONG_INPUTS, ids=lambda x: str(x)[:40])
def test_wrong_calls_say_what_must_hold(changed: dict[str, object], error: type[Exception], message: str) -> None:
    given_here = {"q": K, "k": K, **changed}
    with pytest.raises(error) as raised:
        linear_attention(**given_here, v=K)  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)
    with pytest.raises(error) as raised:
        linear_attention_weights(**given_here)  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)


@pytest.mark.parametrize(
    ("v", "error", "message"),
    [
        ([[1.0]], ShapeError, "k is (2, 1) and v is (1, 1): every key needs one value"),
        ([[1.0], [nan]], ValueError, "v[1][0] is nan: it must be a finite number"),
        ([[1.0], None], TypeError, "v[1] is None: it must be a list of numbers"),
        (
            [[1.7e308], [1.7e308]],
            ValueError,
            "a sum of products overflows: it must fit into a float, so below 1.8e308",
        ),
    ],
    ids=lambda x: str(x)[:40],
)
def test_wrong_values_say_what_must_hold(v: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        linear_attention(K, K, v)  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)


def test_a_total_that_overflows_is_no_share_of_nothing() -> None:
    with pytest.raises(ValueError, match="a sum of products overflows"):
        linear_attention([[1e200]], [[1e200]], [[1e-200]])


@pytest.mark.parametrize(
    ("mask", "i", "j"),
    [
        (sliding_window_mask(4, window=2), 2, 0),
        ([[True, True], [True, False]], 1, 1),
        ([[True, False], [True, True], [False, True]], 2, 0),
    ],
    ids=str,
)
def test_a_sum_cannot_forget(mask: Mask, i: int, j: int) -> None:
    q, k = [[1.0]] * len(mask), [[1.0]] * len(mask[0])
    with pytest.raises(
        ValueError, match=f"^query {i} may not see key {j}, which query {i - 1} saw: a sum can't forget"
    ):
        linear_attention(q, k, k, mask)
    # The parallel form keeps all pairs, so it takes any mask.
    assert [[w > 0 for w in row] for row in linear_attention_weights(q, k, mask)] == mask
