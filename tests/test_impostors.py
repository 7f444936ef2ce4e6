"""Each classic bug leaves weights of its own on "The cat sat down"."""

from collections.abc import Callable
from fractions import Fraction
from math import isnan, nan

import pytest

from attention_primer import Attention, scaled_dot_product_attention, worked_example_sentence
from attention_primer.grader import impostors
from attention_primer.grader.impostors import ATTENTION_IMPOSTORS, HARMLESS, LAYER_IMPOSTORS, fingerprint

RIGHT = worked_example_sentence().weights
BUGS: tuple[Callable[..., Attention], ...] = (*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS)

# What pencil and paper give for the rows of "sat" and "down"; two decimals where they are no simple fractions.
EXPECTED = {
    "no_scale": ("1/6 4/6 1/6 0", "1/22 1/22 16/22 4/22"),
    "divided_by_d_k": (".29 .41 .29 0", ".18 .18 .37 .26"),
    "multiplied_by_sqrt_d_k": ("1/18 16/18 1/18 0", "1/274 1/274 256/274 16/274"),
    "divided_by_sqrt_d_model": (".24 .53 .24 0", ".11 .11 .54 .24"),
    "no_mask": ("1/5 2/5 1/5 1/5", "1/8 1/8 1/2 1/4"),
    "mask_after_softmax": ("1/5 2/5 1/5 0", "1/8 1/8 1/2 1/4"),
    "mask_multiplied_in": ("2/9 4/9 2/9 1/9", "1/8 1/8 1/2 1/4"),
    "mask_added_as_ones": (".23 .46 .23 .08", "1/8 1/8 1/2 1/4"),
    "softmax_down_the_columns": ("2/5 2/3 1/3 0", "1/5 1/6 2/3 1"),
    "softmax_over_everything": ("2/19 4/19 2/19 0", "1/19 1/19 4/19 2/19"),
    "queries_and_keys_swapped": ("1/4 1/4 1/2 0", "1/6 1/6 1/3 1/3"),
    "mask_transposed": ("0 0 1/2 1/2", "0 0 0 1"),
    "mask_inverted": ("0 0 0 1", "nan nan nan nan"),
    "diagonal_hidden": ("1/3 2/3 0 0", "1/6 1/6 2/3 0"),
    "sees_one_ahead": ("1/5 2/5 1/5 1/5", "1/8 1/8 1/2 1/4"),
    "window_of_two": ("0 2/3 1/3 0", "0 0 2/3 1/3"),
    "sign_of_scores": ("2/5 1/5 2/5 0", "4/11 4/11 1/11 2/11"),
    "W_q_for_the_keys": (".16 .16 .68 0", ".13 .13 .33 .42"),
    "x_itself_as_queries_and_keys": (".19 .19 .61 0", ".18 .18 .32 .32"),
    "queries_ignored": ("1/3 1/3 1/3 0", "1/4 1/4 1/4 1/4"),
}


def close(got: float, cell: str) -> bool:
    if cell == "nan":
        return isnan(got)
    return abs(got - Fraction(cell)) < (0.005 if cell.startswith(".") else 1e-12)


@pytest.mark.parametrize("impostor", BUGS, ids=lambda impostor: impostor.__name__)
def test_a_bug_leaves_the_fingerprint_that_a_pencil_gives(impostor: Callable[..., Attention]) -> None:
    rows = EXPECTED[impostor.__name__]
    for got, want in zip(fingerprint(impostor)[2:], rows, strict=True):
        assert all(close(w, cell) for w, cell in zip(got, want.split(), strict=True)), (got, want)


def test_twenty_bugs_leave_twenty_fingerprints_and_none_is_right() -> None:
    seen = {str([[round(w, 6) for w in row] for row in fingerprint(bug)]) for bug in BUGS}
    assert len(seen) == len(BUGS) == len(EXPECTED) == 20
    assert str([[round(w, 6) for w in row] for row in RIGHT]) not in seen


@pytest.mark.parametrize("impostor", HARMLESS, ids=lambda impostor: impostor.__name__)
def test_other_ways_to_the_right_answer_are_not_called_bugs(impostor: Callable[..., Attention]) -> None:
    for got, want in zip(fingerprint(impostor), RIGHT, strict=True):
        assert got == pytest.approx(want, abs=1e-15)


def test_every_bug_mixes_the_values_by_the_weights_that_it_shows() -> None:
    steps = worked_example_sentence()
    for bug in ATTENTION_IMPOSTORS:
        output, weights = bug(steps.q, steps.k, steps.v, steps.mask)
        for o_i, w_i in zip(output, weights, strict=True):
            mixed = [sum(w * v_j[c] for w, v_j in zip(w_i, steps.v, strict=True)) for c in range(2)]
            assert o_i == pytest.approx(mixed, abs=1e-12, nan_ok=True)


def test_the_columns_find_the_wrong_axis() -> None:
    columns = zip(*fingerprint(impostors.softmax_down_the_columns), strict=True)
    assert [round(sum(column), 9) for column in columns] == [1, 1, 1, 1]


def test_nan_is_what_an_empty_row_leaves() -> None:
    assert str(fingerprint(impostors.diagonal_hidden)[0]) == str([nan] * 4)


def test_the_right_function_has_the_right_fingerprint() -> None:
    assert fingerprint(scaled_dot_product_attention) == RIGHT
