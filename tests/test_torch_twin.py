"""The twin says on tensors what the lists say, and what PyTorch's own functions say."""

import copy
from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attention_primer
from attention_primer import ShapeError, heads

torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[torch]'")
from torch import nn  # noqa: E402  # only where the line above found it
from torch.nn import functional as F  # noqa: E402, N812

from attention_primer import torch_twin as twin  # noqa: E402

# How far two right answers may be apart, relative to the largest number of the second one. Sums of a few products, in
# another order on each side, lose a few units in the last place: 16 of them are allowed, for widths up to 8.
DOUBLE = 1e-12
UNITS = 16


def apart(ours: Any, theirs: Any) -> float:
    ours, theirs = (torch.as_tensor(table, dtype=torch.float64).detach() for table in (ours, theirs))
    assert ours.shape == theirs.shape
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-300))


def drawn(*shape: int, seed: int, dtype: Any = torch.float64) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def drawn_mask(*shape: int, seed: int) -> Any:
    mask = drawn(*shape, seed=seed) > 0.3
    mask[..., 0] |= ~mask.any(dim=-1)  # no row is empty
    return mask


def by_lists(q: Any, k: Any, v: Any, mask: Any = None, bias: Any = None) -> Any:
    """Loop over whatever stands before the last two axes, since the lists take one sequence and one head."""
    front = q.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]).tolist() for t in (q, k, v))
    n = len(q)
    masks = [None] * n if mask is None else mask.expand(*front, *mask.shape[-2:]).reshape(n, *mask.shape[-2:]).tolist()
    bias = None if bias is None else bias.tolist()
    results = [
        attention_primer.scaled_dot_product_attention(q_n, k_n, v_n, mask_n, bias=bias)
        for q_n, k_n, v_n, mask_n in zip(q, k, v, masks, strict=True)
    ]
    output, weights = (torch.tensor(part, dtype=torch.float64) for part in zip(*results, strict=True))
    return output.reshape(*front, *output.shape[-2:]), weights.reshape(*front, *weights.shape[-2:])


sizes = st.integers(1, 6)
seeds = st.integers(0, 2**31)
fronts = st.lists(st.integers(1, 3), max_size=2).map(tuple)
quick = settings(max_examples=30)
each_width = pytest.mark.parametrize(("dtype", "allowed"), [(torch.float64, DOUBLE), (torch.float32, UNITS * 2.0**-23)])


# Parity: twin = lists = torch.


@quick
@given(front=fronts, n_q=sizes, n_k=sizes, d_k=sizes, d_v=sizes, seed=seeds, hides=st.booleans())
def test_twin_lists_and_torch_give_one_answer(
    front: Any, n_q: int, n_k: int, d_k: int, d_v: int, seed: int, hides: bool
) -> None:
    q, k, v = (
        drawn(*front, n_q, d_k, seed=seed),
        drawn(*front, n_k, d_k, seed=seed + 1),
        drawn(*front, n_k, d_v, seed=seed + 2),
    )
    mask = drawn_mask(*front, n_q, n_k, seed=seed) if hides else None
    output, weights = twin.scaled_dot_product_attention(q, k, v, mask)
    list_output, list_weights = by_lists(q, k, v, mask)
    assert apart(output, list_output) <= DOUBLE
    assert apart(weights, list_weights) <= DOUBLE
    assert apart(output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask)) <= DOUBLE


@quick
@given(front=fronts, n=sizes, d=sizes, seed=seeds)
def test_a_causal_mask_is_what_torch_calls_is_causal(front: Any, n: int, d: int, seed: int) -> None:
    q, k, v = (drawn(*front, n, d, seed=seed + i) for i in range(3))
    output, _ = twin.scaled_dot_product_attention(q, k, v, twin.causal_mask(n))
    assert apart(output, F.scaled_dot_product_attention(q, k, v, is_causal=True)) <= DOUBLE
    assert apart(output, by_lists(q, k, v, torch.tensor(attention_primer.causal_mask(n)))[0]) <= DOUBLE


