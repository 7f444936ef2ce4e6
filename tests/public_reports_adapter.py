"""Turn a public report into calls of the library: one plain function for each kind of question.

Every function takes a report's inputs and hands back answers under the names that the report expects.
"""

from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from math import exp
from typing import Any

import pytest

from attention_primer import (
    KVCache,
    MultiHeadAttention,
    OnlineSoftmax,
    ShapeError,
    alibi_slopes,
    attention_cost,
    causal_mask,
    combine_masks,
    dot,
    flash_attention,
    kv_cache_bytes,
    log_softmax,
    matmul,
    mix,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
    softmax_jacobian,
)

Answer = dict[str, Any]
Table = list[list[float]]
Mask = list[list[bool]]


def identity(n: int) -> Table:
    return [[float(i == j) for j in range(n)] for i in range(n)]


def seen(weights: Table) -> list[list[int]]:
    return [[j for j, w in enumerate(row) if w > 0] for row in weights]


# Attention.


def mask_of(given: dict[str, Any]) -> Mask | None:
    """Combine what the report says about who may see whom; for the library, True also means: may see."""
    n_q, n_k = len(given["q"]), len(given["k"])
    masks = []
    if "keep_mask" in given:
        masks.append(given["keep_mask"])
    if "window_total" in given:
        masks.append(sliding_window_mask(n_q, n_k, window=given["window_total"]))
    elif given.get("causal") == "bottom_right" or ("causal" in given and n_q == n_k):
        masks.append(causal_mask(n_q, n_k))
    return combine_masks(*masks) if masks else None


def attend(given: dict[str, Any], **more: Any) -> Answer:
    mask, bias = mask_of(given), given.get("bias")
    output, weights = scaled_dot_product_attention(
        given["q"], given["k"], given["v"], mask, bias=bias, scale=given.get("scale"), **more
    )
    return {"weights": weights, "output": output}


def attend_in_tiles(given: dict[str, Any], tile: int) -> Answer:
    mask, bias, scale = mask_of(given), given.get("bias"), given.get("scale")
    q, k, v = given["q"], given["k"], given["v"]
    return {"output": flash_attention(q, k, v, mask, bias=bias, scale=scale, tile_q=tile, tile_k=tile).output}


def sdpa(given: dict[str, Any]) -> Answer:
    """Ask for attention; where a row sees nothing it is refused, the report writes zeros, and the others must match."""
    empty = empty_rows(given)
    if not empty:
        answer = attend(given)
        lengths = {"keys_per_row": [len(row) for row in seen(answer["weights"])]}
        return {**answer, "visible_keys": seen(answer["weights"]), **lengths}
    with pytest.raises(ValueError, match=r"query 0 may see no key|the first queries see nothing"):
        attend(given)
    rest = [i for i in range(len(given["q"])) if i not in empty]
    chosen = {**given, "q": [given["q"][i] for i in rest]}
    if "keep_mask" in given:
        chosen["keep_mask"] = [given["keep_mask"][i] for i in rest]
    answer = attend(chosen)
    return {name: with_zeros(rows, rest, len(given["q"])) for name, rows in answer.items()}


def empty_rows(given: dict[str, Any]) -> list[int]:
    n_q, n_k = len(given["q"]), len(given["k"])
    past = range(n_q - n_k) if given.get("causal") == "bottom_right" else []
    hidden = [i for i, row in enumerate(given.get("keep_mask", [])) if not any(row)]
    return sorted({*past, *hidden})


def with_zeros(rows: Table, places: list[int], n: int) -> Table:
    table = [[0.0] * len(rows[0]) for _ in range(n)]
    for i, row in zip(places, rows, strict=True):
        table[i] = row
    return table


