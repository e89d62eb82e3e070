"""For the last assignment: parts out of one's own notebooks, and the file that is handed in."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import re
import symtable
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from seqcourse import settings
from seqcourse.check.grade import checkpoint
from seqcourse.errors import CourseError

FILE, QUICK = "ps9.safetensors", "ps9-quick.safetensors"
# Answers for which the course has nothing of the same form, and what does the same in it.
INSTEAD = {
    "SelfAttention": "nn.SelfAttentionLayer",
    "multi_head": "nn.MultiHeadAttention",
    "cached_step": "nn.MultiHeadAttention",
    "encoder_block": "nn.Block",
    "decoder_block": "nn.Block",
    "greedy": "decode.greedy",
    "translate": "decode.greedy",
    "beam_search": "decode.beam_search",
    "draw": "decode.sample",
    "teacher_forced_loss": "train.teacher_forcing_loss",
    "scheduled_sampling": "train.scheduled_sampling_loss",
    "masked_word_loss": "train.masked_word_loss",
    "alignment_error_rate": "metrics.alignment_error_rate",
    "train_step": "train.Trainer",
    "doubly_stochastic": "functional.doubly_stochastic",
    "points_at": "metrics.points_at",
    "rollout": "functional.attention_rollout",
    "train": "train.Trainer",
    "cut_patches": "functional.patches",
    "pyramid_layer": "nn.PyramidLSTM",
}


def parts(wanted: str, folder: str | Path = "..") -> None:
    """Put the source of your answers to earlier assignments in the place of this cell.

        own.parts("ps5: attention, split_heads; ps6: layer_norm")

    Nothing of the other notebooks is run. What an answer uses comes along: imports, constants, helpers.
    An answer that you do not have is replaced by the course's.

    Args:
        wanted: assignments, and functions or classes of each.
        folder: holds psN/psN.ipynb or psN.ipynb.
    """
    text = source(wanted, folder)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.set_next_input(text, replace=True)
        print("If your editor does not change this cell, give print(own.source(...)) and paste it here.")
    else:
        print(text)


def source(wanted: str, folder: str | Path = "..") -> str:
    """The text that :func:`parts` puts into its cell.

    Raises:
        CourseError: an unknown assignment or answer; two parts that define the same name differently.
    """
    imports: dict[str, None] = {}
    blocks: dict[str, str] = {}
    heads: dict[str, str] = {}
    for assignment, names in _asked(wanted):
        told = [f"# {assignment}:"]
        pieces: dict[str, str] = {}
        for name in names:
            own = _from_notebook(assignment, name, Path(folder))
            found = own or _from_course(assignment, name)
            told.append(name if own else f"{name} (the course's)")
            for key, piece in found.items():
                if key.startswith("import:"):
                    imports[piece] = None
                elif blocks.get(key, piece) != piece:
                    raise CourseError(
                        f"{key} is defined twice, and not alike: once more in {assignment}. Take one of "
                        f"them, or give one another name in its notebook."
                    )
                elif key not in blocks:
                    pieces[key] = blocks[key] = piece
        first = next(iter(pieces), None)
        if first is not None:
            heads[first] = f"{told[0]} {', '.join(told[1:])}\n"
    pieces = [heads.get(name, "") + piece for name, piece in blocks.items()]
    return "\n".join(imports) + "\n\n\n" + "\n\n\n".join(pieces) + "\n"


def _asked(wanted: str) -> Iterable[tuple[str, list[str]]]:
    """("ps5", ["attention", "split_heads"]), ..."""
    for part in filter(str.strip, wanted.split(";")):
        assignment, colon, names = part.partition(":")
        listed = names.replace(",", " ").split()
        if not colon or not listed:
            raise CourseError(
                f'What is wanted should be like "ps5: attention, split_heads; ps6: layer_norm", but '
                f"{part.strip()!r} names no assignment or no answer."
            )
        yield assignment.strip(), listed


def _from_notebook(assignment: str, name: str, folder: Path) -> dict[str, str]:
    """An answer and what it uses, from the student's notebook; {} if it is not there or not solved."""
    places = [folder / assignment / f"{assignment}.ipynb", folder / f"{assignment}.ipynb"]
    for path in filter(Path.is_file, places):
        found = with_needs(code_of(path), name)
        if "raise NotImplementedError" not in found.get(name, "raise NotImplementedError"):
            return found
    return {}