@quick
@given(n_q=sizes, n_k=sizes, d=sizes, seed=seeds)
def test_a_float_mask_of_torch_is_a_bias_of_the_lists(n_q: int, n_k: int, d: int, seed: int) -> None:
    q, k, v = drawn(n_q, d, seed=seed), drawn(n_k, d, seed=seed + 1), drawn(n_k, d, seed=seed + 2)
    mask = drawn_mask(n_q, n_k, seed=seed)
    hiding = torch.zeros(n_q, n_k, dtype=torch.float64).masked_fill(~mask, -inf)
    bias = hiding + drawn(n_q, n_k, seed=seed + 3)
    assert apart(by_lists(q, k, v, bias=bias)[0], F.scaled_dot_product_attention(q, k, v, attn_mask=bias)) <= DOUBLE
    output, _ = twin.scaled_dot_product_attention(q, k, v, mask)
    assert apart(output, F.scaled_dot_product_attention(q, k, v, attn_mask=hiding)) <= DOUBLE


@each_width
@quick
@given(batch=sizes, n=sizes, n_kv_heads=st.integers(1, 3), group=st.integers(1, 3), d=st.integers(1, 3), seed=seeds)
def test_heads_that_share_agree_with_the_lists_and_with_enable_gqa(
    dtype: Any, allowed: float, batch: int, n: int, n_kv_heads: int, group: int, d: int, seed: int
) -> None:
    torch.manual_seed(seed)
    n_heads = n_kv_heads * group
    gqa = twin.GroupedQueryAttention(n_heads * d, n_heads, n_kv_heads).to(dtype)
    x = drawn(batch, n, n_heads * d, seed=seed, dtype=dtype)
    mask = drawn_mask(n, n, seed=seed)
    q, k, v = (
        projection(x).view(batch, n, -1, d).transpose(1, 2) for projection in (gqa.q_proj, gqa.k_proj, gqa.v_proj)
    )
    by_torch = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    assert apart(gqa(x, mask), gqa.o_proj(by_torch.transpose(1, 2).reshape(x.shape))) <= allowed
    lists = twin.from_torch(gqa)
    assert apart(gqa(x, mask), [lists(row, mask.tolist()) for row in x.tolist()]) <= allowed


@each_width
@quick
@given(batch=sizes, n=sizes, n_heads=st.integers(1, 4), d=st.integers(1, 3), bias=st.booleans(), seed=seeds)
def test_twin_lists_and_the_layer_of_torch_give_one_answer(
    dtype: Any, allowed: float, batch: int, n: int, n_heads: int, d: int, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    layer = nn.MultiheadAttention(n_heads * d, n_heads, bias=bias, batch_first=True, dtype=dtype)
    if bias:  # torch begins with zeros, which would hide a bias that is lost or swapped
        nn.init.normal_(layer.in_proj_bias)
        nn.init.normal_(layer.out_proj.bias)
    x, mask = drawn(batch, n, n_heads * d, seed=seed, dtype=dtype), drawn_mask(n, n, seed=seed)
    expected = layer(x, x, x, attn_mask=~mask, need_weights=False)[0]
    lists = twin.from_torch(layer)
    assert apart([lists(row, mask.tolist()) for row in x.tolist()], expected) <= allowed
    assert apart(twin.to_torch(lists, dtype=dtype)(x, mask), expected) <= allowed
    back = twin.to_torch(lists, nn.MultiheadAttention, dtype=dtype)
    assert apart(back(x, x, x, attn_mask=~mask, need_weights=False)[0], expected) <= allowed


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@quick
@given(n=sizes, n_heads=st.integers(1, 3), d=st.integers(1, 8), seed=seeds)
def test_narrower_numbers_lose_a_few_units_in_the_last_place(
    dtype: Any, n: int, n_heads: int, d: int, seed: int
) -> None:
    q, k, v = (drawn(2, n_heads, n, d, seed=seed + i, dtype=dtype) for i in range(3))
    output, weights = twin.scaled_dot_product_attention(q, k, v, twin.causal_mask(n))
    allowed = UNITS * torch.finfo(dtype).eps
    assert output.dtype == weights.dtype == dtype
    assert apart(output, by_lists(q, k, v, twin.causal_mask(n))[0]) <= allowed
    assert apart(output, F.scaled_dot_product_attention(q, k, v, is_causal=True)) <= allowed


@quick
@given(n_q=sizes, n_k=sizes, d_k=sizes, d_v=sizes, seed=seeds)
def test_autograd_finds_the_gradients_of_the_lists(n_q: int, n_k: int, d_k: int, d_v: int, seed: int) -> None:
    q, k, v = drawn(n_q, d_k, seed=seed), drawn(n_k, d_k, seed=seed + 1), drawn(n_k, d_v, seed=seed + 2)
    mask, d_output = drawn_mask(n_q, n_k, seed=seed), drawn(n_q, d_v, seed=seed + 3)
    output, _ = twin.scaled_dot_product_attention(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), mask)
    found = torch.autograd.grad(output, (q, k, v), d_output)
    expected = attention_primer.attention_gradients(*(t.tolist() for t in (q, k, v, d_output, mask)))
    largest = max(float(torch.tensor(e).abs().max()) for e in expected)  # d_q is 0 where a query sees one key
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours - torch.tensor(theirs, dtype=torch.float64)).abs().max() <= DOUBLE * largest


