"""Rows that begin again: what is drawn, what is measured, and what switching a head off does."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import one_hot

from seqcourse import models, zoo
from seqcourse.data import SPECIALS
from seqcourse.zoo.tasks import repeats
from seqcourse.zoo.tasks.repeats import LENGTH, PERIODS, SYMBOLS, RepeatsTask


class Knows(torch.nn.Module):
    """A model that looks the next symbol up by itself; where nothing came before, it guesses evenly."""

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, len(SPECIALS) + len(SYMBOLS))
        logits[..., : len(SPECIALS)] = -torch.inf
        for row in range(len(tokens)):
            period = next(p for p in range(PERIODS[0], len(tokens[0])) if self._fits(tokens[row], p))
            again = torch.arange(period, tokens.shape[1])
            target = tokens[row, again - period + 1]
            logits[row, again] = 50.0 * one_hot(target, logits.shape[-1]).float()
        return models.Output(logits)

    def _fits(self, row, period):
        return torch.equal(row[period:], row[:-period])


@pytest.fixture(scope="module")
def system():
    return zoo.load("induction")


def test_rows_begin_again_after_a_period_of_their_own():
    rows, period = repeats.repeats(200, torch.Generator().manual_seed(0))
    assert rows.shape == (200, LENGTH + 1) and rows.min() >= len(SPECIALS)
    for row, p in zip(rows, period[:, 0].tolist(), strict=True):
        assert torch.equal(row[p:], row[:-p])
    assert (period.min(), period.max()) == PERIODS
    longer, period = repeats.repeats(200, torch.Generator().manual_seed(0), 2 * LENGTH)
    assert longer.shape == (200, 2 * LENGTH + 1) and period.max() == 2 * PERIODS[1]


def test_other_rows_in_every_epoch():
    loader = repeats.Repeats(2, 4, seed=3)
    first = [batch.tokens for batch in loader]
    assert all(map(torch.equal, first, [batch.tokens for batch in repeats.Repeats(2, 4, seed=3)]))
    loader.set_epoch(1)
    assert not any(map(torch.equal, first, [batch.tokens for batch in loader]))


def test_new_symbols_cost_chance_and_repeated_ones_nothing_if_one_looks_them_up():
    losses = repeats.losses(Knows())
    assert losses == {"new": pytest.approx(math.log(len(SYMBOLS)), abs=1e-3), "repeated": 0.0}


def test_a_head_that_is_off_writes_nothing_and_is_back_afterwards(system):
    model = system.model
    rows = repeats.repeats(2, torch.Generator().manual_seed(0))[0][:, :-1].to(system.device)
    with torch.inference_mode():
        whole = model(rows).logits
        attention = model.blocks[1].self_attention
        kept = attention.out.weight.clone()
        with repeats.without(model, 1, [2]):
            off = model(rows).logits
        attention.out.weight[:, 2 * attention.size : 3 * attention.size] = 0.0
        by_weights = model(rows).logits
        attention.out.weight.copy_(kept)
        torch.testing.assert_close(off, by_weights)
        assert not torch.allclose(off, whole)
        torch.testing.assert_close(model(rows).logits, whole)


def test_what_heads_look_at_is_what_is_stored(system):
    found, stored = repeats.looks(system.model), system.figures["measured"]
    for key in ("before", "after"):
        torch.testing.assert_close(
            torch.tensor(found[key]), torch.tensor(stored[key]), atol=0.01, rtol=0
        )


@pytest.mark.nightly
def test_a_trial_of_the_study():
    recipe = zoo.recipe("induction")
    recipe = replace(
        recipe,
        training=replace(recipe.training, epochs=1),
        options={"steps": 2, "controls": {"learned": {"seeds": [0, 1], "rates": [1e-3]}}},
    )
    asked = recipe.options["controls"]["learned"] | {"changes": {"positions": "learned", "longest": 64}}
    runs = RepeatsTask(recipe)._runs(**asked)
    assert [(run["rate"], run["seed"]) for run in runs] == [(1e-3, 0), (1e-3, 1)]
    for run in runs:
        assert len(run["watched"]) == 1 and run["watched"][0]["repeated"] == run["repeated"]
        assert run["beyond"] == {}  # a table of 64 positions ends
        assert run["new"] == pytest.approx(math.log(52), abs=0.5)
