"""Draw cheaper attention: softmax on the run, tiles, windows, sparse patterns, biases, and a state of one size."""

from collections.abc import Callable, Sequence
from functools import cache
from math import exp, log, log2
from random import Random

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.biases import alibi_bias, alibi_slopes
from attention_primer.examples import worked_example_sentence
from attention_primer.masks import (
    causal_mask,
    combine_masks,
    global_mask,
    sliding_window_mask,
    strided_mask,
    unite_masks,
)
from attention_primer.recurrences import linear_attention, linear_attention_weights
from attention_primer.softmaxes import OnlineSoftmax
from attention_primer.tiles import FlashAttention, flash_attention
from machinery.drawing import Figure, arrow, box, cell, figure, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import exact, listed, over_one, side_by_side
from machinery.live import Choice, Slider, Switch, live

_EXAMPLE = worked_example_sentence()
_WORDS = _EXAMPLE.tokens
_SAT = 2

Mask = Sequence[Sequence[bool]]

# Softmax on the run.

_ORDERS = ("The, cat, sat", "cat, sat, The", "sat, The, cat")


@live("Does the order matter?", Choice("scores arrive in the order", _ORDERS, start=_ORDERS[0]))
def softmax_on_the_run(order: str) -> Figure:
    """Draw three steps of the row of "sat": what is kept after each score, and how the old is rescaled."""
    arrivals = [_WORDS.index(word) for word in order.split(", ")]
    online = OnlineSoftmax()
    frames, rows = [], []
    for n, j in enumerate(arrivals):
        factor = exp(online.largest - max(online.largest, _EXAMPLE.scaled[_SAT][j]))
        online.add(_EXAMPLE.scaled[_SAT][j], _EXAMPLE.v[j])
        rescaled = exact(factor) if n else "none yet"
        state = [exact(online.largest / log(2)), exact(online.total), _list(online.weighted), _list(online.output)]
        frames.append(_arrival(n, arrivals[: n + 1], rescaled, state))
        rows.append([_WORDS[j], _doublings(j), rescaled, *state])
    return Figure(
        side_by_side(*frames),
        f"All that is kept is m, ℓ and o, whatever the length. In the order {order}, the mix ends at {rows[-1][-1]}. "
        "When a score arrives that is larger than all before, the old sums shrink by the factor that it leads by.",
        table(["arrives", "score", "old sums times", "m", "ℓ", "o", "o ÷ ℓ"], rows),
        "Scores and m are in doublings.",
    )


def _arrival(n: int, seen: Sequence[int], rescaled: str, state: Sequence[str]) -> str:
    word, (largest, total, weighted, mixed) = _WORDS[seen[-1]], state
    parts = []
    for place, j in enumerate(seen):
        y, e_value = 68 + 24 * place, exp(_EXAMPLE.scaled[_SAT][j] - log(2) * float(largest))
        parts += [
            text(0, y, _WORDS[j], role="key", anchor="start", bold=place == n),
            box(44, y - 12, 120 * e_value, 14, role="w7", filled=True),
            text(44 + 120 * e_value + 8, y, exact(e_value), anchor="start"),
        ]
    lines = [("m", largest, ""), ("ℓ", total, ""), ("o", weighted, "value"), ("o ÷ ℓ", mixed, "value")]
    for place, (name, shown, role) in enumerate(lines):
        y = 170 + 24 * place
        parts.append(text(58, y, f"{name} =", role=role, anchor="end"))
        parts.append(text(66, y, shown, role=role, anchor="start", bold=True))
    return svg(
        216,
        252,
        text(0, 16, f'{n + 1}. "{word}" arrives', anchor="start", bold=True),
        text(0, 38, f"score {_doublings(seen[-1])}, value {_list(_EXAMPLE.v[seen[-1]])}", anchor="start", size=13),
        *parts,
        line(0, 128, 200, 128, width=1),
        text(0, 146, f"old sums × {rescaled}" if n else "nothing to rescale", anchor="start", size=13),
        title=f"Step {n + 1}: {word} arrives",
        description=f"Old sums times {rescaled}; m {largest}, ℓ {total}, o {weighted}; the mix so far is {mixed}.",
    )


