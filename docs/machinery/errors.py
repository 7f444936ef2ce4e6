"""Say where a page is wrong."""

__all__ = ["PageError"]


class PageError(Exception):
    """Stop, and tell page, line and problem.

    Examples:
        >>> raise PageError("docs/attention.md", 12, "no such figure")
        Traceback (most recent call last):
        machinery.errors.PageError: docs/attention.md:12: no such figure
    """

    def __init__(self, page: str, line: int, problem: str) -> None:
        super().__init__(f"{page}:{line}: {problem}")
