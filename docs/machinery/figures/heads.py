"""Draw several looks at once: one word with two heads, and query heads that share keys and values."""

from attention_primer.examples import worked_example_two_heads
from attention_primer.heads import MultiHeadAttention
from machinery.drawing import Figure, arrow, box, cell, figure, line, svg, table, text
from machinery.figures.parts import exact, listed, side_by_side

_SIZE, _LEFT, _TOP, _STEP = 42, 70, 52, 50
_DOWN = 3
_N_HEADS = 4


@figure
def one_word_two_heads() -> Figure:
    """Draw the two rows of "down", the one row that a single head could offer, and how the outputs are joined."""
    steps = worked_example_two_heads()
    words, rows = steps.tokens, [head.weights[_DOWN] for head in steps.heads]
    outputs = [head.output[_DOWN] for head in steps.heads]
    between = [(a + b) / 2 for a, b in zip(*rows, strict=True)]
    names = ("head 0", "head 1")
    parts = [text(_LEFT + _SIZE * (j + 0.5), _TOP - 8, word, role="key") for j, word in enumerate(words)]
    for i, (name, row, output) in enumerate(zip(names, rows, outputs, strict=True)):
        parts += _row(_TOP + _STEP * i, name, [exact(share, parts=8) for share in row], row)
        parts.append(
            text(_LEFT + 4 * _SIZE + 14, _TOP + _STEP * i + 27, f"→ {_shown(output)}", role="value", anchor="start")
        )
    y = _TOP + 2 * _STEP + 22
    parts += [line(0, y - 12, _LEFT + 4 * _SIZE, y - 12, width=1, dashed=True)]
    parts += _row(y, "halfway", [exact(share, parts=16) for share in between], between)
    y += _STEP + 34
    parts += [
        text(0, y, "glued", anchor="start"),
        text(_LEFT, y, _shown(steps.glued[_DOWN]), role="value", anchor="start"),
        arrow(_LEFT + 88, y - 5, _LEFT + 146, y - 5),
        text(_LEFT + 114, y - 12, "× W_o", size=13),
        text(_LEFT + 158, y, _shown(steps.output[_DOWN]), role="value", anchor="start", bold=True),
    ]
    return Figure(
        svg(
            332,
            y + 12,
            text(0, 16, 'what "down" reads', anchor="start", bold=True),
            text(_LEFT + 4 * _SIZE + 14, _TOP - 8, "output", role="value", anchor="start"),
            text(_LEFT - 8, _TOP - 8, "key →", anchor="end", size=13),
            *parts,
            title='What "down" reads in two heads',
            description=f"Head 0 reads sat most, head 1 cat. Glued: {_shown(steps.glued[_DOWN])}; after W_o: "
            f"{_shown(steps.output[_DOWN])}.",
        ),
        f'Head 0 reads {exact(rows[0][2], parts=8)} of "sat", head 1 {exact(rows[1][1], parts=8)} of "cat". A single '
        "row halfway between them favors neither. The outputs are glued together, and W_o mixes them. The numbers were "
        "typed in by hand, not learned.",
        table(
            ["row of down", *words, "output"],
            [
                *(
                    [name, *(exact(share, parts=8) for share in row), _shown(output)]
                    for name, row, output in zip(names, rows, outputs, strict=True)
                ),
                ["halfway", *(exact(share, parts=16) for share in between), "none"],
            ],
        ),
    )


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
                    ", ".join(f"{h} → {h // (_N_HEADS // n)}" for h in range(_N_HEADS)),
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


def _row(y: float, name: str, shown: list[str], shares: list[float]) -> list[str]:
    cells = [cell(_LEFT + _SIZE * j + 1, y + 1, _SIZE - 2, share, shown[j]) for j, share in enumerate(shares)]
    return [text(_LEFT - 8, y + 27, name, anchor="end"), *cells]


def _shown(numbers: list[float]) -> str:
    return listed(map(exact, numbers))
