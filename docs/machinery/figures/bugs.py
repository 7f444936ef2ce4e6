"""Draw the weights that classic bugs leave on "The cat sat down", unlabelled."""

import inspect
import re
from collections.abc import Callable, Sequence
from math import isnan

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.examples import worked_example_sentence
from attention_primer.grader import impostors
from attention_primer.grader.impostors import ATTENTION_IMPOSTORS, LAYER_IMPOSTORS, fingerprint
from machinery.drawing import Figure, box, cell, computed, figure, group, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import listed, plain, side_by_side
from machinery.live import Choice, live

__all__ = ["SUSPECTS"]

_SIZE, _LEFT, _TOP, _SMALL = 34, 44, 52, 18
_GRID = 4 * _SIZE

# The letter of each suspect in "Which bug is this heatmap?"; the page's answers ask for them by these names.
SUSPECTS: dict[str, Callable[..., Attention]] = {
    "A": impostors.mask_multiplied_in,
    "B": impostors.softmax_down_the_columns,
    "C": impostors.no_scale,
    "D": impostors.queries_and_keys_swapped,
    "E": impostors.mask_after_softmax,
    "F": impostors.sign_of_scores,
}

Weights = Sequence[Sequence[float]]


def _plain(name: str) -> str:
    """Write the name of a function as words, with the signs of the formula.

    Examples:
        >>> _plain("multiplied_by_sqrt_d_k"), _plain("W_q_for_the_keys")
        ('multiplied by √d_k', 'W_q for the keys')
    """
    words = name.replace("_", " ").replace("sqrt ", "√")
    return re.sub(r"\b(d|W) (k|q|model)\b", r"\1_\2", words)


_NO_GUESS = "not named yet"
_ALL: list[Callable[..., Attention]] = [*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS]
_BUGS = {_plain(bug.__name__): bug for bug in _ALL}
_WORDS = worked_example_sentence().tokens
_SEEN = {bug: fingerprint(bug) for bug in (scaled_dot_product_attention, *_ALL)}


@live(
    "Name what went wrong.",
    Choice("suspect", tuple(SUSPECTS), start="A"),
    Choice("what went wrong", (_NO_GUESS, *_BUGS), start=_NO_GUESS),
)
def suspects(letter: str, guess: str) -> Figure:
    """Draw the right weights and six wrong ones, with the sums of rows and columns, and judge a guess."""
    drawn = {"the right one": _SEEN[scaled_dot_product_attention]}
    drawn |= {f"suspect {name}": _SEEN[bug] for name, bug in SUSPECTS.items()}
    return Figure(
        side_by_side(
            *(
                _heatmap(title, _WORDS, weights, named=_named(letter, guess) if title == f"suspect {letter}" else None)
                for title, weights in drawn.items()
            )
        ),
        _verdict(letter, guess),
        table(["suspect", "what went wrong"], [[letter, _named(letter, guess)]])
        + "".join(
            table(
                [f"{title}, query ↓, key →", *_WORDS, "sum"],
                [
                    *([word, *map(_shown, row), _shown(sum(row))] for word, row in zip(_WORDS, weights, strict=True)),
                    ["sum", *(_shown(sum(column)) for column in zip(*weights, strict=True)), ""],
                ],
            )
            for title, weights in drawn.items()
        ),
    )


@figure
def twenty_bugs() -> Figure:
    """Draw all twenty fingerprints small, each with what went wrong."""
    words = worked_example_sentence().tokens
    bugs: list[Callable[..., Attention]] = [*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS]
    told = [inspect.getdoc(bug) or "" for bug in bugs]
    return Figure(
        side_by_side(*(_small(bug.__name__, fingerprint(bug)) for bug in bugs)),
        f"{len(bugs)} bugs leave {len(bugs)} different pictures, since the numbers of the sentence were chosen for it. "
        "Rows are queries, columns keys; a question mark is no number at all.",
        table(
            ["bug", 'row of "sat"', 'row of "down"', "what went wrong"],
            [
                [
                    _plain(bug.__name__),
                    *(", ".join(map(_shown, fingerprint(bug)[i])) for i in (2, 3)),
                    what.partition("\n")[0],
                ]
                for bug, what in zip(bugs, told, strict=True)
            ],
            caption=f"In the order {', '.join(words)}.",
        ),
    )


