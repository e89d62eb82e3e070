"""In the kernel that grades: what only the student's editor has is passed over, with a line.

Drives and downloads of Colab, windows for figures and extensions of IPython have nothing to do with an
answer. But an error there would also skip the rest of its cell. ``cellgrader.run.kernels`` calls
``install`` before the first cell. An import within ``try`` or ``if`` is left alone: there the student
asks whether this is Colab, and it is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

COLAB = "google.colab"
# Magics about the editor or what is installed. All others belong to the work: their errors count.
PASSABLE = {"matplotlib", "load_ext", "tensorboard", "tensorflow_version", "pylab", "cd"}


class Nothing:
    """A part of Colab: everything can be read, called and looped over, and nothing happens."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(f"{self._name}.{name}")

    def __call__(self, *arguments: object, **options: object) -> Nothing:
        print(f"{self._name}() was passed over: only Colab has it.")
        return self

    def __iter__(self) -> Iterator[Nothing]:
        return iter(())

    def __repr__(self) -> str:
        return f"{self._name}, which only Colab has"


class WithoutColab(ast.NodeTransformer):
    """Binds what a cell imports from Colab to ``Nothing``."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        body: list[ast.stmt] = []
        for statement in module.body:
            names = list(_from_colab(statement))
            if not names:
                body.append(statement)
            for name, whole in names:
                bound = f"{name} = __import__({__name__!r}, fromlist=['Nothing']).Nothing({whole!r})"
                made = ast.parse(bound).body[0]
                body.append(ast.fix_missing_locations(ast.copy_location(made, statement)))
        module.body = body
        return module


def _from_colab(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """(name in the notebook, full name) of everything that an import takes from Colab, if it does."""
    if isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        if f"{module}.".startswith(f"{COLAB}.") or module == "google":
            for alias in statement.names:
                whole = f"{module}.{alias.name}"
                if f"{whole}.".startswith(f"{COLAB}."):
                    yield alias.asname or alias.name, whole
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            if f"{alias.name}.".startswith(f"{COLAB}."):
                whole = alias.name if alias.asname else "google"
                yield alias.asname or "google", whole


def install(shell: Any) -> None:
    """Make a kernel pass over what it lacks.

    shell: IPython's shell there.
    """
    run = shell.run_line_magic

    def run_line_magic(magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        if magic_name not in PASSABLE:
            return run(magic_name, line, _stack_depth=_stack_depth + 1)
        try:
            return run(magic_name, line, _stack_depth=_stack_depth + 1)
        except Exception as error:
            print(f"%{magic_name} {line} was passed over while work is graded: {error}")
            return None

    shell.run_line_magic = run_line_magic
    shell.ast_transformers.append(WithoutColab())
