"""A student's own Transformer as one short file that needs only PyTorch, to keep and to understand."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from seqcourse import own
from seqcourse.errors import CourseError
from seqcourse.publish import torch_only
from seqcourse.tokens import EOS, PAD, SOS, UNK

# In reading order: the block, the whole, the loss, the loop, decoding. What they use comes before them.
WANTED = (
    *("layer_norm", "encoder_block", "decoder_block", "Transformer"),
    *("label_smoothed_loss", "train_step", "translate"),
)
# What of `seqcourse.functional` is an answer of assignment 5, and the arguments that it does not take.
ANSWERS = {"attention": "attention", "causal_mask": "causal_mask", "length_mask": "padding_mask"}
DROPPED = {"attention": {"need_weights"}, "causal_mask": {"device"}, "length_mask": set()}
NUMBERS = {"PAD": PAD, "SOS": SOS, "EOS": EOS, "UNK": UNK}
TITLES = {"ps5": "Assignment 5: attention and its masks", "ps6": "Assignment 6: the Transformer"}
FORMS = {
    "functional": {
        *("attention", "causal_mask", "length_mask", "softmax", "sinusoidal_encoding", "layer_norm")
    },
    "models": {"Step"},
    "data": set(NUMBERS),
}
LONGEST_TRY = 300  # seconds
MAIN = Path(__file__).parent / "page_files" / "eject_main.txt"


def eject(folder: Path, out: Path) -> int:
    """Write the file; returns how many lines it has.

    Args:
        folder: holds ps5/ps5.ipynb and ps6/ps6.ipynb, of which nothing is run.
        out: the new file.

    Raises:
        CourseError: an answer is not solved, or uses what needs the course.
    """
    text = source(folder, out.name)
    out.write_text(text, encoding="utf-8")
    return len(text.splitlines())


def source(folder: Path, name: str = "own_transformer.py") -> str:
    """The text of the file."""
    texts = own.code_of(_notebook(folder, "ps6"))
    theirs: dict[str, str] = {}
    for wanted in WANTED:
        found = own.with_needs(texts, wanted)
        if "raise NotImplementedError" in found.get(wanted, "raise NotImplementedError"):
            raise CourseError(
                f"eject needs your own {wanted} of assignment 6, but your notebook has none yet."
            )
        theirs |= {key: piece for key, piece in found.items() if key not in theirs}
    pieces = {key: piece for key, piece in theirs.items() if not key.startswith("import:")}
    rooms = _rooms(piece for key, piece in theirs.items() if key.startswith("import:"))
    answers, course, numbers = _fitting(_answers(folder), pieces, rooms), {}, set(NUMBERS)
    earlier: dict[str, str] = {}
    for key, piece in pieces.items():
        pieces[key], used = _without_course(piece, key, answers, rooms)
        for each in used:
            if each in answers:
                earlier |= answers[each]
            elif each not in numbers:
                course |= own.with_needs([inspect.getsource(torch_only)], each)
    every = [*theirs.items(), *earlier.items(), *course.items()]
    _check_names(course, earlier, pieces)
    parts = [
        _head({piece for key, piece in every if key.startswith("import:")}, name),
        *_section("What the course gave", course),
        *_section(TITLES["ps5"], earlier),
        *_section(TITLES["ps6"], pieces),
        MAIN.read_text(encoding="utf-8").replace("FILE", name),
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def tried(path: Path, steps: int = 30) -> tuple[float, float]:
    """The first and the last loss of the file, run for some steps where the course cannot be imported.

    Raises:
        CourseError: it stops with an error.
    """
    block = "import runpy,sys;sys.modules['seqcourse']=None;sys.argv=sys.argv[1:];"
    command = [sys.executable, "-c", f"{block}runpy.run_path(sys.argv[0],run_name='__main__')"]
    try:
        done = subprocess.run(
            [*command, str(path.resolve()), str(steps)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},  # Windows has another for a pipe
            timeout=LONGEST_TRY,
        )
    except subprocess.TimeoutExpired:
        raise CourseError(
            f"{path.name} was written, but its {steps} steps did not end within {LONGEST_TRY} seconds."
        ) from None
    losses = [float(each) for each in re.findall(r"loss ([\d.]+|nan|inf)", done.stdout)]
    if done.returncode or len(losses) < 2:
        last = next(iter(done.stderr.strip().splitlines()[-1:]), "it printed no loss")
        raise CourseError(f"{path.name} was written, but does not run: {last}")
    return losses[0], losses[-1]


def _notebook(folder: Path, name: str) -> Path:
    places = folder / name / f"{name}.ipynb", folder / f"{name}.ipynb"
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise CourseError(f"eject needs your {name}.ipynb in {folder}, but it is not there.")
    return found


def _answers(folder: Path) -> dict[str, dict[str, str]]:
    """The answers of assignment 5 with what they use, as far as they are solved and stand alone."""
    try:
        texts = own.code_of(_notebook(folder, "ps5"))
    except CourseError:
        return {}
    found = {}
    for formula, answer in ANSWERS.items():
        pieces = own.with_needs(texts, answer)
        solved = "raise NotImplementedError" not in pieces.get(answer, "raise NotImplementedError")
        alone = not any("seqcourse" in piece for piece in pieces.values())
        if solved and alone:
            found[formula] = pieces
    return found


def _fitting(answers: dict, pieces: dict[str, str], rooms: dict[str, str]) -> dict:
    """The answers that take whatever the pieces give to the formulas in whose place they come."""
    found = dict(answers)
    for call in (call for piece in pieces.values() for call in _calls(ast.parse(piece), rooms)):
        formula = call.func.attr
        if formula not in found:
            continue
        function = ast.parse(found[formula][ANSWERS[formula]]).body[0]
        if not isinstance(function, ast.FunctionDef):
            continue
        taken = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
        named = {each.arg for each in call.keywords} - DROPPED[formula]
        if not named <= set(taken) or len(call.args) > len(function.args.args):
            del found[formula]
    return found


def _check_names(*sections: dict[str, str]) -> None:
    """Refuse two things of one name in the file.

    Raises:
        CourseError: there are.
    """
    main = ast.parse(MAIN.read_text(encoding="utf-8")).body
    there = dict.fromkeys(name for line in main for name in own.binds(line))
    for section in sections:
        for name, piece in section.items():
            if not name.startswith("import:") and there.get(name, piece) != piece:
                raise CourseError(
                    f"{name} would be in the file twice, and not alike. Give yours another name in your "
                    f"notebook, then eject again."
                )
            there[name] = piece


def _rooms(imports: Iterable[str]) -> dict[str, str]:
    """What a notebook calls the course's rooms, {"F": "functional"}, and what it took out of them."""
    found = {}
    for line in (node for piece in imports for node in ast.parse(piece).body):
        inside = line.module if isinstance(line, ast.ImportFrom) else ""
        for alias in line.names:
            room = f"{inside}.{alias.name}".strip(".")
            if room.split(".")[0] == "seqcourse":
                found[alias.asname or alias.name] = room.removeprefix("seqcourse.")
    return found


