"""Draw what shares do to values, and what scores do to shares."""

import itertools
from collections.abc import Callable, Sequence
from math import exp, log

from attention_primer.examples import worked_example_sentence, worked_example_two_looks
from attention_primer.softmaxes import softmax
from attention_primer.vectors import mix
from machinery.drawing import Figure, arrow, box, figure, line, number, svg, table, text
from machinery.figures.parts import exact, listed, side_by_side

_WORDS = ("The", "cat", "sat")
_VALUES = worked_example_sentence().v[:3]
_LOGS = (1, 2, 5)  # scores of ln 1, ln 2 and ln 5, whose shares come out even
_SCORES = [log(n) for n in _LOGS]
_ACROSS, _UP = 17, 25  # pixels a unit
_LEFT, _GROUND = 24, 250


@figure
def shares_pull() -> Figure:
    """Draw three values as points of a plane, and the mix inside their triangle."""
    shares = softmax(_SCORES)
    middle = mix(shares, _VALUES)
    eighths = [exact(share, parts=8) for share in shares]
    told = [f"{e} of {w} {_pair(v)}" for e, w, v in zip(eighths, _WORDS, _VALUES, strict=True)]
    corners = [*_VALUES, _VALUES[0]]
    sides = [line(*_at(a), *_at(b), role="value", dashed=True, width=1) for a, b in itertools.pairwise(corners)]
    pulls = [line(*_at(middle), *_at(v), role="w7", width=14 * s) for v, s in zip(_VALUES, shares, strict=True)]
    return Figure(
        svg(
            330,
            294,
            arrow(_LEFT, _GROUND, 322, _GROUND, width=1),
            arrow(_LEFT, _GROUND, _LEFT, 6, width=1),
            text(322, 288, "first number", anchor="end", size=13),
            text(_LEFT + 8, 14, "second number", anchor="start", size=13),
            *sides,
            *pulls,
            *map(_point, _VALUES),
            _point(middle, size=15),
            text(_at(_VALUES[0])[0] + 12, _GROUND + 20, told[0], role="value", anchor="end"),
            text(328, _GROUND + 20, told[1], role="value", anchor="end"),
            text(_LEFT + 12, _at(_VALUES[2])[1] - 2, told[2], role="value", anchor="start"),
            text(_at(middle)[0] + 16, _at(middle)[1] - 10, f"the mix {_pair(middle)}", anchor="start", bold=True),
            title="Three shares pull the mix towards three values",
            description=f"Three points pull: {', '.join(told)}. The mix {_pair(middle)} lies inside their triangle, "
            "and sat, with the largest share, pulls hardest.",
        ),
        f"Shares of {', '.join(eighths[:2])} and {eighths[2]} pull the mix to {_pair(middle)}. It stays inside the "
        "triangle of the values, whatever the shares are. The values were typed in by hand.",
        table(
            ["word", "share", "value", "share × value"],
            [
                [word, share, _pair(value), _pair([s * x for x in value])]
                for word, share, value, s in zip(_WORDS, eighths, _VALUES, shares, strict=True)
            ]
            + [["the mix", exact(sum(shares)), "", _pair(middle)]],
        ),
    )


@figure
def scores_push() -> Figure:
    """Draw score, e-value and share of three words on one line each, twice: in even numbers, and for "it"."""
    looks = worked_example_two_looks()
    row = looks.second.scaled[looks.tokens.index("it")]
    it = {word: row[looks.tokens.index(word)] for word in looks.shares}
    names = [f"ln {n}" for n in _LOGS]
    shares = softmax(list(it.values()))
    return Figure(
        side_by_side(
            _push(_WORDS, _SCORES, names, lambda x: exact(x), lambda share: exact(share, parts=8), "in even numbers"),
            _push(list(it), list(it.values()), [number(s, ".1f") for s in it.values()], number, number, 'for "it"'),
        ),
        "Each score becomes an e-value, and each e-value is divided by their total. "
        f"Twice the score is not twice the share: the animal's {number(shares[0])} is "
        f"{number(shares[0] / shares[1])} times tired's {number(shares[1])}.",
        table(
            ["word", "score", "e-value", "share"],
            [
                *(
                    [word, name, exact(exp(s)), exact(share, parts=8)]
                    for word, name, s, share in zip(_WORDS, names, _SCORES, softmax(_SCORES), strict=True)
                ),
                *(
                    [word, number(s, ".1f"), number(exp(s)), number(share)]
                    for (word, s), share in zip(it.items(), shares, strict=True)
                ),
            ],
        ),
    )


def _push(
    words: Sequence[str],
    scores: Sequence[float],
    names: Sequence[str],
    show_e: Callable[[float], str],
    show_share: Callable[[float], str],
    mark: str,
) -> str:
    e_values, shares = [exp(s) for s in scores], softmax(scores)
    total = sum(e_values)
    parts = [
        text(x, 16, head, anchor="start", size=13) for x, head in ((58, "score"), (138, "e-value"), (228, "share"))
    ]
    for i, word in enumerate(words):
        y = 46 + 46 * i
        parts.append(text(50, y, word, role="key", anchor="end"))
        for x, long, shown in (
            (58, 24 * scores[i], names[i]),
            (138, 9 * e_values[i], show_e(e_values[i])),
            (228, 92 * shares[i], show_share(shares[i])),
        ):
            parts.append(text(x, y, shown, anchor="start"))
            parts.append(box(x, y + 6, max(long, 1), 8, role="w7", filled=True))
    parts += [line(138, 168, 204, 168, width=1), text(138, 186, f"total {show_e(total)}", anchor="start")]
    parts += [line(228, 168, 320, 168, width=1), text(228, 186, f"total {exact(sum(shares))}", anchor="start")]
    told = "; ".join(
        f"{word}: score {name}, e-value {show_e(e)}, share {show_share(share)}"
        for word, name, e, share in zip(words, names, e_values, shares, strict=True)
    )
    return svg(324, 192, *parts, title=f"From scores to shares, {mark}", description=f"{told}.")


def _at(point: Sequence[float]) -> tuple[float, float]:
    return _LEFT + _ACROSS * point[0], _GROUND - _UP * point[1]


def _point(point: Sequence[float], size: float = 9) -> str:
    x, y = _at(point)
    return box(x - size / 2, y - size / 2, size, size, role="value", filled=True)


def _pair(value: Sequence[float]) -> str:
    return listed(map(exact, value))
