"""Draw one row of attention as a strip of six frames, in numbers that a pencil can follow."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import log, sqrt
from typing import NamedTuple

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.examples import worked_example_sentence
from attention_primer.vectors import matmul, transpose
from machinery.drawing import Figure, box, line, number, svg, text
from machinery.figures.parts import exact, listed, plain, side_by_side
from machinery.live import Choice, Slider, live

_WIDTH, _HEIGHT = 216, 178
_TOP, _LINE = 64, 25  # the first base line, and how far apart they are
_COLUMN = 52
_SHARES, _VALUES = 44, 103
_BARS = 165
_POWERS = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_EXAMPLE = worked_example_sentence(causal=False)
_OPEN = "sat"  # the word whose vector the reader changes
_AT = _EXAMPLE.tokens.index(_OPEN)


class _Piece(NamedTuple):
    """A text of a line: where it stands, what it says, in which color, and whether the sliders change it."""

    x: float
    shown: str
    role: str = ""
    anchor: str = "start"
    is_open: bool = False


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
    """All that one word computes, as text; scores count doublings."""

    word: str
    words: Sequence[str]
    changed: str
    x: Sequence[str]
    W_q: Sequence[str]
    q: str
    k: Sequence[str]
    v: Sequence[str]
    raw: Sequence[str]
    halves: Sequence[str]
    e_values: Sequence[Fraction]
    total: Fraction
    weights: Sequence[float]
    shares: Sequence[str]
    output: str


@live(
    'Every word has a row. The one of "down" is for you to do, below. Thing, action and direction are the vector of '
    f'"{_OPEN}": change it, and its query, its key and its value (dashed) change, too.',
    Choice("row", _EXAMPLE.tokens, start=_OPEN),
    *(
        Slider(name, (0, 1, 2), start=int(x))
        for name, x in zip(("thing", "action", "direction"), _EXAMPLE.x[_AT], strict=True)
    ),
)
def strip(word: str, *vector: int) -> Figure:
    """Draw the row of a word: vector, query, raw scores, halves, e-values, shares, mix."""
    row = _row_of(word, vector)
    frames = [step(row) for step in (_query, _raw, _halves, _e_values, _shares, _mix)]
    return Figure(
        side_by_side(*(_drawn(number, frame) for number, frame in enumerate(frames, 1))),
        _finding(row),
        f"<ol>{''.join(f'<li>{frame.told}</li>' for frame in frames)}</ol>",
        "The numbers were typed in, not learned.",
    )


def _finding(row: _Row) -> str:
    told = f'with {row.changed} for "{_OPEN}", "{row.word}"' if row.changed else f'by hand: "{row.word}"'
    most, *fewer = sorted(set(row.e_values), reverse=True)
    if not fewer:
        return (
            f"One row of attention, {told} asks nothing, so it takes the same {row.shares[0]} from every word, and "
            f"hands back the plain average, {row.output}."
        )
    best = [j for j, e in enumerate(row.e_values) if e == most]
    names = " and ".join(f'"{row.words[j]}"' for j in best)
    each = " each" if len(best) > 1 else ""
    others = "any other word" if len(fewer) == 1 else "the next one"
    factor = int(most / fewer[0])
    times = {2: "twice", 4: "four times"}.get(factor, f"{factor} times")
    return (
        f"One row of attention, {told} takes {row.shares[best[0]]}{each} from {names}, {times} as much as from "
        f"{others}, and hands back {row.output}."
    )


def _row_of(word: str, vector: Sequence[int]) -> _Row:
    """Compute a row of the example, in which one word has another vector."""
    x = [*_EXAMPLE.x[:_AT], list(map(float, vector)), *_EXAMPLE.x[_AT + 1 :]]
    q, k, v = (matmul(x, W) for W in (_EXAMPLE.W_q, _EXAMPLE.W_k, _EXAMPLE.W_v))
    i = _EXAMPLE.tokens.index(word)
    scores = matmul([q[i]], transpose(k))[0]
    output, weights = scaled_dot_product_attention([q[i]], k, v)
    doublings = [round(score / sqrt(len(k[0])) / log(2)) for score in scores]
    e_values = [Fraction(2) ** doubling for doubling in doublings]
    return _Row(
        word=word,
        words=_EXAMPLE.tokens,
        changed="" if x == _EXAMPLE.x else listed(map(exact, x[_AT])),
        x=[exact(x_c) for x_c in x[i]],
        W_q=[listed(_doublings(row)) for row in _EXAMPLE.W_q],
        q=listed(_doublings(q[i])),
        k=[listed(map(exact, k_j)) for k_j in k],
        v=[listed(map(exact, v_j)) for v_j in v],
        raw=_doublings(scores),
        halves=[exact(doubling) for doubling in doublings],
        e_values=e_values,
        total=sum(e_values, Fraction(0)),
        weights=weights[0],
        shares=[plain(share, ".2g") for share in weights[0]],
        output=listed(_alike(output[0])),
    )


def _query(row: _Row) -> _Frame:
    return _Frame(
        "vector → query",
        "rows of W_q, in units of ln 2",
        [
            [
                _Piece(16, x, _quiet(x), "end", is_open=row.word == _OPEN),
                _Piece(30, "×", _quiet(x), "end"),
                _Piece(44, rows, _quiet(x)),
            ]
            for x, rows in zip(row.x, row.W_q, strict=True)
        ],
        [_Piece(30, "q =", "query", "end"), _Piece(44, row.q, "query")],
        f'"{row.word}" is {listed(row.x)}, so its query is {_total(row.x, row.W_q)} = {row.q}, times ln 2.',
    )


def _raw(row: _Row) -> _Frame:
    lines = [
        [_Piece(_COLUMN, k, "key", is_open=word == _OPEN), _Piece(180, s)]
        for word, k, s in zip(row.words, row.k, row.raw, strict=True)
    ]
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
    whole = max(e.denominator for e in row.e_values)
    shown = [f"{e * whole}/{row.total * whole} = {share}" for e, share in zip(row.e_values, row.shares, strict=True)]
    return _Frame(
        "shares",
        "each e-value over the total" if whole == 1 else f"e-value over total, both × {whole}",
        _labelled(row, [[_Piece(_SHARES, part)] for part in shown]),
        [_Piece(0, "total"), _Piece(_COLUMN, exact(sum(row.weights)))],
        f"The shares are {_by_word(row, row.shares)}.",
        bars=row.weights,
    )


def _mix(row: _Row) -> _Frame:
    lines = [
        [_Piece(_SHARES, f"{share} ×"), _Piece(_VALUES, v, "value", is_open=word == _OPEN)]
        for word, share, v in zip(row.words, row.shares, row.v, strict=True)
    ]
    return _Frame(
        "the mix",
        "shares times values",
        _labelled(row, lines),
        [_Piece(_SHARES, "sum"), _Piece(_VALUES, row.output, "value")],
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
        box(_BARS, _TOP - 11 + _LINE * i, (_WIDTH - _BARS) * share, 12, role="w7", filled=True)
        for i, share in enumerate(frame.bars)
    ]
    if frame.result:
        bottom = _TOP + _LINE * len(frame.lines)
        stroke = line(0, bottom - 14, _WIDTH - 20, bottom - 14, width=1)
        parts += [stroke, *_written(bottom + 6, frame.result, bold=True)]
    return svg(_WIDTH, _HEIGHT, *parts, title=f"Step {number}: {frame.title}", description=frame.told)


def _written(y: float, pieces: _Line, *, bold: bool = False) -> list[str]:
    return [
        *(text(piece.x, y, piece.shown, role=piece.role, anchor=piece.anchor, bold=bold) for piece in pieces),
        *(_underlined(y + 4, piece) for piece in pieces if piece.is_open),
    ]


def _underlined(y: float, piece: _Piece) -> str:
    long = max(9, 5.5 * len(piece.shown))
    start = piece.x - long if piece.anchor == "end" else piece.x
    return line(start, y, start + long, y, role=piece.role, dashed=True)


def _quiet(x: str) -> str:
    return "hidden" if x == "0" else ""


def _doublings(scores: Iterable[float]) -> list[str]:
    return [exact(score / log(2)) for score in scores]


def _alike(numbers: Sequence[float]) -> list[str]:
    """Write numbers as fractions if all of them are short, and with decimals if not."""
    shown = [plain(x, letters=4) for x in numbers]
    return [number(x) for x in numbers] if any("." in text for text in shown) else shown


def _total(amounts: Sequence[str], rows: Sequence[str]) -> str:
    return " + ".join(f"{amount} · {row}" for amount, row in zip(amounts, rows, strict=True))


def _by_word(row: _Row, shown: Iterable[object]) -> str:
    return ", ".join(f"{word} {number}" for word, number in zip(row.words, shown, strict=True))