def _without_course(piece: str, name: str, answers: dict, rooms: dict) -> tuple[str, list[str]]:
    """A piece with the course's names replaced, and which formulas and numbers it uses.

    Raises:
        CourseError: it uses what has no form without the course.
    """
    cuts: list[tuple[int, int, str]] = []
    used: list[str] = []
    starts = [0]
    for line in piece.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))

    def at(node: ast.AST, end: bool = False) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)
        return starts[line - 1] + column

    tree = ast.parse(piece)
    local = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    local |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    rooms = {called: room for called, room in rooms.items() if called not in local}
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    inside = [node for node in inside if isinstance(node.value, ast.Name) and node.value.id in rooms]
    alone = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in rooms}
    if alone - {id(node.value) for node in inside}:
        direct = next(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in rooms)
        raise CourseError(_needs_course(name, rooms[direct]))
    for node in inside:
        room, formula = rooms[node.value.id], node.attr
        if formula not in FORMS.get(room, ()):
            raise CourseError(_needs_course(name, f"{room}.{formula}"))
        used.append(formula)
        called = ANSWERS[formula] if formula in answers else formula
        if called in local and isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
            raise CourseError(
                f"{name} calls something of its own {called}, the name of {room}.{formula} in the "
                f"file. Give yours another name, then eject again."
            )
        cuts.append((at(node), at(node, True), called))
    for call in _calls(tree, rooms):
        formula = call.func.attr
        for keyword in call.keywords if formula in answers else ():
            if keyword.arg in DROPPED[formula]:
                given = sorted([*call.args, *call.keywords], key=at)
                k = given.index(keyword)
                start = at(given[k - 1], True) if k else at(keyword)
                start += piece.encode()[start : at(keyword)].index(b",") if k else 0
                end = at(keyword, True) if k or len(given) == 1 else at(given[1])
                cuts.append((start, end, ""))
                if keyword.arg == "device":  # theirs takes none
                    device = ast.get_source_segment(piece, keyword.value)
                    cuts.append((at(call, True), at(call, True), f".to({device})"))
    data = piece.encode()
    for start, end, text in sorted(cuts, reverse=True):
        data = data[:start] + text.encode() + data[end:]
    lines = data.decode().splitlines()
    kept = [line for line in lines if line.strip() not in ("### BEGIN SOLUTION", "### END SOLUTION")]
    return "\n".join(kept), list(dict.fromkeys(used))


def _needs_course(name: str, what: str) -> str:
    return f"{name} uses {what}, which needs the course. Write it with PyTorch alone, then eject again."


def _calls(tree: ast.AST, rooms: dict) -> Iterator[ast.Call]:
    """Calls of functional.NAME(...) where the student's own may take the place of NAME."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        room = rooms.get(ast.unparse(node.func.value))
        if room == "functional" and node.func.attr in DROPPED:
            yield node


def _head(imports: set[str], name: str) -> str:
    plain = {each for each in imports if "seqcourse" not in each and "__future__" not in each}
    numbers = ", ".join(NUMBERS), ", ".join(map(str, NUMBERS.values()))
    lines = sorted(plain | {"import sys", "import torch", "from torch import nn"})
    return (
        f'"""My Transformer, out of my own notebooks: it needs only PyTorch. Run: python {name}"""\n\n'
        + "\n".join([*(x for x in lines if x.startswith("import")), *(x for x in lines if x[0] == "f")])
        + f"\n\n{numbers[0]} = {numbers[1]}  # ids of the special words"
    )


def _section(title: str, pieces: dict[str, str]) -> list[str]:
    own_pieces = [piece for key, piece in pieces.items() if not key.startswith("import:")]
    if not own_pieces:
        return []
    own_pieces = dict.fromkeys(own_pieces)  # a, b = 1, 2 is there for both names
    kept = [re.sub(r"\n *### (BEGIN|END) SOLUTION", "", piece) for piece in own_pieces]
    return [f"# {title}\n\n\n{kept[0]}", *kept[1:]]
