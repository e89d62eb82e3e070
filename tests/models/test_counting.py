"""Counts by formula: against modules, against PyTorch's counter, against published sizes."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from seqcourse import functional as F
from seqcourse import models
from seqcourse.models import Shape, count_flops, count_parameters, number_of_parameters

TRANSLATOR = dict(
    kind="encoder-decoder", layers=2, width=16, heads=4, hidden=40, vocabulary=23, source_vocabulary=19
)
GPT2 = dict(vocabulary=50257, positions=1024)
BERT = dict(
    kind="encoder-only", norm="post", vocabulary=30522, positions=512, segments=2,
    embedding_norm=True, pooler=True,
)  # fmt: skip

PARTS = {
    "_embedding": "embeddings", "_norm": "norms", "_attention": "attention", "mlp": "mlp",
    "output": "output",
}  # fmt: skip


def total(counts: dict[str, int]) -> int:
    return sum(counts.values())


def translator(norm: str, positions: str = "sinusoidal", layers: int = 2) -> models.Transformer:
    torch.manual_seed(0)
    options = dict(norm=norm, positions=positions, longest=11)
    return models.Transformer(19, 23, 16, 4, layers, hidden=40, **options)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@pytest.mark.parametrize("layers", [1, 3])
def test_parameters_of_the_translator_equal_the_codes_count(norm, positions, layers):
    shape = Shape(**{**TRANSLATOR, "layers": layers}, norm=norm, output_bias=True,
                  positions=11 if positions == "learned" else 0)  # fmt: skip
    model = translator(norm, positions, layers)
    assert total(count_parameters(shape)) == number_of_parameters(model)


def test_each_part_equals_the_modules_of_that_name():
    counts = count_parameters(Shape(**TRANSLATOR, norm="pre", output_bias=True))
    found = dict.fromkeys(counts, 0)
    for name, parameter in translator("pre").named_parameters():
        part = next(part for key, part in PARTS.items() if key in name)
        found[part] += parameter.numel()
    assert counts == found


@pytest.mark.parametrize(
    ("shape", "expected"),
    [  # what the published weights hold
        (Shape(layers=12, width=768, heads=12, hidden=3072, **GPT2), 124_439_808),
        (Shape(layers=24, width=1024, heads=16, hidden=4096, **GPT2), 354_823_168),
        (Shape(layers=36, width=1280, heads=20, hidden=5120, **GPT2), 774_030_080),
        (Shape(layers=48, width=1600, heads=25, hidden=6400, **GPT2), 1_557_611_200),
        (Shape(layers=12, width=768, heads=12, hidden=3072, **BERT), 109_482_240),
        (Shape(layers=24, width=1024, heads=16, hidden=4096, **BERT), 335_141_888),
        (Shape(layers=30, width=576, heads=9, key_value_heads=3, hidden=1536, vocabulary=49152,
               biases=False, norm_shifts=False, gated=True), 134_515_008),  # SmolLM2
    ],
)  # fmt: skip
def test_published_models_have_these_many_parameters(shape, expected):
    assert total(count_parameters(shape)) == expected


def test_an_untied_output_is_one_more_table():
    tied = Shape(layers=2, width=16, heads=4, hidden=40, vocabulary=23)
    untied = Shape(layers=2, width=16, heads=4, hidden=40, vocabulary=23, tied=False)
    assert total(count_parameters(untied)) - total(count_parameters(tied)) == 23 * 16


def test_heads_of_another_size_and_a_classifier():
    usual = dict(layers=1, width=16, heads=4, hidden=40, vocabulary=23)
    same = count_parameters(Shape(**usual, head_size=4, key_value_heads=4))
    assert same == count_parameters(Shape(**usual))
    twice = count_parameters(Shape(**usual, head_size=8))
    assert twice["attention"] == 4 * 16 * 32 + 3 * 32 + 16
    assert count_parameters(Shape(**usual, classes=3))["output"] == 3 * 17


def counted(step) -> int:
    """What PyTorch counts while ``step`` runs, with attention by plain matrix products."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("source", "target"), [(7, 7), (5, 9), (9, 2)])
