"""Print what the package and all its extras need, a line each; with "sphinx", without Jupyter Book.

Jupyter Book brings Sphinx and its extensions. Without it they are named here, for
tests/book/plain_sphinx.py.
"""

import sys
import tomllib
from pathlib import Path

OF_JUPYTER_BOOK = """
sphinx myst-nb linkify-it-py sphinx-book-theme sphinx-comments sphinx-copybutton sphinx-design
sphinx-external-toc sphinx-multitoc-numbering sphinx-togglebutton sphinxcontrib-bibtex
""".split()

project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
plain = sys.argv[1:] == ["sphinx"]
others = ("jupyter-book",) if plain else ()
for group in (project["dependencies"], *project["optional-dependencies"].values()):
    for need in group:
        if not need.startswith((project["name"], *others)):
            print(need)
if plain:
    print(*OF_JUPYTER_BOOK, sep="\n")
