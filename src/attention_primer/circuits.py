r"""Give heads their jobs by hand: weights that look back, that rest, and that continue a pattern.

| function | what the head does |
|---|---|
| [`previous_token_head`][attention_primer.circuits.previous_token_head] | reads the token just before |
| [`offset_head`][attention_primer.circuits.offset_head] | reads the token so many places before |
| [`sink_head`][attention_primer.circuits.sink_head] | rests on the first token and takes nothing from it |
| [`induction_circuit`][attention_primer.circuits.induction_circuit] | in two layers: finds what came next last time |
| [`name_pattern`][attention_primer.circuits.name_pattern] | tells which of these a matrix of weights looks like |

A token's vector has lanes: the first numbers say which token it is, the next ones where it stands, the others are empty
until a head writes there. All weights were typed in; the library's own attention runs them, and nothing is trained.

Sources: Elhage et al., 2021, *A Mathematical Framework for Transformer Circuits*; Olsson et al., 2022, *In-context
Learning and Induction Heads*; Xiao et al., 2023, *Efficient Streaming Language Models with Attention Sinks*.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import sqrt
from typing import NamedTuple

from attention_primer.checks import Matrix, ShapeError, entries, finite_matrix, flag, positive, shown, size
from attention_primer.heads import MultiHeadAttention
from attention_primer.heatmaps import Heatmap
from attention_primer.masks import causal_mask
from attention_primer.vectors import matmul, shape, transpose

__all__ = [
    "Head",
    "InductionCircuit",
    "NamedPattern",
    "induction_circuit",
    "name_pattern",
    "offset_head",
    "previous_token_head",
    "sink_head",
]

# So many points ahead, a key takes all but less than rounding leaves.
_LEAD = 40.0

_ENOUGH = 0.75  # of the weights where a pattern wants them, or it goes without a name
_WINDOW = 3  # of the local pattern, the token itself included
_LEAST = 4  # tokens; with fewer, patterns look alike
_NEAR = 1e-5  # shares that were computed in 32 bits miss 1 by less

Table = list[list[float]]
Lanes = dict[str, range]
Wanted = Sequence[Sequence[int]]  # for each row, where a pattern wants its share, all alike


class Head(NamedTuple):
    """One head over a text, with all its steps.

    Attributes:
        tokens: The text.
        lanes: Which numbers of a vector belong to which lane.
        x: (n, d_model) the vectors that it reads: the residual stream before it.
        W_q: (d_model, d_k) what each number of a vector asks.
        W_k: (d_model, d_k) what it offers.
        W_v: (d_model, d_v) what it hands over.
        W_o: (d_v, d_model) into which lane the mix is written.
        q: (n, d_k) the queries.
        k: (n, d_k) the keys.
        v: (n, d_v) the values.
        mask: (n, n) who may see whom: nobody sees the future.
        weights: (n, n) the shares; each row sums to 1.
        output: (n, d_v) the mixes of values.
        sum: (n, d_model) x plus what was written: the residual stream after it.

    Examples:
        A head adds to its own lane and leaves the others as they were:

        >>> head = previous_token_head(["The", "cat", "sat"])
        >>> [head.sum[2][c] for c in head.lanes["token"]], [round(head.sum[2][c], 9) for c in head.lanes["read"]]
        ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    """

    tokens: list[str]
    lanes: Lanes
    x: Table
    W_q: Table
    W_k: Table
    W_v: Table
    W_o: Table
    q: Table
    k: Table
    v: Table
    mask: list[list[bool]]
    weights: Table
    output: Table
    sum: Table

    @property
    def qk(self) -> Table:
        r"""The QK circuit, $W_q W_k^\top$, (d_model, d_model): where the head looks.

        Examples:
            A score needs no more than this one matrix and two vectors:

            >>> head = previous_token_head(["The", "cat", "sat"])
            >>> scores = matmul(matmul(head.x, head.qk), transpose(head.x))
            >>> scores == matmul(head.q, transpose(head.k))
            True
        """
        return matmul(self.W_q, transpose(self.W_k))

    @property
    def ov(self) -> Table:
        """The OV circuit, $W_v W_o$, (d_model, d_model): what it moves from where it looks, and into which lane.

        Examples:
            Row "token" to column "read": the head copies.

            >>> head = previous_token_head(["The", "cat", "sat"])
            >>> [[head.ov[r][c] for c in head.lanes["read"]] for r in head.lanes["token"]]
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        return matmul(self.W_v, self.W_o)

    def heatmap(self) -> Heatmap:
        """Draw the weights.

        Returns:
            A Heatmap, n by n.

        Examples:
            A bright line under the diagonal:

            >>> print(previous_token_head(["The", "cat", "sat"]).heatmap().text(ascii=True))
            query (down), key (across), hidden .
                 The      cat      sat
            The  ## 1.00  .        .
            cat  ## 1.00     0.00  .
            sat     0.00  ## 1.00     0.00
        """
        return Heatmap(self.weights, self.tokens, self.tokens, mask=self.mask)


