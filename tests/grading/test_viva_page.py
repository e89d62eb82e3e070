"""The pages of a sheet in a browser: for a screen reader, in the dark, on a phone, on paper."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from cellgrader.viva.outcomes import SAME, SHAPE
from cellgrader.viva.page import answers_page, as_page
from cellgrader.viva.questions import LOOK, NEW_SHAPE, WORD, WORDS, Question
from cellgrader.viva.sheet import Sheet

CODE = "def attention(q, k, v):\n    e = q @ k.mT  # </pre><script>document.title = 'gone'</script>\n"
LONG = "e = torch.einsum('bid,bjd->bij', q, k) / q.shape[-1] ** 0.5 + a_very_long_name_of_a_tensor"
SHAPES = ("(2, 3)", "(3, 2)", "(2,)", "(3,)")
SHEET = Sheet(
    "ps4",
    "ada <b>",
    (
        Question(LOOK, "attention", 2, None, "What is the shape of `q @ k.mT` in line 2?", SHAPES, 1),
        Question(NEW_SHAPE, "attention", 2, LONG, "What is the shape of the result?", SHAPES, 0, SHAPE),
        Question(
            WORD, "attention", 2, "", "What happens?", tuple(WORDS.values()), 0, SAME, "It matters."
        ),
    ),
    {"attention": CODE},
)


@pytest.mark.browser
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(as_page(SHEET), id="student"),
        pytest.param(answers_page("ps4", [SHEET]), id="all", marks=pytest.mark.nightly),
    ],
)
def test_everybody_can_read_it_and_it_asks_nobody(chrome, tmp_path, made):
    (tmp_path / "page.html").write_text(made, encoding="utf-8")
    asked: list[str] = []
    for theme in ("light", "dark"):
        page = chrome.new_page(viewport={"width": 390, "height": 844}, color_scheme=theme)
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        assert page.title().startswith("ps4: questions")
        for width in (390, 1366):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [rule["id"] for rule in found] == [], (theme, width)
        page.emulate_media(media="print")
        paper = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(paper) == "rgb(255, 255, 255)"
        page.close()
    assert {url.partition(":")[0] for url in asked} == {"file"} and len(asked) == 2


def test_the_student_s_page_has_no_answer_and_the_other_one_has_all():
    theirs, ours = as_page(SHEET), answers_page("ps4", [SHEET])
    assert "It matters." in ours and "b: (3, 2)" in ours and "<b>" not in ours
    assert "It matters." not in theirs and "  2      e = q @ k.mT  # &lt;/pre&gt;" in theirs
    assert theirs.count("<li>") == 12 and "<script" not in theirs
    assert "Line 2 is deleted." in theirs
