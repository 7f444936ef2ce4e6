from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import KVCache, MultiHeadAttention, causal_mask, kv_cache_bytes, sliding_window_mask
from attention_primer.checks import Matrix, ShapeError
from oracles import bits, watched
from strategies import Layout, Table, head_layouts, matrices

NAN = float("nan")


class Case(NamedTuple):
    mha: MultiHeadAttention
    x: Table
    pieces: list[int]  # how many tokens arrive at a time


@st.composite
def cases(draw: st.DrawFn) -> Case:
    drawn: Layout = draw(head_layouts().filter(lambda drawn: len(drawn.W_q) == len(drawn.W_k)))
    mha = MultiHeadAttention.from_weights(
        drawn.W_q, drawn.W_k, drawn.W_v, drawn.W_o, drawn.n_heads, drawn.n_kv_heads,
        b_q=drawn.b_q, b_k=drawn.b_k, b_v=drawn.b_v, b_o=drawn.b_o,
    )  # fmt: skip
    pieces = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return Case(mha, draw(matrices(sum(pieces), mha.d_model)), pieces)


def read(cache: KVCache, x: Matrix, pieces: list[int]) -> Table:
    starts = [sum(pieces[:p]) for p in range(len(pieces))]
    return [row for start, n in zip(starts, pieces, strict=True) for row in cache.extend(x[start : start + n])]


def one_hot(i: int, n: int) -> list[float]:
    return [float(i == j) for j in range(n)]


def state(cache: KVCache) -> str:
    return repr(vars(cache))


@given(cases())
def test_a_text_in_pieces_is_the_text_at_once_to_the_last_bit(case: Case) -> None:
    in_pieces = read(KVCache(case.mha), case.x, case.pieces)
    assert bits(in_pieces) == bits(case.mha(case.x, causal_mask(len(case.x))))


@given(cases(), st.integers(1, 6))
def test_a_window_in_pieces_is_the_window_at_once_to_the_last_bit(case: Case, window: int) -> None:
    in_pieces = read(KVCache(case.mha, window=window), case.x, case.pieces)
    assert bits(in_pieces) == bits(case.mha(case.x, sliding_window_mask(len(case.x), window=window)))


@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("pieces", [[12], [1] * 12, [5, 1, 1, 5], [1, 11], [11, 1], [3, 3, 3, 3]], ids=str)
def test_heads_may_share_what_is_kept(n_kv_heads: int, pieces: list[int]) -> None:
    mha, rng = MultiHeadAttention(8, 4, n_kv_heads, seed=1), Random(0)
    x = [[rng.gauss(0, 1) for _ in range(8)] for _ in range(12)]
    cache = KVCache(mha)
    assert bits(read(cache, x, pieces)) == bits(mha(x, causal_mask(12)))
    # The other count of the same thing: a byte a number, one layer.
    assert cache.n_numbers == kv_cache_bytes(12, 1, n_kv_heads, 2, bytes_per_number=1)


@given(cases(), st.integers(1, 6))
def test_only_the_newest_window_stays(case: Case, window: int) -> None:
    cache = KVCache(case.mha, window=window)
    read(cache, case.x, case.pieces)
    n = len(case.x)
    assert cache.positions == range(max(0, n - window), n)
    assert cache.n_numbers == len(cache.positions) * case.mha.n_kv_heads * (case.mha.d_k + case.mha.d_v)


def test_two_tokens_join_a_full_window_of_three() -> None:
    # One-hot tokens through identity weights: the columns of an output that are not 0 are the positions it saw.
    eye = [one_hot(i, 6) for i in range(6)]
    mha = MultiHeadAttention.from_weights(eye, eye, eye, eye, n_heads=1)
    cache = KVCache(mha, window=3, capacity=4)
    cache.extend(eye[:4])
    assert cache.positions == range(1, 4)
    outputs = cache.extend(eye[4:])
    assert [[j for j, share in enumerate(row) if share] for row in outputs] == [[2, 3, 4], [3, 4, 5]]
    assert cache.positions == range(3, 6)


def test_a_window_reads_on_for_ever_in_the_room_of_a_window() -> None:
    mha = MultiHeadAttention(4, 2)
    cache = KVCache(mha, window=3, capacity=3)
    for i in range(50):
        cache.extend([one_hot(i % 4, 4)])
    assert cache.positions == range(47, 50)
    # Two at a time need one more place while they are read.
    with pytest.raises(ValueError, match="2 tokens kept and 2 new: the cache has room for 3"):
        cache.extend([[1] * 4] * 2)


# Counting.


class Counted(float):
    """A number whose multiplications are counted; it stays one when something is added to it."""

    n_products = 0

    def __radd__(self, other: float) -> "Counted":
        return Counted(float(self) + other)

    def __mul__(self, other: float) -> float:
        type(self).n_products += 1
        return float(self) * other

    __rmul__ = __mul__


def counting_layer(n_heads: int = 1, n_kv_heads: int = 1) -> MultiHeadAttention:
    # Keys of one number each, all of them counted: one multiplication is one dot product of a query with a key.
    Counted.n_products = 0
    return MultiHeadAttention.from_weights(
        [[1.0] * n_heads], [[1.0] * n_kv_heads], [[1.0] * n_kv_heads], [[1.0]] * n_heads, n_heads, n_kv_heads,
        b_k=[Counted(0)] * n_kv_heads,
    )  # fmt: skip


def test_a_hundred_tokens_ask_5050_times_with_a_cache() -> None:
    cache = KVCache(counting_layer())
    for i in range(100):
        cache.extend([[i / 100]])
    assert Counted.n_products == cache.n_dots == 5_050