# What the layers promise.


def layers() -> list[Any]:
    torch.manual_seed(0)
    return [twin.MultiHeadAttention(8, 4).double(), twin.GroupedQueryAttention(8, 4, 2).double()]


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_changing_the_future_never_changes_the_past(layer: Any) -> None:
    x = drawn(2, 5, 8, seed=0)
    y = x.clone()
    y[:, 3:] = drawn(2, 2, 8, seed=1)
    assert torch.equal(layer(x)[:, :3], layer(y)[:, :3])
    assert not torch.equal(layer(x)[:, 3:], layer(y)[:, 3:])


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_a_batch_is_its_sequences_one_by_one(layer: Any) -> None:
    x = drawn(3, 2, 5, 8, seed=0)
    one_by_one = torch.stack([torch.stack([layer(sequence) for sequence in batch]) for batch in x])
    assert apart(layer(x), one_by_one) <= DOUBLE


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_a_mask_of_the_caller_takes_the_place_of_the_causal_one(layer: Any) -> None:
    x = drawn(2, 3, 8, seed=0)
    sees_all = torch.ones(3, 3, dtype=torch.bool)
    swapped = x[:, [1, 0, 2]]
    assert apart(layer(x, sees_all)[:, [1, 0, 2]], layer(swapped, sees_all)) <= DOUBLE  # without order
    assert apart(layer(x)[:, [1, 0, 2]], layer(swapped)) > 0.01


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_a_padding_mask_for_each_sentence_hides_its_fillers(layer: Any) -> None:
    x = drawn(2, 4, 8, seed=0)
    is_real = torch.tensor([[True, True, True, True], [True, True, False, False]])
    output = layer(x, is_real[:, None, None, :])
    assert apart(output[0], layer(x[0], torch.ones(4, 4, dtype=torch.bool))) <= DOUBLE
    assert apart(output[1, :2], layer(x[1, :2], torch.ones(2, 2, dtype=torch.bool))) <= DOUBLE


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_every_weight_learns(layer: Any) -> None:
    layer = copy.deepcopy(layer)
    layer(drawn(2, 5, 8, seed=0)).square().sum().backward()
    still = {name for name, weight in layer.named_parameters() if weight.grad.abs().max() < 1e-9}
    assert still == set()


def test_a_bias_of_all_keys_shifts_every_score_of_a_row_and_so_moves_nothing() -> None:
    mha = twin.MultiHeadAttention(8, 4).double()
    x = drawn(2, 5, 8, seed=0)
    before = mha(x)
    with torch.no_grad():
        mha.in_proj.bias[8:16] += 3.0
    assert apart(mha(x), before) <= DOUBLE


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_shapes_can_be_had_without_numbers(layer: Any) -> None:
    layer = copy.deepcopy(layer).to("meta")
    x = torch.empty(2, 5, 8, device="meta", dtype=torch.float64)
    assert layer(x).shape == layer(x, twin.causal_mask(5, device="meta")).shape == (2, 5, 8)


def test_the_mask_lives_where_it_is_wanted() -> None:
    assert twin.causal_mask(3, device="meta").device.type == "meta"
    assert twin.causal_mask(3).dtype == torch.bool


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)
def test_a_layer_can_be_compiled(layer: Any) -> None:
    x = drawn(2, 5, 8, seed=0)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    assert apart(compiled(x), layer(x)) <= DOUBLE
    assert compiled(x, torch.zeros(5, 5, dtype=torch.bool)).isnan().all()  # it can't stop to look


