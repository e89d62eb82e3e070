"""The examples with numbers in the text of assignment 6, and what its own checks rest on."""

from __future__ import annotations

import math
import re

import nbformat
import pytest
import torch

from seqcourse import data, functional, models
from seqcourse.check import Mistake, ps6
from seqcourse.check.inside import ps6 as inside
from seqcourse.check.ps6 import whole
from seqcourse.check.ps6.route import route_lines
from tests.check.texts import path_of, tensor, texts

TEXT = texts("ps6")


def test_layer_norm():
    y = functional.layer_norm(tensor([2, 4, 4, 6]), tensor([1, 1, 2, 3]), tensor([0, 10, 0, 0]), eps=2.0)
    assert torch.allclose(y, tensor([-1, 10, 0, 3]))
    assert "the result is $(-1, 10, 0, 3)$" in TEXT["ps6-layer_norm-md"]


def test_warmup_rate():
    rates = [ps6.warmup_rate.reference(step, 16, 4) for step in (1, 4, 16)]
    assert rates == [0.03125, 0.125, 0.0625]
    assert all(f"{rate}$" in TEXT["ps6-warmup_rate-md"] for rate in rates)


@pytest.mark.parametrize(("width", "warmup"), [(512, 4000), (64, 60), (7, 1)])
def test_the_top_of_the_rate_is_at_the_warmup(width, warmup):
    rates = [ps6.warmup_rate.reference(step, width, warmup) for step in range(1, 2 * warmup + 2)]
    assert rates.index(max(rates)) + 1 == warmup
    assert max(rates) == pytest.approx((width * warmup) ** -0.5)
    assert rates[0] == pytest.approx(max(rates) / warmup)


def test_parameters():
    assert ps6.block_parameters.reference(2, 3, False) == 49
    assert ps6.block_parameters.reference(2, 3, True) == 77
    counts = [ps6.transformer_parameters.reference(49, 77, 10, 7, 2, 1, o) for o in ("post", "pre")]
    assert counts == [167, 175]
    assert "together 49" in TEXT["ps6-block_parameters-md"]
    assert 'makes 167 for `"post"`, and 8 more, 175' in TEXT["ps6-transformer_parameters-md"]


def test_the_sizes_of_the_paper():
    text = TEXT["ps6-count-given"]
    for width, hidden, millions in [(512, 2048, 63.1), (1024, 4096, 214.3)]:
        blocks = [ps6.block_parameters.reference(width, hidden, cross) for cross in (False, True)]
        count = ps6.transformer_parameters.reference(*blocks, 0, 37_000, width, 6, "post")
        assert round(count / 1e6, 1) == millions
        assert f"{width}, {hidden}, " in text


def test_encoder_block():
    given = (
        tensor([[[4]]]),
        None,
        lambda queries, memory, mask: 2 * memory,
        lambda x: x + 1,
        (lambda x: x / 2, lambda x: x / 4),
    )
    found = [ps6.encoder_block.reference(*given, order).item() for order in ("post", "pre")]
    assert found == [3.25, 11]
    assert "= 3.25$" in TEXT["ps6-encoder_block-md"] and "$8 + 3 = 11$" in TEXT["ps6-encoder_block-md"]


def test_decoder_block():
    given = (
        tensor([[[4]]]),
        tensor([[[3]]]),
        None,
        lambda queries, memory, mask: 2 * memory,
        lambda queries, memory, mask: queries * memory,
        lambda x: x + 1,
        (lambda x: x / 2, lambda x: x / 4, lambda x: x / 2),
    )
    found = [ps6.decoder_block.reference(*given, order).item() for order in ("post", "pre")]
    assert found == [6.5, 22]
    assert "= 6.5$" in TEXT["ps6-decoder_block-md"] and "= 22$" in TEXT["ps6-decoder_block-md"]


def test_label_smoothed_loss():
    logits = tensor([[[1 / 4, 1 / 2, 1 / 8, 1 / 8]]]).log()
    loss = ps6.label_smoothed_loss.reference(logits, torch.tensor([[1]]), 0.4, 0)
    assert loss.item() == pytest.approx(1.5 * math.log(2))
    assert f"{loss.item():.3f}" == "1.040" and "= 1.040$" in TEXT["ps6-label_smoothed_loss-md"]


