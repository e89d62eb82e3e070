"""The arrows between the rooms of the package point downwards only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "seqcourse"
GRADER = PACKAGE.parent / "cellgrader"

# What each room may import from the package; everybody may import EVERYBODY. The grader, a package of
# its own, counts as one room here.
MAY_IMPORT = {
    "colab": set(),
    "errors": set(),
    "settings": set(),
    "profile": set(),
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
    "pages": {"viz"},
    "progress": set(),
    "check": {"functional", "progress"},
    "own": {"check"},
    "publish": {"check", "data", "live", "metrics", "own", "viz"},
    "capstone": {"check", "data", "metrics", "zoo"},
    "cellgrader": set(),
    "audit": {"cellgrader", "check"},
    "cli": {
        *("audit", "cellgrader", "check", "data", "decode", "functional", "nn", "own", "pages"),
        *("progress", "publish", "viz", "zoo"),
    },
}
EVERYBODY = {"errors", "settings", "tokens"}
# What everybody may import of the grader.
OF_GRADER = (
    *("errors", "profile", "printable", "bounds", "sockets", "probe_files", "class_settings", "answers"),
)
# The rooms of the grader; each may import those that stand before it.
IN_GRADER = (
    *(*OF_GRADER, "checks", "notebook", "sandbox", "processes", "course", "platforms", "release"),
    *("submission", "run", "marks", "with_nbgrader", "appeals", "pages", "similar", "leaderboard"),
    *("viva", "people", "grade", "watch"),
)
# Libraries that a room must not touch: their users would pay for them without need.
MUST_NOT_IMPORT = {
    "cellgrader": {"torch", "accelerate"},
    "viz": {"torch"},
    "functional": {"numpy", "matplotlib"},
    "nn": {"numpy", "matplotlib"},
    "models": {"numpy", "matplotlib"},
    "decode": {"numpy", "matplotlib"},
}


HAS_TEXT = (ast.Module, ast.ClassDef, ast.FunctionDef)


def rooms(package: Path) -> list[str]:
    names = {
        path.stem if path.is_file() else path.name
        for path in package.iterdir()
        if path.is_file()
        or any(p.suffix not in ("", ".pyc") for p in path.rglob("*"))  # not what is left
    }
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
    folder = GRADER if room == "cellgrader" else PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]


def test_the_table_names_every_room():
    assert ["cellgrader", *rooms(PACKAGE)] == sorted(
        MAY_IMPORT, key=lambda room: (room != "cellgrader", room)
    )
    assert sorted([*IN_GRADER, "templates"]) == rooms(GRADER)


def room_of(name: str) -> str:
    """The room of a module by its full name, or ""."""
    first, second = (*name.split("."), "")[:2]
    if first == "cellgrader":
        return "" if second in OF_GRADER else first
    return second if first == "seqcourse" and second in MAY_IMPORT else ""


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
            if parts[0] == "cellgrader" and len(parts) > 1 and parts[1] in IN_GRADER:
                before = IN_GRADER[: IN_GRADER.index(room) + 1] if room in IN_GRADER else ()
                assert parts[1] in before, f"{path.relative_to(GRADER)} imports {'.'.join(parts)}"


def test_a_face_explains_every_module_of_its_room():
    for folder in (GRADER, *(path for path in GRADER.iterdir() if (path / "__init__.py").is_file())):
        face = (folder / "__init__.py").read_text(encoding="utf-8")
        told = re.findall(r"^``(\w+)``", face, re.M)
        assert sorted(told) == [name for name in rooms(folder) if name != "templates"], folder.name
        assert len([*folder.glob("*.py")]) <= 20, folder.name


ALONE = """
import importlib, pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("seqcourse", "torch"):
            raise ImportError(f"{name} is asked for")
sys.meta_path.insert(0, Refuse())
import cellgrader
names = [module.name for module in pkgutil.walk_packages(cellgrader.__path__, "cellgrader.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def test_the_grader_is_whole_without_the_course_and_without_torch():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_the_grader_knows_the_course_by_its_profile_alone():
    for path in GRADER.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        told = {
            ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, HAS_TEXT)
        }
        named = [text for text in texts - told if isinstance(text, str) and "seqcourse" in text]
        assert not named, f"{path.relative_to(GRADER)}: {named}"


@pytest.mark.parametrize(
    "module",
    ["seqcourse", "seqcourse.cli", "seqcourse.cli.app", "cellgrader.run.worker", "seqcourse.viz"],
)
def test_torch_is_loaded_only_where_a_model_runs(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