def test_no_bias_means_none_anywhere() -> None:
    names = [name for name, _ in twin.MultiHeadAttention(8, 2, bias=False).named_parameters()]
    assert names == ["in_proj.weight", "out_proj.weight"]


def test_what_a_hidden_key_holds_does_not_matter_but_its_value_must_be_finite() -> None:
    q, k, v = (torch.ones(2, 3, dtype=torch.float64) for _ in range(3))
    mask = torch.tensor([[True, False], [True, False]])
    k[1] = nan
    assert twin.scaled_dot_product_attention(q, k, v, mask)[0].tolist() == [[1.0, 1.0, 1.0]] * 2
    v[1] = nan
    assert twin.scaled_dot_product_attention(q, k, v, mask)[0].isnan().all()


# What is refused.

x = torch.zeros(2, 4, 3, 8)
square = torch.ones(3, 3, dtype=torch.bool)
attention: Any = twin.scaled_dot_product_attention
WIDTH = "it must be (…, L, 8) with no axis empty"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: attention(x.long(), x, x), TypeError, "q holds torch.int64: it must hold floating-point numbers"),
        (lambda: attention(x, x, x[..., 0, 0, 0]), ShapeError, "v is (2,): it must be (…, L, d) with no axis empty"),
        (
            lambda: attention(x, x[..., :0, :], x),
            ShapeError,
            "k is (2, 4, 0, 8): it must be (…, L, d) with no axis empty",
        ),
        (
            lambda: attention(x, x[:, :1], x),
            ShapeError,
            "q is (2, 4, 3, 8), k is (2, 1, 3, 8) and v is (2, 4, 3, 8): "
            "what stands before the last two axes must be the same",
        ),
        (
            lambda: attention(x, x, x[:1]),
            ShapeError,
            "q is (2, 4, 3, 8), k is (2, 4, 3, 8) and v is (1, 4, 3, 8): "
            "what stands before the last two axes must be the same",
        ),
        (
            lambda: attention(x[0, 0], x[0, 0, :, :4], x[0, 0]),
            ShapeError,
            "q is (3, 8) and k is (3, 4): queries and keys must be equally wide",
        ),
        (
            lambda: attention(x[0, 0], x[0, 0], x[0, 0, :2]),
            ShapeError,
            "k is (3, 8) and v is (2, 8): every key needs one value",
        ),
        (
            lambda: attention(x, x, x, square.float()),
            TypeError,
            "mask holds torch.float32: it must hold True (may see) or False (hidden), since a 1 means hidden elsewhere",
        ),
        (
            lambda: attention(x, x, x, square[:, :2]),
            ShapeError,
            "mask is (3, 2): it must be (3, 3), or (2, 4, 3, 3) with any axis 1",
        ),
        (
            lambda: attention(x, x, x, square[0]),
            ShapeError,
            "mask is (3,): it must be (3, 3), or (2, 4, 3, 3) with any axis 1",
        ),
        (
            lambda: attention(x, x, x, square.expand(3, 1, 3, 3)),
            ShapeError,
            "mask is (3, 1, 3, 3): it must be (3, 3), or (2, 4, 3, 3) with any axis 1",
        ),
        (lambda: attention(x[0, 0], x[0, 0], x[0, 0], square[0]), ShapeError, "mask is (3,): it must be (3, 3)"),
        (
            lambda: attention(x, x, x, square & (torch.arange(3) > 0).view(3, 1)),
            ValueError,
            "query 0 may see no key: every query needs at least one",
        ),
        (
            lambda: attention(x, x, x, torch.tensor([True, False]).view(2, 1, 1, 1)),
            ValueError,
            "query 0 of mask[1, 0] may see no key: every query needs at least one",
        ),
        (lambda: twin.causal_mask(2.5), TypeError, "L is 2.5: it must be a whole number"),  # type: ignore[arg-type]
        (
            lambda: twin.MultiHeadAttention(8, 3),
            ShapeError,
            "d_model is 8 and n_heads is 3: the heads must divide the width evenly",
        ),
        (lambda: twin.MultiHeadAttention(8, 0), ValueError, "n_heads is 0: it must be at least 1"),
        (
            lambda: twin.GroupedQueryAttention(9, 4, 2),
            ShapeError,
            "d_model is 9 and n_heads is 4: the heads must divide the width evenly",
        ),
        (lambda: twin.MultiHeadAttention(8, 2)(torch.zeros(8)), ShapeError, f"x is (8,): {WIDTH}"),
        (lambda: twin.GroupedQueryAttention(8, 2, 1)(torch.zeros(3, 9)), ShapeError, f"x is (3, 9): {WIDTH}"),
        (lambda: twin.MultiHeadAttention(8, 2)(torch.zeros(2, 0, 8)), ShapeError, f"x is (2, 0, 8): {WIDTH}"),
        (lambda: twin.GroupedQueryAttention(8, 2, 1)(torch.zeros(0, 8)), ShapeError, f"x is (0, 8): {WIDTH}"),
        (
            lambda: twin.MultiHeadAttention(8, 2)(torch.zeros(3, 8, dtype=torch.long)),
            TypeError,
            "x holds torch.int64: it must hold floating-point numbers",
        ),
        (lambda: twin.GroupedQueryAttention(8, 2, 1)([[1.0]]), TypeError, "x is [[1.0]]: it must be a tensor"),
        (lambda: attention(x, [[1.0]], x), TypeError, "k is [[1.0]]: it must be a tensor"),
        (lambda: attention(x, x, x, [[True]]), TypeError, "mask is [[True]]: it must be a tensor"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_shape(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as refused:
        call()
    assert str(refused.value) == message
    assert type(refused.value) is error


# Weights, both ways.


def state_of(layer: Any) -> dict[str, Any]:
    return {name: tensor.clone() for name, tensor in layer.state_dict().items()}


def same_state(ours: Any, theirs: Any) -> bool:
    a, b = state_of(ours), state_of(theirs)
    return a.keys() == b.keys() and all(torch.equal(a[n], b[n]) and a[n].dtype == b[n].dtype for n in a)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "build",
    [
        lambda: twin.MultiHeadAttention(8, 4),
        lambda: twin.MultiHeadAttention(8, 4, bias=False),
        lambda: twin.GroupedQueryAttention(8, 4, 2),
        lambda: nn.MultiheadAttention(8, 4),
        lambda: nn.MultiheadAttention(8, 4, bias=False),
    ],
)
def test_there_and_back_a_layer_is_the_same_to_the_last_bit(build: Callable[[], Any], dtype: Any) -> None:
    torch.manual_seed(1)
    layer = build().to(dtype)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.normal_()
    back = twin.to_torch(twin.from_torch(layer), type(layer), dtype=dtype)
    assert type(back) is type(layer)
    assert same_state(back, layer)


@pytest.mark.parametrize("kind", [None, nn.MultiheadAttention, "shared"])
def test_there_and_back_lists_are_the_same_to_the_last_bit(kind: Any) -> None:
    mha = heads.MultiHeadAttention(8, 4, 2 if kind == "shared" else None, seed=3)
    back = twin.from_torch(twin.to_torch(mha, None if kind == "shared" else kind))
    assert (back.n_heads, back.n_kv_heads) == (mha.n_heads, mha.n_kv_heads)
    for name in ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"):
        assert getattr(back, name) == getattr(mha, name), name


def test_a_bias_that_is_missing_beside_others_becomes_zeros() -> None:
    one = [[1.0, 0.0], [0.0, 1.0]]
    mha = heads.MultiHeadAttention.from_weights(one, one, one, one, 2, b_k=[2, 3])
    layer: Any = twin.to_torch(mha)
    assert layer.in_proj.bias.tolist() == [0, 0, 2, 3, 0, 0]
    assert layer.out_proj.bias.tolist() == [0, 0]


def test_carried_weights_are_copies_and_draw_no_random_numbers() -> None:
    state = gpt2_state()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    layer = twin.from_gpt2_state_dict(state, 4)
    assert torch.equal(torch.rand(3), expected)
    with torch.no_grad():
        layer.in_proj.weight.zero_()
    assert state["c_attn.weight"].abs().sum() > 0
    assert layer.in_proj.weight.requires_grad


def test_shared_heads_can_be_carried_even_where_none_is_shared() -> None:
    mha = heads.MultiHeadAttention(8, 4)
    assert isinstance(twin.to_torch(mha, twin.GroupedQueryAttention), twin.GroupedQueryAttention)
    assert isinstance(twin.to_torch(mha), twin.MultiHeadAttention)


def test_a_layer_with_dropout_is_carried_once_it_no_longer_trains() -> None:
    layer = nn.MultiheadAttention(8, 2, dropout=0.5).eval()
    assert twin.from_torch(layer).n_heads == 2


linear: Any = nn.Linear(2, 2)
narrow = heads.MultiHeadAttention.from_weights([[1, 2]], [[1, 2]], [[1, 2]], [[1], [2]], 2)
across = heads.MultiHeadAttention.from_weights([[1]], [[1], [2]], [[1], [2]], [[1]], 1)
biased = heads.MultiHeadAttention.from_weights([[1]], [[1]], [[1]], [[1]], 1, b_o=[1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: twin.from_torch(nn.MultiheadAttention(8, 2, dropout=0.25)),
            ValueError,
            "dropout is 0.25 in training mode: lists drop nothing, so call .eval() first",
        ),
        (
            lambda: twin.from_torch(nn.MultiheadAttention(8, 2, add_bias_kv=True)),
            ValueError,
            "add_bias_kv is True: lists have no place for a learned key and value beside those of tokens",
        ),
        (
            lambda: twin.from_torch(nn.MultiheadAttention(8, 2, add_zero_attn=True)),
            ValueError,
            "add_zero_attn is True: lists have no place for a key and value of zeros beside those of tokens",
        ),
        (
            lambda: twin.from_torch(nn.MultiheadAttention(8, 2, kdim=6, vdim=4)),
            ValueError,
            "kdim is 6 and vdim is 4: keys and values must be read from the width 8 of the queries",
        ),
        (
            lambda: twin.from_torch(linear),
            TypeError,
            "module is Linear: it must be nn.MultiheadAttention, or MultiHeadAttention or GroupedQueryAttention of "
            "torch_twin",
        ),
        (
            lambda: twin.to_torch(linear),
            TypeError,
            "mha is Linear: it must be MultiHeadAttention of attention_primer",
        ),
        (
            lambda: twin.to_torch(biased, nn.Linear),
            TypeError,
            "kind is Linear: it must be MultiHeadAttention, GroupedQueryAttention or nn.MultiheadAttention",
        ),
        (
            lambda: twin.to_torch(biased, twin.GroupedQueryAttention),
            ValueError,
            "mha has biases: GroupedQueryAttention has no place for them",
        ),
        (
            lambda: twin.to_torch(heads.MultiHeadAttention(8, 4, 2), twin.MultiHeadAttention),
            ValueError,
            "4 heads share 2 heads of keys and values: MultiHeadAttention has as many of both",
        ),
        (
            lambda: twin.to_torch(narrow),
            ShapeError,
            "d_k is 1 and d_v is 1: they must be d_model / n_heads, 0.5",
        ),
        (
            lambda: twin.to_torch(across),
            ShapeError,
            "d_model is 1, d_context 2, d_out 1: they must be one width",
        ),
    ],
)
def test_what_can_not_be_carried_is_refused_with_the_reason(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as refused:
        call()
    assert str(refused.value) == message
    assert type(refused.value) is error


# States of real models.


def gpt2_state(prefix: str = "") -> dict[str, Any]:
    shapes = {"c_attn.weight": (8, 24), "c_attn.bias": (24,), "c_proj.weight": (8, 8), "c_proj.bias": (8,)}
    return {f"{prefix}{name}": drawn(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}


def llama_state(prefix: str = "") -> dict[str, Any]:
    shapes = {"q_proj": (8, 8), "k_proj": (4, 8), "v_proj": (4, 8), "o_proj": (8, 8)}
    return {f"{prefix}{name}.weight": drawn(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}


def gpt2_attention(x: Any, state: dict[str, Any], n_heads: int) -> Any:
    """Compute it as GPT-2 does: Conv1D is x @ weight + bias."""
    q, k, v = (x @ state["c_attn.weight"] + state["c_attn.bias"]).split(x.size(-1), dim=-1)
    q, k, v = (t.view(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(-1, -2) / sqrt(q.size(-1))
    scores += torch.full(scores.shape[-2:], -inf, dtype=x.dtype).triu(1)
    merged = (scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(x.shape)
    return merged @ state["c_proj.weight"] + state["c_proj.bias"]


def test_a_block_of_gpt2_answers_as_it_did() -> None:
    x = drawn(2, 5, 8, seed=9)
    layer = twin.from_gpt2_state_dict(gpt2_state(), 4)
    assert apart(layer(x), gpt2_attention(x, gpt2_state(), 4)) <= DOUBLE
    lists, mask = twin.from_torch(layer), attention_primer.causal_mask(5)
    assert apart([lists(row, mask) for row in x.tolist()], layer(x)) <= DOUBLE


def test_a_block_of_llama_answers_as_it_did_at_one_position() -> None:
    x, state = drawn(2, 5, 8, seed=9), llama_state()
    layer = twin.from_llama_state_dict(state, 4, 2)
    q, k, v = (F.linear(x, state[f"{name}_proj.weight"]).view(2, 5, -1, 2).transpose(1, 2) for name in "qkv")
    by_torch = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    expected = F.linear(by_torch.transpose(1, 2).reshape(2, 5, 8), state["o_proj.weight"])
    assert apart(layer(x), expected) <= DOUBLE
    lists, mask = twin.from_torch(layer), attention_primer.causal_mask(5)
    assert apart([lists(row, mask) for row in x.tolist()], layer(x)) <= DOUBLE


def test_a_layer_is_found_by_its_prefix_and_leaves_the_rest_of_the_model_alone() -> None:
    rest = {
        "wte.weight": torch.zeros(3, 8),
        "h.1.attn.c_attn.weight": torch.zeros(1),
        "h.0.mlp.c_fc.weight": torch.zeros(1),
    }
    whole = (
        gpt2_state("h.0.attn.")
        | rest
        | {"h.0.attn.bias": torch.ones(1, 1, 9, 9), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    )
    assert same_state(twin.from_gpt2_state_dict(whole, 4, "h.0.attn."), twin.from_gpt2_state_dict(gpt2_state(), 4))
    prefix = "model.layers.0.self_attn."
    whole = llama_state(prefix) | {f"{prefix}rotary_emb.inv_freq": torch.ones(1), "model.norm.weight": torch.ones(8)}
    assert same_state(twin.from_llama_state_dict(whole, 4, 2, prefix), twin.from_llama_state_dict(llama_state(), 4, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_loaded_layer_keeps_its_type(dtype: Any) -> None:
    state = {name: tensor.to(dtype) for name, tensor in llama_state().items()}
    assert {weight.dtype for weight in twin.from_llama_state_dict(state, 4, 2).parameters()} == {dtype}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: twin.from_gpt2_state_dict(gpt2_state("h.0.attn."), 4),
            KeyError,
            "the state holds no c_attn.weight: a prefix such as 'h.0.attn.' finds one",
        ),
        (lambda: twin.from_gpt2_state_dict({}, 4), KeyError, "the state holds no c_attn.weight: the layer needs it"),
        (
            lambda: twin.from_llama_state_dict(gpt2_state("x."), 4, 2, "x."),
            KeyError,
            "the state holds no x.q_proj.weight: the layer needs it",
        ),
        (
            lambda: twin.from_llama_state_dict(llama_state() | {"q_norm.weight": torch.ones(2)}, 4, 2),
            ValueError,
            "the state holds q_norm.weight: the layer has no place for it",
        ),
        (
            lambda: twin.from_gpt2_state_dict(gpt2_state() | {"c_attn.weight": torch.zeros(24, 8)}, 4),
            ShapeError,
            "c_attn.weight is (24, 8): it must be (8, 24)",
        ),
        (
            lambda: twin.from_llama_state_dict(llama_state(), 4, 4),
            ShapeError,
            "k_proj.weight is (4, 8): it must be (8, 8)",
        ),
        (
            lambda: twin.from_gpt2_state_dict(gpt2_state(), 3),
            ShapeError,
            "d_model is 8 and n_heads is 3: the heads must divide the width evenly",
        ),
    ],
)
def test_a_state_that_does_not_fit_is_refused(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as refused:
        call()
    assert refused.value.args[0] == message
    assert type(refused.value) is error
