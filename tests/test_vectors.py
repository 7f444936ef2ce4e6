from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_primer import dot, matmul, mix, shape, transpose
from oracles import TINY, U, bits, watched
from strategies import Table, matrices, numbers, sizes, vectors, whole_numbers

# Wide enough that a sum loses digits, not so wide that a product overflows.
spread_out = numbers | st.floats(-1e100, 1e100)


@st.composite
def pairs(draw: st.DrawFn, entries: st.SearchStrategy[float] = spread_out) -> tuple[list[float], list[float]]:
    d = draw(st.integers(1, 12))
    return draw(vectors(d, entries)), draw(vectors(d, entries))


@st.composite
def chains(draw: st.DrawFn, n_matrices: int, entries: st.SearchStrategy[float] = numbers) -> list[Table]:
    widths = [draw(sizes) for _ in range(n_matrices + 1)]
    return [draw(matrices(n, d, entries)) for n, d in pairwise(widths)]


def magnitudes(A: Table) -> Table:
    return [[abs(x) for x in row] for row in A]


@given(pairs())
def test_the_dot_product_commutes_to_the_last_bit(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair
    assert bits(dot(a, b)) == bits(dot(b, a))


@given(pairs())
def test_the_dot_product_misses_the_exact_sum_by_one_rounding_a_term_at_most(
    pair: tuple[list[float], list[float]],
) -> None:
    a, b = pair
    products = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
    bound = (len(a) + 1) * Fraction(U) * sum(map(abs, products)) + len(a) * Fraction(TINY)
    assert abs(Fraction(dot(a, b)) - sum(products)) <= bound


@pytest.mark.parametrize("signs", [(1, 1), (-1, -1), (1, -1)])
def test_a_sum_that_grows_past_what_a_float_can_hold_is_refused_whatever_its_signs(signs: tuple[int, int]) -> None:
    huge = [sign * 1e308 for sign in signs]
    for run in (
        lambda: dot(huge, [10, 10]),
        lambda: mix([10, 10], [[x] for x in huge]),
        lambda: matmul([huge], [[10], [10]]),
    ):
        with pytest.raises(ValueError, match="a sum of products overflows"):
            run()


@given(pairs(whole_numbers))
def test_the_dot_product_of_whole_numbers_is_exact(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair
    assert dot(a, b) == sum(int(x) * int(y) for x, y in zip(a, b, strict=True))


@given(pairs(whole_numbers), st.integers(-9, 9))
def test_the_dot_product_is_linear(pair: tuple[list[float], list[float]], factor: int) -> None:
    a, b = pair
    assert dot([factor * x for x in a], b) == factor * dot(a, b)
    assert dot([x + y for x, y in zip(a, b, strict=True)], b) == dot(a, b) + dot(b, b)


@given(chains(2, spread_out))
def test_a_row_of_a_product_is_a_mix_of_rows_and_an_entry_is_a_dot_with_a_column(chain: list[Table]) -> None:
    A, B = chain
    product = matmul(A, B)
    assert bits(product) == bits([mix(row, B) for row in A])
    assert bits(product) == bits([[dot(row, column) for column in transpose(B)] for row in A])


@given(chains(2))
def test_a_product_has_the_rows_of_the_first_and_the_columns_of_the_second(chain: list[Table]) -> None:
    A, B = chain
    assert shape(matmul(A, B)) == (len(A), len(B[0]))


@given(chains(1, st.floats(allow_nan=False)))
def test_transposing_swaps_places_and_twice_gives_the_matrix_back(chain: list[Table]) -> None:
    (A,) = chain
    turned = transpose(A)
    assert shape(turned) == shape(A)[::-1]
    assert all(turned[j][i] == x for i, row in enumerate(A) for j, x in enumerate(row))
    assert bits(transpose(turned)) == bits(A)


@given(chains(2, spread_out))
def test_a_transposed_product_is_the_product_of_the_transposed_in_reverse(chain: list[Table]) -> None:
    A, B = chain
    assert bits(transpose(matmul(A, B))) == bits(matmul(transpose(B), transpose(A)))


@given(chains(3, whole_numbers))
def test_products_of_whole_numbers_may_be_bracketed_either_way(chain: list[Table]) -> None:
    A, B, C = chain
    assert matmul(matmul(A, B), C) == matmul(A, matmul(B, C))


@given(chains(3))
def test_products_may_be_bracketed_either_way_but_for_a_rounding_a_step(chain: list[Table]) -> None:
    A, B, C = chain
    left, right = matmul(matmul(A, B), C), matmul(A, matmul(B, C))
    sizes_of_sums = matmul(magnitudes(A), matmul(magnitudes(B), magnitudes(C)))
    bound = 2 * (len(B) + len(C) + 2) * U
    for left_row, right_row, size_row in zip(left, right, sizes_of_sums, strict=True):
        for x, y, size in zip(left_row, right_row, size_row, strict=True):
            assert abs(x - y) <= bound * size + 256 * TINY  # an underflow is multiplied, too


@given(chains(1, spread_out))
def test_the_identity_changes_nothing(chain: list[Table]) -> None:
    (A,) = chain
    n, d = shape(A)
    assert matmul([[float(i == j) for j in range(n)] for i in range(n)], A) == A
    assert matmul(A, [[float(i == j) for j in range(d)] for i in range(d)]) == A


@given(chains(1), st.data())
def test_a_mix_by_shares_stays_between_the_least_and_the_largest(chain: list[Table], data: st.DataObject) -> None:
    (rows,) = chain
    parts = data.draw(st.lists(st.integers(0, 8), min_size=len(rows), max_size=len(rows)).filter(any))
    mixed = mix([part / sum(parts) for part in parts], rows)
    for x, column in zip(mixed, zip(*rows, strict=True), strict=True):
        used = [y for y, part in zip(column, parts, strict=True) if part]
        slack = (len(rows) + 2) * U * max(map(abs, used)) + TINY
        assert min(used) - slack <= x <= max(used) + slack


@given(chains(2))
def test_no_function_changes_an_argument_or_hands_out_a_list_twice(chain: list[Table]) -> None:
    A, B = chain
    watched(matmul, A, B)
    watched(mix, A[0], B)
    watched(dot, A[0], [row[0] for row in B])
    watched(transpose, A)
    watched(shape, A)


@given(chains(2, whole_numbers))
def test_whole_numbers_tuples_and_fractions_are_as_good_as_lists_of_floats(chain: list[Table]) -> None:
    A, B = chain
    by_tuples = matmul(tuple(tuple(map(int, row)) for row in A), tuple(tuple(map(Fraction, row)) for row in B))  # type: ignore[arg-type]
    assert bits(by_tuples) == bits(matmul(A, B))
