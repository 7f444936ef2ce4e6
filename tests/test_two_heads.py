from fractions import Fraction

import pytest

from attention_primer import (
    MultiHeadAttention,
    causal_mask,
    worked_example_sentence,
    worked_example_two_heads,
)

SECOND = ["1 0 0 0", "4/5 1/5 0 0", "1/4 1/4 1/2 0", "1/4 1/2 1/8 1/8"]


def near(found: list[list[float]], wanted: list[list[float]]) -> bool:
    return found == [pytest.approx(row, rel=1e-15, abs=1e-15) for row in wanted]


def test_the_second_head_shares_in_simple_fractions() -> None:
    wanted = [[float(Fraction(share)) for share in row.split()] for row in SECOND]
    assert near(worked_example_two_heads().heads[1].weights, wanted)
    assert near(worked_example_two_heads().heads[1].output, [[0, 4], [0, 24 / 5], [4, 3], [1, 5]])


def test_glued_and_mixed_the_heads_give_whole_numbers() -> None:
    steps = worked_example_two_heads()
    assert near(steps.glued[2:], [[10, 2, 4, 3], [3, 5, 1, 5]])
    assert near(steps.output[2:], [[13, 2, 4], [8, 5, 1]])


@pytest.mark.parametrize("causal", [True, False])
def test_the_first_head_is_the_example_with_one_head(causal: bool) -> None:
    one, two = worked_example_sentence(causal), worked_example_two_heads(causal)
    assert (two.heads[0].output, two.heads[0].weights) == (one.output, one.weights)
    assert (two.tokens, two.x, two.mask) == (one.tokens, one.x, one.mask)


def test_its_weights_build_a_layer_that_gives_its_output() -> None:
    steps = worked_example_two_heads()
    mha = MultiHeadAttention.from_weights(steps.W_q, steps.W_k, steps.W_v, steps.W_o, n_heads=2)
    assert mha(steps.x, causal_mask(4)) == steps.output


def test_it_draws_either_head() -> None:
    steps = worked_example_two_heads()
    assert steps.heatmap(0).text() != steps.heatmap(1).text()
    assert "1/5" in steps.heatmap(1).text()
    with pytest.raises(ValueError, match=r"^head is 2: it must be below 2$"):
        steps.heatmap(2)