def left_pad(given: dict[str, Any]) -> Answer:
    """Put padding in front, hide it, and ask for the real tokens."""
    pads = [given["pad_row"]] * given["n_pad"]
    n_real, is_real = len(given["q"]), given["key_is_real"]
    mask = combine_masks(causal_mask(n_real, len(is_real)), padding_mask(is_real, n_real))
    k = [row[:1] * len(given["k"][0]) for row in pads] + given["k"]
    v = [row[:1] * len(given["v"][0]) for row in pads] + given["v"]
    output, weights = scaled_dot_product_attention(given["q"], k, v, mask)
    assert [row[: len(pads)] for row in weights] == [[0.0] * len(pads)] * n_real
    positions = [sum(row) - 1 for row in mask]
    return {"weights": [row[len(pads) :] for row in weights], "output": output, "position_ids": positions}


# Heads.


def layer(given: dict[str, Any]) -> MultiHeadAttention:
    named = {x: given[f"w{x}"] for x in "qkvo"}
    W = {x: identity(int(w.split()[1])) if isinstance(w, str) else w for x, w in named.items()}
    return MultiHeadAttention.from_weights(W["q"], W["k"], W["v"], W["o"], given["n_heads"], given["n_kv_heads"])


def mha(given: dict[str, Any]) -> Answer:
    mha = layer(given)
    heads = mha.attend(given["x"])
    maps = {f"{n}q/{n_kv}kv": head_to_kv(n, n_kv) for n, n_kv in ((8, 2), (4, 4), (6, 3), (4, 1))}
    return {
        "weights_per_head": [head.weights for head in heads],
        "output": mha(given["x"]),
        "head_to_kv": head_to_kv(given["n_heads"], given["n_kv_heads"]),
        "more_maps": maps,
    }


def head_to_kv(n_heads: int, n_kv_heads: int) -> list[int]:
    """Let every KV head hand over its own number, and see which number each head brings back."""
    one = [[1.0] * n_heads]
    W_v = [[float(g) for g in range(n_kv_heads)]]
    mha = MultiHeadAttention.from_weights(one, [[1.0] * n_kv_heads], W_v, [[1.0]] * n_heads, n_heads, n_kv_heads)
    return [int(head.output[0][0]) for head in mha.attend([[1.0]])]


# Caches and positions.


def rolling_cache(given: dict[str, Any]) -> Answer:
    """Fill a cache with a window, append, and change one token after the other to see which ones count."""
    window, new = given["window_total"], given["new_positions"]
    mha, n = MultiHeadAttention(4, 2), new[-1] + 1
    x = [[(3 * i + 2 * c) % 7 - 2.5 for c in range(4)] for i in range(n)]

    def read(x: Table, capacity: int) -> tuple[Table, range]:
        cache = KVCache(mha, window=window, capacity=capacity)
        for row in x[: new[0]]:
            cache.extend([row])
        assert list(cache.positions) == given["cached_positions"]
        return cache.extend(x[new[0] :]), cache.positions

    largest = window - 1 + len(new)
    outputs, positions = read(x, largest)
    with pytest.raises(ValueError, match="the cache has room for"):
        read(x, largest - 1)
    visible: list[list[int]] = [[] for _ in new]
    for j in range(n):
        changed, _ = read([[-c for c in row] if i == j else row for i, row in enumerate(x)], largest)
        for i, (before, after) in enumerate(zip(outputs, changed, strict=True)):
            if before != after:
                visible[i].append(j)
    mask = sliding_window_mask(n, window=window)
    assert visible == [[j for j in range(n) if mask[i][j]] for i in new]
    return {"visible_positions": visible, "cache_after": list(positions), "cache_len_max_during_call": largest}


def positions(given: dict[str, Any]) -> Answer:
    cache = KVCache(MultiHeadAttention(1, 1))
    cache.extend([[1.0]] * given["prompt_len"])
    next_positions = []
    for _ in range(given["new_tokens"]):
        cache.extend([[1.0]])
        next_positions.append(cache.positions[-1])
    return {"next_positions": next_positions}


# Softmax.


def softmax_rows(given: dict[str, Any]) -> Answer:
    return {"": [softmax(row) for row in given["rows"]]}


def one_softmax(given: dict[str, Any]) -> Answer:
    return {"": softmax(given["x"])}


def one_log_softmax(given: dict[str, Any]) -> Answer:
    return {"": log_softmax(given["x"])}


