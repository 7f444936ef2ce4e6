"""Draw the weights that classic bugs leave on "The cat sat down", unlabelled, and what the bugs answer to a probe."""

import html
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from math import isnan

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.examples import worked_example_sentence
from attention_primer.grader import impostors
from attention_primer.grader.impostors import ATTENTION_IMPOSTORS, LAYER_IMPOSTORS, fingerprint
from machinery.drawing import Figure, box, cell, computed, figure, group, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import NO_BREAK, listed, plain, side_by_side
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


# A probe changes what a program is given: queries, keys, values, mask.
Given = tuple[list[list[float]], list[list[float]], list[list[float]], list[list[bool]]]


def _as_it_is() -> Given:
    steps = worked_example_sentence()
    return steps.q, steps.k, steps.v, steps.mask


def _another_last_word() -> Given:
    q, k, v, mask = _as_it_is()
    return [*q[:3], q[1]], [*k[:3], k[1]], [*v[:3], v[1]], mask


def _a_hundred_more() -> Given:
    """Add 100 to each score, as wide as before: numbers 1 and 3 of a key are the same here, so that one place is free.

    Examples:
        >>> (q, k, _, _), (more_q, more_k, _, _) = _as_it_is(), _a_hundred_more()
        >>> round(sum(a * b for a, b in zip(more_q[2], more_k[1])) / 2 - sum(a * b for a, b in zip(q[2], k[1])) / 2)
        100
    """
    q, k, v, mask = _as_it_is()
    return [[a + c, b, 1.0, d] for a, b, c, d in q], [[a, b, 200.0, d] for a, b, _, d in k], v, mask


def _sat_sees_nothing() -> Given:
    q, k, v, mask = _as_it_is()
    return q, k, v, [*mask[:2], [False] * 4, mask[3]]


_NO_PROBE, _LAST_WORD, _MORE, _NOTHING = (
    "none",
    '"cat" as the last word',
    "100 more for each score",
    '"sat" sees nothing',
)
_PROBES = {_NO_PROBE: _as_it_is, _LAST_WORD: _another_last_word, _MORE: _a_hundred_more, _NOTHING: _sat_sees_nothing}
_SAT = 2

_NO_GUESS = "not named yet"
_ALL: list[Callable[..., Attention]] = [*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS]
_BUGS = {_plain(bug.__name__): bug for bug in _ALL}
_WORDS = worked_example_sentence().tokens
_SEEN = {bug: fingerprint(bug) for bug in _ALL}


def _answer(program: Callable[..., Attention], probe: str) -> Weights | str:
    """Run a program on a probe; what it says when it stops is an answer, too."""
    try:
        return program(*_PROBES[probe]()).weights
    except ValueError as error:
        return f"ValueError: {error}"


_PROGRAMS = {
    "the right one": scaled_dot_product_attention,
    **{f"suspect {letter}": bug for letter, bug in SUSPECTS.items()},
}
_ANSWERS = {probe: {name: _answer(run, probe) for name, run in _PROGRAMS.items()} for probe in _PROBES}


@live(
    "Put them to a probe, then name what went wrong.",
    Choice("suspect", tuple(SUSPECTS), start="A"),
    Choice("probe", tuple(_PROBES), start=_NO_PROBE),
    Choice("what went wrong", (_NO_GUESS, *_BUGS), start=_NO_GUESS),
)
def suspects(letter: str, probe: str, guess: str) -> Figure:
    """Draw the right weights and six wrong ones, with the sums of rows and columns, and judge a guess."""
    words = [*_WORDS[:3], "cat"] if probe == _LAST_WORD else _WORDS
    drawings, tables = [], [table(["suspect", "probe", "what went wrong"], [[letter, probe, _named(letter, guess)]])]
    for title, answer in _ANSWERS[probe].items():
        if isinstance(answer, str):
            drawings.append(_stopped(title, answer))
            tables.append(table(["program", "answer"], [[title, answer]]))
        else:
            named = _named(letter, guess) if title == f"suspect {letter}" else None
            drawings.append(_heatmap(title, words, answer, named=named))
            tables.append(_with_sums(title, words, answer))
    told = " ".join(f"<span>{text}</span>" for text in (_probed(letter, probe), _verdict(letter, probe, guess)) if text)
    return Figure(side_by_side(*drawings), told, "".join(tables))


