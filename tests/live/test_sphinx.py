"""A page that is no notebook gets a live figure, too."""

from __future__ import annotations

import pytest
from sphinx.application import Sphinx

from seqcourse.live import pack

PAGE = """# A front door

```{{live-translate}} {name}
:title: What the model writes
:label: An English sentence

we are eating bread
the red house is big
```
"""


def build(folder, **name: str) -> str:
    """The page that a plain site with one directive gets."""
    source, out = folder / "source", folder / "out"
    source.mkdir(exist_ok=True)
    (source / "conf.py").write_text('extensions = ["myst_parser", "seqcourse.live.sphinx"]\n')
    (source / "index.md").write_text(PAGE.format(**name))
    Sphinx(source, source, out, folder / "trees", "html", status=None, warning=None).build()
    return (out / "index.html").read_text()


def test_a_directive_makes_a_live_figure(tmp_path):
    made = build(tmp_path, name="en-es-fixed")
    assert made.count('data-live="translate"') == 1 and "estamos comiendo pan." in made
    assert "live/start.js" in made and "live/live.css" in made
    folder = tmp_path / "out" / "_static" / "live" / "models"
    assert len(list(folder.glob("en-es-fixed.*.js"))) == pack.PIECES


@pytest.mark.parametrize("name", ["no-such-model", "fashion-cnn"])
def test_a_model_that_cannot_translate_is_an_error_of_the_page(tmp_path, name):
    assert "data-live" not in build(tmp_path, name=name)
