"""Draw the switch: one word changes, and "it" reads from somewhere else."""

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.examples import TwoLooks, worked_example_two_looks
from attention_primer.vectors import mix
from machinery.drawing import Figure, box, computed, curve, line, number, svg, table, text
from machinery.figures.parts import listed, side_by_side, signed
from machinery.live import Slider, live

_WIDTH = 324
_UPPER, _LOWER = 46, 132  # base lines: the sentence stands in two lines, so that a phone can show it
_PLACES = dict(zip(range(6), (18, 70, 128, 180, 220, 266), strict=True))
_PLACES |= dict(zip(range(6, 11), (98, 168, 208, 243, 286), strict=True))
_COLUMNS = (118, 156, 194, 224, 254, 294)
_IT = 7

# No word of ours is halfway between two of them, but a vector can be.
_LAST_WORDS = ("tired", "tired/wet", "wet", "wet/wide", "wide")


def _said(last_word: str) -> str:
    return f"{'no word' if '/' in last_word else last_word}, {_goes_with(_example(last_word))}"


def _goes_with(example: TwoLooks) -> str:
    return computed(signed(example.x[-1][-1]))


def _example(last_word: str) -> TwoLooks:
    """Run the example; "tired/wet" is halfway from one to the other."""
    one, *other = map(worked_example_two_looks, last_word.split("/"))
    return _halfway(one, *other) if other else one


def _halfway(one: TwoLooks, other: TwoLooks) -> TwoLooks:
    """Take a last word halfway between two, with its number in its place.

    The shares of the first look don't depend on the number, so all that the second look starts from is halfway, too.
    """
    q, k, v, x, heard = (
        [mix([0.5, 0.5], rows) for rows in zip(a, b, strict=True)]
        for a, b in zip(
            (*one.second[:3], one.x, one.first.sum), (*other.second[:3], other.x, other.first.sum), strict=True
        )
    )
    output, weights = scaled_dot_product_attention(q, k, v)
    added = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(heard, output, strict=True)]
    halfway = one._replace(x=x, second=one.second._replace(q=q, k=k, v=v, weights=weights, output=output, sum=added))
    return halfway._replace(tokens=[*one.tokens[:-1], _goes_with(halfway)])


@live(
    "Change the last word. Its number says what it goes with: +\u00a0creatures, −\u00a0places.",
    Slider("last word", _LAST_WORDS, start="wide", show=_said),
)
def switch(last_word: str) -> Figure:
    """Draw two sentences, each with arcs from "it" as thick as the shares, and its vector before and after."""
    examples = [_example("tired"), _example(last_word)]
    rows = [
        [
            example.tokens[-1],
            *map(number, example.shares.values()),
            _vector(example.x[_IT]),
            _vector(example.second.sum[_IT]),
        ]
        for example in examples
    ]
    return Figure(
        side_by_side(_sentence(examples[0]), _sentence(examples[1], is_chosen=True)),
        _finding(*examples),
        table(
            ["last word", "to animal", "to the last word", "to street", '"it" in the table', '"it" two looks later'],
            rows,
        ),
        'The vector that "it" starts with is the same in both. The numbers behind this were typed in by hand, '
        "not learned.",
    )


def _finding(tired: TwoLooks, other: TwoLooks) -> str:
    most, last = number(tired.shares["animal"]), other.tokens[-1]
    if last == "tired":
        return f'The same word twice: "it" reads {most} from the animal in both sentences. Now change the word.'
    if last == "wet":
        return (
            f'One word changes, and "it" is undecided: with "wet" it reads {number(other.shares["animal"])} from the '
            f"animal and {number(other.shares['street'])} from the street. Its vector ends as it began."
        )
    if last not in _LAST_WORDS:
        return (
            f'No word of ours has the number {last}, but a vector can. With it, "it" reads '
            f"{number(other.shares['animal'])} from the animal and {number(other.shares['street'])} from the street: "
            "the shares follow the number step by step."
        )
    return (
        f'One word changes, and the largest share of "it", {most}, moves from the animal to the street. Two looks '
        "later, two numbers of its vector differ."
    )


def _sentence(example: TwoLooks, *, is_chosen: bool = False) -> str:
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
        line(_PLACES[10] - 16, _LOWER + 5, _PLACES[10] + 16, _LOWER + 5, role="key", dashed=True) if is_chosen else "",
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
