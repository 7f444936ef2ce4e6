"""Find the numbers of a built page that nothing computed.

Looked at are text, `alt`, `title`, `aria-label` and `alttext`, the text of drawings and formulas included. Numbers
that count are decimals, percentages, and numbers of four digits or more. They must stand in an element that says that
a run made them, or be one of the exceptions, and this file is the one place that lists both.
"""

import re
from html.parser import HTMLParser
from typing import NamedTuple

__all__ = ["COMPUTED", "EXCEPTIONS", "Finding", "numbers", "scan"]

# What a run has made, or checked: a tag, a class, or a tag right inside a class.
COMPUTED = {
    "data": "a number tied to an expression",
    ".language-pycon": "a session, run as a doctest",
    ".doc-signature": "a signature",
    ".doc-heading": "a signature",
    ".doc-section-item>code": "a signature, once more: the default of an argument",
    ".mkdocstrings-source": "a source listing",
    "script": "not shown",
    "style": "not shown",
}

# Numbers that no run could compute.
EXCEPTIONS = {
    "a year": r"\b(?:19\d\d|20[0-3]\d)\b(?!,\d|\.\d|\s?%)",
    "a version": r"(?:Python|CPython|PyTorch|torch|NumPy|Llama|version)[ \u00a0]\d+(?:\.\d+)*"
    r"(?:(?:,| to| and| or|–)[ \u00a0]?\d+\.\d+(?:\.\d+)*)*|\b\d+\.\d+\.\d+\b",
    "a citation": r"arXiv:\d{4}\.\d{4,5}|#\d+\b",
    "what a unit is": r"[KMG]iB is [\d,]+ of",
    "a section number": r"(?:[Ss]ections?|[Aa]ppendix|§)[ \u00a0]?\d+(?:\.\d+)*",
}

_NUMBER = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{4,}|\d+(?=e[-−]\d|[ \u00a0\u202f]?%))"
    r"(?:e[-−+]?\d+)?(?:[ \u00a0\u202f]?%)?"
)
_EXCEPTION = re.compile("|".join(EXCEPTIONS.values()))
_READ_ALOUD = ("alt", "title", "aria-label", "alttext")
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)


class Finding(NamedTuple):
    """A number, the text around it, and what is wrong with it."""

    number: str
    text: str
    problem: str


def numbers(text: str) -> list[str]:
    """List the numbers of a text that a run must have made.

    Examples:
        >>> numbers("In 2017, section 3.2: 0.63 of 12 words, 5%, 1,024 or 4096 tokens, 1e-16; Python 3.11 to 3.14.")
        ['0.63', '5%', '1,024', '4096', '1e-16']
    """
    return _NUMBER.findall(_EXCEPTION.sub(lambda found: " " * len(found[0]), text))


def scan(page: str) -> list[Finding]:
    """List the numbers of a page that nothing computed, and the decimals in its headings.

    Args:
        page: HTML; of a whole page, only the article is read.

    Examples:
        >>> scan('<p>So <data value="0.63">0.63</data>, and 0.23.</p>')
        [Finding(number='0.23', text=', and 0.23.', problem='nothing computed it')]
        >>> scan('<figure data-computed="0.63 0.23"><svg><text>0.63</text></svg></figure>')
        []
    """
    article = _ARTICLE.search(page)
    scanner = _Scanner()
    scanner.feed(article[0] if article else page)
    scanner.close()
    return scanner.findings


class _Open(NamedTuple):
    tag: str
    classes: tuple[str, ...]
    is_computed: bool
    allowed: frozenset[str]
    is_heading: bool


class _Scanner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.findings: list[Finding] = []
        self._open = [_Open("", (), is_computed=False, allowed=frozenset(), is_heading=False)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = tuple(f".{name}" for name in given.get("class", "").split())
        above = self._open[-1]
        names = {tag, *classes, *(f"{name}>{tag}" for name in above.classes)}
        is_computed = above.is_computed or not names.isdisjoint(COMPUTED)
        allowed = above.allowed | set(numbers(given.get("data-computed", "")))
        is_heading = above.is_heading or (tag in _HEADINGS and not is_computed)
        self._open.append(_Open(tag, classes, is_computed, allowed, is_heading))
        for name in _READ_ALOUD:
            self._read(given.get(name, ""))
        if tag in _VOID:
            self._open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while any(element.tag == tag for element in self._open):
            if self._open.pop().tag == tag:
                break

    def handle_data(self, data: str) -> None:
        self._read(data)

    def _read(self, text: str) -> None:
        here = self._open[-1]
        for number in numbers(text):
            if here.is_heading and "." in number:
                self._note(number, text, "a heading shows no decimals")
            elif not here.is_computed and number not in here.allowed:
                self._note(number, text, "nothing computed it")

    def _note(self, number: str, text: str, problem: str) -> None:
        at = text.find(number)
        around = " ".join(text[max(0, at - 40) : at + 40].split(" ")).strip("\n")
        self.findings.append(Finding(number, around, problem))
