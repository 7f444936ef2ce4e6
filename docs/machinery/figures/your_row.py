"""Let the reader type a row of shares, and name the slip that leads to what was typed."""

import inspect
from collections.abc import Callable, Sequence
from math import isclose

from attention_primer.attention import Attention
from attention_primer.examples import worked_example_sentence
from attention_primer.grader import impostors
from machinery.drawing import Figure, cell, number, svg, table, text
from machinery.figures.parts import exact, listed, over_one
from machinery.live import Blanks, live

_SIZE, _LEFT, _TOP = 62, 60, 30
_EXAMPLE = worked_example_sentence(causal=False)
_WORD = "down"
_ROW = _EXAMPLE.tokens.index(_WORD)
_RIGHT = "right"

# Slips that a pencil can make, and that have no mask to do with.
_SLIPS: tuple[Callable[..., Attention], ...] = (
    impostors.no_scale,
    impostors.divided_by_d_k,
    impostors.multiplied_by_sqrt_d_k,
    impostors.sign_of_scores,
    impostors.queries_and_keys_swapped,
    impostors.queries_ignored,
    impostors.softmax_down_the_columns,
    impostors.softmax_over_everything,
    impostors.divided_by_sqrt_d_model,
    impostors.W_q_for_the_keys,
    impostors.x_itself_as_queries_and_keys,
)


def _answers() -> dict[str, Sequence[float]]:
    """Run every slip, and keep the rows that differ."""
    answers: dict[str, Sequence[float]] = {_RIGHT: _EXAMPLE.weights[_ROW]}
    for slip in _SLIPS:
        made = (_EXAMPLE.x, _EXAMPLE.W_q, _EXAMPLE.W_k, _EXAMPLE.W_v)
        given = made if slip in impostors.LAYER_IMPOSTORS else (_EXAMPLE.q, _EXAMPLE.k, _EXAMPLE.v)
        row = slip(*given, _EXAMPLE.mask).weights[_ROW]
        if not any(_alike(row, known) for known in answers.values()):
            answers[slip.__name__] = row
    return answers


def _alike(row: Sequence[float], other: Sequence[float]) -> bool:
    return all(isclose(a, b, abs_tol=0.0051) for a, b in zip(row, other, strict=True))


_ANSWERS = _answers()


@live(f'Fill in the shares of "{_WORD}", then leave the field.', Blanks("your shares", _EXAMPLE.tokens, _ANSWERS))
def your_row(answer: str) -> Figure:
    """Draw the row that was typed, or question marks."""
    row = _ANSWERS.get(answer)
    shown = ["?"] * 4 if row is None else _shown(row)
    return Figure(
        svg(
            _LEFT + 4 * _SIZE + 4,
            _TOP + _SIZE,
            *(text(_LEFT + _SIZE * (j + 0.5), 18, word, role="key") for j, word in enumerate(_EXAMPLE.tokens)),
            text(_LEFT - 8, _TOP + 34, _WORD, role="query", anchor="end"),
            *(
                cell(_LEFT + _SIZE * j + 1, _TOP, _SIZE - 2, 0 if row is None else row[j], shown[j])
                for j in range(len(shown))
            ),
            title=f'The row of "{_WORD}", yours',
            description=f"Four shares: {', '.join(shown)}.",
        ),
        _reply(answer, shown),
        table([f"shares of {_WORD}", *_EXAMPLE.tokens], [["yours", *shown]]),
    )


def _shown(row: Sequence[float]) -> list[str]:
    try:
        return over_one(row)
    except ValueError:
        return [number(share) for share in row]


def _reply(answer: str, shown: Sequence[str]) -> str:
    if answer == "":
        return "Type four shares, as 1/8 or as a decimal. A slip that others have made before you is told by its name."
    if answer == _RIGHT:
        return f"Right: {listed(shown)}, and the mix is {listed(map(exact, _EXAMPLE.output[_ROW]))}."
    if answer == "another":
        return (
            "These are not the shares, and no slip that is known here leads to them. Do they add up to 1? Is the "
            "e-value twice as large for each doubling?"
        )
    told = (inspect.getdoc(getattr(impostors, answer)) or "").partition("\n")[0]
    return f"A slip that is known. {told} That gives {listed(shown)}."
