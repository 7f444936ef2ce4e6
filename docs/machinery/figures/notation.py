"""Draw what the chapter assumes: the exponential, vectors that agree or don't, and independence."""

import itertools
from math import exp, hypot

from attention_primer.examples import worked_example_sentence
from attention_primer.vectors import dot
from machinery.drawing import Figure, arrow, box, curve, figure, group, heatmap, line, number, svg, table, text

_POINTS = (-1, 0, 1, 2)
_SIGNS = (-1, 1)


@figure
def whole_sentence() -> Figure:
    """Draw the weights of the carried example, for the front door."""
    return heatmap(
        worked_example_sentence().heatmap(),
        "Each row is one word asking. The rows sum to 1, and the dots are words that it may not see yet.",
    )


@figure
def exponential() -> Figure:
    """Draw e to the x as four bars that multiply by the same factor at each step."""
    values = [exp(x) for x in _POINTS]
    ground, unit = 200, 23
    parts = [line(20, ground, 330, ground, width=1)]
    for i, (x, y) in enumerate(zip(_POINTS, values, strict=True)):
        left = 40 + 76 * i
        parts.append(box(left, ground - unit * y, 40, unit * y, role="w7", filled=True))
        parts.append(text(left + 20, ground - unit * y - 8, number(y)))
        parts.append(text(left + 20, ground + 20, f"x = {x}".replace("-", "−"), size=13))
    for i in range(3):
        start, end = 60 + 76 * i, 136 + 76 * i
        parts.append(curve(start + 4, ground + 30, end - 4, ground + 30, bend=22, width=1))
        parts.append(text((start + end) / 2, ground + 58, f"× {number(exp(1))}", size=13))
    told = ", ".join(f"{number(y)} at {x}".replace("at -", "at −") for x, y in zip(_POINTS, values, strict=True))
    return Figure(
        svg(340, 264, *parts, title="The exponential at four places", description=f"e to the x is {told}."),
        f"One step to the right multiplies by {number(exp(1))}. It never reaches 0, and it is never negative.",
        table(
            ["x", "e to the x"], [[str(x).replace("-", "−"), number(y)] for x, y in zip(_POINTS, values, strict=True)]
        ),
    )


@figure
def agreement() -> Figure:
    """Draw pairs of arrows: aligned, orthogonal, opposed."""
    pairs = [("aligned", [2, 1], [4, 2]), ("orthogonal", [2, 1], [-1, 2]), ("opposed", [2, 1], [-2, -1])]
    drawn = []
    for i, (name, a, b) in enumerate(pairs):
        parts = [*_vector("b", b, "key", width=2, below=5), *_vector("a", a, "query", width=4, below=20)]
        parts.append(text(0, 66, name, bold=True))
        parts.append(text(0, 86, f"a · b = {number(dot(a, b), '.0f')}"))
        drawn.append(group(*parts, x=40 + 132 * i, y=60))
    rows = [[name, _list(a), _list(b), number(dot(a, b), ".0f")] for name, a, b in pairs]
    told = "; ".join(f"{name}: {a} and {b} give {product}" for name, a, b, product in rows)
    return Figure(
        svg(360, 152, *drawn, title="Three pairs of vectors", description=f"{told}."),
        "In all three, a is [2, 1]. Vectors that point the same way have a large dot product, vectors at a right angle "
        "have none, and vectors that point away from each other have a negative one.",
        table(["pair", "a", "b", "a · b"], rows),
    )


@figure
def independence() -> Figure:
    """Draw two signs that know nothing of each other beside two that are tied together."""
    kinds = [
        ("independent", dict.fromkeys(itertools.product(_SIGNS, _SIGNS), 1 / 4)),
        ("tied", {(-1, -1): 1 / 2, (-1, 1): 0.0, (1, -1): 0.0, (1, 1): 1 / 2}),
    ]
    drawn, rows = [], []
    for i, (name, chances) in enumerate(kinds):
        mean = sum(a * b * chance for (a, b), chance in chances.items())
        parts = [text(50, -30, name, bold=True)]
        for (a, b), chance in chances.items():
            x, y = 25 + 25 * a, 25 - 25 * b
            parts.append(box(x, y, 50, 50))
            side = 80 * chance
            parts.append(box(x + 25 - side / 2, y + 25 - side / 2, side, side, role="w7", filled=True))
            rows.append([name, _sign(a), _sign(b), number(chance, ".2f"), _sign(a * b)])
        parts += [text(50, 118, "a", role="query", bold=True), text(-19, 55, "b", role="key", bold=True)]
        parts += [text(25 + 50 * (a > 0), 118, _sign(a), role="query") for a in _SIGNS]
        parts += [text(-10, 80 - 50 * (b > 0), _sign(b), role="key", anchor="end") for b in _SIGNS]
        parts.append(text(50, 142, f"a · b is {number(mean, '.0f')} on average", size=13))
        drawn.append(group(*parts, x=50 + 170 * i, y=46))
    return Figure(
        svg(
            336,
            200,
            *drawn,
            title="Two signs, independent and tied",
            description="Independent: all four pairs of plus and minus one are equally likely. Tied: both signs are "
            "always the same.",
        ),
        "The larger the square, the likelier the pair. On the left, knowing a tells you nothing about b, and the "
        "products cancel. On the right, b always follows a.",
        table(["signs", "a", "b", "chance", "a · b"], rows),
    )


def _vector(name: str, ends: list[int], role: str, width: float, below: float) -> list[str]:
    """Draw one arrow from the origin, with its letter beyond the head."""
    x, y = 16 * ends[0], -16 * ends[1]
    beyond = 1 + 12 / hypot(x, y)
    label = text(beyond * x, beyond * y + below, name, role=role, bold=True)
    return [arrow(0, 0, x, y, role=role, width=width), label]


def _list(numbers: list[int]) -> str:
    return str(numbers).replace("-", "−")


def _sign(value: int) -> str:
    return "+1" if value > 0 else "−1"
