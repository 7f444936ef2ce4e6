"""The library gives what PyTorch gives on the samples that PyTorch tests its own attention with."""

from typing import Any

import pytest

from attention_primer import causal_mask, scaled_dot_product_attention

torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[torch]'")
pytest.importorskip("expecttest", reason="PyTorch's samples need expecttest: pip install expecttest")
samples = pytest.importorskip("torch.testing._internal.common_methods_invocations")

(OPERATOR,) = (op for op in samples.op_db if op.name == "nn.functional.scaled_dot_product_attention")
# Dropout is drawn at random, and no part of the library.
SAMPLES = [s for s in OPERATOR.sample_inputs("cpu", torch.float64) if s.kwargs["dropout_p"] == 0]


def by_torch(sample: Any) -> Any:
    return OPERATOR.op(sample.input, *sample.args, **sample.kwargs)


def by_lists(sample: Any) -> Any:
    """Loop over whatever stands before the last two axes; PyTorch's causal mask lines up the first query and key."""
    q, (k, v) = sample.input, sample.args
    n_q, n_k = q.shape[-2], k.shape[-2]
    mask = causal_mask(n_k)[:n_q] if sample.kwargs["is_causal"] else None
    bias = sample.kwargs["attn_mask"].tolist() if "attn_mask" in sample.kwargs else None
    front = torch.broadcast_shapes(*(t.shape[:-2] for t in (q, k, v)))
    heads = zip(*(t.expand(*front, -1, -1).flatten(0, -3).tolist() for t in (q, k, v)), strict=True)
    outputs = [scaled_dot_product_attention(q_h, k_h, v_h, mask, bias=bias).output for q_h, k_h, v_h in heads]
    return torch.tensor(outputs, dtype=torch.float64).view(*front, n_q, -1)


def is_close(sample: Any) -> bool:
    """Allow a few last places of a score near 230, the largest here, for both sides add up in another order."""
    ours, theirs = by_lists(sample), by_torch(sample)
    return ours.shape == theirs.shape and bool((ours - theirs).abs().max() <= 1e-12)


@pytest.mark.parametrize("sample", SAMPLES, ids=map(str, range(len(SAMPLES))))
def test_a_sample_gives_what_it_gives_in_torch(sample: Any) -> None:
    assert is_close(sample)


def test_torch_has_thirteen_samples_without_dropout_and_all_agree() -> None:
    passed = sum(map(is_close, SAMPLES))
    print(f"PyTorch's samples of scaled_dot_product_attention {passed}/{len(SAMPLES)}")  # noqa: T201  # pytest -rP
    assert passed == len(SAMPLES) == 13
