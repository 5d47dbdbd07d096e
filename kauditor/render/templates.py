"""Where templates come from, and Markdown of check pages as HTML."""

import html
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt


def bundled_dir() -> Path:
    """The templates that come along: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_bundled" / "report_templates"
    return inside if inside.is_dir() else package.parent / "report_templates"


def environment(template_dir: str | None, *, escape: bool) -> "Environment":
    """Jinja with the given folder first, then what comes along. A missing name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    places = [bundled_dir()]
    if template_dir:
        places.insert(0, Path(template_dir))
    return Environment(
        loader=FileSystemLoader(places),
        autoescape=escape,  # noqa: S701 - on for HTML; Markdown has an escape of its own
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def prose(text: str, label: str) -> str:
    """Markdown as HTML. Raw HTML shows as text; code stands in a figure that says what it is."""
    if not text.strip():
        return ""
    rendered: str = _markdown().render(text, {"label": label})
    return rendered


@lru_cache(maxsize=1)
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    # No picture is ever fetched, and a page's headings would break into the report's own.
    parser.disable(["image", "heading", "lheading", "html_block", "html_inline", "reference"])
    parser.validateLink = lambda url: url.startswith("https://")  # type: ignore[method-assign]
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("link_open", _link_open)
    return parser


def _fence(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language = (token.info.split() or ["text"])[0]
    return (
        f'<figure class="code"><figcaption>{html.escape(env["label"])} '
        f'<span class="lang">{html.escape(language)}</span></figcaption>'
        f'<pre tabindex="0"><code>{html.escape(token.content.rstrip())}</code></pre></figure>\n'
    )


def _link_open(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    href = html.escape(str(tokens[index].attrGet("href") or ""))
    return f'<a href="{href}" rel="noopener noreferrer">'
