"""Every model computes, learns, writes and is stored on a device that is not the CPU, with the CPU's
results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import is_dataclass
from inspect import isclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from seqcourse import CourseError, data, decode, models, settings, train, zoo
from seqcourse.audit.second import NAME, SecondTensor
from seqcourse.tokens import EOS
from seqcourse.zoo import storage
from tests.sizes import nightly_but

SIZES = (12, 9, 6, 8)
IDS, LENGTHS = torch.tensor([[4, 5, 6, 7], [8, 5, 0, 0]]), torch.tensor([4, 2])
MASK = IDS != 0
PICTURES = torch.randint(0, 256, (2, 3, 16, 16), generator=torch.manual_seed(0), dtype=torch.uint8)
IMAGES = torch.randn(2, 1, 12, 12, generator=torch.manual_seed(0))
GRIDS = torch.randn(2, 9, 8, generator=torch.manual_seed(0))
FRAMES = torch.randn(2, 8, 5, generator=torch.manual_seed(0))
FEATURES = torch.randn(2, 5, 3, 3, generator=torch.manual_seed(0))
RGB = torch.randn(2, 3, 32, 32, generator=torch.manual_seed(0))
CAPTIONER = {"embed_size": 8, "hidden_size": 8, "width": 8, "size": 16}


def gpt(**options) -> models.GPT:
    return models.GPT(12, 8, 2, 2, longest=12, **options)


def bert() -> models.BERT:
    return models.BERT(12, 8, 2, 2, longest=12)


PAIRS = (IDS, LENGTHS, IDS)
# A model, and what it reads.
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple]] = {
    "delayed": (lambda: models.DelayedModel(*SIZES), PAIRS),
    "fixed": (lambda: models.EncoderDecoder(*SIZES), PAIRS),
    "average": (lambda: models.EncoderDecoder(*SIZES, context="average"), PAIRS),
    "attention": (lambda: models.AttentionSeq2Seq(*SIZES, dropout=0.2), PAIRS),
    "general": (lambda: models.AttentionSeq2Seq(*SIZES, heads=2, score="general"), PAIRS),
    "local": (
        lambda: models.AttentionSeq2Seq(*SIZES, window=2, score="dot", bidirectional=False),
        PAIRS,
    ),
    "transformer": (lambda: models.Transformer(12, 9, 8, 2, 2, dropout=0.2), PAIRS),
    "speller": (
        lambda: models.Speller(9, input_size=5, listen_size=6, spell_size=8, embed_size=4),
        (FRAMES, torch.tensor([8, 5]), IDS),
    ),
    "speller, transformer": (
        lambda: models.TransformerSpeller(9, 8, 2, 2, input_size=5, listen_size=6),
        (FRAMES, torch.tensor([8, 5]), IDS),
    ),
    "captions, fixed": (lambda: models.FixedCaptioner(13, **CAPTIONER), (PICTURES, None, IDS)),
    "captions, soft": (
        lambda: models.SoftCaptioner(13, **CAPTIONER, first="learned"),
        (PICTURES, None, IDS),
    ),
    "captions, hard": (lambda: models.HardCaptioner(13, 8, 8, 8, size=16), (PICTURES, None, IDS)),
    "captions, transformer": (
        lambda: models.TransformerCaptioner(13, 8, 2, 2, size=16),
        (PICTURES, None, IDS),
    ),
    "captions of features": (
        lambda: models.FeatureCaptioner(9, 8, 8, width=8, side=3, channels=5, kept=4),
        (FEATURES, None, IDS),
    ),
    "characters, rnn": (lambda: models.CharLM(12, 4, 6, kind="rnn"), (IDS,)),
    "characters, lstm": (lambda: models.CharLM(12, 4, 6, kind="lstm"), (IDS,)),
    "gpt": (lambda: gpt(dropout=0.2), (IDS,)),
    "gpt, sinusoidal": (lambda: gpt(positions="sinusoidal", norm="post"), (IDS,)),
    "today": (lambda: models.GPT(12, 8, 2, 2, groups=1, hidden=12, **models.TODAY), (IDS,)),
    "bert": (bert, (IDS, MASK, MASK.long())),
    "speller, CTC": (
        lambda: models.CTCSpeller(9, input_size=5, listen_size=6),
        (FRAMES, torch.tensor([8, 5])),
    ),
    "classifier, gpt": (lambda: models.Classifier(gpt(), 3), (IDS, LENGTHS)),
    "classifier, bert": (lambda: models.Classifier(bert(), 3), (IDS, LENGTHS)),
    "vit": (lambda: models.ViT(5, size=12, patch=4, width=8, heads=2, layers=2), (IMAGES,)),
    "convolutions": (lambda: models.ConvNet(5, stages=[4, 8]), (IMAGES,)),
    "two streams": (
        lambda: models.TwoStream(12, 5, width=8, heads=2, layers=2, size=16, channels=[4, 8]),
        (PICTURES, IDS, LENGTHS),
    ),
    "streams apart": (
        lambda: models.TwoStream(12, 5, fusion="apart", width=8, heads=2, size=16, channels=[4, 8]),
        (PICTURES, IDS, LENGTHS),
    ),
    "pair of encoders": (lambda: models.ContrastivePair(12, width=8, heads=2), (GRIDS, IDS, LENGTHS)),
    "pair of scenes": (
        lambda: models.ScenePair(12, width=8, heads=2, size=16, channels=[4, 8]),
        (PICTURES, IDS, LENGTHS),
    ),
    "names of a grid": (lambda: models.GridNamer(5, width=8, size=16, channels=[4, 8]), (PICTURES,)),
    "efficientnet": (lambda: models.EfficientNetLite0(10), (RGB,)),
}
WRITING = list(MODELS)[: list(MODELS).index("bert")]  # those that follow do not write word by word
ALWAYS = ["attention", "transformer", "captions, hard", "classifier, gpt"]


def moved(inputs: tuple, device: str) -> list:
    return [each.to(device) if isinstance(each, Tensor) else each for each in inputs]


def both(name: str) -> tuple[nn.Module, nn.Module]:
    """The same model on the CPU and on the second device."""
    torch.manual_seed(0)
    model = MODELS[name][0]().eval()
    return model, copy.deepcopy(model).to(NAME)


def tensors(output: object) -> list[Tensor]:
    """The tensors of floating point in what a model gives."""
    if isinstance(output, Tensor):
        return [output] if output.is_floating_point() else []
    if is_dataclass(output):
        output = list(vars(output).values())
    parts = output if isinstance(output, list | tuple) else []
    return [each for part in parts for each in tensors(part)]


def test_no_model_is_left_out():
    made = {type(make()).__name__ for make, _ in MODELS.values()}
    classes = {name for name in models.__all__ if isclass(getattr(models, name))}
    are_modules = {name for name in classes if issubclass(getattr(models, name), nn.Module)}
    assert are_modules - made == {"Seq2Seq", "Writer"}  # the frames of five of them


@pytest.mark.parametrize("name", nightly_but(ALWAYS, MODELS))
def test_forward_backward_and_storing(name, tmp_path):
    cpu, second = both(name)
    found = {}
    for device, model in (("cpu", cpu), (NAME, second)):
        outputs = tensors(model(*moved(MODELS[name][1], device)))
        sum((each**2).sum() for each in outputs).backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        assert all(isinstance(each, SecondTensor) is (device == NAME) for each in (*outputs, *grads))
        found[device] = [each.detach().cpu() for each in (*outputs, *grads)]
    for ours, theirs in zip(found[NAME], found["cpu"], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    storage.write_weights(tmp_path, second.state_dict())
    second.load_state_dict(storage.read_weights(tmp_path))
    second.train()(*moved(MODELS[name][1], NAME))  # with dropout and draws


@pytest.mark.parametrize("name", nightly_but(ALWAYS, WRITING))
def test_decoding(name):
    found = []
    for model, device in zip(both(name), ("cpu", NAME), strict=True):
        inputs, options = moved(MODELS[name][1], device), {"max_len": 6}
        if len(inputs) == 1:
            memory, options = None, {**options, "prefix": [4, 5], "batch_size": 2}
        else:
            memory = model.encode(*inputs[:2])
        made = torch.Generator(device).manual_seed(0)
        hypotheses = [
            *decode.greedy(model, memory, **options),
            *(each for beam in decode.beam_search(model, memory, 3, **options) for each in beam),
            *decode.sample(model, memory, generator=made, top_k=7, top_p=0.9, **options),
            *decode.greedy(model, memory, forbid=(EOS,), **options),
        ]
        written = [each.tokens for each in hypotheses[:2]]
        prefix = {"prefix": options["prefix"]} if memory is None else {}
        scores = decode.score(model, memory, written, **prefix)
        numbers = [*scores.tolist(), *(each.log_prob for each in hypotheses)]
        found.append(([each.tokens for each in hypotheses], numbers))
    assert found[0][0] == found[1][0]
    assert found[1][1] == pytest.approx(found[0][1], abs=1e-3)


def fitted(folder: Path, stop_at: int | None = None, resume: bool = False) -> train.Trainer:
    """Three epochs; the validation after epoch number ``stop_at`` is interrupted."""
    settings.seed_everything(0)
    model = models.AttentionSeq2Seq(12, 12, 8, 12, dropout=0.2)
    config = train.TrainingConfig(epochs=3, learning_rate=1e-2, save_every=3)
    batches = data.Batches(*data.copy_task(64, 4, symbols=8, seed=0), batch_size=16)
    trainer = train.Trainer(model, train.teacher_forcing_loss, config, folder)
    held_out = next(iter(batches))

    def validate(model: nn.Module) -> float:
        if trainer.epoch == stop_at:
            raise KeyboardInterrupt
        return train.teacher_forcing_loss(model, held_out.to(settings.device())).item()

    trainer.fit(batches, validate, resume=resume)
    return trainer


def test_training_and_going_on_from_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setenv(settings.DEVICE_VARIABLE, NAME)
    calm = fitted(tmp_path / "calm")
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "stopped", stop_at=2)
    again = fitted(tmp_path / "stopped", resume=True)
    assert again.history.step_losses == calm.history.step_losses
    assert again.history.valid == calm.history.valid
    assert calm.history.epoch_losses[-1] < calm.history.epoch_losses[0]
    for one, two in zip(calm.model.parameters(), again.model.parameters(), strict=True):
        assert isinstance(one, SecondTensor) and torch.equal(one, two)


@pytest.mark.parametrize("name", nightly_but(["g2p-transformer"], zoo.names()))
def test_a_checkpoint_of_the_zoo_is_loaded_there(name, monkeypatch):
    """And computes what it does on the CPU, as far as its first numbers tell."""
    monkeypatch.setenv(settings.DEVICE_VARIABLE, NAME)
    there = zoo.load(name)
    monkeypatch.setenv(settings.DEVICE_VARIABLE, "cpu")
    here = zoo.load(name)
    assert there.device.type == NAME
    for one, two in zip(there.model.parameters(), here.model.parameters(), strict=True):
        assert torch.equal(one.cpu(), two)


TEXTS = {"en-es-attention": "Where is the station?", "en-es-transformer": "I am tired."}


@pytest.mark.parametrize("name", TEXTS)
def test_a_translator_says_there_what_it_says_here(name, monkeypatch):
    said = []
    for device in ("cpu", NAME):
        monkeypatch.setenv(settings.DEVICE_VARIABLE, device)
        best = zoo.load(name).translate([TEXTS[name]], beam=3)[0]
        said.append((best.text, best.weights.shape))
    assert said[0] == said[1]


def test_gpt_writes_on_there(monkeypatch):
    found = []
    for device in ("cpu", NAME):
        monkeypatch.setenv(settings.DEVICE_VARIABLE, device)
        found.append(zoo.load("books-gpt").generate("The ", 20, 0.8, seed=1))
    assert found[0] == found[1] and len(found[0]) > 4


@pytest.mark.parametrize("wanted", ["elsewhere", "meta"])
def test_other_names_are_no_devices(wanted, monkeypatch):
    monkeypatch.setenv(settings.DEVICE_VARIABLE, wanted)
    with pytest.raises(CourseError, match="should be 'cpu'"):
        settings.device()
