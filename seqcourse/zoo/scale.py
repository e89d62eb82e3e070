"""Shapes of historic models, and what their papers report."""

from __future__ import annotations

from dataclasses import dataclass, field

from seqcourse.models.counting import Shape, count_parameters


@dataclass(frozen=True)
class Reported:
    """One published model.

    Attributes:
        name: of the model.
        year: of the paper.
        shape: from the paper or its code.
        millions: parameters as the paper reports them.
        data: what it read.
        training: hardware and duration, as far as they are published.
        gap: how the counted and the reported number differ, and why.
        more: parameters that ``Shape`` does not cover, by name.
    """

    name: str
    year: int
    shape: Shape
    millions: float
    data: str
    training: str
    gap: str
    more: dict[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """Parameters by the formulas."""
        return sum(count_parameters(self.shape).values()) + sum(self.more.values())

    @property
    def rule_of_thumb(self) -> int:
        r"""The blocks alone, as if each had :math:`12 D^2` parameters."""
        return 12 * self.shape.layers * self.shape.width**2


def _translator(width: int, heads: int) -> Shape:
    return Shape(
        kind="encoder-decoder",
        layers=6,
        width=width,
        heads=heads,
        hidden=4 * width,
        vocabulary=37_000,
        norm="post",
    )


def _encoder(layers: int, width: int, heads: int, **more: object) -> Shape:
    made = dict(
        kind="encoder-only",
        layers=layers,
        width=width,
        heads=heads,
        hidden=4 * width,
        norm="post",
        embedding_norm=True,
        word_head=True,
        output_bias=True,
    )
    return Shape(**{**made, **more})


def _bert(layers: int, width: int, heads: int) -> Shape:
    return _encoder(
        layers, width, heads, vocabulary=30_522, positions=512, segments=2, pooler=True, classes=2
    )


def _decoder(layers: int, width: int, heads: int, **more: object) -> Shape:
    made = dict(layers=layers, width=width, heads=heads, hidden=4 * width, vocabulary=50_257)
    return Shape(**{**made, **more})


REPORTED = (
    Reported(
        "Transformer base",
        2017,
        _translator(512, 8),
        65,
        "4.5 M sentence pairs",
        "8 P100, 12 hours",
        "The paper says about 37,000 pieces; 65 M would need 40,700 of them.",
    ),
    Reported(
        "Transformer big",
        2017,
        _translator(1024, 16),
        213,
        "4.5 M sentence pairs",
        "8 P100, 3.5 days",
        "With 37,000 pieces it is 214 M; no one vocabulary gives both figures of the paper.",
    ),
    Reported(
        "GPT",
        2018,
        _decoder(12, 768, 12, vocabulary=40_478, positions=512, norm="post"),
        117,
        "BooksCorpus, 0.8 G words",
        "8 GPUs, 1 month",
        "The figure is that of the GPT-2 paper for a model of the same shape.",
    ),
    Reported(
        "BERT base",
        2018,
        _bert(12, 768, 12),
        110,
        "books and Wikipedia, 3.3 G words",
        "16 TPU chips, 4 days",
        "None: with both heads of the pre-training it is 110.1 M.",
    ),
    Reported(
        "BERT large",
        2018,
        _bert(24, 1024, 16),
        340,
        "books and Wikipedia, 3.3 G words",
        "64 TPU chips, 4 days",
        "Reported in round numbers; the published weights hold 336 M.",
    ),
    Reported(
        "XLNet large",
        2019,
        _encoder(24, 1024, 16, vocabulary=32_000, embedding_norm=False, word_head=False),
        340,
        "five corpora, 33 G pieces",
        "512 TPU v3, 5.5 days",
        "'Similar to BERT large', says the paper; a matrix for relative positions in each layer "
        "makes it more.",
        {"relative positions": 24 * 1024**2},
    ),
    Reported(
        "RoBERTa large",
        2019,
        _encoder(24, 1024, 16, vocabulary=50_265, positions=514, segments=1),
        355,
        "160 GB of text",
        "1,024 V100, a day for 100 k of 500 k steps",
        "None. BERT large with a larger vocabulary.",
    ),
    Reported(
        "GPT-2",
        2019,
        _decoder(48, 1600, 25, positions=1024),
        1542,
        "WebText, 40 GB",
        "not told",
        "Its authors wrote later that the counts of the paper were wrong; they call it 1558M now.",
    ),
    Reported(
        "Megatron-LM",
        2019,
        _decoder(72, 3072, 24, vocabulary=51_200, positions=1024),
        8300,
        "174 GB of text",
        "512 V100, 2.1 days an epoch",
        "None. The vocabulary of GPT-2 is filled up to a multiple of 1,024, so that it splits evenly. "
        "(24 heads are those of the model that was trained; for timing the paper has one with 32.)",
    ),
    Reported(
        "Turing-NLG",
        2020,
        _decoder(78, 4256, 28, positions=1024),
        17_000,
        "as Megatron-LM",
        "256 V100",
        "Reported in whole billions. The vocabulary is not told: GPT-2's is assumed.",
    ),
    Reported(
        "GPT-3",
        2020,
        _decoder(96, 12_288, 96, positions=2048),
        175_000,
        "300 G pieces",
        "V100s, 3.1e23 operations",
        "174.6 G from the shape that the paper gives; what makes its 175.0 G of that, it does not say.",
    ),
    Reported(
        "Gopher",
        2021,
        _decoder(80, 16_384, 128, vocabulary=32_000, norm_shifts=False),
        280_000,
        "300 G pieces of 10.5 TB of text",
        "4,096 TPU v3, 38 days",
        "As in XLNet, the relative positions bring a matrix of D x D in each layer: 21.5 G.",
        {"relative positions": 80 * 16_384**2},
    ),
    Reported(
        "PaLM",
        2022,
        _decoder(
            118,
            18_432,
            48,
            head_size=256,
            key_value_heads=1,
            gated=True,
            biases=False,
            norm_shifts=False,
            vocabulary=256_000,
        ),
        540_350,
        "780 G pieces",
        "6,144 TPU v4, later 3,072; 64 days",
        "None, if one counts what it has: heads of 256 (48 of them are less than the width), one "
        "key and value for all heads, three matrices in the MLP.",
    ),
    Reported(
        "SmolLM2-135M",
        2025,
        _decoder(
            30,
            576,
            9,
            hidden=1536,
            key_value_heads=3,
            gated=True,
            biases=False,
            norm_shifts=False,
            vocabulary=49_152,
        ),
        135,
        "2 T pieces",
        "64 H100",
        "None: exactly the 134,515,008 numbers in the file that we load.",
    ),
)