def test_a_hundred_tokens_ask_171700_times_if_each_step_starts_over() -> None:
    mha, n_dots = counting_layer(), 0
    for n in range(1, 101):
        cache = KVCache(mha)
        cache.extend([[i / 100] for i in range(n)])
        n_dots += cache.n_dots
    assert Counted.n_products == n_dots == 171_700


def test_a_hundred_tokens_ask_338350_times_if_the_hidden_half_is_computed_too() -> None:
    mha = counting_layer()
    for n in range(1, 101):
        mha([[i / 100] for i in range(n)])
    assert Counted.n_products == 338_350


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.none() | st.integers(1, 6))
def test_the_count_is_what_was_multiplied(pieces: list[int], window: int | None) -> None:
    cache = KVCache(counting_layer(n_heads=4, n_kv_heads=2), window=window)
    read(cache, [[i / 9] for i in range(sum(pieces))], pieces)
    assert cache.n_dots == Counted.n_products > 0


# Wrong use.

LAYER = MultiHeadAttention(4, 2)
CROSS = MultiHeadAttention.from_weights([[1]], [[1], [2]], [[1], [2]], [[1]], n_heads=1)

WRONG_CACHES: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"mha": 4}, TypeError, "mha is 4: it must be a MultiHeadAttention"),
    ({"mha": None}, TypeError, "mha is None: it must be a MultiHeadAttention"),
    (
        {"mha": CROSS},
        ShapeError,
        "queries come from rows of width 1, keys from 2: a cache needs a layer that makes both from one x",
    ),
    ({"window": 0}, ValueError, "window is 0: it must be at least 1"),
    ({"window": 2.5}, TypeError, "window is 2.5: it must be a whole number"),
    ({"window": True}, TypeError, "window is True: it must be a whole number"),
    ({"capacity": 0}, ValueError, "capacity is 0: it must be at least 1"),
    ({"capacity": "8"}, TypeError, "capacity is '8': it must be a whole number"),
]


@pytest.mark.parametrize(("changed", "error", "message"), WRONG_CACHES, ids=lambda x: str(x)[:40])
def test_wrong_caches_say_what_must_hold(changed: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        KVCache(**{"mha": LAYER, **changed})  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)


WRONG_PIECES: list[tuple[object, type[Exception], str]] = [
    ([], ShapeError, "x is empty: it must hold at least one of the rows"),
    (None, TypeError, "x is None: it must be a list of rows"),
    ([1, 2, 3, 4], TypeError, "x[0] is 1: it must be a list of numbers"),
    ([[1, 2, 3]], ShapeError, "x is (1, 3): its rows must be 4 wide"),
    ([[1, 2, 3, 4], [1, 2, 3]], ShapeError, "x[1] has 3 entries and x[0] has 4: all rows must be equally long"),
    ([[1, 2, 3, NAN]], ValueError, "x[0][3] is nan: it must be a finite number"),
    ([[1, 2, 3, "4"]], TypeError, "x[0][3] is '4': it must be a number"),
    ([[0] * 4] * 3, ValueError, "2 tokens kept and 3 new: the cache has room for 4"),
]


@pytest.mark.parametrize(("x", "error", "message"), WRONG_PIECES, ids=lambda x: str(x)[:40])
def test_a_wrong_piece_leaves_the_cache_as_it_was(x: object, error: type[Exception], message: str) -> None:
    cache = KVCache(LAYER, capacity=4)
    cache.extend([[1, 0, 0, 1], [0, 1, 1, 0]])
    before = state(cache)
    with pytest.raises(error) as raised:
        cache.extend(x)  # type: ignore[arg-type]
    assert (type(raised.value), str(raised.value)) == (error, message)
    assert state(cache) == before


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("step", ["keys", "values", "join"])
def test_an_error_in_the_middle_leaves_the_cache_as_it_was(
    monkeypatch: pytest.MonkeyPatch, step: str, window: int | None
) -> None:
    mha = MultiHeadAttention(4, 2)
    x = [one_hot(i % 4, 4) for i in range(5)]
    cache = KVCache(mha, window=window)
    cache.extend(x[:3])
    before = state(cache)

    def broken(*_: object) -> None:
        raise MemoryError("out of memory")

    with monkeypatch.context() as patched:
        patched.setattr(MultiHeadAttention, step, broken)
        with pytest.raises(MemoryError, match="out of memory"):
            cache.extend(x[3:])
    assert state(cache) == before
    mask = causal_mask(5) if window is None else sliding_window_mask(5, window=window)
    assert cache.extend(x[3:]) == mha(x, mask)[3:]


def test_an_overflow_leaves_the_cache_as_it_was() -> None:
    eye = [[1.0]]
    cache = KVCache(MultiHeadAttention.from_weights(eye, eye, eye, [[10.0]], n_heads=1))
    cache.extend([[1]])
    before = state(cache)
    with pytest.raises(ValueError, match=r"the score of query 0 and key 1 is inf: it must fit into a float"):
        cache.extend([[1e200]])
    assert state(cache) == before


def test_two_layers_keep_two_caches() -> None:
    # A cache is bound to its layer: no call names another one, and interleaved reading mixes nothing up.
    layers = [MultiHeadAttention(4, 2, seed=seed) for seed in (1, 2)]
    caches = [KVCache(mha) for mha in layers]
    x = [one_hot(i, 4) for i in range(4)]
    rows = [[cache.extend([row])[0] for cache in caches] for row in x]
    assert [list(outputs) for outputs in zip(*rows, strict=True)] == [mha(x, causal_mask(4)) for mha in layers]


def test_nothing_given_or_kept_is_shared() -> None:
    cache = KVCache(LAYER)
    x = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]
    first = watched(cache.extend, x)
    before = state(cache)
    first[0][0] = x[0][0] = 99.0
    assert state(cache) == before
