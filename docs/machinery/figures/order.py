"""Draw what attention makes of a sentence that is said backwards, without the mask and with it."""

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.examples import SentenceExample, worked_example_sentence
from attention_primer.vectors import matmul
from machinery.drawing import Figure, box, figure, line, svg, table, text
from machinery.figures.parts import exact, listed, side_by_side

_LEFT, _STEP = 40, 80
_HEADS = ("word", "output, said forwards", "output, said backwards")


@figure
def word_order() -> Figure:
    """Draw each word with its output, in both orders, and a line from each word to itself."""
    examples = [worked_example_sentence(causal=False), worked_example_sentence()]
    rows = [
        [
            [word, *map(_shown, outputs)]
            for word, *outputs in zip(example.tokens, example.output, _backwards(example), strict=True)
        ]
        for example in examples
    ]
    return Figure(
        side_by_side(*map(_drawn, ("without the mask", "with the mask"), rows)),
        "Without the mask, a sentence said backwards gives the same four outputs, in reverse order: attention does not "
        "know which word came first. The mask lets in a little order, since a word sees only what came before it.",
        table(["without the mask: word", *_HEADS[1:]], rows[0]) + table(["with the mask: word", *_HEADS[1:]], rows[1]),
    )


def _backwards(example: SentenceExample) -> list[list[float]]:
    """Compute the outputs of the words in reverse order, and list them in the first order again."""
    x = example.x[::-1]
    q, k, v = (matmul(x, W) for W in (example.W_q, example.W_k, example.W_v))
    return scaled_dot_product_attention(q, k, v, example.mask).output[::-1]


def _drawn(title: str, rows: list[list[str]]) -> str:
    last = len(rows) - 1
    parts = [text(0, 16, title, anchor="start", bold=True)]
    for j, (word, forwards, backwards) in enumerate(rows):
        x, turned = _LEFT + _STEP * j, _LEFT + _STEP * (last - j)
        changed = forwards != backwards
        parts += [
            text(x, 46, word, role="key"),
            text(x, 68, forwards, role="value"),
            line(x, 76, turned, 122, width=1, dashed=changed),
            text(turned, 140, word, role="key"),
            text(turned, 162, backwards, role="value", bold=changed),
        ]
        if changed:
            parts.append(box(turned - 36, 146, 72, 23, role="value"))
    told = "; ".join(f"{word}: {forwards}, backwards {backwards}" for word, forwards, backwards in rows)
    return svg(2 * _LEFT + last * _STEP, 172, *parts, title=f"Said backwards, {title}", description=f"{told}.")


def _shown(numbers: list[float]) -> str:
    return listed(map(exact, numbers))
