"""Parameters of published models, counted from their shapes, beside what was reported."""

from __future__ import annotations

import pytest

from seqcourse.zoo.scale import REPORTED

# Known from the published weights themselves.
EXACT = {"BERT base": 110_106_428, "BERT large": 336_226_108, "SmolLM2-135M": 134_515_008}
EXACT["GPT-2"] = 1_557_611_200


@pytest.mark.parametrize("model", REPORTED, ids=lambda model: model.name)
def test_counted_is_near_reported(model):
    allowed = 0.06 if model.name == "XLNet large" else 0.03
    assert abs(model.counted / 1e6 / model.millions - 1) < allowed
    assert model.rule_of_thumb < model.counted
    assert model.gap and model.data and model.training


@pytest.mark.parametrize("name", EXACT)
def test_counted_is_what_the_weights_hold(name):
    (model,) = [model for model in REPORTED if model.name == name]
    assert model.counted == EXACT[name]


def test_years_go_up():
    years = [model.year for model in REPORTED]
    assert years == sorted(years) and len({model.name for model in REPORTED}) == len(REPORTED)
