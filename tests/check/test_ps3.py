"""The examples with numbers in the text of assignment 3, and what its own checks rest on."""

from __future__ import annotations

import math
import sys

import pytest
import torch

from seqcourse import data, functional, zoo
from seqcourse.check import Mistake, ps3
from seqcourse.check.ps3 import choosing
from tests.check.texts import tensor, texts

TEXT = texts("ps3")


def rounded(values: torch.Tensor) -> list:
    return [round(value, 3) for value in values.flatten().tolist()]


def test_context():
    c = functional.weighted_sum(tensor([[0.25, 0.75]]), tensor([[[1, 0], [3, 2]]]))
    assert c.tolist() == [[2.5, 1.5]]
    assert "= (2.5, 1.5)$" in TEXT["ps3-context-md"]


def test_softmax():
    scores = tensor([[math.log(1), math.log(2), math.log(5)]])
    assert torch.allclose(ps3.softmax.reference(scores), tensor([[1, 2, 5]]) / 8)
    mask = torch.tensor([[True, True, False]])
    assert torch.allclose(ps3.softmax.reference(scores, mask), tensor([[1, 2, 0]]) / 3)
    assert ps3.softmax.reference(scores, mask & ~mask).tolist() == [[0, 0, 0]]


def test_general_score():
    s, h = tensor([[1, 2]]), tensor([[[3, 0], [1, 1]]])
    assert ps3.general_score.reference(s, h).tolist() == [[3, 3]]
    assert ps3.general_score.reference(s, h, tensor([[0, 1], [1, 0]])).tolist() == [[6, 3]]
    assert "the scores are `[[6, 3]]`" in TEXT["ps3-general_score-md"]


def test_scores_by_a_small_network():
    s, h = tensor([[1]]), tensor([[[2]]])
    e = functional.additive_score(s, h, tensor([[0.5]]), tensor([[0.25]]), tensor([3]))
    assert f"{e.item():.3f}" == "2.285" and "= 2.285$" in TEXT["ps3-additive_score-md"]
    weights = (tensor([[3, -1]]), tensor([0.5]), tensor([2]), tensor([-1]))
    assert functional.mlp_score(s, h, *weights).item() == 10
    assert "- 1 = 10$" in TEXT["ps3-mlp_score-md"]


def test_attend():
    mask = torch.tensor([[True, True, False]])
    c, weights = ps3.attend.reference(
        functional.dot_score, tensor([[math.log(3)]]), tensor([[[1], [0], [9]]]), mask
    )
    assert rounded(weights) == [0.75, 0.25, 0] and rounded(c) == [0.75]


def test_decoder_step():
    logits, s, _ = ps3.decoder_step.reference(
        tensor([[2]]),
        tensor([[3]]),
        tensor([[[0]]]),
        torch.tensor([[True]]),
        lambda s, h, mask: (tensor([[5]]), tensor([[1]])),
        lambda x, s: (x.sum(-1, keepdim=True) + s) / 2,
        lambda z: z @ tensor([[100], [10], [1]]),
    )
    assert logits.item() == 552 and s.item() == 5
    assert "= 552$" in TEXT["ps3-decoder_step-md"]


@pytest.mark.parametrize(
    ("centre", "told"), [(2.0, "0.027, 0.121, 0.2, 0.121, 0.027"), (3.5, "0, 0, 0.108, 0.294, 0.294")]
)
def test_local_weights(centre, told):
    weights = ps3.local_weights.reference(
        tensor([[0.0] * 5]), tensor([centre]), 2, torch.ones(1, 5, dtype=torch.bool)
    )
    assert rounded(weights) == [float(number) for number in told.split(", ")]
    assert f"`[{told}]`" in TEXT["ps3-local_weights-md"]


def test_links():
    weights = tensor([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])
    assert ps3.links.reference(weights, 2) == {(0, 0), (1, 1)}
    assert "the links are `{(0, 0), (1, 1)}`" in TEXT["ps3-links-md"]


