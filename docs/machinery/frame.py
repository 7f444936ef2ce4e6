"""Add what the theme leaves out: descriptions, a content security policy, names for screen readers, a sitemap."""

import base64
import hashlib
import html
import re
from collections.abc import Iterable

__all__ = ["described", "repaired", "searchable", "sitemap", "with_policy"]

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_SEARCH = 'data-md-component="search" role="dialog"'
_CHARSET = '<meta charset="utf-8">'
_LOGO = 'alt="logo"'
_UNSEARCHED = re.compile(r'<details class="mkdocstrings-source"|<div class="language-pycon highlight"')
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_ASIDE = re.compile(r'<div class="admonition.*?</div>|<(figure|details)\b.*?</\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_LONGEST = 200


def described(content: str) -> str:
    """Describe a page by its first paragraph of whole sentences, or say nothing.

    Args:
        content: The HTML of the page's text.

    Examples:
        >>> described("<ul><li><p>No</p></li></ul><p>You need <em>lists</em>, and arithmetic. That is all.</p>")
        'You need lists, and arithmetic. That is all.'
        >>> described("<h1>A heading alone</h1>")
        ''
    """
    for paragraph in _PARAGRAPH.findall(_ASIDE.sub("", content)):
        text = " ".join(html.unescape(_TAG.sub("", paragraph)).split())
        if text.endswith((".", "?", "!")) and "<math" not in paragraph:
            return _shortened(text)
    return ""


def searchable(content: str) -> str:
    """Keep sessions and source listings out of the search: what they do is said in words around them.

    Examples:
        >>> searchable('<details class="mkdocstrings-source">')
        '<details class="mkdocstrings-source" data-search-exclude>'
    """
    return _UNSEARCHED.sub(r"\g<0> data-search-exclude", content)


def _shortened(text: str) -> str:
    while len(text) > _LONGEST and ". " in text:
        text = text[: text.rindex(". ") + 1]
    return text


def repaired(page: str) -> str:
    """Name the search dialog, and give the logo, which its link names, a size.

    Examples:
        >>> repaired('<div data-md-component="search" role="dialog">')
        '<div data-md-component="search" role="dialog" aria-label="Search">'
    """
    page = page.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
    return page.replace(_LOGO, 'alt="" width="24" height="24"')


def with_policy(page: str) -> str:
    """Let a page load from its own host alone, and run its own inline scripts alone, each by its checksum."""
    scripts = dict.fromkeys(_INLINE_SCRIPT.findall(page))
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    policy = (
        f"default-src 'self'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " worker-src 'self'; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace(_CHARSET, _CHARSET + meta, 1)


def sitemap(urls: Iterable[str]) -> str:
    """List the addresses of the pages, without dates, so that two builds are the same.

    Examples:
        >>> print(sitemap(["https://example.org/a/"]), end="")
        <?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
        <url><loc>https://example.org/a/</loc></url>
        </urlset>
    """
    lines = "".join(f"<url><loc>{html.escape(url)}</loc></url>\n" for url in urls)
    opening = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}\n{lines}</urlset>\n'
