"""Work the chapter's examples, step by step, with nothing left out.

| function | example |
|---|---|
| [`worked_example_it`][attention_primer.examples.worked_example_it] | three scores become shares |
| [`worked_example_two_looks`][attention_primer.examples.worked_example_two_looks] | "it" finds the animal |
| [`worked_example_sentence`][attention_primer.examples.worked_example_sentence] | "The cat sat down", exact |
| [`worked_example_sat`][attention_primer.examples.worked_example_sat] | one row on a napkin |
| [`worked_example_two_heads`][attention_primer.examples.worked_example_two_heads] | two looks at once |

All weights were typed in by hand, so that the numbers can be followed. Training would have to find such numbers.
"""

from math import exp, log, sqrt
from typing import NamedTuple

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.checks import flag, shown, size
from attention_primer.heads import MultiHeadAttention
from attention_primer.heatmaps import Heatmap
from attention_primer.masks import causal_mask
from attention_primer.softmaxes import softmax
from attention_primer.vectors import dot, matmul, mix, transpose

__all__ = [
    "Look",
    "NapkinExample",
    "SentenceExample",
    "Shares",
    "TwoHeads",
    "TwoLooks",
    "worked_example_it",
    "worked_example_sat",
    "worked_example_sentence",
    "worked_example_two_heads",
    "worked_example_two_looks",
]

# Scores are counted in doublings: a score higher by L doubles the e-value.
L = log(2)

Table = list[list[float]]


class Shares(dict[str, float]):
    """Shares by word; an ordinary dict that can also draw itself.

    Examples:
        It is what softmax gives, with names:

        >>> shares = Shares(animal=0.75, street=0.25)
        >>> shares["animal"]
        0.75
        >>> print(shares.heatmap().text(ascii=True).splitlines()[2])
        animal  0.75  ##############################
    """

    def heatmap(self) -> Heatmap:
        """Draw one bar a word.

        Returns:
            A Heatmap with one row.

        Examples:
            The words are the keys:

            >>> worked_example_it().heatmap().keys
            ['animal', 'tired', 'street']
        """
        return Heatmap([list(self.values())], ["it"], list(self), title='What "it" reads')


def worked_example_it() -> Shares:
    r"""Share "it" among three words, from scores that are simply given.

    $$\text{softmax}(2,\; 1,\; \tfrac{1}{2})$$

    Returns:
        The shares of animal, tired and street, in this order; they sum to 1.

    Examples:
        A lead of one point is a factor of e:

        >>> {word: round(share, 2) for word, share in worked_example_it().items()}
        {'animal': 0.63, 'tired': 0.23, 'street': 0.14}
        >>> worked_example_it()["animal"] / worked_example_it()["tired"] - exp(1) < 1e-9
        True
    """
    return Shares(zip(("animal", "tired", "street"), softmax([2.0, 1.0, 0.5]), strict=True))


class NapkinExample(NamedTuple):
    """One row of attention with all its steps: what "sat" reads in "The cat sat down", no mask.

    Attributes:
        tokens: The four words.
        x: (3,) the vector of "sat".
        W_q: (3, 3) the query matrix.
        q: (3,) the query of "sat".
        k: (4, 3) the keys of all words.
        v: (4, 3) the values of all words.
        scores: (4,) q·k for each word.
        scaled: (4,) the scores divided by √3.
        exponentials: (4,) e to the scaled scores.
        weights: (4,) their shares.
        output: (3,) the mix of values.

    Examples:
        The query picks rows 1 and 2 of W_q, since x says so:

        >>> napkin = worked_example_sat()
        >>> napkin.q == mix(napkin.x, napkin.W_q)
        True
    """

    tokens: list[str]
    x: list[float]
    W_q: list[list[float]]
    q: list[float]
    k: list[list[float]]
    v: list[list[float]]
    scores: list[float]
    scaled: list[float]
    exponentials: list[float]
    weights: list[float]
    output: list[float]

    def heatmap(self) -> Heatmap:
        """Draw the row of weights, one bar a word.

        Returns:
            A Heatmap with one row.

        Examples:
            It asks for its subject:

            >>> worked_example_sat().heatmap().queries
            ['sat']
        """
        return Heatmap([self.weights], ["sat"], self.tokens, title='What "sat" reads in "The cat sat down"')


