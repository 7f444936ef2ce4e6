"""Draw a matrix of attention: one picture as text, as SVG and as a table.

Rows are queries, columns are keys, the words of the sentence are the labels. What is hidden is a dot, never only a
pale color, and its number is never shown.

| name | in one line |
|---|---|
| [`Heatmap`][attention_primer.heatmaps.Heatmap] | shares, raw scores or a mask as one picture |
| [`palette`][attention_primer.heatmaps.palette] | the color of each role, on a light page and on a dark one |
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import inf
from typing import NamedTuple
from unicodedata import category, east_asian_width
from zlib import crc32

from attention_primer.checks import Mask, Matrix, ShapeError, boolean_matrix, entries, finite, matrix, shown, size

__all__ = ["Heatmap", "palette"]

_ROLES = {"query": ("#0b5cad", "#7ab8ff"), "key": ("#9a4a00", "#ffb066"), "value": ("#006b52", "#5fd6b0")}
_ROLES["hidden"] = ("#6b6b6b", "#a0a4b0")
_RAMP = (("#f6f2fc", "#4a2490"), ("#262334", "#cbb8ff"))  # from nothing to everything, light and dark
_STEPS = 10  # of the ramp: its ends are steps 0 and 10

# Terminals may be black or white, so these of the 256 colors reach 4 : 1 on both; none reaches more than 4.6.
_ANSI = {"query": 31, "key": 130, "weight": 98, "hidden": 243}

_NEAR = 1e-9  # closer than this, a float counts as the number that a pencil would write
_LARGE = 1e5  # from here on, numbers are written with an exponent
_LABEL = 24  # the most columns that a label takes
_MANY = 24  # up to here, a drawing has numbers and a description a sentence for each query
_FULL = 320  # pixels of the bar that means everything
_SLOPES = {0: (0, 0), 37: (3, 4), 90: (5, 0)}  # of labels in degrees: fifths of their length up and along
_HATCH = (
    '<pattern id="{mark}-hidden" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V6" stroke="{color}" stroke-opacity="0.5"/></pattern>'
)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class _Signs(NamedTuple):
    shades: str  # from nothing to everything
    bars: str  # parts of a block, then the whole one
    hidden: str
    cut: str
    down: str
    right: str
    minus: str


_UNICODE = _Signs(" ░▒▓█", "▏▎▍▌▋▊▉█", "·", "…", "↓", "→", "−")
_DRAWN = _UNICODE._replace(hidden="•")
_ASCII = _Signs(" :+*#", "#", ".", "~", "(down)", "(across)", "-")


class _Look(NamedTuple):
    blocks: int  # how many a cell
    between: str  # block and number
    decimals: int
    apart: int  # spaces between columns


_LOOKS = (_Look(2, " ", 2, 2), _Look(1, "", 2, 1), _Look(1, "", 1, 1))  # from roomy to narrow
_CAPS = (_LABEL, 16, 12, 8, 6, 5, 4)  # for labels, the same way

_Piece = tuple[str, str, str]  # a role, what is painted in its color, what follows plainly
_Paint = Callable[[str, str], str]
_Place = tuple[int, int, int, int]  # x, y, width, height


def palette(*, dark: bool = False) -> dict[str, str]:
    """Name the color of each role, so that a page can define them once.

    The pictures ask for `var(--ap-query)` and so on, and bring the light colors along as a fallback. A page that
    defines these variables decides when they are dark.

    Args:
        dark: Whether the page beneath is dark.

    Returns:
        A color for query, key, value and hidden; for each step of the ramp of shares from w0, nothing, to w10,
        everything; and for the ink on it (w0-ink to w10-ink): black or white, whichever contrasts more.

    Examples:
        Whoever asks is blue:

        >>> palette()["query"], palette(dark=True)["query"]
        ('#0b5cad', '#7ab8ff')

        On a dark page, more is lighter, so the ink turns over:

        >>> palette()["w10-ink"], palette(dark=True)["w10-ink"]
        ('#ffffff', '#000000')
    """
    colors = {role: pair[dark] for role, pair in _ROLES.items()}
    ramp = [_between(*_RAMP[dark], step / _STEPS) for step in range(_STEPS + 1)]
    colors.update((f"w{step}", color) for step, color in enumerate(ramp))
    colors.update((f"w{step}-ink", _ink(color)) for step, color in enumerate(ramp))
    return colors


class Heatmap:
    """Hold one matrix of attention, and show it as text, as SVG or as a table.

    Numbers between 0 and 1 are shaded on that scale, others from the least to the largest, and the picture says so.
    A matrix of `True` and `False` is drawn as a mask. One row of shares becomes a bar for each word. In a notebook,
    the object draws itself.

    Args:
        values: (n_q, n_k) shares or scores, minus infinity where a score is hidden; or a mask.
        queries: (n_q,) words. Defaults to 0, 1, 2, …
        keys: (n_k,) words. Defaults to the queries if there are as many, else to 0, 1, 2, …
        mask: (n_q, n_k) booleans; False hides a cell. Defaults to all True.
        title: What the picture shows.
        finding: What to see in it, in a sentence; it opens the text alternative.
        fractions: Whether to write numbers as fractions where one with a denominator up to 64 is equal.

    Raises:
        ShapeError: If values are empty or ragged, or labels or mask don't fit them.
        TypeError: If values are not numbers, labels not text, or a mask holds anything but `True` and `False`.
        ValueError: If a visible number is NaN or infinity.

    Examples:
        Each word sees itself and its past:

        >>> shares = [[1, 0, 0, 0], [1/2, 1/2, 0, 0], [1/4, 1/2, 1/4, 0], [1/8, 1/8, 1/2, 1/4]]
        >>> past = [[j <= i for j in range(4)] for i in range(4)]
        >>> print(Heatmap(shares, ["The", "cat", "sat", "down"], mask=past, fractions=True))
        query ↓, key →, hidden ·
              The     cat     sat     down
        The   ██ 1    ·       ·       ·
        cat   ▓▓ 1/2  ▓▓ 1/2  ·       ·
        sat   ▒▒ 1/4  ▓▓ 1/2  ▒▒ 1/4  ·
        down  ░░ 1/8  ░░ 1/8  ▓▓ 1/2  ▒▒ 1/4

        One row of it is a sentence with a share for each word:

        >>> print(Heatmap(shares[3:], ["down"], ["The", "cat", "sat", "down"], fractions=True))
        query: down, key ↓
        The   1/8  █████
        cat   1/8  █████
        sat   1/2  ████████████████████
        down  1/4  ██████████

        Labels are counted:

        >>> Heatmap(shares, ["The", "cat"])
        Traceback (most recent call last):
        attention_primer.ShapeError: queries holds 2 for values with 4 rows: each row must have one label
    """

    __slots__ = ("_high", "_low", "finding", "fractions", "is_mask", "keys", "mask", "queries", "title", "values")

    def __init__(
        self,
        values: Matrix,  # or a mask: to a type checker, booleans are numbers
        queries: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        *,
        mask: Mask | None = None,
        title: str = "",
        finding: str = "",
        fractions: bool = False,
    ) -> None:
        self.is_mask = _holds_booleans(values)
        if self.is_mask:
            values = [[float(x) for x in row] for row in boolean_matrix(values, "values")]  # type: ignore[arg-type]
        self.values = matrix(values, "values")
        self.mask = self._seen(mask)
        self.queries, self.keys = self._labels(queries, keys)
        self.title, self.finding = _string(title, "title"), _string(finding, "finding")
        self.fractions = fractions
        self._low, self._high = self._range()

    def text(self, *, width: int = 80, color: bool = False, ascii: bool = False) -> str:  # noqa: A002  # its name
        r"""Draw the picture for a terminal.

        What doesn't fit shrinks: labels are cut, then numbers are, then only blocks stay, then columns in the middle
        go, and a note says so.

        Args:
            width: How many columns a line may take, at least 20.
            color: Whether to add ANSI colors.
            ascii: Whether to do without Unicode; labels are escaped.

        Returns:
            Lines without trailing spaces, none wider than width.

        Raises:
            TypeError: If width is not a whole number.
            ValueError: If width is below 20.

        Examples:
            Without Unicode, a full stop is what is hidden:

            >>> picture = Heatmap([[1, 0], [1/4, 3/4]], ["The", "café"], mask=[[True, False], [True, True]])
            >>> print(picture.text(ascii=True))
            query (down), key (across), hidden .
                     The      caf\xe9
            The      ## 1.00  .
            caf\xe9  ++ 0.25  ## 0.75
        """
        width = size(width, "width", least=20)
        signs, paint = _ASCII if ascii else _UNICODE, _ansi if color else _plain
        body = self._bars(width, signs, paint) if self._is_sentence() else self._grid(width, signs, paint)
        title = _wrapped(_clean(self.title, signs).split(), width, signs)
        axes = _wrapped(self._axes(signs).split(), width, signs)
        return "\n".join(line.rstrip() for line in title + axes + body)

    __str__ = text

    def __repr__(self) -> str:
        kind = "a mask" if self.is_mask else "values"
        return f"<Heatmap of {kind}: {len(self.queries)} x {len(self.keys)}, {self._n_hidden()} hidden>"

    def svg(self, *, prefix: str = "") -> str:
        """Draw the picture as SVG, for a page.

        Colors are variables such as `--ap-query`, with the light ones of
        [`palette`][attention_primer.heatmaps.palette] as a fallback, so it is right on white without a style sheet.
        For those who don't see it, a title and a description tell what it shows.

        Args:
            prefix: What its ids start with, for the same picture twice on a page. Defaults to a checksum.

        Returns:
            One `svg` element; the same picture gives the same text.

        Raises:
            TypeError: If prefix is not text.
            ValueError: If it holds a space or another sign that an id can't.

        Examples:
            A screen reader hears what the picture shows:

            >>> picture = Heatmap([[1/4, 1/2, 1/4]], ["sat"], ["The", "cat", "sat"], fractions=True).svg()
            >>> picture[picture.index("<desc"):picture.index("</desc>")].split(">")[1]
            '1 query, 3 keys. sat: largest is cat, 1/2.'
        """
        title, told = _escaped(self._caption()), _escaped(self._description())
        drawn = "".join(self._drawing("")[2])
        mark = _plain_name(prefix, "prefix") or f"ap-{crc32(f'{title}{told}{drawn}'.encode()):08x}"
        width, height, parts = self._drawing(mark)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ap-heatmap" role="img" viewBox="0 0 {width} {height}"'
            f' aria-labelledby="{mark}-title {mark}-desc" style="width:100%;max-width:{width}px;height:auto"'
            ' font-family="system-ui, sans-serif" font-size="14">'
        )
        named = f'<title id="{mark}-title">{title}</title><desc id="{mark}-desc">{told}</desc>'
        return "\n".join((head, named, *parts, "</svg>"))

    def _repr_svg_(self) -> str:
        return self.svg()

    def table(self) -> str:
        """Write the same numbers as an HTML table, to stand beneath the picture.

        Returns:
            One `table` element with a caption; queries head the rows and keys the columns. A sentence stands upright,
            one row a word.

        Examples:
            What is hidden says so:

            >>> table = Heatmap([[1, 0], [1/2, 1/2]], ["a", "b"], mask=[[True, False], [True, True]]).table()
            >>> print(table.splitlines()[4])
            <tr><th scope="row" class="ap-query">a</th><td>1.00</td><td>hidden</td></tr>
        """
        cells = [[f"<td>{self._word(i, j)}</td>" for j in range(len(self.keys))] for i in range(len(self.queries))]
        corner, across, down = "query ↓, key →", ("key", self.keys), ("query", self.queries)
        if self._is_sentence():
            corner, across, down = "key ↓, query →", down, across
            cells = [list(column) for column in zip(*cells, strict=True)]
        heads = [_head(word, across[0], "col") for word in across[1]]
        rows = [_head(word, down[0], "row") + "".join(row) for word, row in zip(down[1], cells, strict=True)]
        lines = [f'<th scope="col">{corner}</th>' + "".join(heads), *rows]
        lines = [f"<tr>{line}</tr>" for line in lines]
        caption = f'<table class="ap-table">\n<caption>{_escaped(self._caption())}</caption>'
        return "\n".join((caption, f"<thead>{lines[0]}</thead>", "<tbody>", *lines[1:], "</tbody>\n</table>"))

    # What it holds.

    def _seen(self, mask: Mask | None) -> list[list[bool]]:
        """Join what hides a cell: the mask, minus infinity, and a False in a matrix that is a mask itself."""
        n_q, n_k = len(self.values), len(self.values[0])
        seen = [[True] * n_k] * n_q if mask is None else boolean_matrix(mask, "mask")
        if (len(seen), len(seen[0])) != (n_q, n_k):
            given = f"({len(seen)}, {len(seen[0])})"
            raise ShapeError(f"mask is {given} and values are {(n_q, n_k)}: both must have the same shape")
        hidden = 0.0 if self.is_mask else -inf
        return [[x != hidden and s for x, s in zip(*rows, strict=True)] for rows in zip(self.values, seen, strict=True)]

    def _labels(self, queries: Sequence[str] | None, keys: Sequence[str] | None) -> tuple[list[str], list[str]]:
        n_q, n_k = len(self.values), len(self.values[0])
        if keys is None and queries is not None and n_q == n_k:
            keys = queries
        return _words(queries, "queries", n_q, "row"), _words(keys, "keys", n_k, "column")

    def _range(self) -> tuple[float, float]:
        """Find where the ramp starts and ends; shares always fill it from 0 to 1, so that pictures compare."""
        visible = [finite(x, f"values[{i}][{j}]") for i, j, x in self._visible()]
        if all(-_NEAR <= x <= 1 + _NEAR for x in visible):
            return 0.0, 1.0
        return min(visible), max(visible)

    def _visible(self) -> Iterable[tuple[int, int, float]]:
        for i, row in enumerate(self.values):
            for j, x in enumerate(row):
                if self.mask[i][j]:
                    yield i, j, x

    def _n_hidden(self) -> int:
        return sum(row.count(False) for row in self.mask)

    def _is_shares(self) -> bool:
        return (self._low, self._high) == (0.0, 1.0)

    def _is_sentence(self) -> bool:
        return len(self.queries) == 1 and self._is_shares() and not self.is_mask

    def _depth(self, x: float) -> float:
        """Place a value on the ramp: 0 at its start, 1 at its end."""
        # Halves, since the difference of two large floats may be infinite.
        spread = self._high / 2 - self._low / 2
        return min(max((x / 2 - self._low / 2) / spread, 0.0), 1.0) if spread else 0.5

    # What it says.

    def _number(self, x: float, signs: _Signs = _UNICODE, decimals: int = 2) -> str:
        """Write one value; a mask has none to write."""
        if self.is_mask:
            return ""
        text = (self.fractions and _fraction(x)) or (f"{x:.{decimals}f}" if abs(x) < _LARGE else f"{x:.1e}")
        return text.removeprefix("-") if not text.strip("-0.") else text.replace("-", signs.minus)

    def _says(self, signs: _Signs) -> list[tuple[str, str]]:
        """Explain the axes and the signs, each part with its role."""
        says = [("query", f"query {signs.down}"), ("key", f"key {signs.right}")]
        if self._is_sentence():
            says = [("query", f"query: {_clean(self.queries[0], signs)}"), ("key", f"key {signs.down}")]
        if self._n_hidden():
            says.append(("hidden", f"hidden {signs.hidden}"))
        if not self._is_shares():
            says.append(("shade", f"shade {self._number(self._low, signs)} to {self._number(self._high, signs)}"))
        return says

    def _axes(self, signs: _Signs = _UNICODE) -> str:
        return ", ".join(said for _, said in self._says(signs))

    def _counts(self) -> str:
        """Count what there is, for pictures that have no title."""
        n_q, n_k, n_hidden = len(self.queries), len(self.keys), self._n_hidden()
        counts = f"{n_q} {'query' if n_q == 1 else 'queries'}, {n_k} key{'s' if n_k != 1 else ''}"
        return f"{counts}, {n_hidden} hidden" if n_hidden else counts

    def _caption(self) -> str:
        title = _clean(self.title or self._counts())
        return f"{title.rstrip('.')}. {_clean(self.finding)}" if self.finding else title

    def _description(self) -> str:
        """Tell the picture to whoever can't see it."""
        told = [*filter(None, [_clean(self.finding)]), f"{self._counts()}."]
        if len(self.queries) <= _MANY:
            told += [f"{_clean(word)}{self._said_of(i)}." for i, word in enumerate(self.queries)]
        return " ".join(told)

    def _said_of(self, i: int) -> str:
        """Tell the finding of one row."""
        seen = {j: x for j, x in enumerate(self.values[i]) if self.mask[i][j]}
        if self.is_mask or not seen:
            return f" sees {len(seen)} of {len(self.keys)} keys"
        most = max(seen.values())
        best = [_clean(self.keys[j]) for j, x in seen.items() if x >= most - _NEAR]
        if len(best) == 1:
            return f": largest is {best[0]}, {self._number(most)}"
        who = " and ".join(best) if len(best) <= 3 else f"{len(best)} keys"
        return f": largest are {who}, {self._number(most)} each"

    def _word(self, i: int, j: int) -> str:
        if not self.mask[i][j]:
            return "hidden"
        return "seen" if self.is_mask else self._number(self.values[i][j])

    # As text.

    def _grid(self, width: int, signs: _Signs, paint: _Paint) -> list[str]:
        """Take the roomiest look that fits, with the longest labels that fit."""
        for look in _LOOKS:
            if (look.blocks + look.apart) * len(self.keys) < width:
                cells = self._cells(look, signs)
                for cap in _CAPS:
                    rows = self._labelled(cells, cap, signs)
                    rooms = [max(map(_room, column)) for column in zip(*rows, strict=True)]
                    if sum(rooms) + look.apart * len(self.keys) <= width:
                        return [_line(row, rooms, look.apart, paint) for row in rows]
        return self._blocks(width, signs, paint)

    def _cells(self, look: _Look, signs: _Signs) -> list[list[_Piece]]:
        """Write what stands in the cells, numbers right beneath each other."""
        numbers = {(i, j): self._number(x, signs, look.decimals) for i, j, x in self._visible()}
        room = max(map(len, numbers.values()), default=0)
        align = str.ljust if self.fractions else str.rjust
        cells = [[("hidden", signs.hidden, "")] * len(self.keys) for _ in self.queries]
        for i, j, x in self._visible():
            number = look.between + align(numbers[i, j], room) if room else ""
            cells[i][j] = ("weight", self._shade(x, signs) * look.blocks, number)
        return cells

    def _labelled(self, cells: list[list[_Piece]], cap: int, signs: _Signs) -> list[list[_Piece]]:
        """Put the words around the cells."""
        queries = [("query", label, "") for label in self._short(self.queries, cap, signs)]
        keys = [("key", label, "") for label in self._short(self.keys, cap, signs)]
        return [[("", "", ""), *keys], *([query, *row] for query, row in zip(queries, cells, strict=True))]

    def _short(self, words: list[str], cap: int, signs: _Signs) -> list[str]:
        return [_shortened(_clean(word, signs), cap, signs.cut) for word in words]

    def _shade(self, x: float, signs: _Signs) -> str:
        # A twentieth is the least that shows; from there on, one more block a quarter.
        depth = self._depth(x) + _NEAR
        return signs.shades[min(1 + int(4 * depth), 4) if depth > 0.05 else 0]

    def _blocks(self, width: int, signs: _Signs, paint: _Paint) -> list[str]:
        """Draw two columns a cell and no numbers; the keys are numbered, their words follow beneath."""
        labels = self._short(self.queries, width // 3, signs)
        left = max(map(_columns, labels)) + 1
        places = _places(len(self.keys), (width - left) // 2)
        lines = [" " * left + paint("key", line) for line in _upright(places)]
        for i, label in enumerate(labels):
            cells = "".join(self._block(i, j, signs, paint) for j in places)
            lines.append(_padded(label, left, paint("query", label)) + cells)
        for note in self._notes(places, signs):
            lines += _wrapped(note, width, signs)
        return lines

    def _block(self, i: int, j: int | None, signs: _Signs, paint: _Paint) -> str:
        if j is None:
            return f"{signs.cut} "
        if not self.mask[i][j]:
            return paint("hidden", signs.hidden) + " "
        return paint("weight", self._shade(self.values[i][j], signs) * 2)

    def _notes(self, places: list[int | None], signs: _Signs) -> Iterable[list[str]]:
        """Say what the blocks leave open, in parts that stay whole when a line breaks."""
        kept = [j for j in places if j is not None]
        yield f"more is denser: {signs.shades.strip()}".split()
        if len(kept) < len(self.keys):
            yield f"{signs.cut} {len(self.keys) - len(kept)} of {len(self.keys)} keys left out: too wide".split()
        if self.keys != _numbers(len(self.keys)):
            yield ["keys:", *(f"{j} {_clean(self.keys[j], signs)}" + "," * (j != kept[-1]) for j in kept)]

    def _bars(self, width: int, signs: _Signs, paint: _Paint) -> list[str]:
        """Draw a sentence: one line a word, with its share as a number and as a bar."""
        labels = self._short(self.keys, min(width // 3, _LABEL), signs)
        numbers = [self._number(x, signs) if seen else "" for x, seen in zip(self.values[0], self.mask[0], strict=True)]
        left, middle = max(map(_columns, labels)) + 2, max(map(len, numbers)) + 2
        room = min(width - left - middle, 40)
        lines = []
        for label, number, x in zip(labels, numbers, self.values[0], strict=True):
            start = _padded(label, left, paint("key", label))
            bar = paint("weight", self._bar(x, room, signs)) if number else ""
            lines.append(start + (number.ljust(middle) + bar if number else paint("hidden", signs.hidden)))
        return lines

    def _bar(self, x: float, room: int, signs: _Signs) -> str:
        parts = len(signs.bars)
        full, rest = divmod(_nearest(self._depth(x) * room * parts), parts)
        return signs.bars[-1] * full + signs.bars[rest - 1 : rest]

    # As SVG.

    def _drawing(self, mark: str) -> tuple[int, int, list[str]]:
        """Draw everything between the tags: width, height and the parts. Ids start with the mark."""
        parts, top = [], 24
        if self.title:
            parts.append(f'<text y="16" font-weight="600" fill="currentColor">{_escaped(_clean(self.title))}</text>')
            top = 48
        parts.append(f'<text y="{top - 8}" font-size="13" fill="currentColor">{", ".join(self._axes_drawn())}</text>')
        if self._n_hidden():
            parts.append(_HATCH.format(mark=mark, color=_var("hidden")))
        width, height, body = self._bars_drawn(top, mark) if self._is_sentence() else self._grid_drawn(top, mark)
        return max(width, _pixels(self._axes()), _pixels(_clean(self.title))), height, parts + body

    def _axes_drawn(self) -> Iterable[str]:
        for role, said in self._says(_DRAWN):
            yield f'<tspan fill="{_var(role)}">{_escaped(said)}</tspan>' if role in _ROLES else _escaped(said)

    def _grid_drawn(self, top: int, mark: str) -> tuple[int, int, list[str]]:
        """Draw a matrix: labels lean when they are wider than the cells, and stand up when cells are small."""
        queries, keys = self._short(self.queries, _LABEL, _UNICODE), self._short(self.keys, _LABEL, _UNICODE)
        left, label = max(map(_pixels, queries)) + 10, max(map(_pixels, keys)) + 10
        dense = len(keys) > _MANY
        number = max((_pixels(self._number(x)) for _, _, x in self._visible()), default=0) + 14
        wide, high = (18, 18) if dense else (max(number, 46), 36)
        slope = 90 if dense else 37 if label > max(wide, 80 if len(keys) <= 8 else 0) else 0
        rise, over = _SLOPES[slope]
        wide = wide if slope else max(wide, label)
        top += (14 if slope else 22) + label * rise // 5
        parts = _heads_drawn(keys, left, top, wide, slope)
        for i, query in enumerate(queries):
            y = top + i * high
            parts.append(_label(left - 10, y + high // 2 + 5, query, "query", "end"))
            parts += [self._cell_drawn(i, j, (left + j * wide, y, wide, high), mark, dense) for j in range(len(keys))]
        right = left + len(keys) * wide
        return max(right, right - wide // 2 + label * over // 5), top + len(queries) * high + 2, parts

    def _cell_drawn(self, i: int, j: int, place: _Place, mark: str, dense: bool) -> str:
        if not self.mask[i][j]:
            return _hidden_drawn(place, mark)
        # A mask is quieter than a weight of one.
        step = 4 if self.is_mask else _nearest(self._depth(self.values[i][j]) * _STEPS)
        box = _box(place, _var(f"w{step}"))
        if dense or self.is_mask:
            return box
        x, y = _middle(place)
        return box + _label(x, y + 5, self._number(self.values[i][j]), f"w{step}-ink", "middle")

    def _bars_drawn(self, top: int, mark: str) -> tuple[int, int, list[str]]:
        """Draw a sentence upright, since eleven words abreast are illegible on a phone."""
        keys = self._short(self.keys, _LABEL, _UNICODE)
        left = max(map(_pixels, keys)) + 10
        parts = []
        for j, key in enumerate(keys):
            y = top + 26 * j
            parts.append(_label(left - 10, y + 18, key, "key", "end"))
            if not self.mask[0][j]:
                parts.append(_hidden_drawn((left, y + 2, 46, 22), mark))
                continue
            long = _nearest(self._depth(self.values[0][j]) * _FULL)
            parts.append(f'<rect x="{left}" y="{y + 4}" width="{long}" height="18" rx="2" fill="{_var("w8")}"/>')
            parts.append(_label(left + long + 8, y + 18, self._number(self.values[0][j]), "currentColor"))
        return left + _FULL + 60, top + 26 * len(keys) + 2, parts


def _holds_booleans(values: object) -> bool:
    rows = entries(values, "values", "rows")  # type: ignore[arg-type]  # entries checks it
    return isinstance(entries(rows[0], "values[0]", "numbers")[0], bool)  # type: ignore[arg-type]


def _words(given: Sequence[str] | None, name: str, n: int, of: str) -> list[str]:
    """Check the labels of one axis, or count instead."""
    if given is None:
        return _numbers(n)
    words = [_string(word, f"{name}[{i}]") for i, word in enumerate(entries(given, name, "words"))]
    if len(words) != n:
        plural = "s" if n != 1 else ""
        raise ShapeError(f"{name} holds {len(words)} for values with {n} {of}{plural}: each {of} must have one label")
    return words


def _string(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{name} is {shown(given)}: it must be text")
    return given


def _plain_name(given: str, name: str) -> str:
    if not all(c.isalnum() or c in "-_" for c in _string(given, name)):
        raise ValueError(f"{name} is {shown(given)}: it must hold letters, digits, - and _ only")
    return given


def _numbers(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _fraction(x: float) -> str:
    """Find the equal fraction with the smallest denominator; nothing if there is none."""
    for below in range(1, 65):
        above = round(x * below) if abs(x) < _LARGE else 0
        if abs(x - above / below) <= _NEAR:
            return f"{above}/{below}" if below > 1 else str(above)
    return ""


def _nearest(x: float) -> int:
    # Halves go up even if rounding has left them a hair too small, so that all machines draw the same.
    return int(x + 0.5 + _NEAR)


def _clean(text: str, signs: _Signs = _UNICODE) -> str:
    """Escape what a terminal or XML can't show; joiners may stay."""
    text = "".join(c if c.isprintable() or c in "\u200c\u200d" else c.encode("unicode_escape").decode() for c in text)
    return text.encode("ascii", "backslashreplace").decode() if signs is _ASCII else text


def _columns(text: str) -> int:
    """Count the columns of a terminal, where Chinese letters take two and accents none."""
    return sum(map(_column, text))


def _column(c: str) -> int:
    if category(c) in ("Mn", "Me", "Cf") or "\u1160" <= c <= "\u11ff":  # drawn onto the letter before
        return 0
    return 2 if east_asian_width(c) in "WF" else 1


def _shortened(text: str, room: int, cut: str) -> str:
    """Cut a label visibly, but no mark from its letter."""
    if _columns(text) <= room:
        return text
    kept = sum(used < room for used in accumulate(map(_column, text)))
    return text[:kept] + cut


def _wrapped(parts: Iterable[str], width: int, signs: _Signs) -> list[str]:
    """Fill lines with parts; a part breaks nowhere, and is cut if a line can't hold it."""
    lines: list[str] = []
    for part in parts:
        short = _shortened(part, width, signs.cut)
        if lines and _columns(lines[-1]) + 1 + _columns(short) <= width:
            lines[-1] += f" {short}"
        else:
            lines.append(short)
    return lines


def _places(n: int, room: int) -> list[int | None]:
    """Choose the columns that fit; None stands for those that are left out in the middle."""
    if n <= room:
        return list(range(n))
    head = room // 2
    return [*range(head), None, *range(n - (room - head - 1), n)]


def _upright(places: list[int | None]) -> list[str]:
    """Write the numbers of the columns downward, since a column is only two wide."""
    names = ["" if j is None else str(j) for j in places]
    high = max(map(len, names))
    return ["".join(f"{c} " for c in line) for line in zip(*(name.rjust(high) for name in names), strict=True)]


def _room(piece: _Piece) -> int:
    return _columns(piece[1]) + len(piece[2])


def _line(row: list[_Piece], rooms: list[int], apart: int, paint: _Paint) -> str:
    return (" " * apart).join(
        _padded("".join(piece[1:]), room, paint(piece[0], piece[1]) + piece[2])
        for piece, room in zip(row, rooms, strict=True)
    )


def _padded(text: str, room: int, painted: str) -> str:
    """Fill up with spaces; the colors of the painted text take no room."""
    return painted + " " * (room - _columns(text))


def _plain(role: str, text: str) -> str:  # noqa: ARG001  # the other painter needs the role
    return text


def _ansi(role: str, text: str) -> str:
    return f"\x1b[38;5;{_ANSI[role]}m{text}\x1b[0m" if text.strip() else text


def _heads_drawn(keys: list[str], left: int, top: int, wide: int, slope: int) -> list[str]:
    x, y = left + wide // 2, top - 8
    if not slope:
        return [_label(x + j * wide, y, key, "key", "middle") for j, key in enumerate(keys)]
    if slope == 90:
        x += 5  # half a letter, since they now stand beside the line
    turns = [f' transform="rotate(-{slope} {x + j * wide} {y})"' for j in range(len(keys))]
    return [_label(x + j * wide, y, key, "key", "start", turns[j]) for j, key in enumerate(keys)]


def _box(place: _Place, fill: str) -> str:
    x, y, wide, high = place
    return f'<rect x="{x + 1}" y="{y + 1}" width="{wide - 2}" height="{high - 2}" rx="2" fill="{fill}"/>'


def _middle(place: _Place) -> tuple[int, int]:
    x, y, wide, high = place
    return x + wide // 2, y + high // 2


def _hidden_drawn(place: _Place, mark: str) -> str:
    """Hide a cell by two signs that need no color: a dot and a hatched ground."""
    x, y = _middle(place)
    return _box(place, f"url(#{mark}-hidden)") + f'<circle cx="{x}" cy="{y}" r="2.5" fill="{_var("hidden")}"/>'


def _label(x: int, y: int, text: str, role: str, anchor: str = "start", more: str = "") -> str:
    fill = role if role == "currentColor" else _var(role)
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}"{more}>{_escaped(text)}</text>'


def _head(word: str, role: str, scope: str) -> str:
    return f'<th scope="{scope}" class="ap-{role}">{_escaped(_clean(word))}</th>'


def _var(role: str) -> str:
    return f"var(--ap-{role}, {_LIGHT[role]})"


def _pixels(text: str) -> int:
    """Guess the width at 14 pixels, since no font is at hand to measure; rather too much than clipped."""
    return sum(15 if c in "MWm@%…" else 11 if c.isupper() or c == "w" else 9 * _column(c) for c in text)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _between(start: str, end: str, part: float) -> str:
    """Blend two colors."""
    pairs = [(int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{_nearest(a + (b - a) * part):02x}" for a, b in pairs)


def _ink(ground: str) -> str:
    """Choose black or white, whichever contrasts more."""
    red, green, blue = (_linear(int(ground[i : i + 2], 16) / 255) for i in (1, 3, 5))
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # Contrast by WCAG: with black (light + 0.05) / 0.05, with white 1.05 / (light + 0.05).
    return "#000000" if (light + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


_LIGHT = palette()