def previous_token_head(tokens: Sequence[str], *, lead: float = _LEAD) -> Head:
    """Let every token read the one just before it.

    Args:
        tokens: The text, at least two tokens.
        lead: How many points the wanted key is ahead of each other key.

    Returns:
        All the steps. In the lane "read" of its sum, each token holds the one before it; the first holds itself, since
        it sees nothing else.

    Raises:
        ShapeError: If there is no token.
        TypeError: If tokens are not text, or lead is not a number.
        ValueError: If there is one token only, or lead is not above 0.

    Examples:
        It is the head with an offset of one:

        >>> tokens = ["The", "cat", "sat", "down"]
        >>> previous_token_head(tokens).weights == offset_head(tokens, 1).weights
        True

        A small lead blurs the line; the wanted key gets e to the lead times the share of another:

        >>> [round(w, 2) for w in previous_token_head(tokens, lead=2).weights[3]]
        [0.1, 0.1, 0.71, 0.1]

        The first token has none before it:

        >>> previous_token_head(["The"])
        Traceback (most recent call last):
        ValueError: back is 1 for 1 token: it must be at most 0, or nothing stands so far back
    """
    return offset_head(tokens, 1, lead=lead)


def offset_head(tokens: Sequence[str], back: int, *, lead: float = _LEAD) -> Head:
    """Let every token read the one that stands so many places before it.

    The query matrix is a shift: whoever stands at place i asks for place i − back. A token with too few before it asks
    for nothing, so it reads all that it sees alike.

    Args:
        tokens: The text.
        back: How many places; 0 is the token itself.
        lead: How many points the wanted key is ahead of each other key.

    Returns:
        All the steps. From row `back` on, the weights are 1 on one diagonal, within rounding.

    Raises:
        ShapeError: If there is no token.
        TypeError: If tokens are not text, back is not a whole number, or lead is not a number.
        ValueError: If back is negative or not below the number of tokens, or lead is not above 0.

    Examples:
        Two places back, from the third token on:

        >>> for row in offset_head(["The", "cat", "sat", "down"], 2).weights:
        ...     print([round(w, 9) for w in row])
        [1.0, 0.0, 0.0, 0.0]
        [0.5, 0.5, 0.0, 0.0]
        [1.0, 0.0, 0.0, 0.0]
        [0.0, 1.0, 0.0, 0.0]

        The text must be long enough:

        >>> offset_head(["The", "cat"], 2)
        Traceback (most recent call last):
        ValueError: back is 2 for 2 tokens: it must be at most 1, or nothing stands so far back
    """
    tokens, back, lead = _words(tokens), size(back, "back", least=0), positive(lead, "lead")
    if back >= (n := len(tokens)):
        plural = "" if n == 1 else "s"
        raise ValueError(
            f"back is {shown(back)} for {n} token{plural}: it must be at most {n - 1}, or nothing stands so far back"
        )
    return _shifted(_lanes(tokens, "read"), tokens, back, lead, into="read")


