from collections.abc import Callable
from random import Random
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import (
    MultiHeadAttention,
    attention_cost,
    causal_mask,
    crossover_length,
    kv_cache_bytes,
    scaled_dot_product_attention,
)
from strategies import Table


class Counted(float):
    """A float that counts the multiplications that it takes part in; sums and products of it count on."""

    multiplications: ClassVar[int] = 0

    def __mul__(self, other: float) -> "Counted":
        Counted.multiplications += 1
        return Counted(float(self) * float(other))

    def __add__(self, other: float) -> "Counted":
        return Counted(float(self) + float(other))

    __rmul__, __radd__ = __mul__, __add__


def flops(run: Callable[[], object]) -> int:
    """Count a multiplication as two: it comes with an addition."""
    Counted.multiplications = 0
    run()
    return 2 * Counted.multiplications


def table(n: int, d: int, of: type[float] = Counted) -> Table:
    rng = Random(f"{n} {d}")
    return [[of(rng.gauss(0, 1)) for _ in range(d)] for _ in range(n)]


@st.composite
def models(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Draw n, d_model, n_heads and n_kv_heads."""
    n_kv_heads, group, d_head = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    n_heads = n_kv_heads * group
    return draw(st.integers(1, 6)), n_heads * d_head, n_heads, n_kv_heads


# Softmax, the feed-forward part and the scaling of the scores are left out. The scaling is a product, too, one for each
# pair in each head, so the tests take n² a head off what they count.


@given(models())
def test_the_cost_is_what_the_code_multiplies(model: tuple[int, int, int, int]) -> None:
    n, d_model, n_heads, n_kv_heads = model
    cost = attention_cost(n, d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
    mha, x = MultiHeadAttention(d_model, n_heads, n_kv_heads), table(n, d_model)

    assert flops(lambda: mha(x)) - 2 * n_heads * n * n == cost.scores + cost.mix + cost.projections
    assert cost.total == cost.scores + cost.mix + cost.projections + cost.feed_forward


@given(models())
def test_each_part_of_the_cost_is_what_its_step_multiplies(model: tuple[int, int, int, int]) -> None:
    n, d_model, n_heads, n_kv_heads = model
    d_head = d_model // n_heads
    cost = attention_cost(n, d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
    mha, x = MultiHeadAttention(d_model, n_heads, n_kv_heads), table(n, d_model)
    plain, counted = table(n, d_head, float), table(n, d_head)

    to_heads = flops(lambda: (mha.queries(x), mha.keys(x), mha.values(x)))
    back = flops(lambda: mha.join([counted] * n_heads))
    assert to_heads + back == cost.projections
    assert n_heads * (flops(lambda: scaled_dot_product_attention(counted, plain, plain)) - 2 * n * n) == cost.scores
    assert n_heads * flops(lambda: scaled_dot_product_attention(plain, plain, counted)) == cost.mix


@given(st.integers(1, 8), st.integers(1, 4))
def test_a_causal_mask_saves_nearly_half_of_scores_and_mix(n: int, d: int) -> None:
    counted, plain, pairs = table(n, d), table(n, d, float), n * (n + 1) // 2
    scores = flops(lambda: scaled_dot_product_attention(counted, plain, plain, causal_mask(n)))
    mix = flops(lambda: scaled_dot_product_attention(plain, plain, counted, causal_mask(n)))
    assert scores - 2 * pairs <= 2 * d * pairs + 2 * n * n  # what is hidden may still be scaled
    assert mix == 2 * d * pairs


@given(st.integers(1, 10**6), models())
def test_costs_grow_with_the_length_as_they_say(n: int, model: tuple[int, int, int, int]) -> None:
    _, d_model, n_heads, n_kv_heads = model
    one, two = (attention_cost(m, d_model, n_heads=n_heads, n_kv_heads=n_kv_heads) for m in (n, 2 * n))
    assert (two.scores, two.mix) == (4 * one.scores, 4 * one.mix)
    assert (two.projections, two.feed_forward) == (2 * one.projections, 2 * one.feed_forward)
    assert one.feed_forward == 2 * n * d_model * 4 * d_model * 2


@given(models())
def test_at_the_crossover_both_sides_cost_the_same_and_one_token_later_attention_costs_more(
    model: tuple[int, int, int, int],
) -> None:
    _, d_model, n_heads, n_kv_heads = model
    length = crossover_length(d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
    here, later = (attention_cost(n, d_model, n_heads=n_heads, n_kv_heads=n_kv_heads) for n in (length, length + 1))
    assert here.scores + here.mix == here.projections + here.feed_forward
    assert later.scores + later.mix > later.projections + later.feed_forward


@pytest.mark.parametrize(("d_model", "length"), [(768, 4608), (4096, 24576)])
def test_the_crossovers_of_the_chapter(d_model: int, length: int) -> None:
    assert crossover_length(d_model) == length


@given(models(), st.integers(1, 4), st.sampled_from([1, 2, 4]))
def test_a_cache_holds_the_keys_and_values_that_the_heads_compute(
    model: tuple[int, int, int, int], n_layers: int, bytes_per_number: int
) -> None:
    n, d_model, n_heads, n_kv_heads = model
    mha, x = MultiHeadAttention(d_model, n_heads, n_kv_heads), table(n, d_model, float)
    kept = sum(len(row) for heads in (mha.keys(x), mha.values(x)) for head in heads for row in head)
    bytes_kept = kv_cache_bytes(n, n_layers, n_kv_heads, d_model // n_heads, bytes_per_number)
    assert bytes_kept == kept * n_layers * bytes_per_number


KIB, GIB = 1024, 1024**3


@pytest.mark.parametrize(
    ("n_tokens", "n_layers", "n_kv_heads", "bytes_kept"),
    [
        (1, 32, 32, 512 * KIB),  # Llama 2 7B
        (4096, 32, 32, 2 * GIB),
        (64 // 2 * 4096, 32, 32, 64 * GIB),
        (1, 32, 8, 128 * KIB),  # Llama 3 8B
        (1, 80, 64, 2560 * KIB),  # Llama 2 70B, were no heads shared
        (1, 80, 8, 320 * KIB),
    ],
)
def test_the_caches_of_the_chapter(n_tokens: int, n_layers: int, n_kv_heads: int, bytes_kept: int) -> None:
    assert kv_cache_bytes(n_tokens, n_layers, n_kv_heads, 128) == bytes_kept
