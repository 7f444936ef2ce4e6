"""Draw figures as SVG and tables, in the colors of the site, from numbers that the library computed.

Colors are roles: query, key, value, hidden, w0 to w10 for the ramp of shares, and nothing for plain ink. Each is a
variable of the style sheet, so figures follow light and dark.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from itertools import count
from math import hypot
from typing import NamedTuple

from attention_primer.heatmaps import Heatmap
from machinery.scan import numbers, scan
from machinery.wholes import unbroken

__all__ = [
    "FIGURES",
    "Figure",
    "arrow",
    "box",
    "cell",
    "computed",
    "curve",
    "figure",
    "framed",
    "group",
    "heatmap",
    "hidden_cell",
    "html_of",
    "line",
    "noted",
    "number",
    "refuse_typed",
    "svg",
    "table",
    "text",
]


class Figure(NamedTuple):
    """A picture, the finding that it shows, and the same numbers as a table.

    Attributes:
        svg: One `svg` element, from [`svg`][machinery.drawing.svg] or `Heatmap.svg()`; or several in a row.
        caption: A sentence, as HTML; its numbers come from `number`.
        table: One `table` element, from `table` or `Heatmap.table()`; or an ordered list, where steps are told.
        note: A sentence that follows the caption; in a live figure, one that always holds.
    """

    svg: str
    caption: str
    table: str
    note: str = ""

    @property
    def html(self) -> str:
        """What a figure shows, in three parts: its drawing, its finding and its table."""
        return SEAM.join((self.svg, self.caption, self.table))


FIGURES: dict[str, Callable[[], Figure]] = {}
SEAM = "\f"  # stands between the parts of a figure; no part holds one
_computed: ContextVar[set[str]] = ContextVar("computed")


def figure(draw: Callable[[], Figure]) -> Callable[[], Figure]:
    """Register a figure under its function's name, for `<!-- figure: name -->`."""
    if draw.__name__ in FIGURES:
        raise ValueError(f"there are two figures named {draw.__name__}")
    FIGURES[draw.__name__] = draw
    return draw


def html_of(name: str) -> str:
    """Draw a registered figure as a `figure` element.

    Raises:
        LookupError: If there is no such figure.
        ValueError: If it shows a number that was typed instead of computed.
    """
    if name not in FIGURES:
        raise LookupError(f"there is no such figure; there are {', '.join(sorted(FIGURES))}")
    drawn, made = noted(name, FIGURES[name])
    refuse_typed("".join((drawn.html, drawn.note)), made)
    return framed(name, drawn, made)


def noted(name: str, draw: Callable[[], Figure]) -> tuple[Figure, list[str]]:
    """Draw a figure, and tell which numbers were computed for it."""
    noting = _computed.set(set())
    try:
        drawn = draw()
        made = sorted(_computed.get())
    finally:
        _computed.reset(noting)
    told = {part: unbroken(getattr(drawn, part)) for part in ("caption", "table", "note")}
    return drawn._replace(svg=_with_own_ids(drawn.svg, name), **told), made


def refuse_typed(shown: str, made: Sequence[str]) -> None:
    """Raise ValueError if HTML shows a number that was typed instead of computed."""
    if typed := scan(f'<figure data-computed="{html.escape(" ".join(made))}">{shown}</figure>'):
        raise ValueError(f"{typed[0].number} was typed: show it with number(…), so that it follows the library")


def framed(name: str, drawn: Figure, made: Sequence[str], *, controls: str = "", frames: str = "") -> str:
    """Put a figure's parts together as one element; what changes it stands above, what it becomes in a file."""
    spoken = f'<span aria-live="polite">{drawn.caption}</span>' if frames else drawn.caption
    note = f" {drawn.note}" if drawn.note else ""
    file = f' data-frames="{frames}"' if frames else ""
    return (
        f'<figure class="ap-figure" id="figure-{name}" data-computed="{html.escape(" ".join(made))}"{file}>{controls}'
        f'<div class="ap-drawing" data-search-exclude>{drawn.svg}</div><figcaption><p>{spoken}{note}</p>'
        f"<details data-search-exclude><summary>The same as a table</summary>"
        f'<div class="ap-same">{drawn.table}</div></details></figcaption></figure>'
    )


def _with_own_ids(drawing: str, name: str) -> str:
    """Name the parts of each `svg` after its figure and its place, so that no two on a page share an id."""

    def renamed(place: int, picture: str) -> str:
        for part, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', picture))):
            picture = re.sub(rf'(?<=[" #(]){re.escape(old)}(?=[" )])', f"{name}-{place}-{part}", picture)
        return picture

    places = count()
    return re.sub(r"<svg\b.*?</svg>", lambda found: renamed(next(places), found[0]), drawing, flags=re.DOTALL)


def computed(shown: str) -> str:
    """Note that the library computed every number of a text, and return the text."""
    _computed.get(set()).update(numbers(re.sub(r"<[^>]*>", " ", shown)))
    return shown


def number(value: float, spec: str = ".2f") -> str:
    """Write a computed number, with a real minus sign.

    Examples:
        >>> number(-0.6285), number(4096, ",")
        ('−0.63', '4,096')
    """
    return computed(format(value, spec).replace("-", "−"))


def heatmap(picture: Heatmap, caption: str) -> Figure:
    """Make a figure of a heatmap, with its own table."""
    return Figure(computed(picture.svg()), caption, computed(picture.table()))


