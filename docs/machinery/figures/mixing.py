"""Draw what shares do to values, and what scores do to shares."""

import itertools
from collections.abc import Sequence
from math import exp, inf, log
from typing import NamedTuple

from attention_primer.examples import worked_example_sentence, worked_example_two_looks
from attention_primer.softmaxes import softmax
from attention_primer.vectors import mix
from machinery.drawing import Figure, arrow, box, line, number, svg, table, text
from machinery.figures.parts import exact, listed, side_by_side, signed
from machinery.live import Choice, Slider, live

_WORDS = ("The", "cat", "sat")
_VALUES = worked_example_sentence().v[:3]
_LOGS = (1, 2, 5)  # scores of ln 1, ln 2 and ln 5, whose shares come out even
_ACROSS, _UP = 17, 25  # pixels a unit
_LEFT, _GROUND = 24, 250


@live(
    "Try to pull the mix out of the triangle.",
    *(Slider(f'parts of "{word}"', (0, 1, 2, 5), start=n) for word, n in zip(_WORDS, _LOGS, strict=True)),
)
def shares_pull(*parts: int) -> Figure:
    """Draw three values as points of a plane, and the mix inside their triangle."""
    whole = sum(parts)
    shares = [part / whole if whole else 0 for part in parts]
    middle = mix(shares, _VALUES)
    shown = [exact(share, parts=whole) for share in shares]
    told = [f"{s} of {w} {_pair(v)}" for s, w, v in zip(shown, _WORDS, _VALUES, strict=True)]
    corners = [*_VALUES, _VALUES[0]]
    sides = [line(*_at(a), *_at(b), role="value", dashed=True, width=1) for a, b in itertools.pairwise(corners)]
    pulls = [line(*_at(middle), *_at(v), role="w7", width=14 * s) for v, s in zip(_VALUES, shares, strict=True) if s]
    x, y = _at(middle)
    is_right = x > 180
    the_mix = [
        *pulls,
        _point(middle, size=15),
        text(
            *(x + (-16 if is_right else 16), y + (26 if y < 110 else -10)),  # not on the label of "sat"
            f"the mix {_pair(middle)}",
            anchor="end" if is_right else "start",
            bold=True,
        ),
    ]
    return Figure(
        svg(
            330,
            294,
            arrow(_LEFT, _GROUND, 322, _GROUND, width=1),
            arrow(_LEFT, _GROUND, _LEFT, 6, width=1),
            text(322, 288, "first number", anchor="end", size=13),
            text(_LEFT + 8, 14, "second number", anchor="start", size=13),
            *sides,
            *map(_point, _VALUES),
            *(the_mix if whole else []),
            text(_at(_VALUES[0])[0] + 12, _GROUND + 20, told[0], role="value", anchor="end"),
            text(328, _GROUND + 20, told[1], role="value", anchor="end"),
            text(_LEFT + 12, _at(_VALUES[2])[1] - 2, told[2], role="value", anchor="start"),
            title="Three shares pull the mix towards three values",
            description=f"Three points pull: {', '.join(told)}. The mix {_pair(middle)} lies inside their triangle."
            if whole
            else "Three points and no mix, since nothing is shared out.",
        ),
        _pulled(shown, shares, middle)
        if whole
        else "No parts at all are no shares: shares make one whole. Give at least one word a part.",
        table(
            ["word", "share", "value", "share × value"],
            [
                [word, share, _pair(value), _pair([s * x for x in value])]
                for word, share, value, s in zip(_WORDS, shown, _VALUES, shares, strict=True)
            ]
            + [["the mix", exact(sum(shares)), "", _pair(middle)]],
        ),
        "The values were typed in by hand.",
    )


def _pulled(shown: Sequence[str], shares: Sequence[float], middle: Sequence[float]) -> str:
    pulled = f"Shares of {', '.join(shown[:2])} and {shown[2]} pull the mix to {_pair(middle)}."
    if max(shares) == 1:
        return f"{pulled} It has come to a corner: one word gets everything."
    if min(shares) == 0:
        return f"{pulled} It lies on a side of the triangle, since one word has no share."
    return f"{pulled} It stays inside the triangle of the values, whatever the shares are."


_AS_THEY_ARE, _ONE_MORE, _DOUBLED, _HIDDEN = "as they are", "each + 1", "doubled", "the last at −∞"


class _Scores(NamedTuple):
    """Three scores, how each is written, and what softmax makes of them, written, too."""

    words: Sequence[str]
    scores: Sequence[float]
    names: Sequence[str]
    e_values: Sequence[str]
    total: str
    shares: Sequence[str]

    @property
    def rows(self) -> list[list[str]]:
        """One row a word."""
        return [list(row) for row in zip(self.words, self.names, self.e_values, self.shares, strict=True)]


