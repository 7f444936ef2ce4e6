"""Draw one row of attention as a strip of six frames, in numbers that a pencil can follow."""

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from attention_primer.examples import worked_example_sentence
from machinery.drawing import Figure, box, line, svg, text
from machinery.figures.parts import exact, listed, side_by_side
from machinery.live import Choice, live

_WIDTH, _HEIGHT = 216, 178
_TOP, _LINE = 64, 25  # the first base line, and how far apart they are
_COLUMN = 52
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class _Piece(NamedTuple):
    """A text of a line: where it stands, what it says, and in which color."""

    x: float
    shown: str
    role: str = ""
    anchor: str = "start"


_Line = Sequence[_Piece]


class _Frame(NamedTuple):
    """One step: its name, a line a word, the result beneath a stroke, and the step as an equation."""

    title: str
    note: str
    lines: Sequence[_Line]
    result: _Line
    told: str
    bars: Sequence[float] = ()


class _Row(NamedTuple):
    """All that one word computes, as text that is exact; scores count doublings."""

    word: str
    words: Sequence[str]
    x: Sequence[str]
    W_q: Sequence[str]
    q: str
    k: Sequence[str]
    v: Sequence[str]
    raw: Sequence[str]
    halves: Sequence[str]
    e_values: Sequence[int]
    total: int
    weights: Sequence[float]
    shares: Sequence[str]
    output: str


@live(
    'Every word has a row. The one of "down" is for you to do, below.',
    Choice("row", worked_example_sentence().tokens, start="sat"),
)
def strip(word: str) -> Figure:
    """Draw the row of a word: vector, query, raw scores, halves, e-values, shares, mix."""
    row = _row_of(word)
    frames = [step(row) for step in (_query, _raw, _halves, _e_values, _shares, _mix)]
    return Figure(
        side_by_side(*(_drawn(number, frame) for number, frame in enumerate(frames, 1))),
        _finding(row),
        f"<ol>{''.join(f'<li>{frame.told}</li>' for frame in frames)}</ol>",
        "The numbers were typed in, not learned.",
    )


