r"""Say the same in PyTorch: the mechanism on tensors, and the way to real layers and back.

$$\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V \quad\text{on } (\dots, L, d)$$

| name | in one line |
|---|---|
| [`scaled_dot_product_attention`][attention_primer.torch_twin.scaled_dot_product_attention] | for any batch and heads |
| [`causal_mask`][attention_primer.torch_twin.causal_mask] | a lower triangle of True |
| [`MultiHeadAttention`][attention_primer.torch_twin.MultiHeadAttention] | several looks through one fused projection |
| [`GroupedQueryAttention`][attention_primer.torch_twin.GroupedQueryAttention] | looks that share keys and values |
| [`from_torch`][attention_primer.torch_twin.from_torch] | a layer's weights as plain lists |
| [`to_torch`][attention_primer.torch_twin.to_torch] | plain lists as a layer's weights |
| [`from_gpt2_state_dict`][attention_primer.torch_twin.from_gpt2_state_dict] | one layer of GPT-2 |
| [`from_llama_state_dict`][attention_primer.torch_twin.from_llama_state_dict] | one layer of Llama, not rotated |

Shapes, kinds of numbers and empty rows of a mask are checked, as everywhere here. What the tensors hold is not: that
would cost as much as the work itself.
"""

from collections.abc import Callable, Mapping
from math import inf, sqrt
from typing import TypeVar

from attention_primer import heads
from attention_primer.checks import ShapeError, shown, size

try:
    import torch
except ModuleNotFoundError as error:
    raise ImportError(
        "attention_primer.torch_twin needs torch, which is not installed: "
        "pip install 'attention_primer[torch]', or in a clone: pip install -e '.[torch]'"
    ) from error

from torch import Tensor, nn

__all__ = [
    "GroupedQueryAttention",
    "MultiHeadAttention",
    "causal_mask",
    "from_gpt2_state_dict",
    "from_llama_state_dict",
    "from_torch",
    "scaled_dot_product_attention",
    "to_torch",
]

Layer = TypeVar("Layer", bound=nn.Module)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    r"""Let every query mix the values of the keys that it may see, for all sequences and heads at once.

    $$\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + \text{mask}\right) V$$

    Axes count from the end, so that anything may stand in front: nothing, a batch, a batch and heads.

    Args:
        q: Queries, (…, n_q, d_k), of any floating-point type on any device.
        k: Keys, (…, n_k, d_k).
        v: Values, (…, n_k, d_v). Unlike in the lists, a hidden value must be finite, since here it is multiplied by 0.
        mask: Booleans, (n_q, n_k), or with as many axes as the scores, (…, n_q, n_k), any of them 1; True means that
            query i may see key j. By default all see all.

    Returns:
        Output, (…, n_q, d_v), and weights, (…, n_q, n_k). Each row of weights sums to 1 within rounding, and a hidden
        key has weight exactly 0.

    Raises:
        ShapeError: If an argument is empty, or the shapes don't fit.
        TypeError: If an argument is no tensor, q, k or v hold no floating-point numbers, or the mask no booleans.
        ValueError: If a query may see no key. To look for one, the program waits for the device. Compiled code and the
            meta device have no numbers to look at: what is compiled answers an empty row with NaN.

    Examples:
        The same three shares as in the lists:

        >>> q = torch.tensor([[1.0, 1, 1, 1]])
        >>> k = torch.tensor([[1.0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
        >>> v = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
        >>> output, weights = scaled_dot_product_attention(q, k, v)
        >>> [round(w, 2) for w in weights[0].tolist()], [round(o, 2) for o in output[0].tolist()]
        ([0.63, 0.23, 0.14], [0.77, 0.37])

        A batch of eight with four heads goes through the same lines:

        >>> x = torch.zeros(8, 4, 5, 16)
        >>> [tuple(t.shape) for t in scaled_dot_product_attention(x, x, x, causal_mask(5))]
        [(8, 4, 5, 16), (8, 4, 5, 5)]

        A mask with one axis too few for one a sentence, and too many for one for all, could be read two ways:

        >>> scaled_dot_product_attention(x, x, x, causal_mask(5).expand(8, 5, 5))
        Traceback (most recent call last):
        attention_primer.ShapeError: mask is (8, 5, 5): it must be (5, 5), or (8, 4, 5, 5) with any axis 1
    """
    _require_fit(q, k, v)
    # Match, and scale: wide vectors have large sums.
    scores = q @ k.transpose(-2, -1) / sqrt(q.size(-1))
    # Mask: what is hidden scores −∞.
    if mask is not None:
        _require_mask(mask, scores)
        scores = scores.masked_fill(~mask, -inf)
    # Share: softmax, one row at a time.
    weights = scores.softmax(dim=-1)
    # Mix: the values, by their shares.
    return weights @ v, weights


