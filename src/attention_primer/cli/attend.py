"""The command `attend`: attention over a matrix of your own.

| name | in one line |
|---|---|
| [`add_to`][attention_primer.cli.attend.add_to] | add the command to the program |
| [`read_input`][attention_primer.cli.attend.read_input] | JSON text becomes queries, keys, values and labels |
"""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attention_primer.attention import Attention, scaled_dot_product_attention
from attention_primer.checks import boolean_matrix, entries, finite_matrix, shown
from attention_primer.cli.arguments import Add, command
from attention_primer.cli.terminal import Refused, Table, Terminal, columns
from attention_primer.heatmaps import Heatmap
from attention_primer.masks import causal_mask, combine_masks

__all__ = ["Input", "add_to", "read_input"]

_EXAMPLES = """examples:
  echo '[[1, 0], [0, 1], [1, 1]]' | attention-primer attend
  attention-primer attend mine.json --causal
  attention-primer attend mine.json --svg weights.svg
  attention-primer attend mine.json --json | python -m json.tool

FILE holds JSON: one matrix, a list of rows, which is x; or an object with

  x           one row a token, used as queries, keys and values; or instead
  q, k, v     queries, keys and values
  mask        rows of true (may see) and false (hidden)
  tokens      words that label queries and keys; or instead
  queries     words that label the queries
  keys        words that label the keys

for instance
  {"x": [[1, 0], [0, 1]], "tokens": ["cat", "sat"]}"""


class Input(NamedTuple):
    """Hold what somebody wants to attend over.

    Attributes:
        q: (n_q, d_k) queries.
        k: (n_k, d_k) keys.
        v: (n_k, d_v) values.
        mask: (n_q, n_k) who may see whom, or None.
        queries: (n_q,) words, or None.
        keys: (n_k,) words, or None.

    Examples:
        One matrix is all three:

        >>> given = read_input("[[1, 0], [0, 1]]")
        >>> given.q == given.k == given.v
        True
    """

    q: list[list[float]]
    k: list[list[float]]
    v: list[list[float]]
    mask: list[list[bool]] | None = None
    queries: list[str] | None = None
    keys: list[str] | None = None


def add_to(add: Add) -> None:
    """Add the command `attend`.

    Args:
        add: The program's `add_parser`.

    Examples:
        It reads a file or standard input:

        >>> from argparse import ArgumentParser
        >>> commands = ArgumentParser().add_subparsers()
        >>> add_to(commands.add_parser)
        >>> commands.choices["attend"].parse_args(["mine.json"]).file
        'mine.json'
    """
    says = "Attend over a matrix of your own: weights, picture, output."
    parser = command(add, "attend", _attend, says, more=_EXAMPLES, usage="attend [FILE]")
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON; - or nothing is standard input")
    parser.add_argument("--causal", action="store_true", help="hide the future")
    parser.add_argument("--svg", metavar="FILE", help="write the picture of the weights to a file")
    parser.add_argument("--json", action="store_true", help="write all numbers in full, as JSON")


def read_input(text: str) -> Input:
    r"""Read what to attend over.

    Args:
        text: JSON: a matrix, or an object as `attention-primer attend --help` describes it.

    Returns:
        Queries, keys and values, all finite; mask and labels if given.

    Raises:
        ShapeError: If a matrix is empty or ragged.
        TypeError: If something is not what its name says.
        ValueError: If the text is not JSON, a name is unknown or missing, or a number is not finite.

    Examples:
        An object names its matrices:

        >>> read_input('{"x": [[1, 2]], "tokens": ["cat"]}').keys
        ['cat']

        A place in broken JSON is line and column:

        >>> read_input("[[1, 2],\n [3, 4")
        Traceback (most recent call last):
        ValueError: line 2, column 7 is not JSON: Expecting ',' delimiter

        NaN is found by its place:

        >>> read_input('{"x": [[1, NaN]]}')
        Traceback (most recent call last):
        ValueError: x[0][1] is nan: it must be a finite number
    """
    given = _parsed(text)
    if not isinstance(given, dict):
        given = {"x": given}
    for name in given:
        if name not in _NAMES:
            raise ValueError(f"{shown(name)} is no name here: it must be one of {', '.join(_NAMES)}")
    q, k, v = _matrices(given)
    mask = boolean_matrix(given["mask"], "mask") if "mask" in given else None
    queries = _words(given, "tokens" if "tokens" in given else "queries", len(q))
    keys = _words(given, "tokens" if "tokens" in given else "keys", len(k))
    return Input(q, k, v, mask, queries, keys)


