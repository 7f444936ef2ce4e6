"""Draw a score as a sum of signed products: what is asked, times what is there."""

from attention_primer.examples import worked_example_two_looks
from machinery.drawing import Figure, box, computed, figure, line, svg, table, text
from machinery.figures.parts import signed

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
    blocks = [_block(62 + 96 * i, word, q, k, scores[word]) for i, (word, k) in enumerate(keys.items())]
    told = [f"{word} {_sum(q, k)} = {scores[word]:g}" for word, k in keys.items()]
    return Figure(
        svg(
            344,
            344,
            *(text(x, 16, name, size=13) for x, name in zip(_COLUMNS, _NUMBERS, strict=True)),
            *_row(40, '"it" asks', [_plain(x) for x in q], "query"),
            *blocks,
            line(_ZERO, 66, _ZERO, 336, width=1, dashed=True),
            title='Three scores of "it" as sums of products',
            description=computed(f"Bars laid end to end: {'; '.join(told)}."),
        ),
        f"A score adds up products. The animal's two pull the same way, {computed(_sum(q, keys['animal']))}; the "
        f"street's pull apart, {computed(_sum(q, keys['street']))}. All numbers here were typed in by hand, not learned.",
        table(
            ["word", *_NUMBERS, "score"],
            [
                ['what "it" asks', *(_plain(x) for x in q), ""],
                *(
                    [
                        word,
                        *(computed(f"{_plain(a)} · {_plain(b)}") for a, b in zip(q, k, strict=True)),
                        f"{scores[word]:g}",
                    ]
                    for word, k in keys.items()
                ),
            ],
        ),
    )


def _block(y: float, word: str, q: list[float], k: list[float], score: float) -> str:
    """Draw one word: its four numbers, the products beneath, and the products as bars."""
    parts = [*_row(y + 16, f"{word} is", [_plain(x) for x in k], "key")]
    at, lane = 0.0, 0
    for a, b in zip(q, k, strict=True):
        if a * b:
            left, long = _ZERO + _UNIT * min(at, at + a * b), _UNIT * abs(a * b)
            bar = y + 30 + 18 * lane
            parts.append(box(left, bar, long, 13, role="w7", filled=a * b > 0))
            # A bar to the left is hollow, and its number stands where it can be read on both grounds.
            x, anchor = (left + long + 6, "start") if a * b < 0 else (_ZERO - 8, "end")
            parts.append(text(x, bar + 11, computed(signed(a * b)), anchor=anchor, size=13))
            at, lane = at + a * b, lane + 1
    end = _ZERO + _UNIT * at
    parts.append(line(end, y + 26, end, y + 32 + 18 * lane, width=2))
    parts.append(text(end + 6, y + 24 + 18 * lane + 17, f"= {score:g}", anchor="start", bold=True))
    return "".join(parts)


def _row(y: float, label: str, shown: list[str], role: str) -> list[str]:
    cells = [text(x, y, number, role=role) for x, number in zip(_COLUMNS, shown, strict=True)]
    return [text(0, y, label, role=role, anchor="start", bold=True), *cells]


def _plain(x: float) -> str:
    return computed(f"{x:g}".replace("-", "−"))


def _sum(q: list[float], k: list[float]) -> str:
    made = [a * b for a, b in zip(q, k, strict=True) if a * b]
    return " ".join([_plain(made[0]), *(f"{'+' if x > 0 else '−'} {abs(x):g}" for x in made[1:])])
