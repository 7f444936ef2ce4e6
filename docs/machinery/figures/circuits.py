"""Draw heads with one job each, and all their matrices."""

from collections.abc import Sequence

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.checks import Mask, Matrix
from attention_primer.circuits import Head, offset_head, previous_token_head, sink_head
from attention_primer.examples import worked_example_sentence
from machinery.drawing import Figure, cell, hidden_cell, number, svg, table, text
from machinery.figures.lanes import or_zero, square, tall
from machinery.figures.parts import exact, listed, side_by_side
from machinery.live import Slider, Switch, live

_WORDS = worked_example_sentence().tokens


@live(
    "Lower the lead, and see the line blur.",
    Slider("lead of the wanted key", (1, 2, 4, 8, 40), start=40),
)
def previous_token(lead: float) -> Figure:
    """Draw the weights of a head that looks one place back, and the four matrices that make it do so."""
    head = previous_token_head(_WORDS, lead=lead)
    last = head.weights[-1]
    return Figure(
        side_by_side(_weights(head.weights, head.mask, "Weights of a previous-token head"), *_matrices(head)),
        f'With a lead of {exact(lead)}, "down" gives {number(last[2])} to "sat", the word before it, and '
        f"{number(last[0])} to each other word.",
        _weights_table(head.weights, head.mask) + _matrices_table(head),
        "A bright line under the diagonal: each word reads the one before it. The weights were typed in, not learned. "
        "In the matrices, what is empty is 0.",
    )


@live("Shift the block, and see the line move.", Slider("places back", (0, 1, 2, 3), start=2))
def shifted_query(back: int) -> Figure:
    """Draw how a shift in the query matrix becomes a diagonal of the weights."""
    head = offset_head(_WORDS, back)
    asks = {0: "itself", 1: "the word before it"}.get(back, f"the word {back} places before it")
    rest = {0: "", 1: f' "{_WORDS[0]}" has none, asks for nothing, and sees itself alone.'}
    none = " and ".join(f'"{word}"' for word in _WORDS[:back]) if back < 3 else "The first three words"
    return Figure(
        side_by_side(
            _weights(head.weights, head.mask, f"Weights of a head with an offset of {back}"),
            tall(head, [("W_q", head.W_q, "place asked"), ("W_k", head.W_k, "place offered")]),
        ),
        f"Each word asks for {asks}."
        + rest.get(back, f" {none} have none, ask for nothing, and read all that they see alike."),
        _weights_table(head.weights, head.mask) + _matrices_table(head, ("W_q", "W_k")),
        "Only the middle block of W_q differs from one offset to the other. Typed in, not learned.",
    )


@live("Take the sink away, and see who has to take its share.", Switch("hide the first token"))
def sink(is_hidden: bool) -> Figure:
    """Draw a head that rests on the first token, and what becomes of it when that token is hidden."""
    head = sink_head(_WORDS)
    mask = [[may_see and not (is_hidden and j == 0) for j, may_see in enumerate(row)] for row in head.mask]
    attention = scaled_dot_product_attention(head.q[1:], head.k, head.v, mask[1:])
    weights, output = [head.weights[0], *attention.weights], [head.output[0], *attention.output]
    if is_hidden:
        found = (
            f'With the first token hidden, "down" has to share itself out: {exact(weights[3][1])} to each word that is '
            f"left. It now writes {_shown(output[3])}, and nobody had asked for that."
        )
    else:
        found = (
            f'Every word gives {number(weights[3][0])} to "The", whose value is {_shown(head.v[0])}: nothing is read.'
        )
    shown = [[or_zero(w) for w in row] for row in weights]
    return Figure(
        side_by_side(
            _weights(weights, mask, "Weights of a sink head", shown=shown, gone=is_hidden),
            _values(head.v, output, is_hidden),
            tall(head, [("W_q", head.W_q, "ask"), ("W_k", head.W_k, "offer"), ("W_v", head.W_v, "hand over")]),
        ),
        found,
        _weights_table(weights, mask, shown=shown)
        + table(
            ["word", "value", "what it reads"],
            [
                [word, _shown(v), "hidden" if is_hidden and i == 0 else _shown(o)]
                for i, (word, v, o) in enumerate(zip(_WORDS, head.v, output, strict=True))
            ],
        )
        + _matrices_table(head, ("W_q", "W_k", "W_v")),
        "The first token is a place to park a share. Typed in, not learned; trained models make such a place by "
        "themselves.",
    )


