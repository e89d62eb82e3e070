"""The contract of a whole system: what the notebook defines, what lies beside it, what is called."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from seqcourse import progress
from seqcourse.check.calls.compare import Mistake, describe
from seqcourse.check.calls.recording import quiet
from seqcourse.check.grade import checkpoint, curve
from seqcourse.check.inside.ps9 import is_theirs, models_of_the_course
from seqcourse.check.told.stages import shown
from seqcourse.errors import CourseError

FILE, QUICK = "ps9.safetensors", "ps9-quick.safetensors"
CALLED = dict(zip(curve.TASKS, ("translate", "caption"), strict=True))
UNSEEN = "The hidden split is drawn when your work is graded."
# Sentences of several lengths: a batch has padding.
SENTENCES = (
    "The girl is reading a book.",
    "We need water.",
    "I want to buy a new car.",
    "Where is my key?",
    "He doesn't work.",
    "My brother has two big dogs.",
    "They were tired.",
    "Tom is busy now.",
    "She can't sleep.",
    "Do you like coffee?",
)
AT_ONCE = 20
ALONE = 5  # so many of them are also translated alone: one may come out alike by luck
# A system that needs longer for these few does not finish the hidden split.
SECONDS = curve.SECONDS * AT_ONCE / curve.SENTENCES


class SystemSelfCheck:
    """`check.ps9.system(globals())`: the file, `load`, and `translate` or `caption` on a few inputs."""

    name = "system"
    fix = (
        "Restart the kernel, run all cells from the top, and call load and then translate or caption by "
        "hand on one sentence or picture: print what comes back after each line."
    )
    hints = (fix, "Read again: chapter 11 for a translator, chapter 13 for a captioner.")

    def __init__(self) -> None:
        self._passed: Any = None

    def __call__(self, space: Mapping[str, Any], ask: bool = True) -> None:
        """Check a notebook's names, `globals()`, and print what a hand-in would weigh.

        Raises:
            Mistake: with what should be different.
            NotImplementedError: there is no system yet.
        """
        answer = space.get(CALLED.get(space.get("TASK"), ""))
        try:
            line = self._check(space)
        except Mistake as mistake:
            mistake.shown, hint, _ = shown(self.name, answer, mistake.finding, self.hints, ask)
            progress.note(self.name, passed=False, hint=hint)
            raise
        progress.note(self.name, passed=True)
        self._passed = answer
        print(line)

    def validate(self, space: Mapping[str, Any]) -> None:
        """What nbgrader's Validate sees in the graded cell: the check, unless it has just passed."""
        answer = space.get(CALLED.get(space.get("TASK"), ""))
        if answer is None or self._passed is not answer:
            self(space, ask=False)
        print(UNSEEN)

    def _check(self, space: Mapping[str, Any]) -> str:
        task = space.get("TASK")
        if "load" not in space and task is None:
            raise NotImplementedError("There is no system yet: TASK, load, and translate or caption.")
        if task not in CALLED:
            raise Mistake(f'TASK should be "translator" or "captioner", but is {describe(task)}.')
        for name in ("load", CALLED[task]):
            if not callable(space.get(name)):
                raise Mistake(f"{name} should be a function, but is {describe(space.get(name))}.")
        name = next((name for name in (FILE, QUICK) if Path(name).is_file()), FILE)
        try:
            found = checkpoint.read_checkpoint(Path(name))
        except CourseError as error:
            raise Mistake(str(error)) from None
        tensors = {name: torch.tensor(values) for name, values in found.tensors.items()}
        with torch.inference_mode(), quiet(), models_of_the_course() as theirs:
            model = _called("load", space["load"], tensors, dict(found.notes))
            look = _translations if task == curve.TRANSLATOR else _captions
            seconds, empty = look(space[CALLED[task]], model)
        if theirs:
            raise Mistake(is_theirs(task))
        line = (
            f"✓ system: a {task} of {found.parameters:,} numbers in {len(found.data) / 1e6:.2f} MB; "
            f"{AT_ONCE} {'sentences' if task == curve.TRANSLATOR else 'pictures'} in {seconds:.1f} s."
        )
        if empty:
            line += f" {empty} of {AT_ONCE} outputs have no word."
        return line if name == FILE else f"{line} Only the quick training so far: hand in {FILE}."


