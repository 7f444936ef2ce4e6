"""Let a reader change a figure: native controls over frames that the library computes while the site is built.

A live figure is a function of what its controls are set to. It is drawn once for each combination. The page shows the
one that the controls start with and needs no script for it. All frames stand in a file beside the page, each as its
difference from the one a step before; `live.js` fetches them when a reader reaches for a control.
Nothing is computed in the browser.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Protocol

from machinery.drawing import FIGURES, SEAM, Figure, computed, figure, framed, html_of, noted, refuse_typed

__all__ = [
    "FRAMES",
    "LIVE",
    "Blanks",
    "Cells",
    "Choice",
    "Control",
    "Frames",
    "Live",
    "Slider",
    "Switch",
    "live",
    "live_html_of",
]


class Control(Protocol):
    """Something that a reader can change."""

    @property
    def label(self) -> str:
        """What it changes."""

    @property
    def values(self) -> Sequence[Any]:
        """What it can be set to."""

    @property
    def start(self) -> Any:
        """What it is set to at first."""

    def html(self, name: str) -> str:
        """Write it as a native control, under a name that is its own on the page."""


class Choice(NamedTuple):
    """One of a few things, all of them in sight; of more than five, from a list that opens."""

    label: str
    values: Sequence[str]
    start: str

    def html(self, name: str) -> str:
        """Write radio buttons, or a list."""
        label = html.escape(self.label)
        texts = [(html.escape(computed(value)), value == self.start) for value in self.values]
        if len(texts) > 5:
            options = "".join(f"<option{_if(at_first, 'selected')}>{text}</option>" for text, at_first in texts)
            return f'<label{_kept(self)}>{label} <select autocomplete="off">{options}</select></label>'
        radio = f'<input type="radio" name="{name}" autocomplete="off"'
        buttons = "".join(f"<label>{radio}{_if(at_first, 'checked')}>{text}</label>" for text, at_first in texts)
        return f"<fieldset{_kept(self)}><legend>{label}</legend>{buttons}</fieldset>"


class Switch(NamedTuple):
    """On or off."""

    label: str
    start: bool = False

    @property
    def values(self) -> Sequence[bool]:
        """Off, then on, as a checkbox counts."""
        return (False, True)

    def html(self, name: str) -> str:  # noqa: ARG002  # a checkbox needs none
        """Write a checkbox."""
        box = f'<input type="checkbox" autocomplete="off"{_if(self.start, "checked")}>'
        return f"<label{_kept(self)}>{box}{html.escape(self.label)}</label>"


class Slider(NamedTuple):
    """Steps in an order; `show` writes one."""

    label: str
    values: Sequence[Any]
    start: Any
    show: Callable[[Any], str] = str

    def html(self, name: str) -> str:
        """Write a range, with the text of its step behind it."""
        texts = [html.escape(computed(self.show(value))) for value in self.values]
        at = list(self.values).index(self.start)
        return (
            f'<div{_kept(self)}><label for="{name}">{html.escape(self.label)}</label>'
            f'<input type="range" id="{name}" max="{len(texts) - 1}" value="{at}" autocomplete="off"'
            f' aria-valuetext="{texts[at]}" data-texts="{"|".join(texts)}">'
            f'<span aria-hidden="true">{texts[at]}</span></div>'
        )


class Blanks(NamedTuple):
    """A few numbers to type, as decimals or fractions; the value is the name of the answer that they make.

    Attributes:
        label: What is asked for.
        blanks: The name of each number.
        answers: By name, what somebody may type: the right numbers, and those that a slip leaves.
    """

    label: str
    blanks: Sequence[str]
    answers: Mapping[str, Sequence[float]]

    @property
    def values(self) -> Sequence[str]:
        """Nothing yet, an answer, or another one."""
        return (self.start, *self.answers, "another")

    @property
    def start(self) -> str:
        """Nothing yet."""
        return ""

    def html(self, name: str) -> str:  # noqa: ARG002  # each field stands in its label
        """Write a text field a number. Leaving a field is what counts; the button is a place to go to."""
        answers = json.dumps([list(answer) for answer in self.answers.values()])
        fields = "".join(
            f'<label>{html.escape(blank)} <input type="text" size="5" autocomplete="off" spellcheck="false"></label>'
            for blank in self.blanks
        )
        return (
            f'<fieldset{_kept(self)} data-answers="{answers}"><legend>{html.escape(self.label)}</legend>{fields}'
            '<button type="button">Check</button></fieldset>'
        )


class Cells(NamedTuple):
    """A cell of a grid in the drawing: the arrow keys move, and so does a click; the value is (row, column).

    Attributes:
        label: What the cell is.
        rows: What the rows are called.
        columns: What the columns are called.
        start: Row and column.
        corner: Where the grid begins in its `svg`, x and y.
        size: Of a cell.
        picture: Which `svg` of the figure it is.
    """

    label: str
    rows: Sequence[str]
    columns: Sequence[str]
    start: tuple[int, int]
    corner: tuple[float, float]
    size: float
    picture: int = 0

    @property
    def values(self) -> Sequence[tuple[int, int]]:
        """Every cell, row by row."""
        return list(product(range(len(self.rows)), range(len(self.columns))))

    def html(self, name: str) -> str:  # noqa: ARG002  # the cells themselves are the control
        """Write nothing beside them."""
        return ""

    def laid(self, name: str, drawing: str) -> str:
        """Lay a radio button over each cell of the drawing."""
        picture = list(re.finditer(r"<svg\b.*?</svg>", drawing, re.DOTALL))[self.picture]
        size = re.search(r'viewBox="0 0 (\S+) ([^"]+)"', picture[0])
        if size is None:
            raise ValueError(f"the picture of {self.label} has no viewBox")
        width, height = map(float, size.groups())
        buttons = [
            f'<input type="radio" name="{name}" autocomplete="off"{_if((i, j) == self.start, "checked")}'
            f' aria-label="{html.escape(f"{self.rows[i]}, {self.columns[j]}")}" style="left:{x:.2%};top:{y:.2%}">'
            for i, j in self.values
            for x, y in [((self.corner[0] + self.size * j) / width, (self.corner[1] + self.size * i) / height)]
        ]
        cell = f"--ap-cell-width:{self.size / width:.2%};--ap-cell-height:{self.size / height:.2%}"
        over = (
            f'<div class="ap-cells" role="radiogroup" aria-label="{html.escape(self.label)}"'
            f' data-columns="{len(self.columns)}"{_kept(self, "")} style="{cell}">{picture[0]}{"".join(buttons)}</div>'
        )
        return drawing[: picture.start()] + over + drawing[picture.end() :]


class Live(NamedTuple):
    """A figure that the reader changes."""

    hint: str
    controls: Sequence[Control]
    draw: Callable[..., Figure]


LIVE: dict[str, Live] = {}
FRAMES: dict[str, str] = {}  # what stands beside the pages, by file: frames of the figures that were drawn


def live(hint: str, *controls: Control) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Register a figure that is a function of what its controls are set to, for `<!-- figure: name -->`.

    ```python
    @live("Change the word.", Choice("last word", ["tired", "wet", "wide"], start="wide"), Switch("hide the future"))
    def switch(last_word: str, causal: bool) -> Figure: ...
    ```

    Args:
        hint: A sentence that stands above the controls: what to try.
        controls: What can be changed, and in this order what the function takes.
    """
    if any(isinstance(control, Cells) for control in controls[:-1]):
        raise ValueError("cells come last: they stand in the drawing, after the other controls")

    def register(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        def still() -> Figure:
            return draw(*(control.start for control in controls))

        still.__name__ = draw.__name__
        figure(still)
        LIVE[draw.__name__] = Live(hint, controls, draw)
        return draw

    return register


def live_html_of(name: str) -> str:
    """Draw a registered figure as a `figure` element, with its controls and all its frames if it has any.

    Raises:
        LookupError: If there is no such figure.
        ValueError: If one of its frames shows a number that was typed instead of computed.
    """
    if name not in LIVE:
        return html_of(name)
    hint, controls, draw = LIVE[name]
    settings = list(product(*(control.values for control in controls)))
    start = settings.index(tuple(control.start for control in controls))
    still, made = noted(name, FIGURES[name])
    refuse_typed(still.note, made)
    frames = Frames([len(control.values) for control in controls])
    for setting in settings:
        drawn, made_here = noted(name, partial(draw, *setting))
        frames.add(drawn.html, made_here)
    drawing, bar = still.svg, ""
    for place, control in enumerate(controls):
        mark = f"{name}-control-{place}"
        bar += control.html(mark)
        if isinstance(control, Cells):
            drawing = control.laid(mark, drawing)
    bar = f'<fieldset class="ap-controls" data-search-exclude><legend>{html.escape(hint)}</legend>{bar}</fieldset>'
    data = frames.packed(start)
    file = f"{name}.{hashlib.sha256(data.encode()).hexdigest()[:8]}.json"
    FRAMES[file] = data
    return framed(name, still._replace(svg=drawing), made, controls=bar, frames=file)


class Frames:
    """Keep frames as their difference from the one a step before: each piece once, and the places where it goes.

    Args:
        steps: How many steps each control has. The frames come in the order in which these count, the last one fastest.

    Examples:
        The second frame has another number: at place 0 goes 1 piece, and piece 2 comes.

        >>> frames = Frames([2])
        >>> frames.add("<b>1</b><i/>", made=[])
        >>> frames.add("<b>2</b><i/>", made=[])
        >>> frames.packed(start=0)
        '{"start":0,"pieces":["<b>1</b>","<i/>","<b>2</b>"],"first":[0,1],"changes":[[],[[0,1,2]]]}'
    """

    def __init__(self, steps: Sequence[int]) -> None:
        self._steps = steps
        self._pieces: dict[str, int] = {}
        self._frames: list[list[int]] = []

    def add(self, frame: str, made: Sequence[str]) -> None:
        """Take a frame apart, and see that the numbers of its new pieces were computed."""
        pieces = _PIECE.findall(frame)
        refuse_typed("".join(piece for piece in dict.fromkeys(pieces) if piece not in self._pieces), made)
        self._frames.append([self._pieces.setdefault(piece, len(self._pieces)) for piece in pieces])

    def packed(self, start: int) -> str:
        """Write the frames, and which one is shown at first, as JSON."""
        if len({self._drawings(frame) for frame in self._frames}) > 1:
            raise ValueError("not every frame has the same number of drawings")
        changes = [_changes(self._frames[self._before(at)], frame) for at, frame in enumerate(self._frames)]
        data = {"start": start, "pieces": list(self._pieces), "first": self._frames[0], "changes": changes}
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def _before(self, at: int) -> int:
        """Step back the last control that is not at its first step."""
        stride = 1
        for count in reversed(self._steps):
            if at // stride % count:
                return at - stride
            stride *= count
        return at

    def _drawings(self, frame: list[int]) -> int:
        begins = {number for piece, number in self._pieces.items() if piece.startswith("<svg")}
        return sum(number in begins for number in frame)


# An element that holds text alone, a tag, or text between tags.
_PIECE = re.compile(rf"<(?:(?!<)[^>])*>[^<{SEAM}]*</\w+>|<[^>]*>|{SEAM}|[^<{SEAM}]+")


def _changes(old: Sequence[int], new: Sequence[int]) -> list[list[int]]:
    """List what to splice, from back to front: the place, how many pieces go, and which ones come."""
    same = _alike(old, new)  # most frames differ in a few places, and the rest need not be compared
    end = _alike(old[same:][::-1], new[same:][::-1])
    steps = SequenceMatcher(None, old[same : len(old) - end], new[same : len(new) - end], autojunk=False).get_opcodes()
    return [
        [same + i1, i2 - i1, *new[same + j1 : same + j2]] for tag, i1, i2, j1, j2 in reversed(steps) if tag != "equal"
    ]


def _alike(old: Sequence[int], new: Sequence[int]) -> int:
    """Count how many pieces are the same before the first that is not."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _kept(control: Control, css: str = "ap-control") -> str:
    named = f' class="{css}"' if css else ""
    return f'{named} data-steps="{len(control.values)}"'


def _if(is_so: bool, attribute: str) -> str:
    return f" {attribute}" if is_so else ""
