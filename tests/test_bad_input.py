"""Every wrong call that we could think of, with its exact error; then nested junk for everything public."""

import inspect
import re
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, nan
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_primer
from attention_primer import (
    Heatmap,
    KVCache,
    MultiHeadAttention,
    OnlineSoftmax,
    alibi_bias,
    alibi_slopes,
    attention_cost,
    attention_gradients,
    causal_mask,
    checks,
    combine_masks,
    crossover_length,
    dot,
    flash_attention,
    global_mask,
    induction_circuit,
    kv_cache_bytes,
    linear_attention,
    linear_attention_weights,
    log_softmax,
    matmul,
    mix,
    name_pattern,
    offset_head,
    padding_mask,
    previous_token_head,
    read_mask,
    scaled_dot_product_attention,
    shape,
    sink_head,
    sliding_window_mask,
    softmax,
    softmax_jacobian,
    sqrt_dk_experiment,
    strided_mask,
    transpose,
    unite_masks,
    worked_example_sentence,
    worked_example_two_heads,
    worked_example_two_looks,
    write_mask,
)

# A case a line: a call → the type of its error: the message, which is *what you gave: what must hold*.
TABLE = """
dot([], [1]) → ShapeError: a is empty: it must hold at least one of the numbers
dot([1], []) → ShapeError: b is empty: it must hold at least one of the numbers
dot([1, 2], [3]) → ShapeError: dot of 2 and 1 numbers: both vectors must have the same length
dot([1, nan], [1, 2]) → ValueError: a[1] is nan: it must be a finite number
dot([1, 2], [1, inf]) → ValueError: b[1] is inf: it must be a finite number
dot([1, 2], [-inf, 2]) → ValueError: b[0] is -inf: it must be a finite number
dot([1e308, 1e308], [10, 10]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
dot([10**400], [1]) → ValueError: a[0] is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
dot([10**5000], [1]) → ValueError: a[0] is <int>: it must fit into a float, so below 1.8e308
dot(3, [1]) → TypeError: a is 3: it must be a list of numbers
dot(None, [1]) → TypeError: a is None: it must be a list of numbers
dot([1], "1") → TypeError: b is '1': it must be a list of numbers
dot("12", [1, 2]) → TypeError: a is '12': it must be a list of numbers
dot(b"12", [1, 2]) → TypeError: a is b'12': it must be a list of numbers
dot(bytearray(b"12"), [1, 2]) → TypeError: a is bytearray(b'12'): it must be a list of numbers
dot({1, 2}, [1, 2]) → TypeError: a is {1, 2}: it must be a list of numbers
dot({1: 2}, [1]) → TypeError: a is {1: 2}: it must be a list of numbers
dot([1, None], [1, 2]) → TypeError: a[1] is None: it must be a number
dot([1, "2"], [1, 2]) → TypeError: a[1] is '2': it must be a number
dot([1, True], [1, 2]) → TypeError: a[1] is True: it must be a number
dot([1, 2j], [1, 2]) → TypeError: a[1] is 2j: it must be a float or a whole number
dot([1, Decimal("0.5")], [1, 2]) → TypeError: a[1] is Decimal('0.5'): it must be a float or a whole number
dot([[1], [2]], [1, 2]) → TypeError: a[0] is [1]: it must be a number
dot(list, [1]) → TypeError: a is <class 'list'>: it must be a list of numbers
dot(LOOP, [1]) → TypeError: a[0] is [[[...]]]: it must be a number
dot(DEEP, [1]) → TypeError: a[0] is [[[...]]]: it must be a number
dot(LyingLength(), [1]) → ShapeError: a is empty: it must hold at least one of the numbers

mix([], [[1]]) → ShapeError: shares is empty: it must hold at least one of the numbers
mix([1], []) → ShapeError: rows is empty: it must hold at least one of the rows
mix([1], [[]]) → ShapeError: rows[0] is empty: it must hold at least one of the numbers
mix([0.5], [[1, 2], [3, 4]]) → ShapeError: 1 share for 2 rows: each row must have one share
mix([0.5, 0.25, 0.25], [[1, 2], [3, 4]]) → ShapeError: 3 shares for 2 rows: each row must have one share
mix([1, 1], [[1, 2], [3]]) → ShapeError: rows[1] has 1 entry and rows[0] has 2: all rows must be equally long
mix([nan], [[1]]) → ValueError: shares[0] is nan: it must be a finite number
mix([1, 0], [[1], [nan]]) → ValueError: rows[1][0] is nan: it must be a finite number
mix([1, 1], [[1e308], [1e308]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
mix(1, [[1]]) → TypeError: shares is 1: it must be a list of numbers
mix([1], [1]) → TypeError: rows[0] is 1: it must be a list of numbers
mix([[1]], [[1]]) → TypeError: shares[0] is [1]: it must be a number

matmul([], [[1]]) → ShapeError: A is empty: it must hold at least one of the rows
matmul([[1]], []) → ShapeError: B is empty: it must hold at least one of the rows
matmul([[1, 2, 3]], [[1, 2], [3, 4]]) → ShapeError: A is (1, 3) and B is (2, 2): A must have as many columns as B has rows
matmul([[1, 2], [3]], [[1], [1]]) → ShapeError: A[1] has 1 entry and A[0] has 2: all rows must be equally long
matmul([[1, 2]], [[1, 2], [3]]) → ShapeError: B[1] has 1 entry and B[0] has 2: all rows must be equally long
matmul([1, 2], [[1], [2]]) → TypeError: A[0] is 1: it must be a list of numbers
matmul([[1, 2]], [1, 2]) → TypeError: B[0] is 1: it must be a list of numbers
matmul([[nan]], [[1]]) → ValueError: A[0][0] is nan: it must be a finite number
matmul([[1]], [[1, inf]]) → ValueError: B[0][1] is inf: it must be a finite number
matmul([[1e200]], [[1e200]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
matmul([["1"]], [[1]]) → TypeError: A[0][0] is '1': it must be a number
matmul([["12"]], [[1, 2]]) → TypeError: A[0][0] is '12': it must be a number
matmul("1", [[1]]) → TypeError: A is '1': it must be a list of rows
matmul([[[1]]], [[1]]) → TypeError: A[0][0] is [1]: it must be a number

transpose([]) → ShapeError: A is empty: it must hold at least one of the rows
transpose([[], []]) → ShapeError: A[0] is empty: it must hold at least one of the numbers
transpose([1, 2, 3]) → TypeError: A[0] is 1: it must be a list of numbers
transpose([[1, 2], [3]]) → ShapeError: A[1] has 1 entry and A[0] has 2: all rows must be equally long
transpose(None) → TypeError: A is None: it must be a list of rows
transpose([[1, None]]) → TypeError: A[0][1] is None: it must be a number
transpose([[10**400]]) → ValueError: A[0][0] is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308

shape([]) → ShapeError: A is empty: it must hold at least one of the rows
shape([[]]) → ShapeError: A[0] is empty: it must hold at least one of the numbers
shape([[1, 2, 3], [4, 5]]) → ShapeError: A[1] has 2 entries and A[0] has 3: all rows must be equally long
shape([1, 2]) → TypeError: A[0] is 1: it must be a list of numbers
shape(7) → TypeError: A is 7: it must be a list of rows
shape("ab") → TypeError: A is 'ab': it must be a list of rows
shape([{1, 2}]) → TypeError: A[0] is {1, 2}: it must be a list of numbers

softmax([]) → ShapeError: scores is empty: it must hold at least one of the numbers
softmax([1, nan]) → ValueError: scores[1] is nan: it must be a number, or -inf to hide it
softmax([1, inf]) → ValueError: scores[1] is inf: it must be a number, or -inf to hide it
softmax([-inf]) → ValueError: all 1 scores are -inf: at least one must be a number, or there is nothing to share among
softmax([-inf, -inf]) → ValueError: all 2 scores are -inf: at least one must be a number, or there is nothing to share among
softmax(1) → TypeError: scores is 1: it must be a list of numbers
softmax("abc") → TypeError: scores is 'abc': it must be a list of numbers
softmax([1, "2"]) → TypeError: scores[1] is '2': it must be a number
softmax([[1, 2]]) → TypeError: scores[0] is [1, 2]: it must be a number
softmax([True, False]) → TypeError: scores[0] is True: it must be a number
softmax([10**400]) → ValueError: scores[0] is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
softmax({"a": 1}) → TypeError: scores is {'a': 1}: it must be a list of numbers

log_softmax([]) → ShapeError: scores is empty: it must hold at least one of the numbers
log_softmax([nan]) → ValueError: scores[0] is nan: it must be a number, or -inf to hide it
log_softmax([0, inf]) → ValueError: scores[1] is inf: it must be a number, or -inf to hide it
log_softmax([-inf, -inf, -inf]) → ValueError: all 3 scores are -inf: at least one must be a number, or there is nothing to share among
log_softmax(None) → TypeError: scores is None: it must be a list of numbers
log_softmax([0, None]) → TypeError: scores[1] is None: it must be a number

softmax_jacobian([]) → ShapeError: shares is empty: it must hold at least one of the numbers
softmax_jacobian([2, 1]) → ValueError: the shares sum to 3.0: they must sum to 1, as softmax gives them
softmax_jacobian([0.5, 0.25]) → ValueError: the shares sum to 0.75: they must sum to 1, as softmax gives them
softmax_jacobian([-0.5, 1.5]) → ValueError: shares[0] is -0.5: a share must not be negative
softmax_jacobian([nan, 1]) → ValueError: shares[0] is nan: it must be a finite number
softmax_jacobian([inf]) → ValueError: shares[0] is inf: it must be a finite number
softmax_jacobian([1e308, 1e308]) → ValueError: the shares sum to inf: they must sum to 1, as softmax gives them
softmax_jacobian(1) → TypeError: shares is 1: it must be a list of numbers
softmax_jacobian([[1]]) → TypeError: shares[0] is [1]: it must be a number
softmax_jacobian(["1"]) → TypeError: shares[0] is '1': it must be a number

OnlineSoftmax().output → ValueError: no visible score was added: a mix needs at least one
OnlineSoftmax().add(nan, [1]) → ValueError: score is nan: it must be a number, or -inf to hide it
OnlineSoftmax().add(inf, [1]) → ValueError: score is inf: it must be a number, or -inf to hide it
OnlineSoftmax().add("1", [1]) → TypeError: score is '1': it must be a number
OnlineSoftmax().add(None, [1]) → TypeError: score is None: it must be a number
OnlineSoftmax().add(True, [1]) → TypeError: score is True: it must be a number
OnlineSoftmax().add([1], [1]) → TypeError: score is [1]: it must be a number
OnlineSoftmax().add(10**400, [1]) → ValueError: score is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
OnlineSoftmax().add(0, []) → ShapeError: value is empty: it must hold at least one of the numbers
OnlineSoftmax().add(0, 1) → TypeError: value is 1: it must be a list of numbers
OnlineSoftmax().add(0, [nan]) → ValueError: value[0] is nan: it must be a finite number
OnlineSoftmax().add(0, [1, inf]) → ValueError: value[1] is inf: it must be a finite number
OnlineSoftmax().add(0, ["1"]) → TypeError: value[0] is '1': it must be a number
OnlineSoftmax().add(-inf, "hidden") → TypeError: value is 'hidden': it must be a list of numbers
OnlineSoftmax().add(-inf, []) → ShapeError: value is empty: it must hold at least one of the numbers
seen(0, [1, 2]).add(0, [1]) → ShapeError: values of widths 2 and 1: all must be equally wide
seen(0, [1e308]).add(0, [1e308]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
seen(0, [1, 2]).merge(seen(0, [1])) → ShapeError: values of widths 2 and 1: all must be equally wide
seen(0, [1e308]).merge(seen(0, [1e308])) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
OnlineSoftmax().merge([1]) → TypeError: merge got list: it must be an OnlineSoftmax
OnlineSoftmax().merge(None) → TypeError: merge got NoneType: it must be an OnlineSoftmax
OnlineSoftmax().merge(OnlineSoftmax) → TypeError: merge got type: it must be an OnlineSoftmax

causal_mask(0) → ValueError: n_q is 0: it must be at least 1
causal_mask(-1) → ValueError: n_q is -1: it must be at least 1
causal_mask(2.0) → TypeError: n_q is 2.0: it must be a whole number
causal_mask("3") → TypeError: n_q is '3': it must be a whole number
causal_mask(None) → TypeError: n_q is None: it must be a whole number
causal_mask(True) → TypeError: n_q is True: it must be a whole number
causal_mask([3]) → TypeError: n_q is [3]: it must be a whole number
causal_mask(int) → TypeError: n_q is <class 'int'>: it must be a whole number
causal_mask(nan) → TypeError: n_q is nan: it must be a whole number
causal_mask(10**400) → ValueError: n_q is 100000000000000000...0000000000000000000: it must be below 2**64
causal_mask(-(10**5000)) → ValueError: n_q is <int>: it must be at least 1
causal_mask(3, 2) → ValueError: 3 queries for 2 keys: a causal mask needs at least as many keys, or the first queries see nothing
causal_mask(3, 0) → ValueError: n_k is 0: it must be at least 1
causal_mask(3, 4.5) → TypeError: n_k is 4.5: it must be a whole number
causal_mask(3, False) → TypeError: n_k is False: it must be a whole number

sliding_window_mask(0, window=1) → ValueError: n_q is 0: it must be at least 1
sliding_window_mask(3, 2, window=1) → ValueError: 3 queries for 2 keys: a causal mask needs at least as many keys, or the first queries see nothing
sliding_window_mask(3, 3.5, window=1) → TypeError: n_k is 3.5: it must be a whole number
sliding_window_mask(3, window=0) → ValueError: window is 0: it must be at least 1
sliding_window_mask(3, window=-1) → ValueError: window is -1: it must be at least 1
sliding_window_mask(3, window=1.5) → TypeError: window is 1.5: it must be a whole number
sliding_window_mask(3, window=None) → TypeError: window is None: it must be a whole number
sliding_window_mask(3, window=True) → TypeError: window is True: it must be a whole number
sliding_window_mask(3, window=inf) → TypeError: window is inf: it must be a whole number

padding_mask([]) → ShapeError: is_real is empty: it must hold at least one of the booleans
padding_mask([1, 1, 0]) → TypeError: is_real[0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
padding_mask([True, 1]) → TypeError: is_real[1] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
padding_mask([True, None]) → TypeError: is_real[1] is None: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
padding_mask([True, "False"]) → TypeError: is_real[1] is 'False': it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
padding_mask([[True]]) → TypeError: is_real[0] is [True]: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
padding_mask(True) → TypeError: is_real is True: it must be a list of booleans
padding_mask("True") → TypeError: is_real is 'True': it must be a list of booleans
padding_mask(3) → TypeError: is_real is 3: it must be a list of booleans
padding_mask([True], 0) → ValueError: n_q is 0: it must be at least 1
padding_mask([True], 1.5) → TypeError: n_q is 1.5: it must be a whole number
padding_mask([True], True) → TypeError: n_q is True: it must be a whole number

combine_masks() → TypeError: no mask was given: combine_masks needs at least one
combine_masks([]) → ShapeError: masks[0] is empty: it must hold at least one of the rows
combine_masks([[]]) → ShapeError: masks[0][0] is empty: it must hold at least one of the booleans
combine_masks(None) → TypeError: masks[0] is None: it must be a list of rows
combine_masks([True]) → TypeError: masks[0][0] is True: it must be a list of booleans
combine_masks([[1, 0]]) → TypeError: masks[0][0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
combine_masks([[True], [True, False]]) → ShapeError: masks[0][1] has 2 entries and masks[0][0] has 1: all rows must be equally long
combine_masks([[True]], [[0.0]]) → TypeError: masks[1][0][0] is 0.0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
combine_masks([[True]], [[True, False]]) → ShapeError: masks[0] is (1, 1) and masks[1] is (1, 2): all masks must have one shape
combine_masks([[[True]], [[True]]]) → TypeError: masks[0][0][0] is [True]: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere

read_mask([], "ones") → ShapeError: table is empty: it must hold at least one of the rows
read_mask([[True], [True, False]], "true-drops") → ShapeError: table[1] has 2 entries and table[0] has 1: all rows must be equally long
read_mask([[1, 0]], "true-keeps") → TypeError: table[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
read_mask([[True, False]], "ones") → TypeError: table[0][0] is True: it must be a number
read_mask([[0, 0.5]], "ones") → ValueError: table[0][1] is 0.5: it must be 1 (may see) or 0 (hidden) to be ones
read_mask([[0, -1e9]], "additive") → ValueError: table[0][1] is -1000000000.0: it must be 0 (may see) or -inf (hidden) to be additive
read_mask([[nan]], "additive") → ValueError: table[0][0] is nan: it must be 0 (may see) or -inf (hidden) to be additive
read_mask([[1, 0]], "additive") → ValueError: table[0][0] is 1.0: it must be 0 (may see) or -inf (hidden) to be additive
read_mask([[1, 0]], "binary") → ValueError: convention is 'binary': it must be one of true-keeps, true-drops, additive, ones
read_mask([[1, 0]], None) → ValueError: convention is None: it must be one of true-keeps, true-drops, additive, ones
read_mask([[1, 0]], ["ones"]) → ValueError: convention is ['ones']: it must be one of true-keeps, true-drops, additive, ones

write_mask([], "ones") → ShapeError: mask is empty: it must hold at least one of the rows
write_mask([[1, 0]], "ones") → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
write_mask(None, "ones") → TypeError: mask is None: it must be a list of rows
write_mask([[True]], "Ones") → ValueError: convention is 'Ones': it must be one of true-keeps, true-drops, additive, ones

strided_mask(0, stride=1) → ValueError: n_q is 0: it must be at least 1
strided_mask(3, 2, stride=1) → ValueError: 3 queries for 2 keys: a causal mask needs at least as many keys, or the first queries see nothing
strided_mask(3, 3.5, stride=1) → TypeError: n_k is 3.5: it must be a whole number
strided_mask(3, stride=0) → ValueError: stride is 0: it must be at least 1
strided_mask(3, stride=1.5) → TypeError: stride is 1.5: it must be a whole number
strided_mask(3, stride=None) → TypeError: stride is None: it must be a whole number

global_mask([]) → ShapeError: is_global is empty: it must hold at least one of the booleans
global_mask([0, 3]) → TypeError: is_global[0] is 0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
global_mask(3) → TypeError: is_global is 3: it must be a list of booleans
global_mask([True], 0) → ValueError: n_q is 0: it must be at least 1
global_mask([True], 2) → ValueError: 2 queries for 1 keys: the last ones line up, so there must be at least as many keys
global_mask([True], 1.5) → TypeError: n_q is 1.5: it must be a whole number

unite_masks() → TypeError: no mask was given: unite_masks needs at least one
unite_masks([]) → ShapeError: masks[0] is empty: it must hold at least one of the rows
unite_masks(None) → TypeError: masks[0] is None: it must be a list of rows
unite_masks([[1, 0]]) → TypeError: masks[0][0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
unite_masks([[True]], [[True, False]]) → ShapeError: masks[0] is (1, 1) and masks[1] is (1, 2): all masks must have one shape

alibi_slopes(0) → ValueError: n_heads is 0: it must be at least 1
alibi_slopes(2.5) → TypeError: n_heads is 2.5: it must be a whole number
alibi_slopes("8") → TypeError: n_heads is '8': it must be a whole number

alibi_bias(0, 3) → ValueError: n_heads is 0: it must be at least 1
alibi_bias(2, 0) → ValueError: n_q is 0: it must be at least 1
alibi_bias(2, 3, 2) → ValueError: 3 queries for 2 keys: the last ones line up, so there must be at least as many keys
alibi_bias(2, 3, 3.5) → TypeError: n_k is 3.5: it must be a whole number
alibi_bias(2, [3]) → TypeError: n_q is [3]: it must be a whole number

attention_cost(0, 768) → ValueError: n is 0: it must be at least 1
attention_cost(-1, 768) → ValueError: n is -1: it must be at least 1
attention_cost(1.5, 768) → TypeError: n is 1.5: it must be a whole number
attention_cost("10", 768) → TypeError: n is '10': it must be a whole number
attention_cost(10, 0) → ValueError: d_model is 0: it must be at least 1
attention_cost(10, 7.5) → TypeError: d_model is 7.5: it must be a whole number
attention_cost(10, True) → TypeError: d_model is True: it must be a whole number
attention_cost(10, 10, n_heads=4) → ShapeError: d_model is 10, n_heads 4, n_kv_heads 4: the heads must divide the width, and the KV heads the heads
attention_cost(10, 8, n_heads=4, n_kv_heads=3) → ShapeError: d_model is 8, n_heads 4, n_kv_heads 3: the heads must divide the width, and the KV heads the heads
attention_cost(10, 8, n_heads=2, n_kv_heads=4) → ShapeError: d_model is 8, n_heads 2, n_kv_heads 4: the heads must divide the width, and the KV heads the heads
attention_cost(10, 8, n_heads=0) → ValueError: n_heads is 0: it must be at least 1
attention_cost(10, 8, n_heads=4, n_kv_heads=0) → ValueError: n_kv_heads is 0: it must be at least 1
attention_cost(10, 8, n_heads=2.0) → TypeError: n_heads is 2.0: it must be a whole number
attention_cost(10**400, 8) → ValueError: n is 100000000000000000...0000000000000000000: it must be below 2**64

crossover_length(0) → ValueError: d_model is 0: it must be at least 1
crossover_length(0.5) → TypeError: d_model is 0.5: it must be a whole number
crossover_length(-8) → ValueError: d_model is -8: it must be at least 1
crossover_length("8") → TypeError: d_model is '8': it must be a whole number
crossover_length(8, n_heads=3) → ShapeError: d_model is 8, n_heads 3, n_kv_heads 3: the heads must divide the width, and the KV heads the heads
crossover_length(8, n_heads=4, n_kv_heads=3) → ShapeError: d_model is 8, n_heads 4, n_kv_heads 3: the heads must divide the width, and the KV heads the heads
crossover_length(8, n_heads=-1) → ValueError: n_heads is -1: it must be at least 1
crossover_length(8, n_heads=4, n_kv_heads=True) → TypeError: n_kv_heads is True: it must be a whole number

kv_cache_bytes(0, 32, 8, 128) → ValueError: n_tokens is 0: it must be at least 1
kv_cache_bytes(1, 0, 8, 128) → ValueError: n_layers is 0: it must be at least 1
kv_cache_bytes(1, 32, 0, 128) → ValueError: n_kv_heads is 0: it must be at least 1
kv_cache_bytes(1, 32, 8, 0) → ValueError: d_head is 0: it must be at least 1
kv_cache_bytes(1, 32, 8, 128, 0) → ValueError: bytes_per_number is 0: it must be at least 1
kv_cache_bytes(-1, 32, 8, 128) → ValueError: n_tokens is -1: it must be at least 1
kv_cache_bytes(1, 32, 8, 128, 0.5) → TypeError: bytes_per_number is 0.5: it must be a whole number
kv_cache_bytes(1.0, 32, 8, 128) → TypeError: n_tokens is 1.0: it must be a whole number
kv_cache_bytes(None, 32, 8, 128) → TypeError: n_tokens is None: it must be a whole number
kv_cache_bytes(1, [32], 8, 128) → TypeError: n_layers is [32]: it must be a whole number

scaled_dot_product_attention([], [[1]], [[1]]) → ShapeError: q is empty: it must hold at least one of the rows
scaled_dot_product_attention([[1]], [], [[1]]) → ShapeError: k is empty: it must hold at least one of the rows
scaled_dot_product_attention([[1]], [[1]], []) → ShapeError: v is empty: it must hold at least one of the rows
scaled_dot_product_attention([[]], [[]], [[1]]) → ShapeError: q[0] is empty: it must hold at least one of the numbers
scaled_dot_product_attention([[1]], [[1]], [[]]) → ShapeError: v[0] is empty: it must hold at least one of the numbers
scaled_dot_product_attention([[1, 2], [3]], [[1, 2]], [[1]]) → ShapeError: q[1] has 1 entry and q[0] has 2: all rows must be equally long
scaled_dot_product_attention([[1]], [[1], [2, 3]], [[1], [2]]) → ShapeError: k[1] has 2 entries and k[0] has 1: all rows must be equally long
scaled_dot_product_attention([[1]], [[1], [2]], [[1], [2, 3]]) → ShapeError: v[1] has 2 entries and v[0] has 1: all rows must be equally long
scaled_dot_product_attention([[1]], [[1, 2]], [[1]]) → ShapeError: q is (1, 1) and k is (1, 2): queries and keys must be equally wide
scaled_dot_product_attention([[1]], [[1], [2]], [[1]]) → ShapeError: k is (2, 1) and v is (1, 1): every key needs one value
scaled_dot_product_attention([[1]], [[1]], [[1], [2]]) → ShapeError: k is (1, 1) and v is (2, 1): every key needs one value
scaled_dot_product_attention([1], [[1]], [[1]]) → TypeError: q[0] is 1: it must be a list of numbers
scaled_dot_product_attention([[1]], [1], [[1]]) → TypeError: k[0] is 1: it must be a list of numbers
scaled_dot_product_attention([[1]], [[1]], [1]) → TypeError: v[0] is 1: it must be a list of numbers
scaled_dot_product_attention([[[1]]], [[[1]]], [[[1]]]) → TypeError: q[0][0] is [1]: it must be a number
scaled_dot_product_attention(None, [[1]], [[1]]) → TypeError: q is None: it must be a list of rows
scaled_dot_product_attention([[1]], "k", [[1]]) → TypeError: k is 'k': it must be a list of rows
scaled_dot_product_attention([[1]], [[1]], {}) → TypeError: v is {}: it must be a list of rows
scaled_dot_product_attention([[True]], [[1]], [[1]]) → TypeError: q[0][0] is True: it must be a number
scaled_dot_product_attention([["1"]], [[1]], [[1]]) → TypeError: q[0][0] is '1': it must be a number
scaled_dot_product_attention([[nan]], [[1]], [[1]]) → ValueError: q[0][0] is nan: it must be a finite number
scaled_dot_product_attention([[1]], [[inf]], [[1]]) → ValueError: k[0][0] is inf: it must be a finite number
scaled_dot_product_attention([[1]], [[1]], [[nan]]) → ValueError: v[0][0] is nan: it must be a finite number
scaled_dot_product_attention([[1], [1]], [[1], [nan]], [[1], [1]], [[True, False], [True, True]]) → ValueError: k[1][0] is nan: it must be a finite number
scaled_dot_product_attention([[1]], [[1], [1]], [[1], [inf]], [[True, True]]) → ValueError: v[1][0] is inf: it must be a finite number
scaled_dot_product_attention([[1e200]], [[1e200]], [[1]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
scaled_dot_product_attention([[1, 1]], [[1, 1], [1e308, 1e308]], [[1], [1]]) → ValueError: the score of query 0 and key 1 is inf: it must fit into a float
scaled_dot_product_attention([[-1e200]], [[1e200]], [[1]]) → ValueError: the score of query 0 and key 0 is -inf: it must fit into a float
scaled_dot_product_attention([[2]], [[1]], [[1]], scale=1e308) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
scaled_dot_product_attention([[1e308]], [[1]], [[1]], bias=[[1e308]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
scaled_dot_product_attention([[1]], [[2]], [[3]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
scaled_dot_product_attention([[1], [1]], [[2]], [[3]], [[True], [False]]) → ValueError: query 1 may see no key: every query needs at least one
scaled_dot_product_attention([[1]], [[2]], [[3]], bias=[[-inf]]) → ValueError: query 0 may see no key: every query needs at least one
scaled_dot_product_attention([[1]], [[2], [2]], [[3], [3]], [[True, False]], bias=[[-inf, 0]]) → ValueError: query 0 may see no key: every query needs at least one
scaled_dot_product_attention([[1]], [[1]], [[1]], [[1]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
scaled_dot_product_attention([[1]], [[1]], [[1]], [[0.0]]) → TypeError: mask[0][0] is 0.0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
scaled_dot_product_attention([[1]], [[1]], [[1]], [True]) → TypeError: mask[0] is True: it must be a list of booleans
scaled_dot_product_attention([[1]], [[1]], [[1]], True) → TypeError: mask is True: it must be a list of rows
scaled_dot_product_attention([[1]], [[1]], [[1]], "causal") → TypeError: mask is 'causal': it must be a list of rows
scaled_dot_product_attention([[1]], [[1]], [[1]], []) → ShapeError: mask is empty: it must hold at least one of the rows
scaled_dot_product_attention([[1]], [[1]], [[1]], [[None]]) → TypeError: mask[0][0] is None: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
scaled_dot_product_attention([[1]], [[1]], [[1]], [[True, True]]) → ShapeError: mask is (1, 2): 1 queries and 1 keys need (1, 1)
scaled_dot_product_attention([[1]], [[1]], [[1]], [[True], [True, True]]) → ShapeError: mask is (2, 1): 1 queries and 1 keys need (1, 1)
scaled_dot_product_attention([[1], [1]], [[1]], [[1]], [[True], [True, True]]) → ShapeError: mask[1] has 2 entries and mask[0] has 1: all rows must be equally long
scaled_dot_product_attention([[1], [1]], [[1]], [[1]], bias=[[0], [0, 0]]) → ShapeError: bias[1] has 2 entries and bias[0] has 1: all rows must be equally long
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=[[nan]]) → ValueError: bias[0][0] is nan: it must be a number, or -inf to hide the key
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=[[inf]]) → ValueError: bias[0][0] is inf: it must be a number, or -inf to hide the key
scaled_dot_product_attention([[1]], [[1], [1]], [[1], [1]], [[True, False]], bias=[[0, nan]]) → ValueError: bias[0][1] is nan: it must be a number, or -inf to hide the key
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=[[1, 2]]) → ShapeError: bias is (1, 2): 1 queries and 1 keys need (1, 1)
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=[1]) → TypeError: bias[0] is 1: it must be a list of numbers
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=1) → TypeError: bias is 1: it must be a list of rows
scaled_dot_product_attention([[1]], [[1]], [[1]], bias=[[True]]) → TypeError: bias[0][0] is True: it must be a number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=nan) → ValueError: scale is nan: it must be a finite number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=inf) → ValueError: scale is inf: it must be a finite number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale="1") → TypeError: scale is '1': it must be a number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=True) → TypeError: scale is True: it must be a number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=[1]) → TypeError: scale is [1]: it must be a number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=1j) → TypeError: scale is 1j: it must be a float or a whole number
scaled_dot_product_attention([[1]], [[1]], [[1]], scale=10**400) → ValueError: scale is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap=0) → ValueError: softcap is 0.0: it must be above 0
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap=-50) → ValueError: softcap is -50.0: it must be above 0
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap=nan) → ValueError: softcap is nan: it must be a finite number
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap=inf) → ValueError: softcap is inf: it must be a finite number
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap=None, scale=Decimal(1)) → TypeError: scale is Decimal('1'): it must be a float or a whole number
scaled_dot_product_attention([[1]], [[1]], [[1]], softcap="50") → TypeError: softcap is '50': it must be a number

flash_attention([], [[1]], [[1]]) → ShapeError: q is empty: it must hold at least one of the rows
flash_attention([[1]], [[1, 2]], [[1]]) → ShapeError: q is (1, 1) and k is (1, 2): queries and keys must be equally wide
flash_attention([[1]], [[1], [2]], [[1]]) → ShapeError: k is (2, 1) and v is (1, 1): every key needs one value
flash_attention([1], [[1]], [[1]]) → TypeError: q[0] is 1: it must be a list of numbers
flash_attention([[nan]], [[1]], [[1]]) → ValueError: q[0][0] is nan: it must be a finite number
flash_attention([[1]], [[1]], [[inf]]) → ValueError: v[0][0] is inf: it must be a finite number
flash_attention([[1]], "k", [[1]]) → TypeError: k is 'k': it must be a list of rows
flash_attention([[1]], [[1]], [1]) → TypeError: v[0] is 1: it must be a list of numbers
flash_attention([[1]], [[1], [nan]], [[1], [1]]) → ValueError: k[1][0] is nan: it must be a finite number
flash_attention([[1]], [[1]], [[1]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
flash_attention([[1], [1]], [[1]], [[1]], [[True], [False]], tile_q=1) → ValueError: query 1 may see no key: every query needs at least one
flash_attention([[1]], [[1]], [[1]], [[1]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
flash_attention([[1]], [[1]], [[1]], [[True, True]]) → ShapeError: mask is (1, 2): 1 queries and 1 keys need (1, 1)
flash_attention([[1], [1]], [[1]], [[1]], [[True], [True, True]], tile_q=1) → ShapeError: mask[1] has 2 entries and mask[0] has 1: all rows must be equally long
flash_attention([[1]], [[1]], [[1]], bias=[[nan]]) → ValueError: bias[0][0] is nan: it must be a number, or -inf to hide the key
flash_attention([[1]], [[1]], [[1]], bias=[[-inf]]) → ValueError: query 0 may see no key: every query needs at least one
flash_attention([[1]], [[1]], [[1]], bias=[[0, 0]]) → ShapeError: bias is (1, 2): 1 queries and 1 keys need (1, 1)
flash_attention([[1]], [[1]], [[1]], scale=nan) → ValueError: scale is nan: it must be a finite number
flash_attention([[1]], [[1]], [[1]], scale="1") → TypeError: scale is '1': it must be a number
flash_attention([[1]], [[1]], [[1]], softcap=0) → ValueError: softcap is 0.0: it must be above 0
flash_attention([[1]], [[1]], [[1]], softcap=True) → TypeError: softcap is True: it must be a number
flash_attention([[1]], [[1]], [[1]], tile_q=0) → ValueError: tile_q is 0: it must be at least 1
flash_attention([[1]], [[1]], [[1]], tile_q=1.5) → TypeError: tile_q is 1.5: it must be a whole number
flash_attention([[1]], [[1]], [[1]], tile_k=-1) → ValueError: tile_k is -1: it must be at least 1
flash_attention([[1]], [[1]], [[1]], tile_k=None) → TypeError: tile_k is None: it must be a whole number
flash_attention([[1e200]], [[1e200]], [[1]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
flash_attention([[1]], [[1], [1]], [[1e308], [1e308]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308

linear_attention([], [[1]], [[1]]) → ShapeError: q is empty: it must hold at least one of the rows
linear_attention([[1]], [[1, 2]], [[1]]) → ShapeError: q is (1, 1) and k is (1, 2): queries and keys must be equally wide
linear_attention([[1]], [[1], [2]], [[1]]) → ShapeError: k is (2, 1) and v is (1, 1): every key needs one value
linear_attention([1], [[1]], [[1]]) → TypeError: q[0] is 1: it must be a list of numbers
linear_attention([[nan]], [[1]], [[1]]) → ValueError: q[0][0] is nan: it must be a finite number
linear_attention([[1]], [[1]], [[inf]]) → ValueError: v[0][0] is inf: it must be a finite number
linear_attention([[1]], "k", [[1]]) → TypeError: k is 'k': it must be a list of rows
linear_attention([[1]], [[1]], None) → TypeError: v is None: it must be a list of rows
linear_attention([[1]], [[1], [nan]], [[1], [1]]) → ValueError: k[1][0] is nan: it must be a finite number
linear_attention([[1]], [[1]], [[1]], [[1]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
linear_attention([[1]], [[1]], [[1]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
linear_attention([[1]], [[1]], [[1]], [[True, True]]) → ShapeError: mask is (1, 2): 1 queries and 1 keys need (1, 1)
linear_attention([[1]] * 2, [[1]] * 2, [[1]] * 2, [[True, False], [False, True]]) → ValueError: query 1 may not see key 0, which query 0 saw: a sum can't forget, so what is seen may only grow
linear_attention([[-800]], [[1]], [[1]]) → ValueError: what the features of query 0 and its keys have in common is 0.0: it must not vanish
linear_attention([[1]], [[1e308], [1e308]], [[1], [1]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
linear_attention([[1]], [[1e200]], [[1e200]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308

linear_attention_weights([], [[1]]) → ShapeError: q is empty: it must hold at least one of the rows
linear_attention_weights([[1]], []) → ShapeError: k is empty: it must hold at least one of the rows
linear_attention_weights([[1]], [[1, 2]]) → ShapeError: q is (1, 1) and k is (1, 2): queries and keys must be equally wide
linear_attention_weights([[1]], [1]) → TypeError: k[0] is 1: it must be a list of numbers
linear_attention_weights("q", [[1]]) → TypeError: q is 'q': it must be a list of rows
linear_attention_weights([[inf]], [[1]]) → ValueError: q[0][0] is inf: it must be a finite number
linear_attention_weights([[1]], [[nan]]) → ValueError: k[0][0] is nan: it must be a finite number
linear_attention_weights([[1]], [[1]], [[0]]) → TypeError: mask[0][0] is 0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
linear_attention_weights([[1]], [[1]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
linear_attention_weights([[1]], [[1]], [[True], [True]]) → ShapeError: mask is (2, 1): 1 queries and 1 keys need (1, 1)
linear_attention_weights([[-800]], [[1], [2]]) → ValueError: what the features of query 0 and its keys have in common is 0.0: it must not vanish
linear_attention_weights([[1e200]], [[1e200]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308

attention_gradients([], [[1]], [[1]], [[1]]) → ShapeError: q is empty: it must hold at least one of the rows
attention_gradients([[1]], [[1, 2]], [[1]], [[1]]) → ShapeError: q is (1, 1) and k is (1, 2): queries and keys must be equally wide
attention_gradients([[1]], [[1], [2]], [[1]], [[1]]) → ShapeError: k is (2, 1) and v is (1, 1): every key needs one value
attention_gradients([[1]], [1], [[1]], [[1]]) → TypeError: k[0] is 1: it must be a list of numbers
attention_gradients([[1]], [[1]], [[nan]], [[1]]) → ValueError: v[0][0] is nan: it must be a finite number
attention_gradients([["1"]], [[1]], [[1]], [[1]]) → TypeError: q[0][0] is '1': it must be a number
attention_gradients([[1]], [[1]], None, [[1]]) → TypeError: v is None: it must be a list of rows
attention_gradients([[1]], [[1]], [[1]], [[1, 1]]) → ShapeError: d_output is (1, 2): it must be (1, 1), as the output is
attention_gradients([[1]], [[1]], [[1]], [[1], [1]]) → ShapeError: d_output is (2, 1): it must be (1, 1), as the output is
attention_gradients([[1]], [[1]], [[1]], [1]) → TypeError: d_output[0] is 1: it must be a list of numbers
attention_gradients([[1]], [[1]], [[1]], 1) → TypeError: d_output is 1: it must be a list of rows
attention_gradients([[1]], [[1]], [[1]], [[nan]]) → ValueError: d_output[0][0] is nan: it must be a finite number
attention_gradients([[1]], [[1]], [[1]], [[1]], [[1]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
attention_gradients([[1]], [[1]], [[1]], [[1]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
attention_gradients([[1]], [[1]], [[1]], [[1]], [[True, True]]) → ShapeError: mask is (1, 2): 1 queries and 1 keys need (1, 1)
attention_gradients([[1]], [[1]], [[1]], [[1]], bias=[[inf]]) → ValueError: bias[0][0] is inf: it must be a number, or -inf to hide the key
attention_gradients([[1]], [[1]], [[1]], [[1]], bias=[[-inf]]) → ValueError: query 0 may see no key: every query needs at least one
attention_gradients([[1]], [[1]], [[1]], [[1]], scale=nan) → ValueError: scale is nan: it must be a finite number
attention_gradients([[1]], [[1]], [[1]], [[1]], scale="1") → TypeError: scale is '1': it must be a number
attention_gradients([[1e200]], [[1e200]], [[1]], [[1]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
attention_gradients([[0]], [[1], [-1]], [[1e308], [-1e308]], [[1e308]]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308

MultiHeadAttention(10, 4) → ShapeError: d_model is 10 and n_heads is 4: the heads must divide the width evenly
MultiHeadAttention(8, 4, 3) → ShapeError: n_heads is 4 and n_kv_heads is 3: the second must divide the first
MultiHeadAttention(8, 2, 4) → ShapeError: n_heads is 2 and n_kv_heads is 4: the second must divide the first
MultiHeadAttention(0, 1) → ValueError: d_model is 0: it must be at least 1
MultiHeadAttention(8, 0) → ValueError: n_heads is 0: it must be at least 1
MultiHeadAttention(8, 4, 0) → ValueError: n_kv_heads is 0: it must be at least 1
MultiHeadAttention(-8, 4) → ValueError: d_model is -8: it must be at least 1
MultiHeadAttention(8.0, 4) → TypeError: d_model is 8.0: it must be a whole number
MultiHeadAttention(8, 2.5) → TypeError: n_heads is 2.5: it must be a whole number
MultiHeadAttention("8", 4) → TypeError: d_model is '8': it must be a whole number
MultiHeadAttention(8, None) → TypeError: n_heads is None: it must be a whole number
MultiHeadAttention(8, 4, True) → TypeError: n_kv_heads is True: it must be a whole number
MultiHeadAttention(8, 4, seed=-1) → ValueError: seed is -1: it must be at least 0
MultiHeadAttention(8, 4, seed=0.5) → TypeError: seed is 0.5: it must be a whole number
MultiHeadAttention(8, 4, seed=None) → TypeError: seed is None: it must be a whole number
MultiHeadAttention.from_weights([], I, I, I, 1) → ShapeError: W_q is empty: it must hold at least one of the rows
MultiHeadAttention.from_weights(I, [[1, 0], [0]], I, I, 1) → ShapeError: W_k[1] has 1 entry and W_k[0] has 2: all rows must be equally long
MultiHeadAttention.from_weights(I, I, [[1, 0], [0, nan]], I, 1) → ValueError: W_v[1][1] is nan: it must be a finite number
MultiHeadAttention.from_weights(I, I, I, [[1, 0], [0, inf]], 1) → ValueError: W_o[1][1] is inf: it must be a finite number
MultiHeadAttention.from_weights([1, 0], I, I, I, 1) → TypeError: W_q[0] is 1: it must be a list of numbers
MultiHeadAttention.from_weights(None, I, I, I, 1) → TypeError: W_q is None: it must be a list of rows
MultiHeadAttention.from_weights(I, I, I, "I", 1) → TypeError: W_o is 'I': it must be a list of rows
MultiHeadAttention.from_weights(I, I, I, I, 3) → ShapeError: W_q is (2, 2): its columns must split evenly over 3 heads
MultiHeadAttention.from_weights(I, I, I, I, 0) → ValueError: n_heads is 0: it must be at least 1
MultiHeadAttention.from_weights(I, I, I, I, 2, 3) → ShapeError: n_heads is 2 and n_kv_heads is 3: the second must divide the first
MultiHeadAttention.from_weights(I, I, I, I, 2, 0) → ValueError: n_kv_heads is 0: it must be at least 1
MultiHeadAttention.from_weights(I, I, I, I, 1.0) → TypeError: n_heads is 1.0: it must be a whole number
MultiHeadAttention.from_weights(I, [[1], [2]], I, I, 2) → ShapeError: W_k is (2, 1): to fit the other weights it must be (2, 2)
MultiHeadAttention.from_weights(I, I, [[1, 0]], I, 2) → ShapeError: W_v is (1, 2): to fit the other weights it must be (2, 2)
MultiHeadAttention.from_weights(I, I, [[1], [2]], I, 2) → ShapeError: W_v is (2, 1): its columns must split evenly over 2 heads
MultiHeadAttention.from_weights(I, I, I, [[1, 0]], 2) → ShapeError: W_o is (1, 2): to fit the other weights it must be (2, 2)
MultiHeadAttention.from_weights(I, I, I, I, 2, 1) → ShapeError: W_k is (2, 2): to fit the other weights it must be (2, 1)
MultiHeadAttention.from_weights(I, I, I, I, 2, b_q=[1]) → ShapeError: b_q has 1 entries: it must have 2, one a column
MultiHeadAttention.from_weights(I, I, I, I, 2, b_k=[]) → ShapeError: b_k is empty: it must hold at least one of the numbers
MultiHeadAttention.from_weights(I, I, I, I, 2, b_k=[0, "1"]) → TypeError: b_k[1] is '1': it must be a number
MultiHeadAttention.from_weights(I, I, I, I, 2, b_v=[0, nan]) → ValueError: b_v[1] is nan: it must be a finite number
MultiHeadAttention.from_weights(I, I, I, I, 2, b_o=0) → TypeError: b_o is 0: it must be a list of numbers
MultiHeadAttention.from_weights(I, I, I, I, 2, b_o=[[0, 0]]) → TypeError: b_o[0] is [0, 0]: it must be a number
MultiHeadAttention(4, 2)([]) → ShapeError: x is empty: it must hold at least one of the rows
MultiHeadAttention(4, 2)([[1, 2]]) → ShapeError: x is (1, 2): its rows must be 4 wide
MultiHeadAttention(4, 2)([[1, 2, 3, 4], [1, 2, 3]]) → ShapeError: x[1] has 3 entries and x[0] has 4: all rows must be equally long
MultiHeadAttention(4, 2)([1, 2, 3, 4]) → TypeError: x[0] is 1: it must be a list of numbers
MultiHeadAttention(4, 2)([[[1, 2, 3, 4]]]) → TypeError: x[0][0] is [1, 2, 3, 4]: it must be a number
MultiHeadAttention(4, 2)("text") → TypeError: x is 'text': it must be a list of rows
MultiHeadAttention(4, 2)([[1, 2, 3, nan]]) → ValueError: x[0][3] is nan: it must be a finite number
MultiHeadAttention(4, 2)([[1, 2, 3, "4"]]) → TypeError: x[0][3] is '4': it must be a number
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], [[1]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], [[True, True]]) → ShapeError: mask is (1, 2): 1 queries and 1 keys need (1, 1)
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], bias=[[nan]]) → ValueError: bias[0][0] is nan: it must be a number, or -inf to hide the key
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], bias=[[-inf]]) → ValueError: query 0 may see no key: every query needs at least one
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], context=[[1, 2, 3]]) → ShapeError: context is (1, 3): its rows must be 4 wide
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], context=[]) → ShapeError: context is empty: it must hold at least one of the rows
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], context=4) → TypeError: context is 4: it must be a list of rows
MultiHeadAttention(4, 2)([[1, 2, 3, 4]], context=[[1, 2, 3, 4]], mask=[[True], [True]]) → ShapeError: mask is (2, 1): 1 queries and 1 keys need (1, 1)
MultiHeadAttention(4096, 32)([[1, 2]]) → ShapeError: x is (1, 2): its rows must be 4096 wide
plain_heads()([[1e308, 1e308]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
plain_heads().attend([[1, 2]], [[False]]) → ValueError: query 0 may see no key: every query needs at least one
plain_heads().attend([[1, 2]], context=[[1, nan]]) → ValueError: k[0][0] is nan: it must be a finite number
plain_heads().queries([[1, 2, 3]]) → ShapeError: x is (1, 3): its rows must be 2 wide
plain_heads().queries([[1, inf]]) → ValueError: x[0][1] is inf: it must be a finite number
plain_heads().keys([[1]]) → ShapeError: context is (1, 1): its rows must be 2 wide
plain_heads().keys([["1", "2"]]) → TypeError: context[0][0] is '1': it must be a number
plain_heads().values([]) → ShapeError: context is empty: it must hold at least one of the rows
plain_heads().values([[1, 2], [3]]) → ShapeError: context[1] has 1 entry and context[0] has 2: all rows must be equally long
plain_heads().join(None) → TypeError: outputs is None: it must be a list of heads' outputs
plain_heads().join([]) → ShapeError: outputs is empty: it must hold at least one of the heads' outputs
plain_heads().join([[[1]]]) → ShapeError: 1 outputs for 2 heads: there must be one a head
plain_heads().join([[[1]], [[2], [3]]]) → ShapeError: outputs have [1, 2] rows: all heads must have the same tokens
plain_heads().join([[[1]], [[2, 3]]]) → ShapeError: outputs[1] is (1, 2): its rows must be 1 wide
plain_heads().join([[[1]], [[nan]]]) → ValueError: outputs[1][0][0] is nan: it must be a finite number
plain_heads().join([[[1]], [2]]) → TypeError: outputs[1][0] is 2: it must be a list of numbers
cross_heads()([[1, 2]]) → ShapeError: no context was given: keys and values need one that is 3 wide
cross_heads()([[1, 2]], context=[[1, 2]]) → ShapeError: context is (1, 2): its rows must be 3 wide

KVCache(None) → TypeError: mha is None: it must be a MultiHeadAttention
KVCache(MultiHeadAttention) → TypeError: mha is <class 'atten...eadAttention'>: it must be a MultiHeadAttention
KVCache([[1]]) → TypeError: mha is [[1]]: it must be a MultiHeadAttention
KVCache(cross_heads()) → ShapeError: queries come from rows of width 2, keys from 3: a cache needs a layer that makes both from one x
KVCache(plain_heads(), window=0) → ValueError: window is 0: it must be at least 1
KVCache(plain_heads(), window=1.5) → TypeError: window is 1.5: it must be a whole number
KVCache(plain_heads(), window=True) → TypeError: window is True: it must be a whole number
KVCache(plain_heads(), capacity=-1) → ValueError: capacity is -1: it must be at least 1
KVCache(plain_heads(), capacity="3") → TypeError: capacity is '3': it must be a whole number
KVCache(plain_heads()).extend([]) → ShapeError: x is empty: it must hold at least one of the rows
KVCache(plain_heads()).extend([[1, 2, 3]]) → ShapeError: x is (1, 3): its rows must be 2 wide
KVCache(plain_heads()).extend([[1, 2], [3]]) → ShapeError: x[1] has 1 entry and x[0] has 2: all rows must be equally long
KVCache(plain_heads()).extend([1, 2]) → TypeError: x[0] is 1: it must be a list of numbers
KVCache(plain_heads()).extend(None) → TypeError: x is None: it must be a list of rows
KVCache(plain_heads()).extend([[1, "2"]]) → TypeError: x[0][1] is '2': it must be a number
KVCache(plain_heads()).extend([[1, nan]]) → ValueError: x[0][1] is nan: it must be a finite number
KVCache(plain_heads()).extend([[1e200, 1]]) → ValueError: the score of query 0 and key 0 is inf: it must fit into a float
KVCache(plain_heads(), capacity=2).extend([[1, 2]] * 3) → ValueError: 0 tokens kept and 3 new: the cache has room for 2
KVCache(plain_heads(), window=3, capacity=2).extend([[1, 2]] * 3) → ValueError: 0 tokens kept and 3 new: the cache has room for 2

Heatmap([]) → ShapeError: values is empty: it must hold at least one of the rows
Heatmap([[]]) → ShapeError: values[0] is empty: it must hold at least one of the numbers
Heatmap([[1, 2], [3]]) → ShapeError: values[1] has 1 entry and values[0] has 2: all rows must be equally long
Heatmap([1, 2]) → TypeError: values[0] is 1: it must be a list of numbers
Heatmap(None) → TypeError: values is None: it must be a list of rows
Heatmap("picture") → TypeError: values is 'picture': it must be a list of rows
Heatmap([[1, "2"]]) → TypeError: values[0][1] is '2': it must be a number
Heatmap([[nan]]) → ValueError: values[0][0] is nan: it must be a finite number
Heatmap([[inf]]) → ValueError: values[0][0] is inf: it must be a finite number
Heatmap([[0.5, True]]) → TypeError: values[0][1] is True: it must be a number
Heatmap([[True, 0.5]]) → TypeError: values[0][1] is 0.5: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
Heatmap([[10**400]]) → ValueError: values[0][0] is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
Heatmap([[1, 0]], ["a", "b"]) → ShapeError: queries holds 2 for values with 1 row: each row must have one label
Heatmap([[1, 0]], ["a"], ["b"]) → ShapeError: keys holds 1 for values with 2 columns: each column must have one label
Heatmap([[1, 0]], [1]) → TypeError: queries[0] is 1: it must be text
Heatmap([[1, 0]], ["a"], ["b", None]) → TypeError: keys[1] is None: it must be text
Heatmap([[1, 0]], "a") → TypeError: queries is 'a': it must be a list of words
Heatmap([[1, 0]], []) → ShapeError: queries is empty: it must hold at least one of the words
Heatmap([[1, 0]], keys=5) → TypeError: keys is 5: it must be a list of words
Heatmap([[1, 0]], mask=[[True]]) → ShapeError: mask is (1, 1) and values are (1, 2): both must have the same shape
Heatmap([[1, 0]], mask=[[1, 0]]) → TypeError: mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
Heatmap([[1, 0]], mask=[]) → ShapeError: mask is empty: it must hold at least one of the rows
Heatmap([[1, 0]], mask=True) → TypeError: mask is True: it must be a list of rows
Heatmap([[1, 0]], title=None) → TypeError: title is None: it must be text
Heatmap([[1, 0]], finding=5) → TypeError: finding is 5: it must be text
Heatmap([[1, 0]]).text(width=19) → ValueError: width is 19: it must be at least 20
Heatmap([[1, 0]]).text(width=80.0) → TypeError: width is 80.0: it must be a whole number
Heatmap([[1, 0]]).text(width="80") → TypeError: width is '80': it must be a whole number
Heatmap([[1, 0]]).svg(prefix="a b") → ValueError: prefix is 'a b': it must hold letters, digits, - and _ only
Heatmap([[1, 0]]).svg(prefix=None) → TypeError: prefix is None: it must be text
Heatmap([[1, 0]]).svg(prefix=5) → TypeError: prefix is 5: it must be text

sqrt_dk_experiment([]) → ShapeError: widths is empty: it must hold at least one of the widths
sqrt_dk_experiment([0]) → ValueError: widths[0] is 0: it must be at least 1
sqrt_dk_experiment([4, -1]) → ValueError: widths[1] is -1: it must be at least 1
sqrt_dk_experiment([4, 2.5]) → TypeError: widths[1] is 2.5: it must be a whole number
sqrt_dk_experiment(4) → TypeError: widths is 4: it must be a list of widths
sqrt_dk_experiment("4") → TypeError: widths is '4': it must be a list of widths
sqrt_dk_experiment([4], seed=-1) → ValueError: seed is -1: it must be at least 0
sqrt_dk_experiment([4], seed=None) → TypeError: seed is None: it must be a whole number
sqrt_dk_experiment([4], n_queries=0) → ValueError: n_queries is 0: it must be at least 1
sqrt_dk_experiment([4], n_groups=1.5) → TypeError: n_groups is 1.5: it must be a whole number
sqrt_dk_experiment([4], n_keys=-1) → ValueError: n_keys is -1: it must be at least 1

previous_token_head([]) → ShapeError: tokens is empty: it must hold at least one of the words
previous_token_head("The cat") → TypeError: tokens is 'The cat': it must be a list of words
previous_token_head(None) → TypeError: tokens is None: it must be a list of words
previous_token_head(["The", 2]) → TypeError: tokens[1] is 2: it must be text
previous_token_head(["The"]) → ValueError: back is 1 for 1 token: it must be at most 0, or nothing stands so far back
previous_token_head(["The", "cat"], lead=0) → ValueError: lead is 0.0: it must be above 0
previous_token_head(["The", "cat"], lead="2") → TypeError: lead is '2': it must be a number

offset_head([], 1) → ShapeError: tokens is empty: it must hold at least one of the words
offset_head([["The"]], 0) → TypeError: tokens[0] is ['The']: it must be text
offset_head(["The", "cat"], 2) → ValueError: back is 2 for 2 tokens: it must be at most 1, or nothing stands so far back
offset_head(["The", "cat"], -1) → ValueError: back is -1: it must be at least 0
offset_head(["The", "cat"], 1.0) → TypeError: back is 1.0: it must be a whole number
offset_head(["The", "cat"], True) → TypeError: back is True: it must be a whole number
offset_head(["The", "cat"], 1, lead=-1) → ValueError: lead is -1.0: it must be above 0
offset_head(["The", "cat"], 1, lead=inf) → ValueError: lead is inf: it must be a finite number

sink_head([]) → ShapeError: tokens is empty: it must hold at least one of the words
sink_head(3) → TypeError: tokens is 3: it must be a list of words
sink_head([None]) → TypeError: tokens[0] is None: it must be text
sink_head(["The"], lead=nan) → ValueError: lead is nan: it must be a finite number
sink_head(["The"], lead=True) → TypeError: lead is True: it must be a number

induction_circuit([]) → ShapeError: tokens is empty: it must hold at least one of the words
induction_circuit("aba") → TypeError: tokens is 'aba': it must be a list of words
induction_circuit([b"a"]) → TypeError: tokens[0] is b'a': it must be text
induction_circuit(["a", "b", "a"]) → ValueError: tokens[0] is 'a' and comes back at tokens[2]: it must be a start token, which never does
induction_circuit(["a", "a"]) → ValueError: tokens[0] is 'a' and comes back at tokens[1]: it must be a start token, which never does
induction_circuit(["s", "a"], latest=1) → TypeError: latest is 1: it must be True or False
induction_circuit(["s", "a"], latest=None) → TypeError: latest is None: it must be True or False
induction_circuit(["s", "a"], lead=0) → ValueError: lead is 0.0: it must be above 0
induction_circuit(["s", "a"], lead=[1]) → TypeError: lead is [1]: it must be a number

name_pattern([]) → ShapeError: weights is empty: it must hold at least one of the rows
name_pattern([[1]]) → ShapeError: weights is (1, 1): it must be square, with at least 4 rows
name_pattern([[0.25] * 4] * 5) → ShapeError: weights is (5, 4): it must be square, with at least 4 rows
name_pattern([[1, 0], [1]]) → ShapeError: weights[1] has 1 entry and weights[0] has 2: all rows must be equally long
name_pattern([[1] * 4] * 4) → ValueError: weights[0] sums to 4.0: it must hold shares, which sum to 1
name_pattern([[0] * 4] * 4) → ValueError: weights[0] sums to 0.0: it must hold shares, which sum to 1
name_pattern([[2, -1, 0, 0]] * 4) → ValueError: weights[0][1] is -1.0: a share must not be negative
name_pattern([[nan, 1, 0, 0]] * 4) → ValueError: weights[0][0] is nan: it must be a finite number
name_pattern([[1e308] * 4] * 4) → ValueError: weights[0] sums to inf: it must hold shares, which sum to 1
name_pattern([[True, False, False, False]] * 4) → TypeError: weights[0][0] is True: it must be a number
name_pattern(None) → TypeError: weights is None: it must be a list of rows
name_pattern([[0.25] * 4] * 4, ["a"] * 3) → ShapeError: tokens holds 3 for weights with 4 rows: each row must have one token
name_pattern([[0.25] * 4] * 4, [1, 2, 3, 4]) → TypeError: tokens[0] is 1: it must be text
name_pattern([[0.25] * 4] * 4, "abcd") → TypeError: tokens is 'abcd': it must be a list of words

worked_example_sentence("tired") → TypeError: causal is 'tired': it must be True or False
worked_example_sentence(None) → TypeError: causal is None: it must be True or False
worked_example_sentence(1) → TypeError: causal is 1: it must be True or False

worked_example_two_heads("tired") → TypeError: causal is 'tired': it must be True or False
worked_example_two_heads().heatmap(2) → ValueError: head is 2: it must be below 2
worked_example_two_heads().heatmap(-1) → ValueError: head is -1: it must be at least 0
worked_example_two_heads().heatmap("1") → TypeError: head is '1': it must be a whole number

worked_example_two_looks("hungry") → ValueError: last_word is 'hungry': it must be one of tired, wide, wet
worked_example_two_looks("") → ValueError: last_word is '': it must be one of tired, wide, wet
worked_example_two_looks("Tired") → ValueError: last_word is 'Tired': it must be one of tired, wide, wet
worked_example_two_looks(None) → ValueError: last_word is None: it must be one of tired, wide, wet
worked_example_two_looks(["tired"]) → ValueError: last_word is ['tired']: it must be one of tired, wide, wet
worked_example_two_looks(causal="yes") → TypeError: causal is 'yes': it must be True or False
worked_example_two_looks().shares_of("dog") → ValueError: word is 'dog': it must be one of The, animal, didn't, cross, the, street, because, it, was, too, tired
worked_example_two_looks().shares_of(8) → ValueError: word is 8: it must be one of The, animal, didn't, cross, the, street, because, it, was, too, tired
worked_example_two_looks("wide").heatmap("tired") → ValueError: word is 'tired': it must be one of The, animal, didn't, cross, the, street, because, it, was, too, wide


checks.finite_vector([], "x") → ShapeError: x is empty: it must hold at least one of the numbers
checks.finite_matrix([1], "W_q") → TypeError: W_q[0] is 1: it must be a list of numbers
checks.vector([], "a") → ShapeError: a is empty: it must hold at least one of the numbers
checks.vector(None, "a") → TypeError: a is None: it must be a list of numbers
checks.vector([1, None], "a") → TypeError: a[1] is None: it must be a number
checks.matrix([[1], [2, 3]], "A") → ShapeError: A[1] has 2 entries and A[0] has 1: all rows must be equally long
checks.matrix([], "A") → ShapeError: A is empty: it must hold at least one of the rows
checks.matrix([1, 2], "A") → TypeError: A[0] is 1: it must be a list of numbers
checks.number("3", "scale") → TypeError: scale is '3': it must be a number
checks.number(None, "scale") → TypeError: scale is None: it must be a number
checks.number(True, "scale") → TypeError: scale is True: it must be a number
checks.number(10**400, "scale") → ValueError: scale is 100000000000000000...0000000000000000000: it must fit into a float, so below 1.8e308
checks.number(1j, "scale") → TypeError: scale is 1j: it must be a float or a whole number
checks.finite(nan, "scale") → ValueError: scale is nan: it must be a finite number
checks.finite(-inf, "scale") → ValueError: scale is -inf: it must be a finite number
checks.finite("1", "scale") → TypeError: scale is '1': it must be a number
checks.positive(0, "softcap") → ValueError: softcap is 0.0: it must be above 0
checks.positive(-inf, "softcap") → ValueError: softcap is -inf: it must be a finite number
checks.positive("1", "softcap") → TypeError: softcap is '1': it must be a number
checks.require_width([1], 3, 2, "A") → ShapeError: A[3] has 1 entry and A[0] has 2: all rows must be equally long
checks.require_width([1, 2], 1, 1, "A") → ShapeError: A[1] has 2 entries and A[0] has 1: all rows must be equally long
checks.size(0, "n") → ValueError: n is 0: it must be at least 1
checks.size(1, "n", least=2) → ValueError: n is 1: it must be at least 2
checks.size(2.5, "n") → TypeError: n is 2.5: it must be a whole number
checks.size(True, "n") → TypeError: n is True: it must be a whole number
checks.size(2**64, "n") → ValueError: n is 18446744073709551616: it must be below 2**64
checks.flag(1, "causal") → TypeError: causal is 1: it must be True or False
checks.flag(None, "causal") → TypeError: causal is None: it must be True or False
checks.entries("1, 2", "scores", "numbers") → TypeError: scores is '1, 2': it must be a list of numbers
checks.entries([], "scores", "numbers") → ShapeError: scores is empty: it must hold at least one of the numbers
checks.entries(5, "scores", "numbers") → TypeError: scores is 5: it must be a list of numbers
checks.boolean_vector([1], "is_real") → TypeError: is_real[0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
checks.boolean_vector([], "is_real") → ShapeError: is_real is empty: it must hold at least one of the booleans
checks.boolean_matrix([[True, 0]], "mask") → TypeError: mask[0][1] is 0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
checks.boolean_matrix([[True], []], "mask") → ShapeError: mask[1] is empty: it must hold at least one of the booleans
checks.boolean_matrix([[True], [True, False]], "mask") → ShapeError: mask[1] has 2 entries and mask[0] has 1: all rows must be equally long
checks.finite_vector([1, inf], "x") → ValueError: x[1] is inf: it must be a finite number
checks.finite_matrix([[1, 2], [3, nan]], "W_q") → ValueError: W_q[1][1] is nan: it must be a finite number
checks.require_finite([1.0, nan], "v[3]") → ValueError: v[3][1] is nan: it must be a finite number
checks.in_range([inf]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
checks.in_range([nan]) → ValueError: a sum of products overflows: it must fit into a float, so below 1.8e308
"""  # noqa: E501  # a case a line is easier to read than short lines

