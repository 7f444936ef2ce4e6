"""Draw the induction pair: what its two layers look at, what they write, and the two products of its matrices."""

from collections.abc import Sequence
from functools import cache

from attention_primer.checks import Mask, Matrix
from attention_primer.circuits import Head, InductionCircuit, induction_circuit
from machinery.drawing import Figure, box, cell, figure, hidden_cell, line, svg, table, text
from machinery.figures.lanes import BLANK, LABELS, cells, or_zero, seams, square, tall
from machinery.figures.parts import side_by_side
from machinery.live import Choice, Switch, live

_TEXTS = ("Mr Dursley said that Mr", "the cat sat the dog sat the", "one two three four")


@live(
    "Choose a text, and whether all earlier places count or only the latest.",
    Choice("text", _TEXTS, start=_TEXTS[0]),
    Switch("the latest wins"),
)
def induction(said: str, latest: bool) -> Figure:
    """Draw both layers of the induction circuit, the table of equal tokens, and what is expected next."""
    circuit = _circuit(said, latest)
    tokens, second = circuit.tokens, circuit.second
    equal = [[float(a == b and j < i) for j, b in enumerate(tokens)] for i, a in enumerate(tokens)]
    expected, logits = circuit.next_token, zip(circuit.vocabulary, circuit.logits[-1], strict=True)
    pictures = [
        ("Layer 1: look one place back", circuit.first.weights),
        ("Equal tokens", equal),
        ("Layer 2: equal tokens, moved by one", second.weights),
    ]
    if expected:
        told = " and ".join(f'{or_zero(share)} on "{word}"' for word, share in expected.items())
        found = f'After the last "{tokens[-1]}", the circuit puts {told}.'
    else:
        found = (
            f'"{tokens[-1]}" stands here for the first time. The head finds no stamp, rests on the start token, and '
            "expects nothing."
        )
    kind = " Only the latest earlier place counts." if latest else " All earlier places count alike."
    return Figure(
        side_by_side(
            *(_words_grid(title, tokens, weights, second.mask) for title, weights in pictures),
            _bars(circuit),
        ),
        found + kind,
        "".join(
            table(
                ["query ↓, key →", *tokens],
                [
                    [word, *(or_zero(w) if may_see else "hidden" for w, may_see in zip(row, seen, strict=True))]
                    for word, row, seen in zip(tokens, weights, second.mask, strict=True)
                ],
                caption=title,
            )
            for title, weights in pictures
        )
        + table(["next word", "logit"], [[word, or_zero(x)] for word, x in logits]),
        "Typed in, not learned.",
    )


@cache
def _circuit(said: str, latest: bool = False) -> InductionCircuit:
    return induction_circuit(["<s>", *said.split()], latest=latest)


def _bars(circuit: InductionCircuit) -> str:
    parts = []
    for c, (word, x) in enumerate(zip(circuit.vocabulary, circuit.logits[-1], strict=True)):
        y = 34 + 26 * c
        parts.append(text(62, y + 14, word, anchor="end"))
        parts.append(box(70, y, max(1, 180 * x), 18, role="value", filled=True))
        parts.append(text(78 + 180 * x, y + 14, or_zero(x), role="value", anchor="start"))
    return svg(
        300,
        44 + 26 * len(circuit.vocabulary),
        text(0, 16, "what comes next", anchor="start", bold=True),
        *parts,
        title="What the circuit expects next",
        description=f"One bar a word of the vocabulary. After the last {circuit.tokens[-1]}: "
        + (", ".join(f"{word} {or_zero(x)}" for word, x in circuit.next_token.items()) or "nothing"),
    )


@figure
def stream() -> Figure:
    """Draw the vectors of all tokens before, between and after the two layers."""
    circuit = _circuit(_TEXTS[0])
    first, second = circuit.first, circuit.second
    stages = [("before", first.x), ("after layer 1", first.sum), ("after layer 2", second.sum)]
    return Figure(
        side_by_side(*(_vectors(first, name, rows) for name, rows in stages)),
        'Each layer reads some lanes and adds to one of its own. Layer 1 fills "before": the stamps. Layer 2 compares '
        '"token" with "before", and fills "next". Nothing is erased. Typed in, not learned.',
        "".join(
            table(
                [name, *first.lanes],
                [[word, *_lanes_told(circuit, row)] for word, row in zip(circuit.tokens, rows, strict=True)],
            )
            for name, rows in stages
        ),
    )


