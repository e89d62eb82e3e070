"""The title, the term and the links of a class, from course.toml, on every page of the book."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from cellgrader.class_settings import Settings, read_settings
from seqcourse.errors import CourseError


def footer(settings: Settings) -> str:
    """A paragraph with the title, the term and the links; "" if a class sets none of them."""
    parts = [escape(settings[key]) for key in ("title", "term") if settings[key]]
    parts += [
        f'<a href="{escape(address)}">{escape(name)}</a>' for name, address in settings.links.items()
    ]
    return f"<p>{' · '.join(parts)}</p>\n" if parts else ""


def _settle(app: Any, config: Any) -> None:
    from sphinx.errors import ConfigError

    try:
        settings = read_settings(Path(app.confdir))
    except CourseError as error:
        raise ConfigError(str(error)) from error
    if settings["title"]:
        config.project = config.html_title = settings["title"]
        logo = config.html_theme_options.get("logo", {})
        config.html_theme_options["logo"] = logo | {"text": settings["title"]}
    before = config.html_theme_options.get("extra_footer", "")
    config.html_theme_options["extra_footer"] = footer(settings) + before
    # Pages are made again when one of these has changed.
    config.your_class = footer(settings)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("your_class", "", "env", str)
    app.connect("config-inited", _settle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
