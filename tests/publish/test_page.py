"""A published page computes what PyTorch does, from a folder, without a network."""

from __future__ import annotations

import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from seqcourse import data, own
from seqcourse.publish import publish
from seqcourse.publish.contract import contract
from seqcourse.publish.export import program
from seqcourse.publish.page import NOTHING
from seqcourse.publish.system import own_system, run
from tests.publish.notebooks import SYSTEMS, notebook
from tests.sizes import nightly_but

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        find_spec("onnxscript") is None, reason="needs onnxscript, of seqcourse[publish]"
    ),
]
ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120_000  # milliseconds, for a busy machine
HELD_OUT = 6
PASS = "([read, written]) => seqlive.pass(read, written)"


SPELLER = """

TASK = "speller"


def load(tensors, notes):
    model = Transformer(len(letters), len(phones), 32, 4, 2, 64, "pre")
    model.load_state_dict(tensors)
    return model.eval()


def logits(model, source, lengths, target):
    return model(source, lengths, target)


def words(model):
    return letters, phones
"""
SEES = """

TASK = "captioner"


def load(tensors, notes):
    model = Captioner(3 * 16 * 16, len(WORDS), 24)
    model.load_state_dict(tensors)
    return model.eval()


def logits(model, picture, target):
    following = torch.cat([target[:, 1:], target[:, -1:]], dim=1)  # fed: <sos> and all but the last
    made, weights = model(cut_patches(picture, 16), following)
    return made, weights.unflatten(-1, (4, 4))


def words(model):
    return WORDS


def caption(model, pictures):
    rows = model.caption(cut_patches(pictures, 16), 23)  # as many as a page writes
    return [(" ".join(WORDS.decode(row)), None) for row in rows.tolist()]
"""


def speller(folder: Path) -> Path:
    """Assignment 6's own Transformer that pronounces, made publishable by one cell more."""
    path, space = with_a_cell_more(folder, "ps6", SPELLER, "letters", "phones")
    sizes = len(space["letters"]), len(space["phones"])
    torch.manual_seed(0)
    model = space["Transformer"](*sizes, 32, 4, 2, 64, "pre")
    return with_checkpoint(path, model, model.bias)


def sees(folder: Path) -> Path:
    """Assignment 8's own captioner, made publishable by one cell more."""
    path, space = with_a_cell_more(folder, "ps8", SEES, "WORDS")
    torch.manual_seed(0)
    model = space["Captioner"](3 * 16 * 16, len(space["WORDS"]), 24)
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.6)  # so that the words it writes differ
    return with_checkpoint(path, model, model.output.bias)


def with_a_cell_more(folder: Path, name: str, cell: str, *needed: str) -> tuple[Path, dict]:
    """An assignment's solution with a cell at its end, and the names that it defines."""
    content = json.loads((ROOT / f"solutions/{name}/{name}.ipynb").read_text(encoding="utf-8"))
    empty = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None}
    content["cells"].append({**empty, "source": cell})
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(content), encoding="utf-8")
    texts = own.with_needs(own.code_of(path), "load", *needed)
    return path, run("\n".join(texts.values()), "made.ipynb")


def with_checkpoint(path: Path, model: torch.nn.Module, bias: torch.Tensor) -> Path:
    """The notebook, with the checkpoint of a model that never writes <pad>, <sos> or <unk> beside it."""
    with torch.no_grad():
        bias[[data.PAD, data.SOS, data.UNK]] = -99
    notes = {"losses": own.curve([3.2, 0.8])}
    own.save(path.with_suffix(".safetensors"), model.state_dict(), notes)
    return path


def reference(folder: Path) -> Path:
    """The reference solution with its own checkpoint."""
    (folder / "ps9.ipynb").write_bytes((ROOT / "solutions/ps9/ps9.ipynb").read_bytes())
    shutil.copy(ROOT / "solutions/checks/ps9/ps9.safetensors", folder)
    return folder / "ps9.ipynb"


@pytest.fixture(
    scope="module",
    params=nightly_but(["transformer"], ["reference", "speller", "sees", *SYSTEMS]),
)
def made(request, tmp_path_factory):
    """The name of a system, its notebook, its page, and what publishing said."""
    folder = tmp_path_factory.mktemp("own")
    kind = request.param
    makes = {"reference": reference, "speller": speller, "sees": sees}
    path = makes[kind](folder) if kind in makes else notebook(folder, SYSTEMS[kind])
    page = folder / "page.html"
    said = publish(path, page, names="Ada <b>& Ben", count=HELD_OUT)
    return kind, path, page, said


@pytest.fixture(scope="module")
def opened(made, chrome):
    """The page, open from its folder, and all that it asked for or complained about."""
    context = chrome.new_context(offline=True, viewport={"width": 390, "height": 800})
    page, seen = context.new_page(), []
    page.on("request", lambda request: seen.append(request.url))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("console", lambda told: told.type == "error" and seen.append(told.text))
    page.goto(made[2].as_uri())
    page.wait_for_selector("#own[data-ready]", timeout=TIMEOUT)
    yield page, seen
    context.close()


