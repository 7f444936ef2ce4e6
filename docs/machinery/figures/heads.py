"""Draw several looks at once: one word with two heads, and query heads that share keys and values."""

from collections.abc import Sequence

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.examples import TwoHeads, worked_example_two_heads
from attention_primer.heads import MultiHeadAttention
from attention_primer.vectors import matmul, mix
from machinery.drawing import Figure, box, cell, figure, hidden_cell, line, svg, table, text
from machinery.figures.parts import NO_BREAK, exact, listed, over_one, side_by_side
from machinery.live import Choice, Switch, live

_SIZE, _LEFT, _TOP, _STEP = 42, 70, 52, 50
_N_HEADS = 4
_EXAMPLE = worked_example_two_heads()


@live(
    "Does every word gain by a second head?",
    Choice("word", _EXAMPLE.tokens, start="down"),
    Switch("let head 1 use the keys and values of head 0"),
)
def one_word_two_heads(word: str, is_shared: bool) -> Figure:
    """Draw the two rows of a word, the one row that a single head could offer, and how the outputs are joined."""
    i = _EXAMPLE.tokens.index(word)
    heads = _heads(_EXAMPLE, is_shared=is_shared)
    rows, outputs = [head.weights[i] for head in heads], [head.output[i] for head in heads]
    glued = [x for output in outputs for x in output]
    joined, seen = mix(glued, _EXAMPLE.W_o), _EXAMPLE.mask[i]
    between = [(a + b) / 2 for a, b in zip(*rows, strict=True)]
    names = ("head 0", "head 1")
    parts = [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, key, role="key") for j, key in enumerate(_EXAMPLE.tokens)]
    for n, (name, row, output) in enumerate(zip(names, rows, outputs, strict=True)):
        parts += _row(_TOP + _STEP * n, name, row, seen)
        parts.append(
            text(_LEFT + 4 * _SIZE + 14, _TOP + _STEP * n + 27, f"→ {_shown(output)}", role="value", anchor="start")
        )
    y = _TOP + 2 * _STEP + 22
    parts += [line(0, y - 12, _LEFT + 4 * _SIZE, y - 12, width=1, dashed=True)]
    parts += _row(y, "halfway", between, seen)
    y += _STEP + 34
    parts += [
        text(0, y, "glued", anchor="start"),
        text(_LEFT, y, _shown(glued), role="value", anchor="start"),
        text(0, y + 26, "× W_o", anchor="start"),
        text(_LEFT, y + 26, _shown(joined), role="value", anchor="start", bold=True),
    ]
    return Figure(
        svg(
            332,
            y + 38,
            text(0, 16, f'what "{word}" reads', anchor="start", bold=True),
            text(_LEFT + 4 * _SIZE + 14, _TOP - 8, "output", role="value", anchor="start"),
            text(_LEFT - 8, _TOP - 8, "key →", anchor="end", size=13),
            *parts,
            title=f'What "{word}" reads in two heads',
            description=f"{_most(rows)}. Glued: {_shown(glued)}; after W_o: {_shown(joined)}.",
        ),
        _finding(word, rows, outputs, is_shared=is_shared),
        table(
            [f"row of {word}", *_EXAMPLE.tokens, "output"],
            [
                *(
                    [name, *_fractions(row, seen), _shown(output)]
                    for name, row, output in zip(names, rows, outputs, strict=True)
                ),
                ["halfway", *_fractions(between, seen), "none"],
                ["glued", *[""] * 4, _shown(glued)],
                ["after W_o", *[""] * 4, _shown(joined)],
            ],
        ),
        "A single row halfway between the heads would favor neither. The outputs are glued together, and W_o mixes "
        "them. The numbers were typed in by hand, not learned.",
    )


def _heads(example: TwoHeads, *, is_shared: bool) -> list[Attention]:
    if not is_shared:
        return example.heads
    # Four columns of W_q and W_k and two of W_v make a head.
    q = [row[4:] for row in matmul(example.x, example.W_q)]
    k, v = [row[:4] for row in matmul(example.x, example.W_k)], [row[:2] for row in matmul(example.x, example.W_v)]
    return [example.heads[0], scaled_dot_product_attention(q, k, v, example.mask)]


