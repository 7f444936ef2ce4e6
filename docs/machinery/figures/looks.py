"""Draw who reads whom in the sentence about the animal: with the mask, and look by look."""

from collections.abc import Mapping

from attention_primer.examples import Look, TwoLooks, worked_example_two_looks
from machinery.drawing import Figure, box, computed, curve, number, svg, table, text
from machinery.figures.parts import listed, side_by_side, signed
from machinery.live import Choice, Switch, live

_WIDTH = 324
_UPPER, _LOWER = 68, 146  # base lines: the sentence stands in two lines, so that a phone can show it
_PLACES = (18, 70, 128, 180, 220, 266, 98, 168, 208, 243, 286)
_ANIMAL, _STREET, _IT, _LAST = 1, 5, 7, 10
_SEEN = (_ANIMAL, _LAST, _STREET)
_GOES_WITH, _KIND = 5, 1


_LAST_WORD = Choice("last word of the second sentence", ["tired", "wet", "wide"], start="wide")
_TYPED = "The numbers behind this were typed in by hand, not learned."


@live("Lift the mask, or change the word.", _LAST_WORD, Switch("hide the future", start=True))
def switch_masked(last_word: str, causal: bool) -> Figure:
    """Draw both sentences with the mask on or off: what "it" reads, and what the last word reads."""
    examples = [worked_example_two_looks(last, causal=causal) for last in ("tired", last_word)]
    mask = "with" if causal else "without"
    return Figure(
        side_by_side(
            *(
                _reading(example, example.second, asker, f'{mask} the mask, "{example.tokens[asker]}" reads')
                for example in examples
                for asker in (_IT, _LAST)
            )
        ),
        _masked(*examples) if causal else _unmasked(*examples),
        table(
            ["asking word ↓, read word →", "animal", "last word", "street"],
            [
                [
                    f"{word}, last word {example.tokens[-1]}",
                    *_shares(example, example.second, example.tokens.index(word)),
                ]
                for example in examples
                for word in ("it", example.tokens[-1])
            ],
        ),
        _TYPED,
    )


def _masked(tired: TwoLooks, other: TwoLooks) -> str:
    last = _taken(other, other.tokens[-1])
    return (
        f'With the mask, "it" sees nothing after itself and splits {number(tired.shares["animal"])} to '
        f"{number(tired.shares['street'])} in both sentences. The last word sees all of them, and does the work: "
        f'"tired" takes {number(tired.shares_of("tired")["animal"])} from the animal, {last}.'
    )


def _unmasked(tired: TwoLooks, other: TwoLooks) -> str:
    return (
        f'Without the mask, "it" reads the last word, too. With "tired" it takes {number(tired.shares["animal"])} from '
        f"the animal, with {_taken(other, 'it')}."
    )


def _taken(example: TwoLooks, asker: str) -> str:
    last, shares = example.tokens[-1], example.shares_of(asker)
    animal, street = number(shares["animal"]), number(shares["street"])
    if animal == street:
        return f'"{last}" {animal} from the animal and {street} from the street'
    return f'"{last}" {street} from the street' if street > animal else f"the same word again the same, {animal}"


@live("Change the word: what stays the same in the first look?", _LAST_WORD, Switch("hide the future"))
def two_looks(last_word: str, causal: bool) -> Figure:
    """Draw what "it" reads in the first look and in the second, in both sentences."""
    examples = [worked_example_two_looks(last, causal=causal) for last in ("tired", last_word)]
    drawings = [
        _reading(
            example,
            look,
            _IT,
            f"look {n}, last word {example.tokens[-1]}",
            _asked(look, outlined=n == 2),
            text(0, _LOWER + 98, "it hears", anchor="start")
            + text(
                84, _LOWER + 98, f"{name} {_signed(look.output[_IT][place])}", role="value", anchor="start", bold=True
            ),
        )
        for example in examples
        for n, look, name, place in (
            (1, example.first, "goes-with", _GOES_WITH),
            (2, example.second, "kind", _KIND),
        )
    ]
    return Figure(
        side_by_side(*drawings),
        _second_query(*examples, causal=causal),
        table(
            ["look", "animal", "last word", "street", '"it" asks', '"it" after the look'],
            [
                [
                    f"{n}, {example.tokens[-1]}",
                    *_shares(example, look, _IT),
                    listed(map(_plain, look.q[_IT])),
                    listed(map(_plain, look.sum[_IT])),
                ]
                for example in examples
                for n, look in ((1, example.first), (2, example.second))
            ],
        ),
        '"It" asks for a noun, a creature, a describing word and a filler, in this order. ' + _TYPED,
    )