def causal_mask(L: int, device: torch.device | str | None = None) -> Tensor:
    """Let every position see itself and its past, and hide its future.

    Args:
        L: How many tokens.
        device: Where the mask shall live. Defaults to PyTorch's own default.

    Returns:
        Booleans, (L, L); True at [i, j] means that query i may see key j. No row is empty.

    Raises:
        TypeError: If L is not a whole number.
        ValueError: If L is below 1.

    Examples:
        Three tokens make a lower triangle, the one that the lists make:

        >>> from attention_primer import masks
        >>> causal_mask(3).tolist() == masks.causal_mask(3)
        True

        No token, no mask:

        >>> causal_mask(0)
        Traceback (most recent call last):
        ValueError: L is 0: it must be at least 1
    """
    L = size(L, "L")
    return torch.tril(torch.ones(L, L, dtype=torch.bool, device=device))


class MultiHeadAttention(nn.Module):
    """Project once, cut into heads, attend in each, glue together, project back.

    One fused projection computes queries, keys and values: one large product keeps a device busier than three small
    ones. Its rows stand in the order q, k, v, as in `nn.MultiheadAttention`, and so do the names of the weights.

    Args:
        d_model: The width of x.
        n_heads: How many heads; they share d_model evenly.
        bias: Whether the projections add something.

    Raises:
        ShapeError: If n_heads does not divide d_model.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        The output is shaped as x:

        >>> mha = MultiHeadAttention(8, n_heads=2)
        >>> mha(torch.zeros(3, 5, 8)).shape
        torch.Size([3, 5, 8])

        The fused projection is three times as wide as x:

        >>> {name: tuple(weight.shape) for name, weight in mha.named_parameters() if name.endswith("weight")}
        {'in_proj.weight': (24, 8), 'out_proj.weight': (8, 8)}

        Heads must divide the width:

        >>> MultiHeadAttention(10, 4)
        Traceback (most recent call last):
        attention_primer.ShapeError: d_model is 10 and n_heads is 4: the heads must divide the width evenly
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        plan = heads.MultiHeadAttention(d_model, n_heads)  # refuses what doesn't divide, and draws no weights
        self.d_model, self.n_heads = plan.d_model, plan.n_heads
        self.in_proj = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let every token of x look around, and hand back one new vector for each.

        Args:
            x: (…, L, d_model).
            mask: Booleans, (L, L) or (…, heads or 1, L, L); True = may see. By default every token sees itself and
                its past, as decoders have it; the lists show all by default. To show all, hand in a mask of True.

        Returns:
            (…, L, d_model). What stands at a position never depends on later ones, unless the mask says so.

        Raises:
            ShapeError: If x has another width or no tokens, or the mask doesn't fit.
            TypeError: If x is no tensor of floating-point numbers, or the mask none of booleans.
            ValueError: If a query may see no key.

        Examples:
            Without a mask the future is hidden:

            >>> mha, x = MultiHeadAttention(4, 2), torch.eye(4)
            >>> torch.equal(mha(x), mha(x, causal_mask(4)))
            True
        """
        _require_width(x, self.d_model)
        q, k, v = (_cut(part, self.n_heads) for part in self.in_proj(x).chunk(3, dim=-1))
        output, _ = scaled_dot_product_attention(q, k, v, causal_mask(x.size(-2), x.device) if mask is None else mask)
        mixed: Tensor = self.out_proj(_glued(output))
        return mixed