def test_alignment_error_rate():
    predicted, sure = {(0, 0), (1, 1), (2, 1)}, {(0, 0), (2, 2)}
    rate = ps3.alignment_error_rate.reference([predicted], [sure], [sure | {(1, 1)}])
    assert rate == pytest.approx(0.4)
    assert "= 0.4$" in TEXT["ps3-alignment_error_rate-md"]


def test_stored_maps_are_those_of_the_translator():
    """What `better_links` is measured on: made by cell ps3-forced-given, in thousandths."""
    system, aligned = zoo.load("en-es-attention"), data.load_alignments("en-es")
    for kept, pair in zip(choosing._pairs(), aligned, strict=True):
        assert kept["source"].split(" ") == [*pair.source_tokens]
        assert kept["target"].split(" ") == [*pair.target_tokens]
        sure, more = ({tuple(link) for link in kept[kind]} for kind in ("sure", "possible"))
        assert sure == pair.sure and sure | more == pair.possible
    for kept, pair in list(zip(choosing._pairs(), aligned, strict=True))[::30]:
        src, lengths = data.pad([system.source.encode(pair.source_tokens)])
        words, _ = data.pad([system.target.encode(pair.target_tokens, sos=True, eos=False)])
        to = system.device
        with torch.inference_mode():
            weights = system.model(src.to(to), lengths.to(to), words.to(to)).weights[0].cpu()
        weights = weights[: len(pair.target_tokens)]
        assert torch.allclose(1000 * weights, torch.tensor(kept["weights"]).float(), atol=2)


@pytest.mark.parametrize("seed", range(20))
def test_masks_and_scores_are_what_their_kind_says(seed):
    for batch, time in [(3, 4), (4, 3), (1, 5), (3, 6)]:
        mask = ps3.softmax.make(batch, time, "mask", seed=seed)["mask"]
        assert (mask.sum(dim=1) >= 2).all() and not mask.all(dim=1).any()
        assert batch == 1 or mask.any(dim=0).all()
    given = ps3.attend.make(2, 5, 3, 3, lengths=[3, 5], peak=900.0, seed=seed)
    scores = given["score"](given["s"], given["h"])[given["mask"]]
    assert scores.max().item() == pytest.approx(900.0)


def test_a_row_with_nothing_is_a_trap_only_where_minus_infinity_is_added():
    """The gradient check of exercise 2 does not blame masked_fill, which passes no gradient."""
    mask = torch.zeros(1, 3, dtype=torch.bool)
    low = float("-inf")
    for fill, spoiled in [
        (lambda e: e.masked_fill(~mask, low), False),
        (lambda e: e + torch.where(mask, 0.0, low), True),
    ]:
        scores = torch.ones(1, 3, requires_grad=True)
        torch.softmax(fill(scores), dim=-1).nan_to_num(0.0).sum().backward()
        assert scores.grad.isnan().any().item() is spoiled


def test_an_experiment_waits_until_the_answers_it_runs_through_are_right(monkeypatch, capsys):
    main = sys.modules["__main__"]

    def right(weights, h):
        return (weights[..., None] * h).sum(dim=1)

    monkeypatch.setattr(main, "context", right, raising=False)
    monkeypatch.setattr(main, "softmax", torch.exp, raising=False)
    with ps3.experiment("1"):
        print("drawn")
    assert capsys.readouterr().out == "drawn\n"
    with pytest.raises(Mistake, match="waits for exercise 2: .* would be wrong. softmax"):
        with ps3.experiment("1 and 2"):
            raise ValueError("should not begin")


def test_an_experiment_tells_an_error_as_a_sentence(monkeypatch):
    for name in ps3.experiment.exercises:  # answers that other tests gave this process
        monkeypatch.delattr(sys.modules["__main__"], name, raising=False)
    with pytest.raises(Mistake, match="exercises 4, 5 and 6 and stopped with ValueError: too wide"):
        with ps3.experiment("4, 5 and 6"):
            raise ValueError("too wide")
    with pytest.raises(NotImplementedError, match="exercise 7: not all are there yet"):
        with ps3.experiment("7"):
            raise NotImplementedError
    error = AssertionError("own words")
    with pytest.raises(AssertionError) as caught, ps3.experiment("7"):
        raise error
    assert caught.value is error
