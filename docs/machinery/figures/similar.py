"""Draw why words are not compared with themselves: similar is not relevant."""

from collections.abc import Callable, Mapping, Sequence
from math import log

from attention_primer.examples import worked_example_sentence
from attention_primer.softmaxes import softmax
from attention_primer.vectors import matmul, transpose
from machinery.drawing import Figure, box, cell, figure, svg, table, text
from machinery.figures.parts import exact, side_by_side

_SIZE, _LEFT, _TOP = 41, 48, 74
_WIDTH = _LEFT + 4 * _SIZE + 4
_CAT, _SAT = 1, 2


@figure
def similar_is_not_relevant() -> Figure:
    """Draw words with words, queries with keys, and what either makes of the row of "sat"."""
    example = worked_example_sentence(causal=False)
    words = example.tokens
    alike = matmul(example.x, transpose(example.x))
    asked = [[score / log(2) for score in row] for row in example.scaled]
    by_likeness = softmax([score * log(2) for score in alike[_SAT]])
    rows = {"by likeness": (by_likeness, 8), "by asking": (example.weights[_SAT], 5)}
    return Figure(
        side_by_side(
            _grid("words with words", "word ↓, word →", words, alike, ("", "")),
            _grid("asking with offering", "query ↓, key →", words, asked, ("query", "key")),
            _shares(words, rows),
        ),
        'As words, "sat" and "cat" have nothing in common: both outlined cells show 0, and "sat" mostly reads itself. '
        'When "sat" may ask, it scores highest with "cat", and the mirror cell stays 0. Scores count doublings: one '
        "more is twice the share. The numbers behind them were typed in by hand.",
        table(["words with words", *words], _lines(words, alike, exact))
        + table(["asked ↓, offered →", *words], _lines(words, asked, exact))
        + table(
            ['shares in the row of "sat"', *words],
            [[name, *(exact(s, parts=parts) for s in shares)] for name, (shares, parts) in rows.items()],
        ),
    )


def _grid(
    title: str, axes: str, words: Sequence[str], scores: Sequence[Sequence[float]], roles: tuple[str, str]
) -> str:
    parts = [text(0, 16, title, anchor="start", bold=True), text(0, 36, axes, anchor="start", size=13)]
    parts += _heads(words, roles[1])
    for i, (word, row) in enumerate(zip(words, scores, strict=True)):
        y = _TOP + _SIZE * i
        parts.append(text(_LEFT - 8, y + 26, word, role=roles[0], anchor="end"))
        parts += [cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, s / 4, exact(s)) for j, s in enumerate(row)]
    parts += [_outline(_SAT, _CAT), _outline(_CAT, _SAT)]
    told = "; ".join(f"{word}: {' '.join(map(exact, row))}" for word, row in zip(words, scores, strict=True))
    return svg(_WIDTH, _TOP + 4 * _SIZE + 4, *parts, title=f"Scores of {title}", description=f"{axes}. {told}.")


def _shares(words: Sequence[str], rows: Mapping[str, tuple[Sequence[float], int]]) -> str:
    parts = [text(0, 16, 'the row of "sat"', anchor="start", bold=True)]
    parts += [text(0, 36, "query ↓, key →", anchor="start", size=13), *_heads(words, "key")]
    for i, (name, (shares, whole)) in enumerate(rows.items()):
        y = _TOP + 82 * i
        parts.append(text(_LEFT, y + 62, name, anchor="start"))
        parts.append(text(_LEFT - 8, y + 26, "sat", role="query", anchor="end"))
        for j, share in enumerate(shares):
            parts.append(cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, share, exact(share, parts=whole)))
    told = "; ".join(f"{name}: {' '.join(map(exact, shares))}" for name, (shares, _) in rows.items())
    return svg(
        _WIDTH,
        _TOP + 4 * _SIZE + 4,
        *parts,
        title='What "sat" reads, by likeness and by asking',
        description=f"{told}.",
    )


def _heads(words: Sequence[str], role: str) -> list[str]:
    return [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role=role) for j, word in enumerate(words)]


def _outline(i: int, j: int) -> str:
    x, y = _LEFT + _SIZE * j, _TOP + _SIZE * i
    return "".join(box(x + inset, y + inset, _SIZE - 2 * inset, _SIZE - 2 * inset) for inset in (0, 1, 2))


def _lines(words: Sequence[str], rows: Sequence[Sequence[float]], show: Callable[[float], str]) -> list[list[str]]:
    return [[word, *map(show, row)] for word, row in zip(words, rows, strict=True)]