def _values(v: Matrix, output: Matrix, is_hidden: bool) -> str:
    parts = [text(60, 40, "value", role="value", anchor="start"), text(190, 40, "reads", role="value", anchor="start")]
    for i, word in enumerate(_WORDS):
        y = 74 + 42 * i
        reads = "·" if is_hidden and i == 0 else _shown(output[i])
        parts += [
            text(48, y, word, role="query", anchor="end"),
            text(60, y, _shown(v[i]), role="value", anchor="start"),
            text(190, y, reads, role="value", anchor="start"),
        ]
    return svg(
        330,
        224,
        text(0, 16, "value of each word, and what it reads", anchor="start", bold=True),
        *parts,
        title="What a sink hands over",
        description="; ".join(f"{word}: {_shown(o)}" for word, o in zip(_WORDS, output, strict=True)),
    )


def _shown(numbers: Sequence[float]) -> str:
    return listed(map(or_zero, numbers))


def _weights(
    weights: Matrix, mask: Mask, title: str, *, shown: Sequence[Sequence[str]] | None = None, gone: bool = False
) -> str:
    """Draw four by four shares; gone says that the first row has nothing left to see."""
    size, left, top = 42, 48, 48
    parts = [
        text(0, 16, "weights", anchor="start", bold=True),
        text(76, 16, "query ↓, key →", anchor="start", size=13),
        *(text(left + size * (j + 0.5), top - 8, word, role="key") for j, word in enumerate(_WORDS)),
    ]
    for i, (word, row) in enumerate(zip(_WORDS, weights, strict=True)):
        parts.append(text(left - 8, top + size * i + 26, word, role="query", anchor="end"))
        for j, w in enumerate(row):
            place = left + size * j + 1, top + size * i + 1, size - 2
            written = shown[i][j] if shown else number(w)
            parts.append(cell(*place, w, written) if mask[i][j] and not (gone and i == 0) else hidden_cell(*place))
    told = [f"{word}: {', '.join(number(w) for w in row)}" for word, row in zip(_WORDS, weights, strict=True)]
    return svg(224, 224, *parts, title=title, description="; ".join(told))


def _weights_table(weights: Matrix, mask: Mask, *, shown: Sequence[Sequence[str]] | None = None) -> str:
    rows = shown or [[number(w) for w in row] for row in weights]
    return table(
        ["query ↓, key →", *_WORDS],
        [
            [word, *(w if may_see else "hidden" for w, may_see in zip(row, seen, strict=True))]
            for word, row, seen in zip(_WORDS, rows, mask, strict=True)
        ],
        caption="weights",
    )


def _matrices(head: Head) -> list[str]:
    three = [("W_q", head.W_q, "place asked"), ("W_k", head.W_k, "place offered"), ("W_v", head.W_v, "word")]
    return [tall(head, three), square(head, "W_o", head.W_o, rows=False, size=20)]


def _matrices_table(head: Head, names: Sequence[str] = ("W_q", "W_k", "W_v", "W_o")) -> str:
    tall = [name for name in names if name != "W_o"]
    drawn = {name: getattr(head, name) for name in names}
    rows = [f"{lane} {c - places.start}" for lane, places in head.lanes.items() for c in places]
    told = table(
        ["number of the vector", *tall],
        [[row, *(_shown(drawn[name][r]) for name in tall)] for r, row in enumerate(rows)],
    )
    if "W_o" in names:
        told += table(["row of W_o", "W_o"], [[word, _shown(row)] for word, row in zip(_WORDS, head.W_o, strict=True)])
    return told
