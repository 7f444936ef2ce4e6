"""Draw all rows of attention at once: every query against every key, and every row of shares against the values."""

from collections.abc import Callable, Sequence
from functools import cache
from math import log
from typing import Any, NamedTuple

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.examples import SentenceExample, worked_example_sentence
from machinery.drawing import Figure, box, cell, group, hidden_cell, svg, table, text
from machinery.figures.parts import NO_BREAK, exact, listed, side_by_side
from machinery.live import Cells, Choice, Switch, live

_SIZE, _NARROW = 38, 21  # of a cell of the grid, and of a number of a vector
_WORD = 44  # what a word takes
_LEFT = _WORD + 4 * _NARROW + 8  # where the grid begins: a word and its query stand before it
_TOP = 54 + 4 * 19 + 8
_GRID = 4 * _SIZE
_WORDS = worked_example_sentence().tokens
_CAT, _SAT = 1, 2
_VIEWS = ("raw scores", "halved", "e-values", "shares")
_AXES = f"query{NO_BREAK}↓, key{NO_BREAK}→"

Rows = Sequence[Sequence[float | None]]


class _Grid(NamedTuple):
    """The numbers behind the drawings, with scores counted in doublings; what is hidden is None."""

    words: Sequence[str]
    queries: Sequence[Sequence[float]]
    keys: Sequence[Sequence[float]]
    values: Sequence[Sequence[float]]
    views: dict[str, Rows]
    totals: Sequence[float]
    weights: Sequence[Sequence[float]]
    output: Sequence[Sequence[float]]


@live(
    "Pick a cell of the first grid, with a click or the arrow keys, and see where its number comes from.",
    Choice("show", _VIEWS, start="raw scores"),
    Switch("hide the future"),
    Switch("reverse the words"),
    Cells("cell: query, key", _WORDS, _WORDS, start=(_SAT, _CAT), corner=(_LEFT, _TOP), size=_SIZE),
)
def cell_inspector(view: str, causal: bool, is_reversed: bool, at: tuple[int, int]) -> Figure:
    """Draw the grid of scores with one cell opened, and the grid of shares with one row opened."""
    grid = _computed(causal, is_reversed)
    i, j = at
    sums = _sum(grid.queries[i], grid.keys[j], grid.views["raw scores"][i][j] or 0)
    mixed = _sum(grid.weights[i], [v[0] for v in grid.values], grid.output[i][0])
    return Figure(
        side_by_side(_scores(grid, view, i, j, sums), _shares(grid, i, mixed)),
        _finding(grid, view, i, j, sums) + _order(causal, is_reversed),
        table([_AXES, *grid.words, "query, in units of ln 2"], _rows(grid, view, grid.queries), caption=view)
        + table([_AXES, *grid.words, "output"], _rows(grid, "shares", grid.output), caption="shares")
        + table(
            ["word", "key", "value"],
            [
                [word, listed(map(exact, key)), listed(map(exact, value))]
                for word, key, value in zip(grid.words, grid.keys, grid.values, strict=True)
            ],
        ),
        "A row of the grid belongs to one asking word, a column to one offering word. The numbers were typed in by "
        "hand.",
    )


@cache
def _computed(causal: bool, is_reversed: bool) -> _Grid:
    example = worked_example_sentence(causal)
    if is_reversed:
        example = _backward(example)
    halved = [[s / log(2) for s in row] for row in example.scaled]
    e_values = _hide([[2**s for s in row] for row in halved], example)
    return _Grid(
        example.tokens,
        [[x / log(2) for x in q] for q in example.q],
        example.k,
        example.v,
        {
            "raw scores": [[s / log(2) for s in row] for row in example.scores],
            "halved": halved,
            "e-values": e_values,
            "shares": _hide(example.weights, example),
        },
        [sum(e for e in row if e is not None) for row in e_values],
        example.weights,
        example.output,
    )


def _backward(example: SentenceExample) -> SentenceExample:
    q, k, v = example.q[::-1], example.k[::-1], example.v[::-1]
    output, weights = scaled_dot_product_attention(q, k, v, example.mask)
    turned: dict[str, Any] = {
        name: [row[::-1] for row in rows[::-1]]
        for name, rows in (("scores", example.scores), ("scaled", example.scaled))
    }
    return example._replace(tokens=example.tokens[::-1], q=q, k=k, v=v, **turned, weights=weights, output=output)


def _hide(rows: Sequence[Sequence[float]], example: SentenceExample) -> Rows:
    return [
        [x if seen else None for x, seen in zip(*pair, strict=True)] for pair in zip(rows, example.mask, strict=True)
    ]


def _finding(grid: _Grid, view: str, i: int, j: int, sums: str) -> str:
    asks, offers, total = grid.words[i], grid.words[j], exact(grid.totals[i])
    raw, halved, e_value, share = (exact(x) if (x := grid.views[name][i][j]) is not None else "" for name in _VIEWS)
    if not e_value:
        return (
            f'"{asks}" may not see "{offers}": whatever its score, here {raw}, its e-value is 0, and so is its share.'
        )
    if view == "halved":
        return f'Half of {raw}, the score of "{asks}" with "{offers}", is {halved}: it counts {_doublings(halved)}.'
    if view == "e-values":
        return f'{_doublings(halved)} make an e-value of {e_value}. All that "{asks}" may see adds up to {total}.'
    if view == "shares":
        column = exact(sum(row[j] for row in grid.weights))
        return (
            f'{e_value} out of {total}: "{asks}" takes {share} of what it reads from "{offers}". Its row adds up to '
            f'{exact(sum(grid.weights[i]))}, the column of "{offers}" to {column}.'
        )
    return (
        f'The cell of "{asks}" and "{offers}" is one dot product: {sums}. Halved, that is {_doublings(halved)}, an '
        f"e-value of {e_value} out of {total}, a share of {share}."
    )


