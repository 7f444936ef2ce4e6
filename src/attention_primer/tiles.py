r"""Compute the same attention tile by tile, without ever writing down all scores.

Each tile of keys and values gives a query three things: its largest score, its total of e-values, and its values
added up. Two tiles are merged by measuring both against the larger of the two largest scores.

Sources: Milakov and Gimelshein, 2018, *Online normalizer calculation for softmax*; Dao et al., 2022,
*FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*.
"""

from itertools import islice
from math import exp, fsum, isfinite, log, sqrt, tanh
from typing import NamedTuple

from attention_primer.attention import fitting, visible_rows
from attention_primer.checks import Mask, Matrix, finite, positive, require_finite, size
from attention_primer.softmaxes import OnlineSoftmax
from attention_primer.vectors import quick_sumprod, sumprod

__all__ = ["FlashAttention", "flash_attention"]


class FlashAttention(NamedTuple):
    """What attention in tiles hands back: the output, and what it took.

    Attributes:
        output: (n_q, d_v), a mix of values for each query.
        log_totals: (n_q,), the logarithm of each query's sum of e-values; with it, two outputs over different keys can
            be merged into one.
        n_kept: How many numbers were kept at once, at most, beside q, k, v and the output: one tile of scores, and
            for each query of the tile its largest score, its total and its values added up.
        n_tiles: How many tiles were computed.
        n_skipped: How many tiles were left out, since the mask hides all of their pairs.

    Examples:
        A tile for two queries and two keys keeps four scores, and three numbers a query:

        >>> flash = flash_attention([[0]] * 6, [[0]] * 8, [[5]] * 8, tile_q=2, tile_k=2)
        >>> flash.n_kept, flash.n_tiles
        (10, 12)
    """

    output: list[list[float]]
    log_totals: list[float]
    n_kept: int
    n_tiles: int
    n_skipped: int


def flash_attention(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    mask: Mask | None = None,
    *,
    bias: Matrix | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    tile_q: int = 16,
    tile_k: int = 16,
) -> FlashAttention:
    r"""Attend as scaled_dot_product_attention does, with a small tile of scores at a time.

    $$m = \max(m_1, m_2), \qquad \ell = e^{m_1 - m}\, \ell_1 + e^{m_2 - m}\, \ell_2, \qquad
    o = \frac{e^{m_1 - m}\, \ell_1\, o_1 + e^{m_2 - m}\, \ell_2\, o_2}{\ell}$$

    The sums run in another order, so the last digits may differ. What is kept grows with the tile, not with the text:
    on a GPU a tile fits into the small fast memory, and moving numbers there and back is what takes the time.

    Args:
        q: Queries, (n_q, d_k).
        k: Keys, (n_k, d_k).
        v: Values, (n_k, d_v).
        mask: (n_q, n_k) booleans; True at [i][j] means that query i may see key j. By default all see all.
        bias: (n_q, n_k) numbers added to the scaled scores; −∞ hides.
        scale: What to multiply the raw scores with. Defaults to 1/√d_k.
        softcap: If given, a bound c that scaled scores approach but never pass, as c·tanh(score/c).
        tile_q: How many queries a tile has.
        tile_k: How many keys a tile has. The last tiles may be smaller.

    Returns:
        FlashAttention with output, (n_q, d_v), log_totals, (n_q,), n_kept, n_tiles and n_skipped. The output equals the
        plain one but for the last digits, whatever the tiles.

    Raises:
        ShapeError: If an argument is empty or ragged, or the shapes don't fit.
        TypeError: If an argument is not made of numbers, or the mask not of booleans.
        ValueError: If a query may see no key, something that it may see is NaN or infinite, or a sum overflows.

    Examples:
        Four tokens in tiles of two by two; the tile that is all future is skipped:

        >>> from attention_primer import causal_mask, scaled_dot_product_attention, worked_example_sentence
        >>> q, k, v = (worked_example_sentence()[part] for part in (5, 6, 7))
        >>> flash = flash_attention(q, k, v, causal_mask(4), tile_q=2, tile_k=2)
        >>> [[round(o, 9) for o in row] for row in flash.output]
        [[8.0, 0.0], [12.0, 0.0], [10.0, 2.0], [3.0, 5.0]]
        >>> flash.n_tiles, flash.n_skipped
        (3, 1)

        Scores of a thousand are no trouble, since each tile takes off its largest:

        >>> flash_attention([[1]], [[1000], [1000]], [[2], [4]], tile_k=1).output
        [[3.0]]

        A tile holds at least one pair:

        >>> flash_attention([[1]], [[1]], [[1]], tile_k=0)
        Traceback (most recent call last):
        ValueError: tile_k is 0: it must be at least 1
    """
    q, k, v = fitting(q, k, v)
    scale = 1 / sqrt(len(k[0])) if scale is None else finite(scale, "scale")
    softcap = None if softcap is None else positive(softcap, "softcap")
    query_tiles, key_tiles = _tiles(len(q), size(tile_q, "tile_q")), _tiles(len(k), size(tile_k, "tile_k"))
    rows = visible_rows(len(q), len(k), mask, bias)
    everyone: list[OnlineSoftmax] = []
    n_kept = n_tiles = 0

    for queries in query_tiles:
        rows_here = list(islice(rows, len(queries)))
        running = [OnlineSoftmax() for _ in queries]
        for keys in key_tiles:
            seen = [[j for j in keys if seen_i[j]] for seen_i, _ in rows_here]
            if not any(seen):
                continue
            _require_finite_keys(k, v, sorted(set().union(*seen)))
            scores = [
                _scores(i, js, q[i], k, b_i, scale, softcap)
                for i, js, (_, b_i) in zip(queries, seen, rows_here, strict=True)
            ]
            for online, s_i, js in zip(running, scores, seen, strict=True):
                online.merge(_summed(s_i, [v[j] for j in js]))
            n_tiles += 1
            n_kept = max(n_kept, sum(map(len, scores)) + sum(2 + len(online.weighted) for online in running))
        everyone += running
    return FlashAttention(
        [online.output for online in everyone],
        [online.largest + log(online.total) for online in everyone],
        n_kept,
        n_tiles,
        len(query_tiles) * len(key_tiles) - n_tiles,
    )


def _tiles(n: int, tile: int) -> list[range]:
    return [range(first, min(first + tile, n)) for first in range(0, n, tile)]


def _require_finite_keys(k: list[list[float]], v: list[list[float]], seen: list[int]) -> None:
    for j in seen:
        require_finite(k[j], f"k[{j}]")
        require_finite(v[j], f"v[{j}]")


def _scores(
    i: int, js: list[int], q_i: list[float], k: list[list[float]], b_i: list[float], scale: float, softcap: float | None
) -> list[float]:
    scores = [quick_sumprod(q_i, k[j]) * scale for j in js]
    if softcap is not None:
        scores = [softcap * tanh(s / softcap) for s in scores]
    if b_i:
        scores = [s + b_i[j] for j, s in zip(js, scores, strict=True)]
    for j, s in zip(js, scores, strict=True):
        if not isfinite(s):
            raise ValueError(f"the score of query {i} and key {j} is {s}: it must fit into a float")
    return scores


def _summed(scores: list[float], values: list[list[float]]) -> OnlineSoftmax:
    tile = OnlineSoftmax()
    if scores:
        tile.largest = max(scores)
        e_values = [exp(s - tile.largest) for s in scores]
        tile.total = fsum(e_values)
        tile.weighted = [sumprod(e_values, column) for column in zip(*values, strict=True)]
    return tile
