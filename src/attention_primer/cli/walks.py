"""Walk the worked examples step by step, with all numbers and their pictures.

| name | in one line |
|---|---|
| [`Step`][attention_primer.cli.walks.Step] | one step: a claim, and what shows it |
| [`walk_it`][attention_primer.cli.walks.walk_it] | three scores become shares |
| [`walk_two_looks`][attention_primer.cli.walks.walk_two_looks] | "it" finds the animal |
| [`walk_sat`][attention_primer.cli.walks.walk_sat] | one row on a napkin |
| [`walk_sentence`][attention_primer.cli.walks.walk_sentence] | "The cat sat down", exact |
"""

from collections.abc import Iterable
from fractions import Fraction
from math import exp, fsum, log
from typing import NamedTuple

from attention_primer.cli.terminal import Table
from attention_primer.examples import (
    Look,
    TwoLooks,
    worked_example_it,
    worked_example_sat,
    worked_example_sentence,
    worked_example_two_looks,
)
from attention_primer.heatmaps import Heatmap
from attention_primer.softmaxes import softmax

__all__ = ["Step", "walk_it", "walk_sat", "walk_sentence", "walk_two_looks"]


Part = str | Table | Heatmap


class Step(NamedTuple):
    """Hold one step of a walk.

    Attributes:
        claim: What happens, in a sentence.
        parts: What shows it: paragraphs, tables and pictures.

    Examples:
        A walk is a list of steps:

        >>> walk_it()[0].claim
        'Three scores are given'
    """

    claim: str
    parts: list[Part]


def walk_it() -> list[Step]:
    """Walk from three scores of "it" to their shares.

    Returns:
        Four steps.

    Examples:
        The last step adds a thousand to every score, and nothing changes:

        >>> walk_it()[3].claim
        'Only differences count'
    """
    shares = worked_example_it()
    scores = [2.0, 1.0, 0.5]
    e_values = [exp(score) for score in scores]
    shifted = [score + 1000 for score in scores]
    columns = [list(shares), _column(scores), _column(e_values), _column(shares.values())]
    heads, roles = ["key", "score", "e^score", "share"], ["key", "", "", "weight"]
    total = ["total", "", _two(fsum(e_values)), _two(fsum(shares.values()))]
    return [
        Step(
            "Three scores are given",
            [
                'In "The animal didn\'t cross the street because it was too tired", the word "it" has a score for '
                "each word that it may read. Here are three of them.",
                Table(heads[:2], _rows(columns[:2]), roles[:2]),
            ],
        ),
        Step(
            "Each score becomes e to that score",
            [
                f"An e-value is never negative, and a lead multiplies: one point more is a factor of {_two(exp(1))}.",
                Table(heads[:3], [*_rows(columns[:3]), total[:3]], roles[:3]),
            ],
        ),
        Step(
            "A share is an e-value divided by the total",
            [
                Table(heads, [*_rows(columns), total], roles),
                shares.heatmap(),
                f"Dividing the scores themselves would give the animal {_two(scores[0] / fsum(scores))}, and negative "
                "scores would make nonsense.",
            ],
        ),
        Step(
            "Only differences count",
            [
                "A thousand more for every score multiplies top and bottom alike, and cancels.",
                Table(
                    ["key", "score + 1000", "share"],
                    _rows([shares, _column(shifted), _column(softmax(shifted))]),
                    ["key", "", "weight"],
                ),
                "Where such scores come from:\nattention-primer example two-looks",
            ],
        ),
    ]


