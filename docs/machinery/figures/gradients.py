"""Draw how the signal flows back: a slope that one can see, the Jacobian of a row, and what reaches the queries."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import hypot, log, log10
from random import Random
from statistics import median

from attention_primer.examples import worked_example_sentence
from attention_primer.gradients import Gradients, attention_gradients
from attention_primer.softmaxes import softmax, softmax_jacobian
from attention_primer.vectors import dot, matmul, mix
from machinery.drawing import Figure, arrow, box, cell, figure, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import NO_BREAK, exact, listed, over_one, side_by_side
from machinery.live import Choice, Slider, live

_EXAMPLE = worked_example_sentence()
_WORDS = _EXAMPLE.tokens
_SAT = 2
_NUMBERS = ("the first number", "the second number")

# A slope that one can see.

_SEEN = _WORDS[: _SAT + 1]
_CENTER, _ACROSS, _GROUND, _UP = 172, 62, 262, 15  # pixels: the middle, a unit of score, the axis, a unit of output


@live(
    "Make the step smaller, and the line through two points becomes the slope at one.",
    Choice("move the score of", _SEEN, start="cat"),
    Slider("step", (2, 1, 0.5, 0.1), start=1, show=lambda h: number(h, "g")),
)
def slope_you_can_see(word: str, h: float) -> Figure:
    """Draw the first number of the output of "sat" against one of its scores, with a line through two points."""
    j = _SEEN.index(word)
    below, middle, above = (_moved(j, step) for step in (-h, 0, h))
    slope = _slope(j)
    measured = (above - below) / (2 * h)
    grid = [-2.4 + 0.2 * n for n in range(25)]
    curve = [_spot(s, _moved(j, s)) for s in grid]
    ends = [_spot(s, middle + measured * s) for s in (-2.4, 2.4)]
    return Figure(
        svg(
            344,
            304,
            arrow(16, _GROUND, 336, _GROUND, width=1),
            arrow(16, _GROUND, 16, 14, width=1),
            text(24, 18, "first number of the output", anchor="start", size=13),
            text(336, 298, f'change of the score of "{word}"', anchor="end", size=13),
            *(text(_spot(s, 0)[0], _GROUND + 18, _plain(s), size=13) for s in (-2, -1, 0, 1, 2)),
            *(line(*a, *b, role="value", width=3) for a, b in pairwise(curve)),
            line(*ends[0], *ends[1], dashed=True),
            *(_point(*_spot(s, _moved(j, s))) for s in (-h, h)),
            *(
                text(
                    *(_spot(s, _moved(j, s))[0], _spot(s, _moved(j, s))[1] + (26 if s * measured > 0 else -14)),
                    number(_moved(j, s)),
                    role="key",
                    anchor="start" if s > 0 else "end",
                    bold=True,
                )
                for s in (-h, h)
            ),
            title=f"The output of sat against the score of {word}",
            description=f"A curve through {exact(middle)} at no change. A line through the points a step of "
            f"{number(h, 'g')} to both sides has a slope of {number(measured)}.",
        ),
        f"A step of {number(h, 'g')} down and up takes the output from {number(below)} to {number(above)}. Divided by "
        f"the way between, {number(2 * h, 'g')}, that is a slope of {number(measured)}. The formula says "
        f"{exact(slope)}.",
        table(
            ["step", *(f"measured for {name}" for name in _SEEN)],
            [
                [
                    number(step, "g"),
                    *(number((_moved(n, step) - _moved(n, -step)) / (2 * step)) for n in range(len(_SEEN))),
                ]
                for step in (2, 1, 0.5, 0.1)
            ],
        ),
    )


def _moved(j: int, step: float) -> float:
    """Move one score of "sat", and give the first number of its output."""
    scores = [s + step * (n == j) for n, s in enumerate(_EXAMPLE.scaled[_SAT][: _SAT + 1])]
    return mix(softmax(scores), _EXAMPLE.v[: _SAT + 1])[0]


def _slope(j: int) -> float:
    return dot(softmax_jacobian(_EXAMPLE.weights[_SAT][: _SAT + 1])[j], [v[0] for v in _EXAMPLE.v[: _SAT + 1]])


def _spot(s: float, output: float) -> tuple[float, float]:
    return _CENTER + _ACROSS * s, _GROUND - _UP * output


def _point(x: float, y: float) -> str:
    return box(x - 5, y - 5, 10, 10, role="key", filled=True)


def _plain(x: float) -> str:
    return f"{x:+d}".replace("-", "−") if x else "0"


# What flows to the values.

_ALL = "all four words"
_SIZE, _LEFT, _TOP = 42, 62, 62


@live(
    "Let one word alone want something.",
    Choice("a larger first number is wanted by", (_ALL, '"sat" alone', '"down" alone'), start=_ALL),
)
def values_learn(who: str) -> Figure:
    """Draw the shares with what each row wants, and beneath each column what its value gets."""
    wanting = [who == _ALL or who == f'"{word}" alone' for word in _WORDS]
    d_output = [[float(wants), 0.0] for wants in wanting]
    d_v = _gradients(d_output).d_v
    got = [exact(row[0]) for row in d_v]
    shown = [
        [s if seen else "hidden" for s, seen in zip(over_one(row), mask, strict=True)]
        for row, mask in zip(_EXAMPLE.weights, _EXAMPLE.mask, strict=True)
    ]
    bottom = _TOP + 4 * _SIZE
    return Figure(
        svg(
            _LEFT + 4 * _SIZE + 78,
            bottom + 40,
            text(0, 16, "shares, read downward", anchor="start", bold=True),
            text(0, 36, "query ↓, key →", anchor="start", size=13),
            text(_LEFT + 4 * _SIZE + 16, _TOP - 8, "wants", anchor="start", size=13),
            *(text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role="key") for j, word in enumerate(_WORDS)),
            *(part for i in range(4) for part in _wanting_row(i, shown[i], d_output[i])),
            line(_LEFT, bottom + 6, _LEFT + 4 * _SIZE, bottom + 6, width=1),
            text(_LEFT - 8, bottom + 28, "v gets", role="value", anchor="end"),
            *(
                text(_LEFT + _SIZE * (j + 0.5), bottom + 28, share, role="value", bold=True)
                for j, share in enumerate(got)
            ),
            title="What flows to the values",
            description="; ".join(f"the value of {word} gets {share}" for word, share in zip(_WORDS, got, strict=True))
            + ".",
        ),
        "A value gets what its readers want, each times its share of it: "
        + ", ".join(f'"{word}"\u00a0{share}' for word, share in zip(_WORDS, got, strict=True))
        + (". These are the sums of the columns." if who == _ALL else "."),
        table(
            ["query ↓, key →", *_WORDS, "wants"],
            [
                *([word, *row, _list(d)] for word, row, d in zip(_WORDS, shown, d_output, strict=True)),
                ["its value gets", *got, ""],
            ],
        ),
    )


def _wanting_row(i: int, shown: Sequence[str], d_output: Sequence[float]) -> list[str]:
    y = _TOP + _SIZE * i + 1
    places = [(_LEFT + _SIZE * j + 1, y, _SIZE - 2) for j in range(4)]
    wants = any(d_output)
    return [
        text(_LEFT - 8, y + 25, _WORDS[i], role="query", anchor="end", bold=wants),
        *(
            hidden_cell(*place) if s == "hidden" else cell(*place, w if wants else 0, s)
            for place, w, s in zip(places, _EXAMPLE.weights[i], shown, strict=True)
        ),
        text(_LEFT + 4 * _SIZE + 16, y + 25, _list(d_output), role="value", anchor="start", bold=wants),
    ]


def _gradients(d_output: Sequence[Sequence[float]]) -> Gradients:
    return attention_gradients(_EXAMPLE.q, _EXAMPLE.k, _EXAMPLE.v, d_output, _EXAMPLE.mask)


def _list(numbers: Sequence[float]) -> str:
    return listed(map(exact, numbers))


# Shares compete.


@live("Whose row passes the most back, and whose passes nothing?", Choice("row", _WORDS, start="sat"))
def jacobian_of_a_row(word: str) -> Figure:
    """Draw how each share of a row moves with each score, and what becomes of a wish."""
    i = _WORDS.index(word)
    seen = _WORDS[: i + 1]
    shares = _EXAMPLE.weights[i][: i + 1]
    jacobian = softmax_jacobian(shares)
    parts = round(1 / min(shares)) ** 2
    wishes = [v[0] for v in _EXAMPLE.v[: i + 1]]
    got = [dot(row, wishes) for row in jacobian]
    over = f" (over {parts})" if parts > 1 else ""
    return Figure(
        svg(
            336,
            _TOP + 4 * _SIZE + 6,
            text(0, 16, f"how shares move with scores{over}", anchor="start", bold=True),
            text(0, 36, "share ↓, score →", anchor="start", size=13),
            *(text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, name, role="key") for j, name in enumerate(seen)),
            text(_LEFT + _SIZE * (i + 1) + 30, _TOP - 8, "value", role="value", size=13),
            text(_LEFT + _SIZE * (i + 1) + 76, _TOP - 8, "score", size=13, bold=True),
            *(
                part
                for n, (row, wish, gets) in enumerate(zip(jacobian, wishes, got, strict=True))
                for part in _slopes(n, row, parts, wish, gets)
            ),
            title=f"How the shares of {word} move with its scores",
            description="; ".join(f"{name}: {_over(row, parts)}" for name, row in zip(seen, jacobian, strict=True))
            + f"{over}. The scores get {', '.join(map(exact, got))}.",
        ),
        _competing(word, shares, wishes, got),
        table(
            ["share ↓, score →", *seen, "value, first number", "what the score gets"],
            [
                [name, *(exact(x, parts=parts) for x in row), exact(wish), exact(gets)]
                for name, row, wish, gets in zip(seen, jacobian, wishes, got, strict=True)
            ],
            caption=f'the row of "{word}"',
        ),
        "Every row and every column adds up to 0: what one share gains, the others lose.",
    )


def _over(row: Sequence[float], parts: int) -> str:
    return ", ".join(exact(x * parts) for x in row)


def _slopes(n: int, row: Sequence[float], parts: int, wish: float, gets: float) -> list[str]:
    y, right = _TOP + _SIZE * n + 1, _LEFT + _SIZE * len(row)
    drawn = [text(_LEFT - 8, y + 25, _WORDS[n], role="key", anchor="end")]
    for j, x in enumerate(row):
        at = _LEFT + _SIZE * j + 1
        if x > 0:
            drawn.append(cell(at, y, _SIZE - 2, 2 * x, exact(x * parts)))
        else:
            drawn.append(box(at + 1, y + 1, _SIZE - 4, _SIZE - 4, role="hidden"))
            drawn.append(text(at + _SIZE / 2 - 1, y + 25, exact(x * parts)))
    return [
        *drawn,
        text(right + 30, y + 25, exact(wish), role="value"),
        text(right + 76, y + 25, exact(gets), bold=True),
    ]


def _competing(word: str, shares: Sequence[float], wishes: Sequence[float], got: Sequence[float]) -> str:
    if len(shares) == 1:
        return f'"{word}" sees only itself. Its one share is 1 and can\'t move, so nothing flows back to its score.'
    return (
        f'The mix of "{word}" is {exact(dot(shares, wishes))} in its first number. To make it larger, a score must '
        "grow if its value lies above that, and shrink if it lies below: "
        + ", ".join(f'"{name}"\u00a0{exact(gets)}' for name, gets in zip(_WORDS, got, strict=False))
        + "."
    )


# All the way back.


@live(
    "Want something else, or let another word want it.",
    Choice("more is wanted of", _NUMBERS, start=_NUMBERS[0]),
    Choice("by", _WORDS, start="sat"),
)
def gradient_flows_back(wanted: str, word: str) -> Figure:
    """Draw one row of attention downward, and what flows back upward beside it; then what keys and values get."""
    i, c = _WORDS.index(word), _NUMBERS.index(wanted)
    d_output = [[float(n == i and d == c) for d in range(2)] for n in range(4)]
    flow = _gradients(d_output)
    shares = _EXAMPLE.weights[i][: i + 1]
    d_shares = [v[c] for v in _EXAMPLE.v[: i + 1]]
    d_halved = matmul(softmax_jacobian(shares), [[d] for d in d_shares])
    halved = [d for (d,) in d_halved]
    steps = [
        ("query, in units of ln 2", _list([x / log(2) for x in _EXAMPLE.q[i]]), _list(flow.d_q[i])),
        ("raw scores", _doublings(_EXAMPLE.scores[i][: i + 1]), _list([d / 2 for d in halved])),
        (f"scores ÷{NO_BREAK}2", _doublings(_EXAMPLE.scaled[i][: i + 1]), _list(halved)),
        ("shares", listed(over_one(shares)), _list(d_shares)),
        ("output", _list(_EXAMPLE.output[i]), _list(d_output[i])),
    ]
    rows = [
        [name, _list([d / log(2) for d in flow.d_k[j]]), _list(flow.d_v[j])] for j, name in enumerate(_WORDS[: i + 1])
    ]
    query = steps[0][2]
    return Figure(
        side_by_side(_there_and_back(steps), _keys_and_values(rows)),
        f'From the wish of "{word}" at the bottom, {steps[-1][2]}, to its query at the top, {query}: each step of '
        "the way there has its step back. The keys and values that it read get their part, too.",
        table(["step", "there", "back"], [list(step) for step in steps])
        + table(["word", "its key gets, in units of ln 2", "its value gets"], rows),
        "Gradients are exact fractions, since the numbers of the example are.",
    )


def _doublings(scores: Sequence[float]) -> str:
    return _list([s / log(2) for s in scores])


def _there_and_back(steps: Sequence[tuple[str, str, str]]) -> str:
    high, left, right = 74, 88, 248
    ways = (("match: q · k", "times k"), ("÷ 2", "÷ 2"), ("softmax", "Jacobian"), ("mix", "times v"))
    parts = []
    for n, (name, there, back) in enumerate(steps):
        y = 62 + high * n
        parts += [
            text(0, y - 16, name, anchor="start", size=13),
            text(left, y + 4, there, size=13, role={0: "query", 4: "value"}.get(n, "")),
            text(right, y + 4, back, size=13, bold=True, role={0: "query", 3: "value", 4: "value"}.get(n, "")),
        ]
    for n, (there, back) in enumerate(ways):
        y = 62 + high * n + 12
        parts += [
            arrow(left, y, left, y + 28),
            text(left + 10, y + 18, there, anchor="start", size=12),
            arrow(right, y + 28, right, y),
            text(right + 10, y + 18, back, anchor="start", size=12),
        ]
    return svg(
        356,
        62 + high * (len(steps) - 1) + 14,
        text(left, 16, "there ↓", bold=True),
        text(right, 16, "back ↑", bold=True),
        *parts,
        title="One row of attention, there and back",
        description="; ".join(f"{name}: there {there}, back {back}" for name, there, back in steps) + ".",
    )


def _keys_and_values(rows: Sequence[Sequence[str]]) -> str:
    parts = []
    for n, (name, key, value) in enumerate(rows):
        y = 68 + 64 * n
        parts += [
            text(0, y, name, anchor="start", bold=True),
            text(52, y, f"k gets {key}", role="key", anchor="start", size=13),
            text(52, y + 24, f"v gets {value}", role="value", anchor="start", size=13),
        ]
    return svg(
        300,
        68 + 64 * 4 - 20,
        text(0, 16, "what it has read gets", anchor="start", bold=True),
        text(0, 36, "keys in units of ln 2", anchor="start", size=13),
        *parts,
        title="What keys and values get",
        description="; ".join(f"{name}: key {key}, value {value}" for name, key, value in rows) + ".",
    )


# What reaches the queries.

_WIDTHS = (8, 64, 512)
_N_KEYS, _N_QUERIES, _N_DRAWS = 8, 20, 5
_LEAST, _MOST = -6, 2  # powers of ten


@cache
def _reaching() -> dict[int, tuple[list[float], list[float]]]:
    """Draw random queries, keys, values and wishes, and measure each query's gradient, without and with the scale."""
    random = Random(0)

    def drawn(n: int, d: int) -> list[list[float]]:
        return [[random.gauss(0, 1) for _ in range(d)] for _ in range(n)]

    lengths: dict[int, tuple[list[float], list[float]]] = {d_k: ([], []) for d_k in _WIDTHS}
    for d_k in _WIDTHS:
        for _ in range(_N_DRAWS):
            q, k, v, wish = drawn(_N_QUERIES, d_k), drawn(_N_KEYS, d_k), drawn(_N_KEYS, 8), drawn(_N_QUERIES, 8)
            for scale, found in zip((1, None), lengths[d_k], strict=True):
                found += [hypot(*row) for row in attention_gradients(q, k, v, wish, scale=scale).d_q]
    return lengths


