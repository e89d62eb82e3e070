"""What is heard or seen: spoken digits, scenes, photographs, clothes."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.train import TrainingConfig
from seqcourse.zoo.recipes.ingredients import Recipe

# Pictures per kind on which the measurement trains new models of these recipes.
_CLOTHES = {
    "few": {
        "pictures": [4, 10, 40, 100, 400],
        "steps": 300,
        "rates": [1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2],
        "choose": [101],
        "seeds": [0, 1, 2],
    }
}
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

RECIPES = (
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
        },
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
            "sizes": {"width": 64, "heads": 4, "layers": 2, "hidden": 96},
            "ways": {
                "rates": [5e-4, 1e-3, 2e-3, 4e-3],
                "choose": [101],
                "seeds": [0, 1, 2],
                "epochs": 8,
                "patience": 2,
            },
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
