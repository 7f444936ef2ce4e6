from collections.abc import Callable
from fractions import Fraction
from math import exp, log
from random import Random

import pytest
from hypothesis import given

from attention_primer import (
    Heatmap,
    MultiHeadAttention,
    causal_mask,
    matmul,
    scaled_dot_product_attention,
    softmax,
    worked_example_it,
    worked_example_sat,
    worked_example_sentence,
    worked_example_two_looks,
)
from attention_primer.examples import Look
from oracles import U, bits
from strategies import Table, matrices

L = log(2)
exactly = 8 * U  # what a few roundings may move a number of the pencil examples

X = [[1, 0, 0], [2, 0, 0], [0, 1, 1], [0, 0, 1]]
SHARES: Table = [[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 4, 2 / 4, 1 / 4, 0], [1 / 8, 1 / 8, 4 / 8, 2 / 8]]
SHARES_UNMASKED: Table = [[1 / 4] * 4, [1 / 4] * 4, [1 / 5, 2 / 5, 1 / 5, 1 / 5], [1 / 8, 1 / 8, 4 / 8, 2 / 8]]
WORDS = ("tired", "wide", "wet")
ANIMAL, STREET, IT, LAST = 1, 5, 7, 10


def near(found: Table, wanted: Table, within: float = exactly) -> bool:
    return found == [pytest.approx(row, rel=within, abs=within) for row in wanted]


def picked(row: list[float]) -> list[float]:
    return [row[ANIMAL], row[LAST], row[STREET]]


def rounded(row: list[float], digits: int = 2) -> list[float]:
    return [round(x, digits) for x in row]


# "it", with scores from nowhere.


def test_the_three_scores_of_it_share_as_in_the_chapter() -> None:
    e_values = [exp(2), exp(1), exp(1 / 2)]
    assert rounded([*e_values, sum(e_values)]) == [7.39, 2.72, 1.65, 11.76]
    shares = worked_example_it()
    assert list(shares) == ["animal", "tired", "street"]
    assert list(shares.values()) == pytest.approx([e / sum(e_values) for e in e_values], rel=exactly)
    assert rounded(list(shares.values())) == [0.63, 0.23, 0.14]


# "The cat sat down", to the last digit.


def test_the_pencil_example_is_exact_under_the_mask() -> None:
    steps = worked_example_sentence()
    assert steps.tokens == ["The", "cat", "sat", "down"]
    assert steps.x == X
    assert steps.mask == causal_mask(4)
    assert near(steps.weights, SHARES)
    assert near(steps.output, [[8, 0], [12, 0], [10, 2], [3, 5]])


def test_the_pencil_example_is_exact_without_the_mask() -> None:
    steps = worked_example_sentence(causal=False)
    assert all(all(row) for row in steps.mask)
    assert near(steps.weights, SHARES_UNMASKED)
    assert near(steps.output, [[6, 3], [6, 3], [8, 12 / 5], [3, 5]])


@pytest.mark.parametrize("causal", [True, False])
def test_the_steps_before_the_mask_are_those_of_the_table(causal: bool) -> None:
    steps = worked_example_sentence(causal)
    assert near([[s / L for s in row] for row in steps.q], [[0] * 4, [0] * 4, [1, 2, 1, 0], [0, 2, 0, 1]])
    assert steps.k == [[1, 0, 1, 0], [2, 0, 2, 0], [0, 1, 0, 2], [0, 1, 0, 0]]
    assert steps.v == [[8, 0], [16, 0], [0, 8], [0, 4]]
    assert near([[s / L for s in row] for row in steps.scores], [[0] * 4, [0] * 4, [2, 4, 2, 2], [0, 0, 4, 2]])
    assert near([[s / L for s in row] for row in steps.scaled], [[0] * 4, [0] * 4, [1, 2, 1, 1], [0, 0, 2, 1]])


def test_school_fractions_give_the_same_shares() -> None:
    doublings = [[round(s / L) for s in row] for row in worked_example_sentence().scaled]
    for i, row in enumerate(doublings):
        e_values = [Fraction(2) ** s for s in row[: i + 1]]
        assert [float(e / sum(e_values)) for e in e_values] == SHARES[i][: i + 1]


def test_the_parts_of_the_pencil_example_are_what_the_functions_give() -> None:
    steps = worked_example_sentence()
    assert (steps.q, steps.k, steps.v) == tuple(matmul(steps.x, W) for W in (steps.W_q, steps.W_k, steps.W_v))
    assert (steps.output, steps.weights) == scaled_dot_product_attention(steps.q, steps.k, steps.v, steps.mask)


