"""What the library is measured against: the same attention and softmax, written in other ways."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import exp, inf, sqrt
from operator import mul
from typing import Any

Table = list[list[float]]
Mask = list[list[bool]]
Attend = Callable[[Table, Table, Table, Mask | None], Any]


def installed(name: str) -> Any:
    """Import a library that may be missing; None if it is."""
    return import_module(name) if find_spec(name.split(".")[0]) else None


def bare(q: Table, k: Table, v: Table, mask: Mask | None = None) -> Table:
    """Attend with `sum(map(mul, …))` and nothing else: no check, no mask but the causal one, no readable step."""
    scale, columns, output = 1 / sqrt(len(q[0])), list(zip(*v, strict=True)), []
    for i, q_i in enumerate(q):
        seen = len(k) if mask is None else i + 1
        weights = bare_softmax([sum(map(mul, q_i, k_j)) * scale for k_j in k[:seen]])
        output.append([sum(map(mul, weights, column[:seen])) for column in columns])
    return output


def textbook(q: Table, k: Table, v: Table, mask: Mask | None = None) -> Table:
    """Attend as many explanations do, with generator expressions over the formula."""
    output = []
    for i, q_i in enumerate(q):
        scores = [sum(a * b for a, b in zip(q_i, k_j, strict=True)) / sqrt(len(q_i)) for k_j in k]
        if mask is not None:
            scores = [s if seen else -inf for s, seen in zip(scores, mask[i], strict=True)]
        weights = bare_softmax(scores)
        output.append([sum(w * v_j[c] for w, v_j in zip(weights, v, strict=True)) for c in range(len(v[0]))])
    return output


def bare_softmax(scores: list[float]) -> list[float]:
    """Take the largest off, exponentiate, divide: no check, and a plain sum."""
    largest = max(scores)
    e_values = [exp(s - largest) for s in scores]
    total = sum(e_values)
    return [e / total for e in e_values]


def naive_softmax(scores: list[float]) -> list[float]:
    """Follow the formula to the letter; large scores overflow."""
    e_values = [exp(s) for s in scores]
    total = sum(e_values)
    return [e / total for e in e_values]


def numpy_attention(numpy: Any) -> Attend:
    """Attend by NumPy, with lists in and lists out."""

    def attend(q: Table, k: Table, v: Table, mask: Mask | None = None) -> Any:
        Q, K, V = (numpy.array(table) for table in (q, k, v))
        scores = Q @ K.T / sqrt(len(q[0]))
        if mask is not None:
            scores = numpy.where(numpy.array(mask), scores, -inf)
        e_values = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        return (e_values / e_values.sum(axis=1, keepdims=True) @ V).tolist()

    return attend
