"""Draw patterns of weights: with their names, without them, and a few that all give the same output."""

import html
from collections.abc import Sequence
from random import Random

from attention_primer.attention import scaled_dot_product_attention
from attention_primer.checks import Matrix
from attention_primer.circuits import induction_circuit, name_pattern, offset_head, previous_token_head, sink_head
from attention_primer.examples import worked_example_sentence
from attention_primer.masks import causal_mask, sliding_window_mask
from attention_primer.softmaxes import softmax
from attention_primer.vectors import mix
from machinery.drawing import Figure, box, cell, figure, number, svg, table, text
from machinery.figures.parts import NO_BREAK, exact, listed, over_one, side_by_side
from machinery.live import Choice, Slider, live

__all__ = ["TEXT", "UNNAMED", "noise", "patterns"]

_WORDS = worked_example_sentence().tokens

# The text of the gallery and of its quiz, which has repeats; its first token is the start token.
TEXT = ["^", "a", "b", "c", "a", "b", "d", "a", "b"]


def patterns(text: Sequence[str]) -> dict[str, Matrix]:
    """Make one perfect specimen of each pattern, by heads, masks and zeros."""
    n = len(text)
    zeros = [[0.0]] * n
    return {
        "diagonal": offset_head(text, 0).weights,
        "previous token": previous_token_head(text).weights,
        "offset 3": offset_head(text, 3).weights,
        "sink": sink_head(text).weights,
        "uniform": scaled_dot_product_attention(zeros, zeros, zeros, causal_mask(n)).weights,
        "local": scaled_dot_product_attention(zeros, zeros, zeros, sliding_window_mask(n, window=3)).weights,
        "induction": induction_circuit(text).second.weights,
        "mixed": noise(n),
    }


def noise(n: int, seed: int = 0) -> list[list[float]]:
    """Draw scores at random, wide enough that no pattern shows."""
    random = Random(seed)
    return [softmax([random.gauss(0, 2) for _ in range(i + 1)]) + [0.0] * (n - 1 - i) for i in range(n)]


_MADE_BY = {
    "diagonal": "an offset of 0",
    "previous token": "an offset of 1",
    "offset 3": "an offset of 3",
    "sink": "one key far ahead",
    "uniform": "queries of zeros",
    "local": "zeros and a sliding window",
    "induction": "two layers",
    "mixed": "scores drawn at random",
}


@figure
def gallery() -> Figure:
    """Draw one specimen of each pattern, with its name and score."""
    specimens = patterns(TEXT)
    named = {name: name_pattern(weights, TEXT) for name, weights in specimens.items()}
    scores = {name: number(max(named[name].scores.values())) for name in named}
    return Figure(
        side_by_side(*(_small(name, specimens[name], [f"score {scores[name]}"]) for name in specimens)),
        f"Eight patterns over the text {html.escape(NO_BREAK.join(TEXT))}. Rows are queries, columns keys; the hidden "
        "future is left blank. The last one gets no name, since no pattern scores high. All were made by hand.",
        table(
            ["pattern", "made by", "name that the library gives", "its best score"],
            [[name, _MADE_BY[name], named[name].name, scores[name]] for name in specimens],
        ),
    )


def _fading(n: int) -> Matrix:
    """Look at the last three, and less at what stands farther back."""
    zeros, bias = [[0.0]] * n, [[0.3 * (j - i) for j in range(n)] for i in range(n)]
    return scaled_dot_product_attention(zeros, zeros, zeros, sliding_window_mask(n, window=3), bias=bias).weights


# What the page's quiz shows; its answers ask for them by these letters.
UNNAMED: dict[str, Matrix] = {
    "A": previous_token_head(TEXT, lead=4).weights,
    "B": induction_circuit(TEXT, lead=4).second.weights,
    "C": sink_head(TEXT, lead=4).weights,
    "D": noise(len(TEXT), seed=3),
    "E": offset_head(TEXT, 2, lead=4).weights,
    "F": _fading(len(TEXT)),
}
_NO_GUESS = "not named yet"
_GUESSES = ("diagonal", "previous token", "offset 2", "offset 3", "sink", "uniform", "local", "induction", "mixed")


