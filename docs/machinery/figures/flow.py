"""Draw all of attention as a flow of boxes, each with the section that explains it."""

from machinery.drawing import Figure, arrow, box, figure, line, svg, table, text

_COLUMNS = ((8, "query", "Q"), (116, "key", "K"), (224, "value", "V"))
_WIDE, _HIGH, _STEP = 92, 46, 74
_MATCH = 176  # where the first box stands that takes both queries and keys
# A box: what it does, in letters, its sections, and what comes out of it.
_BOXES = (
    ("match", "Q Kᵀ", "sections 4, 7", "scores (n, n)"),
    ("scale", "÷ √d_k", "section 9", ""),
    ("hide", "−∞ if masked", "section 8", ""),
    ("share", "softmax, by row", "section 3", "shares (n, n)"),
)


@figure
def flow() -> Figure:
    """Draw the boxes from top to bottom: vectors, three matrices, match, scale, hide, share, mix."""
    bottom = _MATCH + _STEP * len(_BOXES)
    projections = [
        part
        for x, role, letter in _COLUMNS
        for part in (
            arrow(x + _WIDE / 2, 34, x + _WIDE / 2, 62),
            _box(x, 64, _WIDE, f"X W_{letter.lower()}", "section 5", role),
            text(x + _WIDE / 2 + 8, 136, f"{letter} (n, d_{'v' if letter == 'V' else 'k'})", role=role, anchor="start"),
        )
    ]
    steps = [
        part
        for i, (does, letters, where, result) in enumerate(_BOXES)
        for part in (
            _box(8, _MATCH + _STEP * i, 2 * _WIDE + 16, f"{does}: {letters}", where),
            arrow(108, _MATCH + _STEP * i + _HIGH, 108, _MATCH + _STEP * (i + 1) - 2),
            text(116, _MATCH + _STEP * i + _HIGH + 18, result, anchor="start", size=13),
        )
    ]
    return Figure(
        svg(
            356,
            bottom + _HIGH + 62,
            text(162, 18, "X, the vectors of the words (n, d_model)"),
            line(54, 34, 270, 34),
            line(162, 24, 162, 34),
            *projections,
            arrow(54, 110, 54, _MATCH - 2),
            arrow(162, 110, 162, _MATCH - 2),
            line(270, 110, 270, bottom - 12),
            arrow(270, bottom - 12, 270, bottom - 2),
            *steps,
            _box(8, bottom, 308, "mix: shares × V", "section 2", "value"),
            arrow(162, bottom + _HIGH, 162, bottom + _HIGH + 32),
            text(162, bottom + _HIGH + 52, "output (n, d_v)", role="value", bold=True),
            title="Attention as a flow of boxes",
            description="X goes into three matrices. Q and K are matched, the scores scaled, hidden and shared; the "
            "shares mix V into the output.",
        ),
        "Read it from top to bottom, or backwards as this page did: the output is a mix, its shares come from scores, "
        "and scores from queries and keys. Only the three matrices at the top are learned.",
        table(
            ["step", "in letters", "explained in", "result"],
            [
                ["ask, offer, hand over", "X W_q, X W_k, X W_v", "section 5", "Q and K (n, d_k), V (n, d_v)"],
                *([does, letters, where, result or "scores (n, n)"] for does, letters, where, result in _BOXES),
                ["mix", "shares × V", "section 2", "output (n, d_v)"],
            ],
        ),
    )


def _box(x: float, y: float, width: float, title: str, where: str, role: str = "") -> str:
    return (
        box(x, y, width, _HIGH, role=role)
        + text(x + width / 2, y + 20, title, role=role, bold=True)
        + text(x + width / 2, y + 38, where, size=13)
    )
