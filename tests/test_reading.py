"""The count of words and the guess at grades say what a reader has to read, and nothing else."""

from pathlib import Path

import pytest

from machinery.proofs import ROOT
from machinery.reading import read, sections, syllables

PAGE = """# A page

The cat sat down. Was it tired?

## 1. One { #one }

```pycon
>>> "no prose" # at all.
```

| no | prose |
|---|---|

No number counts: 0.63<!-- = no prose --> $e^x$ of `code`.

??? question "Why five words, not more?"

    Since answers are apart.

## Two

[Begin](page.md) *here*{.ap-key}.
"""


def test_only_prose_is_counted_and_folds_are_counted_apart() -> None:
    assert read(PAGE)[:2] == (4 + 3 + 3 + 3 + 2, 5 + 4)


def test_sections_are_cut_at_second_headings_and_lose_no_word() -> None:
    parts = sections(PAGE)
    assert list(parts) == ["", "1. One", "Two"]
    assert sum(read(part).words for part in parts.values()) == read(PAGE).words


def test_a_decimal_does_not_end_a_sentence() -> None:
    assert read("It takes 0.63 of what it reads.").words_a_sentence == 6


def test_longer_words_and_longer_sentences_make_a_higher_grade() -> None:
    assert read("The cat sat. It was glad.").grade < read("The cat sat and it was glad.").grade
    assert read("The cat sat.").grade < read("The animal considered.").grade


@pytest.mark.parametrize(
    ("word", "number"),
    [("a", 1), ("share", 1), ("shares", 1), ("named", 1), ("masked", 1), ("added", 2), ("table", 2), ("matrices", 3)],
)
def test_syllables_of_words_that_are_easy_to_get_wrong(word: str, number: int) -> None:
    assert syllables(word) == number


def test_a_page_without_prose_is_no_error() -> None:
    assert read("```\ncode\n```\n").words == 0


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_every_page_can_be_read_in_the_eighth_grade(page: Path) -> None:
    assert read(page.read_text(encoding="utf-8")).grade <= 8
