"""Remember keys and values, so that each new token asks once and nothing is computed twice.

The past never changes when words are added: a causal mask sees to that. So its keys and values can be kept, and only
its queries are gone for good, since nobody asks for them again.
"""

from attention_primer.checks import Matrix, ShapeError, shown, size
from attention_primer.heads import MultiHeadAttention, grouped_attention
from attention_primer.masks import causal_mask, sliding_window_mask

__all__ = ["KVCache"]


class KVCache:
    """Read a text piece by piece through one layer, and keep the keys and values of what was read.

    Every token sees itself and its past, or the last few of them if there is a window. Pieces may be of any length:
    the whole prompt, then one token at a time. A cache belongs to one layer and one text; build one for each.

    Args:
        mha: The layer. It must make queries, keys and values from one x.
        window: How many tokens each may see, itself included. Defaults to the whole past. A token that nobody will see
            again is dropped.
        capacity: How many tokens the cache may hold at once, while it reads as well. Defaults to no limit.

    Attributes:
        mha: The layer.
        window: As given.
        capacity: As given.
        n_dots: How many dot products of a query with a key were computed so far, in all heads.

    Raises:
        ShapeError: If the layer takes its keys and values from rows of another width than its queries.
        TypeError: If mha is not a MultiHeadAttention, or a count is not a whole number.
        ValueError: If a count is below 1.

    Examples:
        A prompt of two tokens, then one more: the same rows as all three at once, to the last bit:

        >>> from attention_primer import causal_mask
        >>> mha = MultiHeadAttention(4, 2)
        >>> x = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
        >>> cache = KVCache(mha)
        >>> cache.extend(x[:2]) + cache.extend(x[2:]) == mha(x, causal_mask(3))
        True

        With a window of two, the third token pushes out the first:

        >>> rolling = KVCache(mha, window=2)
        >>> outputs = [rolling.extend([row])[0] for row in x]
        >>> rolling.positions
        range(1, 3)

        One token is a piece with one row, so it goes into brackets:

        >>> cache.extend(x[2])
        Traceback (most recent call last):
        TypeError: x[0] is 1: it must be a list of numbers
    """

    def __init__(self, mha: MultiHeadAttention, *, window: int | None = None, capacity: int | None = None) -> None:
        if not isinstance(mha, MultiHeadAttention):
            raise TypeError(f"mha is {shown(mha)}: it must be a MultiHeadAttention")
        if mha.d_model != mha.d_context:
            raise ShapeError(
                f"queries come from rows of width {mha.d_model}, keys from {mha.d_context}: "
                "a cache needs a layer that makes both from one x"
            )
        self.mha = mha
        self.window = None if window is None else size(window, "window")
        self.capacity = None if capacity is None else size(capacity, "capacity")
        self.n_dots = 0
        self._n_read = 0
        self._k: list[list[list[float]]] = [[] for _ in range(mha.n_kv_heads)]
        self._v: list[list[list[float]]] = [[] for _ in range(mha.n_kv_heads)]

    @property
    def positions(self) -> range:
        """Where the tokens stand in the text whose keys and values are kept.

        Examples:
            All that was read, if there is no window:

            >>> cache = KVCache(MultiHeadAttention(4, 2))
            >>> outputs = cache.extend([[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]])
            >>> cache.positions
            range(0, 3)
        """
        return range(self._n_read - len(self._k[0]), self._n_read)

    @property
    def n_numbers(self) -> int:
        """How many numbers are kept: one key and one value for each KV head and token.

        Examples:
            Two heads of width two make eight numbers a token; one shared head makes four:

            >>> for n_kv_heads in (2, 1):
            ...     cache = KVCache(MultiHeadAttention(4, 2, n_kv_heads))
            ...     outputs = cache.extend([[1, 0, 0, 1]])
            ...     cache.n_numbers
            8
            4
        """
        return sum(len(row) for heads in (self._k, self._v) for head in heads for row in head)

    def extend(self, x: Matrix) -> list[list[float]]:
        """Read the next piece of the text.

        Only the new tokens ask. Their keys and values join the kept ones, and stay.

        Args:
            x: (n_new, d_model), one row a token, in order.

        Returns:
            (n_new, d_out), what the layer hands back for the new tokens. They equal the rows of the whole text under
            a causal mask, or under a sliding window, to the last bit.

        Raises:
            ShapeError: If x is empty, ragged or of another width.
            TypeError: If x is not made of numbers.
            ValueError: If x holds NaN or infinity, or there is no room for the new tokens. After any error the cache is
                as it was.

        Examples:
            Four tokens, one at a time, ask ten times, as 1 + 2 + 3 + 4:

            >>> x = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
            >>> mha = MultiHeadAttention(4, 1)
            >>> cache = KVCache(mha)
            >>> outputs = [cache.extend([row])[0] for row in x]
            >>> cache.n_dots
            10

            Without a memory, every step starts over:

            >>> n_dots = 0
            >>> for n in range(1, 5):
            ...     forgetful = KVCache(mha)
            ...     outputs = forgetful.extend(x[:n])
            ...     n_dots += forgetful.n_dots
            >>> n_dots
            20

            A full cache takes nothing, and loses nothing:

            >>> small = KVCache(mha, capacity=3)
            >>> outputs = small.extend(x[:3])
            >>> small.extend(x[3:])
            Traceback (most recent call last):
            ValueError: 3 tokens kept and 1 new: the cache has room for 3
            >>> small.positions
            range(0, 3)
        """
        q, new_k, new_v = self.mha.queries(x), self.mha.keys(x), self.mha.values(x)
        n_new, n_kept = len(q[0]), len(self._k[0])
        # What the first new token can't see, no later one can: a window never turns back.
        n_past = n_kept if self.window is None else min(n_kept, self.window - 1)
        if self.capacity is not None and n_past + n_new > self.capacity:
            raise ValueError(f"{n_past} tokens kept and {n_new} new: the cache has room for {self.capacity}")
        k = [old[n_kept - n_past :] + new for old, new in zip(self._k, new_k, strict=True)]
        v = [old[n_kept - n_past :] + new for old, new in zip(self._v, new_v, strict=True)]
        mask = self._mask(n_new, n_past + n_new)
        output = self.mha.join([head.output for head in grouped_attention(q, k, v, mask)])

        # Nothing can fail from here on, so an error never leaves half a piece behind.
        self._k, self._v = [self._latest(head) for head in k], [self._latest(head) for head in v]
        self._n_read += n_new
        self.n_dots += self.mha.n_heads * sum(map(sum, mask))
        return output

    def _mask(self, n_q: int, n_k: int) -> list[list[bool]]:
        return causal_mask(n_q, n_k) if self.window is None else sliding_window_mask(n_q, n_k, window=self.window)

    def _latest(self, head: list[list[float]]) -> list[list[float]]:
        return head if self.window is None else head[-self.window :]
