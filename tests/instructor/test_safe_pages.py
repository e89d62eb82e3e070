"""A submission that wants to run programs in the instructor's browser: nothing runs, nobody is asked."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook

from cellgrader.course.folders import Course
from cellgrader.notebook import document as notebooks
from cellgrader.pages.feedback import make_feedback
from cellgrader.release.generate import release
from tests.grading.toy import make_toy_course

from .lab import wait_for_fields
from .people import TOKEN, make_exchange, make_person

pytestmark = pytest.mark.browser


class Elsewhere(http.server.ThreadingHTTPServer):
    """Another server: what it is asked is what a page gave away."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Listening)
        self.asked: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class _Listening(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(404)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Hostile:
    """What a submission may hold."""

    def __init__(self, address: str) -> None:
        self.out = f"window.broken = 1; console.log('BROKEN'); fetch('{address}/taken')"
        self.name = f'<img src=x onerror="{self.out}">'
        out, picture = self.out, f"{address}/picture.png"
        self.markdown = f"""
<script>{out}</script>
<img src="x" onerror="{out}"> <img src={picture}> ![a picture]({picture})
<svg onload="{out}"><script>{out}</script></svg> <iframe src="{picture}"></iframe>
<a href="javascript:{out}" id="link">a link</a> [another](javascript:{out.replace(" ", "")})
[a third](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)
<details open ontoggle="{out}"><summary>x</summary></details> <style>@import "{picture}";</style>
<div style="background: url({picture})">styled</div> <link rel="stylesheet" href="{picture}">
<base href="{address}/"> <meta http-equiv="refresh" content="0;url={picture}">
<math><mtext></mtext><mglyph><style><!--</style><img src=x onerror="{out}"> --></math>
$\\text{{<img src=x onerror="{out}">}}$ ![$\\text{{" onerror="{out}" x="}}$](attachment:nothing)
$$\\href{{javascript:{out}}}{{x}}$$ <form action="{picture}"><button id="why">send</button></form>

```mermaid
</pre><script>{out}</script>
```

| <img src=x onerror="{out}"> | b |
|---|---|
| an honest table | $x^2$ |
"""
        self.attached = {
            "x.png": {'image/png" onerror="' + out: "QQ=="},
            "nothing": {"text/html": self.markdown},
        }
        self.bundles = [
            {"text/html": self.markdown},
            {"application/javascript": out},
            {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{out}'/>"},
            {"text/markdown": self.markdown},
            {"text/latex": f"$<script>{out}</script>$"},
            {
                "application/vnd.jupyter.widget-view+json": {
                    "model_id": f"</script><script>{out}</script>"
                }
            },
            {"text/vnd.mermaid": f"<script>{out}</script>"},
            {"image/png": f'" onerror="{out}" x="'},
            {"text/plain": f"<script>{out}</script> honest text"},
        ]


@pytest.fixture(scope="module")
def hostile(elsewhere: Elsewhere) -> Hostile:
    return Hostile(elsewhere.address)


@pytest.fixture(scope="module")
def course(tmp_path_factory, hostile) -> Course:
    """The toy course with one graded submission in it: what the worst of graders would let through."""
    made = make_toy_course(tmp_path_factory.mktemp("safe") / "work")
    release(made)
    book = nbformat.from_dict(notebooks.read(made.solution("ps1")))
    for cell in book.cells:
        cell.metadata["tags"] = [f'"><script>{hostile.out}</script>']
        if cell.cell_type == "code":
            cell.outputs = [
                *(new_output("display_data", data=data) for data in hostile.bundles),
                new_output("stream", text=f"<script>{hostile.out}</script> honest text"),
                new_output(
                    "error", ename="Mistake", evalue=hostile.markdown, traceback=[hostile.markdown]
                ),
            ]
        else:
            cell.source, cell.attachments = hostile.markdown, hostile.attached
    book.cells += [new_markdown_cell(hostile.markdown), nbformat.v4.new_raw_cell(hostile.markdown)]
    book.cells += [new_code_cell(f"'''</pre><script>{hostile.out}</script>'''")]
    book.metadata["title"] = f"</title><script>{hostile.out}</script>"
    book.metadata["language_info"] = {
        "name": "python",
        "pygments_lexer": f'"><script>{hostile.out}</script>',
    }
    book.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    book.metadata["seqcourse"] = {"remarks": [hostile.markdown], "sentence": hostile.markdown}
    folder = made.autograded / "mallory" / "ps1"
    folder.mkdir(parents=True)
    (folder / "ps1.ipynb").write_text(json.dumps(book))
    with Gradebook(made.gradebook_url) as gradebook:
        gradebook.update_or_create_student("mallory", first_name=hostile.name, last_name=hostile.name)
        gradebook.update_or_create_submission("ps1", "mallory")
        gradebook.find_comment("why", "ps1", "ps1", "mallory").manual_comment = hostile.markdown
        gradebook.db.commit()
    return made


class Watched:
    """A page, what it asked others for, and what ran in it that should not."""

    def __init__(self, page: object, elsewhere: Elsewhere) -> None:
        self.page = page
        self.taken = elsewhere.asked
        self.taken.clear()
        self.foreign: list[str] = []
        self.broken: list[str] = []
        page.on("request", lambda request: self._note(request.url))
        page.on("console", lambda said: self._hear(said.text))
        page.on("dialog", lambda dialog: self.broken.append(dialog.message))

    def look(self, address: str) -> None:
        self.page.goto(address, wait_until="load")
        self.page.wait_for_timeout(500)
        if self.page.evaluate("() => window.broken"):
            self.broken.append("window.broken")

    def assert_quiet(self) -> None:
        """Nothing ran, no other server was asked for anything, nor would it have been."""
        assert self.broken == []
        assert self.taken == []
        assert self.foreign == []

    def _note(self, url: str) -> None:
        if urlsplit(url).hostname not in ("127.0.0.1", None, ""):
            self.foreign.append(url)

    def _hear(self, text: str) -> None:
        if "BROKEN" in text:
            self.broken.append(text)


@pytest.fixture
def watched(chrome, elsewhere) -> Iterator[Watched]:
    context = chrome.new_context(viewport={"width": 1000, "height": 900})
    yield Watched(context.new_page(), elsewhere)
    context.close()


def leftovers(page: object) -> list[str]:
    """Attributes and elements that could still do something."""
    return page.evaluate(
        """() => [...document.querySelectorAll('*')].flatMap(node => [...node.attributes]
            .filter(a => /^on/i.test(a.name) || /javascript:/i.test(a.value))
            .map(a => `${node.tagName} ${a.name}=${a.value.slice(0, 80)}`))
            .concat([...document.querySelectorAll('iframe, object, embed, base, form, #link')]
            .map(node => node.outerHTML.slice(0, 80)))"""
    )


@pytest.mark.nightly
def test_the_stock_page_is_broken_by_it(course, watched, tmp_path):
    """Without this, the tests below could pass for want of an attack."""
    exporter = HTMLExporter(template_name="classic")
    book = nbformat.read(course.autograded / "mallory/ps1/ps1.ipynb", as_version=4)
    for cell in book.cells:
        cell.get("attachments", {}).setdefault("nothing", {})["image/png"] = "QQ=="
    book.metadata.language_info.pygments_lexer = "ipython3"
    body, _ = exporter.from_notebook_node(book)
    (tmp_path / "page.html").write_text(body)
    # It goes elsewhere by itself, so that nothing can be asked of the page.
    watched.page.goto((tmp_path / "page.html").as_uri(), wait_until="commit")
    for _ in range(600):
        if watched.broken and "/picture.png" in watched.taken:
            return
        watched.page.wait_for_timeout(100)
    pytest.fail("the stock page should run a program and ask another server")


def test_feedback_runs_nothing_and_asks_nobody(course, watched):
    page = make_feedback(course, "ps1", "mallory")
    watched.look(page.as_uri())
    watched.assert_quiet()
    assert leftovers(watched.page) == []
    assert watched.page.locator("script").count() == 0
    words = watched.page.locator("body").inner_text()
    assert "an honest table" in words and "honest text" in words
    assert watched.page.locator("main math").count() > 0


def test_feedback_would_run_nothing_even_so(course, hostile, watched, tmp_path):
    """The page forbids its browser programs and other addresses, should something slip through."""
    page = make_feedback(course, "ps1", "mallory").read_text(encoding="utf-8")
    slipped = page.replace("<main>", f"<main>{hostile.markdown}<script>{hostile.out}</script>")
    assert slipped != page
    slipped = slipped.replace('http-equiv="refresh"', "")  # a policy cannot forbid to go elsewhere
    (tmp_path / "page.html").write_text(slipped)
    watched.look((tmp_path / "page.html").as_uri())
    assert watched.broken == []
    assert watched.taken == []


@pytest.fixture(scope="module")
def desk(course, tmp_path_factory) -> Iterator[str]:
    """The instructor's JupyterLab, with the formgrader in it."""
    home = tmp_path_factory.mktemp("desk")
    person = make_person("instructor", home, make_exchange(home / "exchange"))
    with person.lab(course.root) as address:
        yield address


def test_formgrader_runs_nothing_and_asks_nobody(course, desk, watched):
    with Gradebook(course.gradebook_url) as gradebook:
        number = gradebook.find_submission_notebook("ps1", "ps1", "mallory").id
    watched.page.goto(f"{desk}/lab?token={TOKEN}")  # from here on the browser is known
    watched.look(f"{desk}/formgrader/submissions/{number}/")
    watched.assert_quiet()
    own = ("onclick=toggle_name(true);", "onclick=toggle_name(false);")
    assert [left for left in leftovers(watched.page) if not left.endswith(own)] == []
    assert "an honest table" in watched.page.locator("body").inner_text()
    # the page's own programs still work: it opens at the answer, and points can be given
    wait_for_fields(watched.page)
    assert_opens_at_the_answer(watched.page)
    field = watched.page.locator("input.score[id='why']")
    with watched.page.expect_response(lambda got: got.request.method == "PUT" and got.ok):
        field.fill("1.5")
        field.blur()
    assert watched.broken == []


def assert_opens_at_the_answer(page) -> None:
    """The first field is that of the written answer; the rubric and the model answer stand beside it."""
    assert page.evaluate("document.activeElement.id") == "why"
    answer = page.locator(".cell", has=page.locator("[id='why']"))
    beside = page.locator(".cell", has_text="Rubric and model answer").last
    assert "Because of this and that." in beside.inner_text()
    left, right = answer.bounding_box(), beside.bounding_box()
    assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 30
    assert 0 <= left["y"] < page.viewport_size["height"] / 2


@pytest.mark.parametrize("path", ["gradebook/ps1/ps1", "manage_students", "manage_submissions/ps1"])
def test_lists_of_names_run_nothing(desk, watched, path):
    watched.look(f"{desk}/formgrader/{path}?token={TOKEN}")
    watched.page.wait_for_selector("#main-table td")
    watched.assert_quiet()


def test_a_page_is_one_file(course):
    """Nothing in it refers to another file. What is for the person who grades is not in it."""
    page = make_feedback(course, "ps1", "mallory").read_text(encoding="utf-8")
    assert "Because of this and that" not in page
    assert "cdnjs" not in page and "<link" not in page
