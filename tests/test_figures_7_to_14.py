"""The figures of the chapter's second half show what the library computes, and nothing of it is cut off."""

import re
from collections.abc import Callable

import pytest

import test_figures_1_to_6 as first_half
from attention_primer import Attention, crossover_length, worked_example_two_looks
from attention_primer.grader import impostors
from attention_primer.grader.impostors import ATTENTION_IMPOSTORS, LAYER_IMPOSTORS, fingerprint
from machinery.figures.bugs import SUSPECTS
from machinery.live import LIVE
from machinery.proofs import ROOT

FIGURES = (
    "cell_inspector",
    "mask_pipeline",
    "switch_masked",
    "width_dial",
    "flow",
    "two_looks",
    "one_word_two_heads",
    "shared_heads",
    "word_order",
    "cost_lines",
    "suspects",
    "twenty_bugs",
)
EXACT = ("cell_inspector", "mask_pipeline", "one_word_two_heads", "word_order")
WORD = {"2": "mix", "3": "shares", "4": "match", "5": "Asking", "7": "rows", "8": "mask", "9": "Wide"}

each_figure = pytest.mark.parametrize("name", FIGURES)
drawings = first_half.drawings


def thick(drawing: str) -> dict[str, float]:
    """Read from a drawing how thick the arc to each place is, by the number that stands beside it."""
    arcs = re.findall(r'<path d="M.*?Q\S+ \S+ ([\d.]+) .*?stroke-width="([\d.]+)"', drawing)
    return {place: float(width) for place, width in arcs}


def test_both_sentences_have_the_same_first_look_and_mirrored_second_ones() -> None:
    first_tired, second_tired, first_wide, second_wide = map(thick, drawings("two_looks"))
    assert first_tired == first_wide
    assert second_tired != second_wide
    assert sorted(second_tired.values()) == sorted(second_wide.values())


def test_under_the_mask_it_reads_both_nouns_alike_and_nothing_else() -> None:
    it_tired, last_tired, it_wide, last_wide = map(thick, drawings("switch_masked"))
    assert it_tired == it_wide
    assert len(it_tired) == 2
    assert len(set(it_tired.values())) == 1
    reads = worked_example_two_looks("tired", causal=True).shares_of("tired")
    to_animal, to_street = last_tired.values()
    assert to_animal / to_street == pytest.approx(reads["animal"] / reads["street"], rel=0.2)
    assert sorted(last_tired.values()) == sorted(last_wide.values())


def test_the_mask_hides_the_six_cells_of_the_future() -> None:
    scores, e_values, shares = drawings("mask_pipeline")
    assert [drawing.count("<circle") for drawing in (scores, e_values, shares)] == [0, 6, 6]


def test_a_box_of_the_flow_names_the_section_that_explains_it() -> None:
    headings = dict(re.findall(r"^## (\d+)\. (.*)$", (ROOT / "docs/attention.md").read_text(encoding="utf-8"), re.M))
    named = re.findall(r"sections? (\d+)(?:, (\d+))?", " ".join(drawings("flow")))
    assert {number for pair in named for number in pair if number} == set(WORD)
    assert all(word in headings[number] for number, word in WORD.items())


def test_only_the_mask_changes_what_a_sentence_said_backwards_gives() -> None:
    without, with_mask = drawings("word_order")
    assert without.count("<rect") == 0
    assert with_mask.count("<rect") == 4


def test_the_lines_of_cost_cross_where_the_library_says() -> None:
    (drawing,) = drawings("cost_lines")
    lines = re.findall(r'<line x1="(\S+)" y1="(\S+)" x2="(\S+)" y2="(\S+)"', drawing)
    (x1, y1, _, y2), (u1, v1, _, v2) = [
        tuple(map(float, line)) for line in lines if line[0] != line[2] and line[1] != line[3]
    ]
    assert x1 == u1
    across = (v1 - y1) / ((v1 - y1) - (v2 - y2))
    doublings = 10 * across  # from 128 tokens to 131,072
    assert 128 * 2**doublings == pytest.approx(crossover_length(768), rel=0.03)


def test_the_suspects_are_unlabelled_and_all_different() -> None:
    shown = re.sub(r"<[^>]*>", " ", " ".join(drawings("suspects"))).replace(" ", "_")  # the list to pick from has names
    assert not any(bug.__name__ in shown for bug in SUSPECTS.values())
    assert len(drawings("suspects")) == len(set(drawings("suspects"))) == 1 + len(SUSPECTS)


def _asked(letter: str, probe: str) -> str:
    caption = LIVE["suspects"].draw(letter, probe, "not named yet").caption
    return re.sub(r"<[^>]*>", "", caption).replace("\xa0", " ")


@pytest.mark.parametrize("letter", SUSPECTS)
def test_another_last_word_shows_who_lets_the_future_in(letter: str) -> None:
    leaks = SUSPECTS[letter] in (
        impostors.mask_multiplied_in,
        impostors.softmax_down_the_columns,
        impostors.mask_after_softmax,
    )
    assert ("the future leaks in" in _asked(letter, '"cat" as the last word')) == leaks


@pytest.mark.parametrize("letter", SUSPECTS)
def test_a_hundred_more_is_missed_by_the_hidden_scores_of_a_mask_that_is_multiplied_in(letter: str) -> None:
    misses = SUSPECTS[letter] is impostors.mask_multiplied_in
    assert ("has missed the 100" in _asked(letter, "100 more for each score")) == misses


@pytest.mark.parametrize(
    ("letter", "row"),
    [
        ("A", "1/4, 1/4, 1/4, 1/4"),
        ("B", "0, 0, 0, 0"),
        ("C", "?, ?, ?, ?"),
        ("D", "?, ?, ?, ?"),
        ("E", "0, 0, 0, 0"),
        ("F", "?, ?, ?, ?"),
    ],
)
def test_where_sat_sees_nothing_the_right_one_stops_and_a_bug_hands_on_a_row(letter: str, row: str) -> None:
    assert f'Suspect {letter} hands on [{row}] for "sat"' in _asked(letter, '"sat" sees nothing')
    shown = LIVE["suspects"].draw(letter, '"sat" sees nothing', "not named yet")
    assert "query 2 may see no key: every query needs at least one" in shown.table
    assert "It stops: ValueError" in shown.svg.partition("</svg>")[0]


def test_all_twenty_bugs_are_drawn_and_no_two_alike() -> None:
    bugs: list[Callable[..., Attention]] = [*ATTENTION_IMPOSTORS, *LAYER_IMPOSTORS]
    assert len(drawings("twenty_bugs")) == len(bugs) == 20
    assert len({repr([[round(w, 6) for w in row] for row in fingerprint(bug)]) for bug in bugs}) == 20


@pytest.mark.parametrize("name", EXACT)
def test_the_exact_example_is_shown_in_fractions(name: str) -> None:
    first_half.test_the_exact_example_is_shown_in_fractions(name)


@each_figure
def test_every_drawing_fits_a_phone(name: str) -> None:
    first_half.test_every_drawing_fits_a_phone(name)


@each_figure
def test_no_text_is_cut_off(name: str) -> None:
    first_half.test_no_text_is_cut_off(name)


@each_figure
def test_every_drawing_is_told_in_words_of_its_own(name: str) -> None:
    first_half.test_every_drawing_is_told_in_words_of_its_own(name)