LOOP: list[Any] = []
LOOP.append(LOOP)

DEEP: list[Any] = [1]
for _ in range(10_000):
    DEEP = [DEEP]

I = [[1, 0], [0, 1]]  # noqa: E741  # the identity's own name


class LyingLength(list[Any]):
    """An empty list that claims to hold something."""

    def __len__(self) -> int:
        return 1


class Nameless:
    """What can't even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("this is never to be seen")


def seen(score: float, value: list[float]) -> OnlineSoftmax:
    online = OnlineSoftmax()
    online.add(score, value)
    return online


def plain_heads() -> MultiHeadAttention:
    """Two heads of width one, whose weights change nothing."""
    return MultiHeadAttention.from_weights(I, I, I, I, 2)


def cross_heads() -> MultiHeadAttention:
    """Two heads that read a context of width three."""
    return MultiHeadAttention.from_weights(I, [*I, [0, 0]], [*I, [0, 0]], I, 2)


CASES = [tuple(line.split(" → ")) for line in TABLE.splitlines() if line]

# They take no argument that could be wrong, or are what others hand back.
WITHOUT_ARGUMENTS = {"Attention", "ShapeError", "worked_example_it", "worked_example_sat"}
# To a Heatmap, anything true is true.
UNCHECKED = {"Heatmap": {"fractions"}, "Heatmap([[1, 0]]).text": {"color", "ascii"}}
WITHOUT_ERRORS = {"Mask", "Matrix", "ShapeError", "Vector", "shown"}


def error_of(call: str) -> Exception:
    with pytest.raises((ValueError, TypeError)) as caught:
        eval(call)  # noqa: S307  # the table's own text
    return caught.value


def said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def require_form(message: str) -> None:
    given, colon, must = message.rpartition(": ")
    assert colon, message
    assert given.strip(), message
    assert must.strip(), message


# The table.


@pytest.mark.parametrize(("call", "error"), CASES, ids=[call for call, _ in CASES])
def test_a_wrong_call_is_told_what_it_gave_and_what_must_hold(call: str, error: str) -> None:
    caught = error_of(call)
    assert said(caught) == error
    require_form(str(caught))


def test_the_table_has_no_case_twice() -> None:
    calls = [call for call, _ in CASES]
    assert sorted(calls) == sorted(set(calls))


def cases_of(name: str) -> list[str]:
    return [error for call, error in CASES if call.startswith((f"{name}(", f"{name}."))]


def test_every_public_name_has_a_wrong_call() -> None:
    assert {name for name in attention_primer.__all__ if not cases_of(name)} == WITHOUT_ARGUMENTS
    assert {name for name in checks.__all__ if not cases_of(f"checks.{name}")} == WITHOUT_ERRORS


def functions() -> list[tuple[str, Callable[..., Any]]]:
    public = [(name, getattr(attention_primer, name)) for name in attention_primer.__all__]
    methods = [
        ("MultiHeadAttention.from_weights", MultiHeadAttention.from_weights),
        ("MultiHeadAttention(4, 2)", MultiHeadAttention.__call__),
        ("OnlineSoftmax().add", OnlineSoftmax.add),
        ("KVCache(plain_heads()).extend", KVCache.extend),
        ("Heatmap([[1, 0]]).text", Heatmap.text),
        ("Heatmap([[1, 0]]).svg", Heatmap.svg),
    ]
    return [(name, function) for name, function in public + methods if name not in WITHOUT_ARGUMENTS]


@pytest.mark.parametrize(("name", "function"), functions(), ids=[name for name, _ in functions()])
def test_every_argument_has_a_wrong_call_that_names_it(name: str, function: Callable[..., Any]) -> None:
    messages = [error.partition(": ")[2] for error in cases_of(name)]
    for parameter in set(inspect.signature(function).parameters) - {"self"} - UNCHECKED.get(name, set()):
        assert any(re.match(rf"{parameter}\b", message) for message in messages), parameter


# Wrong calls that no line can show.


def test_what_has_no_lasting_name_is_still_refused() -> None:
    for stranger in (Nameless(), (x for x in [1.0]), object(), print):
        with pytest.raises(TypeError, match=r"^scores is <.*>: it must be a list of numbers$"):
            softmax(stranger)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^scores\[1\] is <.*>: it must be a number$"):
            softmax([1.0, stranger])  # type: ignore[list-item]
        with pytest.raises(TypeError, match=r"^n_q is <.*>: it must be a whole number$"):
            causal_mask(stranger)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        "scaled_dot_product_attention([[1]], [[1]], [[1]], None, [[0]])",
        "scaled_dot_product_attention([[1]], [[1]], [[1]], is_causal=True)",
        "flash_attention([[1]], [[1]], [[1]], None, [[0]])",
        "attention_gradients([[1]], [[1]], [[1]], [[1]], None, [[0]])",
        "sliding_window_mask(3, 3, 2)",
        "attention_cost(10, 8, 2)",
        "crossover_length(8, 2)",
        "sqrt_dk_experiment([4], 7)",
        "worked_example_two_looks('tired', True)",
        "MultiHeadAttention(8, 2, 2, 7)",
        "MultiHeadAttention.from_weights(I, I, I, I, 2, 2, [0, 0])",
        "plain_heads()([[1, 2]], None, [[1, 2]])",
        "plain_heads().attend([[1, 2]], None, [[1, 2]])",
        "Heatmap([[1, 0]], ['a'], ['b', 'c'], [[True, True]])",
        "Heatmap([[1, 0]]).text(80)",
        "Heatmap([[1, 0]]).svg('a')",
        "OnlineSoftmax(1)",
        "KVCache(plain_heads(), 2)",
        "softmax([1], [2])",
        "dot([1])",
    ],
)
def test_what_is_named_can_not_be_handed_in_by_its_place(call: str) -> None:
    assert re.search(r"positional argument|unexpected keyword", said(error_of(call)))


def test_an_online_softmax_stays_as_it_was_after_an_error() -> None:
    def state(online: OnlineSoftmax) -> tuple[float, float, list[float]]:
        return online.largest, online.total, list(online.weighted)

    online = seen(1.5, [1.7e308, 3.0])
    wrong: list[tuple[Any, Any]] = [(nan, [1, 1]), (2, [1]), (2, [1, nan]), (2, "ab"), (1.5, [1.7e308, 0])]
    for score, value in wrong:
        with pytest.raises((ValueError, TypeError)):
            online.add(score, value)
    for other in (seen(1.5, [1.7e308, 3.0]), seen(9, [1]), [1]):
        with pytest.raises((ValueError, TypeError)):
            online.merge(other)  # type: ignore[arg-type]
    assert state(online) == (1.5, 1.0, [1.7e308, 3.0])


def test_a_cache_stays_as_it_was_after_an_error() -> None:
    cache = KVCache(plain_heads(), capacity=2)
    first = cache.extend([[1, 2]])
    for wrong in ([], [[1]], [[1, nan]], [[1e200, 1]], [[1, 2]] * 2, None):
        with pytest.raises((ValueError, TypeError)):
            cache.extend(wrong)  # type: ignore[arg-type]
    assert (cache.positions, cache.n_numbers, cache.n_dots) == (range(1), 4, 2)
    assert first + cache.extend([[3, 4]]) == plain_heads()([[1, 2], [3, 4]], causal_mask(2))


def test_a_wrong_width_is_told_before_the_weights_of_a_large_model_are_drawn() -> None:
    mha = MultiHeadAttention(4096, 32, 8)
    for wrong in (mha.queries, mha.keys, mha.values, mha):
        with pytest.raises(attention_primer.ShapeError, match="its rows must be 4096 wide"):
            wrong([[1, 2]])
    assert not {"W_q", "W_k", "W_v", "W_o"} & set(vars(mha))


# What looks odd and is right.


def test_fractions_are_numbers_and_give_what_floats_give() -> None:
    assert softmax([Fraction(1, 2), Fraction(1, 4)]) == softmax([0.5, 0.25])  # type: ignore[list-item]
    assert dot([Fraction(1, 2)], [3]) == 1.5  # type: ignore[list-item]


def test_the_smallest_and_the_largest_floats_are_numbers_like_others() -> None:
    least, most = 5e-324, 1.7976931348623157e308
    assert dot([least], [1]) == least
    assert softmax([least, 0, -least]) == [1 / 3] * 3
    assert softmax([most, -most]) == [1.0, 0.0]
    assert softmax_jacobian([1.0, least]) == [[least, -least], [-least, least]]
    assert scaled_dot_product_attention([[least]], [[least]], [[most]]).output == [[most]]
    assert scaled_dot_product_attention([[1]], [[2], [3]], [[1], [4]], softcap=least).weights == [[0.5, 0.5]]


def test_a_range_is_a_list_of_whole_numbers() -> None:
    assert dot(range(3), range(3)) == 5.0


# Arrays of NumPy, where it is installed.


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble", "int8", "uint8", "int64", "uint64"])
def test_an_array_of_numbers_gives_what_lists_give(dtype: str) -> None:
    np = pytest.importorskip("numpy")
    A = np.array([[1, 2], [3, 4]], dtype=dtype)
    lists = [[1.0, 2.0], [3.0, 4.0]]
    assert matmul(A, A) == matmul(lists, lists)
    assert matmul(list(A), [list(row) for row in A]) == matmul(lists, lists)
    assert softmax(A[0]) == softmax(lists[0])
    assert plain_heads()(A) == plain_heads()(lists)
    assert type(dot(A[0], A[1])) is float
    assert {type(x) for row in scaled_dot_product_attention(A, A, A, scale=A[0][0]).output for x in row} == {float}
    assert A.tolist() == lists


def test_an_array_of_booleans_is_a_mask_and_one_of_whole_numbers_is_a_count_where_it_is_one() -> None:
    np = pytest.importorskip("numpy")
    mask = np.tril(np.ones((3, 3), dtype=bool))
    assert combine_masks(mask) == causal_mask(3)
    assert combine_masks([list(row) for row in mask]) == causal_mask(3)
    assert {type(x) for row in combine_masks(mask) for x in row} == {bool}
    assert padding_mask(np.array([True, False])) == padding_mask([True, False])
    assert causal_mask(np.int32(3)) == causal_mask(np.array(3)) == causal_mask(3)


ARRAYS = r"""
softmax(np.array(3.0)) → TypeError: scores is 3.0: it must be a list of numbers
softmax(np.array([])) → ShapeError: scores is empty: it must hold at least one of the numbers
softmax(np.array([[1.0, 2.0]])) → TypeError: scores[0] is [1.0, 2.0]: it must be a number
softmax(np.array([1.0, np.nan])) → ValueError: scores[1] is nan: it must be a number, or -inf to hide it
softmax(np.array([1j])) → TypeError: scores[0] is 1j: it must be a float or a whole number
softmax(np.array(["1"])) → TypeError: scores[0] is '1': it must be a number
softmax(np.array([None])) → TypeError: scores[0] is None: it must be a number
softmax(np.array([True])) → TypeError: scores[0] is True: it must be a number
softmax([np.array(1.0)]) → TypeError: scores[0] is array(1.): it must be a number
softmax([np.bool_(True)]) → TypeError: scores[0] is np.True_: it must be a number
softmax([np.longdouble("inf")]) → ValueError: scores[0] is inf: it must be a number, or -inf to hide it
softmax(np.ma.array([1.0], mask=[True])) → TypeError: scores[0] is None: it must be a number
softmax(np.ndarray) → TypeError: scores is <class 'numpy.ndarray'>: it must be a list of numbers
shape(np.zeros((0, 3))) → ShapeError: A is empty: it must hold at least one of the rows
shape(np.zeros((3, 0))) → ShapeError: A[0] is empty: it must hold at least one of the numbers
shape(np.zeros((1, 2, 3))) → TypeError: A[0][0] is [0.0, 0.0, 0.0]: it must be a number
causal_mask(np.array([3])) → TypeError: n_q is array([3]): it must be a whole number
causal_mask(np.array(3.5)) → TypeError: n_q is array(3.5): it must be a whole number
causal_mask(np.float64(3)) → TypeError: n_q is np.float64(3.0): it must be a whole number
causal_mask(np.bool_(True)) → TypeError: n_q is np.True_: it must be a whole number
combine_masks(np.ones((1, 1))) → TypeError: masks[0][0][0] is 1.0: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
combine_masks([[np.int8(1)]]) → TypeError: masks[0][0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
combine_masks(np.ones((1, 1, 1), dtype=bool)) → TypeError: masks[0][0][0] is [True]: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere
worked_example_sentence(np.array([1, 2])) → TypeError: causal is array([1, 2]): it must be True or False
"""  # noqa: E501


@pytest.mark.parametrize(("call", "error"), [tuple(line.split(" → ")) for line in ARRAYS.splitlines() if line])
def test_a_wrong_array_is_told_as_a_wrong_list_is(call: str, error: str) -> None:
    np = pytest.importorskip("numpy", minversion="2")
    with pytest.raises((ValueError, TypeError)) as caught:
        eval(call, {**globals(), "np": np})  # noqa: S307  # the table's own text
    assert said(caught.value) == error


# Junk.

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.sampled_from([10**400, -(10**400), 2**64, LOOP, LyingLength(), 1j, Decimal(1)])
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
)
junk = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers(-1, 3), inner, max_size=2)
    ),
    max_leaves=8,
)
# Half junk: lists and tables of the right form in which an entry or two is wrong.
entries = st.sampled_from([0, 1, -1.5, 0.25, 1e308, -1e308, 5e-324, inf, -inf, nan, True, False]) | leaves
rows = st.lists(entries, min_size=1, max_size=3)
half_junk = (
    entries
    | rows
    | st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(entries, min_size=d, max_size=d).map(tuple), min_size=1, max_size=3)
    )
)

Judge = Callable[[Any], bool]


def is_list(x: Any, of: Judge) -> bool:
    return isinstance(x, list | tuple) and not isinstance(x, LyingLength) and len(x) > 0 and all(map(of, x))


def is_number(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and abs(x) < 2**1024)


def is_finite(x: Any) -> bool:
    return is_number(x) and abs(x) < inf


def is_score(x: Any) -> bool:
    return is_number(x) and x < inf


def is_boolean(x: Any) -> bool:
    return x is True or x is False


def is_count(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 2**64


def is_text(x: Any) -> bool:
    return isinstance(x, str)


def row_of(of: Judge) -> Judge:
    return lambda x: is_list(x, of)


def table_of(of: Judge) -> Judge:
    return lambda x: is_list(x, row_of(of)) and len({len(row) for row in x}) == 1


def maybe(of: Judge) -> Judge:
    return lambda x: x is None or of(x)


def either(*judges: Judge) -> Judge:
    return lambda x: any(judge(x) for judge in judges)


class Call(NamedTuple):
    """A public callable with right arguments, and how an independent judge knows a right one for each."""

    function: Callable[..., Any]
    right: dict[str, tuple[Any, Judge]]


VECTOR, FINITE_TABLE, TABLE_OF_NUMBERS = row_of(is_finite), table_of(is_finite), table_of(is_number)
BIAS, MASK = maybe(table_of(is_score)), maybe(table_of(is_boolean))
HEADS = {"n_heads": (2, is_count), "n_kv_heads": (1, maybe(is_count))}
# What a hidden key holds doesn't matter, so keys and values may hold NaN.
QKV = {"q": ([[1, 2]], FINITE_TABLE), "k": ([[3, 4]], TABLE_OF_NUMBERS), "v": ([[5]], TABLE_OF_NUMBERS)}
SEEN = {"mask": ([[True]], MASK), "bias": ([[0.5]], BIAS)}
CONTEXT = {"context": ([[1, 2]], maybe(TABLE_OF_NUMBERS))}
WORDS = row_of(is_text)
LABELS = maybe(WORDS)


def drawn(picture: Heatmap) -> str:
    return picture.text() + picture.text(ascii=True, color=True) + picture.svg() + picture.table() + repr(picture)


def added(score: Any, value: Any) -> list[float]:
    online = seen(0.5, [1, 2])
    online.add(score, value)
    return online.output


def merged(other: Any) -> list[float]:
    online = seen(0.5, [1, 2])
    online.merge(other)
    return online.output


def built(**weights: Any) -> list[list[float]]:
    return MultiHeadAttention.from_weights(**weights)([[1, 2]])


JUNK_CALLS = {
    "dot": Call(dot, {"a": ([1, 2], VECTOR), "b": ([3, 4], VECTOR)}),
    "mix": Call(mix, {"shares": ([1, 2], VECTOR), "rows": ([[1], [2]], FINITE_TABLE)}),
    "matmul": Call(matmul, {"A": ([[1, 2]], FINITE_TABLE), "B": ([[1], [2]], FINITE_TABLE)}),
    "transpose": Call(transpose, {"A": ([[1, 2]], TABLE_OF_NUMBERS)}),
    "shape": Call(shape, {"A": ([[1, 2]], TABLE_OF_NUMBERS)}),
    "softmax": Call(softmax, {"scores": ([1, 2], row_of(is_score))}),
    "log_softmax": Call(log_softmax, {"scores": ([1, 2], row_of(is_score))}),
    "softmax_jacobian": Call(softmax_jacobian, {"shares": ([0.25, 0.75], VECTOR)}),
    "OnlineSoftmax.add": Call(added, {"score": (1, is_score), "value": ([1, 2], row_of(is_number))}),
    "OnlineSoftmax.merge": Call(merged, {"other": (seen(1, [2, 3]), lambda x: isinstance(x, OnlineSoftmax))}),
    "causal_mask": Call(causal_mask, {"n_q": (1, is_count), "n_k": (3, maybe(is_count))}),
    "sliding_window_mask": Call(
        sliding_window_mask, {"n_q": (1, is_count), "n_k": (3, maybe(is_count)), "window": (2, is_count)}
    ),
    "padding_mask": Call(padding_mask, {"is_real": ([True], row_of(is_boolean)), "n_q": (1, maybe(is_count))}),
    "combine_masks": Call(
        lambda first, second: combine_masks(first, second),
        {"first": ([[True]], table_of(is_boolean)), "second": ([[False]], table_of(is_boolean))},
    ),
    "strided_mask": Call(strided_mask, {"n_q": (1, is_count), "n_k": (3, maybe(is_count)), "stride": (2, is_count)}),
    "global_mask": Call(global_mask, {"is_global": ([True], row_of(is_boolean)), "n_q": (1, maybe(is_count))}),
    "unite_masks": Call(
        lambda first, second: unite_masks(first, second),
        {"first": ([[True]], table_of(is_boolean)), "second": ([[False]], table_of(is_boolean))},
    ),
    "alibi_slopes": Call(alibi_slopes, {"n_heads": (2, is_count)}),
    "alibi_bias": Call(alibi_bias, {"n_heads": (2, is_count), "n_q": (1, is_count), "n_k": (3, maybe(is_count))}),
    "read_mask": Call(
        read_mask,
        {"table": ([[1, 0]], either(table_of(is_number), table_of(is_boolean))), "convention": ("ones", is_text)},
    ),
    "write_mask": Call(write_mask, {"mask": ([[True, False]], table_of(is_boolean)), "convention": ("ones", is_text)}),
    "attention_cost": Call(attention_cost, {"n": (5, is_count), "d_model": (4, is_count), **HEADS}),
    "crossover_length": Call(crossover_length, {"d_model": (4, is_count), **HEADS}),
    "kv_cache_bytes": Call(
        kv_cache_bytes,
        dict.fromkeys(("n_tokens", "n_layers", "n_kv_heads", "d_head", "bytes_per_number"), (2, is_count)),
    ),
    "scaled_dot_product_attention": Call(
        scaled_dot_product_attention,
        {**QKV, **SEEN, "scale": (1, maybe(is_finite)), "softcap": (2, maybe(is_finite))},
    ),
    "flash_attention": Call(
        flash_attention,
        {
            **QKV,
            **SEEN,
            "scale": (1, maybe(is_finite)),
            "softcap": (2, maybe(is_finite)),
            "tile_q": (2, is_count),
            "tile_k": (1, is_count),
        },
    ),
    "linear_attention": Call(linear_attention, {**QKV, "mask": SEEN["mask"]}),
    "linear_attention_weights": Call(linear_attention_weights, {"q": QKV["q"], "k": QKV["k"], "mask": SEEN["mask"]}),
    "attention_gradients": Call(
        attention_gradients, {**QKV, "d_output": ([[1]], FINITE_TABLE), **SEEN, "scale": (1, maybe(is_finite))}
    ),
    "MultiHeadAttention": Call(
        lambda **sizes: MultiHeadAttention(**sizes).kv_params,
        {"d_model": (4, is_count), **HEADS, "seed": (7, is_count)},
    ),
    "MultiHeadAttention.from_weights": Call(
        built,
        {
            **dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (I, FINITE_TABLE)),
            "n_heads": (2, is_count),
            "n_kv_heads": (2, maybe(is_count)),
            **{b: ([1, 2], maybe(VECTOR)) for b in ("b_q", "b_k", "b_v", "b_o")},
        },
    ),
    "MultiHeadAttention.__call__": Call(plain_heads(), {"x": ([[1, 2]], FINITE_TABLE), **SEEN, **CONTEXT}),
    "MultiHeadAttention.attend": Call(plain_heads().attend, {"x": ([[1, 2]], FINITE_TABLE), **SEEN, **CONTEXT}),
    "MultiHeadAttention.queries": Call(plain_heads().queries, {"x": ([[1, 2]], FINITE_TABLE)}),
    "MultiHeadAttention.join": Call(plain_heads().join, {"outputs": ([[[1]], [[2]]], row_of(FINITE_TABLE))}),
    "KVCache": Call(
        lambda **given: KVCache(**given).extend([[1, 2]]),
        {
            "mha": (plain_heads(), lambda x: isinstance(x, MultiHeadAttention)),
            "window": (2, maybe(is_count)),
            "capacity": (2, maybe(is_count)),
        },
    ),
    "KVCache.extend": Call(
        lambda x: KVCache(plain_heads(), window=2, capacity=2).extend(x), {"x": ([[1, 2]], FINITE_TABLE)}
    ),
    "previous_token_head": Call(previous_token_head, {"tokens": (["a", "b"], WORDS), "lead": (1, is_finite)}),
    "offset_head": Call(offset_head, {"tokens": (["a", "b"], WORDS), "back": (1, is_count), "lead": (1, is_finite)}),
    "sink_head": Call(sink_head, {"tokens": (["a"], WORDS), "lead": (1, is_finite)}),
    "induction_circuit": Call(
        induction_circuit, {"tokens": (["a", "b"], WORDS), "latest": (True, is_boolean), "lead": (1, is_finite)}
    ),
    "name_pattern": Call(
        name_pattern, {"weights": ([[0.25] * 4] * 4, FINITE_TABLE), "tokens": (["a", "b", "c", "d"], maybe(WORDS))}
    ),
    "Heatmap": Call(
        lambda **given: drawn(Heatmap(**given)),
        {
            "values": ([[1, 0]], either(table_of(is_score), table_of(is_boolean), TABLE_OF_NUMBERS)),
            "queries": (["a"], LABELS),
            "keys": (["b", "c"], LABELS),
            "mask": ([[True, False]], MASK),
            "title": ("t", is_text),
            "finding": ("f", is_text),
        },
    ),
    "Heatmap.text": Call(Heatmap([[1, 0]]).text, {"width": (80, is_count)}),
    "Heatmap.svg": Call(Heatmap([[1, 0]]).svg, {"prefix": ("a", is_text)}),
    "sqrt_dk_experiment": Call(
        sqrt_dk_experiment,
        {
            "widths": ([2], row_of(is_count)),
            "seed": (1, is_count),
            **dict.fromkeys(("n_queries", "n_groups", "n_keys"), (2, is_count)),
        },
    ),
    "worked_example_sentence": Call(worked_example_sentence, {"causal": (True, is_boolean)}),
    "worked_example_two_heads": Call(worked_example_two_heads, {"causal": (True, is_boolean)}),
    "worked_example_two_looks": Call(
        worked_example_two_looks, {"last_word": ("wide", is_text), "causal": (True, is_boolean)}
    ),
}
# They hand on NaN, since it may stand in a row that a mask hides later.
HANDING_ON = {"transpose"}


def numbers_in(result: Any) -> list[float]:
    if isinstance(result, float):
        return [result]
    return [x for part in result for x in numbers_in(part)] if isinstance(result, list | tuple) else []


def test_junk_is_thrown_at_every_public_name() -> None:
    assert {name.partition(".")[0] for name in JUNK_CALLS} == set(attention_primer.__all__) - WITHOUT_ARGUMENTS
    for name, call in JUNK_CALLS.items():
        if name in attention_primer.__all__ and not name.endswith("_masks"):
            parameters = set(inspect.signature(getattr(attention_primer, name)).parameters)
            assert parameters - set(call.right) == UNCHECKED.get(name, set())


@pytest.mark.parametrize("name", JUNK_CALLS)
@given(st.data())
def test_junk_gets_a_right_answer_or_an_error_that_says_what_must_hold(name: str, data: st.DataObject) -> None:
    call = JUNK_CALLS[name]
    wrong = data.draw(st.lists(st.sampled_from(list(call.right)), min_size=1, max_size=2, unique=True))
    arguments = {key: deepcopy(value) for key, (value, _) in call.right.items()}
    arguments |= {key: data.draw(junk | half_junk, label=key) for key in wrong}
    before = shown_all(arguments)
    try:
        result = call.function(**arguments)
    except (ValueError, TypeError) as error:
        require_form(str(error))
    else:
        assert [key for key, (_, judge) in call.right.items() if not judge(arguments[key])] == []
        assert name in HANDING_ON or not any(map(isnan, numbers_in(result)))
    assert shown_all(arguments) == before


def shown_all(arguments: dict[str, Any]) -> list[Any]:
    """Write arguments out in full, except what can't be: those are asked for by identity."""
    return [written(x) for x in arguments.values()]


def written(x: Any) -> Any:
    if x is LOOP or x is DEEP:
        return id(x)
    if isinstance(x, list | tuple):
        return type(x), [written(part) for part in x]
    return id(x) if isinstance(x, int | OnlineSoftmax | MultiHeadAttention) else repr(x)
