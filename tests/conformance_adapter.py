"""Ask the library what the operators Attention, Softmax and LogSoftmax of ONNX ask.

Here arrays are cut into heads, masks put together, and batches looped over; whatever is computed, the library computes.
Every function takes a node's inputs and attributes under their own names and hands back its outputs under theirs.
"""

from math import inf
from typing import Any, NamedTuple

import pytest

from attention_primer import (
    Attention,
    causal_mask,
    combine_masks,
    log_softmax,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
    unite_masks,
)
from attention_primer.heads import grouped_attention

np = pytest.importorskip("numpy", reason="NumPy is not installed: pip install -e '.[conformance]'")

Array = Any
Mask = list[list[bool]]
Outputs = dict[str, Array]


def run_softmax(x: Array, *, axis: int = -1) -> Outputs:
    return {"y": np.apply_along_axis(softmax, axis, x)}


def run_log_softmax(x: Array, *, axis: int = -1) -> Outputs:
    return {"y": np.apply_along_axis(log_softmax, axis, x)}


def run_attention(  # the operator's own arguments, in its order
    Q: Array,
    K: Array,
    V: Array,
    attn_mask: Array = None,
    past_key: Array = None,
    past_value: Array = None,
    nonpad_kv_seqlen: Array = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,  # noqa: ARG001  # the library's floats are as wide as any that it names
) -> Outputs:
    q = by_heads(Q, q_num_heads)
    k = after(past_key, by_heads(K, kv_num_heads))
    v = after(past_value, by_heads(V, kv_num_heads))
    batch, n_heads, n_q, _ = q.shape
    n_k, n_past = k.shape[2], k.shape[2] - K.shape[-2]
    n_real = [None] * batch if nonpad_kv_seqlen is None else nonpad_kv_seqlen.tolist()
    right = 0 if is_causal else right_window_size
    near = [near_and_real(n_q, n_k, n_past, n, left_window_size, right) for n in n_real]
    kept, bias = kept_and_bias(attn_mask, (batch, n_heads, n_q, n_k))
    kv_head = kv_heads(n_heads, k.shape[1])

    y, qk = np.zeros((batch, n_heads, n_q, v.shape[-1])), np.zeros((batch, n_heads, n_q, n_k))
    for b, h in np.ndindex(batch, n_heads):
        mask = np.array(combine_masks(kept[b, h], near[b]))
        head = Head(q[b, h], k[b, kv_head[h]], v[b, kv_head[h]], mask, bias[b, h], scale, softcap or None)
        y[b, h], weights = head.attend()
        qk[b, h] = weights if qk_matmul_output_mode == 3 else head.scores(qk_matmul_output_mode)
    y = y if Q.ndim == 4 else y.swapaxes(1, 2).reshape(batch, n_q, -1)
    return {"Y": y, "present_key": k, "present_value": v, "qk_matmul_output": qk}


class Head(NamedTuple):
    """One head of one sequence."""

    q: Array
    k: Array
    v: Array
    mask: Array
    bias: Array
    scale: float | None
    softcap: float | None

    def attend(self) -> tuple[Array, Array]:
        """Give output and weights, each with a row of zeros where the library refuses a query that may see no key."""
        output, weights = np.zeros((len(self.q), self.v.shape[1])), np.zeros(self.mask.shape)
        sees_a_key = (self.mask & (self.bias > -inf)).any(axis=1)
        if sees_a_key.any():
            output[sees_a_key], weights[sees_a_key] = self.of_queries(sees_a_key)
        for i in np.flatnonzero(~sees_a_key):
            with pytest.raises(ValueError, match="query 0 may see no key"):
                self.of_queries([i])
        return output, weights

    def of_queries(self, chosen: Array) -> Attention:
        q, mask, bias = self.q[chosen], self.mask[chosen], self.bias[chosen]
        return scaled_dot_product_attention(q, self.k, self.v, mask, bias=bias, scale=self.scale, softcap=self.softcap)

    def scores(self, mode: int) -> Array:
        """Give the scores: in mode 0 scaled, in mode 1 capped as well, in mode 2 with bias and mask as well.

        They are read off the shares. A key of zeros scores 0, so a share divided by its share is e to the score.
        """
        k = np.vstack([self.k, np.zeros(self.k.shape[1])])
        one_more = ((0, 0), (0, 1))
        weights = scaled_dot_product_attention(
            self.q,
            k,
            k,
            np.pad(self.mask, one_more, constant_values=True) if mode == 2 else None,
            bias=np.pad(self.bias, one_more) if mode == 2 else None,
            scale=self.scale,
            softcap=self.softcap if mode > 0 else None,
        ).weights
        with np.errstate(divide="ignore"):  # a hidden key has share 0, and the logarithm −∞
            return np.log([[w / w_i[-1] for w in w_i[:-1]] for w_i in weights])


def by_heads(x: Array, n_heads: int | None) -> Array:
    """Cut (batch, n, n_heads·d) into (batch, n_heads, n, d), and leave alone what is cut already."""
    x = x.astype(np.float64)
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], n_heads, -1).swapaxes(1, 2)


def after(past: Array, new: Array) -> Array:
    return new if past is None else np.concatenate([past.astype(np.float64), new], axis=2)


def kept_and_bias(attn_mask: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Read the mask: its True keeps, its numbers are a bias, and keys beyond its end are hidden."""
    kept, bias = np.ones(shape, dtype=bool), np.zeros(shape)
    if attn_mask is None:
        return kept, bias
    table, hidden = (attn_mask, False) if attn_mask.dtype == bool else (attn_mask.astype(np.float64), -inf)
    missing = [(0, 0)] * (table.ndim - 1) + [(0, shape[-1] - table.shape[-1])]
    table = np.broadcast_to(np.pad(table, missing, constant_values=hidden), shape)
    return (table, bias) if hidden is False else (kept, table)


def kv_heads(n_heads: int, n_kv_heads: int) -> list[int]:
    """Ask the library which KV head each query head reads: the value of each is its own number."""
    one, numbers = [[1.0]], [[[float(h)]] for h in range(n_kv_heads)]
    return [int(head.output[0][0]) for head in grouped_attention([one] * n_heads, [one] * n_kv_heads, numbers)]


def near_and_real(n_q: int, n_k: int, n_past: int, n_real: int | None, left: int, right: int) -> Mask:
    """Let queries see what is near and no filler. They come after the past, or are the last of the real tokens."""
    near = band(n_q, n_k, n_past if n_real is None else n_real - n_q, left, right)
    return combine_masks(near, padding_mask([n_real is None or j < n_real for j in range(n_k)], n_q))


def band(n_q: int, n_k: int, offset: int, left: int, right: int) -> Mask:
    """Let query i, at position i + offset, see from `left` keys before it to `right` keys after it; -1 is no bound.

    The offset may be negative: then the first queries stand before all keys.
    """
    before = max(0, -offset)
    n = before + max(offset + n_q, n_k)
    past, future = (causal_mask(n) if w == -1 else sliding_window_mask(n, window=w + 1) for w in (left, right))
    both = unite_masks(past, list(zip(*future, strict=True)))
    return [row[before : before + n_k] for row in both[before + offset : before + offset + n_q]]