def test_two_heads_on_the_pencil_example_glue_and_mix_to_whole_numbers() -> None:
    steps = worked_example_sentence()
    W_q2 = [[-2 * L, 0, 0, 0], [-2 * L, 2 * L, 0, 0], [2 * L, 0, 0, 0]]
    W_k2: Table = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    W_v2: Table = [[0, 4], [8, 0], [0, 0]]
    W_o = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]

    def side_by_side(A: Table, B: Table) -> Table:
        return [a + b for a, b in zip(A, B, strict=True)]

    mha = MultiHeadAttention.from_weights(
        side_by_side(steps.W_q, W_q2), side_by_side(steps.W_k, W_k2), side_by_side(steps.W_v, W_v2), W_o, n_heads=2
    )
    first, second = mha.attend(steps.x, steps.mask)

    assert first.weights == steps.weights
    assert near(
        second.weights, [[1, 0, 0, 0], [4 / 5, 1 / 5, 0, 0], [1 / 4, 1 / 4, 1 / 2, 0], [1 / 4, 1 / 2, 1 / 8, 1 / 8]]
    )
    assert near(second.output, [[0, 4], [0, 24 / 5], [4, 3], [1, 5]])
    assert near(mha(steps.x, steps.mask)[2:], [[13, 2, 4], [8, 5, 1]])


def test_the_pencil_example_backwards_is_reversed_unless_the_mask_brings_in_order() -> None:
    steps = worked_example_sentence(causal=False)
    q, k, v = (matmul(X[::-1], W) for W in (steps.W_q, steps.W_k, steps.W_v))
    assert near(scaled_dot_product_attention(q, k, v).output, steps.output[::-1])
    masked = scaled_dot_product_attention(q, k, v, causal_mask(4)).output
    assert near(masked, [[0, 4], [0, 6], [16 / 3, 4], [6, 3]])


# "sat", on a napkin.


def test_the_napkin_has_the_numbers_of_the_chapter() -> None:
    napkin = worked_example_sat()
    assert napkin.tokens == ["The", "cat", "sat", "down"]
    assert napkin.x == [0, 1, 1]
    assert napkin.q == [1, 2, 0]
    assert napkin.k == [[0, 0, 1], [1, 2, 0], [1, 0, 1], [0, 1, 1]]
    assert napkin.v == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert napkin.scores == [0, 5, 1, 2]
    assert rounded(napkin.scaled) == [0, 2.89, 0.58, 1.15]
    assert rounded(napkin.exponentials) == [1, 17.93, 1.78, 3.17]
    assert round(sum(napkin.exponentials), 2) == 23.89
    assert rounded(napkin.weights) == [0.04, 0.75, 0.07, 0.13]
    assert rounded(napkin.output) == [0.04, 0.88, 0.21]


def test_the_key_of_cat_is_the_query_of_sat() -> None:
    napkin = worked_example_sat()
    assert napkin.k[napkin.tokens.index("cat")] == napkin.q


def test_the_napkin_is_one_row_of_attention() -> None:
    napkin = worked_example_sat()
    [output], [weights] = scaled_dot_product_attention([napkin.q], napkin.k, napkin.v)
    assert weights == pytest.approx(napkin.weights, rel=exactly)
    assert output == pytest.approx(napkin.output, rel=exactly)
    assert napkin.weights == pytest.approx([e / sum(napkin.exponentials) for e in napkin.exponentials], rel=exactly)


# Tired or wide: two looks.

LOOKS = [
    ("tired", 1 / 2, [4, 2, 1], [0.63, 0.23, 0.14], 0.49),
    ("wide", -1 / 2, [1, 2, 4], [0.14, 0.23, 0.63], -0.49),
    ("wet", 0, [5 / 2, 2, 5 / 2], [0.36, 0.28, 0.36], 0),
]


@pytest.mark.parametrize(("word", "heard", "scores", "shares", "kind"), LOOKS)
def test_two_looks_give_the_numbers_of_the_table(
    word: str, heard: float, scores: list[float], shares: list[float], kind: float
) -> None:
    example = worked_example_two_looks(word)
    first, second = example.first, example.second
    assert example.tokens == f"The animal didn't cross the street because it was too {word}".split()
    assert near([picked(first.scaled[IT]), picked(first.weights[IT])], [[0, L, 0], [1 / 4, 1 / 2, 1 / 4]], 1e-8)
    assert first.sum[IT][5] == pytest.approx(heard, abs=1e-8)
    assert second.q[IT] == pytest.approx([2.5, 3 * heard, 2, -40], abs=1e-7)
    assert picked(second.scores[IT]) == pytest.approx(scores, abs=1e-7)
    assert rounded(picked(second.weights[IT])) == shares
    assert picked(second.weights[IT]) == pytest.approx(softmax([s / 2 for s in scores]), abs=1e-7)
    assert list(example.shares) == ["animal", word, "street"]
    assert list(example.shares.values()) == picked(second.weights[IT])
    assert round(second.sum[IT][1], 2) == pytest.approx(kind)


