"""Measure speed and accuracy: `python tests/benchmarks/run.py`, or with `speed` or `accuracy` behind it for one."""

import sys
import warnings

import accuracy
import speed

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # SciPy and the naive version overflow in some families, and the table says so
    chosen = sys.argv[1:] or ["speed", "accuracy"]
    for name in chosen:
        for line in {"speed": speed, "accuracy": accuracy}[name].report():
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
