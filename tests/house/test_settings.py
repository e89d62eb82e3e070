"""Settings from the environment: what they choose, and what a wrong one is told."""

import pytest
import torch

from seqcourse import CourseError, settings


def test_the_device_can_be_chosen(monkeypatch):
    monkeypatch.setenv(settings.DEVICE_VARIABLE, "cpu")
    assert settings.device() == torch.device("cpu")
    monkeypatch.delenv(settings.DEVICE_VARIABLE)
    assert settings.device().type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("wanted", ["gpu", "meta", "hpu"])
def test_a_device_that_the_course_does_not_know_is_named(wanted, monkeypatch):
    monkeypatch.setenv(settings.DEVICE_VARIABLE, wanted)
    with pytest.raises(CourseError, match=f"should be 'cpu', 'cuda'.*{wanted}"):
        settings.device()


def test_a_gpu_that_is_not_there_is_named(monkeypatch):
    count = iter([0, 2, 2] * len(settings.ACCELERATORS))
    for kind in settings.ACCELERATORS:
        monkeypatch.setattr(torch.get_device_module(kind), "device_count", lambda: next(count))
        monkeypatch.setenv(settings.DEVICE_VARIABLE, kind)
        with pytest.raises(CourseError, match=f"for '{kind}', but .* no such device.*set it to 'cpu'"):
            settings.device()
        monkeypatch.setenv(settings.DEVICE_VARIABLE, f"{kind}:2")
        with pytest.raises(CourseError, match=f"the last such device here is '{kind}:1'"):
            settings.device()
        monkeypatch.setenv(settings.DEVICE_VARIABLE, f"{kind}:1")
        assert settings.device() == torch.device(f"{kind}:1")


def test_the_budget_is_quick_or_full(monkeypatch):
    monkeypatch.delenv(settings.BUDGET_VARIABLE, raising=False)
    assert settings.budget() == "quick"
    monkeypatch.setenv(settings.BUDGET_VARIABLE, "long")
    with pytest.raises(CourseError, match="'quick' or 'full', but it is 'long'"):
        settings.budget()


def test_one_seed_for_all_generators():
    import random

    import numpy

    def draws():
        settings.seed_everything(7)
        return random.random(), numpy.random.rand(), torch.rand(1).item()

    assert draws() == draws()
