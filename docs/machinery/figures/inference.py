"""Draw what a model keeps while it writes: the growing cache, what it saves, what it weighs, what it costs to read."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import log, log2
from typing import NamedTuple

from attention_primer.caches import KVCache
from attention_primer.costs import kv_cache_bytes
from attention_primer.examples import worked_example_sentence
from attention_primer.heads import MultiHeadAttention
from attention_primer.masks import causal_mask, sliding_window_mask
from machinery.drawing import Figure, arrow, box, cell, figure, hidden_cell, line, number, svg, table, text
from machinery.figures.parts import NO_BREAK, exact, listed, over_one, side_by_side
from machinery.live import Choice, Slider, Switch, live

_EXAMPLE = worked_example_sentence()
_WORDS = _EXAMPLE.tokens
_MHA = MultiHeadAttention.from_weights(_EXAMPLE.W_q, _EXAMPLE.W_k, _EXAMPLE.W_v, [[1, 0], [0, 1]], n_heads=1)

# The sentence grows.


@figure
def growing_sentence() -> Figure:
    """Draw four steps: what is kept, what is new, and the one query that asks."""
    reader = KVCache(_MHA)
    outputs = [reader.extend([row])[0] for row in _EXAMPLE.x]
    return Figure(
        side_by_side(*(_step(i, output) for i, output in enumerate(outputs))),
        "Each step computes one query, one key and one value, in the box. The keys and values above the box were kept, "
        "and no earlier query is asked again. The outputs are those of the chapter, and the last step has read "
        f"{exact(len(reader.positions))} keys.",
        table(
            ["new word", "its query, in units of ln 2", "its key", "its value", "kept before", "shares", "output"],
            [
                [word, _query(i), _list(_EXAMPLE.k[i]), _list(_EXAMPLE.v[i]), exact(i), _shares(i), _list(output)]
                for i, (word, output) in enumerate(zip(_WORDS, outputs, strict=True))
            ],
        ),
    )


def _step(i: int, output: Sequence[float]) -> str:
    top = 84
    parts = []
    for j in range(i + 1):
        y, is_new = top + 26 * j, j == i
        parts += [
            text(5, y, _WORDS[j], anchor="start", bold=is_new),
            text(58, y, _list(_EXAMPLE.k[j]), role="key", anchor="start", bold=is_new),
            text(156, y, _list(_EXAMPLE.v[j]), role="value", anchor="start", bold=is_new),
            text(266, y, over_one(_EXAMPLE.weights[i][: i + 1])[j], anchor="end", bold=is_new),
        ]
    bottom = top + 26 * (i + 1)
    return svg(
        280,
        bottom + 12,
        text(0, 16, f'{i + 1}. "{_WORDS[i]}" is added', anchor="start", bold=True),
        text(0, 38, f"it asks q = {_query(i)}", role="query", anchor="start"),
        text(58, 60, "keys", role="key", anchor="start", size=13),
        text(156, 60, "values", role="value", anchor="start", size=13),
        text(266, 60, "shares", anchor="end", size=13),
        *parts,
        box(0, top + 26 * i - 18, 276, 25),
        text(156, bottom + 4, _list(output), role="value", anchor="start", bold=True),
        text(148, bottom + 4, "output", anchor="end", size=13),
        title=f"Step {i + 1}: {_WORDS[i]} is added",
        description=f"{i} keys and values are kept, one of each is new. The query {_query(i)} takes shares of "
        f"{_shares(i)}, and the output is {_list(output)}.",
    )


def _query(i: int) -> str:
    return _list([x / log(2) for x in _EXAMPLE.q[i]])


def _shares(i: int) -> str:
    return ", ".join(over_one(_EXAMPLE.weights[i][: i + 1]))


def _list(numbers: Sequence[float]) -> str:
    return listed(map(exact, numbers))


# What a cache saves.

_WAYS = ("everything anew", "only what may be seen", "with a cache")
_MINI = 13


def _pairs(way: int, n: int) -> list[list[bool]]:
    """Tell which scores are computed for the n-th word."""
    if way == 0:
        return [[True] * n] * n
    return [[seen and (way == 1 or i == n - 1) for seen in row] for i, row in enumerate(causal_mask(n))]


@cache
def _counted(way: int, n: int) -> int:
    return sum(sum(map(sum, _pairs(way, step))) for step in range(1, n + 1))


@figure
def scores_saved() -> Figure:
    """Draw the scores that four steps compute, in three ways."""
    return Figure(
        side_by_side(*(_saved(way) for way in range(3))),
        f"Four words, four steps: {exact(_counted(0, 4))} scores if all is computed anew, "
        f"{exact(_counted(1, 4))} if nobody asks about the future, {exact(_counted(2, 4))} with a cache. For 100 words "
        f"it is {number(_counted(0, 100), ',')}, {number(_counted(1, 100), ',')} and {number(_counted(2, 100), ',')}.",
        table(
            ["way", *(f"step {n}" for n in range(1, 5)), "4 words", "100 words"],
            [
                [
                    name,
                    *(str(sum(map(sum, _pairs(way, n)))) for n in range(1, 5)),
                    str(_counted(way, 4)),
                    number(_counted(way, 100), ","),
                ]
                for way, name in enumerate(_WAYS)
            ],
        ),
    )


def _saved(way: int) -> str:
    parts, x = [], 0
    for n in range(1, 5):
        for i, row in enumerate(_pairs(way, n)):
            for j, is_computed in enumerate(row):
                at = x + _MINI * j, 40 + _MINI * i, _MINI - 2, _MINI - 2
                parts.append(box(*at, role="w7" if is_computed else "hidden", filled=is_computed))
        parts.append(text(x + _MINI * n / 2 - 1, 116, str(sum(map(sum, _pairs(way, n)))), bold=True))
        x += _MINI * n + 16
    return svg(
        216,
        124,
        text(0, 16, f"{_WAYS[way]}: {_counted(way, 4)}", anchor="start", bold=True),
        *parts,
        title=f"Scores of four steps, {_WAYS[way]}",
        description=f"Grids of 1, 4, 9 and 16 cells. Computed are {_counted(way, 4)} in all.",
    )


# The whole text stays quadratic.

_SHORT, _LONG = 2**7, 2**17
_ACROSS, _UP, _GROUND = 22, 5.6, 268  # pixels a doubling


@figure
def whole_texts() -> Figure:
    """Draw how many scores a whole text takes, in three ways, and how many its last token takes."""
    lengths = [_SHORT, 1024, 16_384, _LONG]
    ways = {name: [_closed(name, n) for n in lengths] for name in _LINES}
    return Figure(
        svg(
            336,
            312,
            arrow(20, _GROUND, 326, _GROUND, width=1),
            arrow(20, _GROUND, 20, 16, width=1),
            text(28, 20, "scores of one head", anchor="start", size=13),
            text(326, 306, "tokens", anchor="end", size=13),
            *(text(_spot(n, 1)[0], _GROUND + 18, number(n, ","), size=13) for n in lengths),
            *(part for name, style in _LINES.items() for part in _drawn_line(name, *style)),
            title="How many scores a text takes to write",
            description="Four straight lines. From left to right, the steepest climbs three times as fast as the "
            "flattest, the one with a cache twice as fast.",
        ),
        "Each step to the right doubles the text. Without a cache, the scores of the whole text then grow eightfold; "
        f"with one fourfold, from {number(ways['with a cache'][2], ',')} at {number(lengths[2], ',')} tokens to "
        f"{number(ways['with a cache'][3], ',')} at {number(lengths[3], ',')}. Only a window makes the line as flat "
        "as that of a single token.",
        table(
            ["tokens", *_LINES],
            [[number(n, ","), *(number(counts[at], ",") for counts in ways.values())] for at, n in enumerate(lengths)],
        ),
    )


_WINDOW = 128
# Each line by its name: its label, its role and its width.
_LINES = {
    "everything anew": ("anew", "", 1.5),
    "with a cache": ("cache", "w8", 3),
    "cache and window": ("window", "w8", 2),
    "the last token alone": ("one token", "", 1.5),
}


def _closed(name: str, n: int) -> int:
    """Count by a formula, since nobody waits for a loop over so many."""
    if name == "everything anew":
        return n * (n + 1) * (2 * n + 1) // 6
    if name == "with a cache":
        return n * (n + 1) // 2
    if name == "cache and window":
        return _WINDOW * (_WINDOW + 1) // 2 + (n - _WINDOW) * _WINDOW
    return n


def _spot(n: float, count: float) -> tuple[float, float]:
    return 44 + _ACROSS * log2(n / _SHORT), _GROUND - 6 - _UP * (log2(count) - log2(_SHORT))


def _drawn_line(name: str, label: str, role: str, width: float) -> list[str]:
    (x1, y1), (x2, y2) = [_spot(n, _closed(name, n)) for n in (_SHORT, _LONG)]
    return [
        line(x1, y1, x2, y2, role=role, width=width, dashed=name == "everything anew"),
        text(x2 + 6, y2 + 5, label, role=role, anchor="start", bold=bool(role), size=13),
    ]


# The same answer.

_PIECES = ("1 + 1 + 1 + 1", "3 + 1", "2 + 2", "all at once")
_SIZE, _LEFT, _TOP = 42, 62, 62


@live(
    "Cut the sentence into other pieces. Which numbers move?",
    Choice("read in pieces of", _PIECES, start="3 + 1"),
    Switch("let each word see two words only"),
)
def same_in_pieces(pieces: str, is_windowed: bool) -> Figure:
    """Draw the shares of the sentence, cut into the pieces in which it was read."""
    window = 2 if is_windowed else None
    reader = KVCache(_MHA, window=window)
    lengths = [int(n) for n in pieces.split(" + ")] if "+" in pieces else [len(_WORDS)]
    starts = [sum(lengths[:n]) for n in range(len(lengths) + 1)]
    outputs = [row for a, b in pairwise(starts) for row in reader.extend(_EXAMPLE.x[a:b])]
    mask = sliding_window_mask(4, window=2) if is_windowed else causal_mask(4)
    weights = _MHA.attend(_EXAMPLE.x, mask)[0].weights
    rows = [
        [s if seen else "hidden" for s, seen in zip(over_one(row), mask[i], strict=True)]
        for i, row in enumerate(weights)
    ]
    told = f"as {pieces}" if len(lengths) > 1 else pieces
    is_same = "the same" if outputs == _MHA(_EXAMPLE.x, mask) else "not the same"
    return Figure(
        svg(
            _LEFT + 4 * _SIZE + 106,
            _TOP + 4 * _SIZE + 8,
            text(0, 16, f"pieces: {pieces}", anchor="start", bold=True),
            text(0, 36, "query ↓, key →", anchor="start", size=13),
            *(text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role="key") for j, word in enumerate(_WORDS)),
            text(_LEFT + 4 * _SIZE + 20, _TOP - 8, "output", role="value", anchor="start"),
            *(part for i in range(4) for part in _word_row(i, weights[i], rows[i], outputs[i])),
            *(
                box(_LEFT - d, _TOP + _SIZE * a - d, 4 * _SIZE + 2 * d, _SIZE * (b - a) + 2 * d, role="query")
                for a, b in pairwise(starts)
                for d in (0, 1)
            ),
            title="The sentence, read in pieces",
            description=f"A triangle of shares, cut into {len(lengths)} bands of rows, one a piece.",
        ),
        f"Read {told}, the outputs are {is_same} as those of the whole sentence under the mask, to the last bit. "
        f"{exact(reader.n_dots)} scores were computed, and {exact(len(reader.positions))} keys and values are kept.",
        table(
            ["query ↓, key →", *_WORDS, "output"],
            [[word, *row, _list(out)] for word, row, out in zip(_WORDS, rows, outputs, strict=True)],
        ),
        "A frame is one piece: its rows are asked together.",
    )


def _word_row(i: int, weights: Sequence[float], shown: Sequence[str], output: Sequence[float]) -> list[str]:
    y = _TOP + _SIZE * i + 1
    places = [(_LEFT + _SIZE * j + 1, y, _SIZE - 2) for j in range(4)]
    cells = [
        hidden_cell(*place) if s == "hidden" else cell(*place, w, s)
        for place, w, s in zip(places, weights, shown, strict=True)
    ]
    return [
        text(_LEFT - 8, y + 25, _WORDS[i], role="query", anchor="end"),
        *cells,
        text(_LEFT + 4 * _SIZE + 20, y + 25, _list(output), role="value", anchor="start"),
    ]


# What is kept.


class _Model(NamedTuple):
    """What decides how large a model and its cache are."""

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_feed_forward: int
    n_words: int

    @property
    def n_weights(self) -> int:
        """Count the numbers that training has found."""
        d = self.n_heads * self.d_head
        layer = 2 * d * d + 2 * d * self.n_kv_heads * self.d_head + 3 * d * self.d_feed_forward + 2 * d
        return self.n_layers * layer + 2 * self.n_words * d + d


_MODELS = {
    "Llama 2 7B": _Model(32, 32, 32, 128, 11_008, 32_000),
    "Llama 3 8B": _Model(32, 32, 8, 128, 14_336, 128_256),
    "Llama 2 70B": _Model(80, 64, 8, 128, 28_672, 32_000),
}
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_BYTES = {"16 bits": 2, "8 bits": 1}


@live(
    "How many users fit beside the weights?",
    Choice("model", tuple(_MODELS), start="Llama 2 7B"),
    Switch("a KV head for every query head"),
    Slider("tokens of each user", (1024, 4096, 8192, 32_768, 131_072), start=4096, show=lambda n: number(n, ",")),
    Slider("users", (1, 8, 32, 128), start=32),
    Choice("a number takes", tuple(_BYTES), start="16 bits"),
)
def cache_calculator(name: str, is_unshared: bool, n_tokens: int, n_users: int, bits: str) -> Figure:
    """Draw what the caches of all users take, step by step, beside what the weights take."""
    model = _MODELS[name]
    n_kv_heads = model.n_heads if is_unshared else model.n_kv_heads
    a_layer = kv_cache_bytes(1, 1, n_kv_heads, model.d_head, _BYTES[bits])
    a_token = kv_cache_bytes(1, model.n_layers, n_kv_heads, model.d_head, _BYTES[bits])
    a_user = kv_cache_bytes(n_tokens, model.n_layers, n_kv_heads, model.d_head, _BYTES[bits])
    kept = kv_cache_bytes(n_tokens * n_users, model.n_layers, n_kv_heads, model.d_head, _BYTES[bits])
    weights = 2 * model.n_weights
    product = NO_BREAK.join(("2", "·", str(n_kv_heads), "·", str(model.d_head)))
    users = f"{n_users} user{'s' if n_users > 1 else ''}"
    steps = [
        (f"a token, one layer: {product}", f"{number(a_layer // _BYTES[bits], ',')}{NO_BREAK}numbers"),
        (f"all {model.n_layers} layers, {bits} each", _sized(a_token)),
        (f"{number(n_tokens, ',')} tokens", _sized(a_user)),
        (users, _sized(kept)),
    ]
    y = 40 + 26 * len(steps)
    return Figure(
        svg(
            360,
            y + 108,
            text(0, 16, f"keys and values of {name}", anchor="start", bold=True),
            *(part for n, step in enumerate(steps) for part in _told(44 + 26 * n, *step, is_last=n == len(steps) - 1)),
            *_bar(y + 28, f"weights, 16 bits: {_sized(weights)}", "hidden", weights / max(weights, kept)),
            *_bar(y + 74, f"caches: {_sized(kept)}", "key", kept / max(weights, kept)),
            title=f"What the caches of {name} take",
            description="; ".join(f"{what}: {shown}" for what, shown in steps) + f". The weights: {_sized(weights)}.",
        ),
        _weighed(kept / weights, n_users, _sized(kept)),
        table(
            ["what", "takes"],
            [*map(list, steps), ["the weights of the model, 16 bits each", _sized(weights)]],
            caption=name,
        ),
        "The first line: a key and a value, times the KV heads, times the width of a head. The number of query heads "
        "plays no part.",
    )


def _weighed(ratio: float, n_users: int, kept: str) -> str:
    told = f"The caches of {n_users} users take {kept}" if n_users > 1 else f"The cache of one user takes {kept}"
    if ratio >= 1:
        return f"{told}: {number(ratio, '.1f')} times as much as the weights."
    return f"{told}: {number(ratio, '.0%')} of what the weights take."


def _sized(n_bytes: int) -> str:
    power = min(int(log2(n_bytes)) // 10, len(_UNITS) - 1)
    return f"{number(n_bytes / 1024**power, '.3g')}{NO_BREAK}{_UNITS[power]}"


def _told(y: float, what: str, shown: str, *, is_last: bool) -> list[str]:
    parts = [text(0, y, what, anchor="start"), text(358, y, shown, anchor="end", bold=is_last)]
    return parts if is_last else [*parts, line(0, y + 8, 358, y + 8, role="hidden", width=0.5)]


def _bar(y: float, name: str, role: str, part: float) -> list[str]:
    return [text(0, y, name, anchor="start", bold=True), box(0, y + 8, max(358 * part, 1), 14, role=role, filled=True)]


# What limits writing.

# A data sheet's word on a processor for data centers, A100 with 80 GB: operations and bytes a second.
_OPERATIONS, _MOVED = 312e12, 2039e9


@figure
def operations_a_byte() -> Figure:
    """Draw how many operations each byte of a cache is good for, against what a processor could do meanwhile."""
    n = 4096
    cases = [
        ("one new token, a KV head each", 1, 32, 32),
        ("one new token, 4 share a KV head", 1, 32, 8),
        ("one new token, 8 share a KV head", 1, 64, 8),
        (f"a prompt of {number(n, ',')}, a KV head each", n, 32, 32),
    ]
    rows = [(name, _intensity(n_new, n, heads, kv_heads)) for name, n_new, heads, kv_heads in cases]
    balance = _OPERATIONS / _MOVED
    x = _log_wide(balance)
    return Figure(
        svg(
            336,
            226,
            text(0, 16, "operations a byte of the cache", anchor="start", bold=True),
            *(
                part
                for at, (name, value) in enumerate(rows)
                for part in (
                    text(0, 46 + 42 * at, name, anchor="start"),
                    box(0, 52 + 42 * at, _log_wide(value), 12, role="query", filled=True),
                    text(_log_wide(value) + 6, 63 + 42 * at, number(value, ",.0f"), anchor="start", bold=True),
                )
            ),
            *(line(x, 51 + 42 * at, x, 65 + 42 * at, width=2) for at in range(len(rows))),
            text(x, 218, f"the processor: {number(balance, '.0f')}", size=13),
            title="Operations for each byte that is read",
            description="; ".join(f"{name}: {number(value, ',.0f')}" for name, value in rows)
            + f". The processor can do {number(balance, '.0f')}.",
        ),
        f"Each step to the right is a factor. A new token does {number(rows[0][1], '.0f')} operation for each byte of "
        f"keys and values that it reads; the processor could do {number(balance, '.0f')} in that time, and waits. A "
        "prompt reads each key once for thousands of queries, and is limited by arithmetic.",
        table(["what asks", "operations a byte"], [[name, number(value, ",.1f")] for name, value in rows]),
    )


def _intensity(n_new: int, n_tokens: int, n_heads: int, n_kv_heads: int) -> float:
    """Divide the FLOPs of scores and mix by the bytes of keys and values, both of one layer with heads 128 wide."""
    n_pairs = n_new * n_tokens - n_new * (n_new - 1) // 2
    return 4 * n_pairs * n_heads * 128 / kv_cache_bytes(n_tokens, 1, n_kv_heads, 128)


def _log_wide(value: float) -> float:
    return 22 + 23 * log2(value)
