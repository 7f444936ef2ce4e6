import re
import subprocess
import sys
from collections.abc import Callable
from math import cos, exp, inf, nan, radians, sin
from typing import Any
from unicodedata import combining, east_asian_width
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_primer import ShapeError
from attention_primer.heatmaps import Heatmap, palette

WORDS = ["The", "cat", "sat", "down"]
SHARES: list[list[float]] = [[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 4, 1 / 2, 1 / 4, 0], [1 / 8, 1 / 8, 1 / 2, 1 / 4]]
PAST = [[j <= i for j in range(4)] for i in range(4)]
quietly = settings(deadline=None, max_examples=50)  # a busy machine is no fault of a picture
SVG = "{http://www.w3.org/2000/svg}"

labels = st.text(max_size=30) | st.sampled_from(
    ["animal", "猫", "e\u0301te\u0301", "\n", "a, b", "<&>\"'", "\u202e", "x" * 90]
)
numbers = st.floats(0, 1) | st.floats(-1e308, 1e308)


@st.composite
def heatmaps(draw: st.DrawFn) -> Heatmap:
    n_q, n_k = draw(st.integers(1, 4)), draw(st.integers(1, 4) | st.integers(5, 60))
    pencil = st.sampled_from([1 / 8, 2 / 5, 12 / 5, -inf])
    of: st.SearchStrategy[Any] = draw(st.sampled_from([st.floats(0, 1), numbers, st.booleans(), pencil]))

    def matrix(entries: st.SearchStrategy[Any]) -> Any:
        return draw(st.lists(st.lists(entries, min_size=n_k, max_size=n_k), min_size=n_q, max_size=n_q))

    return Heatmap(
        matrix(of),
        draw(st.none() | st.lists(labels, min_size=n_q, max_size=n_q)),
        draw(st.none() | st.lists(labels, min_size=n_k, max_size=n_k)),
        mask=matrix(st.booleans()) if draw(st.booleans()) else None,
        title=draw(labels),
        finding=draw(labels),
        fractions=draw(st.booleans()),
    )


def without_colors(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def columns(line: str) -> int:
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in line)


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def elements(picture: Heatmap, name: str) -> list[Any]:
    return list(ElementTree.fromstring(picture.svg()).iter(SVG + name))  # noqa: S314  # our own picture


def drawn_texts(picture: Heatmap) -> list[str]:
    return ["".join(text.itertext()) for text in elements(picture, "text")]