def walk_sat() -> list[Step]:
    r"""Walk along one row of attention: what "sat" reads in "The cat sat down".

    Returns:
        Five steps.

    Examples:
        A verb finds its subject:

        >>> print("\n".join(walk_sat()[1].parts[1].lines()[:3]))
        key   its numbers  q·k
        The     [0, 0, 1]    0
        cat     [1, 2, 0]    5
    """
    napkin = worked_example_sat()
    columns = [
        napkin.tokens,
        [_vector(k_j) for k_j in napkin.k],
        *map(_column, (napkin.scores, napkin.scaled, napkin.exponentials, napkin.weights)),
    ]
    heads, roles = ["key", "its numbers", "q·k", "÷ √3", "e to it", "share"], ["key", "key", "", "", "", "weight"]
    total = ["total", "", "", "", _two(fsum(napkin.exponentials)), _two(fsum(napkin.weights))]
    values = [*_rows([napkin.tokens, columns[5], map(_vector, napkin.v)]), ["mix", "", _vector(napkin.output)]]
    return [
        Step(
            '"sat" asks',
            [
                f"Its vector {_vector(napkin.x)} is a recipe over the rows of W_q: none of row 0, one of row 1, one "
                f"of row 2. So its query is {_vector(napkin.q)}.",
                Table(["row", "W_q"], [[str(c), _vector(row)] for c, row in enumerate(napkin.W_q)], ["", "query"]),
            ],
        ),
        Step(
            "A score is a match",
            [
                'Multiply the query with a key, entry by entry, and add up. The key of "cat" is the very thing that '
                'the query of "sat" asks for: a verb finds its subject.',
                Table(heads[:3], _rows(columns[:3]), roles[:3]),
            ],
        ),
        Step(
            "Wide vectors have large sums, so divide by √3",
            ["A key has three numbers here.", Table(heads[:4], _rows(columns[:4]), roles[:4])],
        ),
        Step(
            "Softmax: e to each score, divided by the total",
            [Table(heads, [*_rows(columns), total], roles), napkin.heatmap()],
        ),
        Step(
            "The answer is a mix of values",
            [
                Table(["key", "share", "value"], values, ["key", "weight", "value"]),
                "Each number is rounded on its own from the exact one, so a sum may seem to be off by one in its last "
                "digit.",
            ],
        ),
    ]


def walk_sentence(*, causal: bool = True) -> list[Step]:
    """Walk through all of attention over "The cat sat down", in exact numbers.

    Args:
        causal: Whether to hide the future.

    Returns:
        Seven steps, or six without the mask.

    Examples:
        Without the mask, no step hides anything:

        >>> [len(walk_sentence(causal=causal)) for causal in (True, False)]
        [7, 6]
    """
    example = worked_example_sentence(causal)
    words, mask = example.tokens, example.mask
    every = [[True] * len(words)] * len(words)
    asked, doublings, scaled = map(_doublings, (example.q, example.scores, example.scaled))
    e_values = [[exp(s) for s in s_i] for s_i in example.scaled]
    steps = [
        Step(
            "Each word is three numbers",
            [
                Table(
                    ["word", "thing", "action", "direction"],
                    _rows([words, *map(_column, zip(*example.x, strict=True))]),
                ),
                "They were typed in by hand, as were all weights. Training would have to find such numbers.",
            ],
        ),
        Step(
            "Three matrices make what it asks, offers and hands over",
            [
                "Queries are counted in L = ln 2: a score that is higher by L doubles the e-value, so a pencil sees "
                "powers of two.",
                Table(
                    ["word", "asks: q ÷ L", "offers: k", "hands over: v"],
                    _rows([words, map(_vector, asked), map(_vector, example.k), map(_vector, example.v)]),
                    ["", "query", "key", "value"],
                ),
            ],
        ),
        Step("A score is a match of query and key", ["q·k, counted in L.", _grid(words, doublings, every)]),
        Step(
            "Wide vectors have large sums, so divide by √4",
            ["A key has four numbers, and √4 is 2.", _grid(words, scaled, every)],
        ),
        Step(
            "The mask hides the future",
            ["Nobody may read a word that comes later.", Heatmap(mask, words)],
        ),
        Step(
            "Softmax: e to each score, divided by the total of its row",
            [_grid(words, e_values, mask, total=True), example.heatmap()],
        ),
        Step(
            "The answer is a mix of values",
            [
                Table(["query", "output"], _rows([words, map(_vector, example.output)]), ["query", "value"]),
                "With the mask off, everybody reads the future, too:\nattention-primer example sentence --no-mask"
                if causal
                else "With the mask on, nobody reads the future:\nattention-primer example sentence",
            ],
        ),
    ]
    return [step for step in steps if causal or "mask" not in step.claim]


