"""Say where a line may break: not within an e-value, nor before the comma behind a formula, but within a path."""

import re

__all__ = ["unbroken"]

_APART = re.compile(r"(<(pre|code|svg|script|style|math)\b.*?</\2>|<[^>]*>)", re.DOTALL)  # what is no prose
_SECTION = re.compile(r"\b([Ss]ections?) (?=\d)")
_HYPHENED = re.compile(r"\b(?:e-values?|[Ii]n-context)\b")
_MATH_AND_MARK = re.compile(r"<math\b(?:(?!</math>).)*</math>[.,:;?!)]+", re.DOTALL)
_SPACE_BEFORE_BRACKET = re.compile(r"(</code>(?:</\w+>)*)\s+\)")
_PATH = re.compile(r"(?<=<summary>Source code in <code>)[^<]*")


def unbroken(content: str) -> str:
    r"""Keep together what belongs together, and let a long path break between its folders.

    A no-break hyphen would do for the eye, but hide the word from the search.

    Args:
        content: The HTML of a page.

    Examples:
        >>> unbroken("<p>See section 4 on e-values.</p>").replace("\xa0", "_")
        '<p>See section_4 on <span class="ap-whole">e-values</span>.</p>'
        >>> unbroken("<p>So <math><mi>x</mi></math>, as before.</p>")
        '<p>So <span class="ap-whole"><math><mi>x</mi></math>,</span> as before.</p>'
        >>> unbroken('(default: <code title="section 4">e-value</code> )')
        '(default: <code title="section 4">e-value</code>)'
        >>> unbroken("<summary>Source code in <code>src/masks.py</code></summary>")
        '<summary>Source code in <code>src/<wbr>masks.py</code></summary>'
    """
    parts = _APART.split(content)
    prose = (_SECTION.sub("\\1\xa0", _HYPHENED.sub(_whole, text)) for text in parts[::3])
    content = "".join(text + apart for text, apart in zip(prose, [*parts[1::3], ""], strict=True))
    content = _MATH_AND_MARK.sub(_whole, content)
    content = _SPACE_BEFORE_BRACKET.sub(r"\1)", content)
    return _PATH.sub(lambda path: path[0].replace("/", "/<wbr>"), content)


def _whole(found: re.Match[str]) -> str:
    return f'<span class="ap-whole">{found[0]}</span>'
