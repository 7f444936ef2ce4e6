"""Everything that the property tests draw: numbers, shapes, vectors, matrices, masks, inputs of attention, heads.

| strategy | draws |
|---|---|
| `sizes` | a small count or width |
| `numbers` | an everyday number |
| `whole_numbers` | a small whole number as a float, so that sums and products are exact |
| `dyadics` | a fraction with few binary digits, so that sums and differences are exact |
| `wild_numbers` | anything finite up to ±1e308 |
| `vectors`, `matrices` | lists of these |
| `scores` | what softmax takes: numbers, some hidden by −∞, never all |
| `masks` | booleans with no empty row |
| `attention_inputs` | q, k, v and a mask that fit together |
| `sequences` | rows of x with a mask, for heads |
| `head_layouts` | a multi-head attention of odd shapes, with its weights |
"""

from math import inf
from typing import NamedTuple

from hypothesis import strategies as st

Table = list[list[float]]
Mask = list[list[bool]]

sizes = st.integers(1, 5)

numbers = st.floats(-8, 8, allow_subnormal=False)
whole_numbers = st.integers(-99, 99).map(float)
dyadics = st.integers(-(2**12), 2**12).map(lambda m: m / 2**8)
wild_numbers = st.floats(-1e308, 1e308)


def vectors(n: int, entries: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[list[float]]:
    """Draw n numbers."""
    return st.lists(entries, min_size=n, max_size=n)


def matrices(n: int, d: int, entries: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[Table]:
    """Draw n rows of d numbers."""
    return st.lists(vectors(d, entries), min_size=n, max_size=n)


@st.composite
def scores(draw: st.DrawFn, entries: st.SearchStrategy[float] = numbers, most: int = 8) -> list[float]:
    """Draw up to `most` scores; some are −∞, but never all."""
    row = draw(st.lists(entries | st.just(-inf), min_size=0, max_size=most - 1))
    row.insert(draw(st.integers(0, len(row))), draw(entries))
    return row


@st.composite
def masks(draw: st.DrawFn, n_q: int, n_k: int) -> Mask:
    """Draw who may see whom; every query sees at least one key."""
    rows = draw(st.lists(st.lists(st.booleans(), min_size=n_k, max_size=n_k), min_size=n_q, max_size=n_q))
    for row in rows:
        row[draw(st.integers(0, n_k - 1))] = True
    return rows


class Inputs(NamedTuple):
    """What attention takes: q is (n_q, d_k), k is (n_k, d_k), v is (n_k, d_v), the mask is (n_q, n_k)."""

    q: Table
    k: Table
    v: Table
    mask: Mask


@st.composite
def attention_inputs(draw: st.DrawFn, entries: st.SearchStrategy[float] = numbers, causal: bool = False) -> Inputs:
    """Draw inputs of attention; a causal mask lines up the last query with the last key."""
    n_q, n_k, d_k, d_v = (draw(sizes) for _ in range(4))
    if causal:
        n_k += n_q - 1
        past = n_k - n_q
        mask = [[j <= past + i for j in range(n_k)] for i in range(n_q)]
    else:
        mask = draw(masks(n_q, n_k))
    q, k, v = draw(matrices(n_q, d_k, entries)), draw(matrices(n_k, d_k, entries)), draw(matrices(n_k, d_v, entries))
    return Inputs(q, k, v, mask)


class Layout(NamedTuple):
    """The sizes and weights of a multi-head attention; n_heads · d_k need not be d_model, nor d_v be d_k."""

    n_heads: int
    n_kv_heads: int
    W_q: Table
    W_k: Table
    W_v: Table
    W_o: Table
    b_q: list[float]
    b_k: list[float]
    b_v: list[float]
    b_o: list[float]
    x: Table
    context: Table
    mask: Mask


@st.composite
def head_layouts(draw: st.DrawFn, entries: st.SearchStrategy[float] = numbers) -> Layout:
    """Draw weights and biases of odd shapes that fit together, with an x, a context and a mask for them."""
    n_kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_heads = n_kv_heads * group
    n_q, n_k, d_model, d_context, d_k, d_v, d_out = (draw(st.integers(1, 3)) for _ in range(7))
    return Layout(
        n_heads,
        n_kv_heads,
        draw(matrices(d_model, n_heads * d_k, entries)),
        draw(matrices(d_context, n_kv_heads * d_k, entries)),
        draw(matrices(d_context, n_kv_heads * d_v, entries)),
        draw(matrices(n_heads * d_v, d_out, entries)),
        draw(vectors(n_heads * d_k, entries)),
        draw(vectors(n_kv_heads * d_k, entries)),
        draw(vectors(n_kv_heads * d_v, entries)),
        draw(vectors(d_out, entries)),
        draw(matrices(n_q, d_model, entries)),
        draw(matrices(n_k, d_context, entries)),
        draw(masks(n_q, n_k)),
    )