@figure
def twenty_bugs() -> Figure:
    """Draw all twenty fingerprints small, each with what went wrong."""
    words = worked_example_sentence().tokens
    bugs: list[Callable[..., Attention]] = [*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS]
    return Figure(
        side_by_side(*(_small(bug.__name__, fingerprint(bug)) for bug in bugs)),
        f"{len(bugs)} bugs leave {len(bugs)} different pictures, since the numbers of the sentence were chosen for it. "
        "Rows are queries, columns keys; a question mark is no number at all.",
        table(
            ["bug", 'row of "sat"', 'row of "down"'],
            [
                [
                    _plain(bug.__name__),
                    *(f",{NO_BREAK}".join(map(_shown, fingerprint(bug)[i])) for i in (2, 3)),
                ]
                for bug in bugs
            ],
            caption=f"In the order {', '.join(words)}.",
        )
        + f"<ul>{''.join(map(_what_went_wrong, bugs))}</ul>",
    )


def _what_went_wrong(bug: Callable[..., Attention]) -> str:
    told = (inspect.getdoc(bug) or "").partition("\n")[0]
    return f"<li>{html.escape(f'{_plain(bug.__name__)}: {told}')}</li>"


def _heatmap(title: str, words: Sequence[str], weights: Weights, *, named: str | None = None) -> str:
    parts = [
        text(0, 16, title, anchor="start", bold=True),
        text(_LEFT + _GRID + 32, 16, "query ↓, key →", anchor="end", size=13),
    ]
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
        parts.append(line(0, 22, 76, 22, width=3))
    if named not in (None, _NO_GUESS):
        parts.append(text(0, foot + 22, named, anchor="start", size=13))
    told = "; ".join(f"{word}: {' '.join(map(_shown, row))}" for word, row in zip(words, weights, strict=True))
    return svg(
        _LEFT + _GRID + 34,
        foot + 28,
        *parts,
        title=f"Weights: {title}",
        description=f"Query by query: {told}.",
    )


def _stopped(title: str, message: str) -> str:
    """Draw a program that gave no weights, and what it said."""
    lines = textwrap.wrap(message, width=16)
    parts = [text(0, 16, title, anchor="start", bold=True), box(_LEFT, _TOP, _GRID, _GRID, role="hidden")]
    parts += [text(_LEFT + 8, _TOP + 28 + 20 * i, part, anchor="start", size=13) for i, part in enumerate(lines)]
    told = f"It stops: {message}."
    return svg(_LEFT + _GRID + 34, _TOP + _GRID + 48, *parts, title=f"Weights: {title}", description=told)


def _with_sums(title: str, words: Sequence[str], weights: Weights) -> str:
    rows = [[word, *map(_shown, row), _shown(sum(row))] for word, row in zip(words, weights, strict=True)]
    sums = ["sum", *(_shown(sum(column)) for column in zip(*weights, strict=True)), ""]
    return table(["query\u00a0↓, key\u00a0→", *words, "sum"], [*rows, sums], caption=title)


def _small(name: str, weights: Weights) -> str:
    cells = [
        _cell(_SMALL * j, 24 + _SMALL * i, _SMALL - 1, w, "?" if isnan(w) else "")
        for i, row in enumerate(weights)
        for j, w in enumerate(row)
    ]
    first, rest = _lines(_plain(name))
    return svg(
        124,
        126,
        group(*cells, x=0, y=-24),
        text(0, 4 * _SMALL + 18, first, anchor="start", size=13),
        text(0, 4 * _SMALL + 35, rest, anchor="start", size=13) if rest else "",
        title=f"Fingerprint: {_plain(name)}",
        description=computed("; ".join(" ".join(map(_shown, row)) for row in weights)),
    )


