r"""Look several times at once: multi-head attention, with shared keys and values if wanted.

$$\text{head}_h = \text{Attention}(X W_q^h,\; X W_k^{h'},\; X W_v^{h'}), \qquad
\text{output} = [\text{head}_0, \dots, \text{head}_{H-1}]\, W_o$$

| n_kv_heads | name | source |
|---|---|---|
| as many as n_heads | multi-head, MHA | Vaswani et al., 2017, *Attention Is All You Need* |
| fewer | grouped-query, GQA | Ainslie et al., 2023, *GQA: Training Generalized Multi-Query Transformer Models …* |
| 1 | multi-query, MQA | Shazeer, 2019, *Fast Transformer Decoding: One Write-Head is All You Need* |
"""

from collections.abc import Sequence
from functools import cached_property
from math import sqrt
from random import Random
from typing import Self

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.checks import (
    Mask,
    Matrix,
    ShapeError,
    Vector,
    entries,
    finite_matrix,
    finite_vector,
    in_range,
    matrix,
    size,
)
from attention_primer.vectors import shape, sumprod

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention:
    r"""Project, cut into heads, attend in each, glue together, project back.

    One row of shares is one compromise; several heads need none. Each head reads the whole of x through its own
    columns of the matrices. Heads may share keys and values: query head h reads KV head h // (n_heads // n_kv_heads).

    Args:
        d_model: The width of x.
        n_heads: How many query heads; they share d_model evenly.
        n_kv_heads: How many heads of keys and values; it must divide n_heads. Defaults to n_heads.
        seed: Where the random weights start from. They are drawn when they are first used.

    Raises:
        ShapeError: If n_heads does not divide d_model, or n_kv_heads does not divide n_heads.
        TypeError: If a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        Two heads on a width of four; the output is as wide as x:

        >>> mha = MultiHeadAttention(4, 2)
        >>> x = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
        >>> shape(mha(x))
        (3, 4)

        Sharing keys and values shrinks their weights: an eighth of the heads, an eighth of the numbers:

        >>> MultiHeadAttention(64, 8, n_kv_heads=1).kv_params, MultiHeadAttention(64, 8).kv_params
        (1024, 8192)

        Heads must divide the width:

        >>> MultiHeadAttention(10, 4)
        Traceback (most recent call last):
        attention_primer.ShapeError: d_model is 10 and n_heads is 4: the heads must divide the width evenly
    """

    b_q: list[float] | None = None
    b_k: list[float] | None = None
    b_v: list[float] | None = None
    b_o: list[float] | None = None

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int | None = None, *, seed: int = 0) -> None:
        self.d_model = self.d_context = size(d_model, "d_model")
        self.n_heads, self.n_kv_heads = _head_counts(n_heads, n_kv_heads)
        if self.d_model % self.n_heads:
            raise ShapeError(
                f"d_model is {self.d_model} and n_heads is {self.n_heads}: the heads must divide the width evenly"
            )
        self.d_k = self.d_v = self.d_model // self.n_heads
        self._seed = size(seed, "seed", least=0)

    @classmethod
    def from_weights(
        cls,
        W_q: Matrix,
        W_k: Matrix,
        W_v: Matrix,
        W_o: Matrix,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        b_q: Vector | None = None,
        b_k: Vector | None = None,
        b_v: Vector | None = None,
        b_o: Vector | None = None,
    ) -> Self:
        """Build it from weights of your own, of any shapes that fit together.

        A row vector times a matrix, so W_q has a row for each number of x. Columns belong to heads in order: with a
        head width of 64, columns 0 to 63 are head 0.

        Args:
            W_q: (d_model, n_heads·d_k).
            W_k: (d_context, n_kv_heads·d_k).
            W_v: (d_context, n_kv_heads·d_v).
            W_o: (n_heads·d_v, d_out).
            n_heads: How many query heads.
            n_kv_heads: How many heads of keys and values. Defaults to n_heads.
            b_q: Added to every query, (n_heads·d_k,). Likewise b_k, b_v and b_o. Left out, nothing is added.
            b_k: (n_kv_heads·d_k,).
            b_v: (n_kv_heads·d_v,).
            b_o: (d_out,).

        Returns:
            A MultiHeadAttention with copies of these weights.

        Raises:
            ShapeError: If the shapes don't fit together.
            TypeError: If a weight is not made of numbers.
            ValueError: If a weight is NaN or infinite.

        Examples:
            With the identity everywhere, one token sees itself and stays itself:

            >>> identity = [[1, 0], [0, 1]]
            >>> mha = MultiHeadAttention.from_weights(identity, identity, identity, identity, n_heads=2)
            >>> mha([[3, 4]])
            [[3.0, 4.0]]

            Columns must split evenly over the heads:

            >>> MultiHeadAttention.from_weights(identity, identity, identity, identity, n_heads=3)
            Traceback (most recent call last):
            attention_primer.ShapeError: W_q is (2, 2): its columns must split evenly over 3 heads
        """
        mha = cls.__new__(cls)
        mha.n_heads, mha.n_kv_heads = _head_counts(n_heads, n_kv_heads)
        mha.W_q, mha.W_k = finite_matrix(W_q, "W_q"), finite_matrix(W_k, "W_k")
        mha.W_v, mha.W_o = finite_matrix(W_v, "W_v"), finite_matrix(W_o, "W_o")
        mha.d_model, mha.d_context = len(mha.W_q), len(mha.W_k)
        mha.d_k = _width_of_a_head(mha.W_q, "W_q", mha.n_heads)
        mha.d_v = _width_of_a_head(mha.W_v, "W_v", mha.n_kv_heads)
        _require_shape(mha.W_k, "W_k", mha.d_context, mha.n_kv_heads * mha.d_k)
        _require_shape(mha.W_v, "W_v", mha.d_context, mha.n_kv_heads * mha.d_v)
        _require_shape(mha.W_o, "W_o", mha.n_heads * mha.d_v, len(mha.W_o[0]))
        mha.b_q, mha.b_k = _bias_of(mha.W_q, b_q, "b_q"), _bias_of(mha.W_k, b_k, "b_k")
        mha.b_v, mha.b_o = _bias_of(mha.W_v, b_v, "b_v"), _bias_of(mha.W_o, b_o, "b_o")
        return mha

    @cached_property
    def W_q(self) -> list[list[float]]:
        """(d_model, n_heads·d_k): what each token asks."""
        return self._drawn("W_q", self.d_model, self.n_heads * self.d_k)

    @cached_property
    def W_k(self) -> list[list[float]]:
        """(d_context, n_kv_heads·d_k): what each token offers."""
        return self._drawn("W_k", self.d_context, self.n_kv_heads * self.d_k)

    @cached_property
    def W_v(self) -> list[list[float]]:
        """(d_context, n_kv_heads·d_v): what each token hands over."""
        return self._drawn("W_v", self.d_context, self.n_kv_heads * self.d_v)

    @cached_property
    def W_o(self) -> list[list[float]]:
        """(n_heads·d_v, d_out): where heads talk to each other."""
        return self._drawn("W_o", self.n_heads * self.d_v, self.d_model)

    @property
    def kv_params(self) -> int:
        """How many weights W_k and W_v hold together; counted without drawing them, biases left out.

        Examples:
            The shape of Llama 3 8B, whose 32 query heads share 8 heads of keys and values:

            >>> MultiHeadAttention(4096, 32, 8).kv_params
            8388608
        """
        return self.d_context * self.n_kv_heads * (self.d_k + self.d_v)

    def __call__(
        self, x: Matrix, mask: Mask | None = None, *, context: Matrix | None = None, bias: Matrix | None = None
    ) -> list[list[float]]:
        """Let every token of x look around, and hand back one new vector for each.

        Args:
            x: (n, d_model), one row a token.
            mask: (n, n_k) booleans; True = may see. By default all see all.
            context: (n_k, d_context), where keys and values come from. Defaults to x itself; another sequence makes
                it cross-attention.
            bias: (n, n_k) numbers added to the scaled scores of every head; −∞ hides.

        Returns:
            (n, d_out), which is (n, d_model) unless the weights say otherwise.

        Raises:
            ShapeError: If an argument is empty or ragged, or the shapes don't fit.
            TypeError: If an argument is not made of numbers, or the mask not of booleans.
            ValueError: If a query may see no key, or something that it may see is NaN or infinite.

        Examples:
            It glues the heads' outputs together, token by token, and multiplies by W_o:

            >>> mha = MultiHeadAttention(4, 2)
            >>> x = [[1, 0, 0, 1], [0, 1, 1, 0]]
            >>> mha(x) == mha.join([head.output for head in mha.attend(x)])
            True
        """
        return self.join([head.output for head in self.attend(x, mask, context=context, bias=bias)])

    def attend(
        self, x: Matrix, mask: Mask | None = None, *, context: Matrix | None = None, bias: Matrix | None = None
    ) -> list[Attention]:
        """Give each head's own output and weights, before they are glued and mixed.

        Args:
            x: (n, d_model), one row a token.
            mask: (n, n_k) booleans; True = may see. By default all see all.
            context: (n_k, d_context), where keys and values come from. Defaults to x.
            bias: (n, n_k) numbers added to the scaled scores of every head; −∞ hides.

        Returns:
            n_heads attentions, each with output, (n, d_v), and weights, (n, n_k).

        Raises:
            ShapeError: If an argument is empty or ragged, or the shapes don't fit.
            TypeError: If an argument is not made of numbers, or the mask not of booleans.
            ValueError: If a query may see no key, or something that it may see is NaN or infinite.

        Examples:
            The weights are those of one head, never an average over heads:

            >>> from attention_primer.masks import causal_mask
            >>> first, second = MultiHeadAttention(4, 2).attend([[1, 0, 0, 1], [0, 1, 1, 0]], causal_mask(2))
            >>> first.weights[0], second.weights[0]
            ([1.0, 0.0], [1.0, 0.0])
            >>> first.weights[1] == second.weights[1]
            False
        """
        if context is None:
            context = x
            if self.d_context != self.d_model:
                raise ShapeError(f"no context was given: keys and values need one that is {self.d_context} wide")
        return grouped_attention(self.queries(x), self.keys(context), self.values(context), mask, bias=bias)

    def queries(self, x: Matrix) -> list[list[list[float]]]:
        """Compute what each token asks, head by head.

        Args:
            x: (n, d_model), one row a token.

        Returns:
            n_heads matrices, (n, d_k) each.

        Raises:
            ShapeError: If x is empty, ragged or of another width.
            TypeError: If x is not made of numbers.
            ValueError: If x holds NaN or infinity, or a sum is too large for a float.

        Examples:
            A head owns neighboring columns, in order:

            >>> identity = [[float(i == j) for j in range(4)] for i in range(4)]
            >>> mha = MultiHeadAttention.from_weights(identity, identity, identity, identity, n_heads=2)
            >>> mha.queries([[1, 2, 3, 4]])
            [[[1.0, 2.0]], [[3.0, 4.0]]]
        """
        x = _as_wide(finite_matrix(x, "x"), "x", self.d_model)
        return _split([in_range(row) for row in _projected(x, self.W_q, self.b_q)], self.d_k)

    def keys(self, context: Matrix) -> list[list[list[float]]]:
        """Compute what each token offers, one matrix a KV head.

        Args:
            context: (n_k, d_context), one row a token. A row may hold NaN as long as a mask hides it.

        Returns:
            n_kv_heads matrices, (n_k, d_k) each.

        Raises:
            ShapeError: If the context is empty, ragged or of another width.
            TypeError: If the context is not made of numbers.

        Examples:
            Four query heads may share two heads of keys:

            >>> len(MultiHeadAttention(8, 4, n_kv_heads=2).keys([[1] * 8]))
            2
        """
        context = _as_wide(matrix(context, "context"), "context", self.d_context)
        return _split(_projected(context, self.W_k, self.b_k), self.d_k)

    def values(self, context: Matrix) -> list[list[list[float]]]:
        """Compute what each token hands over, one matrix a KV head.

        Args:
            context: (n_k, d_context), one row a token. A row may hold NaN as long as a mask hides it.

        Returns:
            n_kv_heads matrices, (n_k, d_v) each.

        Raises:
            ShapeError: If the context is empty, ragged or of another width.
            TypeError: If the context is not made of numbers.

        Examples:
            Three tokens, heads of width two:

            >>> shape(MultiHeadAttention(8, 4).values([[1] * 8] * 3)[0])
            (3, 2)
        """
        context = _as_wide(matrix(context, "context"), "context", self.d_context)
        return _split(_projected(context, self.W_v, self.b_v), self.d_v)

    def join(self, outputs: Sequence[Matrix]) -> list[list[float]]:
        """Glue the heads' outputs together, token by token, and mix them by W_o.

        Args:
            outputs: n_heads matrices, (n, d_v) each.

        Returns:
            (n, d_out).

        Raises:
            ShapeError: If there is not one output a head, or they don't fit W_o.
            TypeError: If an output is not made of numbers.
            ValueError: If an output holds NaN or infinity, or a sum is too large for a float.

        Examples:
            Head 0 fills the first columns, head 1 the next:

            >>> identity = [[float(i == j) for j in range(4)] for i in range(4)]
            >>> mha = MultiHeadAttention.from_weights(identity, identity, identity, identity, n_heads=2)
            >>> mha.join([[[1, 2]], [[3, 4]]])
            [[1.0, 2.0, 3.0, 4.0]]
        """
        outputs = entries(outputs, "outputs", "heads' outputs")  # type: ignore[assignment]  # checked one by one below
        if len(outputs) != self.n_heads:
            raise ShapeError(f"{len(outputs)} outputs for {self.n_heads} heads: there must be one a head")
        names = [f"outputs[{h}]" for h in range(self.n_heads)]
        heads = [_as_wide(finite_matrix(o, name), name, self.d_v) for name, o in zip(names, outputs, strict=True)]
        if len({len(head) for head in heads}) != 1:
            raise ShapeError(f"outputs have {[len(head) for head in heads]} rows: all heads must have the same tokens")
        glued = [[x for row in rows for x in row] for rows in zip(*heads, strict=True)]
        return [in_range(row) for row in _projected(glued, self.W_o, self.b_o)]

    def _drawn(self, name: str, n_rows: int, n_columns: int) -> list[list[float]]:
        # Dividing by √n_rows keeps the spread of x: a sum of n_rows products would be √n_rows times as wide.
        rng = Random(f"{self._seed} {name}")
        return [[rng.gauss(0, 1) / sqrt(n_rows) for _ in range(n_columns)] for _ in range(n_rows)]


