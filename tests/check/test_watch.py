"""Forbidden functions are found by what runs: tricks are refused, right answers and helpers are not."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from tqdm import tqdm

import seqcourse.nn
from cellgrader.run.hard_to_read import remarks
from seqcourse import functional
from seqcourse.check import Mistake, ps3
from seqcourse.check.calls.forbidden import covers, refuse
from seqcourse.check.calls.recording import observe, quiet, record
from seqcourse.check.calls.watch import Watch, paused
from seqcourse.check.cards.load import load_checks
from seqcourse.check.hidden import HiddenCheck
from tests.check.test_assignments import _solved as solved
from tests.sizes import nightly_but

ROOT = Path(__file__).resolve().parents[2]
TRICKS = Path(__file__).with_name("tricks")
ASSIGNMENTS = [f"ps{number}" for number in range(1, 9)]
# Tricks that get through: composite functions that TorchScript takes apart before an operator runs.
KNOWN_GAPS = {"a cell in TorchScript", "a loss in TorchScript"}
BUILD = "is to be built here"


@cache
def checks_of(assignment: str) -> dict[str, list[HiddenCheck]]:
    """The hidden checks by exercise, without the polls."""
    found: dict[str, list[HiddenCheck]] = {}
    for check in load_checks(ROOT, assignment).CHECKS:
        if isinstance(check, HiddenCheck):
            found.setdefault(check.answer, []).append(check)
    return found


def watched(assignment: str, exercise: str, space: dict, judged: bool = False) -> dict[str, None]:
    """What runs when an answer is called on hidden inputs; `judged`: on all, and it must be right."""
    ran: dict[str, None] = {}
    for check in checks_of(assignment)[exercise]:
        made, again = (check.make(check.choose(11)) for _ in range(2))
        for kind, given in made.items():
            gradient = check.exercise.trained(given)
            found, names = observe(check.exercise.record, space[exercise], given, "0.", gradient)
            ran |= dict.fromkeys(names)
            if not judged:
                break
            check.judge_case(found, again[kind], "0.")
    return ran


def forbidden(assignment: str, exercise: str) -> tuple[str, ...]:
    return checks_of(assignment)[exercise][0].forbid


def said(name: str, ran, entries) -> str:
    """The sentence of a refusal, or an empty one."""
    try:
        refuse(name, ran, entries)
    except Mistake as mistake:
        return str(mistake)
    return ""


def tricks() -> Iterator:
    for path in sorted(TRICKS.glob("*.txt")):
        for part in re.split(r"(?m)^=== ", path.read_text(encoding="utf-8"))[1:]:
            header, _, source = part.partition("\n")
            place, _, title = header.partition(": ")
            yield pytest.param(*place.split("/"), title, source, id=f"{path.stem}: {title}")


def test_known_gaps_are_tricks():
    assert KNOWN_GAPS <= {trick.values[2] for trick in tricks()}


@pytest.mark.parametrize(("assignment", "exercise", "title", "source"), list(tricks()))
def test_a_trick_is_right_and_refused(assignment, exercise, title, source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setattr(InteractiveShell, "_instance", None)
    shell = InteractiveShell(user_ns=dict(solved(assignment), nn=nn, functional=functional))
    shell.history_manager.enabled = False
    with quiet():
        for cell in source.split("--- next cell\n"):
            shell.run_cell(cell).raise_error()
        ran = watched(assignment, exercise, shell.user_ns, judged=True)
    sys.modules.pop("a_helper_of_mine", None)
    assert bool(said(exercise, ran, forbidden(assignment, exercise))) != (title in KNOWN_GAPS)


@pytest.mark.parametrize("assignment", nightly_but(["ps7"], ASSIGNMENTS))
def test_right_answers_pass_and_those_that_use_what_they_should_build_do_not(assignment):
    answers, space = load_checks(ROOT, assignment), solved(assignment)
    for exercise in checks_of(assignment):
        entries = forbidden(assignment, exercise)
        assert not said(exercise, watched(assignment, exercise, space), entries), exercise
        for name, source, *says in [*answers.RIGHT[exercise], *answers.WRONG[exercise]]:
            if says and BUILD not in says[0]:
                continue
            own = dict(space)
            with quiet():
                exec(compile(source, "<cell>", "exec"), own)
                sentence = said(exercise, watched(assignment, exercise, own), entries)
            assert (BUILD in sentence) == bool(says), (exercise, name, sentence)


def test_a_known_gap_is_remarked_on_and_what_is_honest_is_not():
    for _, _, title, source in (trick.values for trick in tricks()):
        if title in KNOWN_GAPS:
            assert any("compiled code" in remark for remark in remarks([source])), title
    for assignment in ASSIGNMENTS:
        answers = load_checks(ROOT, assignment)
        for exercise in checks_of(assignment):
            for name, source, *_ in answers.RIGHT[exercise]:
                assert remarks([source]) == [], (exercise, name)
        book = nbformat.read(ROOT / f"solutions/{assignment}/{assignment}.ipynb", as_version=4)
        own = [cell for cell in book.cells if not cell.metadata.get("nbgrader", {}).get("locked")]
        assert remarks([cell.source for cell in own if cell.cell_type == "code"]) == []


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("import ctypes", "Code cell 1, line 1: ctypes calls compiled code"),
        ("\nfrom torch import jit as j\nj.script(f)", "line 2: torch.jit calls compiled code"),
        ("x = 1\ntorch.jit.script(f)", "line 2: torch.jit calls compiled code"),
        ("exec(text)", "exec runs code from a text"),
        ("!ls\n%time x = 1\nx = eval('1')", "line 3: eval runs code"),
        ("import importlib.util", "importlib.util runs code"),
        ("f.__code__", "f.__code__ reaches into"),
        ("import torch.nn.functional as F\nF.__dict__", "torch.nn.functional.__dict__ reaches into"),
        ("import torch\nvars(torch)['x']", "vars(torch) reaches into"),
        ("globals()['x']", "globals() runs code"),
        ("import torch\ntorch.softmax = mine", "torch.softmax is replaced"),
        ("from seqcourse import functional as f\nf.attention = mine", "attention is replaced"),
        ("import sys\nsys.setprofile(None)", "sys.setprofile can change how"),
        ("get_ipython().input_transformers_post", "get_ipython runs code"),
        ("%%writefile mine.py\nx = 1", "%%writefile writes"),
        ("from threading import Thread", "threading.Thread starts something"),
        ("from seqcourse.check.calls.watch import paused", "watch.paused is a part of the checks"),
        (
            "import seqcourse.functional as F\nF.softmax = print",
            "seqcourse.functional.softmax is replaced",
        ),
        (
            "from cellgrader import errors\nerrors.__file__ = 'x'",
            "cellgrader.errors.__file__ is replaced",
        ),
        ("x = 1\n" * 10_001, "has 60006 characters"),
    ],
)
def test_what_a_person_should_look_at(cell, words):
    assert words in " ".join(remarks([cell]))


@pytest.mark.parametrize(
    "cell",
    [
        "model.eval()\nmodel = torch.compile(model)\nre.compile('x')",
        "getattr(self, name)\nglobal count",
        "self.__dict__ = {}\nvars(self)['a'] = 1\nself.layer.weight = w\nx.grad = None",
        "import torch\ntorch.backends.cudnn.deterministic = True",
        "# exec(this)\nprint('exec')",
        "def broken(:",
        "(" * 5_000,
        "x" + ".a" * 4_000,
        "\0",
    ],
)
def test_nothing_to_look_at(cell):
    assert remarks([cell]) == []


def helpers() -> Iterator[tuple[str, object]]:
    """Calls of the public functions and classes that take a few plain inputs: (name of it, call)."""
    x, lengths = torch.randn(2, 4, 6), torch.tensor([4, 2])
    flat, weights = torch.randn(2, 6), torch.softmax(torch.randn(2, 4), -1)
    maps = torch.softmax(torch.randn(2, 2, 1, 3, 3), -1)
    calls = {
        "attention": lambda f: f(x, x, x),
        "attention_rollout": lambda f: f(maps),
        "causal_mask": lambda f: f(3),
        "cut_frames": lambda f: f(torch.randn(400), 100, 50),
        "dot_score": lambda f: f(flat, x),
        "doubly_stochastic": lambda f: f(weights[..., None], torch.ones(2, 4).bool()),
        "dropout": lambda f: f(x, 0.5),
        "gaussian_window": lambda f: f(torch.ones(2), 4, 2),
        "gelu": lambda f: f(x),
        "gelu_sigmoid": lambda f: f(x),
        "gelu_tanh": lambda f: f(x),
        "general_score": lambda f: f(flat, x, torch.randn(6, 6)),
        "gumbel_max": lambda f: f(flat),
        "gumbel_noise": lambda f: f((2, 6)),
        "gumbel_softmax": lambda f: f(flat, 1.0),
        "layer_norm": lambda f: f(x, torch.ones(6), torch.zeros(6)),
        "length_mask": lambda f: f(lengths, 4),
        "log_softmax": lambda f: f(x),
        "pair_neighbours": lambda f: f(x, lengths),
        "patches": lambda f: f(torch.randn(1, 3, 4, 4), 2),
        "rms_norm": lambda f: f(x, torch.ones(6)),
        "rotate": lambda f: f(x, torch.arange(4.0)),
        "sequence_loss": lambda f: f(x, torch.ones(2, 4).long()),
        "shift_matrix": lambda f: f(1.0, 6),
        "silu": lambda f: f(x),
        "sinusoidal_encoding": lambda f: f(torch.arange(4.0), 6),
        "softmax": lambda f: f(x),
        "weighted_sum": lambda f: f(weights, x),
        "window_mask": lambda f: f(torch.ones(2), 1, 4),
        "Dropout": lambda f: f(0.5)(x),
        "FeedForward": lambda f: f(6, 12)(x),
        "LayerNorm": lambda f: f(6)(x),
        "RMSNorm": lambda f: f(6)(x),
        "MultiHeadAttention": lambda f: f(6, 2)(x),
        "Block": lambda f: f(6, 2, 12)(x),
        "LSTMCell": lambda f: f(6, 3)(flat, (flat[:, :3], flat[:, 3:])),
        "GRUCell": lambda f: f(6, 3)(flat, flat[:, :3]),
        "RNNCell": lambda f: f(6, 3)(flat, flat[:, :3]),
    }
    for name, call in calls.items():
        thing = getattr(functional, name, None) or getattr(seqcourse.nn, name)
        yield f"{thing.__module__}:{name}", lambda call=call, thing=thing: call(thing)


@pytest.fixture(scope="module")
def helped() -> dict[str, list[str]]:
    """What runs when each helper is called, by its name."""
    found = {}
    for name, call in helpers():
        with Watch() as watch:
            exec("call()", {"call": call})
        found[name] = list(watch.ran)
    return found


# ps6, with a whole Transformer, takes as long as all others together.
@pytest.mark.parametrize("assignment", nightly_but({*ASSIGNMENTS} - {"ps6"}, ASSIGNMENTS))
def test_a_right_answer_may_use_every_helper_that_is_not_named(assignment, helped):
    space = solved(assignment)
    for exercise in checks_of(assignment):
        entries = forbidden(assignment, exercise)
        named = {name for name in helped if any(covers(entry, name) for entry in entries)}
        ran = watched(assignment, exercise, space)
        for name, more in helped.items():
            assert any(one.startswith(name) for one in more), name
            sentence = said(exercise, [*ran, *more], entries)
            assert bool(sentence) == (name in named), (exercise, name, sentence)


X = torch.randn(2, 3, 4)
# Ways to call PyTorch's softmax, from the attacks on the analysis that stood here before.
SOFTMAX = """
torch.softmax(X, dim=-1)
X.softmax(-1)
F.softmax(X, -1)
nn.Softmax(dim=-1)(X)
nn.Softmin(dim=-1)(-X)
nn.Softmax2d()(X)
F.gumbel_softmax(X)
torch._softmax(X, -1, False)
torch.ops.aten._softmax(X, -1, False)
torch.ops.aten.softmax.int(X, -1)
torch.special.softmax(X, -1)
torch.Tensor.softmax(X, -1)
type(X).softmax(X, -1)
functional.softmax(X)
scipy.special.softmax(X.numpy(), -1)
getattr(torch, base64.b64decode('c29mdG1heA==').decode())(X, -1)
getattr(torch, codecs.decode('fbsgznk', 'rot13'))(X, -1)
vars(torch)['soft' 'max'](X, -1)
operator.attrgetter('nn.functional.softmax')(torch)(X, -1)
operator.methodcaller('softmax', -1)(X)
functools.partial(torch.softmax, dim=-1)(X)
list(map(torch.softmax, [X], [-1]))[0]
functools.reduce(getattr, ['nn', 'functional', 'softmax'], torch)(X, -1)
eval('torch.soft' + 'max(X, -1)')
(lambda s: s(X, -1))(torch.softmax)
type('A', (nn.Softmax,), {})(-1)(X)
torch.jit.CompilationUnit('def f(x):\\n    return x.softmax(-1)\\n').f(X)
torch.func.vmap(lambda x: x.softmax(-1))(X)
check.ps3.softmax.reference(X)
""".strip().splitlines()


@pytest.mark.parametrize("code", SOFTMAX)
def test_every_way_to_a_softmax_is_seen(code):
    setup = "import base64, codecs, functools, operator, scipy.special, torch\nfrom torch import nn\n"
    setup += "import torch.nn.functional as F\nfrom seqcourse import check, functional"
    space = {"X": X}
    exec(setup, space)
    with Watch() as watch:
        exec(code, space)
    assert said("softmax", watch.ran, ["softmax"])


HONEST = """
X.exp() / X.exp().sum(-1, keepdim=True)
torch.logsumexp(X, -1)
'softmax' in vars(torch)
torch.softmax
Own().softmax(X)
[own(y) for y in X]
Own.softmax_of * X
{'softmax': 1.0}['softmax'] * X
functional.length_mask(torch.tensor([2]), 3)
functional.attention(X, X, X)
functional.log_softmax(X)
nn.Linear(4, 4)(X).relu().sum().backward()
torch.linalg.norm(X).item()
""".strip().splitlines()


@pytest.mark.parametrize("code", HONEST)
def test_honest_code_passes(code):
    class Own:
        softmax_of = 1.0

        def softmax(self, x):
            return x.exp()

    def softmax(x):
        return x.exp()

    space = {"X": X, "torch": torch, "nn": nn, "functional": functional, "Own": Own, "own": softmax}
    with Watch() as watch:
        exec(code, space)
    assert (
        said("softmax", watch.ran, ["softmax", "torch.nn.functional.scaled_dot_product_attention"]) == ""
    )


@pytest.mark.parametrize(
    "code",
    [
        "torch.nn.MultiheadAttention(4, 1)(X, X, X)",
        "torch.nn.MultiheadAttention(4, 1).eval()(X, X, X)",
        "torch.nn.TransformerEncoderLayer(4, 1, 4).eval()(X)",
        "torch.nn.functional.scaled_dot_product_attention(X, X, X)",
        "torch.ops.aten.scaled_dot_product_attention(X, X, X)",
        "torch._scaled_dot_product_flash_attention_for_cpu(X[None], X[None], X[None])",
    ],
)
def test_ways_to_attention(code):
    for inference in (False, True):
        with torch.inference_mode(inference), Watch() as watch:
            exec(code, {"torch": torch, "X": torch.randn(2, 3, 4)})
        entries = ["scaled_dot_product_attention", "multi_head_attention_forward", "MultiheadAttention"]
        assert said("attention", watch.ran, entries)


def test_only_what_an_entry_names_is_told():
    with Watch() as watch:
        nn.LSTM(4, 4)(X)
    assert said("step", watch.ran, ["LSTM"]).startswith("step uses LSTM, which is to be built here.")
    assert said("step", ["torch:<b>softmax"], ["softmax"]) == ""
    assert said("step", ["evil.softmax:softmax"], ["softmax"]).startswith("step uses softmax, which")


@pytest.mark.parametrize(
    ("entry", "name", "covered"),
    [
        ("softmax", "torch:softmax", True),
        ("softmax", "scipy.special._logsumexp:softmax", True),
        ("softmax", "torch.nn.modules.activation:Softmax.forward", True),
        ("softmax", "torch.ops.aten:_safe_softmax", True),
        ("softmax", "torch.ops.aten:_log_softmax", False),
        ("softmax", "torch.ops.aten:_softmax_backward_data", False),
        ("softmax", "seqcourse.softmax:other", False),
        ("torch.softmax", "scipy.special:softmax", False),
        ("torch.softmax", "torch.ops.aten:_softmax", True),
        ("seqcourse.functional.softmax", "torch:softmax", False),
        ("seqcourse.functional.softmax", "seqcourse.functional.scores:softmax", True),
        ("seqcourse.decode.sample", "seqcourse.train.loop:sample", False),
        ("LSTMCell", "torch:lstm_cell", True),
        ("LSTM", "torch.ops.aten:mkldnn_rnn_layer", True),
        ("Block", "seqcourse.nn.blocks:Block.__init__", True),
        ("Block", "seqcourse.nn.blocks:FeedForward.forward", False),
        ("torch.optim.lr_scheduler", "torch.optim.lr_scheduler:LambdaLR.__init__", True),
        ("layer_norm", "torch.ops.aten:native_layer_norm", True),
        ("softmax", "unseen:thread", False),
    ],
)
def test_what_an_entry_means(entry, name, covered):
    assert covers(entry, name) is covered


def test_what_a_helper_of_the_package_runs_is_its_own_business():
    entries = ["scaled_dot_product_attention"]
    with Watch() as watch:
        functional.attention(X, X, X)
    assert not said("x", watch.ran, entries)
    with Watch() as watch:
        functional.attention(X, X, X)
        scaled_dot_product_attention(X, X, X)
    assert said("x", watch.ran, entries)


def test_an_answer_s_own_code_counts_also_where_a_helper_calls_it():
    with Watch() as watch:
        block = seqcourse.nn.Block(4, 2, 8)
        block.register_forward_hook(lambda *_: torch.softmax(X, -1))
        block(X)
    assert said("x", watch.ran, ["softmax"])


def test_what_is_handed_to_an_answer_does_not_count():
    model = nn.Softmax(-1)
    step = paused(lambda x: torch.softmax(x, -1))
    assert paused(model) is model
    with Watch() as watch:
        step(X), model(X)
    assert not said("x", watch.ran, ["torch.softmax"])
    with Watch() as watch:
        step(X)
        torch.softmax(X, -1)
    assert said("x", watch.ran, ["softmax"])


def test_an_error_in_something_handed_over_ends_the_pause():
    step = paused(lambda: 1 / 0)
    with Watch() as watch:
        with pytest.raises(ZeroDivisionError):
            step()
        torch.softmax(X, -1)
    assert said("x", watch.ran, ["softmax"])


def test_an_answer_may_not_pause_by_itself():
    with Watch() as watch:
        paused(lambda: torch.softmax(X, -1))()
    assert "unseen:tracing" in watch.ran and said("x", watch.ran, ["softmax"])


def _in_a_thread():
    thread = threading.Thread(target=torch.softmax, args=(X, -1))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("hides", "words"),
    [
        (_in_a_thread, "starts a thread"),
        (lambda: subprocess.run(["true"]), "starts a process"),
        (lambda: importlib.import_module("ctypes").CDLL(None), "through ctypes"),
        (lambda: sys.setprofile(None), "how Python's calls are traced"),
        (lambda: sys.settrace(None), "how Python's calls are traced"),
    ],
)
def test_what_hides_from_the_record_is_refused_where_something_is_forbidden(hides, words):
    trace = sys.gettrace()
    with Watch() as watch:
        hides()
    sys.settrace(trace)
    assert words in said("x", watch.ran, ["softmax"])
    assert said("x", watch.ran, []) == ""


def test_a_progress_bar_hides_nothing():
    with Watch() as watch:
        list(tqdm(range(3), disable=False))
    assert not said("x", watch.ran, ["softmax"])


def test_a_reference_is_refused_whatever_is_forbidden():
    with Watch() as watch:
        ps3.softmax.reference(X)
    assert "the answer that the self-check compares with" in said("context", watch.ran, ())


def test_what_a_check_itself_calls_is_no_use_of_the_answer_s():
    with Watch() as watch:
        record(lambda x: x * 2, {"x": X}, gradient=["x"])
    assert not said("x", watch.ran, ["numel", "parameters"])
    with Watch() as watch:
        record(
            torch.lstm_cell,
            {"x": X[0], "state": (X[0], X[0]), "w": torch.ones(16, 4), "u": torch.ones(16, 4)},
        )
    assert said("x", watch.ran, ["lstm_cell"])


def test_the_profiler_that_was_there_before_comes_back():
    before = sys.getprofile()
    profiler = lambda *_: None  # noqa: E731
    sys.setprofile(profiler)
    try:
        with pytest.raises(ValueError, match="mine"), Watch():
            raise ValueError("mine")
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(before)


def test_a_replaced_profiler_of_the_module_changes_nothing(monkeypatch):
    monkeypatch.setattr(sys, "setprofile", lambda _: None)
    with Watch() as watch:
        functional.softmax(X)
    assert said("x", watch.ran, ["softmax"])


def test_a_compiled_answer_is_run_as_it_is_written():
    ran = []

    def backend(graph, inputs):
        ran.append("compiled")
        return graph.forward

    compiled = torch.compile(lambda scores: torch.softmax(scores, dim=-1), backend=backend)
    with Watch() as watch:
        found = compiled(X)
    assert torch.equal(found, torch.softmax(X, dim=-1)) and not ran
    assert BUILD in said("softmax", watch.ran, ["softmax"])
    compiled(X)
    assert ran == ["compiled"]
