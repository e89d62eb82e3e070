"""From one sequence to another: translation and pronunciation."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.train import TrainingConfig
from seqcourse.zoo.recipes.ingredients import Recipe

_TRANSLATOR = {"embed_size": 192, "hidden_size": 256, "dropout": 0.3}
_TRANSLATION = TrainingConfig(
    epochs=12, learning_rate=2e-3, warmup_steps=400, decay="linear", precision="fast"
)

RECIPES = (
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
        options={
            "scores": {"rates": [5e-3, 1e-2, 2e-2], "choose": [101], "seeds": [0, 1, 2], "steps": 1000},
            "ahead": {"of": "en-es-fixed"},
        },
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
            "ahead": {"of": "en-es-attention"},
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
)
