"""Keep the figures, by the name of the function that draws each.

Every module of this folder is imported, so a new file needs no registration; a new function needs `@figure`.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from machinery.live import live_html_of

__all__ = ["drawn"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


@cache
def drawn(name: str) -> str:
    """Draw a figure once a build."""
    return live_html_of(name)
