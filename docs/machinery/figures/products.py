"""Draw a score as a sum of signed products: what is asked, times what is there."""

from itertools import accumulate

from attention_primer.examples import worked_example_two_looks
from machinery.drawing import Figure, box, computed, figure, line, svg, table, text
from machinery.figures.parts import NO_BREAK, signed

_NUMBERS = ("noun", "creature", "describing", "filler")
_COLUMNS = (112, 176, 246, 314)
_ZERO, _UNIT = 112, 50  # where the bars start, and how long a score of 1 is


@figure
def products() -> Figure:
    """Draw the three scores of "it" as bars that start where the last one ended."""
    looks = worked_example_two_looks()
    it = looks.tokens.index("it")
    q = [round(x, 6) for x in looks.second.q[it]]
    keys = {word: looks.second.k[looks.tokens.index(word)] for word in looks.shares}
    scores = {word: round(looks.second.scores[it][looks.tokens.index(word)], 6) for word in keys}
    tops = accumulate((_height(q, k) for k in keys.values()), initial=66)
    blocks = [_block(y, word, q, k, scores[word]) for y, (word, k) in zip(tops, keys.items(), strict=False)]
    told = [f"{word} {_sum(q, k)} = {scores[word]:g}" for word, k in keys.items()]
    return Figure(
        svg(
            344,
            40 + sum(_height(q, k) for k in keys.values()),
            *(text(x, 16, name, size=13) for x, name in zip(_COLUMNS, _NUMBERS, strict=True)),
            *_row(40, '"it" asks', [_plain(x) for x in q], "query"),
            *blocks,
            title='Three scores of "it" as sums of products',
            description=computed(f"Bars laid end to end: {'; '.join(told)}."),
        ),
        f"A score adds up products. The animal's two pull the same way, {computed(_sum(q, keys['animal']))}; the "
        f"street's pull apart, {computed(_sum(q, keys['street']))}. All numbers were typed in by hand, not learned.",
        table(
            ["word", *_NUMBERS, "score"],
            [
                ['"it" asks', *(_plain(x) for x in q), ""],
                *(
                    [
                        word,
                        *(computed(f"{_plain(a)}{NO_BREAK}·{NO_BREAK}{_plain(b)}") for a, b in zip(q, k, strict=True)),
                        f"{scores[word]:g}",
                    ]
                    for word, k in keys.items()
                ),
            ],
        ),
    )


def _height(q: list[float], k: list[float]) -> float:
    return 66 + 18 * sum(1 for a, b in zip(q, k, strict=True) if a * b)


def _block(y: float, word: str, q: list[float], k: list[float], score: float) -> str:
    """Draw one word: its four numbers, the products beneath, and the products as bars."""
    parts = _row(y + 4, f"{word} is", [_plain(x) for x in k], "key")
    parts.append(line(_ZERO, y + 12, _ZERO, y + _height(q, k) - 46, width=1))
    at, lane = 0.0, 0
    for a, b in zip(q, k, strict=True):
        if a * b:
            left, long = _ZERO + _UNIT * min(at, at + a * b), _UNIT * abs(a * b)
            bar = y + 16 + 18 * lane
            parts.append(box(left, bar, long, 13, role="w7", filled=a * b > 0))
            # A bar to the left is hollow, and its number stands where it can be read on both grounds.
            x, anchor = (left + long + 6, "start") if a * b < 0 else (_ZERO - 8, "end")
            parts.append(text(x, bar + 11, computed(signed(a * b)), anchor=anchor, size=13))
            at, lane = at + a * b, lane + 1
    end = _ZERO + _UNIT * at
    parts.append(line(end, y + 12, end, y + 20 + 18 * lane, width=2))
    parts.append(text(end, y + 34 + 18 * lane, f"= {score:g}", bold=True))
    return "".join(parts)


def _row(y: float, label: str, shown: list[str], role: str) -> list[str]:
    cells = [text(x, y, number, role=role) for x, number in zip(_COLUMNS, shown, strict=True)]
    return [text(0, y, label, role=role, anchor="start", bold=True), *cells]


def _plain(x: float) -> str:
    return computed(f"{x:g}".replace("-", "−"))


def _sum(q: list[float], k: list[float]) -> str:
    made = [a * b for a, b in zip(q, k, strict=True) if a * b]
    return NO_BREAK.join([_plain(made[0]), *(f"{'+' if x > 0 else '−'}{NO_BREAK}{abs(x):g}" for x in made[1:])])