def _doublings(shown: str) -> str:
    return f"{shown} doubling{'' if shown == '1' else 's'}"


def _order(causal: bool, is_reversed: bool) -> str:
    if not is_reversed:
        return ""
    if causal:
        return " Backward, each word sees other words than before, and takes other shares."
    return " Backward, rows and columns stand elsewhere, and no number has changed: order makes no difference."


def _scores(grid: _Grid, view: str, i: int, j: int, sums: str) -> str:
    units = {
        "raw scores": "queries and scores in units of ln 2",
        "halved": "halved scores, in units of ln 2",
        "e-values": "e-values: 2 to the halved score",
        "shares": "shares: each e-value over the sum of its row",
    }
    right = _LEFT + _GRID + 20
    ends = [sum(x for x in row if x is not None) for row in grid.views[view]]
    shown = [text(right, _TOP + _SIZE * (n + 0.5) + 5, exact(end), bold=True) for n, end in enumerate(ends)]
    shade = {"raw scores": 8, "halved": 4, "e-values": 8, "shares": 1}[view]
    return svg(
        _LEFT + _GRID + 40,
        _TOP + _GRID + 58,
        text(0, 16, "Q and K make the scores", anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *_above(grid.words, grid.keys),
        *_before(grid.words, grid.queries),
        *_cells(grid.views[view], lambda x: x / shade),
        *([text(right, _TOP - 10, "sum", size=13), *shown] if view in ("e-values", "shares") else []),
        _frame(_LEFT + _SIZE * j, _TOP + _SIZE * i, _SIZE, _SIZE),
        _frame(_WORD, _TOP + _SIZE * i + 6, 4 * _NARROW, _SIZE - 12, "query"),
        _frame(_LEFT + _SIZE * j + 5, 54, _SIZE - 10, 4 * 19, "key"),
        text(0, _TOP + _GRID + 26, sums, anchor="start"),
        text(0, _TOP + _GRID + 48, units[view], anchor="start", size=13),
        title="Every query against every key",
        description=f"A grid of 16 {view}; the one of {grid.words[i]} and {grid.words[j]} is opened: {sums}.",
    )


def _shares(grid: _Grid, i: int, mixed: str) -> str:
    left, top = 54, 74
    bottom, right = top + _GRID, left + _GRID
    values = [
        text(left + _SIZE * (j + 0.5), bottom + 24 + 20 * c, exact(x), role="value")
        for j, v in enumerate(grid.values)
        for c, x in enumerate(v)
    ]
    outputs = [
        text(right + 34 + 48 * c, top + _SIZE * (n + 0.5) + 5, exact(x), role="value")
        for n, row in enumerate(grid.output)
        for c, x in enumerate(row)
    ]
    return svg(
        right + 112,
        _TOP + _GRID + 58,
        text(0, 16, "shares and V make the output", anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *(text(left + _SIZE * (j + 0.5), top - 8, word, role="key") for j, word in enumerate(grid.words)),
        *(
            text(left - 8, top + _SIZE * (n + 0.5) + 5, word, role="query", anchor="end")
            for n, word in enumerate(grid.words)
        ),
        group(*_cells(grid.views["shares"], lambda s: s), x=left - _LEFT, y=top - _TOP),
        text(right + 58, top - 8, "output", role="value"),
        *outputs,
        text(left - 8, bottom + 34, "values", role="value", anchor="end", size=13),
        *values,
        _frame(left, top + _SIZE * i, _GRID, _SIZE),
        _frame(left + 3, bottom + 8, _GRID - 6, 20, "value"),
        _frame(right + 16, top + _SIZE * i + 7, 34, _SIZE - 14, "value"),
        text(0, bottom + 80, f"first number of the output of {grid.words[i]}:", anchor="start"),
        text(0, bottom + 102, mixed, anchor="start"),
        title="Every row of shares against the values",
        description=f"A grid of 16 shares; beneath each key its value, after each query its output. Row "
        f"{grid.words[i]}: {mixed}.",
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


def _cells(rows: Rows, shade: Callable[[float], float]) -> list[str]:
    places = [(_LEFT + _SIZE * j + 1, _TOP + _SIZE * i + 1, _SIZE - 2) for i in range(4) for j in range(4)]
    numbers = [x for row in rows for x in row]
    return [
        hidden_cell(*place) if x is None else cell(*place, shade(x), exact(x))
        for place, x in zip(places, numbers, strict=True)
    ]


def _frame(x: float, y: float, width: float, height: float, role: str = "") -> str:
    insets = (0, 1, 2) if not role else (0, 1)
    return "".join(box(x + d, y + d, width - 2 * d, height - 2 * d, role=role) for d in insets)


def _sum(a: Sequence[float], b: Sequence[float], total: float) -> str:
    products = " + ".join(f"{exact(x)}{NO_BREAK}·{NO_BREAK}{exact(y)}" for x, y in zip(a, b, strict=True))
    return f"{products} ={NO_BREAK}{exact(total)}"


def _rows(grid: _Grid, view: str, vectors: Sequence[Sequence[float]]) -> list[list[str]]:
    return [
        [word, *("hidden" if x is None else exact(x) for x in row), listed(map(exact, vector))]
        for word, row, vector in zip(grid.words, grid.views[view], vectors, strict=True)
    ]
