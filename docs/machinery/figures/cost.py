"""Draw what a layer costs by the length of the text, on scales that turn powers into straight lines."""

from math import log2

from attention_primer.costs import Cost, attention_cost, crossover_length
from machinery.drawing import Figure, arrow, figure, line, number, svg, table, text

_WIDTH_OF_MODEL = 768
_SHORT, _LONG = 2**7, 2**17
_ACROSS, _UP, _LEFT, _GROUND = 26, 11, 24, 262  # pixels a doubling


@figure
def cost_lines() -> Figure:
    """Draw scores and mix as one line, the rest of the layer as another, and where they cross."""
    cross = crossover_length(_WIDTH_OF_MODEL)
    lengths = [_SHORT, 1024, cross, 16_384, _LONG]
    costs = {n: attention_cost(n, _WIDTH_OF_MODEL) for n in lengths}
    x, y = _at(cross, _pairs(costs[cross]))
    return Figure(
        svg(
            330,
            306,
            arrow(_LEFT, _GROUND, 318, _GROUND, width=1),
            arrow(_LEFT, _GROUND, _LEFT, 20, width=1),
            text(_LEFT + 8, 12, "FLOPs of one layer; equal steps double", anchor="start", size=13),
            text(318, 300, "tokens", anchor="end", size=13),
            *(text(_at(n, 2)[0], _GROUND + 18, number(n, ","), size=13) for n in (_SHORT, 1024, cross, _LONG)),
            line(*_at(_SHORT, _rest(costs[_SHORT])), *_at(_LONG, _rest(costs[_LONG])), width=2, dashed=True),
            line(*_at(_SHORT, _pairs(costs[_SHORT])), *_at(_LONG, _pairs(costs[_LONG])), role="w8", width=3),
            line(x, y, x, _GROUND, width=1, dashed=True),
            text(
                _at(_LONG, 1)[0] - 12,
                _at(_LONG, _pairs(costs[_LONG]))[1] + 2,
                "scores and mix",
                role="w8",
                anchor="end",
                bold=True,
            ),
            text(_at(_LONG, 1)[0], _at(_LONG, _rest(costs[_LONG]))[1] + 60, "all the rest", anchor="end", bold=True),
            title="What a layer costs by the length of the text",
            description=f"Two straight lines, one twice as steep; they cross at {number(cross, ',')} tokens.",
        ),
        "Each step to the right doubles the text. Scores and mix then cost four times as much, all the rest twice as "
        f"much. For a width of {number(_WIDTH_OF_MODEL, ',')} the lines cross at {number(cross, ',')} tokens; at "
        f"{number(_LONG, ',')}, scores and mix cost {number(_pairs(costs[_LONG]) / _rest(costs[_LONG]), '.0f')} times "
        "the rest.",
        table(
            ["tokens", "scores and mix, FLOPs", "projections and feed-forward, FLOPs"],
            [[number(n, ","), number(_pairs(costs[n]), ",d"), number(_rest(costs[n]), ",d")] for n in lengths],
            caption=f"One layer, {_WIDTH_OF_MODEL} wide.",
        ),
    )


def _pairs(cost: Cost) -> int:
    return cost.scores + cost.mix


def _rest(cost: Cost) -> int:
    return cost.projections + cost.feed_forward


def _at(n: int, flops: int) -> tuple[float, float]:
    least = _pairs(attention_cost(_SHORT, _WIDTH_OF_MODEL))
    return _LEFT + 14 + _ACROSS * log2(n / _SHORT), _GROUND - 8 - _UP * log2(flops / least)
