"""Measure how fast the library is beside its peers, in one process, in turns, best of several."""

import gc
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from math import fsum, log
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

from kernels import Attend, Mask, Table, bare, bare_softmax, installed, numpy_attention, textbook

from attention_primer import causal_mask, scaled_dot_product_attention, softmax

WIDTH = 64
ROUNDS = {64: 24, 128: 12, 192: 10, 256: 5, 512: 2}


def library(q: Table, k: Table, v: Table, mask: Mask | None = None) -> Table:
    """Attend by the library, all checks included."""
    return scaled_dot_product_attention(q, k, v, mask).output


def best(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Call all in turns, so that a busy moment hits every one, and keep the least processor time of each."""
    least = dict.fromkeys(calls, float("inf"))
    gc.disable()
    for _ in range(rounds):
        for name, call in calls.items():
            started = process_time()
            call()
            least[name] = min(least[name], process_time() - started)
    gc.enable()
    return least


def attention_times(rng: Random) -> dict[tuple[int, str], dict[str, float]]:
    """Measure attention for each length, with and without the causal mask."""
    peers: dict[str, Attend] = {"library": library, "bare": bare, "textbook": textbook}
    if numpy := installed("numpy"):
        peers["numpy"] = numpy_attention(numpy)
    measured = {}
    for n, rounds in ROUNDS.items():
        q, k, v = ([[rng.gauss(0, 1) for _ in range(WIDTH)] for _ in range(n)] for _ in range(3))
        for kind, mask in {"full": None, "causal": causal_mask(n)}.items():
            require_same([attend(q, k, v, mask) for attend in peers.values()])
            calls = {name: _call(attend, q, k, v, mask) for name, attend in peers.items()}
            measured[n, kind] = best(calls, rounds)
    return measured


def _call(attend: Attend, *arguments: Any) -> Callable[[], Any]:
    return lambda: attend(*arguments)


def require_same(outputs: list[Table]) -> None:
    """Refuse to compare the speed of different answers."""
    for output in outputs:
        for row, first in zip(output, outputs[0], strict=True):
            assert all(abs(a - b) < 1e-12 for a, b in zip(row, first, strict=True))


def softmax_times(rng: Random) -> dict[int, dict[str, float]]:
    """Measure softmax alone; a thousand calls a turn, since one is too short for the clock."""
    measured = {}
    for n in (8, 64, 512):
        scores = [rng.gauss(0, 1) for _ in range(n)]
        calls = {"library": _many(softmax, scores), "bare": _many(bare_softmax, scores)}
        measured[n] = best(calls, 20)
    return measured


def _many(function: Callable[[list[float]], Any], scores: list[float]) -> Callable[[], None]:
    def call() -> None:
        for _ in range(4000 // len(scores)):
            function(scores)

    return call


def exponent(times: Mapping[int, float]) -> float:
    """Fit the slope of log time over log n by least squares: 2 means that twice the length costs four times."""
    points = [(log(n), log(seconds)) for n, seconds in times.items()]
    x_mean, y_mean = (fsum(column) / len(points) for column in zip(*points, strict=True))
    return fsum((x - x_mean) * (y - y_mean) for x, y in points) / fsum((x - x_mean) ** 2 for x, _ in points)


def import_milliseconds() -> float:
    """Measure the processor time that `import attention_primer` adds to a bare interpreter."""
    least = {"pass": float("inf"), "import attention_primer": float("inf")}
    for _ in range(15):
        for code in least:
            started = _children()
            subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # this very Python
            least[code] = min(least[code], _children() - started)
    bare_start, with_import = least.values()
    return 1000 * (with_import - bare_start)


def _children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report() -> Iterator[str]:
    """Yield all ratios, line by line."""
    rng = Random(0)
    measured = attention_times(rng)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"\nSpeed on {python}: attention, d = {WIDTH}; ratios of the best processor times\n"
    yield "   n  mask    library / bare  textbook / library  library / NumPy"
    for (n, kind), seconds in measured.items():
        lists = f"{seconds['library'] / seconds['numpy']:15.0f}" if "numpy" in seconds else "not installed".rjust(15)
        ratios = f"{seconds['library'] / seconds['bare']:14.2f}  {seconds['textbook'] / seconds['library']:18.2f}"
        yield f"{n:4}  {kind:6}  {ratios}  {lists}"
    for kind in ("full", "causal"):
        times = {n: seconds["library"] for (n, here), seconds in measured.items() if here == kind}
        yield f"Growth of the library's time, {kind}: n to the {exponent(times):.2f}"
    yield "\nsoftmax alone\n   n  library / bare"
    for n, seconds in softmax_times(rng).items():
        yield f"{n:4}  {seconds['library'] / seconds['bare']:14.2f}"
    yield f"\nimport attention_primer: {import_milliseconds():.0f} ms over a bare interpreter"
