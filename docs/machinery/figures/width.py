"""Draw what the width of a vector does to scores and shares, with and without the divisor."""

from collections.abc import Sequence
from math import sqrt
from random import Random

from attention_primer.experiments import Measured, sqrt_dk_experiment
from attention_primer.softmaxes import softmax
from attention_primer.vectors import dot
from machinery.drawing import Figure, box, figure, line, number, svg, table, text

_WIDTHS = (4, 16, 64, 256, 1024)
_LEFT, _STEP, _BLOCK = 70, 56, 236
_SCORES, _SHARES = 96, 46  # how high the strip of scores and the strip of shares are


@figure
def width_dial() -> Figure:
    """Draw five widths in columns: eight scores, their shares, and the average largest share of many draws."""
    measured = sqrt_dk_experiment(_WIDTHS)
    rng = Random(0)
    query, *keys = ([rng.gauss(0, 1) for _ in range(max(_WIDTHS))] for _ in range(9))
    raw = [[dot(query[:d_k], key[:d_k]) for key in keys] for d_k in _WIDTHS]
    scaled = [[s / sqrt(d_k) for s in scores] for scores, d_k in zip(raw, _WIDTHS, strict=True)]
    first, last = measured[0].raw, measured[-1].raw
    return Figure(
        svg(
            _LEFT + 5 * _STEP + 4,
            30 + 2 * _BLOCK,
            text(_LEFT - 8, 16, "width d_k", anchor="end", size=13),
            *(text(_LEFT + _STEP * (w + 0.5), 16, number(d, ","), bold=True) for w, d in enumerate(_WIDTHS)),
            *_block(30, "raw scores", 80, raw, [row.raw for row in measured]),
            *_block(30 + _BLOCK, "divided by √d_k", 4, scaled, [row.scaled for row in measured]),
            title="Eight scores and their shares at five widths",
            description="Raw, the scores fan out with the width until one key has almost everything; divided by the "
            "root of the width, they look alike at every width.",
        ),
        f"The numbers in the vectors are as large as before; there are only more of them. Raw, the largest of eight "
        f"shares grows from {number(first.largest_share)} to {number(last.largest_share)} on average. Divided by √d_k, "
        f"it stays near {number(measured[-1].scaled.largest_share)}.",
        table(
            ["width d_k", "raw: spread", "largest share", "slope", "scaled: spread", "largest share", "slope"],
            [[number(row.d_k, ","), *_told(row.raw), *_told(row.scaled)] for row in measured],
            caption="Averages over many random queries; the dots and bars are one of them.",
        ),
    )


def _block(
    y: float, title: str, most: float, rows: Sequence[Sequence[float]], measured: Sequence[Measured]
) -> list[str]:
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
    for w, (scores, means) in enumerate(zip(rows, measured, strict=True)):
        x = _LEFT + _STEP * w
        parts += [_dot(x + 7 + 6 * j, middle - s / most * _SCORES / 2) for j, s in enumerate(scores)]
        parts += [_bar(x + 4 + 6 * j, ground, share) for j, share in enumerate(softmax(scores))]
        parts.append(text(x + _STEP / 2, ground + 30, number(means.largest_share)))
    return parts


def _dot(x: float, y: float) -> str:
    return box(x - 2.5, y - 2.5, 5, 5, role="query", filled=True)


def _bar(x: float, ground: float, share: float) -> str:
    return box(x, ground - _SHARES * share, 5, max(_SHARES * share, 1), role="w7", filled=True)


def _told(measured: Measured) -> list[str]:
    return [number(measured.spread, ".1f"), number(measured.largest_share), number(measured.slope)]