def code_of(notebook: Path) -> list[str]:
    """The sources of a notebook's code cells.

    Raises:
        CourseError: it cannot be read.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{notebook} cannot be read as a notebook: {error}") from error


def _from_course(assignment: str, name: str) -> dict[str, str]:
    """The course's own answer, under the same name."""
    try:
        exercises = import_module(f"seqcourse.check.{assignment}").EXERCISES
    except (ImportError, AttributeError):
        raise CourseError(f"There is no assignment {assignment!r} to take parts of.") from None
    if name not in exercises:
        known = ", ".join(exercises)
        raise CourseError(f"{assignment} has no answer {name!r}. It has {known}.")
    answer = exercises[name].reference
    if not inspect.isfunction(answer):  # none, or one that only a check can call
        return _instead(assignment, name)
    called, module = answer.__name__, answer.__module__
    same = "" if called == name else f" as {name}"
    if not module.startswith("seqcourse.check"):
        return {f"import:{name}": f"from seqcourse.functional import {called}{same}"}
    found = with_needs([Path(inspect.getfile(answer)).read_text(encoding="utf-8")], called)
    inside = any(key.startswith("import:") and "check.ps" in found[key] for key in found)
    if called not in found or inside:
        return _instead(assignment, name)  # the grader's sandbox has no answers of the course
    # Helpers of two answers may have one name.
    renamed = {key: f"{key.strip('_')}_of_{name}" for key in found if not key.startswith("import:")}
    renamed[called] = name
    word = re.compile(rf"\b({'|'.join(renamed)})\b")
    return {
        renamed.get(key, key): word.sub(lambda match: renamed[match[0]], piece)
        for key, piece in found.items()
    }


def _instead(assignment: str, name: str) -> dict[str, str]:
    """A line that names what the course has in the place of an answer."""
    if name not in INSTEAD:
        raise CourseError(
            f"{name} of {assignment} is not solved in your notebook, and the course has nothing of the "
            f"same form to put in its place."
        )
    return {
        name: f"# {name} is not solved in your notebook. Use seqcourse.{INSTEAD[name]} in its place."
    }


def with_needs(texts: Iterable[str], *wanted: str) -> dict[str, str]:
    """The sources of names and of what they use, in their order; later definitions count.

    Imports have keys that begin with "import:".
    """
    defined: dict[str, tuple[str, set[str]]] = {}
    for text in texts:
        try:
            lines = ast.parse(text).body
        except SyntaxError:  # an unfinished answer, a line of magic
            continue
        for line in lines:
            piece = (
                ast.unparse(line) if isinstance(line, ast.Import) else ast.get_source_segment(text, line)
            )
            for decorator in getattr(line, "decorator_list", ())[:1]:
                piece = "\n".join(text.splitlines()[decorator.lineno - 1 : line.end_lineno])
            try:
                used = _uses(symtable.symtable(piece, "own", "exec"))
            except SyntaxError:  # one that only the compiler finds, such as an argument named twice
                continue
            for name in binds(line):
                defined.pop(name, None)
                defined[name] = piece, used - {name}
    needed, waiting = set(), list(wanted)
    while waiting:
        name = waiting.pop()
        if name in defined and name not in needed:
            needed.add(name)
            waiting += defined[name][1]
    is_import = {n for n in needed if defined[n][0].startswith(("import ", "from "))}
    return {f"import:{n}" if n in is_import else n: defined[n][0] for n in defined if n in needed}


def _uses(scope: symtable.SymbolTable) -> set[str]:
    """The notebook's names that a piece of it uses, without the local names of functions."""
    outermost = scope.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in scope.get_symbols()
        if symbol.is_referenced() and (outermost or symbol.is_global())
    }
    return found.union(*map(_uses, scope.get_children()))


