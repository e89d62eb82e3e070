"""``seqcourse train`` and ``seqcourse translate``."""

from __future__ import annotations

from pathlib import Path

from seqcourse.cli.root import shown, typed
from seqcourse.errors import CourseError

# Steps of a trial run.
QUICK_STEPS = 200


def train_model(
    name: str, *, resume: bool, budget: str, out: Path | None, photographs: Path | None = None
) -> None:
    """Train by a recipe into a folder of its own, and print what was measured."""
    if budget not in ("quick", "full"):
        raise CourseError(f"--budget should be 'quick' or 'full', but is {budget!r}.")
    from seqcourse import zoo

    zoo.recipe(name)
    stored = zoo.figures(name) if (zoo.FILES / name).is_dir() else {}  # nothing yet for a new recipe
    print(f"{name}: {_what_to_expect(budget, stored.get('training_seconds'))}", flush=True)
    own = name if photographs is None else f"{name}-photographs"
    folder = out or Path("runs") / (own if budget == "full" else f"{own}-quick")
    steps = QUICK_STEPS if budget == "quick" else None
    system = zoo.train(name, out=folder, resume=resume, max_steps=steps, photographs=photographs)
    whole = stored.get("measured", {}) if budget == "quick" else {}
    for figure, value in system.figures.get("measured", {}).items():
        if isinstance(value, int | float):
            beside = f" (the whole recipe: {whole[figure]:.4g})" if figure in whole else ""
            print(f"{figure}: {value:.4g}{beside}")
    print(f"All that was measured is in {shown(folder / 'figures.json')}.")
    if system.task.translates:
        use = f"seqcourse translate ... --model {name} --folder {typed(folder)}"
    else:
        use = f"zoo.load({name!r}, {str(folder)!r}).{system.task.use}"
    print(f"Stored in {shown(folder)}. Use it: {use}")


def _what_to_expect(budget: str, seconds: float | None) -> str:
    """How long a training takes, and what a trial is good for."""
    took = f" It took {seconds / 60:.0f} minutes when it was measured." if seconds else ""
    if budget == "full":
        return f"the whole recipe.{took}"
    return (
        f"a trial of {QUICK_STEPS} steps and the measurement, some minutes in all. Expect to see that "
        f"it runs and that the loss falls, not a good model: a translator does not write sentences yet. "
        f"The whole recipe makes the figures in brackets.{took}"
    )


def translate_text(text: str, model: str | None, *, beam: int, n_best: int, folder: Path | None) -> None:
    """Print the best outputs for one input: this model's, or without one the interpreter's."""
    if not text.strip():
        raise CourseError("The text to translate should be a sentence in quotes, but is empty.")
    if n_best > beam:
        raise CourseError(
            f"A beam of {beam} keeps {beam} paths, but {n_best} results were asked for. "
            f"Widen it: --beam {n_best}"
        )
    if folder is not None and not model:
        raise CourseError(f"Which recipe made the checkpoint in {folder}? Name it: --model NAME.")
    from seqcourse import zoo

    system = zoo.load(model, folder) if model else zoo.interpreter()
    if n_best == 1:
        print(system.translate_text(text, beam=beam))
        return
    best = system.translate([text], beam=beam, n_best=n_best)[0]
    for output, score in best.n_best:
        print(f"{score:7.3f}  {output}")
