"""Draw how the mask hides the future: as a pipeline of three grids, and as what it does to "it"."""

from collections.abc import Sequence
from math import log

from attention_primer.examples import worked_example_sentence
from machinery.drawing import Figure, cell, figure, hidden_cell, svg, table, text
from machinery.figures.parts import exact, side_by_side

_SIZE, _LEFT, _TOP = 35, 48, 74
_GRID = 4 * _SIZE

Rows = Sequence[Sequence[float | None]]


@figure
def mask_pipeline() -> Figure:
    """Draw scores, then e-values of what is left, then shares."""
    example = worked_example_sentence()
    words = example.tokens
    scores = [[s / log(2) for s in row] for row in example.scaled]
    e_values = _hide([[2**s for s in row] for row in scores], example.mask)
    shares = _hide(example.weights, example.mask)
    totals = [sum(x for x in row if x is not None) for row in e_values]
    open_totals = [sum(2**s for s in row) for row in scores]
    sums = [sum(row) for row in example.weights]
    return Figure(
        side_by_side(
            _grid("1. scores, in doublings", words, scores, shade=4),
            _grid("2. hide, then e-values", words, e_values, totals, shade=8),
            _grid("3. shares", words, shares, sums, shade=1),
        ),
        f'Hiding "down" drops the total of "sat" from {exact(open_totals[2])} to {exact(totals[2])}, so its fifths '
        'become quarters. No visible score changes, and no ratio does: "cat" still gets twice as much as "The".',
        table(["query\u00a0↓, key\u00a0→", *words], _lines(words, scores), caption="scores")
        + table(["query\u00a0↓, key\u00a0→", *words, "sum"], _lines(words, e_values, totals), caption="e-values")
        + table(["query\u00a0↓, key\u00a0→", *words, "sum"], _lines(words, shares, sums), caption="shares"),
    )


def _hide(rows: Sequence[Sequence[float]], mask: Sequence[Sequence[bool]]) -> list[list[float | None]]:
    return [[x if seen else None for x, seen in zip(*pair, strict=True)] for pair in zip(rows, mask, strict=True)]


def _grid(title: str, words: Sequence[str], rows: Rows, totals: Sequence[float] = (), *, shade: float) -> str:
    parts = [text(0, 16, title, anchor="start", bold=True), text(0, 36, "query ↓, key →", anchor="start", size=13)]
    parts += [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role="key", size=13) for j, word in enumerate(words)]
    for i, (word, row) in enumerate(zip(words, rows, strict=True)):
        y = _TOP + _SIZE * i
        parts.append(text(_LEFT - 8, y + 24, word, role="query", anchor="end"))
        for j, x in enumerate(row):
            at = _LEFT + _SIZE * j + 1, y + 1, _SIZE - 2
            parts.append(hidden_cell(*at) if x is None else cell(*at, x / shade, exact(x)))
    for i, total in enumerate(totals):
        parts.append(text(_LEFT + _GRID + 22, _TOP + _SIZE * i + 24, exact(total), bold=True))
    if totals:
        parts.append(text(_LEFT + _GRID + 22, _TOP - 8, "sum", size=13))
    told = "; ".join(
        f"{word}: {' '.join('hidden' if x is None else exact(x) for x in row)}"
        for word, row in zip(words, rows, strict=True)
    )
    width = _LEFT + _GRID + (38 if totals else 4)
    return svg(width, _TOP + _GRID + 4, *parts, title=f"Step {title}", description=f"{told}.")


def _lines(words: Sequence[str], rows: Rows, totals: Sequence[float] = ()) -> list[list[str]]:
    ends = [[exact(total)] for total in totals] or [[] for _ in words]
    return [
        [word, *("hidden" if x is None else exact(x) for x in row), *end]
        for word, row, end in zip(words, rows, ends, strict=True)
    ]