def walk_two_looks(last_word: str = "tired", *, causal: bool = False) -> list[Step]:
    """Walk through the two looks by which "it" finds the animal, or the street.

    Args:
        last_word: "tired", "wide" or "wet".
        causal: Whether to hide the future. Then "it" never sees the last word, and a fifth step shows who finds out.

    Returns:
        Four steps, or five.

    Raises:
        ValueError: If the last word is another one.

    Examples:
        One word changes, and "it" moves; with the future hidden, it can't:

        >>> walk_two_looks("tired")[3].claim
        '"it" asks again, and finds the animal'
        >>> walk_two_looks("wide")[3].claim
        '"it" asks again, and finds the street'
        >>> print(walk_two_looks("wide", causal=True)[3].claim)
        "it" asks again, and can't tell
    """
    looks = worked_example_two_looks(last_word, causal=causal)
    it = looks.tokens.index("it")
    claims = ['"it" reads the last word', "What it reads is added to what it is"]
    if causal:
        claims = ['"it" can\'t see the last word', "So it learns nothing new"]
    words = {token: looks.x[looks.tokens.index(token)] for token in (*looks.shares, "it")}
    before, after = looks.x[it], looks.first.sum[it]
    steps = [
        Step(
            "Each word is six numbers",
            [
                f"{' '.join(looks.tokens)}.",
                _numbers("word", {**words, "others": looks.x[0]}),
                "The first four say what a word is. The last two say what it needs: whom it stands for, and whether "
                "it goes with creatures (1) or places (−1). All was typed in by hand, not learned.",
            ],
        ),
        Step(claims[0], [*_look(looks, looks.first, "it"), "The −40 in its query keeps the fillers away."]),
        Step(
            claims[1],
            [
                _numbers('"it"', {"before": before, "after": after}),
                f"What it goes with was {_exact(before[-1])} and is now {_exact(after[-1])}; nothing else changes."
                if before != after
                else "Nothing changes: no word that it reads says what it goes with.",
            ],
        ),
        Step(f'"it" asks again, and {_finding(looks)}', [*_look(looks, looks.second, "it"), looks.heatmap()]),
    ]
    if not causal:
        other = "tired" if last_word == "wide" else "wide"
        steps[-1].parts.append(f"Change one word:\nattention-primer example two-looks --last-word {other}")
    else:
        heard = [*_look(looks, looks.second, last_word), looks.heatmap(last_word)]
        steps.append(Step(f'"{last_word}" sees all that came before, and {_finding(looks, last_word)}', heard))
    return steps


_NAMES = ["noun", "kind", "describing", "filler", "pronoun", "goes with"]


def _finding(looks: TwoLooks, word: str = "it") -> str:
    shares = looks.shares_of(word)
    lead = shares["animal"] - shares["street"]
    return "can't tell" if abs(lead) < 0.01 else f"finds the {'animal' if lead > 0 else 'street'}"


def _look(looks: TwoLooks, look: Look, word: str) -> list[Part]:
    i = looks.tokens.index(word)
    rows, rest = [], 1.0
    for key in looks.shares:
        j = looks.tokens.index(key)
        if looks.mask[i][j]:
            rest -= look.weights[i][j]
            numbers = look.scores[i][j], look.scaled[i][j], look.weights[i][j]
            rows.append([key, _vector(look.k[j]), *map(_two, numbers)])
    rows.append(["others", "", "", "", _two(rest)])
    return [
        f"Its query is {_vector(look.q[i])}.",
        Table(["key", "its numbers", "q·k", "÷ √4", "share"], rows, ["key", "", "", "", "weight"]),
    ]


def _two(x: float) -> str:
    text = f"{x:.2f}".replace("-", "−")
    return text.removeprefix("−") if float(f"{x:.2f}") == 0 else text


def _exact(x: float) -> str:
    """Write a whole number or a simple fraction as such, and anything else with two decimals."""
    near = Fraction(x).limit_denominator(64)
    return str(near).replace("-", "−") if abs(x - near) < 1e-6 else _two(x)


def _doublings(matrix: list[list[float]]) -> list[list[float]]:
    return [[x / log(2) for x in row] for row in matrix]


def _vector(row: Iterable[float]) -> str:
    return f"[{', '.join(map(_exact, row))}]"


def _column(numbers: Iterable[float]) -> list[str]:
    """Write numbers with as many decimals as the longest of them needs: none or two."""
    numbers = list(numbers)
    return [f"{x:.0f}" if all(map(float.is_integer, numbers)) else _two(x) for x in numbers]


def _rows(columns: Iterable[Iterable[str]]) -> list[list[str]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _numbers(head: str, vectors: dict[str, list[float]]) -> Table:
    return Table([head, *_NAMES], [[word, *map(_exact, vector)] for word, vector in vectors.items()])


def _grid(words: list[str], numbers: list[list[float]], mask: list[list[bool]], *, total: bool = False) -> Table:
    """Line up a matrix, queries down and keys across, with a dot for what is hidden."""
    rows = []
    for word, row, seen_i in zip(words, numbers, mask, strict=True):
        rows.append([word, *(_exact(x) if seen else "·" for x, seen in zip(row, seen_i, strict=True))])
        if total:
            rows[-1].append(_exact(fsum(x for x, seen in zip(row, seen_i, strict=True) if seen)))
    return Table(["query ↓, key →", *words, *["total"] * total], rows, ["query"])
