"""Slow and sure answers to compare with, and the measures of how far a float may be from them."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from mpmath import mp, mpf  # type: ignore[import-untyped]

from attention_primer.checks import Mask, Matrix, Vector

__all__ = ["TINY", "U", "bits", "exact_attention", "exact_softmax", "mp", "watched"]

P = ParamSpec("P")
T = TypeVar("T")

U = 2.0**-53  # the relative error of one rounded sum, product or quotient
TINY = 5e-324  # the least step there is, for results that underflow

mp.dps = 50


def bits(x: Any) -> Any:
    """Write floats by their bits, in tables of any depth, so that == tells 0.0 from −0.0 and NaN equals NaN."""
    return x.hex() if isinstance(x, float) else [bits(y) for y in x]


def watched(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function; its arguments must stay as they are, and no two lists of the result may be one object."""
    before = repr((args, kwargs))
    result = function(*args, **kwargs)
    assert repr((args, kwargs)) == before, "an argument was changed"
    made, given = _lists(result), _lists((args, kwargs))
    assert len({id(x) for x in made}) == len(made), "two lists of the result are one object"
    assert not {id(x) for x in made} & {id(x) for x in given}, "the result shares a list with an argument"
    return result


def _lists(x: object) -> list[object]:
    if isinstance(x, dict):
        return _lists(list(x.values()))[1:]
    if isinstance(x, list | tuple):
        return [x] * isinstance(x, list) + [part for y in x for part in _lists(y)]
    return []


def exact_softmax(scores: Vector) -> list[mpf]:
    """Share at 50 digits."""
    e_values = [mp.exp(mpf(s)) for s in scores]
    total = mp.fsum(e_values)
    return [e / total for e in e_values]


def exact_attention(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    mask: Mask,
    bias: Matrix | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> tuple[list[list[mpf]], list[list[mpf]]]:
    """Attend at 50 digits, over the visible keys only, one number at a time."""
    factor = 1 / mp.sqrt(len(k[0])) if scale is None else mpf(scale)
    output, weights = [], []
    for i, q_i in enumerate(q):
        seen = [j for j in range(len(k)) if mask[i][j]]
        scores = [factor * mp.fdot(map(mpf, q_i), map(mpf, k[j])) for j in seen]
        if softcap is not None:
            scores = [softcap * mp.tanh(s / mpf(softcap)) for s in scores]
        if bias is not None:
            scores = [s + mpf(bias[i][j]) for s, j in zip(scores, seen, strict=True)]
        shares = dict(zip(seen, exact_softmax(scores), strict=True))
        weights.append([shares.get(j, mpf(0)) for j in range(len(k))])
        output.append([mp.fsum(shares[j] * mpf(v[j][c]) for j in seen) for c in range(len(v[0]))])
    return output, weights
