"""Count what a reader has to read: `python docs/machinery/reading.py [--sections]`.

For each page, or each section of it, a line with the words of prose, the words in folds (answers and asides, which a
reader may leave shut), the words a sentence, and the grade of school by Flesch and Kincaid. Code, tables, formulas and
figures are not prose. Syllables are guessed from vowels, so a grade is good to about half a year.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["Reading", "main", "read", "sections", "syllables"]

_PAGES = Path(__file__).resolve().parent.parent
_NOT_PROSE = re.compile(
    r"^ *(?P<fence>`{3,})(?s:.*?)^ *(?P=fence) *$"
    r"|(?s:<!--.*?-->)"
    r"|(?s:\$\$.*?\$\$)"
    r"|^#.*$"
    r"|^ *\|.*$"
    r"|^ *In code:.*$",
    re.MULTILINE,
)
_FOLD = re.compile(r"^ *\?\?\?\+? .*\n(?:(?: {4}.*)?\n)*", re.MULTILINE)
_BLOCK = re.compile(r'^ *(?:\?\?\?\+?|!!!) +\w+ *"?(.*?)"? *$', re.MULTILINE)  # its title is a line of its own
_HEADING = re.compile(r"^## (.*?)(?: *\{.*\})?$", re.MULTILINE)
_ONE_WORD = re.compile(r"\$[^$\n]+\$|`[^`\n]+`")  # a formula or a name in a line is read as one short word
_LINK = re.compile(r"\[([^][]*)\](?:\([^)]*\)|\[[^][]*\])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE = re.compile(r"[.!?]['\")*]*(?=\s|$)|\n\s*(?:\n|[-*] |:   |\d+\. )")
_VOWELS = re.compile(r"[aeiouy]+")


class Reading(NamedTuple):
    """The words of prose and in folds, and how hard the prose is."""

    words: int
    folded: int
    words_a_sentence: float
    grade: float


def read(markdown: str) -> Reading:
    r"""Measure the prose of a page or of a section; its folds are only counted.

    The grade is 0.39 · words a sentence + 11.8 · syllables a word − 15.59.

    Examples:
        >>> read("The cat sat down. It was tired.").words_a_sentence
        3.5
        >>> read("Bet.\n\n??? question\n    A word in a fold.\n")[:2]
        (1, 5)
    """
    text = _prose(markdown)
    open_text, folds = _FOLD.sub("\n", text), "\n".join(_FOLD.findall(text))
    words, sentences = _words(open_text), sum(1 for piece in _SENTENCE.split(open_text) if _words(piece))
    length = len(words) / max(1, sentences)
    weight = sum(map(syllables, words)) / max(1, len(words))
    return Reading(len(words), len(_words(folds)), length, 0.39 * length + 11.8 * weight - 15.59)


def sections(markdown: str) -> dict[str, str]:
    r"""Cut a page at its second headings; what stands before the first one has an empty name.

    Examples:
        >>> sections("# A\nb\n## 1. C { #c }\nd\n")
        {'': '# A\nb\n', '1. C': '\nd\n'}
    """
    before, *rest = _HEADING.split(markdown)
    return {"": before, **dict(zip(rest[::2], rest[1::2], strict=True))}


def syllables(word: str) -> int:
    """Guess the syllables of an English word: its groups of vowels, without a silent e.

    Examples:
        >>> [syllables(word) for word in ("it", "code", "table", "attention")]
        [1, 1, 2, 3]
    """
    word = re.sub(r"(?<=[^aeiouyl])e$|(?<=[aeiouy]l)e$|(?<=[^aeiouytd])ed$|(?<=[^aeiousxzc])es$", "", word.lower())
    return max(1, len(_VOWELS.findall(word)))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Count words, and guess how hard they are to read.")
    parser.add_argument("--sections", action="store_true", help="a line for each section of each page, too")
    parser.add_argument("pages", nargs="*", type=Path, help="pages in Markdown; all of docs/ if none is named")
    asked = parser.parse_args()
    sys.stdout.write(f"{'words':>6} {'folds':>6} {'a sentence':>10} {'grade':>6}\n")
    for page in asked.pages or sorted(_PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        sys.stdout.write(_line(page.name, text))
        if asked.sections:
            sys.stdout.writelines(_line(f"  {name}", part) for name, part in sections(text).items() if name)


def _line(name: str, markdown: str) -> str:
    words, folded, length, grade = read(markdown)
    return f"{words:6} {folded:6} {length:10.1f} {grade:6.1f} {name}\n"


def _prose(markdown: str) -> str:
    text = _ONE_WORD.sub("x", _NOT_PROSE.sub("", markdown))
    return re.sub(r"\{[^}\n]*\}", "", _LINK.sub(r"\1", text))


def _words(text: str) -> list[str]:
    return _WORD.findall(_BLOCK.sub(r"\1", text))


if __name__ == "__main__":
    main()