def worked_example_sat() -> NapkinExample:
    """Work out by hand what "sat" reads, in numbers that need rounding.

    The key of "cat" is the very thing that the query of "sat" asks for: a verb finds its subject.

    Returns:
        All the steps, from the vector of "sat" to its output.

    Examples:
        From scores to shares:

        >>> napkin = worked_example_sat()
        >>> napkin.scores
        [0.0, 5.0, 1.0, 2.0]
        >>> [round(s, 2) for s in napkin.scaled]
        [0.0, 2.89, 0.58, 1.15]
        >>> [round(e, 2) for e in napkin.exponentials]
        [1.0, 17.93, 1.78, 3.17]
        >>> [round(w, 2) for w in napkin.weights]
        [0.04, 0.75, 0.07, 0.13]

        And the mix of values:

        >>> [round(o, 2) for o in napkin.output]
        [0.04, 0.88, 0.21]
    """
    x = [0.0, 1.0, 1.0]
    W_q = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    k = [[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]

    q = mix(x, W_q)
    scores = [dot(q, k_j) for k_j in k]
    scaled = [s / sqrt(3) for s in scores]
    exponentials = [exp(s) for s in scaled]
    weights = softmax(scaled)
    output = mix(weights, v)
    return NapkinExample(_CAT.split(), x, W_q, q, k, v, scores, scaled, exponentials, weights, output)


class SentenceExample(NamedTuple):
    """All of attention over "The cat sat down", exact in every number.

    Attributes:
        tokens: The four words.
        x: (4, 3) three numbers a word: thing, action, direction.
        W_q: (3, 4) what each of these asks.
        W_k: (3, 4) what it offers.
        W_v: (3, 2) what it hands over.
        q: (4, 4) the queries.
        k: (4, 4) the keys.
        v: (4, 2) the values.
        mask: (4, 4) who may see whom.
        scores: (4, 4) q·k for each pair, hidden or not.
        scaled: (4, 4) the scores divided by √4.
        weights: (4, 4) the shares.
        output: (4, 2) the mixes of values.

    Examples:
        Scores count in doublings, since all of W_q is a multiple of ln 2:

        >>> [round(s / L, 9) for s in worked_example_sentence().scaled[2]]
        [1.0, 2.0, 1.0, 1.0]
    """

    tokens: list[str]
    x: list[list[float]]
    W_q: list[list[float]]
    W_k: list[list[float]]
    W_v: list[list[float]]
    q: list[list[float]]
    k: list[list[float]]
    v: list[list[float]]
    mask: list[list[bool]]
    scores: list[list[float]]
    scaled: list[list[float]]
    weights: list[list[float]]
    output: list[list[float]]

    def heatmap(self) -> Heatmap:
        """Draw the weights as exact fractions.

        Returns:
            A Heatmap, four by four.

        Examples:
            Its last row:

            >>> print(worked_example_sentence().heatmap().text(ascii=True).splitlines()[-1])
            down  :: 1/8  :: 1/8  ** 1/2  ++ 1/4
        """
        title = 'The weights of "The cat sat down"'
        return Heatmap(self.weights, self.tokens, self.tokens, mask=self.mask, title=title, fractions=True)


def worked_example_sentence(causal: bool = True) -> SentenceExample:
    """Work out attention over "The cat sat down" in numbers that a pencil can follow.

    In this head a thing asks nothing, an action asks for things and not for actions, and a direction asks for actions
    and directions.

    Args:
        causal: Whether to hide the future.

    Returns:
        All the steps. Masked and unmasked, every share is a simple fraction.

    Raises:
        TypeError: If causal is neither True nor False.

    Examples:
        Quarters for "sat", eighths for "down":

        >>> steps = worked_example_sentence()
        >>> for row in steps.weights:
        ...     print([round(w, 9) for w in row])
        [1.0, 0.0, 0.0, 0.0]
        [0.5, 0.5, 0.0, 0.0]
        [0.25, 0.5, 0.25, 0.0]
        [0.125, 0.125, 0.5, 0.25]
        >>> [[round(o, 9) for o in row] for row in steps.output]
        [[8.0, 0.0], [12.0, 0.0], [10.0, 2.0], [3.0, 5.0]]

        Without the mask "sat" reads fifths:

        >>> [round(w, 9) for w in worked_example_sentence(causal=False).weights[2]]
        [0.2, 0.4, 0.2, 0.2]
    """
    x = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    W_q = [[0.0, 0.0, 0.0, 0.0], [L, 0.0, L, -L], [0.0, 2 * L, 0.0, L]]
    W_k = [[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]]
    W_v = [[8.0, 0.0], [0.0, 4.0], [0.0, 4.0]]
    mask = causal_mask(4) if flag(causal, "causal") else _all_seen(4)
    q, k, v, scores, scaled, weights, output = _steps(x, W_q, W_k, W_v, mask)
    return SentenceExample(_CAT.split(), x, W_q, W_k, W_v, q, k, v, mask, scores, scaled, weights, output)


class TwoHeads(NamedTuple):
    """Two heads over "The cat sat down", exact in every number.

    Attributes:
        tokens: The four words.
        x: (4, 3) three numbers a word, as in the example with one head.
        W_q: (3, 8) what they ask: four columns a head.
        W_k: (3, 8) what they offer: four columns a head.
        W_v: (3, 4) what they hand over: two columns a head.
        W_o: (4, 3) how the heads' outputs are mixed into one vector.
        mask: (4, 4) who may see whom, the same for both heads.
        heads: Two attentions, each with output, (4, 2), and weights, (4, 4).
        glued: (4, 4) both outputs side by side.
        output: (4, 3) the glued rows times W_o, as wide as x.

    Examples:
        The heads differ by their columns alone:

        >>> steps = worked_example_two_heads()
        >>> one, two = steps.heads
        >>> steps.glued[3] == one.output[3] + two.output[3]
        True
    """

    tokens: list[str]
    x: list[list[float]]
    W_q: list[list[float]]
    W_k: list[list[float]]
    W_v: list[list[float]]
    W_o: list[list[float]]
    mask: list[list[bool]]
    heads: list[Attention]
    glued: list[list[float]]
    output: list[list[float]]

    def heatmap(self, head: int = 1) -> Heatmap:
        """Draw the weights of one head as exact fractions.

        Args:
            head: 0 or 1.

        Returns:
            A Heatmap, four by four.

        Raises:
            TypeError: If head is not a whole number.
            ValueError: If there is no such head.

        Examples:
            The second head's last row:

            >>> print(worked_example_two_heads().heatmap(1).text(ascii=True).splitlines()[-1])
            down  ++ 1/4  ** 1/2  :: 1/8  :: 1/8
        """
        if size(head, "head", least=0) >= len(self.heads):
            raise ValueError(f"head is {head}: it must be below {len(self.heads)}")
        title = f'The weights of head {head} over "The cat sat down"'
        return Heatmap(self.heads[head].weights, self.tokens, self.tokens, mask=self.mask, title=title, fractions=True)


def worked_example_two_heads(causal: bool = True) -> TwoHeads:
    """Let "down" look at two words at once: at what it belongs to, and at who moves.

    Head 0 is the head of the example with one head. In head 1 a direction asks for things, an action asks for actions,
    and a thing asks for anything but things.

    Args:
        causal: Whether to hide the future.

    Returns:
        All the steps. Masked, every share is a simple fraction.

    Raises:
        TypeError: If causal is neither True nor False.

    Examples:
        "Down" reads "sat" most in one head, "cat" in the other:

        >>> steps = worked_example_two_heads()
        >>> for head in steps.heads:
        ...     print([round(w, 9) for w in head.weights[3]])
        [0.125, 0.125, 0.5, 0.25]
        [0.25, 0.5, 0.125, 0.125]

        Both outputs are glued together, and W_o mixes them:

        >>> [round(x, 9) for x in steps.glued[3]]
        [3.0, 5.0, 1.0, 5.0]
        >>> [round(x, 9) for x in steps.output[3]]
        [8.0, 5.0, 1.0]

        Head 0 is the sentence example:

        >>> steps.heads[0].weights == worked_example_sentence().weights
        True
    """
    one = worked_example_sentence(causal)
    W_q = [[-2 * L, 0.0, 0.0, 0.0], [-2 * L, 2 * L, 0.0, 0.0], [2 * L, 0.0, 0.0, 0.0]]
    W_k = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    W_v = [[0.0, 4.0], [8.0, 0.0], [0.0, 0.0]]
    W_o = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    W_q, W_k, W_v = _beside(one.W_q, W_q), _beside(one.W_k, W_k), _beside(one.W_v, W_v)
    mha = MultiHeadAttention.from_weights(W_q, W_k, W_v, W_o, n_heads=2)
    heads = mha.attend(one.x, one.mask)
    outputs = [head.output for head in heads]
    return TwoHeads(
        one.tokens, one.x, W_q, W_k, W_v, W_o, one.mask, heads, glued=_beside(*outputs), output=mha.join(outputs)
    )


class Look(NamedTuple):
    """One layer of attention with all its steps, and what it adds.

    Attributes:
        q: (n, d_k) the queries.
        k: (n, d_k) the keys.
        v: (n, d_v) the values.
        scores: (n, n) q·k for each pair, hidden or not.
        scaled: (n, n) the scores divided by √d_k.
        weights: (n, n) the shares.
        output: (n, d_v) the mixes of values.
        sum: (n, d_model) each token's vector plus what it read.

    Examples:
        The sum is the residual connection; a look adds, it does not replace:

        >>> example = worked_example_two_looks()
        >>> it = example.tokens.index("it")
        >>> [x + o for x, o in zip(example.x[it], example.first.output[it], strict=True)] == example.first.sum[it]
        True
    """

    q: list[list[float]]
    k: list[list[float]]
    v: list[list[float]]
    scores: list[list[float]]
    scaled: list[list[float]]
    weights: list[list[float]]
    output: list[list[float]]
    sum: list[list[float]]


class TwoLooks(NamedTuple):
    """Two layers of attention over the sentence about the animal and the street.

    Attributes:
        tokens: The eleven words.
        x: (11, 6) six numbers a word: noun, kind, describing, filler; pronoun, goes-with.
        mask: (11, 11) who may see whom.
        first: The first look, in which "it" hears the last word.
        second: The second look, in which it asks again with what it heard.

    Examples:
        The second look starts from the sum of the first:

        >>> example = worked_example_two_looks()
        >>> example.second.k == [row[:4] for row in example.first.sum]
        True
    """

    tokens: list[str]
    x: list[list[float]]
    mask: list[list[bool]]
    first: Look
    second: Look

    @property
    def shares(self) -> Shares:
        """What "it" reads in the second look, as shares of animal, the last word and street.

        Examples:
            The fillers get next to nothing:

            >>> sum(worked_example_two_looks().shares.values()) > 1 - 1e-6
            True
        """
        return self.shares_of("it")

    def shares_of(self, word: str) -> Shares:
        """Tell what a word reads in the second look.

        Args:
            word: One of the tokens.

        Returns:
            Its shares of animal, the last word and street.

        Raises:
            ValueError: If the word is not in the sentence.

        Examples:
            With the mask on, the last word does the work:

            >>> shares = worked_example_two_looks("wide", causal=True).shares_of("wide")
            >>> {word: round(share, 2) for word, share in shares.items()}
            {'animal': 0.02, 'wide': 0.12, 'street': 0.87}
        """
        row = self.second.weights[self._place(word)]
        seen = ("animal", self.tokens[-1], "street")
        return Shares((key, row[self.tokens.index(key)]) for key in seen)

    def heatmap(self, word: str = "it") -> Heatmap:
        """Draw what one word reads in the second look, over the whole sentence.

        Args:
            word: One of the tokens.

        Returns:
            A Heatmap with one row, one bar a word.

        Raises:
            ValueError: If the word is not in the sentence.

        Examples:
            Eleven words, eleven bars:

            >>> len(worked_example_two_looks().heatmap().keys)
            11
        """
        i = self._place(word)
        title = f'What "{word}" reads in the second look'
        return Heatmap([self.second.weights[i]], [word], self.tokens, mask=[self.mask[i]], title=title)

    def _place(self, word: str) -> int:
        if word not in self.tokens:
            raise ValueError(f"word is {shown(word)}: it must be one of {', '.join(self.tokens)}")
        return self.tokens.index(word)


def worked_example_two_looks(last_word: str = "tired", *, causal: bool = False) -> TwoLooks:
    """Let "it" find out whether the animal was too tired or the street too wide.

    One look can't do it: the scores of "animal" and "street" for "it" don't depend on the last word. So "it" first
    reads the last word, adds what it read to its own vector, and then asks again.

    Args:
        last_word: "tired", "wide" or "wet".
        causal: Whether to hide the future. Then "it" never sees the last word.

    Returns:
        Both looks, all steps.

    Raises:
        TypeError: If causal is neither True nor False.
        ValueError: If the last word is another one.

    Examples:
        One word changes, and "it" moves:

        >>> for word in ("tired", "wide"):
        ...     print({key: round(share, 2) for key, share in worked_example_two_looks(word).shares.items()})
        {'animal': 0.63, 'tired': 0.23, 'street': 0.14}
        {'animal': 0.14, 'wide': 0.23, 'street': 0.63}

        With the future hidden, "it" can't tell:

        >>> masked = worked_example_two_looks("tired", causal=True)
        >>> round(masked.shares["animal"], 6), round(masked.shares["street"], 6)
        (0.5, 0.5)

        Other words have no vector:

        >>> worked_example_two_looks("hungry")
        Traceback (most recent call last):
        ValueError: last_word is 'hungry': it must be one of tired, wide, wet
    """
    if last_word not in _LAST_WORDS:
        raise ValueError(f"last_word is {shown(last_word)}: it must be one of {', '.join(_LAST_WORDS)}")
    tokens = f"The animal didn't cross the street because it was too {last_word}".split()
    x = [list(_VECTORS.get(word, _FILLER)) for word in tokens]
    mask = causal_mask(len(tokens)) if flag(causal, "causal") else _all_seen(len(tokens))
    first = _look(x, _ASKS_FIRST, _only(_GOES_WITH), mask)
    second = _look(first.sum, _ASKS_SECOND, _only(_KIND), mask)
    return TwoLooks(tokens, x, mask, first, second)


_CAT = "The cat sat down"

# Six numbers a word. What I am: noun, kind (+1 creature, -1 place), describing, filler.
# What I need: pronoun, goes with (+1 creatures, -1 places).
_KIND, _GOES_WITH = 1, 5
_LAST_WORDS = ("tired", "wide", "wet")
_FILLER = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_VECTORS = {
    "animal": (1.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    "street": (1.0, -1.0, 0.0, 0.0, 0.0, 0.0),
    "it": (0.0, 0.0, 0.0, 1.0, 1.0, 0.0),
    "tired": (0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
    "wide": (0.0, 0.0, 1.0, 0.0, 0.0, -1.0),
    "wet": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
}

# A word offers what it is: its first four numbers.
_OFFERS = [[float(c == d) for d in range(4)] for c in range(6)]
_NOTHING = [0.0, 0.0, 0.0, 0.0]
_ASKS_FIRST = [
    _NOTHING,
    _NOTHING,
    [0.0, 0.0, 0.0, -40.0],  # describing: no fillers
    _NOTHING,
    [0.0, 0.0, 2 * L, -40.0],  # pronoun: a describing word, no fillers
    _NOTHING,
]
_ASKS_SECOND = [
    _NOTHING,
    _NOTHING,
    [0.0, 0.0, 0.0, -40.0],  # describing: no fillers
    _NOTHING,
    [2.5, 0.0, 2.0, -40.0],  # pronoun: a noun, or else a describing word, no fillers
    [0.0, 3.0, 0.0, 0.0],  # goes with: of this kind
]


def _only(c: int) -> list[list[float]]:
    """Build the value matrix that hands over number c of a word and nothing else."""
    return [[float(row == column == c) for column in range(6)] for row in range(6)]


def _beside(left: Table, right: Table) -> Table:
    return [a + b for a, b in zip(left, right, strict=True)]


def _all_seen(n: int) -> list[list[bool]]:
    return [[True] * n for _ in range(n)]


def _look(x: Table, W_q: Table, W_v: Table, mask: list[list[bool]]) -> Look:
    steps = _steps(x, W_q, _OFFERS, W_v, mask)
    output = steps[-1]
    return Look(*steps, [[a + b for a, b in zip(x_i, o_i, strict=True)] for x_i, o_i in zip(x, output, strict=True)])


def _steps(
    x: Table, W_q: Table, W_k: Table, W_v: Table, mask: list[list[bool]]
) -> tuple[Table, Table, Table, Table, Table, Table, Table]:
    q, k, v = matmul(x, W_q), matmul(x, W_k), matmul(x, W_v)
    scores = matmul(q, transpose(k))
    scaled = [[s / sqrt(len(k[0])) for s in row] for row in scores]
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    return q, k, v, scores, scaled, weights, output
