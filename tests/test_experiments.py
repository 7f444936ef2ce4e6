import random
from collections.abc import Callable
from math import sqrt
from statistics import mean, stdev
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import sqrt_dk_experiment
from attention_primer.experiments import WidthRow
from oracles import U

SEEDS = range(10)
WIDTHS = [4, 64, 1024]


@pytest.fixture(scope="module")
def runs() -> list[list[WidthRow]]:
    return [sqrt_dk_experiment(WIDTHS, seed=seed, n_queries=12, n_groups=4) for seed in SEEDS]


@st.composite
def settings_of_experiments(draw: st.DrawFn) -> tuple[list[int], dict[str, int]]:
    names = ("n_queries", "n_groups", "n_keys")
    widths = draw(st.lists(st.integers(1, 30), min_size=1, max_size=4))
    return widths, {"seed": draw(st.integers(0, 99)), **{name: draw(st.integers(1, 5)) for name in names}}


# Against the chapter: means over seeds, within four times their own error and what the printed digits leave open.


@pytest.mark.parametrize(
    ("way", "measure", "measured", "open_"),
    [
        ("raw", "spread", [2, 8, 32], 0.0),
        ("scaled", "spread", [1, 1, 1], 0.0),
        ("raw", "largest_share", [0.51, 0.88, 0.97], 0.01),
        ("scaled", "largest_share", [0.33, 0.36, 0.36], 0.01),
        ("raw", "slope", [0.35, 0.15, 0.05], 0.01),
        ("scaled", "slope", [0.36, 0.36, 0.37], 0.01),
    ],
)
def test_the_experiment_measures_what_the_chapter_says(
    runs: list[list[WidthRow]], way: str, measure: str, measured: list[float], open_: float
) -> None:
    for w, expected in enumerate(measured):
        found = [getattr(getattr(run[w], way), measure) for run in runs]
        assert abs(mean(found) - expected) <= 4 * stdev(found) / sqrt(len(found)) + open_


def test_without_the_divisor_width_sharpens_and_with_it_width_plays_no_part(runs: list[list[WidthRow]]) -> None:
    for run in runs:
        shares, slopes = [row.raw.largest_share for row in run], [row.raw.slope for row in run]
        assert shares == sorted(shares)
        assert slopes == sorted(slopes, reverse=True)
        assert max(row.scaled.slope for row in run) < 1.1 * min(row.scaled.slope for row in run)


def test_the_default_widths_are_those_of_the_figure() -> None:
    assert [row.d_k for row in sqrt_dk_experiment(n_queries=1, n_groups=1)] == [4, 16, 64, 256, 1024]


@given(settings_of_experiments())
def test_dividing_by_the_root_of_the_width_divides_the_spread_by_it(setting: tuple[list[int], dict[str, int]]) -> None:
    widths, counts = setting
    rows = sqrt_dk_experiment(widths, **counts)
    assert [row.d_k for row in rows] == widths
    for d_k, raw, scaled in rows:
        assert raw.spread == pytest.approx(sqrt(d_k) * scaled.spread, rel=8 * U)


@given(settings_of_experiments())
def test_shares_and_slopes_stay_within_what_softmax_allows(setting: tuple[list[int], dict[str, int]]) -> None:
    widths, counts = setting
    for row in sqrt_dk_experiment(widths, **counts):
        for found in (row.raw, row.scaled):
            assert 1 / counts["n_keys"] - 4 * U <= found.largest_share <= 1 + 4 * U
            assert 0 <= found.slope <= 1 / 2 + 4 * U
        assert row.scaled.largest_share <= row.raw.largest_share + 4 * U, "a smaller lead has a smaller share"


@given(settings_of_experiments())
def test_a_single_key_gets_all_and_has_no_slope(setting: tuple[list[int], dict[str, int]]) -> None:
    widths, counts = setting
    for row in sqrt_dk_experiment(widths, **counts | {"n_keys": 1}):
        assert row.raw[1:] == row.scaled[1:] == (1, 0)


@given(settings_of_experiments())
def test_a_seed_gives_the_same_rows_and_the_order_of_widths_does_not_matter(
    setting: tuple[list[int], dict[str, int]],
) -> None:
    widths, counts = setting
    rows = sqrt_dk_experiment(widths, **counts)
    assert sqrt_dk_experiment(tuple(widths), **counts) == rows
    assert sqrt_dk_experiment(widths[::-1], **counts) == rows[::-1]
    assert sqrt_dk_experiment(widths, **counts | {"seed": counts["seed"] + 1}) != rows


def test_the_experiment_leaves_the_random_numbers_of_others_alone() -> None:
    before = random.getstate()
    sqrt_dk_experiment([4], n_queries=1, n_groups=1)
    assert random.getstate() == before


def test_every_python_measures_the_same_to_six_digits() -> None:
    assert [[round(x, 6) for found in row[1:] for x in found] for row in sqrt_dk_experiment()] == [
        [1.930282, 0.494562, 0.35348, 0.965141, 0.320885, 0.361058],
        [3.75033, 0.756808, 0.244399, 0.937582, 0.354254, 0.362461],
        [8.129012, 0.870825, 0.151557, 1.016126, 0.356294, 0.366331],
        [15.974223, 0.944932, 0.070972, 0.998389, 0.35553, 0.368495],
        [31.668085, 0.96879, 0.04439, 0.989628, 0.357373, 0.366276],
    ]


def test_the_default_takes_less_than_three_tenths_of_a_second() -> None:
    def seconds(run: Callable[[], object]) -> float:
        start = process_time()
        run()
        return process_time() - start

    rng = random.Random(0)
    drawing = min(seconds(lambda: [rng.gauss(0, 1) for _ in range(100 * 1024)]) for _ in range(3))
    # A slow machine may take as many times longer as it does to draw the experiment's random numbers.
    assert min(seconds(sqrt_dk_experiment) for _ in range(3)) < max(0.3, 6 * drawing)
