from math import log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import fsum, mpf  # type: ignore[import-untyped]

from attention_primer import (
    attention_gradients,
    causal_mask,
    scaled_dot_product_attention,
    softmax_jacobian,
    worked_example_sentence,
)
from attention_primer.checks import Matrix, ShapeError
from oracles import U, bits, exact_attention, watched
from strategies import Inputs, attention_inputs, matrices, numbers

Table = list[list[float]]
INF, NAN = float("inf"), float("nan")
small = st.floats(-2, 2, allow_subnormal=False)


def identity(n: int) -> Table:
    return [[float(i == j) for j in range(n)] for i in range(n)]


def random_table(rng: Random, n: int, d: int) -> Table:
    return [[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]


def nudged(A: Matrix, i: int, c: int, by: object) -> list[list[object]]:
    return [[x + by if (m, n) == (i, c) else x for n, x in enumerate(row)] for m, row in enumerate(A)]  # type: ignore[operator]


# By 50 digits: the slope of a loss that is never differentiated by hand.


def slopes(which: str, inputs: Inputs, d_output: Table, bias: Table | None, scale: float | None) -> list[list[mpf]]:
    h = mpf(10) ** -20
    tables = {"q": inputs.q, "k": inputs.k, "v": inputs.v}

    def loss(by: mpf, i: int, c: int) -> mpf:
        moved = {**tables, which: nudged(tables[which], i, c, by)}
        output, _ = exact_attention(**moved, mask=inputs.mask, bias=bias, scale=scale)  # type: ignore[arg-type]
        return fsum(
            mpf(d) * o for d_i, o_i in zip(d_output, output, strict=True) for d, o in zip(d_i, o_i, strict=True)
        )

    table = tables[which]
    return [[(loss(h, i, c) - loss(-h, i, c)) / (2 * h) for c in range(len(table[0]))] for i in range(len(table))]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Inputs, Table, Table | None, float | None]:
    inputs = draw(attention_inputs(small))
    n_q, n_k, d_v = len(inputs.q), len(inputs.k), len(inputs.v[0])
    bias = draw(st.none() | matrices(n_q, n_k, small))
    return inputs, draw(matrices(n_q, d_v, small)), bias, draw(st.none() | st.floats(-2, 2))


@given(cases())
@settings(max_examples=20)
def test_the_gradients_are_the_slopes_of_the_loss(case: tuple[Inputs, Table, Table | None, float | None]) -> None:
    inputs, d_output, bias, scale = case
    gradients = attention_gradients(inputs.q, inputs.k, inputs.v, d_output, inputs.mask, bias=bias, scale=scale)
    for which, got in zip("qkv", gradients, strict=True):
        want = slopes(which, inputs, d_output, bias, scale)
        for g_i, w_i in zip(got, want, strict=True):
            # Five queries, keys and channels of numbers up to 2: scores to 40, so shares are off by up to 80 roundings.
            assert all(abs(g - w) <= 1000 * U for g, w in zip(g_i, w_i, strict=True))


@pytest.mark.parametrize("causal", [False, True])
def test_central_differences_agree_to_nine_digits(causal: bool) -> None:
    rng = Random(0)
    q, k, v, d_output = (
        random_table(rng, 5, 4),
        random_table(rng, 5, 4),
        random_table(rng, 5, 3),
        random_table(rng, 5, 3),
    )
    mask, h = causal_mask(5) if causal else None, 1e-5
    gradients = attention_gradients(q, k, v, d_output, mask)

    def loss(moved: dict[str, Matrix]) -> float:
        output = scaled_dot_product_attention(moved["q"], moved["k"], moved["v"], mask).output
        return sum(d * o for d_i, o_i in zip(d_output, output, strict=True) for d, o in zip(d_i, o_i, strict=True))

    tables: dict[str, Matrix] = {"q": q, "k": k, "v": v}
    for (which, table), d_table in zip(tables.items(), gradients, strict=True):
        for i, d_i in enumerate(d_table):
            for c, d in enumerate(d_i):
                after, before = (loss({**tables, which: nudged(table, i, c, by)}) for by in (h, -h))  # type: ignore[dict-item]
                assert (after - before) / (2 * h) == pytest.approx(d, abs=1e-9, rel=0)