def span(text: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Guess from where to where a drawn text goes, with letters half as wide as they are high."""
    x, y = int(text.get("x", 0)), int(text.get("y"))
    long = 7 * columns("".join(text.itertext()))
    turn = re.match(r"rotate\(-(\d+) ", text.get("transform", ""))
    angle = radians(int(turn[1])) if turn else 0
    start = -long * {None: 0, "start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
    ends = (start, start + long)
    return (x + cos(angle) * ends[0], x + cos(angle) * ends[1]), (y - sin(angle) * ends[0], y - sin(angle) * ends[1])


# As text.


def test_the_exact_example_shows_its_shares_as_fractions_and_a_dot_for_the_future() -> None:
    assert Heatmap(SHARES, WORDS, mask=PAST, fractions=True, title="Shares").text() == "\n".join(
        [
            "Shares",
            "query ↓, key →, hidden ·",
            "      The     cat     sat     down",
            "The   ██ 1    ·       ·       ·",
            "cat   ▓▓ 1/2  ▓▓ 1/2  ·       ·",
            "sat   ▒▒ 1/4  ▓▓ 1/2  ▒▒ 1/4  ·",
            "down  ░░ 1/8  ░░ 1/8  ▓▓ 1/2  ▒▒ 1/4",
        ]
    )


def test_printing_shows_the_same_as_text() -> None:
    picture = Heatmap(SHARES, WORDS)
    assert str(picture) == picture.text()


def test_two_decimals_are_the_ordinary_form() -> None:
    assert "░░ 0.12  ░░ 0.12  ▓▓ 0.50  ▒▒ 0.25" in Heatmap(SHARES, WORDS).text()


def test_scores_line_up_at_their_point_and_the_picture_says_what_the_shade_means() -> None:
    assert Heatmap([[0, -1.5, -inf], [12.25, 3, 2]], ["a", "b"], ["x", "y", "z"]).text() == "\n".join(
        [
            "query ↓, key →, hidden ·, shade −1.50 to 12.25",
            "   x         y         z",
            "a  ░░  0.00     −1.50  ·",
            "b  ██ 12.25  ▒▒  3.00  ▒▒  2.00",
        ]
    )


def test_a_mask_is_blocks_and_dots_without_numbers() -> None:
    assert Heatmap([[True, False], [True, True]], ["a", "b"]).text() == "\n".join(
        ["query ↓, key →, hidden ·", "   a   b", "a  ██  ·", "b  ██  ██"]
    )


def test_a_mask_may_have_one_row_only() -> None:
    assert Heatmap([[True, True]], ["new"], ["old", "new"]).text() == "\n".join(
        ["query ↓, key →", "     old  new", "new  ██   ██"]
    )


def test_a_row_of_shares_is_a_sentence_with_a_bar_for_each_word() -> None:
    picture = Heatmap([[0.63, 0.14, 0.23, 0]], ["it"], ["animal", "street", "tired", "·"], mask=[[True] * 3 + [False]])
    assert picture.text(width=60) == "\n".join(
        [
            "query: it, key ↓, hidden ·",
            "animal  0.63  █████████████████████████▎",
            "street  0.14  █████▋",
            "tired   0.23  █████████▎",
            "·       ·",
        ]
    )


def test_a_row_of_scores_is_no_sentence_since_a_score_is_no_part_of_a_whole() -> None:
    assert Heatmap([[2, 1, 0.5]]).text().splitlines()[2] == "0  ██ 2.00  ▒▒ 1.00     0.50"


def test_equal_scores_get_one_middle_shade() -> None:
    assert Heatmap([[7, 7]]).text().splitlines()[2] == "0  ▓▓ 7.00  ▓▓ 7.00"


def test_rounding_never_moves_a_cell_to_another_shade() -> None:
    assert Heatmap([[0.25 - 1e-12, 0.25 + 1e-12], [0, 0]], fractions=True).text().count("▒▒ 1/4") == 2


@pytest.mark.parametrize(
    ("x", "shown"),
    [(12 / 5, "12/5"), (-1 / 8, "−1/8"), (2, "2"), (1 / 3, "1/3"), (0.63, "0.63"), (-1e-12, "0"), (1e300, "1.0e+300")],
)
def test_a_fraction_is_written_only_where_it_is_equal(x: float, shown: str) -> None:
    assert f">{shown}</td>" in Heatmap([[x, 3]], fractions=True).table()


def test_there_is_no_minus_before_zero() -> None:
    assert re.findall("[-−][0-9.]+", Heatmap([[-0.001, -0.0, 2, -2]]).table()) == ["−2.00"]


def test_large_numbers_get_an_exponent() -> None:
    assert "1.0e+300" in Heatmap([[1e300, 1]]).text()
    assert "-1.0e+300" in Heatmap([[-1e300, 1]]).text(ascii=True)


def test_the_keys_are_the_queries_words_when_they_fit() -> None:
    assert Heatmap(SHARES, WORDS).keys == WORDS
    assert Heatmap([[1, 0]], ["it"]).keys == ["0", "1"]
    assert Heatmap(SHARES).queries == Heatmap(SHARES).keys == ["0", "1", "2", "3"]


def test_wide_letters_and_accents_stay_aligned() -> None:
    lines = Heatmap(SHARES, ["猫", "e\u0301te\u0301", "座った", "down"]).text().splitlines()
    starts = {columns(re.split(r"[ ░▒▓█]{2} \d", line, maxsplit=1)[0]) for line in lines[2:]}
    assert starts == {8}


def test_letters_of_full_width_and_joiners_and_rings_stay_aligned() -> None:
    lines = Heatmap(SHARES, ["ＡＢ", "a\u20ddb\u200dc", "abcd", "a\u200cb"]).text().splitlines()
    assert [re.split(r"[ ░▒▓█]{2} \d", line, maxsplit=1)[0] for line in lines[2:]] == [
        "ＡＢ  ",
        "a\u20ddb\u200dc   ",
        "abcd  ",
        "a\u200cb    ",
    ]


def test_ascii_escapes_what_it_cannot_show() -> None:
    text = Heatmap(SHARES, ["café", *WORDS[1:]], mask=PAST, title="très").text(ascii=True)
    assert text.splitlines()[:4] == [
        r"tr\xe8s",
        "query (down), key (across), hidden .",
        r"         caf\xe9  cat      sat      down",
        r"caf\xe9  ## 1.00  .        .        .",
    ]


def test_a_share_that_rounding_left_above_one_is_still_a_share() -> None:
    assert Heatmap([[1 + 1e-15, -1e-15]], ["it"]).text().splitlines() == [
        "query: it, key ↓",
        "0  1.00  ████████████████████████████████████████",
        "1  0.00",
    ]


def test_an_accent_stays_with_its_letter_when_a_label_is_cut() -> None:
    picture = Heatmap([[1], [1]], ["e\u0301" * 30, "b"])
    assert "e\u0301" * 23 + "…  " in picture.text()


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = Heatmap([[1]], ["\x1b[2J"], ["\n"], title="\u202e").text()
    assert r"\x1b[2J" in text
    assert r"\n" in text
    assert r"\u202e" in text
    assert text.count("\n") == 2


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (46, "cat   ▓▓ 0.50  ▓▓ 0.50  ·        ·"),
        (30, "cat  ▓0.50 ▓0.50 ·     ·"),
        (25, "cat  ▓0.5 ▓0.5 ·    ·"),
        (20, "cat  ▓▓▓▓· ·"),
    ],
)
def test_a_narrow_terminal_takes_decimals_first_and_then_the_numbers(width: int, row: str) -> None:
    assert row in Heatmap(SHARES, WORDS, mask=PAST).text(width=width).splitlines()


def test_blocks_number_the_columns_downward_and_tell_the_words_beneath() -> None:
    shares = [[1 / 11] * 11]
    shares[0][3] = -1
    words = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired"]
    assert Heatmap(shares, ["it"], words).text(width=40).splitlines() == [
        "query ↓, key →, shade −1.00 to 0.09",
        "                       1",
        "   0 1 2 3 4 5 6 7 8 9 0",
        "it ██████  ██████████████",
        "more is denser: ░▒▓█",
        "keys: 0 The, 1 animal, 2 didn't,",
        "3 cross, 4 the, 5 street, 6 because,",
        "7 it, 8 was, 9 too, 10 tired",
    ]


def test_columns_that_have_no_room_are_left_out_in_the_middle_and_a_note_says_so() -> None:
    lines = Heatmap([[True] * 100], mask=[[False] * 100]).text(width=20).splitlines()
    assert lines == [
        "query ↓, key →,",
        "hidden ·",
        "            9 9 9 9",
        "  0 1 2 3   6 7 8 9",
        "0 · · · · … · · · ·",
        "more is denser: ░▒▓█",
        "… 92 of 100 keys",
        "left out: too wide",
    ]


@quietly
@given(heatmaps(), st.integers(20, 120), st.booleans())
def test_no_line_is_wider_than_the_terminal(picture: Heatmap, width: int, ascii_only: bool) -> None:
    lines = picture.text(width=width, ascii=ascii_only).split("\n")
    assert max(map(columns, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@quietly
@given(heatmaps(), st.integers(20, 120), st.booleans())
def test_color_changes_nothing_but_color(picture: Heatmap, width: int, ascii_only: bool) -> None:
    plain = picture.text(width=width, ascii=ascii_only)
    colored = without_colors(picture.text(width=width, ascii=ascii_only, color=True))
    assert [line.rstrip() for line in colored.split("\n")] == plain.split("\n")


@quietly
@given(heatmaps(), st.integers(20, 120), st.booleans())
def test_ascii_is_ascii(picture: Heatmap, width: int, color: bool) -> None:
    assert picture.text(width=width, color=color, ascii=True).isascii()


def test_color_tells_query_key_weight_and_hidden_apart() -> None:
    lines = Heatmap([[1, 0]], ["q"], ["k", "m"], mask=[[True, False]]).text(color=True).split("\n")
    assert lines[1] == "\x1b[38;5;130mk\x1b[0m  1.00  \x1b[38;5;98m" + "█" * 40 + "\x1b[0m"
    assert lines[2] == "\x1b[38;5;130mm\x1b[0m  \x1b[38;5;243m·\x1b[0m"
    assert "\x1b[38;5;31mq\x1b[0m" in Heatmap([[True]], ["q"]).text(color=True)


# As SVG and as a table.


@quietly
@given(heatmaps())
def test_every_drawing_is_well_formed_with_a_title_a_description_and_ids_of_its_own(picture: Heatmap) -> None:
    root: Any = ElementTree.fromstring(picture.svg())  # noqa: S314  # our own picture
    title, told = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert root.get("role") == "img"
    assert root.get("aria-labelledby").split() == [title.get("id"), told.get("id")]
    assert title.text.strip()
    assert told.text.strip()
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]*)\)", picture.svg()))
    assert used <= set(ids)


@quietly
@given(heatmaps())
def test_every_drawing_stays_inside_its_frame(picture: Heatmap) -> None:
    root: Any = ElementTree.fromstring(picture.svg())  # noqa: S314  # our own picture
    _, _, width, height = map(int, root.get("viewBox").split())
    for box in root.iter(f"{SVG}rect"):
        assert int(box.get("x")) + int(box.get("width")) <= width
        assert int(box.get("y")) + int(box.get("height")) <= height
    for text in root.iter(f"{SVG}text"):
        along, up = span(text)
        assert min(along) >= -1
        assert max(along) <= width + 1
        assert min(up) >= -1
        assert max(up) <= height + 1


@quietly
@given(heatmaps())
def test_the_same_picture_gives_the_same_text_twice(picture: Heatmap) -> None:
    again = Heatmap(
        [list(map(bool, row)) for row in picture.values] if picture.is_mask else picture.values,
        picture.queries,
        picture.keys,
        mask=picture.mask,
        title=picture.title,
        finding=picture.finding,
        fractions=picture.fractions,
    )
    assert picture.svg() == again.svg()
    assert picture.table() == again.table()


def test_different_pictures_have_different_ids_and_a_prefix_tells_equal_ones_apart() -> None:
    a, b = Heatmap(SHARES, WORDS), Heatmap(SHARES, WORDS[::-1])

    def ids(svg: str) -> set[str]:
        return set(re.findall('id="([^"]*)"', svg))

    assert not ids(a.svg()) & ids(b.svg())
    assert not ids(a.svg()) & ids(a.svg(prefix="again"))
    assert ids(a.svg(prefix="again")) == {"again-title", "again-desc"}


def test_a_notebook_draws_the_same_svg() -> None:
    picture = Heatmap(SHARES, WORDS)
    assert picture._repr_svg_() == picture.svg()


def test_each_cell_has_its_step_of_the_ramp_and_the_ink_that_contrasts() -> None:
    svg = Heatmap(SHARES, WORDS, mask=PAST, fractions=True).svg()
    light = palette()
    assert f'fill="var(--ap-w10, {light["w10"]})"/>' in svg
    assert 'fill="var(--ap-w10-ink, #ffffff)">1</text>' in svg
    assert 'fill="var(--ap-w1-ink, #000000)">1/8</text>' in svg
    assert svg.count(">1/2</text>") == svg.count(f'fill="var(--ap-w5, {light["w5"]})"/>') == 4


def test_rounding_never_moves_a_cell_to_another_color() -> None:
    assert Heatmap([[0.25 - 1e-12, 0.25 + 1e-12]] * 2).svg().count("var(--ap-w3, ") == 4


def test_rounding_never_hides_that_two_keys_are_equal() -> None:
    (told,) = elements(Heatmap([[0.5, 0.5 - 1e-12]], ["it"], ["a", "b"]), "desc")
    assert told.text.endswith("it: largest are a and b, 0.50 each.")


def test_a_mask_is_drawn_more_quietly_than_a_weight_of_one() -> None:
    assert Heatmap([[True, True]]).svg().count("var(--ap-w4, ") == 2


def test_upright_labels_stand_in_the_middle_of_their_column() -> None:
    picture = Heatmap([[2] * 30], ["q"], ["key"] * 30)
    boxes, texts = elements(picture, "rect"), elements(picture, "text")
    middle = int(boxes[0].get("x")) + int(boxes[0].get("width")) / 2
    assert int(texts[1].get("x")) - middle == 5  # the foot of the letters is right of the middle
    assert int(texts[1].get("y")) < int(boxes[0].get("y")) - 4


def test_rows_are_blue_like_queries_and_columns_brown_like_keys() -> None:
    svg = Heatmap([[True]], ["asks"], ["offers"]).svg()
    assert 'fill="var(--ap-query, #0b5cad)">asks</text>' in svg
    assert 'fill="var(--ap-key, #9a4a00)">offers</text>' in svg
    assert drawn_texts(Heatmap(SHARES, WORDS))[0] == "query ↓, key →"


def test_hidden_cells_are_a_dot_on_hatching() -> None:
    picture = Heatmap(SHARES, WORDS, mask=PAST)
    assert len(elements(picture, "circle")) == 6
    assert picture.svg().count('-hidden)"/>') == 6
    assert len(elements(picture, "pattern")) == 1
    assert not elements(Heatmap(SHARES, WORDS), "pattern")


@pytest.mark.parametrize("n_q", [1, 2])
@pytest.mark.parametrize("secret", [0.77, nan, inf, -inf])
def test_a_hidden_cell_never_shows_its_value(secret: float, n_q: int) -> None:
    picture = Heatmap([[0.5, secret]] * n_q, mask=[[True, False]] * n_q)
    other = Heatmap([[0.5, 0.11]] * n_q, mask=[[True, False]] * n_q)
    assert picture.text() == other.text()
    assert picture.svg() == other.svg()
    assert picture.table() == other.table()
    assert repr(picture) == repr(other)


def test_minus_infinity_is_hidden_without_a_mask() -> None:
    assert Heatmap([[0.5, -inf]]).mask == [[True, False]]


def test_a_mask_can_be_masked_again() -> None:
    assert Heatmap([[True, True], [False, True]], mask=[[True, False], [True, True]]).mask == [
        [True, False],
        [False, True],
    ]


def test_drawn_numbers_are_the_numbers_of_the_text() -> None:
    picture = Heatmap([[0, -1.5], [12.25, 3]])
    assert {"0.00", "−1.50", "12.25", "3.00"} <= set(drawn_texts(picture))
    assert "shade −1.50 to 12.25" in drawn_texts(picture)[0]


def test_the_number_after_a_full_bar_has_room() -> None:
    picture = Heatmap([[1]], ["it"])
    width = int(ElementTree.fromstring(picture.svg()).get("viewBox", "").split()[2])  # noqa: S314  # our own picture
    assert max(span(elements(picture, "text")[-1])[0]) <= width


@pytest.mark.parametrize("words", [WORDS, ["because"] * 4, ["because"] * 30])
def test_column_labels_stand_clear_of_the_line_of_the_axes(words: list[str]) -> None:
    axes, label, *_ = elements(Heatmap([[2] * len(words)], ["q"], words), "text")
    assert min(span(label)[1]) - int(axes.get("y")) >= 10


def test_a_drawn_bar_is_as_long_as_its_share() -> None:
    boxes = elements(Heatmap([[1 / 8, 7 / 8]], ["it"]), "rect")
    assert [int(box.get("width")) for box in boxes] == [40, 280]


def test_many_columns_are_drawn_as_small_cells_with_upright_labels() -> None:
    picture = Heatmap([[2] * 30] * 30)
    assert "2.00" not in drawn_texts(picture)
    assert "rotate(-90 " in picture.svg()
    assert elements(picture, "desc")[0].text == "30 queries, 30 keys."


def test_long_words_over_columns_lean() -> None:
    assert "rotate(-37 " in Heatmap([[2] * 9] * 9, ["because"] * 9).svg()
    assert "rotate(" not in Heatmap(SHARES, WORDS).svg()


def test_the_visible_title_and_the_escaped_names_are_in_the_drawing() -> None:
    picture = Heatmap([[2]], ["<b>"], ["a & \"b'"], title="1 < 2")
    assert "1 < 2" in drawn_texts(picture)
    assert "a & \"b'" in drawn_texts(picture)
    assert '<th scope="row" class="ap-query">&lt;b&gt;</th>' in picture.table()


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (Heatmap(SHARES, WORDS, mask=PAST, fractions=True, finding="Half is subject."), "Half is subject. 4 queries"),
        (Heatmap(SHARES, WORDS, mask=PAST), "4 queries, 4 keys, 6 hidden. The: largest is The, 1.00."),
        (Heatmap(SHARES, WORDS, fractions=True), "cat: largest are The and cat, 1/2 each."),
        (Heatmap([[0.25] * 4], ["it"], WORDS, fractions=True), "it: largest are 4 keys, 1/4 each."),
        (Heatmap([[1]], ["it"], ["The"]), "1 query, 1 key. it: largest is The, 1.00."),
        (Heatmap(PAST, WORDS), "sat sees 3 of 4 keys."),
        (Heatmap([[1]], ["it"], mask=[[False]]), "it sees 0 of 1 keys."),
    ],
)
def test_the_description_tells_what_the_picture_shows(picture: Heatmap, told: str) -> None:
    (said,) = elements(picture, "desc")
    assert told in said.text


def test_the_table_says_hidden_and_names_rows_and_columns() -> None:
    assert Heatmap([[True, False]], ["new"], ["a", "b"], title="Seen.", finding="All.").table().splitlines() == [
        '<table class="ap-table">',
        "<caption>Seen. All.</caption>",
        '<thead><tr><th scope="col">query ↓, key →</th><th scope="col" class="ap-key">a</th>'
        '<th scope="col" class="ap-key">b</th></tr></thead>',
        "<tbody>",
        '<tr><th scope="row" class="ap-query">new</th><td>seen</td><td>hidden</td></tr>',
        "</tbody>",
        "</table>",
    ]


def test_the_table_of_a_sentence_stands_upright() -> None:
    assert Heatmap([[0.5, 0.5]], ["it"], ["a", "b"]).table().splitlines()[2:5] == [
        '<thead><tr><th scope="col">key ↓, query →</th><th scope="col" class="ap-query">it</th></tr></thead>',
        "<tbody>",
        '<tr><th scope="row" class="ap-key">a</th><td>0.50</td></tr>',
    ]


@quietly
@given(heatmaps())
def test_every_table_is_well_formed(picture: Heatmap) -> None:
    ElementTree.fromstring(picture.table())  # noqa: S314  # our own table


def test_repr_is_short() -> None:
    assert repr(Heatmap(SHARES, WORDS, mask=PAST)) == "<Heatmap of values: 4 x 4, 6 hidden>"
    assert repr(Heatmap(PAST)) == "<Heatmap of a mask: 4 x 4, 6 hidden>"


# Colors.


@pytest.mark.parametrize("dark", [False, True])
def test_ink_contrasts_on_every_step_of_the_ramp(dark: bool) -> None:
    colors = palette(dark=dark)
    assert min(contrast(colors[f"w{step}"], colors[f"w{step}-ink"]) for step in range(11)) >= 4.5
    for step in range(11):
        assert contrast(colors[f"w{step}"], colors[f"w{step}-ink"]) == max(
            contrast(colors[f"w{step}"], ink) for ink in ("#000000", "#ffffff")
        )


@pytest.mark.parametrize(("dark", "page"), [(False, "#ffffff"), (True, "#1e2129")])
def test_labels_contrast_on_the_page(dark: bool, page: str) -> None:
    colors = palette(dark=dark)
    assert min(contrast(colors[role], page) for role in ("query", "key", "value", "hidden")) >= 4.5


@pytest.mark.parametrize(("dark", "ends"), [(False, ("#f6f2fc", "#4a2490")), (True, ("#262334", "#cbb8ff"))])
def test_the_ramp_goes_one_way_from_nothing_to_everything(dark: bool, ends: tuple[str, str]) -> None:
    colors = palette(dark=dark)
    lights = [luminance(colors[f"w{step}"]) for step in range(11)]
    assert (colors["w0"], colors["w10"]) == ends
    assert lights == sorted(lights, reverse=not dark)
    assert len(set(lights)) == 11


# Wrong calls.

anything: Any = Heatmap  # so that wrong types may be tried


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: anything([]), ShapeError, "values is empty: it must hold at least one of the rows"),
        (lambda: anything([[]]), ShapeError, "values[0] is empty: it must hold at least one of the numbers"),
        (lambda: anything([1, 2]), TypeError, "values[0] is 1: it must be a list of numbers"),
        (lambda: anything("1 2"), TypeError, "values is '1 2': it must be a list of rows"),
        (lambda: anything([["1"]]), TypeError, "values[0][0] is '1': it must be a number"),
        (lambda: anything([[0.5, True]]), TypeError, "values[0][1] is True: it must be a number"),
        (lambda: anything([[1, nan]]), ValueError, "values[0][1] is nan: it must be a finite number"),
        (lambda: anything([[1], [inf]]), ValueError, "values[1][0] is inf: it must be a finite number"),
        (
            lambda: anything(SHARES, ["The", "cat"]),
            ShapeError,
            "queries holds 2 for values with 4 rows: each row must have one label",
        ),
        (
            lambda: anything([[1, 2]], ["it"], ["The"]),
            ShapeError,
            "keys holds 1 for values with 2 columns: each column must have one label",
        ),
        (
            lambda: anything([[1]], WORDS),
            ShapeError,
            "queries holds 4 for values with 1 row: each row must have one label",
        ),
        (lambda: anything([[1]], "it"), TypeError, "queries is 'it': it must be a list of words"),
        (lambda: anything([[1]], [7]), TypeError, "queries[0] is 7: it must be text"),
        (lambda: anything([[1]], keys=[None]), TypeError, "keys[0] is None: it must be text"),
        (lambda: anything([[1]], title=7), TypeError, "title is 7: it must be text"),
        (lambda: anything([[1]], finding=7), TypeError, "finding is 7: it must be text"),
        (
            lambda: anything([[1, 2]], mask=[[True]]),
            ShapeError,
            "mask is (1, 1) and values are (1, 2): both must have the same shape",
        ),
        (
            lambda: anything([[1]], mask=[[1]]),
            TypeError,
            "mask[0][0] is 1: it must be True (may see) or False (hidden), since a 1 means hidden elsewhere",
        ),
        (lambda: anything([[1]]).text(width=19), ValueError, "width is 19: it must be at least 20"),
        (lambda: anything([[1]]).text(width=80.0), TypeError, "width is 80.0: it must be a whole number"),
        (lambda: anything([[1]]).svg(prefix=1), TypeError, "prefix is 1: it must be text"),
        (
            lambda: anything([[1]]).svg(prefix="a b"),
            ValueError,
            "prefix is 'a b': it must hold letters, digits, - and _ only",
        ),
    ],
)
def test_wrong_calls_are_told_what_must_hold(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == message


def test_arguments_are_left_alone_and_nothing_is_shared() -> None:
    values, words, mask = [[1, 0], [0, 1]], ["a", "b"], [[True, True], [False, True]]
    picture = Heatmap(values, words, mask=mask)
    values[0][0], words[0], mask[0][0] = 9, "z", False
    assert (picture.values, picture.queries, picture.mask) == (
        [[1.0, 0.0], [0.0, 1.0]],
        ["a", "b"],
        [[True, True], [False, True]],
    )
    assert picture.keys is not picture.queries


def test_a_sentence_of_attention_comes_out_by_itself() -> None:
    scores = {"animal": 2.0, "tired": 1.0, "street": 0.5}
    total = sum(map(exp, scores.values()))
    text = Heatmap([[exp(x) / total for x in scores.values()]], ["it"], list(scores)).text()
    assert re.findall(r"\d\.\d\d", text) == ["0.63", "0.23", "0.14"]


def test_importing_loads_no_heavy_module() -> None:
    loads = "import sys, attention_primer.heatmaps; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)  # noqa: S603  # fixed
    assert not {"argparse", "dataclasses", "fractions", "html", "hashlib", "decimal", "xml"} & set(run.stdout.split())