class Told:
    """A model that writes the rows of a table."""

    def __init__(self, rows):
        self.rows = torch.nn.functional.one_hot(torch.tensor(rows))  # (B, L, V)

    def encode(self, src, lengths):
        return src

    def start(self, memory):
        return 0

    def step(self, tokens, state, memory):
        return models.Step(self.rows[:, state].float(), state + 1)


def test_translate():
    model = Told([[5, 6, 2, 7, 7], [7, 5, 8, 2, 7]])
    src, lengths = torch.zeros(2, 3, dtype=torch.int64), torch.tensor([3, 3])
    written = ps6.translate.reference(model, src, lengths, 5)
    assert written.tolist() == [[5, 6, 2, 0], [7, 5, 8, 2]]
    assert "`[[5, 6, 2, 0], [7, 5, 8, 2]]`" in TEXT["ps6-translate-md"]


@pytest.mark.parametrize("seed", range(20))
def test_the_small_model_writes_pad_and_sos_where_it_is_asked_to(seed):
    for special in (False, True):
        given = ps6.translate.make([5, 4, 6], [4, 5, 3], max_len=10, special=special, seed=seed)
        rows = ps6.translate.reference(*given.values()).tolist()
        if special:
            last = [data.PAD, data.SOS, data.EOS]
            assert [row[n - 3 : n] for row, n in zip(rows, [5, 4, 6], strict=True)] == [last] * 3
        else:
            rows = [row[: row.index(data.EOS)] if data.EOS in row else row for row in rows]
            assert not {data.PAD, data.SOS} & {word for row in rows for word in row}


def test_a_step_that_nobody_needs_is_counted():
    given = ps6.translate.make([3, 2], [4, 4], max_len=9)
    late = inside.record_translate(lambda *given: ps6.translate.reference(*given), given)["late"]
    assert late == 0

    def translate(model, src, lengths, max_len):
        ids, memory = ps6.translate.reference(model, src, lengths, max_len), model.encode(src, lengths)
        state = model.start(memory)
        for tokens in [torch.ones_like(lengths), *ids.unbind(1)]:
            state = model.step(tokens, state, memory).state
        return ids

    assert inside.record_translate(translate, given)["late"] == 1


def test_a_route_tells_what_a_block_calls():
    assert route_lines(ps6.encoder_block.reference, "pre") == [
        "n1 = norms[0](x)",
        "self = attend(n1, n1, mask)",
        "n2 = norms[1](x + self)",
        "mlp = mlp(n2)",
        "returns (x + self) + mlp",
    ]
    assert route_lines(ps6.decoder_block.reference, "post") == [
        "self = self_attend(y, y, causal)",
        "n1 = norms[0](y + self)",
        "cross = cross_attend(n1, memory, memory_mask)",
        "n2 = norms[1](n1 + cross)",
        "mlp = mlp(n2)",
        "n3 = norms[2](n2 + mlp)",
        "returns n3",
    ]

    def wrong(x, mask, attend, mlp, norms, order):
        return 3 * x + attend(x, 2 * x, None)

    assert route_lines(wrong, "pre") == [
        "self = attend(x, something else, no mask)",
        "returns something else",
    ]


def test_the_example_of_a_whole_transformer_has_as_many_parameters_as_exercise_3_counts():
    given = ps6.Transformer.make([2], [2], width=2, heads=1, order="post")
    counted = sum(
        len(many) * given["values"][kind].numel() for kind, many in whole._right(given)[1].items()
    )
    sizes = given["build"]
    blocks = [ps6.block_parameters.reference(2, sizes["hidden"], cross) for cross in (False, True)]
    formula = ps6.transformer_parameters.reference
    assert counted == formula(*blocks, sizes["source"], sizes["target"], 2, 1, "post")
    assert formula(49, 77, 10, 7, 2, 1, "post") == 167
    assert '`Transformer(10, 7, 2, 1, 1, 3, "post")` has 167 parameters' in TEXT["ps6-Transformer-md"]