class GroupedQueryAttention(nn.Module):
    """Let several query heads share one head of keys and values.

    What a decoder keeps of each token shrinks with the number of KV heads. Query head h reads KV head
    h // (n_heads // n_kv_heads): neighbors share, so each KV head is repeated in place. No projection has a bias.

    Args:
        d_model: The width of x.
        n_heads: How many query heads; they share d_model evenly.
        n_kv_heads: How many heads of keys and values; it must divide n_heads.

    Raises:
        ShapeError: If n_heads does not divide d_model, or n_kv_heads does not divide n_heads.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        Four query heads on two KV heads need half of the weights for keys and values:

        >>> gqa = GroupedQueryAttention(8, n_heads=4, n_kv_heads=2)
        >>> tuple(gqa.q_proj.weight.shape), tuple(gqa.k_proj.weight.shape), tuple(gqa.v_proj.weight.shape)
        ((8, 8), (4, 8), (4, 8))
        >>> gqa(torch.zeros(3, 5, 8)).shape
        torch.Size([3, 5, 8])

        Three KV heads can't serve four query heads alike:

        >>> GroupedQueryAttention(8, 4, 3)
        Traceback (most recent call last):
        attention_primer.ShapeError: n_heads is 4 and n_kv_heads is 3: the second must divide the first
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        plan = heads.MultiHeadAttention(d_model, n_heads, n_kv_heads)  # refuses what doesn't divide, draws no weights
        self.d_model, self.n_heads, self.n_kv_heads = plan.d_model, plan.n_heads, plan.n_kv_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * plan.d_k, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * plan.d_v, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let every token of x look around, and hand back one new vector for each.

        Args:
            x: (…, L, d_model).
            mask: Booleans, (L, L) or (…, heads or 1, L, L); True = may see. By default every token sees itself and
                its past.

        Returns:
            (…, L, d_model). What stands at a position never depends on later ones, unless the mask says so.

        Raises:
            ShapeError: If x has another width or no tokens, or the mask doesn't fit.
            TypeError: If x is no tensor of floating-point numbers, or the mask none of booleans.
            ValueError: If a query may see no key.

        Examples:
            A width that was not agreed on is refused:

            >>> GroupedQueryAttention(8, 4, 2)(torch.zeros(5, 6))
            Traceback (most recent call last):
            attention_primer.ShapeError: x is (5, 6): it must be (…, L, 8) with no axis empty
        """
        _require_width(x, self.d_model)
        q = _cut(self.q_proj(x), self.n_heads)
        k, v = _cut(self.k_proj(x), self.n_kv_heads), _cut(self.v_proj(x), self.n_kv_heads)
        group = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(group, dim=-3), v.repeat_interleave(group, dim=-3)
        output, _ = scaled_dot_product_attention(q, k, v, causal_mask(x.size(-2), x.device) if mask is None else mask)
        mixed: Tensor = self.o_proj(_glued(output))
        return mixed