def _heatmap(title: str, words: Sequence[str], weights: Weights, *, named: str | None = None) -> str:
    parts = [text(0, 16, title, anchor="start", bold=True), text(108, 16, "query ↓, key →", anchor="start", size=13)]
    parts += [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role="key", size=13) for j, word in enumerate(words)]
    parts.append(text(_LEFT + _GRID + 19, _TOP - 8, "sum", size=13))
    for i, (word, row) in enumerate(zip(words, weights, strict=True)):
        y = _TOP + _SIZE * i
        parts.append(text(_LEFT - 6, y + 24, word, role="query", anchor="end"))
        parts += [_cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, w, _shown(w)) for j, w in enumerate(row)]
        parts.append(text(_LEFT + _GRID + 19, y + 24, _short(sum(row)), size=13))
    foot = _TOP + _GRID + 20
    parts.append(text(_LEFT - 6, foot, "sum", anchor="end", size=13))
    for j, column in enumerate(zip(*weights, strict=True)):
        parts.append(text(_LEFT + _SIZE * (j + 0.5), foot, _short(sum(column)), size=13))
    if named is not None:
        parts += [line(0, 22, 76, 22, width=3), text(0, foot + 22, named, anchor="start", size=13)]
    told = "; ".join(f"{word}: {' '.join(map(_shown, row))}" for word, row in zip(words, weights, strict=True))
    return svg(
        _LEFT + _GRID + 34,
        foot + 28,
        *parts,
        title=f"Weights: {title}",
        description=f"Query by query: {told}.",
    )


def _small(name: str, weights: Weights) -> str:
    cells = [
        _cell(_SMALL * j, 24 + _SMALL * i, _SMALL - 1, w, "?" if isnan(w) else "")
        for i, row in enumerate(weights)
        for j, w in enumerate(row)
    ]
    first, rest = _halved(_plain(name))
    return svg(
        124,
        126,
        group(*cells, x=0, y=-24),
        text(0, 4 * _SMALL + 18, first, anchor="start", size=13),
        text(0, 4 * _SMALL + 35, rest, anchor="start", size=13),
        title=f"Fingerprint: {_plain(name)}",
        description=computed("; ".join(" ".join(map(_shown, row)) for row in weights)),
    )


def _named(letter: str, guess: str) -> str:
    if guess == _NO_GUESS:
        return "?"
    return f"{'✓' if SUSPECTS[letter] is _BUGS[guess] else '✗'} {guess}"


def _verdict(letter: str, guess: str) -> str:
    """Say whether the named bug leaves the suspect's weights, and if not, in which row they part."""
    if guess == _NO_GUESS:
        return (
            "Seven programs, one sentence, one mask. A dot is a weight of exactly 0. Look at the sums first, then at "
            'the first row, then at the ratio of "cat" to "The" in the row of "sat". What went wrong in suspect '
            f"{letter}?"
        )
    suspect, named = _SEEN[SUSPECTS[letter]], _SEEN[_BUGS[guess]]
    if SUSPECTS[letter] is _BUGS[guess]:
        return f"Suspect {letter} it is: {guess}. {' '.join((inspect.getdoc(_BUGS[guess]) or '').split())}"
    rows = list(zip(_WORDS, suspect, named, strict=True))
    word, ours, theirs = next(row for row in rows[2:] + rows[:2] if not _same(*row[1:]))
    return (
        f'Suspect {letter} is another one. With "{guess}", the row of "{word}" would be {listed(map(_shown, theirs))}; '
        f"here it is {listed(map(_shown, ours))}."
    )


def _same(row: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) < 1e-9 for a, b in zip(row, other, strict=True))


def _halved(words: str) -> tuple[str, str]:
    """Cut at the space that is nearest to the middle."""
    cuts = [i for i, sign in enumerate(words) if sign == " "]
    cut = min(cuts, key=lambda i: abs(i - len(words) / 2))
    return words[:cut], words[cut + 1 :]


def _cell(x: float, y: float, size: float, weight: float, shown: str) -> str:
    if isnan(weight):
        return box(x, y, size, size, role="hidden") + text(x + size / 2, y + size / 2 + 5, shown, size=13)
    return hidden_cell(x, y, size) if weight == 0 else cell(x, y, size, weight, shown, letters=12)


def _shown(weight: float) -> str:
    """Write a weight as a simple fraction if it is one, with two decimals if not."""
    return "?" if isnan(weight) else plain(weight)


def _short(total: float) -> str:
    """Write a sum so that it fits beneath a column."""
    shown = _shown(total)
    return shown if len(shown) < 5 else number(total)
