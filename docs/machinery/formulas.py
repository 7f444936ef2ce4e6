r"""Turn the formulas of a page into MathML.

Markdown leaves `\(…\)` in `span` elements and `\[…\]` in `div` elements; math-core turns them into MathML, which
browsers set without a script. What `\run` filled in is listed in `data-computed`, for the scan.
"""

import html
import re
from collections.abc import Callable
from functools import cache

from math_core import LatexError, LatexToMathML

__all__ = ["FormulaError", "mathml", "with_mathml"]

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\s*(?:\\\((.*?)\\\)|\\\[(.*?)\\\])\s*</\1>', re.DOTALL)
_COMPUTED = re.compile(r"\\computed\{((?:[^{}]|\{[^{}]*\})*)\}")
_POSITION = re.compile(r"^\d+: ")


class FormulaError(ValueError):
    """Tell which formula is wrong, and why."""

    def __init__(self, formula: str, problem: str) -> None:
        super().__init__(f"formula {formula}: {problem}")
        self.formula = formula


def mathml(formula: str, *, display: bool) -> str:
    r"""Turn one formula into MathML.

    Examples:
        >>> mathml("x", display=False)
        '<math alttext="x"><mi>x</mi></math>'
        >>> mathml(r"\foo", display=False)
        Traceback (most recent call last):
        machinery.formulas.FormulaError: formula \foo: Unknown command "\foo".
    """
    computed = _COMPUTED.findall(formula)
    plain = _COMPUTED.sub(r"\1", formula)
    try:
        result = _converter().convert_with_local_state(plain, displaystyle=display)
    except LatexError as error:
        raise FormulaError(formula, _POSITION.sub("", str(error))) from None
    return result.replace("<math", f"<math{_attributes(plain, computed)}", 1)


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)


def _attributes(formula: str, computed: list[str]) -> str:
    spoken = html.escape(" ".join(formula.split()))
    listed = html.escape(" ".join(computed))
    return f' alttext="{spoken}"' + (f' data-computed="{listed}"' if computed else "")


def with_mathml(content: str, fail: Callable[[FormulaError], Exception]) -> str:
    r"""Turn every formula of a page's HTML into MathML.

    Args:
        content: The HTML.
        fail: Makes the exception to raise, since only the page knows the line.

    Examples:
        >>> with_mathml('<p>So <span class="arithmatex">\\(x\\)</span>.</p>', lambda error: error)
        '<p>So <math alttext="x"><mi>x</mi></math>.</p>'
    """

    def converted(found: re.Match[str]) -> str:
        inline, block = found[2], found[3]
        try:
            formula = html.unescape(inline if block is None else block).strip()
            result = mathml(formula, display=block is not None)
        except FormulaError as error:
            raise fail(error) from None
        return result if block is None else f'<div class="ap-math">{result}</div>'

    return _FORMULA.sub(converted, content)