def test_flops_of_the_translator_equal_pytorchs_count(norm, source, target):
    shape = Shape(**TRANSLATOR, norm=norm, output_bias=True)
    model, batch = translator(norm), 3
    src = torch.randint(3, 19, (batch, source))
    lengths = torch.tensor([source, source - 1, 1])
    tgt = torch.randint(3, 23, (batch, target))

    def forward():
        return model(src, lengths, tgt).logits.sin().sum()

    once = count_flops(shape, batch, source, target, training=False)
    assert total(once) == counted(forward)
    assert total(count_flops(shape, batch, source, target)) == counted(lambda: forward().backward())
    assert total(count_flops(shape, batch, source, target)) == 3 * total(once)


def test_the_readable_path_takes_as_many():
    q, k, v = (torch.randn(3, 4, n, 8, requires_grad=True) for n in (6, 7, 7))
    assert counted(lambda: F.attention(q, k, v)[0].sum().backward()) == 3 * 3 * 4 * 4 * 6 * 7 * 8
    with FlopCounterMode(display=False) as counter:
        F.attention(q, k, v, need_weights=True)[0].sum().backward()
    assert counter.get_total_flops() == 3 * 3 * 4 * 4 * 6 * 7 * 8


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gpt_in_parameters_and_flops(norm):
    torch.manual_seed(0)
    model = models.GPT(23, 16, 4, 3, hidden=40, longest=11, norm=norm)
    shape = Shape(layers=3, width=16, heads=4, hidden=40, vocabulary=23, positions=11, norm=norm)
    assert total(count_parameters(shape)) == number_of_parameters(model)
    tokens = torch.randint(4, 23, (5, 9))
    found = counted(lambda: model(tokens).logits.sin().sum().backward())
    assert total(count_flops(shape, 5, 9)) == found


@pytest.mark.parametrize("pretraining", [True, False])
def test_bert_in_parameters_and_flops(pretraining):
    torch.manual_seed(0)
    model = models.BERT(23, 16, 4, 3, hidden=40, longest=11, pretraining=pretraining)
    heads = dict(word_head=pretraining, output_bias=pretraining, classes=2 * pretraining)
    shape = Shape(kind="encoder-only", norm="post", embedding_norm=True, pooler=True, segments=2,
                  layers=3, width=16, heads=4, hidden=40, vocabulary=23, positions=11,
                  **heads)  # fmt: skip
    assert total(count_parameters(shape)) == number_of_parameters(model)
    if pretraining:
        tokens, mask = torch.randint(4, 23, (5, 9)), torch.ones(5, 9, dtype=torch.bool)

        def step():
            out = model(tokens, mask)
            (out.words.sin().sum() + out.follows.sin().sum()).backward()

        assert total(count_flops(shape, 5, 9)) == counted(step)


def test_a_shape_that_makes_no_sense_is_refused():
    usual = dict(layers=2, width=16, heads=4, hidden=40, vocabulary=23)
    with pytest.raises(ValueError, match="kind should be one of"):
        Shape(**usual, kind="encoder")
    with pytest.raises(ValueError, match="norm should be pre or post"):
        Shape(**usual, norm="layer")
    with pytest.raises(ValueError, match="heads should divide the width"):
        Shape(**{**usual, "heads": 3})
    with pytest.raises(ValueError, match="layers should be at least 1"):
        Shape(**{**usual, "layers": 0})
    with pytest.raises(ValueError, match="leave source_vocabulary out"):
        Shape(**usual, source_vocabulary=7)
    with pytest.raises(ValueError, match="needs target_places"):
        count_flops(Shape(**TRANSLATOR), 3, 7)
    with pytest.raises(ValueError, match="has no target_places"):
        count_flops(Shape(**usual), 3, 7, 6)