@pytest.mark.parametrize("word", WORDS)
def test_the_other_eight_words_get_next_to_nothing(word: str) -> None:
    second = worked_example_two_looks(word).second
    others = [w for j, w in enumerate(second.weights[IT]) if j not in (ANIMAL, STREET, LAST)]
    assert len(others) == 8
    assert all(0 < w < 1e-8 for w in others)


def test_two_looks_on_tired_carry_the_classic_three_scores() -> None:
    shares = worked_example_two_looks("tired").shares
    assert list(shares.values()) == pytest.approx(list(worked_example_it().values()), abs=1e-7)


def test_only_one_number_of_one_query_changes_its_sign() -> None:
    tired, wide = (worked_example_two_looks(word) for word in ("tired", "wide"))
    assert tired.x[:LAST] == wide.x[:LAST]
    assert tired.first.q[IT] == wide.first.q[IT]
    changed = [c for c, (a, b) in enumerate(zip(tired.second.q[IT], wide.second.q[IT], strict=True)) if a != b]
    assert changed == [1]
    assert tired.second.q[IT][1] == -wide.second.q[IT][1]


@pytest.mark.parametrize("word", WORDS)
def test_under_the_mask_it_is_undecided_whatever_the_last_word(word: str) -> None:
    example = worked_example_two_looks(word, causal=True)
    assert picked(example.first.weights[IT]) == pytest.approx([1 / 2, 0, 1 / 2], abs=1e-8)
    assert picked(example.second.weights[IT]) == pytest.approx([1 / 2, 0, 1 / 2], abs=1e-8)
    assert example.second.weights[IT][LAST] == 0


def test_under_the_mask_every_row_before_the_last_word_is_the_same_to_the_last_bit() -> None:
    sums = [bits(worked_example_two_looks(word, causal=True).second.sum) for word in WORDS]
    assert sums[0][:-1] == sums[1][:-1] == sums[2][:-1]
    assert len({str(rows[-1]) for rows in sums}) == 3


@pytest.mark.parametrize(
    ("word", "heard", "shares"), [("tired", 4 / 3, [0.87, 0.12, 0.02]), ("wide", -4 / 3, [0.02, 0.12, 0.87])]
)
def test_under_the_mask_the_last_word_does_the_work(word: str, heard: float, shares: list[float]) -> None:
    example = worked_example_two_looks(word, causal=True)
    assert example.first.sum[LAST][5] == pytest.approx(heard, abs=1e-6)
    assert rounded(list(example.shares_of(word).values())) == shares
    assert picked(example.second.scaled[LAST]) == pytest.approx([3 * heard / 2, 0, -3 * heard / 2], abs=1e-6)


def attend(x: Table, W_q: Table, W_k: Table, W_v: Table) -> tuple[Table, Table]:
    return scaled_dot_product_attention(matmul(x, W_q), matmul(x, W_k), matmul(x, W_v))


def weights_of_looks() -> list[tuple[Table, Table, Table]]:
    """Type in both looks a second time, from the chapter's words."""
    offers = [[float(i == j) for j in range(4)] for i in range(6)]

    def asks(**rows: list[float]) -> Table:
        names = ("noun", "kind", "describing", "filler", "pronoun", "goes_with")
        return [rows.get(name, [0, 0, 0, 0]) for name in names]

    def only(c: int) -> Table:
        return [[float(i == j == c) for j in range(6)] for i in range(6)]

    look_1 = asks(pronoun=[0, 0, 2 * L, -40], describing=[0, 0, 0, -40])
    look_2 = asks(pronoun=[2.5, 0, 2, -40], goes_with=[0, 3, 0, 0], describing=[0, 0, 0, -40])
    return [(look_1, offers, only(5)), (look_2, offers, only(1))]


def look_twice(x: Table, residual: bool = True) -> Table:
    """Look twice by hand, and give the weights of the second look."""
    weights: Table = []
    for W_q, W_k, W_v in weights_of_looks():
        output, weights = attend(x, W_q, W_k, W_v)
        x = (
            [[a + b for a, b in zip(x_i, o_i, strict=True)] for x_i, o_i in zip(x, output, strict=True)]
            if residual
            else output
        )
    return weights


@pytest.mark.parametrize("word", WORDS)
def test_the_same_looks_by_hand_give_the_same_weights(word: str) -> None:
    example = worked_example_two_looks(word)
    assert near(look_twice(example.x), example.second.weights)


