"""Cut a font for formulas down to the signs that the site uses.

Phones bring no font that knows how to set mathematics, and without one a subscript stands on the line.
"""

import html
import io
import re
from collections.abc import Iterable
from importlib.resources import files
from unicodedata import name, normalize

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

__all__ = ["math_font", "signs"]

_MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_ITALICS = [chr(code) for code in range(0x1D434, 0x1D71C) if name(chr(code), "").startswith("MATHEMATICAL ITALIC")]


def signs(pages: Iterable[str]) -> set[str]:
    """List the signs that formulas show, those too that a browser makes: a root's, and the italics of single letters.

    Args:
        pages: HTML.

    Examples:
        >>> "".join(sorted(signs(["<p>a<math><msqrt><mi>x</mi></msqrt><mo>&lt;</mo><mn>1</mn></math></p>"])))
        '1<xℎ√𝑥'
    """
    shown = {sign for page in pages for math in _MATH.findall(page) for sign in html.unescape(_TAG.sub("", math))}
    plain = {normalize("NFKC", sign) for sign in shown}
    italics = {italic for italic in _ITALICS if normalize("NFKC", italic) in plain}
    return shown | italics | {"√", "\N{PLANCK CONSTANT}"}  # this is the italic h


def math_font(pages: Iterable[str]) -> bytes:
    """Make a web font of STIX Two Math with the signs of the pages' formulas; the same pages make the same bytes.

    The font is under the Open Font License; its notices stay in.
    """
    path = files("ziamath") / "fonts/STIXTwoMath-Regular.ttf"
    font = TTFont(io.BytesIO(path.read_bytes()), recalcTimestamp=False)
    options = Options(layout_features=[], hinting=False, name_IDs=["*"])
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(sorted(signs(pages))))
    subsetter.subset(font)
    _fit_root(font)
    font.flavor = "woff2"
    packed = io.BytesIO()
    font.save(packed)
    return packed.getvalue()


def _fit_root(font: TTFont) -> None:
    """Drop the taller roots, since Chromium leaves room behind each for the widest, and lift the bar off an n."""
    font["MATH"].table.MathConstants.RadicalVerticalGap.Value = 130
    variants = font["MATH"].table.MathVariants
    root = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord("√")])]
    root.GlyphAssembly = None
    root.MathGlyphVariantRecord = root.MathGlyphVariantRecord[:1]
    root.VariantCount = 1
