"""`seqcourse eject`: one file of the student's own parts, which trains with PyTorch alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from seqcourse import functional as F
from seqcourse.cli.app import app
from seqcourse.errors import CourseError
from seqcourse.publish import eject, torch_only

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"


def changed(folder: Path, name: str, old: str, new: str) -> None:
    """A copy of a solution with another line in its cells."""
    text = (SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace(old, new).splitlines(keepends=True)
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def ejected(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("ejected") / "mine.py"
    eject.eject(SOLUTIONS, path)
    return path


def test_the_file_needs_only_pytorch_and_is_short(ejected):
    text = ejected.read_text(encoding="utf-8")
    tree = ast.parse(text)
    imported = {a.name.split(".")[0] for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    imported |= {n.module.split(".")[0] for n in tree.body if isinstance(n, ast.ImportFrom)}
    assert imported <= {"torch", "math", "sys", "collections"}
    assert len(text.splitlines()) < 300 and "SOLUTION" not in text
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    order = ("attention", "encoder_block", "Transformer", "train_step", "translate", "main")
    assert [name for name in names if name in order] == list(order)


def test_it_trains_and_translates_where_the_course_is_not(ejected, tmp_path):
    first, last = eject.tried(ejected, steps=100)
    assert last < first / 3
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("one\tuno\ntwo\tdos\n", encoding="utf-8")
    without = "import sys, runpy; sys.modules['seqcourse'] = None; sys.argv = sys.argv[1:];"
    run = [sys.executable, "-c", f"{without} runpy.run_path(sys.argv[0], run_name='__main__')"]
    done = subprocess.run([*run, str(ejected), str(pairs), "60"], capture_output=True, text=True)
    assert "one -> uno" in done.stdout and "two -> dos" in done.stdout, done.stderr


@pytest.mark.nightly
def test_the_command_says_what_it_wrote_and_overwrites_nothing(tmp_path, monkeypatch):
    for name in ("ps5", "ps6"):
        (tmp_path / f"{name}.ipynb").write_bytes((SOLUTIONS / name / f"{name}.ipynb").read_bytes())
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["eject"])
    assert done.exit_code == 0 and "own_transformer.py" in done.output
    assert "lines that need only PyTorch" in done.output
    again = CliRunner().invoke(app, ["eject"])
    assert isinstance(again.exception, CourseError) and "is there already" in str(again.exception)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            "ps6",
            "losses = -(1 - epsilon)",
            "raise NotImplementedError()\n    losses = -(1 - epsilon)",
            "loss",
        ),
        ("ps6", "n = norms[0](x)", "n = functional.rms_norm(x, x)", "functional.rms_norm, which needs"),
        (
            "ps6",
            "causal = functional.causal_mask",
            "causal_mask = functional.causal_mask",
            "decoder_block calls something of its own causal_mask",
        ),
        (
            "ps6",
            "def label_smoothed_loss(logits, targets, epsilon, pad):",
            "padded = 1\n\n\ndef label_smoothed_loss(logits, targets, epsilon, pad, first=padded):",
            "padded would be in the file twice",
        ),
        (
            "ps6",
            "from torch import nn",
            "from torch import nn\nfrom seqcourse.nn import Block as nn",
            "nn.Block",
        ),
    ],
)
def test_what_is_not_there_is_named(name, old, new, said, tmp_path):
    changed(tmp_path, name, old, new)
    with pytest.raises(CourseError, match=said):
        eject.source(tmp_path)


@pytest.mark.nightly
def test_another_name_of_a_room_and_no_answers_of_assignment_5(tmp_path):
    changed(tmp_path, "ps6", "functional", "F")
    notebook = json.loads((tmp_path / "ps6.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("data, F,", "data, functional as F,")
    (tmp_path / "ps6.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    path = tmp_path / "mine.py"
    eject.eject(tmp_path, path)
    assert "F.attention" not in path.read_text(encoding="utf-8")
    eject.tried(path, steps=10)


CALL = "functional.attention(q, k, v, mask[..., None, :, :])"
CALLS = {
    "functional.attention(need_weights=True, q=q, k=k, v=v, mask=mask[:, None])": "attention(q=q, k=k",
    "functional.attention(q, k, v,  # a, b\n mask[..., None, :, :], need_weights=True)": "None, :, :])",
    "functional.attention(q, k, v, mask[..., None, :, :], dropout=0.0)": "dropout > 0",  # the course's
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_becomes_one_that_the_students_own_takes(call, tmp_path):
    assert CALL in (SOLUTIONS / "ps6/ps6.ipynb").read_text(encoding="utf-8")
    changed(tmp_path, "ps6", CALL, call)
    changed(tmp_path, "ps5", "", "")
    text = eject.source(tmp_path)
    compile(text, "mine.py", "exec")
    assert CALLS[call] in text and "causal_mask(y.shape[1]).to(y.device)" in text


def test_a_name_of_a_room_may_be_a_local_one(tmp_path):
    old = "    losses = -(1 - epsilon)"
    changed(tmp_path, "ps6", old, f"    zoo = log_p\n    zoo.mean()\n{old}")
    assert "zoo.mean()" in eject.source(tmp_path)


def test_the_file_is_read_as_it_is_written_on_windows(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    said = 'print("loss 2.5 ni\u00f1a")\nprint("loss 1.5 a\u00f1o")\n'
    (tmp_path / "mine.py").write_text(said, encoding="utf-8")
    assert eject.tried(tmp_path / "mine.py") == (2.5, 1.5)


def test_a_file_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(eject, "LONGEST_TRY", 1)
    (tmp_path / "mine.py").write_text("while True:\n    pass\n", encoding="utf-8")
    with pytest.raises(CourseError, match="did not end within 1 seconds"):
        eject.tried(tmp_path / "mine.py")


def test_the_short_forms_compute_what_the_course_does():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 5, 4) for _ in range(3))
    mask = torch.rand(2, 1, 5, 5) > 0.4
    for options in ({}, {"mask": mask}, {"causal": True}, {"mask": mask, "causal": True}):
        ours, theirs = (f.attention(q, k, v, need_weights=True, **options) for f in (torch_only, F))
        torch.testing.assert_close(ours, theirs)
    lengths = torch.tensor([2, 5])
    assert torch.equal(torch_only.length_mask(lengths, 5), F.length_mask(lengths, 5))
    assert torch.equal(torch_only.causal_mask(3, 2), F.causal_mask(3, 2))
    torch.testing.assert_close(torch_only.sinusoidal_encoding(7, 6), F.sinusoidal_encoding(7, 6))
    gamma, beta = torch.randn(4), torch.randn(4)
    torch.testing.assert_close(torch_only.layer_norm(q, gamma, beta), F.layer_norm(q, gamma, beta, 1e-5))
    for room, names in eject.FORMS.items():
        assert room == "data" or all(hasattr(torch_only, name) for name in names)