def _finding(row: _Row) -> str:
    order = sorted(range(4), key=lambda j: row.e_values[j], reverse=True)
    best, next_best = order[:2]
    if row.e_values[best] == row.e_values[next_best]:
        return (
            f'"{row.word}" asks nothing, so it takes the same {row.shares[best]} from every word, and hands back the '
            f"plain average, {row.output}."
        )
    others = "any other word" if len(set(row.e_values)) == 2 else "the next one"
    factor = {2: "twice", 4: "four times"}[row.e_values[best] // row.e_values[next_best]]
    return (
        f'One row of attention, by hand: "{row.word}" takes {row.shares[best]} from "{row.words[best]}", {factor} as '
        f"much as from {others}, and hands back {row.output}."
    )


def _row_of(word: str) -> _Row:
    example = worked_example_sentence(causal=False)
    i = example.tokens.index(word)
    halves = _doublings(example.scaled[i])
    e_values = [2 ** int(half) for half in halves]
    return _Row(
        word=word,
        words=example.tokens,
        x=[exact(x) for x in example.x[i]],
        W_q=[listed(_doublings(row)) for row in example.W_q],
        q=listed(_doublings(example.q[i])),
        k=[listed(map(exact, k)) for k in example.k],
        v=[listed(map(exact, v)) for v in example.v],
        raw=_doublings(example.scores[i]),
        halves=halves,
        e_values=e_values,
        total=sum(e_values),
        weights=example.weights[i],
        shares=[exact(share) for share in example.weights[i]],
        output=listed(map(exact, example.output[i])),
    )


def _query(row: _Row) -> _Frame:
    return _Frame(
        "vector → query",
        "rows of W_q, in units of ln 2",
        [
            [_Piece(30, f"{x} ×", _quiet(x), "end"), _Piece(44, rows, _quiet(x))]
            for x, rows in zip(row.x, row.W_q, strict=True)
        ],
        [_Piece(30, "q =", "query", "end"), _Piece(44, row.q, "query")],
        f'"{row.word}" is {listed(row.x)}, so its query is {_total(row.x, row.W_q)} = {row.q}, times ln 2.',
    )


def _raw(row: _Row) -> _Frame:
    lines = [[_Piece(_COLUMN, k, "key"), _Piece(180, s)] for k, s in zip(row.k, row.raw, strict=True)]
    told = f"The raw scores, query times key, are {_by_word(row, row.raw)}."
    return _Frame("raw scores, q · k", f"q = {row.q}", _labelled(row, lines), (), told)


def _halves(row: _Row) -> _Frame:
    lines = [[_Piece(_COLUMN, f"{s} ÷ 2 = {half}")] for s, half in zip(row.raw, row.halves, strict=True)]
    told = f"Halved, they are {_by_word(row, row.halves)}."
    return _Frame("÷ 2", "why: section 9", _labelled(row, lines), (), told)


def _e_values(row: _Row) -> _Frame:
    shown = [f"2{half.translate(_POWERS)} = {e}" for half, e in zip(row.halves, row.e_values, strict=True)]
    return _Frame(
        "e-values",
        "each doubling is a factor of 2",
        _labelled(row, [[_Piece(_COLUMN, power)] for power in shown]),
        [_Piece(0, "total"), _Piece(_COLUMN, str(row.total))],
        f"The e-values are {_by_word(row, row.e_values)}; their total is {row.total}.",
    )


def _shares(row: _Row) -> _Frame:
    shown = [f"{e}/{row.total} = {share}" for e, share in zip(row.e_values, row.shares, strict=True)]
    return _Frame(
        "shares",
        "each e-value over the total",
        _labelled(row, [[_Piece(_COLUMN, part)] for part in shown]),
        [_Piece(0, "total"), _Piece(_COLUMN, exact(sum(row.weights)))],
        f"The shares are {_by_word(row, row.shares)}.",
        bars=row.weights,
    )


def _mix(row: _Row) -> _Frame:
    pairs = zip(row.shares, row.v, strict=True)
    return _Frame(
        "the mix",
        "shares times values",
        _labelled(row, [[_Piece(_COLUMN, f"{share} ×"), _Piece(98, v, "value")] for share, v in pairs]),
        [_Piece(_COLUMN, "sum"), _Piece(98, row.output, "value")],
        f"The mix is {_total(row.shares, row.v)} = {row.output}.",
    )


def _labelled(row: _Row, lines: Iterable[_Line]) -> list[_Line]:
    return [[_Piece(0, word, "key"), *pieces] for word, pieces in zip(row.words, lines, strict=True)]


def _drawn(number: int, frame: _Frame) -> str:
    parts = [
        text(0, 16, f"{number}. {frame.title}", anchor="start", bold=True),
        text(0, 36, frame.note, anchor="start", size=13),
    ]
    for i, pieces in enumerate(frame.lines):
        parts += _written(_TOP + _LINE * i, pieces)
    parts += [
        box(142, _TOP - 11 + _LINE * i, 70 * share, 12, role="w7", filled=True) for i, share in enumerate(frame.bars)
    ]
    if frame.result:
        bottom = _TOP + _LINE * len(frame.lines)
        stroke = line(0, bottom - 14, _WIDTH - 20, bottom - 14, width=1)
        parts += [stroke, *_written(bottom + 6, frame.result, bold=True)]
    return svg(_WIDTH, _HEIGHT, *parts, title=f"Step {number}: {frame.title}", description=frame.told)


def _written(y: float, pieces: _Line, *, bold: bool = False) -> list[str]:
    return [text(piece.x, y, piece.shown, role=piece.role, anchor=piece.anchor, bold=bold) for piece in pieces]


def _quiet(x: str) -> str:
    return "hidden" if x == "0" else ""


def _doublings(scores: Iterable[float]) -> list[str]:
    return [exact(score / log(2)) for score in scores]


def _total(amounts: Sequence[str], rows: Sequence[str]) -> str:
    return " + ".join(f"{amount} · {row}" for amount, row in zip(amounts, rows, strict=True))


def _by_word(row: _Row, shown: Iterable[object]) -> str:
    return ", ".join(f"{word} {number}" for word, number in zip(row.words, shown, strict=True))