@live(
    "Name what you see.",
    Choice("pattern", tuple(UNNAMED), start="A"),
    Choice("name", (_NO_GUESS, *_GUESSES), start=_NO_GUESS),
)
def unnamed_patterns(letter: str, guess: str) -> Figure:
    """Draw six patterns without their names, and judge a guess by what the library measures."""
    return Figure(
        side_by_side(
            *(
                _small(f"pattern {name}", weights, [guess if name == letter else ""], size=16, words=TEXT)
                for name, weights in UNNAMED.items()
            )
        ),
        _verdict(letter, guess),
        table(["pattern", "name"], [[letter, guess]])
        + "".join(
            table(
                ["query ↓, key →", *TEXT],
                [
                    [word, *(number(w) if j <= i else "hidden" for j, w in enumerate(row))]
                    for i, (word, row) in enumerate(zip(TEXT, weights, strict=True))
                ],
                caption=f"pattern {name}",
            )
            for name, weights in UNNAMED.items()
        ),
        "The lines are blurred, as in trained heads. Made by hand all the same.",
    )


def _verdict(letter: str, guess: str) -> str:
    if guess == _NO_GUESS:
        return f"Pattern {letter} has no name yet."
    named = name_pattern(UNNAMED[letter], TEXT)
    best = number(max(named.scores.values()))
    if guess == "mixed":
        right = f"Yes: the best of all scores for {letter} is {best}, too low for a name."
        return right if named.name == guess else f"No: one pattern scores {best} for {letter}. Look again."
    score = f'{number(named.scores[guess])} of the shares lie where "{guess}" wants them'
    return f"Yes: for {letter}, {score}." if named.name == guess else f"No: for {letter}, only {score}. Look again."


def _small(
    title: str, weights: Matrix, below: Sequence[str], *, size: float = 13, words: Sequence[str] | None = None
) -> str:
    left, top = (20, 44) if words else (0, 26)
    parts = [text(0, 16, title, anchor="start", bold=True)]
    for j, word in enumerate(words or ()):
        parts.append(text(left + size * (j + 0.5), top - 6, word, role="key", size=13))
        parts.append(text(left - 6, top + size * j + 13, word, role="query", size=13, anchor="end"))
    parts += [
        cell(left + size * j, top + size * i, size - 1, w)
        for i, row in enumerate(weights)
        for j, w in enumerate(row)
        if j <= i
    ]
    foot = top + size * len(weights)
    parts += [text(0, foot + 18 + 18 * n, said, anchor="start", size=13) for n, said in enumerate(below)]
    most = [max(range(len(row)), key=lambda j: row[j]) for row in weights]
    told = "; ".join(f"row {i} reads most of {j}, {number(weights[i][j])}" for i, j in enumerate(most))
    return svg(
        max(left + size * len(weights), 150),
        foot + 8 + 18 * len(below),
        *parts,
        title=f"Weights: {title}",
        description=f"Rows and columns counted from 0: {told}.",
    )


@live("Move shares from word to word.", Slider('sixteenths on "cat"', (0, 1, 2, 3), start=2))
def same_output(sixteenths: int) -> Figure:
    """Draw rows of shares that all give the same output."""
    values = worked_example_sentence().v
    shares = _other_shares(sixteenths / 16)
    output, shown = mix(shares, values), over_one(shares)
    parts = [text(134, 44, "value", role="value", anchor="middle")]
    for j, (word, share, value) in enumerate(zip(_WORDS, shares, values, strict=True)):
        y = 58 + 30 * j
        parts += [
            text(48, y + 16, word, role="key", anchor="end"),
            text(134, y + 16, listed(map(exact, value)), role="value"),
            box(190, y + 2, max(1, 110 * share), 20, role="w8", filled=True),
            text(198 + 110 * share, y + 17, shown[j], anchor="start"),
        ]
    return Figure(
        svg(
            320,
            214,
            text(0, 16, 'what "down" reads', anchor="start", bold=True),
            text(190, 44, "share", anchor="start"),
            *parts,
            text(0, 200, f"output {listed(map(exact, output))}", role="value", anchor="start", bold=True),
            title='Shares of "down" and the output that they give',
            description=", ".join(f"{word} {part}" for word, part in zip(_WORDS, shown, strict=True)),
        ),
        f"Shares of {', '.join(shown)} give the output {listed(map(exact, output))}.",
        table(
            ["word", "value", "share"],
            [[word, listed(map(exact, v)), part] for word, v, part in zip(_WORDS, values, shown, strict=True)],
        ),
        "The output stays as it is, whatever the map looks like.",
    )


def _other_shares(cat: float) -> list[float]:
    """Find shares for a given one of "cat" that give the output of "down": 8a + 16b = 3, 8c + 4d = 5, sum 1."""
    return [3 / 8 - 2 * cat, cat, 5 / 8 - cat, 2 * cat]