def from_torch(module: nn.Module) -> heads.MultiHeadAttention:
    """Carry the weights of a layer to plain lists.

    PyTorch keeps a matrix as (d_out, d_in); the lists multiply a row vector with (d_in, d_out), so each is transposed.
    A float of any smaller type fits into Python's exactly. `batch_first` is no matter of weights.

    Args:
        module: `nn.MultiheadAttention`, or one of the two layers of this module.

    Returns:
        The layer on lists, with the same numbers. It shows all by default: hand it a mask where the layer hid some.

    Raises:
        TypeError: If it is another kind of module.
        ValueError: If the layer does something that the lists don't: drop weights while training, append learned or
            zero keys, read keys or values of another width; or if a weight is NaN or infinite.

    Examples:
        What a layer computes can be followed number by number:

        >>> layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
        >>> x = torch.eye(4, dtype=torch.float64)
        >>> by_torch, by_lists = layer(x, x, x)[0], from_torch(layer)(x.tolist())
        >>> torch.allclose(by_torch, torch.tensor(by_lists, dtype=torch.float64), rtol=0, atol=1e-14)
        True

        Dropout makes every call another answer, so a layer in training is refused:

        >>> from_torch(nn.MultiheadAttention(4, 2, dropout=0.1))
        Traceback (most recent call last):
        ValueError: dropout is 0.1 in training mode: lists drop nothing, so call .eval() first
    """
    match module:
        case GroupedQueryAttention():
            projections = [module.q_proj, module.k_proj, module.v_proj, module.o_proj]
            return _lists(module.n_heads, module.n_kv_heads, [p.weight for p in projections], [None] * 4)
        case MultiHeadAttention():
            n_heads, W_in, b_in = module.n_heads, module.in_proj.weight, module.in_proj.bias
        case nn.MultiheadAttention():
            _require_carriable(module)
            n_heads, W_in, b_in = module.num_heads, module.in_proj_weight, module.in_proj_bias
        case _:
            kinds = "nn.MultiheadAttention, or MultiHeadAttention or GroupedQueryAttention of torch_twin"
            raise TypeError(f"module is {type(module).__name__}: it must be {kinds}")
    W, b = [*W_in.chunk(3), module.out_proj.weight], [None] * 3 if b_in is None else [*b_in.chunk(3)]
    return _lists(n_heads, n_heads, W, [*b, module.out_proj.bias])


def to_torch(
    mha: heads.MultiHeadAttention, kind: type[nn.Module] | None = None, *, dtype: torch.dtype = torch.float64
) -> nn.Module:
    """Carry the weights of plain lists to a layer.

    Args:
        mha: The layer on lists.
        kind: `MultiHeadAttention` or `GroupedQueryAttention` of this module, or `nn.MultiheadAttention`. Defaults to
            the first, or to the second where heads share keys and values.
        dtype: Which numbers the layer shall hold. Python's floats fit exactly into the default alone.

    Returns:
        A layer of this kind with copies of the weights. `from_torch` gives back the same weights, and `to_torch` of
        `from_torch` the same layer, if the dtype is the same; a bias that is missing beside others becomes zeros.

    Raises:
        ShapeError: If the widths are of a freedom that the layer doesn't have.
        TypeError: If it is not a layer on lists, or the kind is unknown.
        ValueError: If this kind of layer has no place for something in the lists: biases, shared heads.

    Examples:
        There and back, nothing has changed:

        >>> mha = heads.MultiHeadAttention(8, 4, n_kv_heads=2)
        >>> back = from_torch(to_torch(mha))
        >>> back.W_q == mha.W_q, back.W_k == mha.W_k, back.n_kv_heads
        (True, True, 2)

        PyTorch's own layer can't share keys and values:

        >>> to_torch(mha, nn.MultiheadAttention)
        Traceback (most recent call last):
        ValueError: 4 heads share 2 heads of keys and values: MultiheadAttention has as many of both
    """
    kind = _kind_for(mha, kind)
    _require_square(mha)
    weights = [torch.tensor(W, dtype=dtype).T for W in (mha.W_q, mha.W_k, mha.W_v, mha.W_o)]
    if kind is GroupedQueryAttention:
        return _grouped(mha.d_model, mha.n_heads, mha.n_kv_heads, weights)
    state = {"in_proj.weight": torch.cat(weights[:3]), "out_proj.weight": weights[3]}
    biases = [mha.b_q, mha.b_k, mha.b_v, mha.b_o]
    if any(b is not None for b in biases):
        *b_in, b_o = (torch.tensor([0.0] * mha.d_model if b is None else b, dtype=dtype) for b in biases)
        state |= {"in_proj.bias": torch.cat(b_in), "out_proj.bias": b_o}
    return _fused(kind, mha.n_heads, state)


