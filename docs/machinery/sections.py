"""Put what stands below a heading into a box of its own, which a browser can leave for later.

A long page is slow to lay out, and its reader sees one screen of it. The style sheet lets a box wait until it comes
near the screen; headings stay outside, since the table of contents asks where they are.
"""

from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

__all__ = ["Sections", "boxed"]

_HEADINGS = ("h2", "h3")
_LAST = -10  # after the processors that look for headings at the top level


class Sections(Extension):
    """Let Markdown box what stands below each heading."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Take the place after all other processors."""
        md.treeprocessors.register(_Boxes(md), "sections", _LAST)


class _Boxes(Treeprocessor):
    def run(self, root: Element) -> None:
        boxed(root)


def boxed(root: Element) -> None:
    """Box what follows each heading, up to the next; what a page opens with is seen at once, and needs no box.

    Examples:
        >>> from xml.etree.ElementTree import fromstring, tostring
        >>> page = fromstring("<div><h1/><p/><h2/><p/><p/><h2/><h3/></div>")
        >>> boxed(page)
        >>> tostring(page, encoding="unicode")
        '<div><h1 /><p /><h2 /><div class="ap-part"><p /><p /></div><h2 /><h3 /></div>'
    """
    box: Element | None = root
    children = list(root)
    root[:] = []
    for child in children:
        if child.tag in _HEADINGS:
            root.append(child)
            box = None
            continue
        if box is None:
            box = SubElement(root, "div", {"class": "ap-part"})
        box.append(child)