def _doublings(j: int) -> str:
    return exact(_EXAMPLE.scaled[_SAT][j] / log(2))


def _list(numbers: Sequence[float]) -> str:
    return listed(map(exact, numbers))


# Tiles.

_N = 8
_SIZE, _LEFT, _TOP = 26, 20, 62


@live(
    "Let one tile after the other light up.",
    Slider("tile", range(1, 17), start=6),
    Choice("a tile is", ("2 × 2", "4 × 4"), start="2 × 2"),
    Switch("hide the future", start=True),
)
def tiles_light_up(step: int, shape: str, causal: bool) -> Figure:
    """Draw a table of scores that is never written down: one tile at a time, and what its rows keep."""
    side = int(shape[0])
    mask = causal_mask(_N) if causal else [[True] * _N] * _N
    tiles = [(a, b) for a in range(0, _N, side) for b in range(0, _N, side) if mask[a + side - 1][b]]
    flash = _run_tiles(side, causal)
    now = tiles[step - 1] if step <= len(tiles) else None
    done = tiles[: step - 1]
    return Figure(
        svg(
            _LEFT + _N * _SIZE + 112,
            _TOP + _N * _SIZE + 6,
            text(
                0,
                16,
                f"tile {step} of {flash.n_tiles}" if now else f"all {flash.n_tiles} tiles are done",
                anchor="start",
                bold=True,
            ),
            text(0, 36, "query ↓, key →", anchor="start", size=13),
            text(_LEFT + _N * _SIZE + 14, _TOP - 8, "m, ℓ, o", anchor="start", size=13),
            *(_lit(i, j, mask[i][j], side, now, done) for i in range(_N) for j in range(_N)),
            *(part for i in range(_N) for part in _kept_by(i, side, now, step > len(tiles))),
            title="One tile of scores at a time",
            description=f"A table of {_N} by {_N} scores in tiles of {shape}. "
            + (f"Tile {step} is computed now." if now else "All tiles are done."),
        ),
        _tiles_told(flash, side, now, causal=causal),
        table(
            ["tile", "queries", "keys", "state"],
            [
                [
                    str(n),
                    f"{a + 1} to {a + side}",
                    f"{b + 1} to {b + side}",
                    "done" if n < step else "now" if n == step else "to come",
                ]
                for n, (a, b) in enumerate(tiles, 1)
            ],
        ),
    )


@cache
def _run_tiles(side: int, causal: bool) -> FlashAttention:
    random = Random(0)
    q, k, v = ([[random.gauss(0, 1) for _ in range(2)] for _ in range(_N)] for _ in range(3))
    return flash_attention(q, k, v, causal_mask(_N) if causal else None, tile_q=side, tile_k=side)


def _tiles_told(flash: FlashAttention, side: int, now: tuple[int, int] | None, *, causal: bool) -> str:
    met = (
        f"Queries {now[0] + 1} to {now[0] + side} meet keys {now[1] + 1} to {now[1] + side}."
        if now
        else "Every query has its output, and nothing else is left."
    )
    tiles = "tile that is all future is" if flash.n_skipped == 1 else "tiles that are all future are"
    skipped = f" {flash.n_skipped} {tiles} skipped." if causal else ""
    return (
        f"{met} At most {flash.n_kept} numbers are kept at once: {side * side} scores, and for each of {side} queries "
        f"m, ℓ and o. The whole table would hold {_N * _N}.{skipped}"
    )