def sink_head(tokens: Sequence[str], *, lead: float = _LEAD) -> Head:
    """Let every token park its share on the first one, which hands over nothing.

    The shares of a row must sum to 1, so a head can't read nothing. It can read a token whose value is zero.

    Args:
        tokens: The text.
        lead: How many points the first key is ahead of each other key.

    Returns:
        All the steps. Column 0 of the weights is 1 and what is written is 0, within rounding.

    Raises:
        ShapeError: If there is no token.
        TypeError: If tokens are not text, or lead is not a number.
        ValueError: If lead is not above 0.

    Examples:
        Everybody looks at the first token, and nobody hears a thing:

        >>> head = sink_head(["The", "cat", "sat"])
        >>> [round(w, 9) for w in head.weights[2]], [round(x, 9) for x in head.output[2]]
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])

        Without a lead it would be no sink:

        >>> sink_head(["The", "cat", "sat"], lead=0)
        Traceback (most recent call last):
        ValueError: lead is 0.0: it must be above 0
    """
    tokens, lead = _words(tokens), positive(lead, "lead")
    lanes, n = _lanes(tokens, "read"), len(tokens)
    # Wherever a token stands, it asks the same; only place 0 offers it.
    W_q = _reading(lanes, position=[[lead]] * n)
    W_k = _reading(lanes, position=transpose([_one_hot(n, 0)]))
    return _head(lanes, tokens, _embedded(tokens, lanes), W_q, W_k, _all_but_the_first(lanes), into="read")


class InductionCircuit(NamedTuple):
    """Two layers that find what came next last time, with all their steps.

    Attributes:
        tokens: The text; the first token is the start token.
        vocabulary: Each token once, in the order in which they first appear.
        first: The previous-token head, which stamps each token with its predecessor, in the lane "before".
        second: The induction head, which looks for the stamp that equals the token itself, and copies what stands
            there into the lane "next".
        W_u: (d_model, n_words) the unembedding, which reads the lane "next".
        logits: (n, n_words) what each place expects next.

    Examples:
        The second layer reads what the first one left:

        >>> circuit = induction_circuit(["<start>", "a", "b", "a"])
        >>> circuit.second.x == circuit.first.sum
        True
    """

    tokens: list[str]
    vocabulary: list[str]
    first: Head
    second: Head
    W_u: Table
    logits: Table

    @property
    def next_token(self) -> dict[str, float]:
        """What the last place expects next, by word; words that it does not expect are left out.

        Examples:
            After "b" came "a" once, and "c" once:

            >>> circuit = induction_circuit(["<start>", "b", "a", "b", "c", "b"])
            >>> {word: round(logit, 9) for word, logit in circuit.next_token.items()}
            {'a': 0.5, 'c': 0.5}
        """
        return {word: x for word, x in zip(self.vocabulary, self.logits[-1], strict=True) if x > 1e-9}

    def heatmap(self) -> Heatmap:
        """Draw the weights of the second layer: the induction pattern.

        Returns:
            A Heatmap, n by n.

        Examples:
            The last "a" looks at what followed the first one:

            >>> print(induction_circuit(["<start>", "a", "b", "a"]).heatmap().text(ascii=True).splitlines()[-1])
            a           0.00     0.00  ## 1.00     0.00
        """
        return self.second.heatmap()


