"""Hand the events of MkDocs to one `Site` a build.

MkDocs keeps this module for as long as it serves, so nothing of the library or of the other modules is imported at
its top: each build forgets them and imports them anew, and an edit of the library shows its new numbers.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

_DOCS = str(Path(__file__).resolve().parent.parent)
_build: dict[str, Any] = {}


def on_startup(command: str, **_: Any) -> None:
    """Make the modules beside this one importable."""
    _build["is_served"] = command == "serve"
    if _DOCS not in sys.path:
        sys.path.insert(0, _DOCS)


def on_config(config: MkDocsConfig) -> None:
    """Start a build: forget the last one, and leave out the sitemap, which needs dates and an address."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("attention_primer", "machinery"):
            del sys.modules[name]
    _build["site"] = import_module("machinery.site").Site(Path(config.config_file_path).parent)
    config.theme.static_templates.discard("sitemap.xml")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Prove a page's sessions, numbers and figures."""
    return _told(_build["site"].markdown, _name(page), page.file.content_string, markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put MathML and figures in their places."""
    return _told(_build["site"].content, _name(page), page.url, html)


def on_env(env: Any, files: Files, **_: Any) -> None:  # noqa: ARG001  # MkDocs passes it by name
    """Link reference entries back, once all pages are read."""
    references = import_module("machinery.references")
    for file in files.documentation_pages():
        page = file.page
        if page is None or page.content is None:
            continue
        links: dict[str, list[tuple[str, str]]] = {}
        for url, use in _build["site"].uses():
            address = f"{get_relative_url(url, page.url)}#{use.anchor}"
            links.setdefault(use.identifier, []).append((address, use.title))
        page.content = references.with_uses(page.content, links)


def on_post_page(output: str, **_: Any) -> str:
    """Repair the frame of a page."""
    return _framed(output)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Repair the frame of the page that stands in for a missing one."""
    return _framed(output_content) if template_name.endswith(".html") else output_content


def _framed(output: str) -> str:
    frame = import_module("machinery.frame")
    output = frame.repaired(output)
    # While serving, MkDocs adds a script of its own that reloads the page.
    return output if _build["is_served"] else frame.with_policy(output)


def _name(page: Page) -> str:
    return f"docs/{page.file.src_uri}"


def _told(step: Any, *given: str) -> str:
    errors = import_module("machinery.errors")
    try:
        return str(step(*given))
    except errors.PageError as error:
        raise PluginError(str(error)) from error