def _lit(i: int, j: int, is_seen: bool, side: int, now: tuple[int, int] | None, done: Sequence[tuple[int, int]]) -> str:
    x, y = _LEFT + _SIZE * j, _TOP + _SIZE * i
    tile = (i // side * side, j // side * side)
    if not is_seen:
        return hidden_cell(x + 1, y + 1, _SIZE - 2)
    if tile == now:
        return box(x + 1, y + 1, _SIZE - 2, _SIZE - 2, role="w9", filled=True)
    if tile in done:
        return box(x + 1, y + 1, _SIZE - 2, _SIZE - 2, role="w3", filled=True)
    return box(x + 2, y + 2, _SIZE - 4, _SIZE - 4, role="hidden")


def _kept_by(i: int, side: int, now: tuple[int, int] | None, is_over: bool) -> list[str]:
    x, y = _LEFT + _N * _SIZE + 14, _TOP + _SIZE * i + 5
    if is_over or (now and i < now[0]):
        return [text(x, y + 13, "output", role="value", anchor="start", size=13)]
    if now and now[0] <= i < now[0] + side:
        return [box(x + 18 * n, y, 15, 15, role="w7" if n < 2 else "value", filled=True) for n in range(4)]
    return []


# What is kept, and what is moved.

_SHORT, _LONG = 2**9, 2**17
_TILE, _WIDTH = 128, 64
_WAYS = {"whole table": ("", 1.5), "tiles": ("w8", 3)}


def _kept_numbers(way: str, n: int) -> int:
    return n * n if way == "whole table" else _TILE * _TILE + _TILE * (2 + _WIDTH)


def _moved_numbers(way: str, n: int) -> int:
    # Queries in, outputs out; keys and values in: once, or once for each tile of queries.
    # The whole table is written and read twice: as scores, and as shares.
    ends = 2 * n * _WIDTH
    return 2 * ends + 4 * n * n if way == "whole table" else ends + ends * n // _TILE


@figure
def kept_and_moved() -> Figure:
    """Draw how many numbers are kept at once and how many are moved, for a whole table and for tiles."""
    lengths = (_SHORT, 4096, _LONG)
    share = _moved_numbers("whole table", _LONG) / _moved_numbers("tiles", _LONG)
    return Figure(
        side_by_side(_panel("kept at once", _kept_numbers), _panel("moved", _moved_numbers)),
        f"One head, {_WIDTH} wide, in tiles of {_TILE} by {_TILE}. Tiles keep {number(_kept_numbers('tiles', 1), ',')} "
        f"numbers at any length; the whole table for {number(4096, ',')} tokens holds "
        f"{number(_kept_numbers('whole table', 4096) / 1e6, '.1f')} million. What is moved still grows with the "
        f"square, but it is {number(share, '.0f')} times less.",
        table(
            ["tokens", *(f"{what}, {way}" for what in ("kept", "moved") for way in _WAYS)],
            [
                [
                    number(n, ","),
                    *(number(count(way, n), ",") for count in (_kept_numbers, _moved_numbers) for way in _WAYS),
                ]
                for n in lengths
            ],
        ),
    )


def _panel(title: str, count: Callable[[str, int], int]) -> str:
    ground, across, up = 208, 21, 7.4

    def at(n: int, numbers: int) -> tuple[float, float]:
        return 40 + across * log2(n / _SHORT), ground - 8 - up * (log2(numbers) - 14)

    parts = []
    for way, (role, width) in _WAYS.items():
        (x1, y1), (x2, y2) = at(_SHORT, count(way, _SHORT)), at(_LONG, count(way, _LONG))
        parts += [
            line(x1, y1, x2, y2, role=role, width=width),
            text(x2 + 6, y2 + 5, way, role=role, anchor="start", bold=bool(role), size=13),
        ]
    return svg(
        320,
        ground + 44,
        arrow(20, ground, 304, ground, width=1),
        arrow(20, ground, 20, 24, width=1),
        text(0, 16, f"numbers {title}", anchor="start", bold=True),
        *(text(at(n, 1)[0], ground + 18, number(n, ","), size=13) for n in (_SHORT, 4096, _LONG)),
        text(304, ground + 36, "tokens", anchor="end", size=13),
        *parts,
        title=f"Numbers {title}, by the length of the text",
        description="; ".join(f"{way}: {number(count(way, _LONG), ',')} at the right end" for way in _WAYS) + ".",
    )


# Windows.


@live("How wide must a window be to see everything?", Slider("window", range(1, _N + 1), start=3))
def window_reach(window: int) -> Figure:
    """Draw what each token sees in one layer under a window, and what it can have heard of in two."""
    mask = sliding_window_mask(_N, window=window)
    twice = _in_two_layers(mask)
    pairs, full = _count(mask), _count(causal_mask(_N))
    last, reached = sum(mask[-1]), sum(twice[-1])
    told = (
        f"A window of {window} is the causal mask itself: nothing is out of reach, and all {full} pairs are computed."
        if pairs == full
        else f"With a window of {window}, the last token sees {last} token{'s' if last > 1 else ''}, itself included. "
        f"In two layers it can hear of {reached}. {pairs} pairs are computed instead of {full}."
    )
    return Figure(
        side_by_side(_plain("one layer", mask, mask), _plain("two layers", twice, mask)),
        told,
        table(
            ["token", "sees in one layer", "hears of in two"],
            [[str(i + 1), str(sum(mask[i])), str(sum(twice[i]))] for i in range(_N)],
        ),
        "What a token hears of beyond its window was passed on by one that stands between.",
    )


def _in_two_layers(mask: Mask) -> list[list[bool]]:
    columns = list(zip(*mask, strict=True))
    return [[any(a and b for a, b in zip(row, column, strict=True)) for column in columns] for row in mask]


def _count(mask: Mask) -> int:
    return sum(map(sum, mask))


def _plain(title: str, seen: Mask, directly: Mask, size: int = 24) -> str:
    """Draw a mask as a grid: dark what is seen directly, pale what is passed on, hatched what is not seen."""
    n = len(seen)
    cells = []
    for i in range(n):
        for j in range(n):
            x, y = 20 + size * j, 44 + size * i
            if seen[i][j]:
                cells.append(box(x + 1, y + 1, size - 2, size - 2, role="w8" if directly[i][j] else "w3", filled=True))
            elif j <= i:
                cells.append(box(x + 2, y + 2, size - 4, size - 4, role="hidden"))
            else:
                cells.append(hidden_cell(x + 1, y + 1, size - 2))
    return svg(
        216,
        44 + size * n + 4,
        text(0, 16, title, anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *cells,
        title=f"What each token sees: {title}",
        description="; ".join(
            f"token {i + 1}: {', '.join(str(j + 1) for j in range(n) if row[j])}" for i, row in enumerate(seen)
        )
        + ".",
    )


# Sparse patterns.

_TOKENS = 12


def _patterns() -> dict[str, list[list[bool]]]:
    causal, window = causal_mask(_TOKENS), sliding_window_mask(_TOKENS, window=4)
    strided = strided_mask(_TOKENS, stride=4)
    first = combine_masks(causal, global_mask([j == 0 for j in range(_TOKENS)]))
    return {
        "causal": causal,
        "window of 4": window,
        "every fourth": strided,
        "the two together": unite_masks(window, strided),
        "window, first token": unite_masks(window, first),
    }


@figure
def sparse_patterns() -> Figure:
    """Draw five patterns side by side, each with its pairs, and what the last token sees."""
    patterns = _patterns()
    counts = {name: _count(mask) for name, mask in patterns.items()}
    layers = {name: _layers_to_reach_all(mask) for name, mask in patterns.items()}
    drawn = [_pattern(name, mask, counts[name], layers[name]) for name, mask in patterns.items()]
    both = "the two together"
    return Figure(
        side_by_side(*drawn[:3]) + side_by_side(*drawn[3:]),  # what is put together stands below its parts
        f"Of {counts['causal']} pairs, the window computes {counts['window of 4']}, but {layers['window of 4']} layers "
        f"pass before the last token has heard of all others. With every fourth token beside it, {counts[both]} pairs "
        f"are computed, and {layers[both]} layers are enough.",
        table(
            ["pattern", "pairs", "keys that the last token sees", "layers until it has heard of all"],
            [[name, str(counts[name]), str(sum(mask[-1])), layers[name]] for name, mask in patterns.items()],
            caption=f"{_TOKENS} tokens.",
        ),
    )


def _layers_to_reach_all(mask: Mask) -> str:
    reached = mask[-1]
    for layers in range(1, _TOKENS + 1):
        if all(reached):
            return str(layers)
        reached = [any(r and mask[i][j] for i, r in enumerate(reached)) for j in range(_TOKENS)]
    return "never"


def _pattern(name: str, mask: Mask, n_pairs: int, layers: str) -> str:
    size = 13
    cells = [
        box(size * j + 1, 46 + size * i, size - 2, size - 2, role=_dark(i) if seen else "hidden", filled=seen)
        for i, row in enumerate(mask)
        for j, seen in enumerate(row[: i + 1])
    ]
    reach = "never all" if layers == "never" else f"{layers} layer{'s' if layers != '1' else ''}"
    return svg(
        163,
        46 + size * _TOKENS + 4,
        text(0, 16, name, anchor="start", bold=True),
        text(0, 36, f"{n_pairs} pairs, {reach}", anchor="start", size=13),
        *cells,
        title=f"The pattern {name}",
        description=f"{n_pairs} pairs of {_TOKENS} tokens. The last token sees "
        f"{', '.join(str(j + 1) for j, seen in enumerate(mask[-1]) if seen)}.",
    )


def _dark(i: int) -> str:
    return "query" if i == _TOKENS - 1 else "w6"


# A bias instead of a wall.


@figure
def slope_or_wall() -> Figure:
    """Draw how eight keys that match alike share one query, under a window and under three slopes."""
    zeros = [[0.0]] * _N
    slopes = alibi_slopes(4)
    biases = [rows[-1:] for rows in alibi_bias(4, _N)]
    wall = scaled_dot_product_attention([[0.0]], zeros, zeros, sliding_window_mask(1, _N, window=3)).weights[0]
    rows = {"window of 3": wall}
    for h in (0, 1, 3):
        rows[f"slope {exact(slopes[h], parts=round(1 / slopes[h]))}"] = scaled_dot_product_attention(
            [[0.0]], zeros, zeros, bias=biases[h]
        ).weights[0]
    steep, gentle = (rows[name] for name in list(rows)[1::2])
    return Figure(
        side_by_side(*(_fading(name, row) for name, row in rows.items())),
        "Eight keys that match alike. A window is a wall: before it, nothing is seen. A bias for distance is a slope: "
        f"with the steepest of four heads the nearest key gets {number(steep[-1])} and the farthest "
        f"{number(steep[0])}, with the gentlest {number(gentle[-1])} and {number(gentle[0])}.",
        table(
            ["key, by distance", *rows],
            [[str(_N - 1 - j), *(number(row[j]) for row in rows.values())] for j in range(_N)],
        ),
    )


def _fading(name: str, row: Sequence[float]) -> str:
    ground = 136
    return svg(
        156,
        166,
        text(0, 16, name, anchor="start", bold=True),
        *(
            box(18 * j, ground - 300 * share, 15, max(300 * share, 0.5), role="w7", filled=True)
            for j, share in enumerate(row)
        ),
        line(0, ground, 18 * _N, ground, width=1),
        text(0, ground + 20, "far", anchor="start", size=13),
        text(18 * _N, ground + 20, "near", anchor="end", size=13),
        title=f"Shares by distance: {name}",
        description=f"From far to near: {', '.join(map(number, row))}.",
    )


# A state of one size.

_TIMES = (1, 2, 4, 16)


@live(
    "Let the queries shout. Which of the two can make up its mind?",
    Choice("all queries times", [str(n) for n in _TIMES], start="1"),
)
def two_kinds_of_shares(times: str) -> Figure:
    """Draw the shares of softmax, those of linear attention, and the state that linear attention carries along."""
    q = [[x * int(times) for x in row] for row in _EXAMPLE.q]
    soft = scaled_dot_product_attention(q, _EXAMPLE.k, _EXAMPLE.v, _EXAMPLE.mask).weights
    flat = linear_attention_weights(q, _EXAMPLE.k, _EXAMPLE.mask)
    run = linear_attention(q, _EXAMPLE.k, _EXAMPLE.v, _EXAMPLE.mask)
    written = [[*row, total] for row, total in zip(run.state, run.totals, strict=True)]
    return Figure(
        side_by_side(_shares("softmax", soft), _shares("linear attention", flat), _state(written)),
        f'"Sat" takes {number(soft[_SAT][1])} from "cat" by softmax, {number(flat[_SAT][1])} by linear attention. '
        f"The state holds {exact(sum(map(len, written)))} numbers, for four words as for four thousand.",
        table(["query ↓, key →", *_WORDS], _lines(soft), caption="softmax")
        + table(["query ↓, key →", *_WORDS], _lines(flat), caption="linear attention")
        + table(
            ["feature", "times first number", "times second number", "alone"],
            [[str(c + 1), *map(exact, row)] for c, row in enumerate(written)],
            caption="The state after the last word.",
        ),
        "Queries, keys and values are the same for both.",
    )


def _lines(rows: Sequence[Sequence[float]]) -> list[list[str]]:
    return [
        [word, *(s if seen else "hidden" for s, seen in zip(_written(row), mask, strict=True))]
        for word, row, mask in zip(_WORDS, rows, _EXAMPLE.mask, strict=True)
    ]


def _written(row: Sequence[float]) -> list[str]:
    try:
        return over_one(row)
    except ValueError:
        return [number(share) for share in row]


def _shares(title: str, rows: Sequence[Sequence[float]]) -> str:
    size, left, top = 40, 52, 64
    parts = [text(left + size * (j + 0.5), top - 8, word, role="key", size=13) for j, word in enumerate(_WORDS)]
    for i, row in enumerate(rows):
        parts.append(text(left - 8, top + size * i + 25, _WORDS[i], role="query", anchor="end"))
        for j, (share, shown) in enumerate(zip(row, _written(row), strict=True)):
            at = left + size * j + 1, top + size * i + 1, size - 2
            parts.append(cell(*at, share, shown) if _EXAMPLE.mask[i][j] else hidden_cell(*at))
    return svg(
        216,
        top + 4 * size + 4,
        text(0, 16, title, anchor="start", bold=True),
        text(0, 36, "query ↓, key →", anchor="start", size=13),
        *parts,
        title=f"Shares by {title}",
        description="; ".join(": ".join((row[0], ", ".join(row[1:]))) for row in _lines(rows)) + ".",
    )


def _state(written: Sequence[Sequence[float]]) -> str:
    top, step = 64, 40
    heads = ("× v[0]", "× v[1]", "alone")
    parts = [text(55 + 64 * c, top - 8, head, role="value" if c < 2 else "", size=12) for c, head in enumerate(heads)]
    for i, row in enumerate(written):
        parts.append(text(0, top + step * i + 25, f"{i + 1}", role="key", anchor="start"))
        for c, x in enumerate(row):
            parts.append(box(26 + 64 * c, top + step * i + 4, 58, 30, role="value" if c < 2 else "key"))
            parts.append(text(55 + 64 * c, top + step * i + 25, exact(x)))
    return svg(
        216,
        top + 4 * step + 4,
        text(0, 16, "all that linear keeps", anchor="start", bold=True),
        text(0, 36, "features of keys, added up", anchor="start", size=13),
        *parts,
        title="The state of linear attention",
        description="; ".join(f"feature {i + 1}: {', '.join(map(exact, row))}" for i, row in enumerate(written)) + ".",
    )