def test_the_page_computes_what_pytorch_does(made, opened):
    """The logits after the last word, and where it looked, at several lengths."""
    system, (page, _) = own_system(made[1]), opened
    known = contract(system)
    program(known, system.name)
    assert float(page.get_attribute("#own", "data-apart")) < 1e-4
    drawn = numpy.random.default_rng(0)
    for read, written in ((6, 4), (9, 2), (3, 17)):
        ids = [1, *drawn.integers(4, len(known.target), written - 1).tolist()]
        if known.source:
            what = drawn.integers(4, len(known.source), read).tolist()
            given = known.given(what)
        else:
            what = drawn.integers(0, 256, 64 * 64 * 3).tolist()
            picture = torch.tensor(what).view(1, 64, 64, 3).permute(0, 3, 1, 2)
            given = (picture.float() / 255,)
        with torch.inference_mode():
            logits, *maps = known.module(*given, known.wrote(ids))
        found = page.evaluate(PASS, [what, ids])
        torch.testing.assert_close(
            torch.tensor(found["logits"]), logits[0, written - 1], rtol=1e-4, atol=1e-4
        )
        if maps:
            looked = torch.tensor(found["weights"])
            torch.testing.assert_close(looked, maps[0][0, written - 1], rtol=1e-4, atol=1e-4)
        else:
            assert found["weights"] is None


def test_it_says_what_the_students_own_code_says(made, opened):
    kind, path, _, said = made
    page, _ = opened
    if kind == "speller":
        (text,) = own_system(path).say(["bench"])
        shown, told = page.locator(".own-answer").inner_text().split(), text.split()
        assert told and shown[: len(told)] == told  # theirs stops after 12
        return
    if kind in ("captioner", "sees"):
        (scene,) = data.load_scenes("test", 1)
        picture = torch.from_numpy(scene.image).permute(2, 0, 1)[None].float() / 255
        (text,) = own_system(path).say(picture)
        found = page.evaluate(
            "x => seqlive.send('caption', { pixels: x })", scene.image.flatten().tolist()
        )
        assert found["text"] == text
        page.locator(".sq-thing").first.focus()
        page.keyboard.press("ArrowRight")
        assert (
            page.locator(".sq-thing").first.get_attribute("aria-label").startswith("camel, at 15 across")
        )
        return
    assert "8 of 8" in said

    def ask(sentence: str) -> None:
        """What is asked while the page is busy is not asked."""
        page.wait_for_selector("#own [type=submit]:not([aria-disabled])", timeout=TIMEOUT)
        page.fill("[name=text]", sentence)
        page.keyboard.press("Enter")

    for sentence in ("We need water", "Where is my key?"):
        (text,) = own_system(path).say([sentence])
        ask(sentence)
        page.wait_for_function(
            "text => document.querySelector('.own-answer').textContent === text",
            arg=text or NOTHING,
            timeout=TIMEOUT,
        )
    ask("We need zebras")
    page.get_by_text("It does not know: zebras").first.wait_for(timeout=TIMEOUT)
    ask("water " * 60)
    page.get_by_text("words and signs can be read here").wait_for(timeout=TIMEOUT)
    ask(" ")
    page.get_by_text("Type something first.").wait_for(timeout=TIMEOUT)


def test_it_asks_for_nothing_fits_a_phone_and_tells_what_it_is(made, opened):
    page, seen = opened
    assert seen == [made[2].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_by_text("Ada <b>& Ben", exact=True).is_visible()
    assert page.get_by_role(
        "row", name=re.compile(rf"Score.* {HELD_OUT} (held-out|unseen)")
    ).is_visible()
    if made[0] != "reference":
        assert "from 3.20 to 0.80" in page.locator("figcaption").last.inner_text()
    size = made[2].stat().st_size / 1e6
    assert 4 < size < 9


def test_axe_finds_nothing_and_paper_has_no_controls(opened):
    page, _ = opened
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=scheme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.emulate_media(media="print")
    assert not page.locator("#own button:visible, #own input:visible, #own select:visible").count()
    page.emulate_media(media="screen", color_scheme="light")


def test_it_is_readable_without_scripts(made, chrome):
    """And so on paper: names, the first answer, the score."""
    context = chrome.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made[2].as_uri())
    assert page.locator(".sq-live p").first.inner_text().strip()
    assert page.get_by_role("row", name="Score").is_visible()
    context.close()


def test_a_file_that_is_damaged_says_so(made, chrome, tmp_path):
    text = made[2].read_text(encoding="utf-8")
    start = text.index('id="own-model">') + 15
    broken = tmp_path / "broken.html"
    broken.write_text(text[:start] + "AAAA" + text[start + 4 :], encoding="utf-8")
    page = chrome.new_page()
    page.goto(broken.as_uri())
    page.get_by_text("The model cannot run in this browser").wait_for(timeout=TIMEOUT)
    assert page.locator(".sq-live p").first.inner_text().strip()  # the answer that came with the page
    page.close()


def test_the_learning_curve_is_a_note():
    steps, means = json.loads(own.curve([4.0, 2.0] * 100))
    assert steps == 200 and len(means) <= 60 and set(means) == {3.0}
    assert json.loads(own.curve([])) == [0, []]
