from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from attention_primer import causal_mask, combine_masks, padding_mask, sliding_window_mask
from oracles import watched
from strategies import Mask, masks

counts = st.integers(1, 7)


@st.composite
def lengths(draw: st.DrawFn) -> tuple[int, int]:
    """Draw n_q and n_k with at least as many keys as queries."""
    n_q, past = draw(counts), draw(st.integers(0, 4))
    return n_q, n_q + past


@st.composite
def several_masks(draw: st.DrawFn, n_masks: int) -> list[Mask]:
    n_q, n_k = draw(counts), draw(counts)
    return [draw(masks(n_q, n_k)) for _ in range(n_masks)]


def seen(mask: Mask) -> list[set[int]]:
    """Say for each query which keys it may see: a second way to write a mask."""
    return [{j for j, visible in enumerate(row) if visible} for row in mask]


def size_of(mask: Mask) -> tuple[int, int]:
    (n_k,) = {len(row) for row in mask}
    return len(mask), n_k


@given(lengths())
def test_under_a_causal_mask_a_query_sees_all_keys_up_to_its_own_place(n: tuple[int, int]) -> None:
    n_q, n_k = n
    places = range(n_k - n_q, n_k)
    assert size_of(causal_mask(n_q, n_k)) == n
    assert seen(causal_mask(n_q, n_k)) == [set(range(place + 1)) for place in places]


@given(lengths())
def test_fewer_queries_see_what_the_last_rows_of_the_whole_triangle_see(n: tuple[int, int]) -> None:
    n_q, n_k = n
    assert causal_mask(n_q, n_k) == causal_mask(n_k)[n_k - n_q :]
    assert causal_mask(n_q) == causal_mask(n_q, n_q)


@given(counts, counts)
def test_a_longer_text_never_changes_what_the_earlier_words_see(n: int, more: int) -> None:
    longer = causal_mask(n + more)
    assert [row[:n] for row in longer[:n]] == causal_mask(n)
    assert not any(visible for row in longer[:n] for visible in row[n:])


@given(lengths(), counts)
def test_a_window_holds_a_query_and_the_nearest_keys_before_it(n: tuple[int, int], window: int) -> None:
    n_q, n_k = n
    places = range(n_k - n_q, n_k)
    assert size_of(sliding_window_mask(n_q, n_k, window=window)) == n
    assert seen(sliding_window_mask(n_q, n_k, window=window)) == [
        {j for j in range(n_k) if 0 <= place - j < window} for place in places
    ]


@given(lengths(), st.integers(0, 5))
def test_a_window_as_long_as_the_text_is_the_causal_mask(n: tuple[int, int], spare: int) -> None:
    n_q, n_k = n
    assert sliding_window_mask(n_q, n_k, window=n_k + spare) == causal_mask(n_q, n_k)
    assert sliding_window_mask(n_q, window=n_q + spare) == causal_mask(n_q)


@given(lengths(), counts)
def test_a_window_sees_no_more_than_a_wider_one_and_no_more_than_it_says(n: tuple[int, int], window: int) -> None:
    narrow = seen(sliding_window_mask(*n, window=window))
    wide = seen(sliding_window_mask(*n, window=window + 1))
    assert all(a <= b and 1 <= len(a) <= window for a, b in zip(narrow, wide, strict=True))


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.none() | counts)
def test_padding_hides_the_same_keys_from_every_query(is_real: list[bool], n_q: int | None) -> None:
    mask = padding_mask(is_real, n_q)
    assert size_of(mask) == (n_q or len(is_real), len(is_real))
    assert all(keys == {j for j, real in enumerate(is_real) if real} for keys in seen(mask))


@given(several_masks(3))
def test_combined_masks_show_what_all_of_them_show_in_any_order_and_grouping(given_masks: list[Mask]) -> None:
    together = combine_masks(*given_masks)
    assert seen(together) == [set.intersection(*keys) for keys in zip(*map(seen, given_masks), strict=True)]
    assert all(combine_masks(*order) == together for order in permutations(given_masks))
    a, b, c = given_masks
    assert combine_masks(combine_masks(a, b), c) == combine_masks(a, combine_masks(b, c)) == together


@given(several_masks(1))
def test_a_mask_combined_with_itself_or_with_one_that_hides_nothing_stays_as_it_is(given_masks: list[Mask]) -> None:
    (mask,) = given_masks
    shows_all = [[True] * len(row) for row in mask]
    assert combine_masks(mask) == combine_masks(mask, mask) == combine_masks(mask, shows_all) == mask


@given(several_masks(2), lengths(), counts)
def test_no_mask_changes_its_arguments_or_shares_a_row(
    given_masks: list[Mask], n: tuple[int, int], window: int
) -> None:
    watched(causal_mask, *n)
    watched(sliding_window_mask, *n, window=window)
    watched(padding_mask, given_masks[0][0], n[0])
    watched(combine_masks, *given_masks)


@given(several_masks(1))
def test_masks_and_truth_values_may_be_tuples(given_masks: list[Mask]) -> None:
    (mask,) = given_masks
    assert combine_masks(tuple(map(tuple, mask))) == mask
    assert padding_mask(tuple(mask[0])) == padding_mask(mask[0])