def from_gpt2_state_dict(state: Mapping[str, Tensor], n_heads: int, prefix: str = "") -> MultiHeadAttention:
    """Load the attention of one block of GPT-2.

    GPT-2 projects by a `Conv1D`, which keeps its matrix as (d_in, d_out), the transpose of what `nn.Linear` keeps. Its
    c_attn is fused in the order q, k, v. Dropout is not part of a state, and so not carried.

    Args:
        state: Names and tensors, with c_attn.weight, (d_model, 3·d_model), c_attn.bias, c_proj.weight and
            c_proj.bias.
        n_heads: How many heads; the tensors don't tell.
        prefix: What stands before these names, such as "h.0.attn." in a whole model.

    Returns:
        The layer, with copies of the weights, of their type and on their device.

    Raises:
        KeyError: If a name is missing.
        ShapeError: If a tensor has another shape, or n_heads does not divide the width.
        ValueError: If there is something beside them that the layer has no place for.

    Examples:
        The fused matrix is turned round:

        >>> state = {"c_attn.weight": torch.zeros(4, 12), "c_attn.bias": torch.zeros(12)}
        >>> state |= {"c_proj.weight": torch.eye(4), "c_proj.bias": torch.ones(4)}
        >>> from_gpt2_state_dict(state, n_heads=2).in_proj.weight.shape
        torch.Size([12, 4])

        A model that projects by `nn.Linear` keeps its matrices the other way round:

        >>> from_gpt2_state_dict(state | {"c_attn.weight": torch.zeros(12, 4)}, n_heads=2)
        Traceback (most recent call last):
        attention_primer.ShapeError: c_attn.weight is (12, 4): it must be (4, 12)
    """
    names = ["c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias"]
    # Old checkpoints carry the causal mask, and the number that stood for −∞.
    tensors = W_in, b_in, W_out, b_out = _picked(state, prefix, names, ignored=["bias", "masked_bias"])
    d_model = W_out.size(-1)
    _require_shapes(names, tensors, [(d_model, 3 * d_model), (3 * d_model,), (d_model, d_model), (d_model,)])
    turned = {"in_proj.weight": W_in.T, "in_proj.bias": b_in, "out_proj.weight": W_out.T, "out_proj.bias": b_out}
    return _fused(MultiHeadAttention, n_heads, turned)


def from_llama_state_dict(
    state: Mapping[str, Tensor], n_heads: int, n_kv_heads: int, prefix: str = ""
) -> GroupedQueryAttention:
    """Load the attention of one block of Llama, without the rotation of its queries and keys.

    Llama turns queries and keys by an angle that grows with the position (RoPE) before it matches them. That has no
    weights and is not carried: the layer answers as Llama would if all tokens stood at one position.

    Args:
        state: Names and tensors, with q_proj.weight, k_proj.weight, v_proj.weight and o_proj.weight, each kept as
            (d_out, d_in), as `nn.Linear` keeps them.
        n_heads: How many query heads; the tensors don't tell.
        n_kv_heads: How many heads of keys and values.
        prefix: What stands before these names, such as "model.layers.0.self_attn." in a whole model.

    Returns:
        The layer, with copies of the weights, of their type and on their device.

    Raises:
        KeyError: If a name is missing.
        ShapeError: If a tensor has another shape, or the heads don't divide evenly.
        ValueError: If there is something beside them that the layer has no place for, such as a bias.

    Examples:
        Four query heads on two KV heads:

        >>> state = {"q_proj.weight": torch.eye(8), "k_proj.weight": torch.zeros(4, 8)}
        >>> state |= {"v_proj.weight": torch.zeros(4, 8), "o_proj.weight": torch.eye(8)}
        >>> from_llama_state_dict(state, n_heads=4, n_kv_heads=2).n_kv_heads
        2

        A bias would change the answer, so it is never dropped in silence:

        >>> from_llama_state_dict(state | {"q_proj.bias": torch.zeros(8)}, n_heads=4, n_kv_heads=2)
        Traceback (most recent call last):
        ValueError: the state holds q_proj.bias: the layer has no place for it
    """
    names = ["q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"]
    # Old checkpoints carry the speeds of the rotation.
    weights = _picked(state, prefix, names, ignored=["rotary_emb.inv_freq"])
    d_model = weights[0].size(-1)
    d_kv = n_kv_heads * heads.MultiHeadAttention(d_model, n_heads, n_kv_heads).d_k
    _require_shapes(names, weights, [(d_model, d_model), (d_kv, d_model), (d_kv, d_model), (d_model, d_model)])
    return _grouped(d_model, n_heads, n_kv_heads, weights)