@live(
    "One doubling for one word, or one more for each: which of these moves the shares?",
    *(Slider(f'"{word}" by doublings', (0, 1, 2), start=0, show=signed) for word in _WORDS),
    Choice("and then all scores", (_AS_THEY_ARE, _ONE_MORE, _DOUBLED, _HIDDEN), start=_AS_THEY_ARE),
)
def scores_push(the: int, cat: int, sat: int, then: str) -> Figure:
    """Draw score, e-value and share of three words on one line each, twice: in even numbers, and for "it"."""
    logs = [n * 2**d for n, d in zip(_LOGS, (the, cat, sat), strict=True)]
    even, it = _even(logs, then), _of_it(then)
    return Figure(
        side_by_side(_push(even, "in even numbers"), _push(it, 'for "it"')),
        _pushed(logs, even, then),
        table(["word", "score", "e-value", "share"], even.rows + it.rows),
        "Each score becomes an e-value, and each e-value is divided by their total.",
    )


def _changed(scores: Sequence[float], then: str) -> list[float]:
    if then == _HIDDEN:
        return [*scores[:-1], -inf]
    return [2 * s if then == _DOUBLED else s + (then == _ONE_MORE) for s in scores]


def _even(logs: Sequence[int], then: str) -> _Scores:
    """Change scores of ln n, and write them and what follows from them exactly, wherever that can be done."""
    names = {_ONE_MORE: "ln {} + 1", _DOUBLED: "2 ln {}"}.get(then, "ln {}")
    scores = _changed([log(n) for n in logs], then)
    parts = [n**2 if then == _DOUBLED else n for n in logs]
    parts[-1] *= then != _HIDDEN
    e_values = [number(exp(s)) if then == _ONE_MORE else exact(exp(s)) for s in scores]
    total = sum(map(exp, scores))
    shown = ["−∞" if s == -inf else names.format(n) for n, s in zip(logs, scores, strict=True)]
    shares = [exact(share, parts=sum(parts)) for share in softmax(scores)]
    return _Scores(_WORDS, scores, shown, e_values, number(total) if then == _ONE_MORE else exact(total), shares)


def _of_it(then: str) -> _Scores:
    looks = worked_example_two_looks()
    row = looks.second.scaled[looks.tokens.index("it")]
    scores = _changed([row[looks.tokens.index(word)] for word in looks.shares], then)
    return _Scores(
        list(looks.shares),
        scores,
        ["−∞" if s == -inf else number(s, ".1f") for s in scores],
        [number(exp(s)) for s in scores],
        number(sum(map(exp, scores))),
        list(map(number, softmax(scores))),
    )


def _pushed(logs: Sequence[int], even: _Scores, then: str) -> str:
    if then == _ONE_MORE:
        return f"Every e-value is {number(exp(1))} times as large as before, and so is the total: no share moves."
    if then == _HIDDEN:
        ratio = exact(logs[1] / logs[0])
        return (
            'The e-value of a score of −∞ is 0, so "sat" and "street" get nothing. The others keep their ratio: "cat" '
            f'takes {ratio} {"time" if ratio == "1" else "times"} the share of "The", as before.'
        )
    if then == _DOUBLED:
        before = _even(logs, _AS_THEY_ARE).shares
        best = logs.index(max(logs))
        return (
            f'Doubled scores square every e-value, which sharpens: "{_WORDS[best]}" goes from {before[best]} to '
            f"{even.shares[best]}."
        )
    if tuple(logs) != _LOGS:
        return (
            "Each doubling doubles a word's share against every other word. The e-values now stand "
            f"{' to '.join(even.e_values)}."
        )
    shares = worked_example_two_looks().shares
    return (
        f"Twice the score is not twice the share: the animal's {number(shares['animal'])} is "
        f"{number(shares['animal'] / shares['tired'])} times tired's {number(shares['tired'])}."
    )


def _push(made: _Scores, mark: str) -> str:
    """Draw each score with a bar, its e-value and its share; bars that would not fit are all drawn smaller."""
    parts = [
        text(x, 16, head, anchor="start", size=13) for x, head in ((58, "score"), (138, "e-value"), (228, "share"))
    ]
    e_values, shares = [exp(s) for s in made.scores], softmax(made.scores)
    by_score, by_e = min(24, 72 / max(made.scores)), min(9, 82 / max(e_values))
    for i, row in enumerate(made.rows):
        y = 46 + 46 * i
        parts.append(text(50, y, row[0], role="key", anchor="end"))
        longs = by_score * max(made.scores[i], 0), by_e * e_values[i], 92 * shares[i]
        for x, long, shown in zip((58, 138, 228), longs, row[1:], strict=True):
            parts.append(text(x, y, shown, anchor="start"))
            parts.append(box(x, y + 6, max(long, 1), 8, role="w7", filled=True))
    parts += [line(138, 168, 204, 168, width=1), text(138, 186, f"total {made.total}", anchor="start")]
    parts += [line(228, 168, 320, 168, width=1), text(228, 186, f"total {exact(sum(shares))}", anchor="start")]
    told = "; ".join(f"{word}: score {name}, e-value {e}, share {share}" for word, name, e, share in made.rows)
    return svg(324, 192, *parts, title=f"From scores to shares, {mark}", description=f"{told}.")


def _at(point: Sequence[float]) -> tuple[float, float]:
    return _LEFT + _ACROSS * point[0], _GROUND - _UP * point[1]


def _point(point: Sequence[float], size: float = 9) -> str:
    x, y = _at(point)
    return box(x - size / 2, y - size / 2, size, size, role="value", filled=True)


def _pair(value: Sequence[float]) -> str:
    return listed(map(exact, value))
