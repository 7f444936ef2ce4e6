"""The figures of the pages on caches, cheaper attention and gradients show what the library computes."""

import re
from html import unescape

import pytest

import test_figures_1_to_6 as first_half
from attention_primer import (
    KVCache,
    MultiHeadAttention,
    attention_gradients,
    kv_cache_bytes,
    sliding_window_mask,
    worked_example_sentence,
)
from machinery.figures import cheaper, inference
from machinery.live import LIVE
from machinery.proofs import ROOT

FIGURES = {
    "inference": (
        "growing_sentence",
        "scores_saved",
        "whole_texts",
        "same_in_pieces",
        "cache_calculator",
        "operations_a_byte",
    ),
    "cheaper": (
        "softmax_on_the_run",
        "tiles_light_up",
        "kept_and_moved",
        "window_reach",
        "slope_or_wall",
        "sparse_patterns",
        "two_kinds_of_shares",
    ),
    "gradients": (
        "slope_you_can_see",
        "values_learn",
        "jacobian_of_a_row",
        "gradient_flows_back",
        "what_reaches_the_queries",
    ),
}
EXACT = ("growing_sentence", "same_in_pieces", "softmax_on_the_run", "jacobian_of_a_row", "gradient_flows_back")

each_figure = pytest.mark.parametrize("name", [name for names in FIGURES.values() for name in names])


@pytest.mark.parametrize("page", FIGURES)
def test_all_figures_of_the_page_are_here(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- figure: (\w+) -->", text) == list(FIGURES[page])


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


# Caches.


@pytest.mark.parametrize(
    ("model", "n_weights"),
    [("Llama 2 7B", 6_738_415_616), ("Llama 3 8B", 8_030_261_248), ("Llama 2 70B", 68_976_648_192)],
)
def test_the_calculator_counts_as_many_weights_as_were_published(model: str, n_weights: int) -> None:
    assert inference._MODELS[model].n_weights == n_weights


def test_the_calculator_shows_what_the_library_counts() -> None:
    shown = LIVE["cache_calculator"].draw("Llama 2 70B", False, 8192, 8, "8 bits").svg
    assert kv_cache_bytes(8 * 8192, 80, 8, 128, 1) == 10 * 1024**3
    assert ">10\u00a0GiB<" in shown


def test_sharing_is_the_only_thing_that_the_switch_changes() -> None:
    shared, unshared = (
        LIVE["cache_calculator"].draw("Llama 3 8B", is_unshared, 4096, 1, "16 bits").svg
        for is_unshared in (False, True)
    )
    assert ">512\u00a0MiB<" in shared
    assert ">2\u00a0GiB<" in unshared
    plain = LIVE["cache_calculator"].draw
    assert plain("Llama 2 7B", False, 4096, 1, "16 bits") == plain("Llama 2 7B", True, 4096, 1, "16 bits")


@pytest.mark.parametrize("way", range(3))
def test_scores_are_counted_as_a_loop_counts_them(way: int) -> None:
    anew = [(n, i, j) for n in range(1, 13) for i in range(n) for j in range(n)]
    asked = [anew, [x for x in anew if x[2] <= x[1]], [x for x in anew if x[2] <= x[1] == x[0] - 1]][way]
    assert inference._counted(way, 12) == len(asked)


def test_the_lines_of_whole_texts_follow_what_a_cache_computes() -> None:
    n = inference._WINDOW + 7
    x = [[i / n] for i in range(n)]
    for name, window in (("with a cache", None), ("cache and window", inference._WINDOW)):
        cache = KVCache(MultiHeadAttention(1, 1), window=window)
        cache.extend(x)
        assert inference._closed(name, n) == cache.n_dots
    assert inference._closed("everything anew", 12) == inference._counted(0, 12)


# Cheaper attention.


@pytest.mark.parametrize("order", cheaper._ORDERS)
def test_in_every_order_the_run_ends_at_the_output_of_sat(order: str) -> None:
    assert "the mix ends at [10,\u00a02]." in LIVE["softmax_on_the_run"].draw(order).caption


@pytest.mark.parametrize("window", range(1, 9))
def test_each_layer_reaches_back_by_a_window_less_one(window: int) -> None:
    mask = sliding_window_mask(8, window=window)
    assert sum(cheaper._in_two_layers(mask)[-1]) == min(8, 1 + 2 * (window - 1))


def test_only_a_stride_alone_never_reaches_everybody() -> None:
    layers = {name: cheaper._layers_to_reach_all(mask) for name, mask in cheaper._patterns().items()}
    assert list(layers.values()) == ["1", "4", "never", "2", "4"]


def test_the_last_tile_is_followed_by_all_are_done() -> None:
    def shown(step: int) -> str:
        return unescape(LIVE["tiles_light_up"].draw(step, "2 × 2", True).svg)

    assert "tile 10 of 10" in shown(10)
    assert "all 10 tiles are done" in shown(11)
    assert shown(11).count(">output<") == 8


# Gradients.


def test_the_slope_of_the_picture_is_the_one_that_flows_back() -> None:
    example = worked_example_sentence()
    # With keys that are unit vectors, the query's gradient is that of its scores.
    unit = [[float(i == j) for j in range(3)] for i in range(3)]
    d_q = attention_gradients([example.scaled[2][:3]], unit, example.v[:3], [[1, 0]], scale=1).d_q[0]
    told = [unescape(LIVE["slope_you_can_see"].draw(word, 1).caption) for word in ("The", "cat", "sat")]
    assert d_q == pytest.approx([-0.5, 3, -2.5])
    assert [caption.rpartition("says ")[2] for caption in told] == ["−1/2.", "3.", "−5/2."]


def test_a_smaller_step_measures_the_slope_better() -> None:
    found = [
        float(re.findall(r"slope of (\d+\.\d+)", LIVE["slope_you_can_see"].draw("cat", h).caption)[0])
        for h in (2, 1, 0.5, 0.1)
    ]
    errors = [abs(slope - 3) for slope in found]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] <= 0.005
