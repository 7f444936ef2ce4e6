"""Draw all rows of attention at once: every query against every key, and every row of shares against the values."""

from collections.abc import Callable, Sequence
from math import log

from attention_primer.examples import SentenceExample, worked_example_sentence
from machinery.drawing import Figure, box, cell, figure, group, svg, table, text
from machinery.figures.parts import exact, listed, side_by_side

_SIZE, _NARROW = 38, 21  # of a cell of the grid, and of a number of a vector
_WORD = 44  # what a word takes
_LEFT = _WORD + 4 * _NARROW + 8  # where the grid begins: a word and its query stand before it
_TOP = 54 + 4 * 19 + 8
_GRID = 4 * _SIZE
_CAT, _SAT = 1, 2


@figure
def cell_inspector() -> Figure:
    """Draw the grid of scores with one cell opened, and the grid of shares with one row opened."""
    example = worked_example_sentence(causal=False)
    words = example.tokens
    queries = [[x / log(2) for x in q] for q in example.q]
    raw = [[s / log(2) for s in row] for row in example.scores]
    sums = _sum(queries[_SAT], example.k[_CAT], raw[_SAT][_CAT])
    mixed = _sum(example.weights[_SAT], [v[0] for v in example.v], example.output[_SAT][0])
    doublings, total = example.scaled[_SAT][_CAT] / log(2), round(sum(2 ** (s / log(2)) for s in example.scaled[_SAT]))
    return Figure(
        side_by_side(
            _scores(example, queries, raw, sums),
            _shares(example, mixed),
        ),
        f'The cell of "sat" and "cat" is one dot product: {sums}. Halved, that is {exact(doublings)} doublings, an '
        f"e-value of {exact(2**doublings)} out of {total}, a share of {exact(example.weights[_SAT][_CAT])}. A row of "
        "the grid belongs to one asking word, a column to one offering word. The numbers were typed in by hand.",
        table(["scores, query ↓, key →", *words, "query, in units of ln 2"], _rows(words, raw, queries))
        + table(["shares, query ↓, key →", *words, "output"], _rows(words, example.weights, example.output))
        + table(["word", "key", "value"], _rows(words, [[]] * 4, example.k, example.v)),
    )


def _scores(example: SentenceExample, queries: list[list[float]], raw: list[list[float]], sums: str) -> str:
    words = example.tokens
    return svg(
        _LEFT + _GRID + 12,
        _TOP + _GRID + 58,
        text(0, 16, "Q and K make the scores", anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *_above(words, example.k),
        *_before(words, queries),
        *_cells(raw, lambda s: s / 8),
        _frame(_LEFT + _SIZE * _CAT, _TOP + _SIZE * _SAT, _SIZE, _SIZE),
        _frame(_WORD, _TOP + _SIZE * _SAT + 6, 4 * _NARROW, _SIZE - 12, "query"),
        _frame(_LEFT + _SIZE * _CAT + 5, 54, _SIZE - 10, 4 * 19, "key"),
        text(0, _TOP + _GRID + 26, sums, anchor="start"),
        text(0, _TOP + _GRID + 48, "queries and scores in units of ln 2", anchor="start", size=13),
        title="Every query against every key",
        description=f"A grid of 16 scores; the one of sat and cat is opened: {sums}.",
    )


def _shares(example: SentenceExample, mixed: str) -> str:
    left, top = 54, 74
    bottom, right = top + _GRID, left + _GRID
    values = [
        text(left + _SIZE * (j + 0.5), bottom + 24 + 20 * c, exact(x), role="value")
        for j, v in enumerate(example.v)
        for c, x in enumerate(v)
    ]
    outputs = [
        text(right + 34 + 48 * c, top + _SIZE * (i + 0.5) + 5, exact(x), role="value")
        for i, row in enumerate(example.output)
        for c, x in enumerate(row)
    ]
    return svg(
        right + 112,
        _TOP + _GRID + 58,
        text(0, 16, "shares and V make the output", anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *(text(left + _SIZE * (j + 0.5), top - 8, word, role="key") for j, word in enumerate(example.tokens)),
        *(
            text(left - 8, top + _SIZE * (i + 0.5) + 5, word, role="query", anchor="end")
            for i, word in enumerate(example.tokens)
        ),
        group(*_cells(example.weights, lambda s: s), x=left - _LEFT, y=top - _TOP),
        text(right + 58, top - 8, "output", role="value"),
        *outputs,
        text(left - 8, bottom + 34, "values", role="value", anchor="end", size=13),
        *values,
        _frame(left, top + _SIZE * _SAT, _GRID, _SIZE),
        _frame(left + 3, bottom + 8, _GRID - 6, 20, "value"),
        _frame(right + 16, top + _SIZE * _SAT + 7, 34, _SIZE - 14, "value"),
        text(0, bottom + 80, "first number of the output of sat:", anchor="start"),
        text(0, bottom + 102, mixed, anchor="start"),
        title="Every row of shares against the values",
        description=f"A grid of 16 shares; beneath each key its value, after each query its output. Row sat: {mixed}.",
    )


def _above(words: Sequence[str], keys: Sequence[Sequence[float]]) -> list[str]:
    """Write each key as a column above its column of the grid: this is what turning K means."""
    heads = [text(_LEFT + _SIZE * (j + 0.5), 48, word, role="key") for j, word in enumerate(words)]
    return heads + [
        text(_LEFT + _SIZE * (j + 0.5), 69 + 19 * c, exact(x), role="key")
        for j, key in enumerate(keys)
        for c, x in enumerate(key)
    ]


def _before(words: Sequence[str], queries: Sequence[Sequence[float]]) -> list[str]:
    heads = [
        text(_WORD - 6, _TOP + _SIZE * (i + 0.5) + 5, word, role="query", anchor="end") for i, word in enumerate(words)
    ]
    return heads + [
        text(_WORD + _NARROW * (c + 0.5), _TOP + _SIZE * (i + 0.5) + 5, exact(x), role="query")
        for i, query in enumerate(queries)
        for c, x in enumerate(query)
    ]


def _cells(rows: Sequence[Sequence[float]], shade: Callable[[float], float]) -> list[str]:
    return [
        cell(_LEFT + _SIZE * j + 1, _TOP + _SIZE * i + 1, _SIZE - 2, shade(x), exact(x))
        for i, row in enumerate(rows)
        for j, x in enumerate(row)
    ]


def _frame(x: float, y: float, width: float, height: float, role: str = "") -> str:
    insets = (0, 1, 2) if not role else (0, 1)
    return "".join(box(x + d, y + d, width - 2 * d, height - 2 * d, role=role) for d in insets)


def _sum(a: Sequence[float], b: Sequence[float], total: float) -> str:
    products = " + ".join(f"{exact(x)} · {exact(y)}" for x, y in zip(a, b, strict=True))
    return f"{products} = {exact(total)}"


def _rows(
    words: Sequence[str], numbers: Sequence[Sequence[float]], *vectors: Sequence[Sequence[float]]
) -> list[list[str]]:
    return [
        [word, *map(exact, row), *(listed(map(exact, of_all[i])) for of_all in vectors)]
        for i, (word, row) in enumerate(zip(words, numbers, strict=True))
    ]
