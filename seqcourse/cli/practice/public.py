"""Code of the package that the page "What does this code do?" asks about, and how it is called.

None of it is an answer of an assignment.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from cellgrader.viva.questions import LOOK, NUMBERS, ROWS
from seqcourse import functional, nn
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.modules import module_arguments, record_module
from seqcourse.check.exercise import Exercise
from seqcourse.cli.practice.items import PracticeQuestion, about_code
from seqcourse.cli.practice.running import spread
from seqcourse.nn.first_state import average

SEED, MOST = 1, 3  # questions about one piece of code
FACTOR = "By which number"  # a question about numbers that sizes answer


@dataclass(frozen=True)
class PublicCode:
    """A function or a class, the page of the book that explains it, and how it is called.

    uses: what a reader has to know of functions of the package that it calls.
    """

    page: str
    exercise: Exercise
    uses: str = ""

    @property
    def file(self) -> str:
        """Where it is written."""
        return inspect.getsourcefile(self.exercise.reference)

    @property
    def source(self) -> str:
        """The code as it is shown: no docstring, no check that only raises, no method but forward."""
        thing = self.exercise.reference
        lines, left = inspect.getsource(thing).splitlines(), set()
        kept = thing.__name__, "__init__", "forward"
        for node in ast.walk(ast.parse("\n".join(lines))):
            for part in node.body if isinstance(getattr(node, "body", None), list) else ():
                value = part.value if isinstance(part, ast.Expr) else None
                text = isinstance(value, ast.Constant)
                check = isinstance(part, ast.If) and isinstance(part.body[-1], ast.Raise)
                text |= isinstance(value, ast.Call) and isinstance(value.func, ast.Name)  # a check, too
                other = isinstance(part, ast.FunctionDef) and part.name not in kept
                if text or check and not part.orelse or other:
                    left |= set(range(part.lineno - 1, part.end_lineno))
        shown = [line for number, line in enumerate(lines) if line.strip() and number not in left]
        return "\n".join(shown) + "\n"

    def questions(self) -> list[PracticeQuestion]:
        """All questions about it, the same in every build, that do not hang on numbers nobody sees."""
        space = vars(inspect.getmodule(self.exercise.reference))
        given = self.exercise.cases[0].make().values()
        plain = not any(isinstance(value, torch.Tensor) for value in given)
        return [
            item
            for item in about_code(self.exercise, self.source, space, SEED)
            if item.kind not in (ROWS, NUMBERS) or plain or FACTOR in item.words
        ]


def asked() -> Iterator[tuple[PublicCode, list[PracticeQuestion]]]:
    """Each piece of code with some questions, each of another kind, shapes first."""
    kinds: Counter[str] = Counter()
    for code in PUBLIC:
        some = {item.kind: item for item in spread(code.questions(), MOST, kinds, SEED)}
        yield code, sorted(some.values(), key=lambda item: item.kind != LOOK)


def _given(**values: Any) -> dict[str, Any]:
    """Arguments by name: a tuple is the shape of a tensor of random numbers."""
    drawn = normal({name: value for name, value in values.items() if isinstance(value, tuple)})
    return {name: drawn.get(name, value) for name, value in values.items()}


def _code(
    page: str, thing: Callable[..., Any], uses: str = "", **cases: Mapping[str, Any]
) -> PublicCode:
    """A function with its calls by label, the first of which is asked about."""
    calls = {label.replace("_", " "): given for label, given in cases.items()}
    return PublicCode(page, Exercise(thing.__name__, _given, thing, cases=calls), uses)


def _convolution(batch: int, causal: bool) -> dict[str, Any]:
    build = {"width": 4, "kernel": 3, "causal": causal}
    weights = {"convolution.weight": (4, 4, 3), "convolution.bias": (4,)}
    return module_arguments(build, weights, {"x": (batch, 5, 4)})


_CONVOLUTION = Exercise(
    "ConvolutionLayer",
    _convolution,
    nn.ConvolutionLayer,
    cases={
        "the first example": {"batch": 2, "causal": True},
        "a batch of 1": {"batch": 1, "causal": True},
        "not causal": {"batch": 2, "causal": False},
    },
    record=record_module,
)
_REAL = torch.arange(4) < torch.tensor([[4], [2], [3]])  # three sentences, padded to 4

_WIDENED = "widened makes float16 and bfloat16 float32; other numbers stay as they are."

PUBLIC = (
    _code(
        "01_recurrent_networks",
        functional.gru_combine,
        the_first_example={"from_x": (3, 12), "from_h": (3, 12), "h": (3, 4)},
        a_batch_of_1={"from_x": (1, 12), "from_h": (1, 12), "h": (1, 4)},
    ),
    _code(
        "05b_variants_of_attention",
        average,
        the_first_example={"states": (3, 4, 2), "mask": _REAL},
        a_batch_of_1={"states": (1, 4, 2), "mask": _REAL[2:]},
        no_padding={"states": (2, 4, 2), "mask": _REAL[[0, 0]]},
    ),
    PublicCode("09_multi_head_attention", _CONVOLUTION),
    _code(
        "10b_ten_years_of_the_block",
        functional.rms_norm,
        _WIDENED,
        the_first_example={"x": (2, 3, 4), "gamma": (4,)},
        a_batch_of_1={"x": (1, 3, 4), "gamma": (4,)},
    ),
    _code(
        "12c_adapt_and_prefer",
        functional.group_advantage,
        _WIDENED,
        the_first_example={"rewards": (3, 4)},
        a_batch_of_1={"rewards": (1, 4)},
    ),
    _code(
        "13_image_captioning",
        functional.grid_encoding,
        "sinusoidal_encoding(n, d) is (n, d); its row i depends on i alone.",
        the_first_example={"rows": 2, "columns": 3, "width": 8},
        one_row={"rows": 1, "columns": 3, "width": 8},
        a_square={"rows": 3, "columns": 3, "width": 8},
    ),
    _code(
        "14b_pictures_and_words",
        functional.contrastive_loss,
        _WIDENED,
        the_first_example={"logits": (3, 5)},
        a_batch_of_1={"logits": (1, 5)},
        no_other_captions={"logits": (3, 3)},
    ),
    _code(
        "15_speech",
        functional.dct_matrix,
        the_first_example={"rows": 3, "columns": 4},
        all_rows={"rows": 4, "columns": 4},
    ),
)
