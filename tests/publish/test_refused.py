"""What cannot be published is named in a sentence, by its line where it is a line."""

from __future__ import annotations

import json

import pytest

from seqcourse.errors import CourseError
from seqcourse.publish import export, own_system, page, ready
from seqcourse.publish.contract import contract, settle
from seqcourse.publish.system import run
from tests.publish.notebooks import SYSTEMS, notebook

TRANSFORMER, RECURRENT = SYSTEMS["transformer"], SYSTEMS["recurrent"]
PLACE = "    x, y = model.place(model.read(source)), model.place(model.write(target))\n"
LINES = {
    "a look at a value": (
        PLACE,
        PLACE + "    y = y * 2 if y.sum() > 0 else y\n",
        "y.sum() > 0",
        "values",
    ),
    "a number of a tensor": (
        PLACE,
        PLACE + "    y = y[:, : int(lengths.max()) + 90]\n",
        "int(lengths.max())",
        "values",
    ),
    "a mask without its word": (", tgt_is_causal=True", "", "model.layer", "tgt_is_causal=True"),
    "packed": (
        "    memory, _ = model.encoder(model.read(source), lengths)\n",
        "    packed = nn.utils.rnn.pack_padded_sequence(model.read(source), lengths, batch_first=True)\n"
        "    memory, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)\n"
        "    memory = memory.repeat(1, 1, 2)\n",
        "nn.utils.rnn.pa",
        "packs by the values",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_cannot_be_exported_is_named(name, tmp_path):
    old, new, line, why = LINES[name]
    source = RECURRENT if name == "packed" else TRANSFORMER
    assert old in source
    system = own_system(notebook(tmp_path, source.replace(old, new)))
    with pytest.raises(CourseError, match="cannot be exported") as caught:
        export.program(contract(system), system.name)
    assert line in str(caught.value) and why in str(caught.value)
    assert "ps9.ipynb, in logits" in str(caught.value)


FORBIDDEN = (
    "    return model.out(model.layer(x, y, tgt_mask=ahead, tgt_is_causal=True, **hidden))",
    "    found = model.out(model.layer(x, y, tgt_mask=ahead, tgt_is_causal=True, **hidden))\n"
    "    return found.index_fill(-1, torch.tensor([0, 1, 3]), float('-inf'))",
)
WRONG = {
    "no contract": ("def words(", "def other(", "should define words"),
    "no task": ('TASK = "translator"', 'TASK = "poet"', "set TASK"),
    "no logits": ("def logits(", "def scores(", r"logits\(model, source, lengths, target\)"),
    "words of another kind": (
        "return model.en, model.es",
        "return model.en.tokens",
        "a pair of data.Voc",
    ),
    "another shape": ("hidden = {", "return model.out(y)[0]\n    hidden = {", r"should give \(1, 7"),
    "a look ahead": (
        "ahead = ~functional.causal_mask(target.shape[1])",
        "ahead = torch.zeros(target.shape[1], target.shape[1], dtype=torch.bool)",
        "look ahead",
    ),
    "an error": (PLACE, PLACE + "    x = x @ x\n", "logits of ps9.ipynb stopped with RuntimeError"),
}


def test_a_look_ahead_is_seen_beside_infinite_logits(tmp_path):
    old, new, said = WRONG["a look ahead"]
    path = notebook(tmp_path, TRANSFORMER.replace(*FORBIDDEN).replace(old, new))
    with pytest.raises(CourseError, match=said):
        contract(own_system(path))


def test_infinite_logits_are_json(tmp_path):
    made = contract(own_system(notebook(tmp_path, TRANSFORMER.replace(*FORBIDDEN))))
    found = json.loads(page._json(page._facts(made)), parse_constant=pytest.fail)
    assert [found["example"]["last"][k] for k in (0, 1, 3)] == [None] * 3


@pytest.mark.parametrize(
    ("maps", "said"),
    [
        ("torch.stack(maps, 1)[:, None].expand(-1, 4, -1, -1, -1)", "a row over what is read"),
        ("torch.stack(maps, 1)[..., :6, :]", "as many rows as columns"),
    ],
)
def test_maps_of_heads_or_of_no_square_are_refused(maps, said, tmp_path):
    source = SYSTEMS["captioner"].replace("torch.stack(maps, 1)\n", f"{maps}\n", 1)
    with pytest.raises(CourseError, match=said):
        contract(own_system(notebook(tmp_path, source)))


def test_a_loop_that_reads_its_padding_is_refused(tmp_path):
    source = RECURRENT.replace("model.read(source), lengths)", "model.read(source))")
    system = own_system(notebook(tmp_path, source))
    with pytest.raises(CourseError, match="when <pad> stands behind"):
        export.program(contract(system), system.name)


def test_a_students_spaces_and_a_model_in_an_object_change_nothing(tmp_path):
    source = TRANSFORMER.replace("data.detokenize(", "'  '.join(").replace('(ids), "es"', "(ids)")
    source = source.replace("return model.eval()", "return Held(model.eval(), model.en, model.es)")
    source = source.replace("    pad = ~", "    model = model.model\n    pad = ~")
    source += "class Held:\n    def __init__(self, *parts):\n"
    source += "        self.model, self.en, self.es = parts\n"
    system = own_system(notebook(tmp_path, source))
    made = contract(system)
    settle(made, system)
    assert "  " in system.say(["We need water"])[0] and made.agree == 8
    assert len(list(made.module.parameters()))


def test_an_error_of_the_students_translate_is_a_sentence(tmp_path):
    source = TRANSFORMER.replace("    texts = []\n", "    texts = [NEVER]\n")
    system = own_system(notebook(tmp_path, source))
    with pytest.raises(CourseError, match="translate of ps9.ipynb stopped with NameError.*in an if"):
        system.say(["We need water"])


def test_another_file_is_not_overwritten(tmp_path):
    there = tmp_path / "ps9.html"
    there.write_text("my notebook as HTML", encoding="utf-8")
    with pytest.raises(CourseError, match="was not written by"):
        page.publish(notebook(tmp_path, TRANSFORMER), there)
    assert there.read_text(encoding="utf-8") == "my notebook as HTML"


@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_the_contract_is_said(name, tmp_path):
    old, new, said = WRONG[name]
    path = notebook(tmp_path, TRANSFORMER, shown=TRANSFORMER.replace(old, new))
    with pytest.raises(CourseError, match=said):
        contract(own_system(path))


def test_a_bad_checkpoint(tmp_path):
    path = notebook(tmp_path, TRANSFORMER)
    held = tmp_path / "ps9.safetensors"
    whole = held.read_bytes()
    for data, said in (
        (b"", "breaks off"),
        (whole[:-7], "ps9.safetensors"),
        (b"PK\x03\x04" * 9, "pickle"),
    ):
        held.write_bytes(data)
        with pytest.raises(CourseError, match=said):
            own_system(path)
    notebook(tmp_path, RECURRENT)  # of another model
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    other = tmp_path / "other"
    other.mkdir()
    twin = notebook(other, TRANSFORMER)
    (other / "ps9.safetensors").write_bytes(held.read_bytes())
    with pytest.raises(CourseError, match="load, on ps9.safetensors, stopped with RuntimeError"):
        own_system(twin)
    held.unlink()
    with pytest.raises(CourseError, match="is not there"):
        own_system(path)
    with pytest.raises(CourseError, match="no such file"):
        own_system(tmp_path / "ps8.ipynb")


@pytest.mark.nightly
def test_the_small_check_needs_only_a_quick_training(tmp_path, monkeypatch, capsys):
    path = notebook(tmp_path, TRANSFORMER, quick=True)
    monkeypatch.chdir(tmp_path)
    ready(run(TRANSFORMER, "ps9.ipynb"))
    assert capsys.readouterr().out.startswith("Your model can become a page. On 8 of 8 inputs")
    assert own_system(path).is_quick


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    system = own_system(notebook(tmp_path, TRANSFORMER))
    made = contract(system)
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r'pip install "seqcourse\[publish\]"'):
        export.onnx(export.program(made, system.name), made, system.name)


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("ends", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_how_a_sentence_ends_is_found_out(ends, stops, tmp_path):
    """A student's function may end what it reads with <eos>, with a full stop, with both, with none."""
    source = TRANSFORMER.replace("ENDS, LIMIT = False", f"ENDS, LIMIT = {ends}")
    if stops:
        tokens = "data.tokenize(sentence)"
        dotted = f"{tokens} + ['.'] * (sentence[-1] not in '.?!')"
        source = source.replace(tokens, dotted)
    system = own_system(notebook(tmp_path, source))
    made = contract(system)
    settle(made, system)
    assert made.agree == made.tried == 8
