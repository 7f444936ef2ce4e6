"""The figures of the page on heads show what the library computes, and the quiz agrees with its answers."""

import re
from html import unescape

import pytest

import attention_primer
import test_figures_1_to_6 as first_half
from attention_primer import mix, name_pattern, worked_example_sentence
from machinery.figures.patterns import TEXT, UNNAMED, patterns
from machinery.live import LIVE
from machinery.proofs import ROOT

FIGURES = (
    "previous_token",
    "shifted_query",
    "sink",
    "induction",
    "stream",
    "two_circuits",
    "gallery",
    "unnamed_patterns",
    "same_output",
)
PAGE = (ROOT / "docs/heads.md").read_text(encoding="utf-8")

each_figure = pytest.mark.parametrize("name", FIGURES)


def caption(name: str, *setting: object) -> str:
    return unescape(LIVE[name].draw(*setting).caption)


def test_all_figures_of_the_page_are_here() -> None:
    assert re.findall(r"<!-- figure: (\w+) -->", PAGE) == list(FIGURES)


def test_every_specimen_of_the_gallery_gets_the_name_that_it_stands_under() -> None:
    assert {name: name_pattern(weights, TEXT).name for name, weights in patterns(TEXT).items()} == {
        name: name for name in patterns(TEXT)
    }


def test_the_answers_of_the_quiz_measure_the_matrices_that_are_drawn() -> None:
    answers = re.findall(r"- \*\*([A-F])\*\*.*?`<!-- = name_pattern\((.*), tokens\)\.name -->", PAGE)
    assert [letter for letter, _ in answers] == ["A", "B", "C", "E"]
    for letter, expression in answers:
        assert eval(expression, {**vars(attention_primer), "tokens": TEXT}) == UNNAMED[letter]  # noqa: S307


def test_the_quiz_knows_each_name_and_does_not_give_it_away() -> None:
    right = {letter: name_pattern(weights, TEXT).name for letter, weights in UNNAMED.items()}
    assert list(right.values()) == ["previous token", "induction", "sink", "mixed", "offset 2", "local"]
    drawn = LIVE["unnamed_patterns"].draw("A", "not named yet")
    assert not any(name in drawn.svg + drawn.caption + drawn.table for name in right.values())
    for letter, name in right.items():
        assert caption("unnamed_patterns", letter, name).startswith("Yes")
        assert all(caption("unnamed_patterns", letter, n).startswith("No") for n in right.values() if n != name)


def test_every_step_of_the_slider_gives_the_output_of_down() -> None:
    example = worked_example_sentence()
    assert mix(example.weights[3], example.v) == pytest.approx([3, 5])
    for sixteenths in range(4):
        assert "give the output [3,\N{NO-BREAK SPACE}5]" in caption("same_output", sixteenths)


def test_induction_tells_what_followed() -> None:
    text = "the cat sat the dog sat the"
    assert 'puts 1/2 on "cat" and 1/2 on "dog"' in caption("induction", text, False)
    assert 'puts 1 on "dog".' in caption("induction", text, True)
    assert "expects nothing" in caption("induction", "one two three four", False)


def test_without_its_sink_the_head_reads_what_it_never_meant_to() -> None:
    assert "nothing is read" in caption("sink", False)
    assert "1/3 to each word" in caption("sink", True)


@each_figure
def test_every_drawing_fits_a_phone(name: str) -> None:
    first_half.test_every_drawing_fits_a_phone(name)


@each_figure
def test_no_text_is_cut_off(name: str) -> None:
    first_half.test_no_text_is_cut_off(name)


@each_figure
def test_every_drawing_is_told_in_words_of_its_own(name: str) -> None:
    first_half.test_every_drawing_is_told_in_words_of_its_own(name)