@pytest.mark.parametrize("n_q", [1, 3])
def test_pytorch_says_the_same(n_q: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[torch]'")
    rng = Random(n_q)
    q, k, v, d_output = (random_table(rng, n, d) for n, d in ((n_q, 8), (6, 8), (6, 5), (n_q, 5)))
    mask, bias = causal_mask(n_q, 6), random_table(rng, n_q, 6)
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (q, k, v)]
    hidden = torch.tensor(bias, dtype=torch.float64).masked_fill(~torch.tensor(mask), -INF)
    output = torch.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=hidden, scale=0.3)
    output.backward(torch.tensor(d_output, dtype=torch.float64))
    for got, leaf in zip(attention_gradients(q, k, v, d_output, mask, bias=bias, scale=0.3), leaves, strict=True):
        torch.testing.assert_close(torch.tensor(got, dtype=torch.float64), leaf.grad, rtol=0, atol=1e-14)


# On the exact example.


def test_the_jacobian_of_sat_is_in_sixteenths() -> None:
    # With unit keys and values, scale 1 and a loss that reads share j, the query's gradient is row j of the Jacobian.
    scores = [log(2), log(4), log(2)]
    rows = [attention_gradients([scores], identity(3), identity(3), [e_j], scale=1).d_q[0] for e_j in identity(3)]
    assert [[round(16 * x, 12) for x in row] for row in rows] == [[3, -2, -1], [-2, 4, -2], [-1, -2, 3]]


def test_each_value_of_the_sentence_gets_what_its_readers_got() -> None:
    steps = worked_example_sentence()
    ones = [[1.0, 0.0]] * 4
    d_v = attention_gradients(steps.q, steps.k, steps.v, ones, steps.mask).d_v
    assert [[round(x, 12) for x in row] for row in d_v] == [[1.875, 0], [1.125, 0], [0.75, 0], [0.25, 0]]


@given(st.lists(numbers, min_size=1, max_size=6), st.data())
def test_scores_learn_through_the_jacobian_of_softmax(scores: list[float], data: st.DataObject) -> None:
    n = len(scores)
    upstream = data.draw(matrices(1, n))
    d_q = attention_gradients([scores], identity(n), identity(n), upstream, scale=1).d_q[0]
    jacobian = softmax_jacobian(scaled_dot_product_attention([scores], identity(n), identity(n), scale=1).weights[0])
    for got, row in zip(d_q, jacobian, strict=True):
        assert got == pytest.approx(sum(j * u for j, u in zip(row, upstream[0], strict=True)), abs=100 * U, rel=0)


def test_a_saturated_softmax_still_tells_how_little_it_passes_on() -> None:
    # p(1 − p) is 0 in floats here, and the loss sees a slope of e⁻⁴⁰ all the same.
    d_q = attention_gradients([[0, 40]], identity(2), identity(2), [[0, 1]], scale=1).d_q[0]
    assert d_q == pytest.approx([-4.248354255291589e-18, 4.248354255291589e-18], rel=1e-14, abs=0)


# What is hidden.


@given(attention_inputs(), st.data())
def test_what_a_hidden_key_holds_changes_no_gradient(inputs: Inputs, data: st.DataObject) -> None:
    d_output = data.draw(matrices(len(inputs.q), len(inputs.v[0])))
    unseen = [j for j, seen in enumerate(zip(*inputs.mask, strict=True)) if not any(seen)]
    before = attention_gradients(inputs.q, inputs.k, inputs.v, d_output, inputs.mask)
    k = [[NAN] * len(row) if j in unseen else row for j, row in enumerate(inputs.k)]
    v = [[INF] * len(row) if j in unseen else row for j, row in enumerate(inputs.v)]
    after = attention_gradients(inputs.q, k, v, d_output, inputs.mask)
    assert bits(before) == bits(after)
    for j in unseen:
        assert not any(after.d_k[j])
        assert not any(after.d_v[j])


def test_a_loss_at_the_past_alone_teaches_the_future_nothing() -> None:
    rng = Random(1)
    q, k, v = (random_table(rng, 4, 3) for _ in range(3))
    d_output = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0] * 3, [0.0] * 3]
    gradients = attention_gradients(q, k, v, d_output, causal_mask(4))
    for d_table in gradients:
        assert all(any(row) for row in d_table[:1]) == (d_table is not gradients.d_q)
        assert not any(any(row) for row in d_table[2:])


