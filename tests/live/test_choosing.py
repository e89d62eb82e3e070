"""What is chosen in the page is what `seqcourse.decode` chooses: trees of beam search, words drawn."""

from __future__ import annotations

import pytest
import torch

from seqcourse import decode, zoo
from seqcourse.zoo.system import NO_OUTPUT

from .conftest import EXAMPLES, ask, load, sentences

pytestmark = pytest.mark.browser
NAME = "en-es-fixed"
SENTENCES = [*EXAMPLES, "i do not know why"]
GROW = """given => seqlive.send("grow", { name: "en-es-fixed", ...given })"""
SAMPLE = """given => seqlive.send("sample",
    { name: "en-es-fixed", seed: 1, count: 2, shown: 60, ...given })"""
FILTER = """([rows, settings]) => { const own = {}; seqlive.parts.forEach(part => part(own));
    return settings.map(([temperature, k, p]) => rows.map(row => {
        const given = { temperature, k: k ?? Infinity, p: p ?? 1 };
        const { ids, kept } = own.filter(Float32Array.from(row), given, new Set());
        return ids.slice(0, kept); })); }"""
SETTINGS = [
    (temperature, k, p)
    for temperature in (0.3, 1.0, 1.7)
    for k, p in [(None, None), (1, None), (10, None), (None, 0.05), (None, 0.9), (50, 0.95)]
]


class Cooled:
    """A model whose logits are divided by a temperature."""

    def __init__(self, model, temperature: float) -> None:
        self.model, self.temperature, self.start = model, temperature, model.start

    def step(self, tokens, state, memory):
        out = self.model.step(tokens, state, memory)
        return type(out)(out.logits / self.temperature, out.state, out.weights)


def steps_of(roots: list[dict]) -> list[list[dict]]:
    """The nodes of each step, as they stand below each other."""
    steps = []
    while roots:
        steps.append(roots)
        roots = [node for root in roots for node in root["next"]]
    return steps