@figure
def what_reaches_the_queries() -> Figure:
    """Draw the gradient of a hundred queries as dots on a scale of powers of ten, at three widths, in two ways."""
    lengths = _reaching()
    raw, scaled = lengths[_WIDTHS[-1]]
    names = ("without the scale", "with it")
    return Figure(
        side_by_side(*(_dots(name, [lengths[d_k][way] for d_k in _WIDTHS]) for way, name in enumerate(names))),
        f"Each dot is a query; the stroke is the middle one. Without the scale, at d_k = {_WIDTHS[-1]}, half of them "
        f"get less than {number(median(raw), '.4f')}, while a few get over {number(sorted(raw)[-5], '.0f')}. With it, "
        f"all lie between {number(min(scaled))} and {number(max(scaled))}, and every width looks alike.",
        table(
            ["width d_k", *(f"{name}: {what}" for name in names for what in ("least", "middle", "most"))],
            [
                [
                    str(d_k),
                    *(number(x, ".2g") for found in lengths[d_k] for x in (min(found), median(found), max(found))),
                ]
                for d_k in _WIDTHS
            ],
            caption=f"The length of the gradient of {_N_DRAWS * _N_QUERIES} random queries over {_N_KEYS} keys.",
        ),
    )


def _dots(title: str, columns: Sequence[Sequence[float]]) -> str:
    top, high, left, step = 44.0, 25, 88, 78
    bottom = top + high * (_MOST - _LEAST)
    parts = []
    for power, shown in ((2, number(100, "d")), (0, "1"), (-3, number(0.001, "g")), (-6, "a millionth")):
        y = top + high * (_MOST - power)
        parts.append(line(left, y, left + step * len(columns) - 8, y, role="hidden", width=1, dashed=True))
        parts.append(text(left - 6, y + 5, shown, anchor="end", size=13))
    for n, (found, d_k) in enumerate(zip(columns, _WIDTHS, strict=True)):
        x = left + step * n + 6
        for at, value in enumerate(found):
            y = top + high * (_MOST - max(log10(value), _LEAST - 0.6))
            parts.append(box(x + at * 17 % 58, y - 2, 4, 4, role="query", filled=True))
        y = top + high * (_MOST - max(log10(median(found)), _LEAST))
        parts.append(line(x - 4, y, x + 64, y, width=3))
        parts.append(text(x + 30, bottom + 40, str(d_k), bold=True))
    return svg(
        left + step * len(columns),
        bottom + 62,
        text(0, 16, title, anchor="start", bold=True),
        *parts,
        text(left - 6, bottom + 40, "width d_k", anchor="end", size=13),
        title=f"What reaches a query, {title}",
        description="; ".join(
            f"width {d_k}: from {number(min(found), '.2g')} to {number(max(found), '.2g')}, "
            f"the middle {number(median(found), '.2g')}"
            for found, d_k in zip(columns, _WIDTHS, strict=True)
        )
        + ".",
    )
