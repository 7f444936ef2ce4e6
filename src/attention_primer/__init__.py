"""Learn the attention mechanism from nothing, with every number proven.

From the ground up; a module imports only from the rungs above its own row:

| rung | names |
|---|---|
| vectors | `dot`, `mix`, `matmul`, `transpose`, `shape`, `ShapeError` |
| softmaxes | `softmax`, `log_softmax`, `softmax_jacobian`, `OnlineSoftmax` |
| masks | `causal_mask`, `sliding_window_mask`, `padding_mask`, `combine_masks`, `read_mask`, `write_mask` |
| | `strided_mask`, `global_mask`, `unite_masks` |
| biases | `alibi_slopes`, `alibi_bias` |
| costs | `attention_cost`, `crossover_length`, `kv_cache_bytes` |
| heatmaps | `Heatmap` |
| attention | `scaled_dot_product_attention`, `Attention` |
| heads | `MultiHeadAttention` |
| tiles | `flash_attention` |
| recurrences | `linear_attention`, `linear_attention_weights` |
| gradients | `attention_gradients` |
| caches | `KVCache` |
| circuits | `previous_token_head`, `offset_head`, `sink_head`, `induction_circuit`, `name_pattern` |
| examples | `worked_example_it`, `worked_example_two_looks`, `worked_example_sentence`, `worked_example_sat` |
| | `worked_example_two_heads` |
| experiments | `sqrt_dk_experiment` |
"""

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.biases import alibi_bias, alibi_slopes
from attention_primer.caches import KVCache
from attention_primer.checks import ShapeError
from attention_primer.circuits import (
    induction_circuit,
    name_pattern,
    offset_head,
    previous_token_head,
    sink_head,
)
from attention_primer.costs import attention_cost, crossover_length, kv_cache_bytes
from attention_primer.examples import (
    worked_example_it,
    worked_example_sat,
    worked_example_sentence,
    worked_example_two_heads,
    worked_example_two_looks,
)
from attention_primer.experiments import sqrt_dk_experiment
from attention_primer.gradients import attention_gradients
from attention_primer.heads import MultiHeadAttention
from attention_primer.heatmaps import Heatmap
from attention_primer.masks import (
    causal_mask,
    combine_masks,
    global_mask,
    padding_mask,
    read_mask,
    sliding_window_mask,
    strided_mask,
    unite_masks,
    write_mask,
)
from attention_primer.recurrences import linear_attention, linear_attention_weights
from attention_primer.softmaxes import OnlineSoftmax, log_softmax, softmax, softmax_jacobian
from attention_primer.tiles import flash_attention
from attention_primer.vectors import dot, matmul, mix, shape, transpose

__all__ = [
    "Attention",
    "Heatmap",
    "KVCache",
    "MultiHeadAttention",
    "OnlineSoftmax",
    "ShapeError",
    "alibi_bias",
    "alibi_slopes",
    "attention_cost",
    "attention_gradients",
    "causal_mask",
    "combine_masks",
    "crossover_length",
    "dot",
    "flash_attention",
    "global_mask",
    "induction_circuit",
    "kv_cache_bytes",
    "linear_attention",
    "linear_attention_weights",
    "log_softmax",
    "matmul",
    "mix",
    "name_pattern",
    "offset_head",
    "padding_mask",
    "previous_token_head",
    "read_mask",
    "scaled_dot_product_attention",
    "shape",
    "sink_head",
    "sliding_window_mask",
    "softmax",
    "softmax_jacobian",
    "sqrt_dk_experiment",
    "strided_mask",
    "transpose",
    "unite_masks",
    "worked_example_it",
    "worked_example_sat",
    "worked_example_sentence",
    "worked_example_two_heads",
    "worked_example_two_looks",
    "write_mask",
]
