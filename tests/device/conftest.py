"""The second device is there while a test of this folder runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.utils import backend_registration

# PyTorch 2.6 lets Python define no device.
if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def second() -> Iterator[None]:
    """PyTorch keeps a device that it knows; what else is changed goes back."""
    from .second import install

    generator = torch.Generator
    install()
    yield
    torch.Generator = generator
    torch.autograd.set_multithreading_enabled(True)