def _require_fit(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _require_floats(tensor, name)
        if tensor.dim() < 2 or tensor.numel() == 0:
            raise ShapeError(f"{name} is {tuple(tensor.shape)}: it must be (…, L, d) with no axis empty")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        shapes = f"q is {tuple(q.shape)}, k is {tuple(k.shape)} and v is {tuple(v.shape)}"
        raise ShapeError(f"{shapes}: what stands before the last two axes must be the same")
    if q.size(-1) != k.size(-1):
        raise ShapeError(f"q is {tuple(q.shape)} and k is {tuple(k.shape)}: queries and keys must be equally wide")
    if k.size(-2) != v.size(-2):
        raise ShapeError(f"k is {tuple(k.shape)} and v is {tuple(v.shape)}: every key needs one value")


def _require_floats(tensor: Tensor, name: str) -> None:
    _require_tensor(tensor, name)
    if not tensor.is_floating_point():
        raise TypeError(f"{name} holds {tensor.dtype}: it must hold floating-point numbers")


def _require_tensor(tensor: Tensor, name: str) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} is {shown(tensor)}: it must be a tensor")


def _require_mask(mask: Tensor, scores: Tensor) -> None:
    _require_tensor(mask, "mask")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask holds {mask.dtype}: it must hold True (may see) or False (hidden), since a 1 means hidden elsewhere"
        )
    here, whole = tuple(mask.shape), tuple(scores.shape)
    is_table = here == whole[-2:]
    if not is_table and (len(here) != len(whole) or any(a not in (1, b) for a, b in zip(here, whole, strict=True))):
        or_whole = f", or {whole} with any axis 1" if len(whole) > 2 else ""
        raise ShapeError(f"mask is {here}: it must be {whole[-2:]}{or_whole}")
    if mask.is_meta or torch.compiler.is_compiling():  # there is a shape and no numbers
        return
    sees = mask.any(dim=-1)
    if not sees.all():
        *front, i = (~sees).nonzero()[0].tolist()
        where = f" of mask{front}" if front else ""
        raise ValueError(f"query {i}{where} may see no key: every query needs at least one")


def _require_width(x: Tensor, d_model: int) -> None:
    _require_floats(x, "x")
    if x.dim() < 2 or x.size(-1) != d_model or x.numel() == 0:
        raise ShapeError(f"x is {tuple(x.shape)}: it must be (…, L, {d_model}) with no axis empty")


def _cut(projected: Tensor, n_heads: int) -> Tensor:
    # (…, L, n_heads·d_head) → (…, L, n_heads, d_head) → (…, n_heads, L, d_head)
    return projected.view(*projected.shape[:-1], n_heads, -1).transpose(-3, -2)


def _glued(output: Tensor) -> Tensor:
    # A view needs the heads of a token side by side in memory, and transposing moves nothing.
    side_by_side = output.transpose(-3, -2).contiguous()
    return side_by_side.view(*side_by_side.shape[:-2], -1)


def _lists(
    n_heads: int, n_kv_heads: int, weights: list[Tensor], biases: list[Tensor | None]
) -> heads.MultiHeadAttention:
    W_q, W_k, W_v, W_o = (W.T.tolist() for W in weights)
    b_q, b_k, b_v, b_o = (None if b is None else b.tolist() for b in biases)
    return heads.MultiHeadAttention.from_weights(
        W_q, W_k, W_v, W_o, n_heads, n_kv_heads, b_q=b_q, b_k=b_k, b_v=b_v, b_o=b_o
    )


def _require_carriable(module: nn.MultiheadAttention) -> None:
    if module.training and module.dropout > 0:
        raise ValueError(f"dropout is {module.dropout} in training mode: lists drop nothing, so call .eval() first")
    if module.bias_k is not None or module.bias_v is not None:
        raise ValueError("add_bias_kv is True: lists have no place for a learned key and value beside those of tokens")
    if module.add_zero_attn:
        raise ValueError(
            "add_zero_attn is True: lists have no place for a key and value of zeros beside those of tokens"
        )
    if module.in_proj_weight is None:
        widths = f"kdim is {module.kdim} and vdim is {module.vdim}"
        raise ValueError(f"{widths}: keys and values must be read from the width {module.embed_dim} of the queries")