@pytest.mark.parametrize("count", [3, pytest.param(75, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("width", "alpha", "temperature"), [(1, 1.0, 1), (3, 0.0, 1), (3, 1.0, 2), (5, 1.5, 0.5)]
)
def test_every_node_is_pythons(page, width, alpha, temperature, count):
    load(page, NAME)
    system = zoo.load(NAME)
    for text in SENTENCES if count == 3 else sentences(count):
        trace: list = []
        (source,) = system.sources([text])
        ((best, *_),) = decode.beam_search(
            Cooled(system.model, temperature),
            system.encode([source]),
            width,
            length_penalty=alpha,
            max_len=2 * len(source) + 10,
            forbid=NO_OUTPUT,
            trace=trace,
        )
        given = {"text": text, "width": width, "alpha": alpha, "temperature": temperature}
        found = page.evaluate(GROW, given)
        assert found["score"] == pytest.approx(best.score, abs=1e-4)
        assert found["text"] == system.text(system.target.decode(best.tokens))
        for mine, theirs in zip(steps_of(found["roots"]), trace, strict=True):
            tokens = system.target.tokens
            told = [(tokens[n.token], n.kept, n.best) for n in theirs]
            assert sorted((n["word"], n["kept"], n["best"]) for n in mine) == sorted(told)
            logs = sorted(n["logProb"] for n in mine)
            assert logs == pytest.approx(sorted(n.log_prob for n in theirs), abs=1e-4)


def test_the_tree_that_came_with_the_page_is_what_the_page_makes_and_it_grows(page):
    figure = page.locator("#tree")
    shown, said = figure.locator(".sq-live"), figure.locator("[role=status]")
    came = shown.inner_html()
    whole = ask(page, "tree")
    assert shown.inner_html() == came.replace("&lt;eos>", "&lt;eos&gt;") and "(score " in whole
    last = int(figure.get_by_label("Step").get_attribute("max"))
    later = figure.locator("ul[data-later]")
    assert later.count() == 0 and last == len(steps_of_page(figure))
    figure.get_by_role("button", name="Back").press("Enter")
    assert said.text_content().startswith(f"Step {last - 1} of {last}: ") and later.count() > 0
    figure.get_by_label("Step").press("Home")
    assert "Step 1 of" in said.text_content() and "“estamos”" in said.text_content()
    assert figure.locator("ul[data-later] span:visible").count() == 0
    for _ in range(last):
        figure.get_by_role("button", name="One word more").press("Space")
    assert said.text_content() == whole and later.count() == 0
    figure.get_by_label("Width").fill("1")
    page.wait_for_function("!document.querySelector('#tree .sq-tree .pruned')")


def steps_of_page(figure) -> list[int]:
    """How many lists lie in each other."""
    return figure.evaluate(
        "root => { let list = root.querySelector('.sq-tree > ul'), depths = [];"
        " for (let all = [list]; all.length; all = all.flatMap(l => [...l.children]"
        ".flatMap(li => [...li.children].filter(c => c.tagName === 'UL')))) depths.push(all.length);"
        " return depths; }"
    )


# Every step that a tree shows, however late somebody looks.
STEPS = """() => { window.steps = [];
    new MutationObserver(() => {
        const now = document.querySelector("#tree .sq-steps output")?.value;
        if (now && now !== steps.at(-1)) steps.push(now);
    }).observe(document.querySelector("#tree"), { subtree: true, childList: true }); }"""


@pytest.mark.nightly
def test_a_tree_grows_by_itself_where_motion_is_welcome(opened, over_http):
    page = opened(over_http)
    page.evaluate(STEPS)
    ask(page, "tree")
    page.wait_for_function("!document.querySelector('#tree .sq-growing') && steps.length > 1")
    step, last = page.locator("#tree .sq-steps input").evaluate("input => [input.value, input.max]")
    assert step == last and int(last) > 1
    assert page.evaluate("steps") == [f"{k} of {last}" for k in range(1, int(last) + 1)]


@torch.no_grad()
def test_what_is_kept_of_a_distribution_is_what_decode_keeps(page):
    load(page, NAME)
    system, rows = zoo.load(NAME), []
    for text in SENTENCES:
        (source,) = system.sources([text])
        ((best, *_),) = decode.beam_search(system.model, system.encode([source]), 1, forbid=NO_OUTPUT)
        memory = system.encode([source])
        state, token = system.model.start(memory), 1
        for following in [*best.tokens, 2]:
            out = system.model.step(torch.tensor([token]), state, memory)
            rows.append(out.logits[0].log_softmax(-1))
            state, token = out.state, following
    found = page.evaluate(FILTER, [[row.tolist() for row in rows], SETTINGS])
    for (temperature, k, p), sets in zip(SETTINGS, found, strict=True):
        kept = decode.filter_logits(torch.stack(rows), temperature, k, p) > float("-inf")
        for mine, theirs in zip(sets, kept, strict=True):
            assert sorted(mine) == theirs.nonzero()[:, 0].tolist()


@torch.no_grad()
@pytest.mark.parametrize(("temperature", "k", "p"), [(1.5, 0, 0.8), (1.0, 5, 1.0)])
def test_each_word_is_drawn_from_pytorchs_filtered_distribution(page, temperature, k, p):
    load(page, NAME)
    system = zoo.load(NAME)
    given = {"text": SENTENCES[1], "temperature": temperature, "k": k, "p": p}
    for path in page.evaluate(SAMPLE, given):
        words = [step["word"] for step in path["steps"]]
        memory = system.encode(system.sources([SENTENCES[1]]))
        state, token, log_prob = system.model.start(memory), 1, 0.0
        for step in path["steps"]:
            out = system.model.step(torch.tensor([token]), state, memory)
            logits = out.logits[0].log_softmax(-1)
            state, token = out.state, system.target.id(step["word"])
            log_prob += float(logits[token])
            logits = logits.index_fill(0, torch.tensor(NO_OUTPUT), float("-inf"))
            kept = decode.filter_logits(logits, temperature, k or None, p) > float("-inf")
            assert kept[token] and step["kept"] == int(kept.sum())
            shares, ids = (logits / temperature).softmax(-1).topk(len(step["likeliest"]))
            names, mine = zip(*step["likeliest"], strict=True)
            assert list(names[:10]) == [system.target.tokens[id_] for id_ in ids[:10].tolist()]
            assert list(mine) == pytest.approx(shares.tolist(), abs=1e-5)
        assert path["logProb"] == pytest.approx(log_prob, abs=1e-4)
        assert words[-1] == "<eos>" or len(words) == 2 * len(system.sources([SENTENCES[1]])[0]) + 10


def test_a_reader_sees_what_a_word_was_drawn_from(page):
    figure = page.locator("#sample")
    assert ask(page, "sample", EXAMPLES[1]).startswith("5 translations drawn, ")
    words = figure.locator(".sq-drawn button")
    first = figure.locator(".sq-drawn").inner_text()
    words.first.focus()
    page.keyboard.press("ArrowRight")
    assert words.nth(1).get_attribute("aria-pressed") == "true"
    assert f"after “{words.nth(0).text_content()}”" in figure.locator("caption").text_content()
    figure.get_by_label("Top-k").select_option("1")  # the likeliest word each time
    figure.get_by_text("5 translations drawn, all the same.").wait_for()
    assert figure.locator(".sq-bars .sq-pale").count() == 7  # of the eight likeliest
    figure.get_by_label("Top-k").select_option("0")
    page.wait_for_function(  # the same random numbers
        "text => document.querySelector('#sample .sq-drawn').innerText === text", arg=first
    )