def induction_circuit(tokens: Sequence[str], *, latest: bool = False, lead: float = _LEAD) -> InductionCircuit:
    """Continue a text as it went on before: … Mr Dursley … Mr → Dursley.

    Layer 1 stamps each token with its predecessor. In layer 2 a token looks for the stamp that equals itself, and
    copies what stands there. Whoever finds nothing rests on the start token, which hands over nothing.

    Args:
        tokens: The text. The first token must not come back: nothing stands before it, so it stamps itself.
        latest: Whether the latest occurrence wins, by points for standing late; otherwise all count alike.
        lead: How many points a match is ahead of rest, and rest ahead of what doesn't match.

    Returns:
        Both layers and the logits. Within rounding, these are the frequencies of the tokens that followed the earlier
        occurrences of the current one, and all 0 if there was none.

    Raises:
        ShapeError: If there is no token.
        TypeError: If tokens are not text, latest is neither True nor False, or lead is not a number.
        ValueError: If the first token comes back, or lead is not above 0.

    Examples:
        The name comes back, and with it what followed:

        >>> circuit = induction_circuit(["<start>", "Mr", "Dursley", "said", "that", "Mr"])
        >>> [round(w, 9) for w in circuit.second.weights[5]]
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        >>> [word for word in circuit.next_token]
        ['Dursley']

        Two went one way and one the other; or only the latest counts:

        >>> tokens = ["<start>", "a", "b", "a", "c", "a", "b", "a"]
        >>> [round(x, 2) for x in induction_circuit(tokens).next_token.values()]
        [0.67, 0.33]
        >>> list(induction_circuit(tokens, latest=True).next_token)
        ['b']

        It needs a start token:

        >>> induction_circuit(["a", "b", "a"])
        Traceback (most recent call last):
        ValueError: tokens[0] is 'a' and comes back at tokens[2]: it must be a start token, which never does
    """
    tokens, lead = _words(tokens), positive(lead, "lead")
    if tokens[0] in tokens[1:]:
        again = f"tokens[0] is {shown(tokens[0])} and comes back at tokens[{tokens.index(tokens[0], 1)}]"
        raise ValueError(f"{again}: it must be a start token, which never does")
    n, n_words, lanes = len(tokens), len(set(tokens)), _lanes(tokens, "before", "next")
    # Points for a match, and for standing at each place; place 0, where one rests, lies between match and no match.
    step, match, rest = (lead, n * lead, n * lead) if flag(latest, "latest") else (0.0, 2 * lead, lead)
    places = [rest, *(step * j for j in range(1, n))]

    first = _shifted(lanes, tokens, 1, lead, into="before")
    # Ask for a stamp that is the token itself; the last column adds the points of a place.
    last = n_words
    W_q = _reading(lanes, token=_diagonal(n_words, match, more=1), position=[_one_hot(n_words + 1, last)] * n)
    W_k = _reading(lanes, before=_diagonal(n_words, more=1), position=[_one_hot(n_words + 1, last, p) for p in places])
    second = _head(lanes, tokens, first.sum, W_q, W_k, _all_but_the_first(lanes), into="next")
    W_u = _reading(lanes, next=_diagonal(n_words))
    return InductionCircuit(tokens, list(dict.fromkeys(tokens)), first, second, W_u, matmul(second.sum, W_u))


class NamedPattern(NamedTuple):
    """What a matrix of weights looks like.

    Attributes:
        name: The pattern with the highest score, or "mixed" if none is high.
        scores: For each pattern, the part of the weights that lies where this pattern wants it: 1 is a perfect match.

    Examples:
        Scores are comparable, since all are parts of the same whole:

        >>> named = name_pattern(previous_token_head(["The", "cat", "sat", "down"]).weights)
        >>> named.name, round(named.scores["previous token"], 9), round(named.scores["diagonal"], 9)
        ('previous token', 1.0, 0.0)
    """

    name: str
    scores: dict[str, float]


