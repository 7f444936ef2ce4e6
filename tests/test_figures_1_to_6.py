"""The figures of the chapter's first half show what the library computes, and nothing of it is cut off."""

import re
from fractions import Fraction
from html import unescape
from itertools import pairwise

import pytest

from attention_primer import worked_example_two_looks
from machinery.figures import drawn
from machinery.figures.parts import exact
from machinery.figures.switch import _example, _halfway
from machinery.live import LIVE

FIGURES = ("switch", "shares_pull", "scores_push", "products", "similar_is_not_relevant", "strip")
EXACT = ("shares_pull", "similar_is_not_relevant", "strip")

each_figure = pytest.mark.parametrize("name", FIGURES)

Point = tuple[float, float]


def drawings(name: str) -> list[str]:
    return re.findall(r"<svg .*?</svg>", drawn(name), re.DOTALL)


def squares(drawing: str, size: int) -> list[Point]:
    found = re.findall(rf'<rect x="([\d.]+)" y="([\d.]+)" width="{size}" height="{size}"', drawing)
    return [(float(x) + size / 2, float(y) + size / 2) for x, y in found]


def side(a: Point, b: Point, c: Point) -> float:
    """Tell on which side of the line from a to b the point c lies, by the sign."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@pytest.mark.parametrize(("drawing", "last_word"), [(0, "tired"), (1, "wide")])
def test_the_arcs_of_it_are_as_thick_as_its_shares(drawing: int, last_word: str) -> None:
    arcs = re.findall(r'<path d="M.*?Q\S+ \S+ ([\d.]+) .*?stroke-width="([\d.]+)"', drawings("switch")[drawing])
    from_left = [float(thick) for _, thick in sorted(arcs, key=lambda arc: float(arc[0]))]
    to_animal, to_last, to_street = worked_example_two_looks(last_word).shares.values()
    total = sum(from_left)
    assert [thick / total for thick in from_left] == pytest.approx([to_animal, to_street, to_last], abs=0.01)


def test_halfway_from_tired_to_wide_is_wet() -> None:
    halfway = _halfway(worked_example_two_looks("tired"), worked_example_two_looks("wide")).second
    wet = worked_example_two_looks("wet").second
    for row, expected in zip(halfway.weights + halfway.sum, wet.weights + wet.sum, strict=True):
        assert row == pytest.approx(expected, abs=1e-12)


def test_each_step_from_tired_to_wide_takes_from_the_animal_and_gives_to_the_street() -> None:
    shares = [_example(last_word).shares for last_word in LIVE["switch"].controls[0].values]
    animal, street = ([share[word] for share in shares] for word in ("animal", "street"))
    assert animal == sorted(animal, reverse=True)
    assert street == sorted(street)
    assert len(set(animal)) == 5


def test_the_mix_is_drawn_inside_the_triangle_of_the_values() -> None:
    (drawing,) = drawings("shares_pull")
    corners, (mix,) = squares(drawing, 9), squares(drawing, 15)
    assert len(corners) == 3
    sides = [side(a, b, mix) for a, b in pairwise([*corners, corners[0]])]
    assert all(s > 0 for s in sides) or all(s < 0 for s in sides)


def test_the_bars_of_a_score_end_at_the_score() -> None:
    (drawing,) = drawings("products")
    ends = re.findall(r'<line x1="([\d.]+)" [^>]*stroke-width="2"', drawing)
    zero = float(re.findall(r'<line x1="([\d.]+)" [^>]*stroke-width="1"', drawing)[0])
    looks = worked_example_two_looks()
    row = looks.second.scores[looks.tokens.index("it")]
    longest, *others = [row[looks.tokens.index(word)] for word in looks.shares]
    unit = (float(ends[0]) - zero) / longest
    assert [(float(end) - zero) / unit for end in ends[1:]] == pytest.approx(others, abs=0.01)


@pytest.mark.parametrize(
    ("vector", "shares"),
    [
        ((0, 1, 1), ["2/10 = 1/5", "4/10 = 2/5", "2/10 = 1/5", "2/10 = 1/5"]),
        ((0, 2, 2), ["4/40 = 1/10", "16/40 = 2/5", "16/40 = 2/5", "4/40 = 1/10"]),
        ((0, 1, 0), ["4/15 = 4/15", "8/15 = 8/15", "1/15 = 1/15", "2/15 = 2/15"]),  # a score of −1 doubling
        ((0, 2, 0), ["64/337 = 0.19", "256/337 = 0.76", "1/337 = 0.003", "16/337 = 0.047"]),
    ],
)
def test_the_strip_takes_any_vector_for_sat(vector: tuple[int, int, int], shares: list[str]) -> None:
    frames = re.findall(r"<svg .*?</svg>", LIVE["strip"].draw("sat", *vector).svg, re.DOTALL)
    assert re.findall(r">(\S+/\S+ = [^<]+)<", frames[4]) == shares
    assert [sum(float(Fraction(share.split()[0])) for share in shares)] == [pytest.approx(1)]


def test_another_vector_for_sat_changes_no_query_but_its_own() -> None:
    def vector_to_query(row: str, *vector: int) -> str:
        return str(LIVE["strip"].draw(row, *vector).svg).partition("</svg>")[0]

    assert vector_to_query("down", 0, 1, 1) == vector_to_query("down", 2, 2, 2)
    assert vector_to_query("sat", 0, 1, 1) != vector_to_query("sat", 2, 2, 2)


@pytest.mark.parametrize("name", EXACT)
def test_the_exact_example_is_shown_in_fractions(name: str) -> None:
    shown = re.sub(r"<[^>]*>", " ", drawn(name))
    assert re.findall(r"\d\.\d", shown) == []


def test_a_number_that_is_no_simple_fraction_is_refused() -> None:
    with pytest.raises(ValueError, match="no simple fraction"):
        exact(0.6285317)


@each_figure
def test_every_drawing_fits_a_phone(name: str) -> None:
    for drawing in drawings(name):
        assert float(re.findall(r'width="([\d.]+)"', drawing)[0]) <= 360


@each_figure
def test_no_text_is_cut_off(name: str) -> None:
    for drawing in drawings(name):
        width, height = (float(n) for n in re.findall(r'viewBox="0 0 (\S+) ([^"]+)"', drawing)[0])
        for x, y, anchor, size, more, shown in re.findall(
            r'<text x="(\S+)" y="(\S+)" text-anchor="(\w+)" font-size="(\S+)"([^>]*)>([^<]*)<', drawing
        ):
            long = (0.58 if "600" in more else 0.52) * float(size) * len(unescape(shown))
            start = float(x) - {"start": 0, "middle": long / 2, "end": long}[anchor]
            assert start >= -1, shown
            assert start + long <= width + 1, shown
            assert float(size) <= float(y) + 1, shown
            assert float(y) <= height - 2, shown


@each_figure
def test_every_drawing_is_told_in_words_of_its_own(name: str) -> None:
    told = re.findall(r"<desc[^>]*>([^<]*)</desc>", drawn(name))
    assert len(set(told)) == len(drawings(name))
    assert all(len(words.split()) > 5 for words in told)