def _finding(word: str, rows: Sequence[Sequence[float]], outputs: Sequence[Sequence[float]], *, is_shared: bool) -> str:
    told = f'For "{word}", {_most(rows)}.'
    if is_shared:
        return (
            f"{told} Head 1 still asks its own question. It now meets the keys of head 0 and hands over "
            f"{_shown(outputs[1])} out of its values, and only half of the keys and values has to be kept."
        )
    return told


def _most(rows: Sequence[Sequence[float]]) -> str:
    """Say what each head reads most, or that there is nothing to choose."""
    told = []
    for n, row in enumerate(rows):
        best = [key for key, share in zip(_EXAMPLE.tokens, row, strict=True) if max(row) - share < 1e-9]
        fraction = _fractions(row, [True] * 4)[_EXAMPLE.tokens.index(best[0])]
        read = " and of ".join(f'"{key}"' for key in best)
        told.append(f"head\u00a0{n} reads {'all' if fraction == '1' else fraction} of {read}")
    return ", ".join(told)


@figure
def shared_heads() -> Figure:
    """Draw four query heads on four, two and one heads of keys and values."""
    layouts = ((4, "MHA, each its own"), (2, "GQA, two share one"), (1, "MQA, all share one"))
    params = {n: MultiHeadAttention(64, _N_HEADS, n).kv_params for n, _ in layouts}
    parts = {n: exact(params[n] / params[_N_HEADS]) for n in params}
    return Figure(
        side_by_side(*(_sharing(n, title, parts[n]) for n, title in layouts)),
        "Four query heads on four, two and one heads of keys and values. The queries make the heads differ; sharing "
        f"leaves {parts[2]} or {parts[1]} of the keys and values to compute and to keep.",
        table(
            ["layout", "query heads", "KV heads", "query head → KV head", "keys and values kept"],
            [
                [
                    title.partition(",")[0],
                    str(_N_HEADS),
                    str(n),
                    ", ".join(f"{h}{NO_BREAK}→{NO_BREAK}{h // (_N_HEADS // n)}" for h in range(_N_HEADS)),
                    parts[n],
                ]
                for n, title in layouts
            ],
        ),
    )


def _sharing(n_kv_heads: int, title: str, part: str) -> str:
    xs = [24 + 48 * h for h in range(_N_HEADS)]
    group = _N_HEADS // n_kv_heads
    kv = [sum(xs[g * group : (g + 1) * group]) / group for g in range(n_kv_heads)]
    return svg(
        196,
        168,
        text(0, 16, title, anchor="start", bold=True),
        *(line(x, 66, kv[h // group], 106) for h, x in enumerate(xs)),
        *(_named(x, 38, f"q{h}", "query") for h, x in enumerate(xs)),
        *(_named(x, 106, f"kv{g}", "key") for g, x in enumerate(kv)),
        text(0, 160, f"keys and values kept: {part}", anchor="start", size=13),
        title=f"Query heads on KV heads: {title}",
        description=", ".join(f"query head {h} reads KV head {h // group}" for h in range(_N_HEADS)),
    )


def _named(x: float, y: float, name: str, role: str) -> str:
    return box(x - 19, y, 38, 28, role=role) + text(x, y + 19, name, role=role)


def _row(y: float, name: str, row: Sequence[float], seen: Sequence[bool]) -> list[str]:
    places = [(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2) for j in range(len(row))]
    cells = [
        cell(*place, share, shown) if may_see else hidden_cell(*place)
        for place, share, shown, may_see in zip(places, row, _fractions(row, seen), seen, strict=True)
    ]
    return [text(_LEFT - 8, y + 27, name, anchor="end"), *cells]


def _fractions(row: Sequence[float], seen: Sequence[bool]) -> list[str]:
    return [shown if may_see else "hidden" for shown, may_see in zip(over_one(row), seen, strict=True)]


def _shown(numbers: Sequence[float]) -> str:
    return listed(map(exact, numbers))