def softmax1_rows(given: dict[str, Any]) -> Answer:
    """A one in the denominator is one more key with a score of 0 and nothing to hand over."""
    return {"": [softmax([*row, 0.0])[:-1] for row in given["rows"]]}


def blocks(n: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, n, size)]


def online(scores: list[float], values: Table, parts: list[slice]) -> OnlineSoftmax:
    """See every part on its own, and merge what was seen."""
    whole = OnlineSoftmax()
    for part in parts:
        one = OnlineSoftmax()
        for score, value in zip(scores[part], values[part], strict=True):
            one.add(score, value)
        whole.merge(one)
    return whole


def online_softmax(given: dict[str, Any]) -> list[Answer]:
    scores, values = given["scores"], given["values"]
    runs = [online(scores, values, blocks(len(scores), size)) for size in given["block_sizes"]]
    return [{"output": run.output, "weights": [exp(s - run.largest) / run.total for s in scores]} for run in runs]


def tiled(given: dict[str, Any]) -> list[Answer]:
    """Ask for attention row by row and block by block, beside asking at once."""
    q, k, v = given["q"], given["k"], given["v"]
    scores = [[dot(q_i, k_j) / len(q_i) ** 0.5 for k_j in k] for q_i in q]
    return [
        {"output": [online(s_i, v, blocks(len(k), size)).output for s_i in scores]} for size in given["block_sizes"]
    ]


def sink(given: dict[str, Any]) -> list[Answer]:
    """A sink is one more key that hands over nothing."""
    scores, values = [*given["scores"], given["sink"]], [*given["values"], [0.0]]
    *weights, kept_back = softmax(scores)
    at_once = {
        "weights": weights,
        "output": mix(weights, given["values"]),
        "rescale_factor": 1 - kept_back,
        "weights_sum": sum(weights),
    }
    ends = list(accumulate([0, *given["splits"], 1]))
    in_parts = online(scores, values, [slice(start, end) for start, end in pairwise(ends)])
    return [at_once, {"output": in_parts.output}]


def slopes(given: dict[str, Any]) -> Answer:
    return {str(n_heads): alibi_slopes(n_heads) for n_heads in given["n_heads"]}


def jacobian(given: dict[str, Any]) -> Answer:
    J = softmax_jacobian(softmax(given["x"]))
    upstream = given.get("upstream", [0.0] * len(J))
    return {"jacobian": J, "vjp": mix(upstream, J), "entry_1_1": J[1][1]}


# Counts.


def count(given: dict[str, Any]) -> Answer:
    """Find out what is to be counted."""
    if "n_layer" in given:
        return flops_a_token(given)
    if "n" in given:
        return flops(given)
    return widths(given) if "n_kv_heads" in given else parameters(given)


