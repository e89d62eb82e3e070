"""select on nested states; score of given outputs; the special ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch

from seqcourse.decode import score, select
from seqcourse.tokens import EOS

from .toys import A, B, Tables, recurrent, sources


class Pair(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


@dataclass
class Cache:
    keys: list
    position: int
    extra: torch.Tensor | None = None


def test_select_reorders_every_tensor_of_any_nest():
    column = torch.arange(4)
    tree = {
        "state": (Pair(column, column[:, None] * 10), [column.double()]),
        "cache": Cache([(column[:, None, None] * 2,)], position=3),
        "none": None,
    }
    picked = select(tree, torch.tensor([3, 0, 0]))
    assert picked["state"][0].h.tolist() == [3, 0, 0]
    assert picked["state"][0].c.tolist() == [[30], [0], [0]]
    assert picked["state"][1][0].tolist() == [3.0, 0.0, 0.0]
    assert picked["cache"].keys[0][0].flatten().tolist() == [6, 0, 0]
    assert (picked["cache"].position, picked["cache"].extra, picked["none"]) == (3, None, None)
    assert isinstance(picked["state"], tuple) and isinstance(picked["state"][0], Pair)
    assert isinstance(picked["cache"], Cache) and isinstance(picked["cache"].keys, list)
    assert tree["state"][0].h.tolist() == [0, 1, 2, 3]


def test_select_refuses_what_has_no_rows():
    with pytest.raises(ValueError, match="first dimension is the batch"):
        select((torch.tensor(1.0),), torch.tensor([0]))
    with pytest.raises(TypeError, match="met a set"):
        select([{1, 2}], torch.tensor([0]))


def test_a_memory_that_is_not_batch_first_is_named():
    memory = {"a": torch.zeros(2, 3), "b": torch.zeros(3, 2)}
    with pytest.raises(ValueError, match=r"first dimensions \[2, 3\]"):
        score(recurrent(), memory, [[A]])


def test_score_adds_up_the_words():
    tables = Tables(vocabulary=6, depth=4, sentences=3, seed=2)
    outputs, ended = [[A, B], [], [B, A, A]], [True, True, False]
    expected = [tables.log_prob(i, o, e) for i, (o, e) in enumerate(zip(outputs, ended, strict=True))]
    assert score(tables, tables.memory, outputs, ended).tolist() == pytest.approx(expected)
    without = [tables.log_prob(i, o, False) for i, o in enumerate(outputs)]
    assert score(tables, tables.memory, outputs, finished=False).tolist() == pytest.approx(without)
    assert without[1] == 0.0


def test_score_of_several_outputs_of_one_sentence():
    tables = Tables(vocabulary=6, depth=4, sentences=1, seed=2)
    outputs = [[A, B, A], [B], [A, A]]
    expected = [tables.log_prob(0, tokens, True) for tokens in outputs]
    assert score(tables, tables.memory, outputs).tolist() == pytest.approx(expected)


def test_score_of_the_impossible_is_minus_infinity():
    tables = Tables(vocabulary=6, depth=4, sentences=1)
    assert score(tables, tables.memory, [[1]]).item() == float("-inf")


@pytest.mark.parametrize(
    ("outputs", "finished", "message"),
    [
        ([], True, "token_lists is empty"),
        ([[A], [A]], True, "the memory holds 3 sentences for 2 outputs"),
        ([[A]] * 3, [True], "finished has 1 entries for 3 outputs"),
        (
            [[A], [A], [6]],
            True,
            "token_lists names token 6, but the model's vocabulary has the ids 0 to 5",
        ),
        ([[A], [A], [-1]], True, "token_lists names token -1"),
        ([[A], [A, EOS, B], [A]], True, r"output 1 holds <eos> \(id 2\) before its end"),
        ([[A], [A, EOS], [A]], True, "output 1 holds <eos>"),
        ([[A, B], [A, 0], [B, A]], True, "output 1 is padded: <pad>.*lists of different lengths"),
        (torch.tensor([[A, B], [A, B], [0, A]]), False, "output 2 is padded"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(outputs, finished, message):
    tables = Tables(vocabulary=6, depth=2, sentences=3)
    with pytest.raises(ValueError, match=message):
        score(tables, tables.memory, outputs, finished)


def test_score_does_not_depend_on_the_company():
    model, (src, lengths) = recurrent(7), sources(7, 4)
    outputs = [[A, B], [B], [A, A, A, B], []]
    together = score(model, model.encode(src, lengths), outputs)
    for row, length in enumerate(lengths.tolist()):
        memory = model.encode(src[row : row + 1, :length], lengths[row : row + 1])
        alone = score(model, memory, [outputs[row]])
        assert together[row].item() == pytest.approx(alone.item(), abs=1e-4)