def _called(name: str, function: Callable[..., Any], *given: Any) -> Any:
    """What a function of the notebook returns; an error in it as a sentence."""
    try:
        return function(*given)
    except Exception as error:
        raise Mistake(f"{name} stopped with {type(error).__name__}: {error}") from error


def _timed(name: str, function: Callable[..., Any], model: Any, given: Any) -> tuple[list, float]:
    """The list that comes back for several inputs, and the seconds that it took.

    Those of the clock or of the processor, whichever are fewer: a busy machine makes the one longer,
    several threads the other.
    """
    clocks = time.perf_counter, time.process_time
    began = [clock() for clock in clocks]
    found = _called(name, function, model, given)
    seconds = min(clock() - start for clock, start in zip(clocks, began, strict=True))
    if not isinstance(found, list) or len(found) != len(given):
        raise Mistake(f"{name} should give a list of {len(given)}, but gives {describe(found)}.")
    if seconds > SECONDS:
        raise Mistake(
            f"{name} should take less than {SECONDS:.0f} s for {len(given)}, but takes {seconds:.0f} s.",
            "Does it read one at a time?",
        )
    return found, seconds


def _without_dropout(given: Any) -> None:
    """Raise Mistake if dropout is on in what `load` gave: its words change from call to call."""
    held: Iterable[Any] = ()
    if isinstance(given, tuple | list | Mapping):
        held = given.values() if isinstance(given, Mapping) else given
    models = [model for model in (given, *held) if isinstance(model, torch.nn.Module)]
    parts = [part for model in models for part in model.modules()]
    if any(isinstance(part, torch.nn.Dropout) and part.training and part.p for part in parts):
        raise Mistake(
            "The model that load returns still has dropout on.", "Is model.eval() missing before return?"
        )


def _translations(translate: Callable[..., Any], model: Any) -> tuple[float, int]:
    """The seconds that some sentences take, and how many translations have no word."""
    asked = [SENTENCES[k % len(SENTENCES)] for k in range(AT_ONCE)]
    found, seconds = _timed("translate", translate, model, asked)
    for text in found:
        if not isinstance(text, str):
            raise Mistake(f"translate should give texts, but one of them is {describe(text)}.")
    if any(sign in " ".join(found) for sign in ("<sos>", "<eos>", "<pad>")):
        raise Mistake(
            "translate should give plain texts, but there is a special sign such as <eos> in one."
        )
    _without_dropout(model)
    again, _ = _timed("translate", translate, model, asked)
    if again != found:
        raise Mistake(
            "translate should give the same texts when it is called again, but does not.",
            "Is dropout on, because model.eval() is missing in load? Or are words drawn at random?",
        )
    for sentence, among in zip(asked[:ALONE], found, strict=False):
        (alone,), _ = _timed("translate", translate, model, [sentence])
        if alone != among:
            raise Mistake(
                f"translate should give the same for a sentence alone and among {AT_ONCE}, but gives "
                f"{alone!r} and {among!r}.",
                "Does a mask let it read the padding?",
            )
    return seconds, sum(not text.strip() for text in found)


def _captions(caption: Callable[..., Any], model: Any) -> tuple[float, int]:
    """The seconds that some pictures take, and how many captions have no word."""
    pictures = torch.rand(
        AT_ONCE, 3, curve.PIXELS, curve.PIXELS, generator=torch.Generator().manual_seed(0)
    )
    found, seconds = _timed("caption", caption, model, pictures)
    _without_dropout(model)
    for pair in found:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise Mistake(f"caption should give pairs of a text and maps, but one is {describe(pair)}.")
        text, maps = pair
        if maps is None:
            continue
        if not isinstance(maps, torch.Tensor) or maps.dim() != 3 or len(maps) != len(text.split()):
            came = (
                describe(maps)
                if isinstance(maps, torch.Tensor)
                else f"of the type {type(maps).__name__}"
            )
            raise Mistake(
                f"The maps of a caption of {len(text.split())} words should be a tensor (words, rows, "
                f"columns) or None, but they are {came}."
            )
    for number, (text, _) in enumerate(found[:ALONE]):
        again, _ = _timed("caption", caption, model, pictures[number : number + 1])
        if again[0][0] != text:
            raise Mistake(
                f"caption should give the same for a picture alone and among {AT_ONCE}, but gives "
                f"{again[0][0]!r} and {text!r}.",
                "Is there a mean over the batch, does the first caption that ends stop all, or are "
                "words drawn at random?",
            )
    return seconds, sum(not text.strip() for text, _ in found)
