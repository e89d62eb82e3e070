"""How each checkpoint of the course is made: data, model, training, seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.train import TrainingConfig


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a checkpoint.

    Attributes:
        name: the argument of ``zoo.load``.
        about: one sentence for people.
        task: "translation", "pronunciation", "characters" ..., see :mod:`seqcourse.zoo.tasks`.
        data: what the task should load.
        model: name of a class of :mod:`seqcourse.models`.
        sizes: its arguments besides the vocabularies' sizes.
        training: how long and how fast.
        batch_size: sentences, or pieces of text, per step.
        label_smoothing: epsilon of the loss.
        seed: of the start, the order of the batches and dropout.
        options: settings of this task only: ``length`` of a piece of text for language models, size of
            a subword ``vocabulary``, ``beams`` to measure a translator with.
    """

    name: str
    about: str
    task: str
    data: str
    model: str
    sizes: dict[str, Any]
    training: TrainingConfig
    batch_size: int
    label_smoothing: float = 0.0
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)


_TRANSLATOR = {"embed_size": 192, "hidden_size": 256, "dropout": 0.3}
_TRANSLATION = TrainingConfig(
    epochs=12, learning_rate=2e-3, warmup_steps=400, decay="linear", precision="fast"
)
# Pictures per kind on which the measurement trains new models of these recipes.
_CLOTHES = {"curve": [4, 10, 40, 100], "curve_steps": 150}
_TWO_STREAM = {"width": 64, "heads": 4, "layers": 2, "hidden": 96, "channels": [16, 32, 64]}
_QUESTIONS = TrainingConfig(
    epochs=8, learning_rate=2e-3, warmup_steps=100, decay="cosine", weight_decay=0.02
)
# Training scenes, epochs that train the regions only, and the later weight of the regions' loss.
_SCENES = {"scenes": 8_000, "first": 6, "regions": 0.5}
_CAPTIONER = {"embed_size": 96, "hidden_size": 128, "width": 96}
_CAPTIONING = TrainingConfig(
    epochs=8, learning_rate=1.5e-3, warmup_steps=200, decay="linear", precision="no"
)