class Theirs(models.Transformer):
    """The package's Transformer, called as exercise 8 asks."""

    def __init__(self, source, target, width, heads, layers, hidden, order):
        super().__init__(source, target, width, heads, layers, hidden=hidden, norm=order)

    def forward(self, src, lengths, tgt_in):
        return super().forward(src, lengths, tgt_in).logits


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("way", ["at once", "word by word"])
@pytest.mark.parametrize("small", [False, True])
def test_a_whole_transformer_is_that_of_the_package(order, way, small):
    sizes = dict(layers=2, order=order, way=way, small=small, seed=7)
    given = ps6.Transformer.make([4, 2, 5], [3, 5, 2], **sizes)
    whole.judge_transformer(inside.record_transformer(Theirs, given), given)
    with pytest.raises(Mistake, match="the order pre one more norm|the order post every block"):
        other = {**given["build"], "order": {"pre": "post", "post": "pre"}[order]}
        whole.judge_transformer(inside.record_transformer(Theirs, {**given, "build": other}), given)


def test_the_words_fed_are_those_before():
    targets, fed = torch.tensor([[5, 6, 2], [7, 2, 0]]), []
    z = torch.zeros(2, 3, 8, requires_grad=True)
    optimizer = torch.optim.SGD([z], lr=1.0)
    whole._step(lambda src, lengths, words: fed.append(words) or z, optimizer, 0, 0, targets, 0.1, 0.1)
    assert fed[0].tolist() == [[1, 5, 6], [1, 7, 2]]
    text = TEXT["ps6-train_step-md"]
    assert "`[[5, 6, 2], [7, 2, 0]]`" in text and "`[[1, 5, 6], [1, 7, 2]]`" in text


def test_biased_attention():
    q, k = torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 3, 1)
    table = torch.tensor([math.log(2), 0, 0, 0])[:, None]
    y = ps6.biased_attention.reference(
        q, k, torch.tensor([8.0, 4, 2])[None, None, :, None], table, 5, None
    )
    assert y.item() == pytest.approx(4) and "/ 4 = 4$" in TEXT["ps6-biased_attention-md"]


def test_buckets_are_those_of_the_text():
    rows = torch.arange(8.0)[:, None]
    one = dict(q=torch.zeros(1, 1, 1, 1), k=torch.zeros(1, 1, 30, 1), v=torch.eye(30)[None, None])
    weights = ps6.biased_attention.reference(**one, table=rows, far=11, mask=None)
    bucket = (weights / weights[..., -1:]).log().round().flatten().flip(0).tolist()
    assert bucket[:12] == [0, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3] and set(bucket[12:]) == {3}
    assert "distances 2 to 4 share row 2, and all from 5 on row 3" in TEXT["ps6-biased_attention-md"]


def test_a_table_of_zeros_is_attention_and_the_last_queries_are_those_of_all():
    given = ps6.biased_attention.make(2, 2, 7, 7, 4, masked=True)
    plain = {**given, "table": torch.zeros_like(given["table"])}
    wanted = functional.attention(*(given[name] for name in ("q", "k", "v", "mask")))[0]
    assert torch.allclose(ps6.biased_attention.reference(**plain), wanted)
    last = {**given, "q": given["q"][:, :, 3:], "mask": given["mask"][3:]}
    found = ps6.biased_attention.reference(**last)
    assert torch.allclose(found, ps6.biased_attention.reference(**given)[:, :, 3:])


@pytest.mark.nightly
def test_more_than_half_of_the_words_come_out_right(capsys):
    """The text says so before the cell in which the Transformer of the solution learns to pronounce."""
    assert "more than half of the words come out right" in TEXT["ps6-own-md"]
    space = {"__name__": "__main__"}
    for cell in nbformat.read(path_of("ps6"), as_version=4).cells:
        if cell.cell_type == "code" and not cell.id.endswith("-grade"):
            exec(cell.source, space)
        if cell.id == "ps6-own-given":
            break
    (share,) = re.findall(r"(\d+)% of 500 unseen words right", capsys.readouterr().out)
    assert int(share) > 50