def binds(line: ast.stmt) -> list[str]:
    """The names that a top-level statement defines."""
    if isinstance(line, ast.FunctionDef | ast.ClassDef):
        return [line.name]
    if isinstance(line, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in line.names]
    if isinstance(line, ast.Assign | ast.AnnAssign):
        targets = line.targets if isinstance(line, ast.Assign) else [line.target]
        return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


def save(path: str | Path, tensors: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    """Write what is handed in beside the notebook: tensors, fractions as half floats, and notes.

    Raises:
        CourseError: a tensor or a note that cannot be stored, or a file that the grader would refuse.
    """
    import torch
    from safetensors.torch import save as packed

    wrong = [name for name, note in notes.items() if not isinstance(note, str)]
    if wrong:
        raise CourseError(
            f"The note {wrong[0]!r} should be text, but is {type(notes[wrong[0]]).__name__}. "
            f"Use json.dumps."
        )
    stored = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise CourseError(f"{name!r} should be a tensor, but is {type(tensor).__name__}.")
        kind = torch.float16 if tensor.is_floating_point() else tensor.dtype
        stored[name] = tensor.detach().cpu().to(kind, copy=True).contiguous()
    data, path = packed(stored, dict(notes)), Path(path)
    if len(data) > checkpoint.FILE:
        raise CourseError(
            f"{path.name} should have at most {checkpoint.FILE // 1_000_000} MB, but would have "
            f"{len(data) / 1e6:.1f} MB. Make the model smaller."
        )
    try:
        checkpoint.parse(data)
    except ValueError as error:
        raise CourseError(f"{path.name} {error}") from None
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    beside.replace(path)


def read(path: str | Path = "") -> tuple[dict[str, Any], dict[str, str]]:
    """The tensors and the notes of a file, as the grader hands them to ``load``.

    Without a path: of ps9.safetensors, or while there is none, of what a quick training wrote.

    Raises:
        CourseError: what the grader would say of the file.
    """
    import torch

    there = next((name for name in (FILE, QUICK) if Path(name).is_file()), FILE)
    found = checkpoint.read_checkpoint(Path(path or there))
    return {name: torch.tensor(values) for name, values in found.tensors.items()}, found.notes


def trained(space: Mapping[str, Any], budget: str = "") -> list[float]:
    """Train by the notebook's ``make``, write the file, and say what it weighs.

    A quick training writes ps9-quick.safetensors: it never takes the place of a long one.

    Args:
        space: the notebook's names, ``globals()``.
        budget: "quick" or "full"; what SEQCOURSE_BUDGET says if it is not given.

    Returns:
        The losses that ``make`` gave.
    """
    make = needed(space, "make")
    budget = budget or settings.budget()
    began = time.perf_counter()
    tensors, notes, losses = make(budget)
    with contextlib.suppress(TypeError, ValueError):  # no curve of these losses, but the training counts
        notes = {"losses": curve(losses), **notes}
    path = Path(FILE if budget == "full" else QUICK)
    save(path, tensors, notes)
    minutes = (time.perf_counter() - began) / 60
    size = path.stat().st_size / 1e6
    print(f"{path}: {size:.2f} MB, {len(losses)} steps in all; this cell took {minutes:.1f} minutes.")
    return losses


def curve(losses: Sequence[float], most: int = 60) -> str:
    """The learning curve as a note: the number of steps, and at most so many means, as JSON."""
    size = max(1, -(-len(losses) // most))
    parts = [losses[k : k + size] for k in range(0, len(losses), size)]
    return json.dumps([len(losses), [round(float(sum(part)) / len(part), 3) for part in parts]])


def needed(space: Mapping[str, Any], name: str) -> Any:
    """What the notebook defines under a name.

    Raises:
        NotImplementedError: nothing yet.
    """
    if name not in space:
        raise NotImplementedError(f"There is no {name} yet.")
    return space[name]
