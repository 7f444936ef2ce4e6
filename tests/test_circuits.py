"""Heads with weights set by hand do their jobs, by the library's own attention alone."""

from collections import Counter
from itertools import pairwise
from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import (
    causal_mask,
    induction_circuit,
    matmul,
    name_pattern,
    offset_head,
    previous_token_head,
    scaled_dot_product_attention,
    sink_head,
    sliding_window_mask,
    softmax,
    transpose,
)
from attention_primer.circuits import Head, InductionCircuit

Table = list[list[float]]

SENTENCE = ["The", "cat", "sat", "down"]
words = st.lists(st.sampled_from("abcde"), min_size=1, max_size=12)
texts = words.map(lambda tail: ["<start>", *tail])


def near(found: Table, wanted: Table) -> bool:
    return found == [pytest.approx(row, rel=1e-12, abs=1e-12) for row in wanted]


def one_hot(n: int, place: int) -> list[float]:
    return [float(j == place) for j in range(n)]


def lane(head: Head, name: str) -> Table:
    """What a lane of the residual stream holds after the head."""
    return [[row[c] for c in head.lanes[name]] for row in head.sum]


# Heads that look at places.


@given(words.filter(lambda tokens: len(tokens) > 1))
def test_the_previous_token_head_writes_each_token_s_predecessor_beside_it(tokens: list[str]) -> None:
    head = previous_token_head(tokens)
    token = lane(head, "token")
    assert near(lane(head, "read"), [token[0], *token[:-1]])
    assert near(head.weights, [one_hot(len(tokens), max(i - 1, 0)) for i in range(len(tokens))])


@given(words, st.data())
def test_an_offset_is_one_bright_diagonal(tokens: list[str], data: st.DataObject) -> None:
    n = len(tokens)
    back = data.draw(st.integers(0, n - 1))
    weights = offset_head(tokens, back).weights
    assert near(weights[back:], [one_hot(n, i - back) for i in range(back, n)])
    assert near(weights[:back], [[1 / (i + 1) if j <= i else 0.0 for j in range(n)] for i in range(back)])


@pytest.mark.parametrize("lead", [0.5, 1, 2, 40])
def test_a_lead_is_a_factor_of_the_share(lead: float) -> None:
    row = offset_head(SENTENCE, 2, lead=lead).weights[3]
    assert row == pytest.approx(softmax([0, lead, 0, 0]), rel=1e-12)
    assert sink_head(SENTENCE, lead=lead).weights[3][0] == pytest.approx(exp(lead) / (exp(lead) + 3), rel=1e-12)


@given(words)
def test_a_sink_takes_all_shares_and_writes_nothing(tokens: list[str]) -> None:
    head = sink_head(tokens)
    assert near(head.weights, [one_hot(len(tokens), 0)] * len(tokens))
    assert near(head.output, [[0.0] * len(head.output[0])] * len(tokens))
    assert near(head.sum, head.x)


# Induction.


def frequencies(circuit: InductionCircuit) -> Table:
    """Count, without any attention, what followed the earlier occurrences of each place's token."""
    tokens, rows = circuit.tokens, []
    for i, current in enumerate(tokens):
        followed = Counter(after for before, after in pairwise(tokens[: i + 1]) if before == current)
        rows.append([followed[word] / max(followed.total(), 1) for word in circuit.vocabulary])
    return rows


@given(texts)
def test_logits_are_the_frequencies_of_what_followed_earlier_occurrences(tokens: list[str]) -> None:
    circuit = induction_circuit(tokens)
    assert near(circuit.logits, frequencies(circuit))


@pytest.mark.parametrize("n_words", [1, 2, 5, 20])
def test_the_frequencies_hold_for_long_random_texts_and_any_vocabulary(n_words: int) -> None:
    random = Random(n_words)
    circuit = induction_circuit(["<start>", *(f"word {random.randrange(n_words)}" for _ in range(40))])
    assert near(circuit.logits, frequencies(circuit))


@given(texts)
def test_the_latest_occurrence_can_win(tokens: list[str]) -> None:
    circuit = induction_circuit(tokens, latest=True)
    for i, logits in enumerate(circuit.logits):
        followers = [after for before, after in pairwise(tokens[: i + 1]) if before == tokens[i]]
        wanted = [float(word == followers[-1]) if followers else 0.0 for word in circuit.vocabulary]
        assert logits == pytest.approx(wanted, abs=1e-12)


@given(texts)
def test_the_pattern_is_the_table_of_equal_tokens_moved_by_one(tokens: list[str]) -> None:
    for i, row in enumerate(induction_circuit(tokens).second.weights):
        matches = [float(j > 0 and tokens[j - 1] == tokens[i]) for j in range(i + 1)]
        if any(matches):
            assert [w > 1e-9 for w in row[: i + 1]] == [m == 1 for m in matches]
        else:
            assert row[0] == pytest.approx(1, abs=1e-12)


def test_the_future_changes_no_logits_of_the_past() -> None:
    text = ["<start>", *"abcabdacbb"]
    whole = induction_circuit(text)
    for n in range(7, len(text)):  # from here on all words have appeared, so they stand at the same places
        assert near(whole.logits[:n], induction_circuit(text[:n]).logits)


def test_what_comes_next_is_told_by_word() -> None:
    circuit = induction_circuit(["<start>", "Mr", "Dursley", "said", "that", "Mr"])
    assert circuit.next_token == pytest.approx({"Dursley": 1}, abs=1e-12)
    assert induction_circuit(["<start>", "Mr"]).next_token == {}


# Nothing but attention.


