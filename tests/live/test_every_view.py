"""What holds for every kind of live figure: bad input, the keyboard, loading, being busy, failing."""

from __future__ import annotations

import pytest

from seqcourse import live
from seqcourse.errors import CourseError
from tests.sizes import nightly_but

from .conftest import BAD, CAPTIONS, DYING, EXAMPLES, KILL, SCENES, TRANSLATORS, answered, ask

pytestmark = pytest.mark.browser
# Figures that answer a text.
TYPED = ["translate", "bands", "subwords", "tree", "sample", "fill", "classify", "write"]
TYPED += ["cells", "merge", "slip", "elsewhere", "plane", "fit", "pair", "pronounce", "listen"]
NAME = "node => node.name || node.textContent"
TOO_LONG = "Write at most 1,000 characters; these are 10,000."


# Ask some figures at once, and note whatever changes in them.
WATCH = """names => { window.seen = []; for (const name of names) {
    const root = document.querySelector(`#${name} [data-live]`), find = what => root.querySelector(what);
    const bar = find("progress"), button = find("[type=submit]"), said = find("[role=status]");
    const look = () => seen.push(
        [name, bar.hidden, bar.value, bar.ariaLabel, button.textContent, said.textContent]);
    const all = { subtree: true, attributes: true, childList: true };
    new MutationObserver(look).observe(root, all);
    find("form").requestSubmit(); } }"""


@pytest.mark.parametrize("name", nightly_but(["subwords"], TYPED))
def test_bad_input_is_answered_by_a_sentence_and_nothing_is_lost(page, name):
    root = page.locator(f"#{name}")
    box, shown = root.locator("[name=text]"), root.locator(".sq-live")
    for kind, text in BAD.items():
        before, said = shown.inner_html(), ask(page, name, text)
        assert said.endswith((".", ")")) and len(said.split()) > 2, (kind, said)
        assert not said.startswith("That did not work"), (kind, said)
        assert box.input_value() == text, kind
        if "10,000" in kind:
            assert said == TOO_LONG
        if said.startswith(("Write", "Put", "This model")):
            assert shown.inner_html() == before, kind
            assert root.locator(".sq-stale").count() == 1, kind  # it answers another question
        assert shown.locator("script, img:not(.sq-photo)").count() == 0, kind
    assert ask(page, name, "alice ___ the bread") not in ("", TOO_LONG)


def test_every_figure_is_operated_by_the_keyboard_and_says_what_changed(page):
    page.locator("h1").click()
    for name in TYPED:
        root = page.locator(f"#{name}")
        root.locator("[name=text]").focus()
        reached = set()
        while root.evaluate("root => root.contains(document.activeElement)"):
            reached.add(page.evaluate(f"({NAME})(document.activeElement)"))
            if page.evaluate("document.activeElement.type") == "submit":
                break
            page.keyboard.press("Tab")
        controls = "form [name]:not([type=hidden]), form button:not(.sq-examples button)"
        assert reached == set(root.locator(controls).evaluate_all(f"all => all.map({NAME})")), name
        page.keyboard.press("Enter")
        assert answered(page, name), name
        # the button keeps the keyboard while it is busy and afterwards
        assert page.evaluate("document.activeElement.textContent") == "Run"
        assert root.locator("[role=status]").count() == 1


def test_a_model_is_loaded_once_with_a_bar_however_many_figures_ask(opened, over_http):
    page = opened(over_http)
    page.evaluate(WATCH, ["tree", "sample"])
    assert "(score " in answered(page, "tree") and "drawn" in answered(page, "sample")
    seen = page.evaluate("seen")
    for name in ("tree", "sample"):
        mine = [change for whose, *change in seen if whose == name]
        loading = [change for change in mine if not change[0]]
        bars = [bar for _, bar, *_ in loading]
        assert len(set(bars)) > 3 and bars == sorted(bars), name
        assert {(title, button) for _, _, title, button, _ in loading} == {
            ("Loading en-es-fixed", "Busy …")
        }
        said = [text for *_, text in mine]
        assert any(text.startswith("Loading: en-es-fixed (2.") for text in said), name
        assert "Computing …" in said, name
    asked = "performance.getEntriesByType('resource').filter(e => /en-es-fixed/.test(e.name)).length"
    assert page.evaluate(asked) == 8
    assert page.locator("#tree progress").is_hidden()


def test_asked_again_while_it_is_busy_a_figure_answers_the_last_question(page):
    ask(page, "subwords", EXAMPLES[0])
    box = page.locator("#subwords [name=text]")
    for text in ("she reads a book", "he was here", EXAMPLES[1]):
        box.fill(text)
        box.press("Enter")
        box.press("Enter")
    assert "roja" in answered(page, "subwords")
    assert page.locator("#subwords [type=submit]").text_content() == "Run"


