"""Render the book with Sphinx and MyST-NB alone, without Jupyter Book, from _config.yml and _toc.yml.

    PYTHON -m tests.book.plain_sphinx FOLDER     takes what the notebooks printed for `seqcourse book`

This is the way out when Jupyter Book 1 ends: its settings are Sphinx's, and the rest stands here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]


def settings(root: Path) -> dict[str, Any]:
    """What would stand in a conf.py."""
    told = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config = told["sphinx"]["config"]
    return config | {
        "author": told["author"],
        "copyright": told["copyright"],
        "exclude_patterns": told["exclude_patterns"],
        "extensions": [name for name in config["extensions"] if name != "jupyter_book"],
        "external_toc_exclude_missing": told["only_build_toc_files"],
        "myst_enable_extensions": told["parse"]["myst_enable_extensions"],
        "bibtex_bibfiles": told["bibtex_bibfiles"],
        "html_theme": "sphinx_book_theme",
        "html_favicon": told["html"]["favicon"],
        "use_multitoc_numbering": told["html"]["use_multitoc_numbering"],
        "nb_execution_mode": told["execute"]["execute_notebooks"],
        "nb_execution_cache_path": str(root / "_build" / ".jupyter_cache"),
        "nb_execution_timeout": told["execute"]["timeout"],
        "nb_output_stderr": told["execute"]["stderr_output"],
    }


def main(folder: str) -> int:
    """Build; Sphinx' own status."""
    app = Sphinx(ROOT, None, Path(folder) / "html", Path(folder) / "doctrees", "html", settings(ROOT))
    app.build(force_all=True)
    return app.statuscode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
