"""Draw what the width of a vector does to scores and shares, with and without the divisor."""

from collections.abc import Callable, Sequence
from functools import cache
from math import fsum, sqrt
from operator import mul
from random import Random

from attention_primer.softmaxes import softmax
from machinery.drawing import Figure, box, line, number, svg, table, text
from machinery.live import Choice, Slider, live

_WIDTHS = (4, 16, 64, 256, 1024)
_LEFT, _STEP, _BLOCK = 70, 56, 236
_SCORES, _SHARES = 96, 46  # how high the strip of scores and the strip of shares are
_D_MODEL = 1024
_DIVISORS: dict[str, Callable[[int], float]] = {
    "1": lambda _: 1,
    "√d_k": sqrt,
    "d_k": float,
    "√d_model": lambda _: sqrt(_D_MODEL),
}

Rows = Sequence[Sequence[float]]


@live(
    "Which divisor makes all five columns look alike?",
    Choice("divide by", tuple(_DIVISORS), start="√d_k"),
    Slider("random draw", range(3), start=0, show=lambda seed: str(seed + 1)),
)
def width_dial(divisor: str, seed: int) -> Figure:
    """Draw five widths in columns: eight scores, their shares, and the average largest share of many draws."""
    raw, scaled = _drawn("1", seed), _drawn(divisor, seed)
    before, after = _averages("1", seed), _averages(divisor, seed)
    return Figure(
        svg(
            _LEFT + 5 * _STEP + 4,
            30 + 2 * _BLOCK,
            text(_LEFT - 8, 16, "width d_k", anchor="end", size=13),
            *(text(_LEFT + _STEP * (w + 0.5), 16, number(d, ","), bold=True) for w, d in enumerate(_WIDTHS)),
            *_block(30, "raw scores", 80, raw, before),
            *_block(30 + _BLOCK, f"divided by {divisor}", 80 if divisor == "1" else 4, scaled, after),
            title="Eight scores and their shares at five widths",
            description="Raw, the scores fan out with the width until one key has almost everything. Divided by "
            f"{divisor}, the largest share is on average {', '.join(map(number, after))}.",
        ),
        _finding(divisor, before, after),
        table(
            ["width d_k", "raw: spread", "largest share", f"divided by {divisor}: spread", "largest share"],
            [
                [number(d_k, ","), _spread(d_k, "1", seed), number(b), _spread(d_k, divisor, seed), number(a)]
                for d_k, b, a in zip(_WIDTHS, before, after, strict=True)
            ],
            caption="Averages over many random queries; the dots and bars are one of them.",
        ),
    )


def _finding(divisor: str, before: Sequence[float], after: Sequence[float]) -> str:
    shouts = (
        "The numbers in the vectors are as large as before; there are only more of them. Raw, the largest of eight "
        f"shares grows from {number(before[0])} to {number(before[-1])} on average."
    )
    if divisor == "1":
        return f"{shouts} Dividing by 1 changes nothing."
    if divisor == "√d_k":
        return f"{shouts} Divided by √d_k, it stays near {number(after[-1])}."
    if divisor == "d_k":
        return (
            f"Divided by d_k, wide vectors whisper: the largest share falls from {number(after[0])} to "
            f"{number(after[-1])}, and eight equal shares would have {number(1 / 8, '.3f')}."
        )
    return (
        f"In a model {number(_D_MODEL, ',')} wide, √d_model is {number(sqrt(_D_MODEL), '.0f')} for every d_k. Then "
        f"narrow queries whisper: the largest share goes from {number(after[0])} to {number(after[-1])}. It still "
        "depends on the width."
    )


@cache
def _draws(seed: int) -> dict[int, Rows]:
    """Draw what the library's experiment draws, and keep the raw scores: eight for each query and group of keys."""
    rng = Random(seed)
    most = max(_WIDTHS)
    queries, keys = ([[rng.gauss(0, 1) for _ in range(most)] for _ in range(n)] for n in (20, 80))
    scores = {d_k: [[sum(map(mul, q[:d_k], k)) for k in keys] for q in queries] for d_k in _WIDTHS}
    return {d_k: [row[n : n + 8] for row in rows for n in range(0, 80, 8)] for d_k, rows in scores.items()}


@cache
def _averages(divisor: str, seed: int) -> Sequence[float]:
    """Average the largest share, width by width."""
    divided = [[[s / _DIVISORS[divisor](d_k) for s in row] for row in rows] for d_k, rows in _draws(seed).items()]
    return [fsum(max(softmax(row)) for row in rows) / len(rows) for rows in divided]


def _drawn(divisor: str, seed: int) -> Rows:
    return [[s / _DIVISORS[divisor](d_k) for s in rows[0]] for d_k, rows in _draws(seed).items()]


def _spread(d_k: int, divisor: str, seed: int) -> str:
    squares = [s * s for row in _draws(seed)[d_k] for s in row]
    return number(sqrt(fsum(squares) / len(squares)) / _DIVISORS[divisor](d_k))


def _block(y: float, title: str, most: float, rows: Rows, largest: Sequence[float]) -> list[str]:
    """Draw one way to scale; the strip of scores reaches from -most to most."""
    middle, ground = y + 30 + _SCORES / 2, y + 44 + _SCORES + _SHARES
    parts = [
        text(0, y + 16, title, anchor="start", bold=True),
        line(_LEFT, middle, _LEFT + 5 * _STEP, middle, width=1, dashed=True),
        *(
            text(_LEFT - 8, middle + 5 - side * (_SCORES / 2 - 6), shown, anchor="end", size=13)
            for side, shown in ((1, f"+{most:g}"), (0, "score 0"), (-1, f"−{most:g}"))
        ),
        text(_LEFT - 8, ground - 4, "shares", anchor="end", size=13),
        text(_LEFT - 8, ground + 22, "largest,", anchor="end", size=13),
        text(_LEFT - 8, ground + 38, "average", anchor="end", size=13),
    ]
    for w, (scores, share) in enumerate(zip(rows, largest, strict=True)):
        x = _LEFT + _STEP * w
        parts += [_dot(x + 7 + 6 * j, middle - s / most * _SCORES / 2) for j, s in enumerate(scores)]
        parts += [_bar(x + 4 + 6 * j, ground, share) for j, share in enumerate(softmax(scores))]
        parts.append(text(x + _STEP / 2, ground + 30, number(share)))
    return parts


def _dot(x: float, y: float) -> str:
    return box(x - 2.5, y - 2.5, 5, 5, role="query", filled=True)


def _bar(x: float, ground: float, share: float) -> str:
    return box(x, ground - _SHARES * share, 5, max(_SHARES * share, 1), role="w7", filled=True)
