"""Draw one row of attention as a strip of six frames, in numbers that a pencil can follow."""

from collections.abc import Iterable, Sequence
from math import log

from attention_primer.examples import worked_example_sentence
from machinery.drawing import Figure, box, figure, line, svg, text
from machinery.figures.parts import exact, side_by_side

_WIDTH, _HEIGHT = 216, 190
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SAT = 2

Lines = Sequence[Sequence[tuple[float, str, str]]]  # pieces of text, each with its place and its role


@figure
def strip() -> Figure:
    """Draw the row of "sat": vector, query, raw scores, halves, e-values, shares, mix."""
    example = worked_example_sentence(causal=False)
    words, x = example.tokens, example.x[_SAT]
    rows = [_list(score / log(2) for score in row) for row in example.W_q]
    q = _list(score / log(2) for score in example.q[_SAT])
    raw = [exact(score / log(2)) for score in example.scores[_SAT]]
    halves = [exact(score / log(2)) for score in example.scaled[_SAT]]
    e_values = [2 ** int(half) for half in halves]
    total = sum(e_values)
    shares = [exact(share) for share in example.weights[_SAT]]
    output = _list(example.output[_SAT])
    keys, values = [_list(k) for k in example.k], [_list(v) for v in example.v]

    frames = [
        _frame(
            1,
            "vector → query",
            [
                [(30, f"{amount:g} ×", _quiet(amount)), (44, row, _quiet(amount))]
                for amount, row in zip(x, rows, strict=True)
            ],
            [(30, "q =", "query"), (44, q, "query")],
            note="rows of W_q, in units of ln 2",
        ),
        _frame(
            2,
            "raw scores, q · k",
            [[(0, word, "key"), (52, k, "key"), (180, s, "")] for word, k, s in zip(words, keys, raw, strict=True)],
            note=f"q = {q}",
        ),
        _frame(
            3,
            "÷ 2",
            [
                [(0, word, "key"), (52, f"{s} ÷ 2 = {half}", "")]
                for word, s, half in zip(words, raw, halves, strict=True)
            ],
            note="why: section 9",
        ),
        _frame(
            4,
            "e-values",
            [
                [(0, word, "key"), (52, f"2{half.translate(_POWERS)} = {e}", "")]
                for word, half, e in zip(words, halves, e_values, strict=True)
            ],
            [(0, "total", ""), (52, str(total), "")],
            note="each doubling is a factor of 2",
        ),
        _frame(
            5,
            "shares",
            [
                [(0, word, "key"), (52, f"{e}/{total} = {share}", "")]
                for word, e, share in zip(words, e_values, shares, strict=True)
            ],
            [(0, "total", ""), (52, exact(sum(example.weights[_SAT])), "")],
            bars=example.weights[_SAT],
            note="each e-value over the total",
        ),
        _frame(
            6,
            "the mix",
            [
                [(0, word, "key"), (52, f"{share} ×", ""), (92, value, "value")]
                for word, share, value in zip(words, shares, values, strict=True)
            ],
            [(52, "sum", ""), (92, output, "value")],
            note="shares times values",
        ),
    ]
    steps = [
        f"The query is {' + '.join(f'{amount:g} · {row}' for amount, row in zip(x, rows, strict=True))} = {q}, in units of ln 2.",
        f"The raw scores are {_by_word(words, raw)}.",
        f"Halved, they are {_by_word(words, halves)}.",
        f"The e-values are {_by_word(words, e_values)}; their total is {total}.",
        f"The shares are {_by_word(words, shares)}.",
        f"The mix is {' + '.join(f'{s} · {v}' for s, v in zip(shares, values, strict=True))} = {output}.",
    ]
    return Figure(
        side_by_side(*frames),
        f'One row of attention, by hand: "sat" takes {shares[1]} from "cat", twice as much as from any other word, and '
        f"hands back {output}. The numbers were typed in by hand, not learned.",
        f"<ol>{''.join(f'<li>{step}</li>' for step in steps)}</ol>",
    )


def _frame(
    step: int,
    title: str,
    lines: Lines,
    result: Sequence[tuple[float, str, str]] = (),
    *,
    note: str,
    bars: Sequence[float] = (),
) -> str:
    """Draw one step: what it is called, a line a word, and the result beneath a stroke."""
    parts = [text(0, 16, f"{step}. {title}", anchor="start", bold=True), text(0, 36, note, anchor="start", size=13)]
    for i, pieces in enumerate(lines):
        parts += _pieces(64 + 25 * i, pieces)
    for i, share in enumerate(bars):
        parts.append(box(142, 53 + 25 * i, 70 * share, 12, role="w7", filled=True))
    if result:
        bottom = 64 + 25 * len(lines)
        parts += [line(0, bottom - 14, _WIDTH - 20, bottom - 14, width=1), *_pieces(bottom + 6, result, bold=True)]
    told = [" ".join(shown for _, shown, _ in pieces) for pieces in (*lines, result) if pieces]
    return svg(_WIDTH, _HEIGHT, *parts, title=f"Step {step}: {title}", description=f"{note}: {'; '.join(told)}.")


def _pieces(y: float, pieces: Iterable[tuple[float, str, str]], *, bold: bool = False) -> list[str]:
    # What ends in a times or equals sign is set flush right, so that lists stand in line.
    return [text(x, y, shown, role=role, anchor="end" if x == 30 else "start", bold=bold) for x, shown, role in pieces]


def _quiet(amount: float) -> str:
    return "" if amount else "hidden"


def _list(numbers: Iterable[float]) -> str:
    return f"[{', '.join(map(exact, numbers))}]"


def _by_word(words: Sequence[str], numbers: Iterable[object]) -> str:
    return ", ".join(f"{word} {number}" for word, number in zip(words, numbers, strict=True))