def _second_query(tired: TwoLooks, other: TwoLooks, *, causal: bool) -> str:
    asked = [_plain(example.second.q[_IT][_KIND]) for example in (tired, other)]
    animal, street = (number(other.shares[word]) for word in ("animal", "street"))
    if causal:
        return (
            f'With the mask, "it" hears nothing of the last word. One number of its second query is {asked[0]} in both '
            f"sentences, and animal and street get {animal} and {street}."
        )
    if other.tokens[-1] == "tired":
        return f'The same word twice: one number of the second query of "it" is {asked[0]} in both. Change the word.'
    moved = (
        f"takes the lead from the animal: {animal} and {street}"
        if other.tokens[-1] == "wet"
        else "moves the largest share from the animal to the street"
    )
    return (
        f'In the first look, "it" reads the same shares in both sentences: half of the last word. What it hears there '
        f"makes one number of its second query {asked[0]} or {asked[1]}, and that {moved}."
    )


def _reading(example: TwoLooks, look: Look, asker: int, title: str, *notes: str) -> str:
    """Draw the sentence with arcs from one word, as thick as what it reads, and notes beneath."""
    row = dict(zip(_SEEN, (look.weights[asker][j] for j in _SEEN), strict=True))
    seen = example.mask[asker]
    told = ", ".join(f"{number(row[j])} to {example.tokens[j]}" for j in _SEEN if seen[j])
    return svg(
        _WIDTH,
        _LOWER + (106 if notes else 58),
        text(0, 16, title, anchor="start", bold=True),
        *_arcs(asker, row, seen),
        *(_word(j, word, asker, seen) for j, word in enumerate(example.tokens)),
        *notes,
        title=f"{title}: {example.tokens[-1]}" if "mask" in title else title,
        description=f'The last word is {example.tokens[-1]}. From "{example.tokens[asker]}": {told}.',
    )


def _asked(look: Look, *, outlined: bool) -> str:
    """Write the query, with a box around the number that the last word decides."""
    parts = [text(0, _LOWER + 74, '"it" asks', role="query", anchor="start")]
    for c, x in enumerate(look.q[_IT]):
        parts.append(text(100 + 52 * c, _LOWER + 74, _plain(x), role="query", bold=outlined and c == _KIND))
    if outlined:
        parts.append(box(100 + 52 * _KIND - 24, _LOWER + 57, 48, 24, role="query"))
    return "".join(parts)


def _arcs(asker: int, row: Mapping[int, float], seen: list[bool]) -> list[str]:
    x = _PLACES[asker]
    parts = []
    for j, share in row.items():
        if not seen[j]:
            continue
        if j in (_ANIMAL, _STREET):
            off = max(8 * share - 5, 0)  # the round end of a thick arc stays off the words
            parts.append(
                curve(x, _LOWER - 18 - off, _PLACES[j], _UPPER + 8 + off, bend=16, role="w7", width=16 * share)
            )
            parts.append(text(_PLACES[j], _UPPER - 20, number(share), bold=True))
        elif j == asker:
            parts.append(text(_WIDTH - 2, _LOWER + 24, f"{number(share)} itself", anchor="end", bold=True))
        else:
            parts.append(curve(x, _LOWER + 6, _PLACES[j], _LOWER + 6, bend=44, role="w7", width=16 * share))
            parts.append(text((x + _PLACES[j]) / 2, _LOWER + 50, number(share), bold=True))
    return parts


def _word(place: int, word: str, asker: int, seen: list[bool]) -> str:
    role = "query" if place == asker else "hidden" if not seen[place] else "key" if place in _SEEN else ""
    y = _UPPER if place < 6 else _LOWER
    dot = text(_PLACES[place], y + 16, "·", role="hidden", bold=True) if not seen[place] else ""
    return text(_PLACES[place], y, word, role=role, bold=role in ("query", "key")) + dot


def _shares(example: TwoLooks, look: Look, asker: int) -> list[str]:
    return [number(look.weights[asker][j]) if example.mask[asker][j] else "hidden" for j in _SEEN]


def _plain(x: float) -> str:
    return computed(signed(round(x, 2)).lstrip("+")) if round(x, 6) else "0"


def _signed(x: float) -> str:
    return ("+" if x > 0 else "") + number(x)