def _named(letter: str, guess: str) -> str:
    if guess == _NO_GUESS:
        return guess
    return f"{'✓' if SUSPECTS[letter] is _BUGS[guess] else '✗'} {guess}"


def _probed(letter: str, probe: str) -> str:
    """Say what a suspect answers to a probe, and what that decides."""
    before, after = (_ANSWERS[which][f"suspect {letter}"] for which in (_NO_PROBE, probe))
    if probe == _NO_PROBE or isinstance(before, str) or isinstance(after, str):
        return ""
    was, row = before[_SAT], after[_SAT]
    tell = {_LAST_WORD: _leaks, _MORE: _shifts, _NOTHING: _starves}[probe]
    return tell(letter, was, row)


def _leaks(letter: str, was: Sequence[float], row: Sequence[float]) -> str:
    if not _same(was, row):
        return f'{_turns(letter, was, row)}, although "sat" comes before the last word: the future leaks in.'
    if row[3]:
        return (
            f'The row of "sat" stays, but {_shown(row[3])} goes to the last word, whichever it is: the future leaks in.'
        )
    return f'The row of "sat" stays: suspect {letter} hides the future, as the right one does. Its bug is another one.'


def _shifts(letter: str, was: Sequence[float], row: Sequence[float]) -> str:
    if _same(was, row):
        return (
            f"100 more for each score moves no share, neither in the right one nor in suspect {letter}: all scores "
            "that count there got the 100."
        )
    return f"{_turns(letter, was, row)}. In the right one nothing moves: here a score that counts has missed the 100."


def _starves(letter: str, was: Sequence[float], row: Sequence[float]) -> str:  # noqa: ARG001  # told like the others
    why = (
        "NaN, since 0 was divided by 0. It hides what it should, and checks nothing"
        if isnan(row[0])
        else "what is hidden still counts"
        if any(row)
        else "the row was not divided by its own sum"
    )
    return (
        f"The right one stops, and says which row can't be answered. Suspect {letter} hands on "
        f'{listed(map(_shown, row))} for "sat": {why}.'
    )


def _turns(letter: str, was: Sequence[float], row: Sequence[float]) -> str:
    before, after = (listed(map(_shown, shares)) for shares in (was, row))
    return f'The row of "sat" in suspect {letter} turns from {before} into {after}'


def _verdict(letter: str, probe: str, guess: str) -> str:
    """Say whether the named bug leaves the suspect's weights, and if not, in which row they part."""
    if guess == _NO_GUESS and probe != _NO_PROBE:
        return f"What went wrong in suspect {letter}?"
    if guess == _NO_GUESS:
        return (
            "Seven programs, one sentence, one mask. A dot is a weight of exactly\u00a00. Look at the sums first, then "
            'at the first row, then at the ratio of "cat" to "The" in the row of "sat". What went wrong in suspect '
            f"{letter}?"
        )
    suspect, named = _SEEN[SUSPECTS[letter]], _SEEN[_BUGS[guess]]
    here = "here" if probe == _NO_PROBE else "without a probe"
    if SUSPECTS[letter] is _BUGS[guess]:
        return f"Suspect {letter} it is: {guess}. {' '.join((inspect.getdoc(_BUGS[guess]) or '').split())}"
    rows = list(zip(_WORDS, suspect, named, strict=True))
    word, ours, theirs = next(row for row in rows[2:] + rows[:2] if not _same(*row[1:]))
    return (
        f'Suspect {letter} is another one. With "{guess}", the row of "{word}" would be {listed(map(_shown, theirs))}; '
        f"{here} it is {listed(map(_shown, ours))}."
    )


def _same(row: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) < 1e-9 for a, b in zip(row, other, strict=True))


def _lines(words: str) -> tuple[str, str]:
    """Cut what is too long for one line, at the space that is nearest to the middle."""
    if len(words) < 15:
        return words, ""
    cuts = [i for i, sign in enumerate(words) if sign == " "]
    cut = min(cuts, key=lambda i: abs(i - len(words) / 2))
    return words[:cut], words[cut + 1 :]


@cache
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
