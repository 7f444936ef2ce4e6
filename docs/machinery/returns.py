"""Keep what a docstring says of its result in one piece.

The reference takes what stands before a colon in "Returns" for a type. Here the signature gives the type, so it is
put there before the docstring is read, and a colon is a colon again.
"""

from typing import Any

from griffe import Attribute, Docstring, Extension, Function

__all__ = ["WholeReturns", "with_type"]

_SECTION = "\nReturns:\n    "


def with_type(text: str, returned: str) -> str:
    r"""Name the type at the start of a docstring's Returns.

    Examples:
        >>> with_type("Add.\n\nReturns:\n    The sum: one number.", "float")
        'Add.\n\nReturns:\n    float: The sum: one number.'
        >>> with_type("Add.", "float")
        'Add.'
    """
    return text.replace(_SECTION, f"{_SECTION}{returned}: ", 1)


class WholeReturns(Extension):
    """Name the type in each docstring before it is read."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Take the type from the signature."""
        self._complete(func.docstring, func.returns)

    def on_attribute(self, *, attr: Attribute, **_: Any) -> None:
        """Take the type from the annotation, as properties have one."""
        self._complete(attr.docstring, attr.annotation)

    def _complete(self, docstring: Docstring | None, returned: object) -> None:
        if docstring and returned:
            docstring.value = with_type(docstring.value, str(returned))
