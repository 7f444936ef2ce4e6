"""Hand the events of MkDocs to one `Site` a build.

MkDocs keeps this module for as long as it serves, so nothing of the library or of the other modules is imported at
its top: each build forgets them and imports them anew, and an edit of the library shows its new numbers.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
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
    """Start a build, and forget the last one."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("attention_primer", "machinery"):
            del sys.modules[name]
    _build["site"] = import_module("machinery.site").Site(Path(config.config_file_path).parent)
    config.markdown_extensions.append(import_module("machinery.sections").Sections())
    config.theme.static_templates.discard("sitemap.xml")


def on_files(files: Files, **_: Any) -> None:
    """Leave out MkDocs' sitemap, which needs dates."""
    if sitemap := files.get_file_from_path("sitemap.xml"):
        files.remove(sitemap)


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Prove a page's sessions, numbers and figures."""
    return str(_told(_build["site"].markdown, _name(page), page.file.content_string, markdown))


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put MathML and figures in their places, and describe the page."""
    frame = import_module("machinery.frame")
    if not page.is_homepage and "description" not in page.meta:
        page.meta["description"] = frame.described(html)
    return str(_told(_build["site"].content, _name(page), frame.searchable(html)))


def on_env(env: object, config: MkDocsConfig, files: Files) -> None:  # noqa: ARG001  # MkDocs passes it
    """Link reference entries back to the sections that use them, and add what all pages make: frames, a font."""
    site: Any = _build["site"]
    autorefs: Any = config.plugins["autorefs"]
    pages = [file.page for file in files.documentation_pages() if file.page]
    _build["urls"] = [page.canonical_url for page in pages]
    for page in pages:
        _told(site.note_uses, _name(page), page.url, page.content, lambda entry: autorefs.get_item_url(entry)[0])
    for page in pages:
        here = page.url
        page.content = site.linked_back(here, page.content, lambda section, here=here: get_relative_url(section, here))
    for name, frames in import_module("machinery.live").FRAMES.items():
        files.append(File.generated(config, f"assets/frames/{name}", content=frames))
    font = import_module("machinery.fonts").math_font(page.content or "" for page in pages)
    files.append(File.generated(config, "assets/math.woff2", content=font))


def on_template_context(context: dict[str, Any], template_name: str, config: MkDocsConfig) -> None:
    """Let the links of the page that stands in for a missing one start from its base."""
    if template_name == "404.html":
        context["root"], context["base_url"] = urlsplit(config.site_url or "/").path, "."


def on_post_page(output: str, **_: Any) -> str:
    """Repair the frame of a page."""
    return _framed(output)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Repair the frame of the page that stands in for a missing one."""
    return _framed(output_content) if template_name.endswith(".html") else output_content


def on_post_build(config: MkDocsConfig) -> None:
    """Write what only a site with an address can have: a sitemap, and the picture of a preview."""
    if config.site_url and not _build["is_served"]:
        site = Path(config.site_dir)
        (site / "sitemap.xml").write_text(import_module("machinery.frame").sitemap(_build["urls"]), encoding="utf-8")
        (site / "assets/preview.png").write_bytes(import_module("machinery.preview").preview())


def _framed(output: str) -> str:
    frame = import_module("machinery.frame")
    output = frame.repaired(output)
    # While serving, MkDocs adds a script of its own that reloads the page.
    return str(output if _build["is_served"] else frame.with_policy(output))


def _name(page: Page) -> str:
    return f"docs/{page.file.src_uri}"


def _told(step: Any, *given: Any) -> Any:
    try:
        return step(*given)
    except import_module("machinery.errors").PageError as error:
        raise PluginError(str(error)) from error