def flops(given: dict[str, Any]) -> Answer:
    cost = attention_cost(given["n"], given["d_head"] * given["n_heads"], n_heads=given["n_heads"])
    both = cost.scores + cost.mix
    return {"flops": both, "qk": cost.scores, "pv": cost.mix, "macs": both // 2}


def flops_a_token(given: dict[str, Any]) -> Answer:
    cost = attention_cost(given["T"], given["d_head"] * given["n_head"], n_heads=given["n_head"])
    forward = given["n_layer"] * (cost.scores + cost.mix) // given["T"]
    return {"forward": forward, "training": 3 * forward}


def widths(given: dict[str, Any]) -> Answer:
    mha = MultiHeadAttention(given["d_model"], given["n_heads"], given["n_kv_heads"])
    q, k, v = (len(W[0]) for W in (mha.W_q, mha.W_k, mha.W_v))
    assert (k + v) * given["d_model"] == mha.kv_params
    return {"q": q, "k": k, "v": v, "total": q + k + v}


def parameters(given: dict[str, Any]) -> Answer:
    """Count weights as what one token multiplies; a small layer is counted number by number as well."""
    d = given["d_model"]
    counts = {attention_cost(1, d, n_heads=h).projections // 2 for h in given["n_heads"]}
    kv_counts = {MultiHeadAttention(d, h).kv_params for h in given["n_heads"]}
    for h in given["n_heads"]:
        small = MultiHeadAttention(24, h)
        assert sum(len(row) for W in (small.W_q, small.W_k, small.W_v, small.W_o) for row in W) == 4 * 24 * 24
    [weights], [half] = counts, kv_counts
    assert 2 * half == weights
    return {"without_bias": weights, "with_bias": weights + 4 * d, "depends_on_heads": len(counts) > 1}


def kv_bytes(given: dict[str, Any]) -> Answer:
    sizes = given["n_layers"], given["n_kv_heads"], given["d_head"], given["bytes_per_number"]
    n_bytes = kv_cache_bytes(given["tokens"], *sizes)
    return {"bytes": n_bytes, "per_token": kv_cache_bytes(1, *sizes), "gib": n_bytes / 2**30, "gb": n_bytes / 10**9}


# Errors and shared rows.


def refused(given: dict[str, Any]) -> Answer:
    for call in calls(given):
        with pytest.raises(ShapeError) as caught:
            call()
    return {"raises": "ValueError", "message_contains": [word for word in ("10", "4") if word in str(caught.value)]}


def calls(given: dict[str, Any]) -> list[Callable[[], Any]]:
    if "d_model" in given:
        return [lambda: MultiHeadAttention(given["d_model"], given["n_heads"], given["n_kv_heads"])]
    return [partial(call_of, one) for one in given["cases"]]


def call_of(one: dict[str, Any]) -> Any:
    if one["call"] == "sdpa":
        return attend(one)
    return {"dot": dot, "matmul": matmul}[one["call"]](one["a"], one["b"])  # type: ignore[operator]


def shared_rows(given: dict[str, Any]) -> Answer:
    assert given["call"] == "causal_mask(3)"
    mask = causal_mask(3)
    visible = [[j for j, may_see in enumerate(row) if may_see] for row in mask]
    mask[0][2] = True
    return {
        "visible_keys": visible,
        "rows_share_object": mask[1:] != causal_mask(3)[1:] or len({id(row) for row in mask}) < 3,
        "inputs_unchanged": unchanged(),
    }


def unchanged() -> bool:
    x, mask = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], causal_mask(3)
    output, weights = scaled_dot_product_attention(x, x, x, mask)
    product = matmul(x, identity(2))
    for result in (output, weights, product):
        result[0][0] = 99.0
    return (x, mask) == ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], causal_mask(3))


ANSWERS: dict[str, Callable[[dict[str, Any]], Answer | list[Answer]]] = {
    "sdpa": sdpa,
    "mha": mha,
    "left_pad": left_pad,
    "rolling_cache": rolling_cache,
    "positions": positions,
    "softmax": one_softmax,
    "softmax_rows": softmax_rows,
    "log_softmax": one_log_softmax,
    "softmax1_rows": softmax1_rows,
    "online_softmax": online_softmax,
    "sink": sink,
    "jacobian": jacobian,
    "int": count,
    "kv_bytes": kv_bytes,
    "error": refused,
    "alias": shared_rows,
    "alibi_slopes": slopes,
}


def answers(report: dict[str, Any]) -> list[Answer]:
    """Answer a report, in every way that the library knows."""
    given = report["inputs"]
    answer = ANSWERS[report["op"]](given)
    ways = answer if isinstance(answer, list) else [answer]
    if report["op"] == "sdpa" and not empty_rows(given):
        ways = [*ways, *(attend_in_tiles(given, tile) for tile in given.get("block_sizes", [1, 2]))]
    if report["op"] == "sdpa" and "block_sizes" in given:
        ways = [*ways, *tiled(given)]
    if "equivalent_bias" in given:
        ways = [*ways, attend({**given, "bias": given["equivalent_bias"]})]
    if "equivalent_call" in given:
        part = len(given["q"][0]) ** -0.25
        q, k = ([[x * part for x in row] for row in given[name]] for name in "qk")
        ways = [*ways, attend({**given, "q": q, "k": k, "scale": 1})]
    return ways
