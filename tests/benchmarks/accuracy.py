"""Measure how accurate softmax is, beside SciPy's and the naive version, against mpmath with 60 digits."""

from collections.abc import Callable, Iterator, Sequence
from math import inf, isnan, ulp
from random import Random
from typing import Any

from kernels import installed, naive_softmax

from attention_primer import log_softmax, softmax

LENGTHS = {2: 40, 3: 40, 8: 40, 64: 20, 512: 6, 1000: 4}
Scores = list[float]
Softmax = Callable[[Scores], Sequence[float]]


def families(rng: Random) -> dict[str, Callable[[int], Scores]]:
    """Name the kinds of scores, each as a function of how many."""
    gauss = rng.gauss
    return {
        "N(0, 1)": lambda n: [gauss(0, 1) for _ in range(n)],
        "N(0, 10)": lambda n: [gauss(0, 10) for _ in range(n)],
        "N(0, 100)": lambda n: [gauss(0, 100) for _ in range(n)],
        "ties": lambda n: [rng.randrange(-2, 3) / 3 for _ in range(n)],
        "half are −∞": lambda n: [gauss(0, 1) if j % 2 else -inf for j in range(n)],
        "all below −20": lambda n: [-20 - abs(gauss(0, 10)) for _ in range(n)],
        "1000 + N(0, 1)": lambda n: [gauss(1000, 1) for _ in range(n)],
        "−1000 + N(0, 1)": lambda n: [gauss(-1000, 1) for _ in range(n)],
        "N(0, 1) · 1e300": lambda n: [gauss(0, 1e300) for _ in range(n)],
        "one far ahead": lambda n: [10.0, *(rng.uniform(-700, -10) for _ in range(n - 1))],
        "denormal": lambda n: [gauss(0, 1) * 1e-310 for _ in range(n)],
    }


def exact(mpmath: Any, scores: Scores) -> tuple[list[Any], list[Any]]:
    """Compute shares and their logarithms with so many digits that they count as exact."""
    # A float reaches down to 1e-323, and log(1 + 1e-323) needs as many digits behind the 1.
    with mpmath.workdps(60):
        lead = [mpmath.mpf(s) - max(scores) for s in scores]
        e_values = [mpmath.exp(x) for x in lead]
        total = mpmath.fsum(e_values)
        rest = mpmath.fsum(sorted(e_values)[:-1])  # all but one largest, which is 1
        log_total = mpmath.log1p(rest)
        return [e / total for e in e_values], [x - log_total for x in lead]


def error(got: Sequence[float], want: list[Any]) -> float:
    """Tell the largest distance in units in the last place of the right number; hidden entries must be exact."""
    units = [
        float(abs(g - w) / ulp(float(w))) if abs(w) < inf else (0.0 if g == w else inf)
        for g, w in zip(got, want, strict=True)
    ]
    return inf if any(map(isnan, units)) else max(units)


def worst(function: Softmax, cases: list[tuple[Scores, list[Any]]]) -> float:
    """Take the largest error over all cases; overflow counts as infinitely wrong."""
    try:
        return max(error([float(x) for x in function(scores)], want) for scores, want in cases)
    except (OverflowError, ZeroDivisionError):
        return inf


def report() -> Iterator[str]:
    """Yield the largest errors, family by family."""
    mpmath, scipy = installed("mpmath"), installed("scipy.special")
    if mpmath is None:
        yield "\nAccuracy: not measured, since mpmath is not installed"
        return
    peers: dict[str, tuple[Softmax, Softmax | None]] = {
        "library": (softmax, log_softmax),
        "naive": (naive_softmax, None),
    }
    if scipy:
        peers["SciPy"] = (scipy.softmax, scipy.log_softmax)
    yield "\nAccuracy: largest error in units in the last place, n up to 1000\n"
    names = [f"{name} {what}" for what in ("softmax", "log") for name in peers if what == "softmax" or name != "naive"]
    yield "family".ljust(16) + "".join(name.rjust(16) for name in names)
    rng = Random(0)
    for family, draw in families(rng).items():
        drawn = [draw(n) for n, times in LENGTHS.items() for _ in range(times)]
        solved = [(scores, *exact(mpmath, scores)) for scores in drawn]
        shares = [(scores, share) for scores, share, _ in solved]
        logs = [(scores, log) for scores, _, log in solved]
        errors = [worst(peer, shares) for peer, _ in peers.values()]
        errors += [worst(peer, logs) for _, peer in peers.values() if peer]
        yield family.ljust(16) + "".join(f"{units:16.3g}" for units in errors)