def _lanes_told(circuit: InductionCircuit, row: Sequence[float]) -> list[str]:
    """Say which number of each lane is set, as a word or a place."""
    told = []
    for lane, places in circuit.first.lanes.items():
        names = [str(i) for i in range(len(places))] if lane == "position" else circuit.vocabulary
        told.append(", ".join(name for name, c in zip(names, places, strict=True) if row[c] > BLANK) or "empty")
    return told


def _vectors(head: Head, name: str, rows: Matrix) -> str:
    size, top = 13, 44
    parts = [text(0, 16, name, anchor="start", bold=True)]
    parts += [
        text(LABELS + size * (places.start + len(places) / 2), top - 8, lane, size=13)
        for lane, places in head.lanes.items()
    ]
    for i, (word, row) in enumerate(zip(head.tokens, rows, strict=True)):
        parts.append(text(LABELS - 8, top + size * i + 11, word, anchor="end", size=13))
        parts += cells(LABELS, top + size * i, size, [row])
    bottom = top + size * len(rows)
    parts += seams(head, lambda at: line(LABELS + size * at, top - 4, LABELS + size * at, bottom + 4, width=1))
    return svg(
        LABELS + size * len(rows[0]) + 8,
        bottom + 8,
        *parts,
        title=f"The residual stream {name}",
        description=f"One row a token, one number of a lane set at most. Not empty {name}: "
        + ", ".join(lane for lane, places in head.lanes.items() if any(row[c] > BLANK for row in rows for c in places)),
    )


@live("Choose a layer.", Choice("layer", ("layer 1", "layer 2"), start="layer 2"))
def two_circuits(layer: str) -> Figure:
    """Draw all matrices of a layer, and the two products that say all that it does."""
    circuit = _circuit(_TEXTS[0])
    head, told = (
        (circuit.first, 'QK matches "position" with "position", one place back. OV copies from "token" to "before".')
        if layer == "layer 1"
        else (
            circuit.second,
            'QK matches "token" with "before", and gives points to the place of the start token, where those rest who '
            'find nothing. OV copies from "token" to "next", all but the start token.',
        )
    )
    return Figure(
        side_by_side(
            tall(head, [("W_q", head.W_q, ""), ("W_k", head.W_k, "")], size=9),
            square(head, "QK = W_q times W_k turned over", head.qk),
        )
        + side_by_side(
            tall(head, [("W_v", head.W_v, "")], size=9),
            square(head, "W_o", head.W_o, rows=False),
            square(head, "OV = W_v times W_o", head.ov),
        ),
        told,
        table(
            ["circuit, from ↓, to →", *head.lanes],
            [
                [f"{name}: {row}", *(_block_told(product, rows, columns) for columns in head.lanes.values())]
                for name, product in (("QK", head.qk), ("OV", head.ov))
                for row, rows in head.lanes.items()
            ],
        ),
        "Rows belong to the vector that asks, or that is read. The darkest cell is the largest number of a matrix.",
    )


def _block_told(product: Matrix, rows: range, columns: range) -> str:
    count = sum(abs(product[r][c]) > BLANK for r in rows for c in columns)
    return f"{count} set" if count else "empty"


def _words_grid(title: str, tokens: Sequence[str], weights: Matrix, mask: Mask) -> str:
    longest = max(map(len, tokens))
    size, left, top = max(34, 7 * longest), max(38, 10 + 7 * longest), 48
    parts = [text(0, 16, title, anchor="start", bold=True)]
    parts += [text(left + size * (j + 0.5), top - 8, word, role="key", size=13) for j, word in enumerate(tokens)]
    high = 30
    for i, (word, row) in enumerate(zip(tokens, weights, strict=True)):
        y = top + high * i
        parts.append(text(left - 8, y + 20, word, role="query", anchor="end", size=13))
        for j, w in enumerate(row):
            x = left + size * j + (size - high) / 2
            if not mask[i][j]:
                parts.append(hidden_cell(x + 1, y + 1, high - 2))
            else:
                parts.append(cell(x + 1, y + 1, high - 2, w, or_zero(w) if w > BLANK else ""))
    told = [
        f"{word} on {', '.join(f'{tokens[j]} {or_zero(w)}' for j, w in enumerate(row) if w > BLANK) or 'nothing'}"
        for word, row in zip(tokens, weights, strict=True)
    ]
    width, height = max(left + size * len(tokens), 8.2 * len(title)) + 4, top + high * len(tokens) + 4
    return svg(width, height, *parts, title=title, description="; ".join(told))
