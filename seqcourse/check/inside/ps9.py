"""What a sandbox sees of assignment 9: run a student's system on the inputs that the grader sent.

Only texts and attention maps come out. They are untrusted, as is all that is here: whoever changes it
gains nothing, because right answers and measures are elsewhere.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy
import torch
from safetensors.torch import load as read_tensors
from torch import Tensor
from torch.nn.modules.module import register_module_forward_pre_hook

from seqcourse.check.calls.errors import is_unsolved
from seqcourse.check.calls.values import arrays

CALLS = {"translator": "translate", "captioner": "caption"}
AT_A_TIME = {"translator": 25, "captioner": 20}
CELLS = 32  # a map's longest side
LETTERS, OTHERS = 120, 75  # of a text: in ASCII, or else, where JSON writes six for one
# The control: inputs, parts of the tensors, a slight change of numbers, seconds for all of it.
FEW, PARTS, SLIGHTLY, CONTROL_SECONDS = 10, 6, 0.005, 10
SLIGHT, ZERO = "slight", "zero"
IN_TIME = 0.85  # of the probe's time; the rest is for the batch at work and the control

MODELS = "seqcourse.models"
THEIRS = "theirs"  # what is found where a model of the course ran

Found = dict[str, numpy.ndarray]


def run_system(check: Mapping[str, Any], space: Mapping[str, Any]) -> Found:
    """Load the system, run it on every input, then on a few with its numbers changed."""
    task = space.get("TASK")
    if not isinstance(task, str) or task not in CALLS:
        return arrays(wrong_task=True)
    found = arrays(task=task)
    for name in ("load", CALLS[task]):
        if not callable(space.get(name)):
            return found | arrays(absent=name)
    tensors = read_tensors(check["checkpoint"])
    inputs: Sequence[Any] = check["sentences"]
    if task == "captioner":
        inputs = torch.from_numpy(check["pictures"]).permute(0, 3, 1, 2).float() / 255  # (N, 3, H, W)
    torch.manual_seed(0)
    started = time.process_time()  # a busy machine costs no sentence
    until = started + IN_TIME * float(check["seconds"])
    try:
        with torch.inference_mode(), models_of_the_course() as theirs:
            model = space["load"](tensors, dict(check["notes"]))
            texts, maps = _outputs(space[CALLS[task]], model, inputs, AT_A_TIME[task], until)
    except Exception as error:
        return found | (arrays(unsolved=True) if is_unsolved(error) else arrays(stopped=error))
    if theirs:
        return found | arrays(**{THEIRS: True})
    found["texts"] = _packed(texts)
    for number, each in enumerate(maps):
        if each is not None:
            found[f"maps.{number}"] = each
    left = started + float(check["seconds"]) - time.process_time() - 1
    return found | _controls(check, space, task, inputs[:FEW], min(left, CONTROL_SECONDS))


@contextlib.contextmanager
def models_of_the_course() -> Iterator[list[str]]:
    """A list that gets the first module of `seqcourse.models` in which a layer is called meanwhile."""
    found: list[str] = []

    def look(module: torch.nn.Module, given: Any) -> None:
        frame = None if found else sys._getframe()
        while frame is not None:
            name = str(frame.f_globals.get("__name__", ""))
            if name.startswith(f"{MODELS}."):
                found.append(name)
                return
            frame = frame.f_back

    hook = register_module_forward_pre_hook(look)
    try:
        yield found
    finally:
        hook.remove()


def is_theirs(task: str) -> str:
    """What is told where a model of the course runs in a student's system."""
    return (
        f"load and {CALLS[task]} should run a model that you built, but a model of {MODELS} runs in "
        "them. Its parts in seqcourse.functional and seqcourse.nn may be used."
    )


def _packed(texts: Sequence[str]) -> numpy.ndarray:
    cut = [text[: LETTERS if text[:LETTERS].isascii() else OTHERS] for text in texts]
    return numpy.array(cut or [""], dtype=str)


def _outputs(
    call: Callable, model: Any, inputs: Sequence[Any], at_a_time: int, until: float
) -> tuple[list[str], list[numpy.ndarray | None]]:
    """The texts and maps of as many inputs as the time allows."""
    texts: list[str] = []
    maps: list[numpy.ndarray | None] = []
    for start in range(0, len(inputs), at_a_time):
        if time.process_time() > until:
            break
        given = inputs[start : start + at_a_time]
        made = list(call(model, given.clone() if isinstance(given, Tensor) else list(given)))
        if len(made) != len(given):
            raise ValueError("too many or too few outputs")
        for one in made:
            text, weights = (one, None) if isinstance(one, str) else one
            if not isinstance(text, str):
                raise TypeError("an output that is not text")
            texts.append(text)
            maps.append(_map(weights))
    return texts, maps


def _map(weights: Any) -> numpy.ndarray | None:
    """Maps as an array (words, rows, columns), None where they are missing or too large."""
    if weights is None:
        return None
    found = torch.as_tensor(weights).detach().cpu().float()
    if found.ndim != 3 or max(found.shape) > CELLS:
        return None
    return found.numpy()


def _controls(
    check: Mapping[str, Any], space: Mapping[str, Any], task: str, inputs: Sequence[Any], seconds: float
) -> Found:
    """What the system says with slightly changed numbers, and with each part of the tensors at zero.

    A part is one of the largest tensors with a few smaller ones. When time is over, the rest is missing.
    """
    sizes = {name: tensor.numel() for name, tensor in read_tensors(check["checkpoint"]).items()}
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    parts = {f"{ZERO}.{k}": names[k::PARTS] for k in range(min(PARTS, len(names)))}
    found: Found = {}
    until = time.process_time() + seconds
    for run, part in {SLIGHT: [], **parts}.items():
        tensors = read_tensors(check["checkpoint"])
        for name in part or names:
            tensors[name] = torch.zeros_like(tensors[name]) if part else _slightly(tensors[name])
        left = until - time.process_time()
        if left <= 0:
            break
        texts: list[str] = []
        try:
            signal.signal(signal.SIGPROF, _too_slow)
            signal.setitimer(signal.ITIMER_PROF, left)
            torch.manual_seed(0)
            with torch.inference_mode():
                model = space["load"](tensors, dict(check["notes"]))
                texts, _ = _outputs(space[CALLS[task]], model, inputs, len(inputs), float("inf"))
        except TimeoutError:
            break
        except Exception:  # zeros may be no sizes, or no words
            pass
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        found[run] = _packed(texts)
    return found


def _slightly(tensor: Tensor) -> Tensor:
    """A tensor a little changed, two equal ones alike; whole numbers may be sizes or words, and stay."""
    if not tensor.is_floating_point() or bool((tensor.float() == tensor.float().round()).all()):
        return tensor
    noise = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(0))
    return (tensor.double() * (1 + SLIGHTLY * noise)).to(tensor.dtype)


def _too_slow(number: int, frame: object) -> None:
    raise TimeoutError