def grouped_attention(
    q: Sequence[Matrix],
    k: Sequence[Matrix],
    v: Sequence[Matrix],
    mask: Mask | None = None,
    *,
    bias: Matrix | None = None,
) -> list[Attention]:
    """Attend with several query heads on as many heads of keys and values, or fewer.

    Query head h reads KV head h // (n_heads // n_kv_heads), so neighbors share.

    Args:
        q: n_heads matrices, (n_q, d_k) each.
        k: n_kv_heads matrices, (n_k, d_k) each.
        v: n_kv_heads matrices, (n_k, d_v) each.
        mask: (n_q, n_k) booleans, the same for all heads; True = may see.
        bias: (n_q, n_k) numbers added to the scaled scores of every head; −∞ hides.

    Returns:
        n_heads attentions.

    Raises:
        ShapeError: If the heads don't divide evenly, or an argument doesn't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, or something that it may see is NaN or infinite.

    Examples:
        Four query heads on two heads of values: the first two read 5, the last two read 7:

        >>> [head.output[0][0] for head in grouped_attention([[[1]]] * 4, [[[1]]] * 2, [[[5]], [[7]]])]
        [5.0, 5.0, 7.0, 7.0]
    """
    n_heads, n_kv_heads = _head_counts(len(q), len(k))
    if len(v) != n_kv_heads:
        raise ShapeError(f"{len(k)} heads of keys and {len(v)} of values: there must be as many of both")
    group = n_heads // n_kv_heads
    return [scaled_dot_product_attention(q[h], k[h // group], v[h // group], mask, bias=bias) for h in range(n_heads)]


def _head_counts(n_heads: int, n_kv_heads: int | None) -> tuple[int, int]:
    n_heads = size(n_heads, "n_heads")
    n_kv_heads = n_heads if n_kv_heads is None else size(n_kv_heads, "n_kv_heads")
    if n_heads % n_kv_heads:
        raise ShapeError(f"n_heads is {n_heads} and n_kv_heads is {n_kv_heads}: the second must divide the first")
    return n_heads, n_kv_heads


def _width_of_a_head(W: list[list[float]], name: str, n_heads: int) -> int:
    if len(W[0]) % n_heads:
        raise ShapeError(f"{name} is {shape(W)}: its columns must split evenly over {n_heads} heads")
    return len(W[0]) // n_heads


def _require_shape(W: list[list[float]], name: str, n_rows: int, n_columns: int) -> None:
    if shape(W) != (n_rows, n_columns):
        raise ShapeError(f"{name} is {shape(W)}: to fit the other weights it must be ({n_rows}, {n_columns})")


def _bias_of(W: list[list[float]], b: Vector | None, name: str) -> list[float] | None:
    if b is None:
        return None
    b = finite_vector(b, name)
    if len(b) != len(W[0]):
        raise ShapeError(f"{name} has {len(b)} entries: it must have {len(W[0])}, one a column")
    return b


def _as_wide(x: list[list[float]], name: str, width: int) -> list[list[float]]:
    # Asked before any weight is: drawing the weights of a large model would take a while.
    if len(x[0]) != width:
        raise ShapeError(f"{name} is {shape(x)}: its rows must be {width} wide")
    return x


def _projected(x: list[list[float]], W: list[list[float]], b: list[float] | None) -> list[list[float]]:
    columns = list(zip(*W, strict=True))
    b = [0.0] * len(columns) if b is None else b
    return [[sumprod(row, column) + b_c for column, b_c in zip(columns, b, strict=True)] for row in x]


def _split(projected: list[list[float]], width: int) -> list[list[list[float]]]:
    return [[row[c : c + width] for row in projected] for c in range(0, len(projected[0]), width)]
