"""The arrows between the rooms of the package point downwards only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "seqcourse"
GRADER = PACKAGE.parent / "autograder"

# What each room may import from the package; everybody may import EVERYBODY. The grader, a package of
# its own, counts as one room here.
MAY_IMPORT = {
    "colab": set(),
    "errors": set(),
    "settings": set(),
    "bounds": set(),
    "class_settings": set(),
    "printable": set(),
    "exchange": set(),
    "sockets": set(),
    "stand_in": set(),
    "tokens": set(),
    "functional": set(),
    "nn": {"functional"},
    "models": {"functional", "nn"},
    "decode": {"functional"},
    "train": {"functional"},
    "data": set(),
    "metrics": set(),
    "zoo": {"data", "decode", "functional", "metrics", "models", "nn", "train"},
    "viz": set(),
    "live": {"data", "decode", "functional", "viz", "zoo"},
    "pages": set(),
    "progress": set(),
    "answers": set(),
    "check": {"answers", "functional", "progress"},
    "own": {"check"},
    "capstone": {"check", "data", "metrics", "zoo"},
    "autograder": {"answers", "capstone", "check"},
    "audit": {"autograder", "check"},
    "cli": {"answers", "audit", "autograder", "check", "data", "pages", "progress", "zoo"},
}
# The rooms of the grader, each with those that it may import: all that stand before it, or fewer.
IN_GRADER = (
    *("notebook", "sandbox", "processes", "course", "platforms", "release", "run", "submission"),
    *("marks", "with_nbgrader", "appeals", "pages", "similar", "leaderboard", "viva", "people"),
    *("grade", "watch"),
)
EVERYBODY = {
    "bounds",
    "class_settings",
    "errors",
    "exchange",
    "printable",
    "settings",
    "sockets",
    "tokens",
}
# Libraries that a room must not touch: their users would pay for them without need.
MUST_NOT_IMPORT = {
    "autograder": {"torch", "accelerate"},
    "viz": {"torch"},
    "functional": {"numpy", "matplotlib"},
    "nn": {"numpy", "matplotlib"},
    "models": {"numpy", "matplotlib"},
    "decode": {"numpy", "matplotlib"},
}


def rooms(package: Path) -> list[str]:
    names = {path.stem if path.is_file() else path.name for path in package.iterdir()}
    return sorted(name for name in names if not name.startswith("_"))


def imports(path: Path) -> set[str]:
    """Full names of the modules that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
                base = ".".join(parts[: len(parts) - node.level])
                found |= {f"{base}.{node.module or alias.name}" for alias in node.names}
            else:
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def files(room: str) -> list[Path]:
    folder = GRADER if room == "autograder" else PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]


def test_the_table_names_every_room():
    assert ["autograder", *rooms(PACKAGE)] == sorted(
        MAY_IMPORT, key=lambda room: (room != "autograder", room)
    )
    assert sorted([*IN_GRADER, "templates"]) == rooms(GRADER)


def room_of(name: str) -> str:
    """The room of a module by its full name, or ""."""
    first, _, rest = name.partition(".")
    room = first if first == "autograder" else rest.partition(".")[0] if first == "seqcourse" else ""
    return room if room in MAY_IMPORT else ""


def test_the_table_has_no_circle():
    done: set[str] = set()
    while len(done) < len(MAY_IMPORT):
        ready = {room for room, below in MAY_IMPORT.items() if below <= done} - done
        assert ready, f"these rooms import each other: {set(MAY_IMPORT) - done}"
        done |= ready


def module_imports() -> dict[str, set[str]]:
    """For every module of the package the modules of the package that it imports."""
    paths = {}
    for path in [*PACKAGE.rglob("*.py"), *GRADER.rglob("*.py")]:
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        paths[".".join(part for part in parts if part != "__init__")] = path
    found = {}
    for module, path in paths.items():
        named = {name if name in paths else name.rpartition(".")[0] for name in imports(path)}
        found[module] = named & paths.keys() - {module}
    return found


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The sets of nodes from each of which every other one of the set can be reached."""
    reached = {}
    for node in graph:
        seen, waiting = set(), [node]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[node] = seen
    joined = (frozenset(b for b in reached[a] if a in reached[b]) for a in graph)
    return {circle for circle in joined if circle}


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a", "f"}, "f": {"e"}}
    assert circles(graph) == {frozenset("bc"), frozenset("ef")}


def test_no_modules_import_each_other():
    for circle in circles(module_imports()):
        raise AssertionError(f"these import each other: {sorted(circle)}")


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_what_lies_below(room):
    allowed = MAY_IMPORT[room] | EVERYBODY | {room}
    for path in files(room):
        for name in imports(path):
            parts = name.split(".")
            where = path.relative_to(PACKAGE.parent)
            if room_of(name):
                assert room_of(name) in allowed, f"{where} imports {name}; {room} may not"
            banned = MUST_NOT_IMPORT.get(room, set())
            assert parts[0] not in banned, f"{where} imports {parts[0]}"


def test_rooms_of_the_grader_import_only_those_before_them():
    for path in GRADER.rglob("*.py"):
        room = path.relative_to(GRADER).with_suffix("").parts[0]
        for parts in (name.split(".") for name in imports(path)):
            if parts[0] == "autograder" and len(parts) > 1 and parts[1] in IN_GRADER:
                before = IN_GRADER[: IN_GRADER.index(room) + 1] if room in IN_GRADER else ()
                assert parts[1] in before, f"{path.relative_to(GRADER)} imports {'.'.join(parts)}"


def test_a_face_explains_every_module_of_its_room():
    for folder in (GRADER, *(path for path in GRADER.iterdir() if (path / "__init__.py").is_file())):
        told = re.findall(
            r"^``(\w+)``", ast.get_docstring(ast.parse((folder / "__init__.py").read_text())), re.M
        )
        there = [name for name in rooms(folder) if name != "templates"]
        assert sorted(told) == there and len(there) <= 20, folder.name


@pytest.mark.parametrize(
    "module",
    ["seqcourse", "seqcourse.cli", "seqcourse.cli.app", "autograder.run.worker", "seqcourse.viz"],
)
def test_torch_is_loaded_only_where_a_model_runs(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
