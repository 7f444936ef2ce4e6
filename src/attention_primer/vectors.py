"""Multiply lists of numbers: all the linear algebra that attention needs.

A vector is a list of numbers, a matrix is a list of rows. Shapes are written (rows, columns).

| function | in one line |
|---|---|
| [`dot`][attention_primer.vectors.dot] | how well two lists agree, as one number |
| [`mix`][attention_primer.vectors.mix] | rows, each weighed by its share, added up to one row |
| [`matmul`][attention_primer.vectors.matmul] | every row of A mixes the rows of B |
| [`transpose`][attention_primer.vectors.transpose] | rows become columns |
| [`shape`][attention_primer.vectors.shape] | how many rows, how many columns |
"""

import sys

from attention_primer.checks import Matrix, ShapeError, Vector, finite_matrix, finite_vector, in_range, matrix

__all__ = ["dot", "matmul", "mix", "shape", "transpose"]

if sys.version_info >= (3, 12):
    from math import sumprod

    quick_sumprod = sumprod
else:  # before Python 3.12
    from math import fsum
    from operator import mul

    def quick_sumprod(p: Vector, q: Vector) -> float:
        """Add up products with a rounding at each step: twice as quick, and good enough for scores."""
        total: float = sum(map(mul, p, q))
        return total

    def sumprod(p: Vector, q: Vector) -> float:
        """Add up products as `math.sumprod` does from Python 3.12 on: a sum of floats rounds once, at its end."""
        if type(p[0]) is type(q[0]) is float:
            try:
                return fsum(map(mul, p, q))
            except (OverflowError, ValueError):
                pass  # an infinity on the way: the plain sum shows it
        return quick_sumprod(p, q)


def dot(a: Vector, b: Vector) -> float:
    r"""Multiply two vectors entry by entry and add up the products.

    $$a \cdot b = \sum_c a_c\, b_c$$

    The sum is large when both lists are large in the same places, zero when they have nothing in common, negative
    when they pull in opposite directions. A score of attention is such a sum.

    Args:
        a: (d,) numbers.
        b: (d,) numbers.

    Returns:
        One float. Swapping a and b changes nothing.

    Raises:
        ShapeError: If the lengths differ or a list is empty.
        TypeError: If an argument is not a list of numbers.
        ValueError: If an entry is NaN or infinite, or the sum is too large for a float.

    Examples:
        One times three and two times a half:

        >>> dot([1, 2], [3, 0.5])
        4.0

        Orthogonal vectors have nothing in common:

        >>> dot([1, 0], [0, 1])
        0.0

        Both lists must be equally long:

        >>> dot([1, 2], [3])
        Traceback (most recent call last):
        attention_primer.ShapeError: dot of 2 and 1 numbers: both vectors must have the same length
    """
    a, b = finite_vector(a, "a"), finite_vector(b, "b")
    if len(a) != len(b):
        raise ShapeError(f"dot of {len(a)} and {len(b)} numbers: both vectors must have the same length")
    return in_range([sumprod(a, b)])[0]


def mix(shares: Vector, rows: Matrix) -> list[float]:
    r"""Weigh each row by its share and add them up.

    $$\text{mix}(s, R)_c = \sum_j s_j\, R_{jc}$$

    This is what attention hands back: a mix of values. It is also what a row vector times a matrix does, with the
    vector as the recipe and the rows of the matrix as the ingredients.

    Args:
        shares: (n,) numbers, one a row. They may be any numbers; shares of attention sum to 1.
        rows: (n, d) numbers.

    Returns:
        (d,) floats. With shares that sum to 1 and are not negative, each lies between the least and the largest
        entry of its column.

    Raises:
        ShapeError: If there is not one share a row, or the rows are empty or ragged.
        TypeError: If an argument is not made of numbers.
        ValueError: If an entry is NaN or infinite, or a sum is too large for a float.

    Examples:
        A quarter of the first row, half of the second, a quarter of the third:

        >>> mix([0.25, 0.5, 0.25], [[8, 0], [16, 0], [0, 8]])
        [10.0, 2.0]

        None of row 0, one of row 1, one of row 2:

        >>> mix([0, 1, 1], [[5, 5], [1, 2], [3, 4]])
        [4.0, 6.0]

        Each row needs a share:

        >>> mix([0.5], [[1, 2], [3, 4]])
        Traceback (most recent call last):
        attention_primer.ShapeError: 1 share for 2 rows: each row must have one share
    """
    shares, rows = finite_vector(shares, "shares"), finite_matrix(rows, "rows")
    if len(shares) != len(rows):
        plural = "" if len(shares) == 1 else "s"
        raise ShapeError(f"{len(shares)} share{plural} for {len(rows)} rows: each row must have one share")
    return in_range([sumprod(shares, column) for column in zip(*rows, strict=True)])


