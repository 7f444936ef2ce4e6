"""Link reference entries back to the sections that use them.

A section names what it uses in a line that begins with "In code:" and links to reference entries.
"""

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["Use", "named", "unresolved", "uses", "with_indices", "with_uses"]

_HEADING_OR_LINE = re.compile(
    r'<h[1-6][^>]* id="(?P<id>[^"]+)"[^>]*>(?P<title>.*?)</h[1-6]>|<p>(?:<\w+>)?In code:(?P<line>.*?)</p>', re.DOTALL
)
_AUTOREF = re.compile(r'<autoref (?!optional)[^>]*?identifier="(attention_primer[^"]*)"')
_INDEX = re.compile(r'<autoref [^>]*?identifier="(\w)"[^>]*>(.*?)</autoref>')
_HEADERLINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_SOURCE_LINE = re.compile(r"^[ \t]*[*_]*In code:(.*)$", re.MULTILINE)
_SOURCE_LINK = re.compile(r"\]\[(attention_primer[\w.]*)\]|\[`?(attention_primer[\w.]*)`?\]\[\]")
_CONTENTS = re.compile(r'<div class="doc doc-contents[^"]*">')


class Use(NamedTuple):
    """A section that uses a name: the name's identifier, the section's anchor and title."""

    identifier: str
    anchor: str
    title: str


def uses(content: str) -> list[Use]:
    """List what the sections of a page say that they use, from the page's HTML before links are resolved.

    Examples:
        >>> uses('<h2 id="mask">The mask</h2><p>In code: <autoref identifier="attention_primer.masks.causal_mask">')
        []
        >>> uses('<h2 id="mask">The mask</h2><p>In code: <autoref identifier="attention_primer.masks.causal_mask"></p>')
        [Use(identifier='attention_primer.masks.causal_mask', anchor='mask', title='The mask')]
    """
    return list(_uses(content))


def _uses(content: str) -> Iterator[Use]:
    anchor = title = ""
    for found in _HEADING_OR_LINE.finditer(content):
        if found["id"]:
            anchor, title = found["id"], html.unescape(_TAG.sub("", _HEADERLINK.sub("", found["title"]))).strip()
        else:
            for identifier in dict.fromkeys(_AUTOREF.findall(found["line"])):
                yield Use(identifier, anchor, title)


def with_indices(content: str) -> str:
    """Give `mask[i][j]` its brackets back, which look like a reference to "j".

    Examples:
        >>> with_indices('True at <autoref optional identifier="j">i</autoref> means')
        'True at [i][j] means'
    """
    return _INDEX.sub(r"[\2][\1]", content)


def with_uses(content: str, links: dict[str, list[tuple[str, str]]]) -> str:
    """Add to each reference entry the sections that use it.

    Args:
        content: The HTML of a reference page.
        links: For each entry's anchor the addresses and titles of sections.

    Examples:
        >>> entry = '<h2 id="a.f">f</h2><div class="doc doc-contents ">Text</div>'
        >>> print(with_uses(entry, {"a.f": [("../../attention/#mask", "The mask")]}))
        <h2 id="a.f">f</h2><div class="doc doc-contents ">
        <p class="ap-used">Used in: <a href="../../attention/#mask">The mask</a></p>Text</div>
    """
    for anchor, sections in links.items():
        start = content.find(f'id="{anchor}"')
        if start >= 0 and (opening := _CONTENTS.search(content, start)):
            listed = ", ".join(f'<a href="{html.escape(url)}">{_numbered(title)}</a>' for url, title in sections)
            note = f'\n<p class="ap-used">Used in: {listed}</p>'
            content = content[: opening.end()] + note + content[opening.end() :]
    return content


def _numbered(title: str) -> str:
    return re.sub(r"^(\d+\.) ", "\\1\xa0", html.escape(title))  # a number stays with its title


def unresolved(content: str, address: Callable[[str], object]) -> Iterator[str]:
    """Yield the identifiers of a page's links that lead nowhere.

    Args:
        content: The HTML, before links are resolved.
        address: Finds the address of an identifier, or raises `KeyError`.

    Examples:
        >>> list(unresolved('<autoref identifier="attention_primer.sofmax">', {}.__getitem__))
        ['attention_primer.sofmax']
    """
    for identifier in _AUTOREF.findall(content):
        try:
            address(identifier)
        except KeyError:
            yield identifier


def named(markdown: str) -> set[str]:
    """List the identifiers in the "In code" lines of a page's Markdown.

    Examples:
        >>> named("In code: [`dot`][attention_primer.vectors.dot].")
        {'attention_primer.vectors.dot'}
    """
    lines = " ".join(_SOURCE_LINE.findall(markdown))
    return {first or second for first, second in _SOURCE_LINK.findall(lines)}