def name_pattern(weights: Matrix, tokens: Sequence[str] | None = None) -> NamedPattern:
    r"""Tell which pattern a matrix of weights looks like.

    $$\text{score} = \frac{1}{n - 1} \sum_{i \ge 1} \sum_j \min(\text{weights}_{ij},\; \text{pattern}_{ij})$$

    | name | row i of the pattern |
    |---|---|
    | diagonal | the token itself |
    | previous token | the one before it |
    | offset 2, … up to half of the text | the one so many places before it; all alike where there is none |
    | sink | the first token |
    | uniform | all that it may see, alike |
    | local | the last three, itself included, alike |
    | induction | what followed the earlier occurrences of its token; the first token where there was none |

    Row 0 is left out: with the future hidden, it has no choice. On short texts, chance can look like a pattern.

    Args:
        weights: (n, n) shares, for at least four tokens.
        tokens: (n,) the text. Without it, or if no token in it comes back, induction can't be seen.

    Returns:
        The name and all scores, each between 0 and 1 within rounding.

    Raises:
        ShapeError: If weights are empty, ragged or not square, too small, or not as many as tokens.
        TypeError: If weights are not numbers, or tokens not text.
        ValueError: If a row is not made of shares: a number is NaN, infinite or negative, or they don't sum to 1.

    Examples:
        A head that rests:

        >>> name_pattern(sink_head(["The", "cat", "sat", "down"]).weights).name
        'sink'

        Induction shows only to those who know the text:

        >>> circuit = induction_circuit(["<start>", "a", "b", "a", "b", "a"])
        >>> name_pattern(circuit.second.weights, circuit.tokens).name
        'induction'

        It takes shares, and ones are none:

        >>> name_pattern([[1] * 4] * 4)
        Traceback (most recent call last):
        ValueError: weights[0] sums to 4.0: it must hold shares, which sum to 1
    """
    weights = _rows_of_shares(weights)
    n = len(weights)
    words = None if tokens is None else _words(tokens)
    if words is not None and len(words) != n:
        raise ShapeError(f"tokens holds {len(words)} for weights with {n} rows: each row must have one token")
    scores = {name: _overlap(weights, wanted) for name, wanted in _patterns(weights, words).items()}
    best = max(scores, key=lambda name: scores[name])
    return NamedPattern(best if scores[best] >= _ENOUGH else "mixed", scores)


# Lanes: which numbers of a vector mean what.


def _lanes(tokens: list[str], *empty: str) -> Lanes:
    n_words = len(set(tokens))
    widths = {"token": n_words, "position": len(tokens), **dict.fromkeys(empty, n_words)}
    ends = pairwise(accumulate(widths.values(), initial=0))
    return {lane: range(*ends_of) for lane, ends_of in zip(widths, ends, strict=True)}


def _embedded(tokens: list[str], lanes: Lanes) -> Table:
    """Write into each vector which token it is and where it stands."""
    vocabulary = list(dict.fromkeys(tokens))
    n, empty = len(tokens), [0.0] * sum(len(lanes[lane]) for lane in lanes if lane not in ("token", "position"))
    return [_one_hot(len(vocabulary), vocabulary.index(t)) + _one_hot(n, i) + empty for i, t in enumerate(tokens)]


def _reading(lanes: Lanes, **blocks: Table) -> Table:
    """Build a matrix that reads some lanes, each by a block of its own, and is deaf to the others."""
    silent = [0.0] * len(next(iter(blocks.values()))[0])
    return [row for lane, places in lanes.items() for row in blocks.get(lane, [silent] * len(places))]


def _one_hot(n: int, place: int, height: float = 1.0) -> list[float]:
    # A place that does not exist leaves all numbers 0.
    return [height * (j == place) for j in range(n)]


def _diagonal(n: int, height: float = 1.0, *, more: int = 0) -> Table:
    return [_one_hot(n + more, i, height) for i in range(n)]


# Heads.


