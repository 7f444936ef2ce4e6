"""Draw the switch: one word changes, and "it" reads from somewhere else."""

from attention_primer.examples import TwoLooks, worked_example_two_looks
from machinery.drawing import Figure, box, curve, figure, number, svg, table, text
from machinery.figures.parts import listed, side_by_side

_WIDTH = 324
_UPPER, _LOWER = 46, 132  # base lines: the sentence stands in two lines, so that a phone can show it
_PLACES = dict(zip(range(6), (18, 70, 128, 180, 220, 266), strict=True))
_PLACES |= dict(zip(range(6, 11), (98, 168, 208, 243, 286), strict=True))
_COLUMNS = (118, 156, 194, 224, 254, 294)
_IT = 7


@figure
def switch() -> Figure:
    """Draw both sentences, each with arcs from "it" as thick as the shares, and its vector before and after."""
    examples = [worked_example_two_looks("tired"), worked_example_two_looks("wide")]
    shares = [list(example.shares.values()) for example in examples]
    rows = [
        [example.tokens[-1], *map(number, row), _vector(example.x[_IT]), _vector(example.second.sum[_IT])]
        for example, row in zip(examples, shares, strict=True)
    ]
    return Figure(
        side_by_side(*map(_sentence, examples)),
        f'One word changes, and the largest share of "it", {number(shares[0][0])}, moves from the animal to the '
        'street. The vector that "it" starts with is the same in both sentences; two looks later, two numbers differ. '
        "The weights behind this were typed in by hand, not learned.",
        table(
            ["last word", "to animal", "to the last word", "to street", '"it" in the table', '"it" two looks later'],
            rows,
        ),
    )


def _sentence(example: TwoLooks) -> str:
    last = example.tokens[-1]
    to_animal, to_last, to_street = example.shares.values()
    return svg(
        _WIDTH,
        252,
        _arc(1, to_animal),
        _arc(5, to_street),
        curve(_PLACES[_IT], _LOWER + 6, _PLACES[10], _LOWER + 6, bend=44, role="w7", width=_thick(to_last)),
        text((_PLACES[_IT] + _PLACES[10]) / 2, _LOWER + 50, number(to_last), bold=True),
        *(_word(j, word) for j, word in enumerate(example.tokens)),
        _numbers(206, "in the table", example.x[_IT], example.x[_IT]),
        _numbers(240, "two looks later", example.second.sum[_IT], example.x[_IT]),
        title=f'What "it" reads when the last word is {last}',
        description=f'Arcs from "it": {number(to_animal)} to animal, {number(to_last)} to {last}, {number(to_street)} '
        f"to street. Its vector is {_vector(example.x[_IT])} in the table and {_vector(example.second.sum[_IT])} "
        "after two looks.",
    )


def _thick(share: float) -> float:
    return 16 * share


def _arc(place: int, share: float) -> str:
    x = _PLACES[place]
    return curve(_PLACES[_IT], _LOWER - 18, x, _UPPER + 8, bend=16, role="w7", width=_thick(share)) + text(
        x, _UPPER - 22, number(share), bold=True
    )


def _word(place: int, word: str) -> str:
    role = "query" if place == _IT else "key" if place in (1, 5, 10) else ""
    return text(_PLACES[place], _UPPER if place < 6 else _LOWER, word, role=role, bold=bool(role))


def _numbers(y: float, label: str, vector: list[float], before: list[float]) -> str:
    parts = [text(0, y, label, anchor="start", size=13)]
    for c, (x, was) in enumerate(zip(vector, before, strict=True)):
        at = _COLUMNS[c]
        changed = abs(x - was) > 1e-6
        parts.append(text(at, y, _short(x), role="value" if changed else "", size=13, bold=changed))
        if changed:
            parts.append(box(at - 23, y - 15, 46, 21, role="value"))
    return "".join(parts)


def _short(x: float) -> str:
    return number(x, "+.2f") if round(x) != round(x, 2) else number(x, ".0f")


def _vector(vector: list[float]) -> str:
    return listed(map(_short, vector))
