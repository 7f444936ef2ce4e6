"""Draw the shares of "it", as a first figure to copy from."""

from attention_primer.softmaxes import softmax
from machinery.drawing import Figure, box, figure, number, svg, table, text

_WORDS = ("animal", "tired", "street")
_SCORES = (2.0, 1.0, 0.5)


@figure
def shares_of_it() -> Figure:
    """Draw one bar a word: what three scores make of one vote."""
    shares = softmax(_SCORES)
    rows = list(zip(_WORDS, _SCORES, shares, strict=True))
    bars = [
        text(70, 30 + 36 * i, word, role="key", anchor="end")
        + box(80, 14 + 36 * i, 200 * share, 24, role="w7", filled=True)
        + text(88 + 200 * share, 31 + 36 * i, number(share), anchor="start")
        for i, (word, _, share) in enumerate(rows)
    ]
    return Figure(
        svg(320, 120, *bars, title='What "it" takes from three words', description=f"Most from {_WORDS[0]}."),
        f"The highest score takes {number(shares[0])} of the vote.",
        table(["key →", "score", "share"], [[w, number(score, ".1f"), number(share)] for w, score, share in rows]),
    )
