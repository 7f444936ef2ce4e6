"""Add what the theme leaves out: a content security policy and names for screen readers."""

import base64
import hashlib
import re

__all__ = ["repaired", "with_policy"]

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_SEARCH = 'data-md-component="search" role="dialog"'
_CHARSET = '<meta charset="utf-8">'


def repaired(page: str) -> str:
    """Name the search dialog, which the theme leaves without a name.

    Examples:
        >>> repaired('<div data-md-component="search" role="dialog">')
        '<div data-md-component="search" role="dialog" aria-label="Search">'
    """
    return page.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')


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
