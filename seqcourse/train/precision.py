"""Which precision a device is quick in, and the Accelerator that computes in it."""

from __future__ import annotations

import torch

from seqcourse.settings import ACCELERATORS, device


def has_bf16(kind: str) -> bool:
    """Whether a GPU multiplies bf16 in hardware; a Tesla T4 only emulates it, at a loss."""
    asks = getattr(torch.get_device_module(kind), "is_bf16_supported", None)
    if asks is None:  # Apple's
        return False
    return asks(including_emulation=False) if kind in ("cuda", "xpu") else asks()


def _has_amx() -> bool:
    """Whether the processor multiplies bf16 in hardware; PyTorch has no public name for it yet."""
    ask = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return ask is not None and ask()


def accelerator_for(precision: str):
    """An Accelerator for the course's device; Accelerate itself keeps one state per process."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    chosen = device()
    on_cpu = chosen.type == "cpu"
    if precision in ("auto", "fast"):
        quick = precision == "fast" and _has_amx() if on_cpu else has_bf16(chosen.type)
        precision = "bf16" if quick else "no"
    if precision not in ("no", "bf16", "fp16"):
        raise ValueError(f"precision should be auto, fast, no, bf16 or fp16, but it is {precision!r}.")
    if precision == "fp16" and on_cpu:
        raise ValueError("fp16 needs a GPU; on a CPU use 'no' or 'bf16'.")
    AcceleratorState._reset_state()  # two trainers of one process may differ in precision
    # It knows no device that another package has added; with one process it only has to leave it alone.
    accelerator = Accelerator(mixed_precision=precision, cpu=chosen.type not in ACCELERATORS)
    if accelerator.num_processes == 1 and chosen.index is not None and chosen.type in ("cuda", "xpu"):
        torch.get_device_module(chosen.type).set_device(
            chosen
        )  # one process computes on the current GPU
    return accelerator