def matmul(A: Matrix, B: Matrix) -> list[list[float]]:
    r"""Multiply two matrices: every row of A is a recipe that mixes the rows of B.

    $$(AB)_{ij} = \sum_c A_{ic}\, B_{cj}$$

    Args:
        A: (n, m) numbers.
        B: (m, d) numbers.

    Returns:
        (n, d) floats; row i is `mix(A[i], B)`, and entry j of it is the dot product of A[i] with column j of B.

    Raises:
        ShapeError: If A is not as wide as B is high, or a matrix is empty or ragged.
        TypeError: If an argument is not a list of lists of numbers.
        ValueError: If an entry is NaN or infinite, or a sum is too large for a float.

    Examples:
        The first row takes one of everything, the second only the last row:

        >>> matmul([[1, 1], [0, 1]], [[1, 2], [3, 4]])
        [[4.0, 6.0], [3.0, 4.0]]

        A has as many columns as B has rows:

        >>> matmul([[1, 2, 3]], [[1, 2], [3, 4]])
        Traceback (most recent call last):
        attention_primer.ShapeError: A is (1, 3) and B is (2, 2): A must have as many columns as B has rows
    """
    A, B = finite_matrix(A, "A"), finite_matrix(B, "B")
    if len(A[0]) != len(B):
        raise ShapeError(f"A is {shape(A)} and B is {shape(B)}: A must have as many columns as B has rows")
    columns = list(zip(*B, strict=True))
    return [in_range([sumprod(row, column) for column in columns]) for row in A]


def transpose(A: Matrix) -> list[list[float]]:
    r"""Turn rows into columns.

    $$(A^\top)_{ij} = A_{ji}$$

    Args:
        A: (n, d) numbers.

    Returns:
        (d, n) floats; transposing twice gives A back.

    Raises:
        ShapeError: If A is empty or ragged.
        TypeError: If A is not a list of lists of numbers.

    Examples:
        Two rows of three become three rows of two:

        >>> transpose([[1, 2, 3], [4, 5, 6]])
        [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]

        A flat list has no columns; put it in brackets first:

        >>> transpose([1, 2, 3])
        Traceback (most recent call last):
        TypeError: A[0] is 1: it must be a list of numbers
    """
    return [list(column) for column in zip(*matrix(A, "A"), strict=True)]


def shape(A: Matrix) -> tuple[int, int]:
    """Count the rows and the columns.

    Args:
        A: (n, d) numbers.

    Returns:
        The pair (n, d).

    Raises:
        ShapeError: If A is empty or ragged.
        TypeError: If A is not a list of lists of numbers.

    Examples:
        Two rows of three numbers:

        >>> shape([[1, 2, 3], [4, 5, 6]])
        (2, 3)

        Rows of different lengths have no shape:

        >>> shape([[1, 2, 3], [4, 5]])
        Traceback (most recent call last):
        attention_primer.ShapeError: A[1] has 2 entries and A[0] has 3: all rows must be equally long
    """
    rows = matrix(A, "A")
    return len(rows), len(rows[0])
