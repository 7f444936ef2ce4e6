"""Draw what heads with hand-set weights do: every matrix, the residual stream, and a gallery of patterns."""

import html
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.checks import Mask, Matrix
from attention_primer.circuits import (
    Head,
    InductionCircuit,
    induction_circuit,
    name_pattern,
    offset_head,
    previous_token_head,
    sink_head,
)
from attention_primer.examples import worked_example_sentence
from attention_primer.masks import causal_mask, sliding_window_mask
from attention_primer.softmaxes import softmax
from attention_primer.vectors import mix
from machinery.drawing import Figure, box, cell, figure, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import exact, listed, over_one, side_by_side
from machinery.live import Choice, Slider, Switch, live

__all__ = ["TEXT", "UNNAMED", "noise", "patterns"]

_WORDS = worked_example_sentence().tokens
_TEXTS = ("Mr Dursley said that Mr", "the cat sat the dog sat the", "one two three four")
_LABELS = 64  # what the names of lanes take at the left
_BLANK = 1e-6  # what is smaller is drawn as nothing

# The text of the gallery and of its quiz, which has repeats.
TEXT = ["<s>", "a", "b", "c", "a", "b", "d", "a", "b"]


# One head.


@live(
    "Lower the lead, and see the line blur.",
    Slider("lead of the wanted key, in points", (1, 2, 4, 8, 40), start=40),
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
            _tall(head, [("W_q", head.W_q, "place asked"), ("W_k", head.W_k, "place offered")]),
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
    shown = [[_fraction(w) for w in row] for row in weights]
    return Figure(
        side_by_side(
            _weights(weights, mask, "Weights of a sink head", shown=shown, gone=is_hidden),
            _values(head.v, output, is_hidden),
            _tall(head, [("W_q", head.W_q, "ask"), ("W_k", head.W_k, "offer"), ("W_v", head.W_v, "hand over")]),
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


# Induction.


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
        told = " and ".join(f'{_fraction(share)} on "{word}"' for word, share in expected.items())
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
                [f"{title}, query ↓, key →", *tokens],
                [
                    [word, *(_fraction(w) if may_see else "hidden" for w, may_see in zip(row, seen, strict=True))]
                    for word, row, seen in zip(tokens, weights, second.mask, strict=True)
                ],
            )
            for title, weights in pictures
        )
        + table(["next word", "logit"], [[word, _fraction(x)] for word, x in logits]),
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
        parts.append(text(78 + 180 * x, y + 14, _fraction(x), role="value", anchor="start"))
    return svg(
        300,
        44 + 26 * len(circuit.vocabulary),
        text(0, 16, "what comes next", anchor="start", bold=True),
        *parts,
        title="What the circuit expects next",
        description=", ".join(f"{word} {_fraction(x)}" for word, x in circuit.next_token.items()) or "nothing",
    )


@figure
def stream() -> Figure:
    """Draw the vectors of all tokens before, between and after the two layers."""
    circuit = _circuit(_TEXTS[0])
    first, second = circuit.first, circuit.second
    stages = [("before", first.x), ("after layer 1", first.sum), ("after layer 2", second.sum)]
    return Figure(
        side_by_side(*(_vectors(first, name, rows) for name, rows in stages)),
        "Each layer reads some lanes and adds to one of its own. Layer 1 fills “before”: the stamps. Layer 2 compares "
        "“token” with “before”, and fills “next”. Nothing is erased. Typed in, not learned.",
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
        told.append(", ".join(name for name, c in zip(names, places, strict=True) if row[c] > _BLANK) or "empty")
    return told


def _vectors(head: Head, name: str, rows: Matrix) -> str:
    size, top = 13, 44
    parts = [text(0, 16, name, anchor="start", bold=True)]
    parts += [
        text(_LABELS + size * (places.start + len(places) / 2), top - 8, lane, size=13)
        for lane, places in head.lanes.items()
    ]
    for i, (word, row) in enumerate(zip(head.tokens, rows, strict=True)):
        parts.append(text(_LABELS - 8, top + size * i + 11, word, anchor="end", size=13))
        parts += _cells(_LABELS, top + size * i, size, [row])
    bottom = top + size * len(rows)
    parts += _seams(head, lambda at: line(_LABELS + size * at, top - 4, _LABELS + size * at, bottom + 4, width=1))
    return svg(
        _LABELS + size * len(rows[0]) + 8,
        bottom + 8,
        *parts,
        title=f"The residual stream {name}",
        description="One row a token. " + ", ".join(head.lanes) + ": one number of a lane is set, or none.",
    )


@live("Choose a layer.", Choice("layer", ("layer 1", "layer 2"), start="layer 2"))
def two_circuits(layer: str) -> Figure:
    """Draw all matrices of a layer, and the two products that say all that it does."""
    circuit = _circuit(_TEXTS[0])
    head, told = (
        (circuit.first, "QK matches “position” with “position”, one place back. OV copies from “token” to “before”.")
        if layer == "layer 1"
        else (
            circuit.second,
            "QK matches “token” with “before”, and gives points to the start token’s place for those who find nothing. "
            "OV copies from “token” to “next”, all but the start token.",
        )
    )
    return Figure(
        side_by_side(
            _tall(head, [("W_q", head.W_q, ""), ("W_k", head.W_k, "")], size=9),
            _square(head, "QK = W_q times W_k turned over", head.qk),
            _tall(head, [("W_v", head.W_v, "")], size=9),
            _square(head, "W_o", head.W_o, rows=False),
            _square(head, "OV = W_v times W_o", head.ov),
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
    count = sum(abs(product[r][c]) > _BLANK for r in rows for c in columns)
    return f"{count} set" if count else "empty"


# Patterns.


def patterns(text: Sequence[str]) -> dict[str, Matrix]:
    """Make one perfect specimen of each pattern, by heads, masks and zeros."""
    n = len(text)
    zeros = [[0.0]] * n
    return {
        "diagonal": offset_head(text, 0).weights,
        "previous token": previous_token_head(text).weights,
        "offset 3": offset_head(text, 3).weights,
        "sink": sink_head(text).weights,
        "uniform": scaled_dot_product_attention(zeros, zeros, zeros, causal_mask(n)).weights,
        "local": scaled_dot_product_attention(zeros, zeros, zeros, sliding_window_mask(n, window=3)).weights,
        "induction": induction_circuit(text).second.weights,
        "mixed": noise(n),
    }


def noise(n: int, seed: int = 0) -> list[list[float]]:
    """Draw scores at random, wide enough that no pattern shows."""
    random = Random(seed)
    return [softmax([random.gauss(0, 2) for _ in range(i + 1)]) + [0.0] * (n - 1 - i) for i in range(n)]


_MADE_BY = {
    "diagonal": "an offset of 0",
    "previous token": "an offset of 1",
    "offset 3": "an offset of 3",
    "sink": "one key far ahead",
    "uniform": "queries of zeros",
    "local": "zeros and a sliding window",
    "induction": "two layers",
    "mixed": "scores drawn at random",
}


@figure
def gallery() -> Figure:
    """Draw one specimen of each pattern, with its name and score."""
    specimens = patterns(TEXT)
    named = {name: name_pattern(weights, TEXT) for name, weights in specimens.items()}
    scores = {name: number(max(named[name].scores.values())) for name in named}
    return Figure(
        side_by_side(*(_small(name, specimens[name], [f"score {scores[name]}"]) for name in specimens)),
        f"Eight patterns over the text {html.escape(' '.join(TEXT))}. Rows are queries, columns keys; the hidden "
        "future is left blank. The last one gets no name, since no pattern scores high. All were made by hand.",
        table(
            ["pattern", "made by", "name that the library gives", "its best score"],
            [[name, _MADE_BY[name], named[name].name, scores[name]] for name in specimens],
        ),
    )


def _fading(n: int) -> Matrix:
    """Look at the last three, and less at what stands farther back."""
    zeros, bias = [[0.0]] * n, [[0.3 * (j - i) for j in range(n)] for i in range(n)]
    return scaled_dot_product_attention(zeros, zeros, zeros, sliding_window_mask(n, window=3), bias=bias).weights


# What the page's quiz shows; its answers ask for them by these letters.
UNNAMED: dict[str, Matrix] = {
    "A": previous_token_head(TEXT, lead=4).weights,
    "B": induction_circuit(TEXT, lead=4).second.weights,
    "C": sink_head(TEXT, lead=4).weights,
    "D": noise(len(TEXT), seed=3),
    "E": offset_head(TEXT, 2, lead=4).weights,
    "F": _fading(len(TEXT)),
}
_NO_GUESS = "not named yet"
_GUESSES = ("diagonal", "previous token", "offset 2", "offset 3", "sink", "uniform", "local", "induction", "mixed")


@live(
    "Name what you see.",
    Choice("pattern", tuple(UNNAMED), start="A"),
    Choice("name", (_NO_GUESS, *_GUESSES), start=_NO_GUESS),
)
def unnamed_patterns(letter: str, guess: str) -> Figure:
    """Draw six patterns without their names, and judge a guess by what the library measures."""
    return Figure(
        side_by_side(
            *(
                _small(f"pattern {name}", weights, [guess if name == letter else ""], size=17, words=TEXT)
                for name, weights in UNNAMED.items()
            )
        ),
        _verdict(letter, guess),
        table(["pattern", "name"], [[letter, guess]])
        + "".join(
            table(
                [f"pattern {name}, query ↓, key →", *TEXT],
                [
                    [word, *(number(w) if j <= i else "hidden" for j, w in enumerate(row))]
                    for i, (word, row) in enumerate(zip(TEXT, weights, strict=True))
                ],
            )
            for name, weights in UNNAMED.items()
        ),
        "The lines are blurred, as in trained heads. Made by hand all the same.",
    )


def _verdict(letter: str, guess: str) -> str:
    if guess == _NO_GUESS:
        return f"Pattern {letter} has no name yet."
    named = name_pattern(UNNAMED[letter], TEXT)
    best = number(max(named.scores.values()))
    if guess == "mixed":
        right = f"Yes: the best of all scores for {letter} is {best}, too low for a name."
        return right if named.name == guess else f"No: one pattern scores {best} for {letter}. Look again."
    score = f"{number(named.scores[guess])} of the shares lie where “{guess}” wants them"
    return f"Yes: for {letter}, {score}." if named.name == guess else f"No: for {letter}, only {score}. Look again."


def _small(
    title: str, weights: Matrix, below: Sequence[str], *, size: float = 13, words: Sequence[str] | None = None
) -> str:
    left, top = (30, 44) if words else (0, 26)
    parts = [text(0, 16, title, anchor="start", bold=True)]
    for j, word in enumerate(words or ()):
        parts.append(text(left + size * (j + 0.5), top - 6, word, role="key", size=13))
        parts.append(text(left - 6, top + size * j + 13, word, role="query", size=13, anchor="end"))
    parts += [
        cell(left + size * j, top + size * i, size - 1, w)
        for i, row in enumerate(weights)
        for j, w in enumerate(row)
        if j <= i
    ]
    foot = top + size * len(weights)
    parts += [text(0, foot + 18 + 18 * n, said, anchor="start", size=13) for n, said in enumerate(below)]
    most = [max(range(len(row)), key=lambda j: row[j]) for row in weights]
    told = "; ".join(f"row {i} reads most of {j}, {number(weights[i][j])}" for i, j in enumerate(most))
    return svg(
        max(left + size * len(weights), 150),
        foot + 8 + 18 * len(below),
        *parts,
        title=f"Weights: {title}",
        description=f"Rows and columns counted from 0: {told}.",
    )


# Maps that say little.


@live("Move shares from word to word.", Slider("sixteenths on “cat”", (0, 1, 2, 3), start=2))
def same_output(sixteenths: int) -> Figure:
    """Draw rows of shares that all give the same output."""
    values = worked_example_sentence().v
    shares = _other_shares(sixteenths / 16)
    output, shown = mix(shares, values), over_one(shares)
    parts = [text(134, 44, "value", role="value", anchor="middle")]
    for j, (word, share, value) in enumerate(zip(_WORDS, shares, values, strict=True)):
        y = 58 + 30 * j
        parts += [
            text(48, y + 16, word, role="key", anchor="end"),
            text(134, y + 16, listed(map(exact, value)), role="value"),
            box(190, y + 2, max(1, 110 * share), 20, role="w8", filled=True),
            text(198 + 110 * share, y + 17, shown[j], anchor="start"),
        ]
    return Figure(
        svg(
            320,
            214,
            text(0, 16, 'what "down" reads', anchor="start", bold=True),
            text(190, 44, "share", anchor="start"),
            *parts,
            text(0, 200, f"output {listed(map(exact, output))}", role="value", anchor="start", bold=True),
            title='Shares of "down" and the output that they give',
            description=", ".join(f"{word} {part}" for word, part in zip(_WORDS, shown, strict=True)),
        ),
        f"Shares of {', '.join(shown)} give the output {listed(map(exact, output))}.",
        table(
            ["word", "value", "share"],
            [[word, listed(map(exact, v)), part] for word, v, part in zip(_WORDS, values, shown, strict=True)],
        ),
        "The output stays as it is, whatever the map looks like.",
    )


def _other_shares(cat: float) -> list[float]:
    """Find shares for a given one of "cat" that give the output of "down": 8a + 16b = 3, 8c + 4d = 5, sum 1."""
    return [3 / 8 - 2 * cat, cat, 5 / 8 - cat, 2 * cat]


# Parts.


def _fraction(x: float) -> str:
    return "0" if abs(x) < _BLANK else exact(x)


def _shown(numbers: Sequence[float]) -> str:
    return listed(map(_fraction, numbers))


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
        ["weights, query ↓, key →", *_WORDS],
        [
            [word, *(w if may_see else "hidden" for w, may_see in zip(row, seen, strict=True))]
            for word, row, seen in zip(_WORDS, rows, mask, strict=True)
        ],
    )


def _cells(x: float, y: float, size: float, rows: Matrix, *, numbers: bool = False) -> list[str]:
    most = max(max(map(abs, row)) for row in rows) or 1
    return [
        cell(x + size * j, y + size * i, size - 1, w / most, exact(w) if numbers and abs(w) > _BLANK else "")
        for i, row in enumerate(rows)
        for j, w in enumerate(row)
    ]


def _seams(head: Head, drawn: Callable[[int], str]) -> list[str]:
    return [drawn(places.start) for places in list(head.lanes.values())[1:]]


def _matrices(head: Head) -> list[str]:
    three = [("W_q", head.W_q, "place asked"), ("W_k", head.W_k, "place offered"), ("W_v", head.W_v, "word")]
    return [_tall(head, three), _square(head, "W_o", head.W_o, rows=False, size=20)]


def _tall(head: Head, matrices: Sequence[tuple[str, Matrix, str]], *, size: int = 20) -> str:
    """Draw matrices that read a vector, side by side, with its lanes as rows."""
    top, x, gap = 28, _LABELS, 16
    height = size * len(matrices[0][1])
    wide = [max(size * len(W[0]), 56, 8 * len(what)) for _, W, what in matrices]
    right = x + sum(wide) + gap * (len(wide) - 1)
    parts = _lanes_at_left(head, top, size)
    parts += _seams(head, lambda at: line(8, top + size * at, right, top + size * at, width=1, dashed=True))
    for (name, W, what), width in zip(matrices, wide, strict=True):
        parts.append(text(x, 16, name, anchor="start", bold=True))
        parts += _cells(x, top, size, W, numbers=size > 16)
        parts.append(text(x, top + height + 18, what, anchor="start", size=13))
        x += width + gap
    names = ", ".join(name for name, _, _ in matrices)
    return svg(
        right + 4,
        top + height + 26,
        *parts,
        title=f"The matrices {names}",
        description=f"Rows by lane: {', '.join(head.lanes)}. " + "; ".join(_reads(head, n, W) for n, W, _ in matrices),
    )


def _reads(head: Head, name: str, W: Matrix) -> str:
    lanes = [lane for lane, places in head.lanes.items() if any(any(W[r]) for r in places)]
    return f"{name} reads {' and '.join(lanes)}"


def _lanes_at_left(head: Head, top: float, size: float) -> list[str]:
    return [
        text(_LABELS - 8, top + size * (places.start + len(places) / 2) + 5, lane, anchor="end", size=13)
        for lane, places in head.lanes.items()
    ]


def _square(head: Head, name: str, W: Matrix, *, rows: bool = True, size: int = 9) -> str:
    """Draw a matrix whose columns are a vector, and whose rows are one, too, unless they are a mix of values."""
    top = 48
    bottom, right = top + size * len(W), _LABELS + size * len(W[0])
    parts = [text(0, 16, name, anchor="start", bold=True)]
    parts += [
        text(_LABELS + size * (places.start + len(places) / 2), top - 6, lane, size=12 if size < 12 else 13)
        for lane, places in head.lanes.items()
    ]
    parts += _cells(_LABELS, top, size, W, numbers=size > 16)
    parts += _seams(
        head, lambda at: line(_LABELS + size * at, top - 2, _LABELS + size * at, bottom, width=1, dashed=True)
    )
    if rows:
        parts += _lanes_at_left(head, top, size)
        parts += _seams(head, lambda at: line(8, top + size * at, right, top + size * at, width=1, dashed=True))
    else:
        parts.append(text(_LABELS - 8, (top + bottom) / 2 + 5, "word", anchor="end", size=13))
    return svg(
        right + 8,
        bottom + 4,
        *parts,
        title=f"The matrix {name}",
        description=f"Columns by lane: {', '.join(head.lanes)}.",
    )


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


def _words_grid(title: str, tokens: Sequence[str], weights: Matrix, mask: Mask) -> str:
    longest = max(map(len, tokens))
    size, left, top = max(34, 7 * longest), 8 + 8 * longest, 48
    parts = [text(0, 16, title, anchor="start", bold=True)]
    parts += [text(left + size * (j + 0.5), top - 8, word, role="key", size=13) for j, word in enumerate(tokens)]
    high = 30
    for i, (word, row) in enumerate(zip(tokens, weights, strict=True)):
        y = top + high * i
        parts.append(text(left - 8, y + 20, word, role="query", anchor="end"))
        for j, w in enumerate(row):
            x = left + size * j + (size - high) / 2
            if not mask[i][j]:
                parts.append(hidden_cell(x + 1, y + 1, high - 2))
            else:
                parts.append(cell(x + 1, y + 1, high - 2, w, _fraction(w) if w > _BLANK else ""))
    told = [
        f"{word} on {', '.join(f'{tokens[j]} {_fraction(w)}' for j, w in enumerate(row) if w > _BLANK) or 'nothing'}"
        for word, row in zip(tokens, weights, strict=True)
    ]
    width, height = left + size * len(tokens) + 4, top + high * len(tokens) + 4
    return svg(width, height, *parts, title=title, description="; ".join(told))
