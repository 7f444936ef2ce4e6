"""A figure that the reader changes is still complete without a script, and honest in each of its frames."""

import json
import re
from collections.abc import Callable
from html import unescape
from itertools import product
from math import prod
from typing import Any

import pytest

from attention_primer import sqrt_dk_experiment, worked_example_sentence, worked_example_two_looks
from machinery.drawing import FIGURES, SEAM, Figure, number, svg, table, text
from machinery.figures import drawn, width
from machinery.live import FRAMES, LIVE, Cells, Choice, Frames, Live, Slider, Switch, live, live_html_of
from machinery.wholes import unbroken

ALIVE = sorted(LIVE)

each_figure = pytest.mark.parametrize("name", ALIVE)


def _data(html: str) -> dict[str, Any]:
    found = re.search(r'data-frames="([^"]+)"', html)
    assert found
    return dict(json.loads(FRAMES[found[1]]))


def _frames(html: str) -> list[str]:
    return _unpacked(_data(html), [int(count) for count in re.findall(r'data-steps="(\d+)"', html)])


def _unpacked(data: dict[str, Any], steps: list[int]) -> list[str]:
    """Put the frames together as the script in the browser does."""
    frames: list[list[int]] = []
    for at, changes in enumerate(data["changes"]):
        digits = [at // prod(steps[place + 1 :]) % count for place, count in enumerate(steps)]
        last = max((place for place, digit in enumerate(digits) if digit), default=len(steps))
        frame = list(frames[at - prod(steps[last + 1 :])] if at else data["first"])
        for place, gone, *come in changes:
            frame[place : place + gone] = come
        frames.append(frame)
    return ["".join(data["pieces"][piece] for piece in frame) for frame in frames]


def _settings(name: str) -> list[tuple[Any, ...]]:
    return list(product(*(control.values for control in LIVE[name].controls)))


def _draw(share: float = 0.5, *, drawings: int = 1, shown: Callable[[float], str] = number) -> Figure:
    picture = svg(40, 20, text(20, 15, shown(share)), title="A share")
    return Figure(picture * drawings, f"It takes {shown(share)}.", table(["share"], [[shown(share)]]), "Always so.")


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Register a figure for this test alone, and draw it."""
    monkeypatch.setattr("machinery.live.LIVE", dict(LIVE))
    monkeypatch.setattr("machinery.drawing.FIGURES", FIGURES.copy())

    def made(draw: Callable[..., Figure], *controls: Any) -> str:
        from machinery import live as module

        monkeypatch.setitem(FIGURES, "mine", lambda: draw(*(control.start for control in controls)))
        monkeypatch.setitem(module.LIVE, "mine", Live("Try it.", controls, draw))
        return live_html_of("mine")

    return made


# All figures.


@each_figure
def test_every_combination_is_drawn_by_the_library(name: str) -> None:
    frames = _frames(drawn(name))
    settings = _settings(name)
    assert len(frames) == prod(len(control.values) for control in LIVE[name].controls)
    for at in {0, len(frames) // 3, len(frames) - 1}:
        caption, tables = frames[at].split(SEAM)[1:]
        expected = LIVE[name].draw(*settings[at])
        assert (caption, tables) == (unbroken(expected.caption), unbroken(expected.table))


@each_figure
def test_the_page_shows_the_frame_that_the_controls_start_with(name: str) -> None:
    html, start = drawn(name), tuple(control.start for control in LIVE[name].controls)
    assert _data(html)["start"] == _settings(name).index(start)
    drawing, caption, tables = _frames(html)[_data(html)["start"]].split(SEAM)
    still = html
    assert all(picture in still for picture in re.findall(r"<svg.*?</svg>", drawing, re.DOTALL))
    assert f'<span aria-live="polite">{caption}</span>' in still
    assert f'<div class="ap-same">{tables}</div>' in still


@each_figure
def test_every_step_of_a_control_shows_in_the_drawing_and_in_the_sentence(name: str) -> None:
    frames = [tuple(frame.split(SEAM)[:2]) for frame in _frames(drawn(name))]
    steps = [len(control.values) for control in LIVE[name].controls]
    for place, count in enumerate(steps):
        stride = prod(steps[place + 1 :])
        firsts = [at for at in range(len(frames)) if at // stride % count == 0]
        rows = [[frames[first + step * stride] for step in range(count)] for first in firsts]
        for steps_before in range(count - 1):
            pairs = [row[steps_before : steps_before + 2] for row in rows]
            assert any(one != next_one for one, next_one in pairs), LIVE[name].controls[place].label
        for part in (0, 1):
            assert any(len({frame[part] for frame in row}) > 1 for row in rows), LIVE[name].controls[place].label


@each_figure
def test_no_id_stands_twice_in_a_frame_or_in_two_figures(name: str) -> None:
    for frame in _frames(drawn(name)):
        ids = re.findall(r'\bid="([^"]+)"', frame)
        assert len(ids) == len(set(ids))
        assert all(mark.startswith(f"{name}-") for mark in ids)
        for used in re.findall(r'aria-labelledby="([^"]+)"', frame):
            assert set(used.split()) <= set(ids)


@each_figure
def test_no_text_of_a_frame_is_cut_off(name: str) -> None:
    pictures = {picture for frame in _frames(drawn(name)) for picture in re.findall(r"<svg.*?</svg>", frame, re.DOTALL)}
    for picture in pictures:
        width, height = (float(n) for n in re.findall(r'viewBox="0 0 (\S+) ([^"]+)"', picture)[0])
        assert width <= 480  # wider than that scrolls
        for x, y, anchor, size, more, shown in re.findall(
            r'<text x="(\S+)" y="(\S+)" text-anchor="(\w+)" font-size="(\S+)"([^>]*)>([^<]*)<', picture
        ):
            long = (0.58 if "600" in more else 0.52) * float(size) * len(unescape(shown))
            start = float(x) - {"start": 0, "middle": long / 2, "end": long}[anchor]
            assert start >= -1, shown
            assert start + long <= width + 1, shown
            assert float(size) - 1 <= float(y) <= height - 2, shown


@each_figure
def test_every_control_is_native_and_has_a_name(name: str) -> None:
    html = drawn(name)
    for inputs in re.findall(r"<input[^>]*>", html):
        assert re.search(r'type="(radio|checkbox|range|text)"', inputs)
        labelled = re.search(r'id="([^"]+)"', inputs)
        assert (
            "aria-label=" in inputs
            or re.search(rf"<label[^>]*>(?:{re.escape(inputs)}[^<]+|[^<]+{re.escape(inputs)})", html)
            or (labelled and f'<label for="{labelled[1]}">' in html)
        )


@each_figure
def test_a_live_figure_is_light(name: str) -> None:
    import gzip

    assert len(gzip.compress(drawn(name).encode())) < 8_000
    found = re.search(r'data-frames="([^"]+)"', drawn(name))
    assert found
    assert len(gzip.compress(FRAMES[found[1]].encode())) < 15_000


# What single figures show when they are moved.


def _shown(name: str, *setting: Any) -> list[str]:
    html = re.sub(r"<(title|desc)\b.*?</\1>", "", LIVE[name].draw(*setting).svg, flags=re.DOTALL)
    return re.findall(r"<text[^>]*>([^<]*)</text>", html)


@pytest.mark.parametrize("last_word", ["tired", "wet", "wide"])
def test_the_switch_shows_the_shares_of_the_chosen_sentence(last_word: str) -> None:
    shares = worked_example_two_looks(last_word).shares
    assert {f"{share:.2f}" for share in shares.values()} <= set(_shown("switch", last_word))


def test_with_the_mask_the_last_word_changes_nothing_of_it() -> None:
    captions = {LIVE["two_looks"].draw(word, True).caption for word in ("tired", "wet", "wide")}
    assert len(captions) == 1


def test_the_grid_hides_the_future_in_e_values_and_keeps_the_scores() -> None:
    at = (2, 3)
    assert (
        _shown("cell_inspector", "raw scores", True, False, at)[:40]
        == _shown("cell_inspector", "raw scores", False, False, at)[:40]
    )
    sums = _shown("cell_inspector", "e-values", True, False, at)
    assert sums[sums.index("sum") + 1 :][:4] == ["1", "2", "8", "8"]


def test_backward_words_take_the_same_shares_unless_the_future_is_hidden() -> None:
    forward = LIVE["cell_inspector"].draw("shares", False, False, (2, 1)).caption
    backward = LIVE["cell_inspector"].draw("shares", False, True, (1, 2)).caption
    assert backward.startswith(forward)
    hidden = LIVE["cell_inspector"].draw("shares", True, True, (1, 2)).caption
    assert not hidden.startswith(LIVE["cell_inspector"].draw("shares", True, False, (2, 1)).caption)


def test_one_more_for_each_score_moves_no_share() -> None:
    as_they_are, one_more = (
        [row[-1] for row in re.findall(r"<td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td>", shown.table)]
        for shown in (LIVE["scores_push"].draw(0, 0, 0, then) for then in ("as they are", "each + 1"))
    )
    assert as_they_are == one_more
    assert as_they_are[:3] == ["1/8", "2/8", "5/8"]


def test_the_dial_draws_what_the_experiment_of_the_library_draws() -> None:
    for divisor, of in (("1", "raw"), ("√d_k", "scaled")):
        measured = [getattr(row, of).largest_share for row in sqrt_dk_experiment(seed=1)]
        assert width._averages(divisor, 1) == pytest.approx(measured, abs=1e-9)


def test_a_grid_of_cells_lies_over_the_drawn_cells() -> None:
    html = drawn("cell_inspector")
    corner = re.search(r'<input type="radio"[^>]*aria-label="The, The" style="left:([\d.]+)%;top:([\d.]+)%">', html)
    first = re.search(r'<rect x="([\d.]+)" y="([\d.]+)" width="36" height="36" fill="var', html)
    size = re.search(r'viewBox="0 0 (\S+) ([^"]+)"', html)
    assert corner
    assert first
    assert size
    for percent, at, whole in zip(corner.groups(), first.groups(), size.groups(), strict=True):
        assert float(percent) / 100 * float(whole) == pytest.approx(float(at) - 1, abs=0.05)
    assert html.count('class="ap-cells"') == 1
    words = worked_example_sentence().tokens
    assert [f"{asks}, {offers}" for asks in words for offers in words] == re.findall(r'aria-label="(\w+, \w+)"', html)


# The mechanism.


def test_a_typed_number_in_any_frame_is_refused(mine: Callable[..., str]) -> None:
    def draw(share: float) -> Figure:
        return _draw(share, shown=number if share == 0.5 else str)

    with pytest.raises(ValueError, match=r"0\.75 was typed"):
        mine(draw, Slider("share", (0.5, 0.75), start=0.5))


def test_every_frame_has_as_many_drawings_as_the_first(mine: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match="not every frame has the same number of drawings"):
        mine(lambda is_twice: _draw(drawings=1 + is_twice), Switch("twice"))


def test_cells_come_last() -> None:
    cells = Cells("cell", ["a"], ["b"], start=(0, 0), corner=(0, 0), size=10)
    with pytest.raises(ValueError, match="cells come last"):
        live("Try it.", cells, Switch("hide"))


def test_controls_are_counted_like_digits(mine: Callable[..., str]) -> None:
    html = mine(
        lambda share, word, is_on: _draw(share + len(word) + is_on),
        Slider("share", (0.25, 0.5), start=0.5),
        Choice("word", ["a", "bcd", "efghi"], start="bcd"),
        Switch("on"),
    )
    assert re.findall(r'data-steps="(\d)"', html) == ["2", "3", "2"]
    shown = [re.sub("<[^>]*>", "", frame.split(SEAM)[1]) for frame in _frames(html)]
    assert shown[:6] == [f"It takes {0.25 + n:.2f}." for n in (1, 2, 3, 4, 5, 6)]
    assert shown[6:] == [f"It takes {0.5 + n:.2f}." for n in (1, 2, 3, 4, 5, 6)]


def test_a_choice_of_many_is_a_list_and_names_are_escaped() -> None:
    html = Choice("<b>", list("abcde<"), start="<").html("n")
    assert html.startswith('<label class="ap-control" data-steps="6">&lt;b&gt; <select')
    assert html.endswith("<option selected>&lt;</option></select></label>")


def test_a_slider_says_its_step_in_words() -> None:
    html = Slider("width", (4, 16), start=16, show="{} wide".format).html("n")
    assert 'max="1" value="1"' in html
    assert 'aria-valuetext="16 wide" data-texts="4 wide|16 wide"' in html


def test_frames_come_back_as_they_were() -> None:
    shown = ["<i>1</i>text<b>1</b>", "<i>1</i><b>2</b>", "<b>2</b>", "", "<b>2</b><i>1</i>x<p>", "</p><i>1</i>"]
    frames = Frames([3, 2])
    for frame in shown:
        frames.add(frame, made=[])
    assert _unpacked(json.loads(frames.packed(start=1)), [3, 2]) == shown