def _parsed(text: str) -> Any:
    if not text.strip():
        raise ValueError("it is empty: it must be JSON, such as [[1, 0], [0, 1]]")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno} is not JSON: {error.msg}") from None
    except ValueError:  # Python reads no more than 4,300 digits
        raise ValueError("it has a whole number that is too long: it must fit into a float") from None
    except RecursionError:
        raise ValueError("it has too many brackets in brackets: it must be a matrix, or an object of them") from None


def _matrices(given: Mapping[str, Any]) -> list[list[list[float]]]:
    named = [name for name in ("q", "k", "v") if name in given]
    if "x" in given and named:
        raise ValueError(f"x and {named[0]} are both given: x stands for q, k and v")
    if "x" in given:
        return [finite_matrix(given["x"], "x")] * 3
    if len(named) < 3:
        raise ValueError(f"it has {' and '.join(named) or 'no matrix'}: it must have q, k and v, or x")
    return [finite_matrix(given[name], name) for name in named]


def _words(given: Mapping[str, Any], name: str, n: int) -> list[str] | None:
    if name not in given:
        return None
    words = entries(given[name], name, "words")
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"{name}[{i}] is {shown(word)}: it must be text")
    if len(words) != n:
        raise ValueError(f"{name} holds {len(words)} for {n} rows: each row must have one label")
    return ["".join(c if c.isprintable() else ascii(c)[1:-1] for c in word) for word in map(str, words)]


def _attend(given: Namespace, terminal: Terminal) -> int:
    name = "standard input" if given.file == "-" else given.file
    try:
        asked, attention = _answered(_text(given.file), causal=given.causal)
    except (TypeError, ValueError) as error:
        raise Refused(f"{name}: {error}") from None
    picture = Heatmap(attention.weights, asked.queries, asked.keys, mask=asked.mask, title="What each query reads")
    if given.svg:
        _write(given.svg, picture.svg())
    if given.json:
        terminal.say(json.dumps(attention._asdict()))
        return 0
    terminal.show(picture)
    _show_output(terminal, picture.queries, attention.output)
    if given.svg:
        terminal.show(f"The picture is in {given.svg}.")
    return 0


def _answered(text: str, *, causal: bool) -> tuple[Input, Attention]:
    asked = read_input(text)
    if causal:
        past = causal_mask(len(asked.q), len(asked.k))
        asked = asked._replace(mask=combine_masks(asked.mask, past) if asked.mask else past)
    return asked, scaled_dot_product_attention(asked.q, asked.k, asked.v, asked.mask)


def _text(file: str) -> str:
    if file == "-":
        if sys.stdin.isatty():
            sys.stderr.write("Type or paste JSON; Ctrl-D on a line of its own ends it.\n")
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it must be text in UTF-8") from None
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}") from None


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}") from None


def _show_output(terminal: Terminal, queries: list[str], output: list[list[float]]) -> None:
    """Line up the output as far as it is no wider than the terminal."""
    style = ".4f" if max(abs(x) for row in output for x in row) < 1e5 else ".3e"
    cells = [[format(x, style).replace("-", "−") for x in row] for row in output]
    numbers = list(map(str, range(len(cells[0]))))
    room = terminal.width - max(map(columns, ["output", *queries]))
    wide = max(map(len, [*numbers, *(cell for row in cells for cell in row)])) + 2
    kept = max(1, min(len(numbers), room // wide))
    rows = [[query, *row[:kept]] for query, row in zip(queries, cells, strict=True)]
    terminal.show(Table(["output", *numbers[:kept]], rows, ["query", *["value"] * kept]))
    if kept < len(numbers):
        terminal.show(f"{len(numbers) - kept} of {len(numbers)} numbers a row are left out: --json writes all.")


_NAMES = ("x", "q", "k", "v", "mask", "tokens", "queries", "keys")