def every_head() -> list[Head]:
    circuit = induction_circuit(["<start>", "a", "b", "a", "c", "a"])
    latest = induction_circuit(["<start>", "a", "b", "a", "c", "a"], latest=True)
    singles = [previous_token_head(SENTENCE), offset_head(SENTENCE, 2, lead=1.5), sink_head(SENTENCE)]
    return [*singles, circuit.first, circuit.second, latest.second]


@pytest.mark.parametrize("head", every_head())
def test_a_head_is_attention_with_the_matrices_that_it_shows(head: Head) -> None:
    q, k, v = matmul(head.x, head.W_q), matmul(head.x, head.W_k), matmul(head.x, head.W_v)
    assert (q, k, v) == (head.q, head.k, head.v)
    assert scaled_dot_product_attention(q, k, v, causal_mask(len(q))) == (head.output, head.weights)
    written = matmul(head.output, head.W_o)
    assert head.sum == [[a + b for a, b in zip(x, w, strict=True)] for x, w in zip(head.x, written, strict=True)]


@pytest.mark.parametrize("head", every_head())
def test_two_circuits_say_all_that_a_head_does(head: Head) -> None:
    scores = matmul(matmul(head.x, head.qk), transpose(head.x))
    assert near(scores, matmul(head.q, transpose(head.k)))
    written = matmul(head.weights, matmul(head.x, head.ov))
    assert near(written, [[b - a for a, b in zip(x, s, strict=True)] for x, s in zip(head.x, head.sum, strict=True)])


@pytest.mark.parametrize("head", every_head())
def test_the_lanes_cover_a_vector(head: Head) -> None:
    assert [c for places in head.lanes.values() for c in places] == list(range(len(head.x[0])))


def test_no_two_rows_of_a_matrix_are_the_same_object() -> None:
    for head in every_head():
        for table in (head.x, head.W_q, head.W_k, head.W_v, head.W_o, head.weights, head.mask):
            assert len({id(row) for row in table}) == len(table)


def test_the_picture_shows_the_weights_and_hides_the_future() -> None:
    circuit = induction_circuit(["<start>", "a", "b", "a"])
    picture = circuit.heatmap()
    assert (picture.values, picture.queries, picture.keys) == (circuit.second.weights, circuit.tokens, circuit.tokens)
    assert picture.mask == causal_mask(4)


# Names.

TEXT = ["<start>", "a", "b", "c", "a", "b", "d", "a", "b"]
ZEROS = [[0.0]] * len(TEXT)

PATTERNS = {
    "diagonal": offset_head(TEXT, 0).weights,
    "previous token": previous_token_head(TEXT).weights,
    "offset 2": offset_head(TEXT, 2).weights,
    "offset 4": offset_head(TEXT, 4).weights,
    "sink": sink_head(TEXT).weights,
    "induction": induction_circuit(TEXT).second.weights,
    "uniform": scaled_dot_product_attention(ZEROS, ZEROS, ZEROS, causal_mask(len(TEXT))).weights,
    "local": scaled_dot_product_attention(ZEROS, ZEROS, ZEROS, sliding_window_mask(len(TEXT), window=3)).weights,
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_gets_its_name_and_a_full_score(name: str) -> None:
    named = name_pattern(PATTERNS[name], TEXT)
    assert named.name == name
    assert named.scores[name] == pytest.approx(1, abs=1e-9)
    assert max(score for other, score in named.scores.items() if other != name) < 0.7


@pytest.mark.parametrize("name", PATTERNS)
def test_a_little_noise_does_not_change_the_name(name: str) -> None:
    random = Random(0)
    for _ in range(20):
        weights = [
            [w * random.uniform(0.8, 1.2) + 0.02 * random.random() * (w > 0) for w in row] for row in PATTERNS[name]
        ]
        weights = [[w / sum(row) for w in row] for row in weights]
        assert name_pattern(weights, TEXT).name == name


def noise(n: int, seed: int, spread: float) -> Table:
    random = Random(seed)
    return [softmax([random.gauss(0, spread) for _ in range(i + 1)]) + [0.0] * (n - 1 - i) for i in range(n)]


@pytest.mark.parametrize("spread", [1.5, 2, 4])
def test_noise_has_no_name(spread: float) -> None:
    names = {name_pattern(noise(len(TEXT), seed, spread), TEXT).name for seed in range(60)}
    assert names == {"mixed"}


def test_without_the_text_there_is_no_induction() -> None:
    weights = PATTERNS["induction"]
    assert "induction" not in name_pattern(weights).scores
    assert "induction" not in name_pattern(weights, [str(i) for i in range(len(weights))]).scores
    assert name_pattern(weights).name == "mixed"


def test_whoever_rests_on_a_text_without_repeats_is_a_sink() -> None:
    weights = induction_circuit(["<start>", "a", "b", "c", "d"]).second.weights
    assert name_pattern(weights, ["<start>", "a", "b", "c", "d"]).name == "sink"


def test_one_that_reads_both_ways_is_uniform_over_all() -> None:
    assert name_pattern([[0.2] * 5] * 5).name == "uniform"
    assert name_pattern([[0.2] * 5] * 5).scores["uniform"] == pytest.approx(1)


@pytest.mark.parametrize("row", [[1.0] * 4, [0.5] * 4, [0.0] * 4, [0.25, 0.25, 0.25, 0.2501]])
def test_what_is_no_row_of_shares_gets_no_name(row: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^weights\[2\] sums to .*: it must hold shares, which sum to 1$"):
        name_pattern([[0.25] * 4, [0.25] * 4, row, [0.25] * 4])


def test_scores_lie_between_0_and_1() -> None:
    for seed in range(20):
        for score in name_pattern(noise(len(TEXT), seed, 3), TEXT).scores.values():
            assert 0 <= score <= 1