def test_without_the_residual_everything_gets_an_eleventh() -> None:
    weights = look_twice(worked_example_two_looks("tired").x, residual=False)
    assert weights[IT] == pytest.approx([1 / 11] * 11, abs=1e-7)


def test_animal_and_street_swapped_still_give_the_animal_its_share() -> None:
    x = list(worked_example_two_looks("tired").x)
    x[ANIMAL], x[STREET] = x[STREET], x[ANIMAL]
    assert rounded(picked(look_twice(x)[IT])) == [0.14, 0.23, 0.63]


@pytest.mark.parametrize("look", ["first", "second"])
def test_one_look_gives_animal_and_street_the_same_share_whatever_the_last_word(look: str) -> None:
    weights = weights_of_looks()[look == "second"]
    rows = [attend(worked_example_two_looks(word).x, *weights)[1][IT] for word in WORDS]
    assert all(row[ANIMAL] == row[STREET] for row in rows)
    assert round(rows[0][ANIMAL], 2) == {"first": 0.25, "second": 0.36}[look]


@given(matrices(6, 4), matrices(6, 4))
def test_no_weights_let_one_look_move_it_from_animal_to_street(W_q: Table, W_k: Table) -> None:
    # Scores of hundreds would starve one share down to nothing: shrink the queries.
    W_q = [[w / 8 for w in row] for row in W_q]
    W_v = [[1.0]] * 6
    tired, wide = (attend(worked_example_two_looks(word).x, W_q, W_k, W_v)[1][IT] for word in ("tired", "wide"))
    # Scores differ by up to 128, and each of the four shares rounds by as many units.
    assert tired[ANIMAL] * wide[STREET] == pytest.approx(wide[ANIMAL] * tired[STREET], rel=4 * 132 * U)


def test_two_hundred_random_draws_never_flip_one_look() -> None:
    rng, sentences = Random(0), [worked_example_two_looks(word).x for word in ("tired", "wide")]
    for _ in range(200):
        weights = [[[rng.gauss(0, 1) for _ in range(d)] for _ in range(6)] for d in (4, 4, 6)]
        ratios = [row[ANIMAL] / row[STREET] for row in (attend(x, *weights)[1][IT] for x in sentences)]
        assert ratios[0] == pytest.approx(ratios[1], rel=64 * U)


# What all examples share.


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("word", WORDS)
def test_each_look_is_attention_plus_what_was_there(word: str, causal: bool) -> None:
    example = worked_example_two_looks(word, causal=causal)
    assert example.mask == (causal_mask(11) if causal else [[True] * 11] * 11)

    def holds(look: Look, x: Table) -> bool:
        output, weights = scaled_dot_product_attention(look.q, look.k, look.v, example.mask)
        sums = [[a + b for a, b in zip(x_i, o_i, strict=True)] for x_i, o_i in zip(x, output, strict=True)]
        return (look.output, look.weights, look.sum) == (output, weights, sums)

    assert holds(example.first, example.x)
    assert holds(example.second, example.first.sum)


@pytest.mark.parametrize(
    "example",
    [worked_example_it, worked_example_sat, worked_example_sentence, worked_example_two_looks],
)
def test_an_example_is_made_afresh_so_that_changing_one_changes_no_other(example: Callable[[], object]) -> None:
    before, mine = repr(example()), example()

    def spoil(x: object) -> None:
        if isinstance(x, dict):
            x.clear()
        elif isinstance(x, list | tuple):
            for y in x:
                spoil(y)
            if isinstance(x, list):
                x.clear()

    spoil(mine)
    assert repr(mine) != before
    assert repr(example()) == before


def test_examples_draw_what_they_computed() -> None:
    pictures: list[tuple[Heatmap, Table]] = [
        (worked_example_it().heatmap(), [list(worked_example_it().values())]),
        (worked_example_sat().heatmap(), [worked_example_sat().weights]),
        (worked_example_sentence().heatmap(), worked_example_sentence().weights),
        (worked_example_two_looks().heatmap(), [worked_example_two_looks().second.weights[IT]]),
        (worked_example_two_looks("wet").heatmap("wet"), [worked_example_two_looks("wet").second.weights[LAST]]),
    ]
    for picture, weights in pictures:
        assert picture.values == weights


@pytest.mark.parametrize("word", ["hungry", "", "It"])
def test_a_word_that_is_not_in_the_sentence_has_no_shares(word: str) -> None:
    example = worked_example_two_looks()
    for ask in (example.shares_of, example.heatmap):
        with pytest.raises(ValueError, match="must be one of The, animal"):
            ask(word)