_ALL = (
    Recipe(
        name="en-es-fixed",
        about="English to Spanish through one fixed context vector, without attention",
        task="translation",
        data="en-es",
        model="EncoderDecoder",
        sizes={**_TRANSLATOR, "context": "separate"},
        training=_TRANSLATION,
        batch_size=128,
        options={"beams": [1, 2, 3, 5, 10, 20]},
    ),
    Recipe(
        name="en-es-attention",
        about="English to Spanish with the additive attention of Bahdanau et al. (2015)",
        task="translation",
        data="en-es",
        model="AttentionSeq2Seq",
        sizes=_TRANSLATOR,
        training=_TRANSLATION,
        batch_size=128,
    ),
    Recipe(
        name="en-es-transformer",
        about="English to Spanish with a Transformer as large as the recurrent model with attention",
        task="translation",
        data="en-es",
        model="Transformer",
        sizes={"width": 192, "heads": 4, "layers": 2, "hidden": 640, "dropout": 0.2},
        training=TrainingConfig(
            epochs=20, learning_rate=2e-3, warmup_steps=1000, decay="linear", precision="fast"
        ),
        batch_size=128,
        label_smoothing=0.1,
        options={
            "race": {
                "seeds": [0, 1, 2],
                "longest": 5,
                "steps": 800,
                "rate": 5e-3,
                "recurrent_rate": 1e-2,
            },
            "heads": {"draws": 1000},
            "positions": {
                "rates": [2.5e-3, 5e-3, 1e-2, 2e-2],
                "choose": [101],
                "seeds": [0, 1, 2],
                "steps": 1600,
            },
        },
    ),
    Recipe(
        name="en-es-subwords",
        about="English to Spanish with a Transformer on subwords: sentences of any length, any word",
        task="subword translation",
        data="en-es",
        model="Transformer",
        sizes={"width": 160, "heads": 4, "layers": 2, "hidden": 512, "dropout": 0.1},
        training=TrainingConfig(
            epochs=5, learning_rate=2e-3, warmup_steps=1000, decay="linear", precision="fast"
        ),
        batch_size=128,
        label_smoothing=0.1,
        options={"vocabulary": 2500},
    ),
    Recipe(
        name="en-fr-attention",
        about="English to French with the additive attention of Bahdanau et al. (2015)",
        task="translation",
        data="en-fr",
        model="AttentionSeq2Seq",
        sizes=_TRANSLATOR,
        training=replace(_TRANSLATION, epochs=8),
        batch_size=128,
    ),
    Recipe(
        name="g2p-transformer",
        about="English spelling to phonemes with a Transformer",
        task="pronunciation",
        data="cmudict",
        model="Transformer",
        sizes={"width": 128, "heads": 4, "layers": 4, "hidden": 512, "dropout": 0.1},
        training=TrainingConfig(
            epochs=44, learning_rate=2e-3, warmup_steps=1000, decay="linear", precision="bf16"
        ),
        batch_size=256,
        label_smoothing=0.1,
        options={
            "regimes": {
                "rates": [0.0025, 0.005, 0.01, 0.02],
                "choose": [101],
                "seeds": [1, 2, 3],
                "steps": 600,
                "every": 100,
            }
        },
    ),
    Recipe(
        name="char-alice",
        about="The next character of Alice's Adventures in Wonderland, by an LSTM",
        task="characters",
        data="alice",
        model="CharLM",
        sizes={"embed_size": 48, "hidden_size": 320, "dropout": 0.3},
        training=TrainingConfig(
            epochs=40, learning_rate=3e-3, warmup_steps=100, decay="linear", patience=4
        ),
        batch_size=16,
        options={
            "length": 96,
            "memory": {
                "lengths": [5, 10, 20, 40],
                "rates": [0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04],
                "choose": [100, 101, 102],
                "seeds": [0, 1, 2, 3, 4, 5],
            },
        },
    ),
    Recipe(
        name="alice-transformer",
        about="The next character of Alice's Adventures in Wonderland, by masked self-attention",
        task="characters",
        data="alice",
        model="GPT",
        sizes={
            "width": 96,
            "heads": 4,
            "layers": 4,
            "hidden": 400,
            "longest": 128,
            "dropout": 0.2,
            "soft_start": True,
        },
        training=TrainingConfig(
            epochs=40,
            learning_rate=0.005,
            warmup_steps=100,
            decay="cosine",
            precision="no",
            patience=6,
        ),
        batch_size=8,
        options={
            "length": 128,
            "norms": {
                "rates": [5e-4, 1e-3, 2e-3, 4e-3],
                "seeds": [0, 1, 2],
                "warmup": 100,
                "width": 32,
                "layers": 12,
                "steps": 160,
            },
            "parts": {
                "rates": [1e-3, 2e-3, 4e-3, 8e-3],
                "choose": [101],
                "seeds": [0, 1, 2, 3, 4, 5],
                "steps": 800,
                "every": 200,
                "windows": [16, 64, 128],
            },
        },
    ),
    Recipe(
        name="books-words",
        about="The next word of four children's books, by masked self-attention",
        task="words",
        data="children",
        model="GPT",
        sizes={"width": 96, "heads": 4, "layers": 3, "longest": 128, "dropout": 0.3},
        training=TrainingConfig(
            epochs=12,
            learning_rate=2e-3,
            warmup_steps=200,
            decay="linear",
            precision="fast",
            patience=3,
        ),
        batch_size=16,
        options={"length": 128},
    ),
    Recipe(
        name="books-gpt",
        about="A small GPT, pre-trained on four children's books in subwords",
        task="subwords",
        data="children",
        model="GPT",
        sizes={"width": 128, "heads": 4, "layers": 4, "longest": 128, "dropout": 0.2},
        training=TrainingConfig(
            epochs=20,
            learning_rate=2e-3,
            warmup_steps=200,
            decay="linear",
            precision="fast",
            patience=3,
        ),
        batch_size=16,
        options={
            "length": 128,
            "vocabulary": 2000,
            "authors": {
                "rates": [1e-4, 3e-4, 1e-3, 3e-3],
                "alphas": [0.03, 0.1, 0.3, 1.0, 3.0],
                "choose": [0, 1, 2],
                "seeds": [0, 1, 2, 3, 4, 5],
            },
            "pieces": {
                "entries": [57, 256, 1024, 4096],
                "rates": [2e-3, 5e-3, 1e-2, 2e-2, 4e-2],
                "choose": [101],
                "seeds": [0, 1, 2],
                "budget": 1.2e12,
            },
            "adapted": {
                "ranks": [1, 4, 16],
                "rates": [3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1],
                "choose": [101],
                "seeds": [0, 1, 2],
                "steps": 200,
            },
        },
    ),
    Recipe(
        name="induction",
        about="Rows of symbols that repeat themselves, read by two layers of attention alone",
        task="repeats",
        data="none",
        model="GPT",
        sizes={"width": 64, "heads": 4, "layers": 2, "hidden": 0, "positions": "rotary"},
        training=TrainingConfig(epochs=14, learning_rate=3e-3, warmup_steps=100, precision="no"),
        batch_size=32,
        options={
            "steps": 50,
            "controls": {
                name: {"seeds": [0, 1, 2], "rates": [1e-3, 3e-3, 6e-3], "changes": changes}
                for name, changes in {
                    "two layers": {},
                    "one layer": {"layers": 1},
                    "no positions": {"positions": "none"},
                    "sines": {"positions": "sinusoidal"},
                    "learned": {"positions": "learned", "longest": 64},
                }.items()
            },
        },
    ),
    Recipe(
        name="sums",
        about="Sums of two numbers below 100, learned from 400 of the 10,000",
        task="sums",
        data="none",
        model="GPT",
        sizes={"width": 64, "heads": 4, "layers": 2, "longest": 8},
        training=TrainingConfig(epochs=10, learning_rate=4e-3, warmup_steps=50, precision="no"),
        batch_size=128,
        seed=4,
        options={
            "steps": 50,
            "labels": 400,
            "verdicts": {
                "rates": [3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2],
                "betas": [0.5, 2.0, 8.0],
                "choose": [101, 102],
                "seeds": [0, 1, 2, 3, 4],
                "steps": 80,
                "new": 400,
            },
            "masked": {
                "rates": [5e-4, 1e-3, 2e-3, 4e-3, 8e-3],
                "choose": [101, 102],
                "seeds": [0, 1, 2, 3, 4],
            },
            "early": {
                "labels": 800,
                "epochs": 4,
                "rates": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
                "choose": [101, 102],
                "seeds": [0, 1, 2, 3, 4],
                "steps": 80,
            },
            "careless": {"rate": 1e-3, "seeds": [0, 1, 2, 3, 4], "steps": 80, "every": 10},
        },
    ),
    Recipe(
        name="books-bert",
        about="A small BERT, pre-trained on hidden words and pairs of sentences of children's books",
        task="masked",
        data="children",
        model="BERT",
        sizes={"width": 128, "heads": 4, "layers": 3, "longest": 64, "dropout": 0.1},
        training=TrainingConfig(
            epochs=24, learning_rate=1e-3, warmup_steps=400, decay="linear", precision="fast"
        ),
        batch_size=64,
        options={"length": 64},
    ),
    Recipe(
        name="digits-speller",
        about="Spoken digits, one to five in a string, spelt letter by letter (Chan et al. 2016)",
        task="speech",
        data="digits",
        model="Speller",
        sizes={"listen_size": 64, "spell_size": 128, "layers": 2, "dropout": 0.1},
        training=TrainingConfig(
            epochs=60, learning_rate=2e-3, warmup_steps=50, decay="linear", precision="no"
        ),
        batch_size=32,
        options={
            "count": 768,
            "speed": 0.15,
            "noise": 0.2,
            "grow": 2,
            "watch": [1, 2, 3, 4, 5, 6, 8, 10, 15, 25, 60],
            "spellers": {
                "rates": [2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2],
                "choose": [101],
                "seeds": [1, 2, 3],
                "epochs": 20,
            },
        },
    ),
    Recipe(
        name="captions-fixed",
        about="Captions of composed scenes from one fixed context, without attention",
        task="captions",
        data="scenes",
        model="FixedCaptioner",
        sizes=_CAPTIONER,
        training=_CAPTIONING,
        batch_size=32,
        options={"scenes": 24_000},
    ),
    Recipe(
        name="captions-soft",
        about="Captions of composed scenes with the soft attention of Xu et al. (2015)",
        task="captions",
        data="scenes",
        model="SoftCaptioner",
        sizes={**_CAPTIONER, "score_size": 64, "first": "learned"},
        training=_CAPTIONING,
        batch_size=32,
        options={"scenes": 24_000, "doubly": 0.005},
    ),
    Recipe(
        name="captions-hard",
        about="Captions of composed scenes by looking at one drawn place per word (hard attention)",
        task="captions",
        data="scenes",
        model="HardCaptioner",
        sizes={**_CAPTIONER, "score_size": 64, "first": "learned", "gradient": "straight"},
        training=_CAPTIONING,
        batch_size=32,
        options={"scenes": 24_000, "doubly": 0.005},
    ),
    Recipe(
        name="captions-transformer",
        about="Captions of composed scenes with a Transformer's decoder on the grid",
        task="captions",
        data="scenes",
        model="TransformerCaptioner",
        sizes={"width": 96, "heads": 4, "layers": 2, "hidden": 256},
        training=replace(_CAPTIONING, epochs=5),
        batch_size=32,
        options={"scenes": 24_000, "layers": True},
    ),
    Recipe(
        name="captions-photographs",
        about="Captions of real photographs with soft attention on the features of EfficientNet-lite0",
        task="familiar photographs",
        data="scenes",
        model="FeatureCaptioner",
        sizes={
            "embed_size": 64,
            "hidden_size": 96,
            "width": 96,
            "score_size": 48,
            "first": "learned",
            "kept": 256,
            "feature_dropout": 0.5,
            "dropout": 0.2,
        },
        training=TrainingConfig(
            epochs=12,
            learning_rate=2e-3,
            warmup_steps=100,
            decay="linear",
            weight_decay=0.02,
            precision="no",
        ),
        batch_size=32,
        options={"scenes": 4_000},
    ),
    Recipe(
        name="fashion-vit",
        about="Ten kinds of clothes by a small Vision Transformer",
        task="clothes",
        data="fashion-mnist",
        model="ViT",
        sizes={
            "classes": 10,
            "size": 28,
            "patch": 4,
            "width": 48,
            "heads": 4,
            "layers": 4,
            "hidden": 96,
        },  # fmt: skip
        training=TrainingConfig(
            epochs=20, learning_rate=2e-3, warmup_steps=60, decay="cosine", weight_decay=0.05
        ),
        batch_size=64,
        options=_CLOTHES,
    ),
    Recipe(
        name="fashion-cnn",
        about="Ten kinds of clothes by a convolutional network as large as the Vision Transformer",
        task="clothes",
        data="fashion-mnist",
        model="ConvNet",
        sizes={"classes": 10, "stages": [28, 56, 126]},
        training=TrainingConfig(
            epochs=20, learning_rate=3e-3, warmup_steps=60, decay="cosine", weight_decay=0.05
        ),
        batch_size=64,
        options=_CLOTHES,
    ),
    Recipe(
        name="questions",
        about="Questions about composed scenes, a stream for the picture and one for the words",
        task="questions",
        data="scenes",
        model="TwoStream",
        sizes={**_TWO_STREAM, "fusion": "co-attention"},
        training=_QUESTIONS,
        batch_size=64,
        options=_SCENES,
    ),
    Recipe(
        name="scenes-pair",
        about="How well a composed scene and a caption fit, by two encoders and their product",
        task="pairs of scenes",
        data="scenes",
        model="ScenePair",
        sizes={"width": 64, "heads": 4, "layers": 2, "hidden": 96, "channels": [16, 32, 64]},
        training=TrainingConfig(epochs=12, learning_rate=1e-3, warmup_steps=100, decay="linear"),
        batch_size=128,
        options={"scenes": 8_000},
    ),
    Recipe(
        name="questions-compared",
        about="The thing at each place of a scene's grid; on these grids ways to answer are compared",
        task="compared questions",
        data="scenes",
        model="GridNamer",
        sizes={"width": 64, "channels": [16, 32, 64]},
        training=replace(_QUESTIONS, epochs=6),
        batch_size=64,
        options={
            "scenes": 8_000,
            "seeds": [0],
            "epochs": 8,
            "patience": 2,
            "sizes": {"width": 64, "heads": 4, "layers": 2, "hidden": 96},
            "captioned": {
                "labelled": [250, 1000, 4000],
                "tuning": [
                    {"steps": 400, "rates": [5e-4, 1e-3, 2e-3, 4e-3, 8e-3]},
                    {"steps": 1600, "rates": [5e-4, 1e-3, 2e-3, 4e-3]},
                ],
                "choose": [101],
                "seeds": [1, 2, 3],
                "pretraining": {"epochs": 12, "rate": 2e-3},
            },
            "paired": {
                "rates": [5e-4, 1e-3, 2e-3, 4e-3],
                "choose": [101],
                "seeds": [0, 1, 2],
                "epochs": 12,
                "sizes": {"width": 64, "heads": 4, "layers": 2, "hidden": 96},
            },
        },
    ),
)
RECIPES = {recipe.name: recipe for recipe in _ALL}


def names() -> list[str]:
    """Names of all checkpoints."""
    return list(RECIPES)


def recipe(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        CourseError: if there is no such recipe.
    """
    if name not in RECIPES:
        raise CourseError(f"The zoo has no {name!r}. It has: {', '.join(RECIPES)}.")
    return RECIPES[name]