def _kind_for(mha: heads.MultiHeadAttention, kind: type[nn.Module] | None) -> type[nn.Module]:
    if not isinstance(mha, heads.MultiHeadAttention):
        raise TypeError(f"mha is {type(mha).__name__}: it must be MultiHeadAttention of attention_primer")
    is_shared = mha.n_heads != mha.n_kv_heads
    if kind is None:
        kind = GroupedQueryAttention if is_shared else MultiHeadAttention
    if kind not in (MultiHeadAttention, GroupedQueryAttention, nn.MultiheadAttention):
        kinds = "MultiHeadAttention, GroupedQueryAttention or nn.MultiheadAttention"
        raise TypeError(f"kind is {getattr(kind, '__name__', kind)}: it must be {kinds}")
    if kind is GroupedQueryAttention:
        if any(b is not None for b in (mha.b_q, mha.b_k, mha.b_v, mha.b_o)):
            raise ValueError("mha has biases: GroupedQueryAttention has no place for them")
    elif is_shared:
        shared = f"{mha.n_heads} heads share {mha.n_kv_heads} heads of keys and values"
        raise ValueError(f"{shared}: {kind.__name__} has as many of both")
    return kind


def _require_square(mha: heads.MultiHeadAttention) -> None:
    # The lists are free to choose these widths; the layers of PyTorch know one.
    d_out, d_head = len(mha.W_o[0]), mha.d_model / mha.n_heads
    if (mha.d_context, d_out) != (mha.d_model, mha.d_model):
        raise ShapeError(f"d_model is {mha.d_model}, d_context {mha.d_context}, d_out {d_out}: they must be one width")
    if (mha.d_k, mha.d_v) != (d_head, d_head):
        raise ShapeError(f"d_k is {mha.d_k} and d_v is {mha.d_v}: they must be d_model / n_heads, {d_head:g}")


def _fused(kind: Callable[..., Layer], n_heads: int, state: dict[str, Tensor]) -> Layer:
    options = {"bias": "in_proj.bias" in state}
    if kind is nn.MultiheadAttention:  # it writes in_proj_weight where a linear layer has in_proj.weight
        options["batch_first"] = True
        state = {name.replace("in_proj.", "in_proj_"): tensor for name, tensor in state.items()}
    return _filled(lambda: kind(state["out_proj.weight"].size(0), n_heads, **options), state)


def _grouped(d_model: int, n_heads: int, n_kv_heads: int, weights: list[Tensor]) -> GroupedQueryAttention:
    names = ["q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"]
    return _filled(lambda: GroupedQueryAttention(d_model, n_heads, n_kv_heads), dict(zip(names, weights, strict=True)))


def _filled(build: Callable[[], Layer], state: dict[str, Tensor]) -> Layer:
    with torch.device("meta"):  # so that no random numbers are drawn only to be overwritten
        layer = build()
    copies = {name: tensor.detach().clone(memory_format=torch.contiguous_format) for name, tensor in state.items()}
    layer.load_state_dict(copies, assign=True)
    return layer


def _picked(state: Mapping[str, Tensor], prefix: str, names: list[str], ignored: list[str]) -> list[Tensor]:
    here = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
    for name in names:
        if name not in here:
            found = [other.removesuffix(name) for other in state if other.endswith(f".{name}")]
            hint = f"a prefix such as {found[0]!r} finds one" if found else "the layer needs it"
            raise KeyError(f"the state holds no {prefix}{name}: {hint}")
    for name in here:
        if name not in names + ignored:
            raise ValueError(f"the state holds {prefix}{name}: the layer has no place for it")
    return [here[name] for name in names]


def _require_shapes(names: list[str], tensors: list[Tensor], shapes: list[tuple[int, ...]]) -> None:
    for name, tensor, shape in zip(names, tensors, shapes, strict=True):
        if tuple(tensor.shape) != shape:
            raise ShapeError(f"{name} is {tuple(tensor.shape)}: it must be {shape}")
