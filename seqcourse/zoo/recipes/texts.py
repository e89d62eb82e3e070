"""One text or row of symbols, and what comes next in it or is hidden there."""

from __future__ import annotations

from seqcourse.train import TrainingConfig
from seqcourse.zoo.recipes.ingredients import Recipe

RECIPES = (
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
            epochs=40, learning_rate=0.005, warmup_steps=100, decay="cosine", precision="no", patience=6
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
            epochs=12, learning_rate=2e-3, warmup_steps=200, decay="linear", precision="fast", patience=3
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
            epochs=20, learning_rate=2e-3, warmup_steps=200, decay="linear", precision="fast", patience=3
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
)