def test_a_pair_that_is_hidden_cannot_overflow() -> None:
    # Query 0 would meet value 1 at 1e400; it may not see it, and query 1, which may, asks for nothing.
    d_q, _, d_v = attention_gradients([[1], [1]], [[1], [1]], [[1], [1e200]], [[1e200], [0]], causal_mask(2))
    assert (d_q, d_v) == ([[0.0], [0.0]], [[1e200], [0.0]])


@given(attention_inputs(), st.data())
def test_hiding_by_bias_is_hiding_by_mask(inputs: Inputs, data: st.DataObject) -> None:
    d_output = data.draw(matrices(len(inputs.q), len(inputs.v[0])))
    bias = [[0.0 if seen else -INF for seen in row] for row in inputs.mask]
    by_mask = attention_gradients(inputs.q, inputs.k, inputs.v, d_output, inputs.mask)
    assert attention_gradients(inputs.q, inputs.k, inputs.v, d_output, bias=bias) == by_mask


# Laws.


@given(attention_inputs(small), st.data())
def test_keys_shifted_alike_change_nothing_so_their_gradients_sum_to_nothing(
    inputs: Inputs, data: st.DataObject
) -> None:
    d_output = data.draw(matrices(len(inputs.q), len(inputs.v[0]), small))
    d_k = attention_gradients(inputs.q, inputs.k, inputs.v, d_output, inputs.mask).d_k
    assert all(abs(sum(column)) <= 1000 * U for column in zip(*d_k, strict=True))


@given(attention_inputs(), st.data())
def test_the_values_share_out_all_of_the_signal(inputs: Inputs, data: st.DataObject) -> None:
    d_output = data.draw(matrices(len(inputs.q), len(inputs.v[0])))
    d_v = attention_gradients(inputs.q, inputs.k, inputs.v, d_output, inputs.mask).d_v
    for got, want in zip(zip(*d_v, strict=True), zip(*d_output, strict=True), strict=True):
        assert sum(got) == pytest.approx(sum(want), abs=1000 * U, rel=0)


def test_arguments_stay_as_they_are() -> None:
    watched(attention_gradients, [[1], [2]], [[1], [2]], [[1, 0], [0, 1]], [[1, 0], [0, 1]], causal_mask(2))


# Wrong calls.

LEGAL: dict[str, object] = {"q": [[1.0]], "k": [[1.0], [2.0]], "v": [[1.0], [2.0]], "d_output": [[1.0]]}
WRONG_CALLS: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"d_output": [[1, 2]]}, ShapeError, "d_output is (1, 2): it must be (1, 1), as the output is"),
    ({"d_output": [[1], [2]]}, ShapeError, "d_output is (2, 1): it must be (1, 1), as the output is"),
    ({"d_output": []}, ShapeError, "d_output is empty: it must hold at least one of the rows"),
    ({"d_output": [1]}, TypeError, "d_output[0] is 1: it must be a list of numbers"),
    ({"d_output": [[NAN]]}, ValueError, "d_output[0][0] is nan: it must be a finite number"),
    ({"d_output": None}, TypeError, "d_output is None: it must be a list of rows"),
    ({"q": [[1, 2]]}, ShapeError, "q is (1, 2) and k is (2, 1): queries and keys must be equally wide"),
    ({"v": [[1]]}, ShapeError, "k is (2, 1) and v is (1, 1): every key needs one value"),
    ({"mask": [[False, False]]}, ValueError, "query 0 may see no key: every query needs at least one"),
    ({"bias": [[0]]}, ShapeError, "bias is (1, 1): 1 queries and 2 keys need (1, 2)"),
    ({"scale": INF}, ValueError, "scale is inf: it must be a finite number"),
    (
        {"k": [[0], [0], [0]], "v": [[1.7e308], [1.7e308], [-1.7e308]]},
        ValueError,
        "a sum of products overflows: it must fit into a float, so below 1.8e308",
    ),
    (
        {"d_output": [[1e308]], "v": [[1e308], [-1e308]]},
        ValueError,
        "a sum of products overflows: it must fit into a float, so below 1.8e308",
    ),
]


@pytest.mark.parametrize(("changed", "error", "message"), WRONG_CALLS, ids=lambda x: str(x)[:40])
def test_wrong_calls_say_what_must_hold(changed: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        attention_gradients(**{**LEGAL, **changed})  # type: ignore[arg-type]
    assert type(raised.value) is error
    assert str(raised.value) == message
