from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import causal_mask, read_mask, scaled_dot_product_attention, write_mask
from strategies import Inputs, Mask, attention_inputs, masks

CONVENTIONS = ("true-keeps", "true-drops", "additive", "ones")
any_mask = st.integers(1, 5).flatmap(lambda n: masks(n, n + 1))


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(mask=any_mask)
def test_a_mask_survives_the_way_through_any_convention(convention: str, mask: Mask) -> None:
    assert read_mask(write_mask(mask, convention), convention) == mask


@pytest.mark.parametrize(
    ("convention", "sees", "hides"),
    [("true-keeps", True, False), ("true-drops", False, True), ("additive", 0.0, -inf), ("ones", 1, 0)],
)
def test_each_convention_has_its_two_signs_and_its_type(convention: str, sees: float, hides: float) -> None:
    [[first, second]] = write_mask([[True, False]], convention)
    assert (first, second) == (sees, hides)
    assert {type(first), type(second)} == {type(sees)}


@given(any_mask)
def test_the_two_boolean_conventions_say_the_opposite(mask: Mask) -> None:
    assert read_mask(mask, "true-drops") == [[not seen for seen in row] for row in mask]


@given(attention_inputs())
def test_added_to_the_scores_a_mask_hides_what_it_hides_as_booleans(inputs: Inputs) -> None:
    q, k, v, mask = inputs
    added = scaled_dot_product_attention(q, k, v, bias=write_mask(mask, "additive"))
    assert added == scaled_dot_product_attention(q, k, v, mask)


def test_no_row_is_the_callers_own() -> None:
    mask = causal_mask(3)
    for convention in ("true-keeps", "ones"):
        written = write_mask(mask, convention)
        written[0][0] = False
    read_mask(mask, "true-keeps")[2][2] = False
    assert mask == causal_mask(3)
