"""Draw the matrices of a head whose vectors have lanes."""

from collections.abc import Callable, Sequence

from attention_primer.checks import Matrix
from attention_primer.circuits import Head
from machinery.drawing import cell, line, svg, text
from machinery.figures.parts import exact

__all__ = ["BLANK", "LABELS", "cells", "or_zero", "seams", "square", "tall"]

LABELS = 64  # what the names of lanes take at the left
BLANK = 1e-6  # what is smaller is drawn as nothing


def or_zero(x: float) -> str:
    """Write a number as a fraction, and rounding as the zero that it stands for."""
    return "0" if abs(x) < BLANK else exact(x)


def cells(x: float, y: float, size: float, rows: Matrix, *, numbers: bool = False) -> list[str]:
    """Draw the numbers of a matrix, shaded by their part of the largest one."""
    most = max(max(map(abs, row)) for row in rows) or 1
    return [
        cell(x + size * j, y + size * i, size - 1, _depth(w / most), exact(w) if numbers and abs(w) > BLANK else "")
        for i, row in enumerate(rows)
        for j, w in enumerate(row)
    ]


def _depth(part: float) -> float:
    # A small number next to a large one is still no zero.
    return max(part, 0.4) if part > BLANK else 0.0


def seams(head: Head, drawn: Callable[[int], str]) -> list[str]:
    """Draw what parts one lane from the next, given where a lane starts."""
    return [drawn(places.start) for places in list(head.lanes.values())[1:]]


def tall(head: Head, matrices: Sequence[tuple[str, Matrix, str]], *, size: int = 20) -> str:
    """Draw matrices that read a vector, side by side, with its lanes as rows."""
    top, x, gap = 28, LABELS, 16
    height = size * len(matrices[0][1])
    wide = [max(size * len(W[0]), 56, 7 * len(what)) for _, W, what in matrices]
    right = x + sum(wide) + gap * (len(wide) - 1)
    parts = _lanes_at_left(head, top, size)
    parts += seams(head, lambda at: line(8, top + size * at, right, top + size * at, width=1, dashed=True))
    for (name, W, what), width in zip(matrices, wide, strict=True):
        parts.append(text(x, 16, name, anchor="start", bold=True))
        parts += cells(x, top, size, W, numbers=size > 16)
        parts += [text(x, top + height + 18, what, anchor="start", size=13)] if what else []
        x += width + gap
    names = ", ".join(name for name, _, _ in matrices)
    return svg(
        right + 4,
        top + height + (26 if any(what for *_, what in matrices) else 8),
        *parts,
        title=f"The matrices {names}",
        description=f"Rows by lane: {', '.join(head.lanes)}. " + "; ".join(_reads(head, n, W) for n, W, _ in matrices),
    )


def _reads(head: Head, name: str, W: Matrix) -> str:
    lanes = [lane for lane, places in head.lanes.items() if any(any(W[r]) for r in places)]
    return f"{name} reads {' and '.join(lanes)}"


def _lanes_at_left(head: Head, top: float, size: float) -> list[str]:
    return [
        text(LABELS - 8, top + size * (places.start + len(places) / 2) + 5, lane, anchor="end", size=13)
        for lane, places in head.lanes.items()
    ]


def square(head: Head, name: str, W: Matrix, *, rows: bool = True, size: int = 9) -> str:
    """Draw a matrix whose columns are a vector, and whose rows are one, too, unless they are a mix of values."""
    top = 48
    bottom, right = top + size * len(W), LABELS + size * len(W[0])
    parts = [text(0, 16, name, anchor="start", bold=True)]
    parts += [
        text(LABELS + size * (places.start + len(places) / 2), top - 6, lane, size=12 if size < 12 else 13)
        for lane, places in head.lanes.items()
    ]
    parts += cells(LABELS, top, size, W, numbers=size > 16)
    parts += seams(head, lambda at: line(LABELS + size * at, top - 2, LABELS + size * at, bottom, width=1, dashed=True))
    if rows:
        parts += _lanes_at_left(head, top, size)
        parts += seams(head, lambda at: line(8, top + size * at, right, top + size * at, width=1, dashed=True))
    else:
        parts.append(text(LABELS - 8, (top + bottom) / 2 + 5, "word", anchor="end", size=13))
    return svg(
        right + 8,
        bottom + 4,
        *parts,
        title=f"The matrix {name}",
        description=f"Columns by lane: {', '.join(head.lanes)}. What is set: {_blocks(head, W, rows=rows)}.",
    )


def _blocks(head: Head, W: Matrix, *, rows: bool) -> str:
    """Name the blocks of a matrix that are not empty, by lane and lane."""
    down = head.lanes if rows else {"word": range(len(W))}
    set_blocks = [
        f"{row} to {column}"
        for row, rs in down.items()
        for column, cs in head.lanes.items()
        if any(abs(W[r][c]) > BLANK for r in rs for c in cs)
    ]
    return ", ".join(set_blocks)