def svg(width: float, height: float, *parts: str, title: str, description: str = "") -> str:
    """Put parts together as one picture; draw at most 360 wide, so that it is legible on a phone.

    Args:
        width: In pixels; wider than 480 scrolls in its own box on a phone.
        height: In pixels.
        parts: What the helpers below return.
        title: What the picture shows.
        description: What a reader who can't see it should know.
    """
    mark = re.sub(r"\W+", "-", title.lower()).strip("-")
    wide = " ap-wide" if width > 480 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ap-svg{wide}" role="img"'
        f' viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
        f' aria-labelledby="{mark}-title {mark}-desc"><title id="{mark}-title">{html.escape(title)}</title>'
        f'<desc id="{mark}-desc">{html.escape(description)}</desc>{"".join(parts)}</svg>'
    )


def text(
    x: float, y: float, shown: str, *, role: str = "", anchor: str = "middle", size: float = 14, bold: bool = False
) -> str:
    """Write a text on its base line; anchor is start, middle or end."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}" font-size="{_n(size)}"{weight} fill="{_color(role)}">'
        f"{html.escape(shown)}</text>"
    )


def line(
    x1: float, y1: float, x2: float, y2: float, *, role: str = "", width: float = 1.5, dashed: bool = False
) -> str:
    """Draw a straight line."""
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{_color(role)}"'
        f' stroke-width="{_n(width)}"{dashes}/>'
    )


def arrow(x1: float, y1: float, x2: float, y2: float, *, role: str = "", width: float = 1.5) -> str:
    """Draw a straight line with a head at its end."""
    length = hypot(x2 - x1, y2 - y1)
    dx, dy, head = (x2 - x1) / length, (y2 - y1) / length, 4 + 2 * width
    bx, by = x2 - head * dx, y2 - head * dy
    points = [(x2, y2), (bx - head / 2 * dy, by + head / 2 * dx), (bx + head / 2 * dy, by - head / 2 * dx)]
    corners = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return line(x1, y1, bx, by, role=role, width=width) + f'<polygon points="{corners}" fill="{_color(role)}"/>'


def curve(x1: float, y1: float, x2: float, y2: float, *, bend: float, role: str = "", width: float = 1.5) -> str:
    """Draw an arc between two points; its middle lies half of bend below the chord's, or above if bend is negative."""
    middle = f"{_n((x1 + x2) / 2)} {_n((y1 + y2) / 2 + bend)}"
    return (
        f'<path d="M{_n(x1)} {_n(y1)}Q{middle} {_n(x2)} {_n(y2)}" fill="none" stroke="{_color(role)}"'
        f' stroke-width="{_n(width)}" stroke-linecap="round"/>'
    )


def box(x: float, y: float, width: float, height: float, *, role: str = "", filled: bool = False) -> str:
    """Draw a rectangle; filled, it is a bar."""
    paint = f'fill="{_color(role)}"' if filled else f'fill="none" stroke="{_color(role)}"'
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" {paint}/>'


def cell(x: float, y: float, size: float, share: float, shown: str = "", *, letters: int = 14) -> str:
    """Draw a cell of a weight matrix, shaded by its share of 1, with a text on it in the ink that contrasts."""
    step = round(10 * min(max(share, 0), 1))
    ink = text(x + size / 2, y + size / 2 + 5, shown, size=letters, role=f"w{step}-ink") if shown else ""
    return box(x, y, size, size, role=f"w{step}", filled=True) + ink


def hidden_cell(x: float, y: float, size: float) -> str:
    """Draw a masked cell: a dot on hatching."""
    steps = range(6, int(2 * size), 6)
    hatch = "".join(
        f"M{_n(x + max(0, s - size))} {_n(y + min(s, size))}L{_n(x + min(s, size))} {_n(y + max(0, s - size))}"
        for s in steps
    )
    return (
        f'<path d="{hatch}" stroke="{_color("hidden")}" stroke-opacity="0.45"/>'
        f'<circle cx="{_n(x + size / 2)}" cy="{_n(y + size / 2)}" r="2.5" fill="{_color("hidden")}"/>'
    )


def group(*parts: str, x: float = 0, y: float = 0) -> str:
    """Move parts together."""
    return f'<g transform="translate({_n(x)} {_n(y)})">{"".join(parts)}</g>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Write a table; the first cell of each row is its label.

    Examples:
        >>> print(table(["word", "share"], [["cat", "1/2"], ["sat", "1/4"]]))
        <table class="ap-table"><thead>
        <tr><th scope="col">word</th><th scope="col">share</th></tr>
        </thead><tbody>
        <tr><th scope="row">cat</th><td>1/2</td></tr>
        <tr><th scope="row">sat</th><td>1/4</td></tr>
        </tbody></table>
    """
    told = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    heads = "".join(_entry(name, "th", "col") for name in head)
    body = (_entry(label, "th", "row") + "".join(_entry(cell, "td") for cell in cells) for label, *cells in rows)
    lines = [f'<table class="ap-table">{told}<thead>', f"<tr>{heads}</tr>", "</thead><tbody>"]
    return "\n".join([*lines, *(f"<tr>{row}</tr>" for row in body), "</tbody></table>"])


def _entry(shown: str, tag: str, scope: str = "") -> str:
    attribute = f' scope="{scope}"' if scope else ""
    return f"<{tag}{attribute}>{html.escape(shown)}</{tag}>"


def _color(role: str) -> str:
    return f"var(--ap-{role})" if role else "currentColor"


def _n(x: float) -> str:
    return f"{x:.1f}".rstrip("0").rstrip(".")
