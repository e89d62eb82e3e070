"""The button of assignment 9 writes the page, or says why there is none."""

from __future__ import annotations

from seqcourse.errors import CourseError
from seqcourse.publish import in_notebook as module


def test_the_button_makes_the_page_and_says_where(monkeypatch, tmp_path):
    asked = []

    def publish(notebook, page, names):
        asked.append((notebook, page, names))
        if names == "nobody":
            raise CourseError("This line of ps9.ipynb cannot be exported: `x < 1`.")
        return "7.8 MB."

    monkeypatch.setattr(module, "publish", publish)
    box = module.button(tmp_path / "ps9.ipynb")
    (names, make), told = box.children[0].children, box.children[1]
    names.value = "Ada"
    make.click()
    assert asked == [(tmp_path / "ps9.ipynb", tmp_path / "ps9.html", "Ada")]
    assert told.value == "<b>ps9.html</b> is beside your notebook: 7.8 MB." and not make.disabled
    names.value = "nobody"
    make.click()
    assert "<code>x &lt; 1</code>" in told.value and not make.disabled
    monkeypatch.setattr(module, "publish", lambda *given: 1 / 0)
    make.click()  # ipywidgets logs the error
    assert "No page yet" in told.value and not make.disabled