def test_what_fails_is_told_and_can_be_tried_again(opened, over_http):
    page = opened(over_http, may_complain=True)
    page.context.set_offline(True)
    came = page.locator("#tree .sq-live").inner_html()
    said = ask(page, "tree")
    assert "you are offline" in said and "“Run” tries again" in said
    page.context.set_offline(False)
    page.route("**/en-es-fixed.5.js", lambda route: route.abort())
    assert "could not be loaded" in ask(page, "tree")
    assert page.locator("#tree progress").is_hidden()
    assert page.locator("#tree .sq-live").inner_html() == came
    page.unroute("**/en-es-fixed.5.js")
    assert "(score " in ask(page, "tree")


def test_an_answer_that_no_longer_fits_what_is_typed_is_marked(opened, address):
    page = opened(address)
    root, old = page.locator("#tree"), page.locator("#tree .sq-stale")
    said, box = root.locator("[role=status]"), root.locator("[name=text]")
    for _ in ("the answer that came with the page", "one that was asked for"):
        before, text = said.text_content(), box.input_value()
        box.fill(f"{text} x")
        assert old.count() == 1 and "what was typed before" in said.text_content()
        box.fill(text)
        assert old.count() == 0 and said.text_content() == before
        ask(page, "tree", EXAMPLES[1])
    box.fill(EXAMPLES[0])
    assert old.count() == 1
    ask(page, "tree")
    assert old.count() == 0 and "what was typed before" not in said.text_content()


def test_a_worker_that_dies_is_started_again(opened, over_http):
    page = opened(over_http, script=DYING)
    assert "(score " in ask(page, "tree")
    assert page.evaluate(KILL) == "out of memory"
    assert "(score " in ask(page, "tree", EXAMPLES[1])


REFUSED = "window.Worker = class { constructor() { throw new Error('no'); } };"
POLICY = """addEventListener("DOMContentLoaded", () => document.head.insertAdjacentHTML("beforeend",
    `<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">`))"""


@pytest.mark.parametrize(
    "script",
    [REFUSED, pytest.param(POLICY, marks=pytest.mark.nightly)],
    ids=["by the browser", "by a policy"],
)
def test_where_a_worker_is_refused_the_page_computes_by_itself(opened, over_http, script):
    page = opened(over_http, script=script, may_complain=True)
    assert "la casa rojo es grande." in ask(page, "tree", EXAMPLES[1])
    assert "(score " in ask(page, "tree", EXAMPLES[0])


# Words, numbers, and what a colour or a width says.
SHOWN = """root => [...root.querySelectorAll(".sq-live :is(th, td, p, mark, i, .sq-letter)")]
    .map(node => [node.textContent, node.className, node.getAttribute("style")])
    .filter(([text, , style]) => text || style)"""


@pytest.mark.parametrize(
    "name",
    nightly_but(
        ["translate", "elsewhere", "see"],
        ["translate", "elsewhere", "fit", "pronounce", "listen", "see"],
    ),
)
def test_the_answer_that_came_with_the_page_is_what_the_page_makes(opened, address, name):
    root = opened(address).locator(f"#{name}")
    came = root.evaluate(SHOWN)
    root.get_by_role("button", name="Run").click()
    answered(root.page, name)
    assert len(came) > 3 and root.evaluate(SHOWN) == came


FIRST = {  # what each figure shows of its first example, and how often
    "translate": ("estamos comiendo pan.", 3),
    "pronounce": ("N AY T", 1),
    "listen": ("four", 1),
    "see": ("Ankle boot", 1),
    "fit": (CAPTIONS[0], 1),
}


def test_without_javascript_the_first_answer_is_there(opened, address):
    page = opened(address, javascript=False)
    for name, (words, count) in FIRST.items():
        assert page.locator(f"#{name} .sq-live").get_by_text(words).count() >= count, name
    assert (
        page.locator("#sample li").count() == 5 and page.locator("#fit td.sq-best:visible").count() == 2
    )
    assert page.locator("#fit img:visible").count() == len(SCENES)
    assert not page.locator("form:visible, progress:visible, [role=status]:not(:empty)").count()


@pytest.mark.parametrize(
    "call",
    [
        lambda: live.translate({}, "a", ["b"]),
        lambda: live.translate({"en-es-fixed": "A"}, " ", ["b"]),
        lambda: live.translate(TRANSLATORS, "a", []),
        lambda: live.room("en-es-transformer", " ", ["b"]),
        lambda: live.room("en-es-transformer", "a", []),
        lambda: live.see("fashion-vit", " ", [0]),
        lambda: live.see("fashion-vit", "a", []),
        lambda: live.see("fashion-vit", "a", [1000]),
        lambda: live.see("fashion-vit", "a", ["x"]),
        lambda: live.fit("captions-soft", " ", SCENES, CAPTIONS),
        lambda: live.fit("captions-soft", "a", SCENES[:1], CAPTIONS),
        lambda: live.fit("captions-soft", "a", SCENES, CAPTIONS[:1]),
    ],
)
def test_a_call_without_what_it_needs_is_refused(call):
    with pytest.raises(CourseError, match="a label|0 to 999, not"):
        call()
