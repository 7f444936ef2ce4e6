"""Draw why words are not compared with themselves: similar is not relevant."""

from collections.abc import Mapping, Sequence
from math import log

from attention_primer.examples import worked_example_sentence
from attention_primer.softmaxes import softmax
from attention_primer.vectors import matmul, transpose
from machinery.drawing import Figure, box, cell, svg, table, text
from machinery.figures.parts import exact, over_one, side_by_side
from machinery.live import Cells, live

_SIZE, _LEFT, _TOP = 41, 48, 74
_WIDTH = _LEFT + 4 * _SIZE + 4
_CAT, _SAT = 1, 2
_EXAMPLE = worked_example_sentence(causal=False)
_WORDS = _EXAMPLE.tokens
_ALIKE = matmul(_EXAMPLE.x, transpose(_EXAMPLE.x))
_ASKED = [[score / log(2) for score in row] for row in _EXAMPLE.scaled]


@live(
    "Pick a cell of the first grid, with a click or the arrow keys: its mirror is outlined, too.",
    Cells("cell: word, word", _WORDS, _WORDS, start=(_SAT, _CAT), corner=(_LEFT, _TOP), size=_SIZE),
)
def similar_is_not_relevant(at: tuple[int, int]) -> Figure:
    """Draw words with words, queries with keys, and what either makes of the row of one word."""
    i = at[0]
    rows = {"by likeness": softmax([score * log(2) for score in _ALIKE[i]]), "by asking": _EXAMPLE.weights[i]}
    return Figure(
        side_by_side(
            _grid("words with words", "word ↓, word →", _ALIKE, ("", ""), at),
            _grid("asking with offering", "query ↓, key →", _ASKED, ("query", "key"), at),
            _shares(_WORDS[i], rows),
        ),
        _finding(*at),
        table(["words with words", *_WORDS], _lines(_ALIKE))
        + table(["asked ↓, offered →", *_WORDS], _lines(_ASKED))
        + table(
            [f'shares in the row of "{_WORDS[i]}"', *_WORDS],
            [[name, *over_one(shares)] for name, shares in rows.items()],
        ),
        "Scores count doublings: one more is twice the share. The numbers behind them were typed in by hand.",
    )


def _finding(i: int, j: int) -> str:
    if (i, j) == (_SAT, _CAT):
        return (
            f'As words, "sat" and "cat" have nothing in common: both outlined cells show {exact(_ALIKE[i][j])}, and '
            '"sat" mostly reads itself. When "sat" may ask, it scores highest with "cat", and the mirror cell stays '
            f"{exact(_ASKED[j][i])}."
        )
    a, b, alike, asked = _WORDS[i], _WORDS[j], exact(_ALIKE[i][j]), exact(_ASKED[i][j])
    if i == j:
        return f'"{a}" with itself: as a word it scores {alike}, when it asks, {asked}. This cell is its own mirror.'
    return (
        f'As words, "{a}" and "{b}" score {alike} in either order: the grid is its own mirror image. When "{a}" asks, '
        f'it scores {asked} with "{b}"; when "{b}" asks, {exact(_ASKED[j][i])} with "{a}".'
    )


def _grid(title: str, axes: str, scores: Sequence[Sequence[float]], roles: tuple[str, str], at: tuple[int, int]) -> str:
    parts = [text(0, 16, title, anchor="start", bold=True), text(0, 36, axes, anchor="start", size=13)]
    parts += _heads(roles[1])
    for i, (word, row) in enumerate(zip(_WORDS, scores, strict=True)):
        y = _TOP + _SIZE * i
        parts.append(text(_LEFT - 8, y + 26, word, role=roles[0], anchor="end"))
        parts += [cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, s / 4, exact(s)) for j, s in enumerate(row)]
    parts += [_outline(*at), _outline(*at[::-1])]
    told = "; ".join(f"{word}: {' '.join(map(exact, row))}" for word, row in zip(_WORDS, scores, strict=True))
    return svg(_WIDTH, _TOP + 4 * _SIZE + 4, *parts, title=f"Scores of {title}", description=f"{axes}. {told}.")


def _shares(word: str, rows: Mapping[str, Sequence[float]]) -> str:
    parts = [text(0, 16, f'the row of "{word}"', anchor="start", bold=True)]
    parts += [text(0, 36, "query ↓, key →", anchor="start", size=13), *_heads("key")]
    for i, (name, shares) in enumerate(rows.items()):
        y = _TOP + 82 * i
        parts.append(text(_LEFT, y + 62, name, anchor="start"))
        parts.append(text(_LEFT - 8, y + 26, word, role="query", anchor="end"))
        for j, (share, shown) in enumerate(zip(shares, over_one(shares), strict=True)):
            parts.append(cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, share, shown))
    told = "; ".join(f"{name}: {' '.join(over_one(shares))}" for name, shares in rows.items())
    return svg(
        _WIDTH,
        _TOP + 4 * _SIZE + 4,
        *parts,
        title=f'What "{word}" reads, by likeness and by asking',
        description=f"{told}.",
    )


def _heads(role: str) -> list[str]:
    return [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role=role) for j, word in enumerate(_WORDS)]


def _outline(i: int, j: int) -> str:
    x, y = _LEFT + _SIZE * j, _TOP + _SIZE * i
    return "".join(box(x + inset, y + inset, _SIZE - 2 * inset, _SIZE - 2 * inset) for inset in (0, 1, 2))


def _lines(rows: Sequence[Sequence[float]]) -> list[list[str]]:
    return [[word, *map(exact, row)] for word, row in zip(_WORDS, rows, strict=True)]
