"""A page that is no notebook gets a live figure, too."""

from __future__ import annotations

import io

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


def test_a_stop_of_a_figure_can_be_linked_from_every_page(tmp_path):
    source, out, warnings = tmp_path / "source", tmp_path / "out", io.StringIO()
    source.mkdir()
    (source / "conf.py").write_text('extensions = ["myst_parser", "seqcourse.live.sphinx"]\n')
    models = "{&quot;en-es-fixed&quot;: &quot;A&quot;}"
    stop = '<ol><li id="stop-3">Why?</li></ol>'
    figure = f'<div data-live="room" data-models="{models}">{stop}</div>'
    (source / "index.md").write_text(
        f"# One\n\n```{{raw}} html\n{figure}\n```\n\n```{{toctree}}\nother\n```\n"
    )
    (source / "other.md").write_text("# Two\n\n[stop 3](index.md#stop-3)\n")
    Sphinx(source, source, out, tmp_path / "trees", "html", status=None, warning=warnings).build()
    assert 'href="index.html#stop-3"' in (out / "other.html").read_text()
    assert "stop-3" not in warnings.getvalue()
    assert "live/room.css" in (out / "index.html").read_text()
    assert "live/room.css" not in (out / "other.html").read_text()