def _head(lanes: Lanes, tokens: list[str], x: Table, W_q: Table, W_k: Table, W_v: Table, into: str) -> Head:
    scale = sqrt(len(W_q[0]))  # attention divides by it, so that leads come out as they were meant
    W_q = [[scale * w for w in row] for row in W_q]
    W_o = transpose(_reading(lanes, **{into: _diagonal(len(lanes[into]))}))
    mha, mask = MultiHeadAttention.from_weights(W_q, W_k, W_v, W_o, n_heads=1), causal_mask(len(tokens))
    [attention] = mha.attend(x, mask)
    written = mha.join([attention.output])
    after = [[a + b for a, b in zip(x_i, w_i, strict=True)] for x_i, w_i in zip(x, written, strict=True)]
    weights = mha.W_q, mha.W_k, mha.W_v, mha.W_o
    [q], [k], [v] = mha.queries(x), mha.keys(x), mha.values(x)
    return Head(tokens, lanes, x, *weights, q, k, v, mask, attention.weights, attention.output, after)


def _shifted(lanes: Lanes, tokens: list[str], back: int, lead: float, into: str) -> Head:
    n = len(tokens)
    W_q = _reading(lanes, position=[_one_hot(n, i - back, lead) for i in range(n)])
    W_k = _reading(lanes, position=_diagonal(n))
    W_v = _reading(lanes, token=_diagonal(len(lanes["token"])))
    return _head(lanes, tokens, _embedded(tokens, lanes), W_q, W_k, W_v, into)


def _all_but_the_first(lanes: Lanes) -> Table:
    """Hand over which token it is, unless it is the first of the vocabulary."""
    n_words = len(lanes["token"])
    return _reading(lanes, token=[_one_hot(n_words, c, float(c > 0)) for c in range(n_words)])


# Checks and scores.


def _words(tokens: Sequence[str]) -> list[str]:
    words = entries(tokens, "tokens", "words")
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"tokens[{i}] is {shown(word)}: it must be text")
    return words  # type: ignore[return-value]  # the loop above has just checked it


def _rows_of_shares(weights: Matrix) -> Table:
    rows = finite_matrix(weights, "weights")
    n = len(rows)
    if shape(rows) != (n, n) or n < _LEAST:
        raise ShapeError(f"weights is {shape(rows)}: it must be square, with at least {_LEAST} rows")
    for i, row in enumerate(rows):
        if min(row) < 0:
            raise ValueError(f"weights[{i}][{row.index(min(row))}] is {min(row)}: a share must not be negative")
        if abs(sum(row) - 1) > _NEAR:
            raise ValueError(f"weights[{i}] sums to {round(sum(row), 9)}: it must hold shares, which sum to 1")
    return rows


def _patterns(weights: Table, words: list[str] | None) -> dict[str, Wanted]:
    n, looks_ahead = len(weights), any(any(row[i + 1 :]) for i, row in enumerate(weights))
    seen = [range(n if looks_ahead else i + 1) for i in range(n)]
    patterns: dict[str, Wanted] = {
        "diagonal": [[i] for i in range(n)],
        "previous token": [[i - 1] for i in range(n)],
        "sink": [[0] for _ in range(n)],
        "uniform": seen,
        "local": [range(max(0, i - _WINDOW + 1), i + 1) for i in range(n)],
    }
    patterns |= {f"offset {b}": [[i - b] if i >= b else seen[i] for i in range(n)] for b in range(2, n // 2 + 1)}
    if words is not None and any(followers := [_followers(words, i) for i in range(n)]):
        patterns["induction"] = [places or [0] for places in followers]
    return patterns


def _followers(words: list[str], i: int) -> list[int]:
    """Find the places just after the earlier occurrences of token i."""
    return [j for j in range(1, i + 1) if words[j - 1] == words[i]]


def _overlap(weights: Table, wanted: Wanted) -> float:
    """Tell which part of the weights lies where a pattern wants it, on average over all rows but the first."""
    parts = [
        sum(min(row[j], 1 / len(places)) for j in places) for row, places in zip(weights[1:], wanted[1:], strict=True)
    ]
    return sum(parts) / len(parts)
