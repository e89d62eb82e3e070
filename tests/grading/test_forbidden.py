"""What the source of an answer is found to use, and what is left in peace."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

import nbformat
import pytest
from seqcourse.grading.forbidden import ALWAYS, Use, covers, sentence, uses

from seqcourse.check.load import load_checks

ROOT = Path(__file__).resolve().parents[2]
SETUP = """
import base64, codecs, functools, importlib, operator, sys
import torch
import torch.nn.functional as F
from torch import nn
from seqcourse import check, data, functional
"""

# Bodies of `def softmax(scores): ...` that use PyTorch's softmax.
OFFENCES = [
    "return torch.softmax(scores, dim=-1)",
    "return scores.softmax(-1)",
    "return (scores - 1).softmax(-1)",
    "return F.softmax(scores, -1)",
    "return nn.functional.softmax(scores, -1)",
    "return nn.Softmax(dim=-1)(scores)",
    "return nn.Softmax(-1).forward(scores)",
    "return torch._softmax(scores, -1, False)",
    "return torch.ops.aten._softmax(scores, -1, False)",
    "return torch.special.softmax(scores, -1)",
    "return torch.Tensor.softmax(scores, -1)",
    "return type(scores).softmax(scores, -1)",
    "return functional.softmax(scores)",
    "s = torch.softmax\nreturn s(scores, -1)",
    "t = torch\nu = t\nreturn u.softmax(scores, -1)",
    "s = t = F\nreturn t.softmax(scores, -1)",
    "s, e = torch.softmax, torch.exp\nreturn s(scores, -1)",
    "from torch import softmax as s\nreturn s(scores, -1)",
    "from torch.nn.functional import softmax\nreturn softmax(scores, -1)",
    "from torch import nn as library\nreturn library.Softmax(-1)(scores)",
    "import torch.nn.functional as nothing\nreturn nothing.softmax(scores, -1)",
    "return getattr(torch, 'softmax')(scores, -1)",
    "return getattr(torch, 'soft' + 'max')(scores, -1)",
    "return getattr(torch, ''.join(['s', 'o', 'f', 't', 'max']))(scores, -1)",
    "return getattr(torch, '{}{}'.format('soft', 'max'))(scores, -1)",
    "return getattr(torch, '%s%s' % ('soft', 'max'))(scores, -1)",
    "part = 'max'\nreturn getattr(torch, f'soft{part}')(scores, -1)",
    "return getattr(torch, 'xamtfos'[::-1])(scores, -1)",
    "return getattr(torch, ''.join(reversed('xamtfos')))(scores, -1)",
    "return getattr(torch, b'softmax'.decode())(scores, -1)",
    "return getattr(torch, bytes([115, 111, 102, 116, 109, 97, 120]).decode())(scores, -1)",
    "return getattr(torch, ''.join(chr(c) for c in [115, 111, 102, 116, 109, 97, 120]))(scores, -1)",
    "return getattr(torch, ''.join(map(chr, (115, 111, 102, 116, 109, 97, 120))))(scores, -1)",
    "return getattr(torch, ''.join(chr(ord(c) + 1) for c in 'rnesl`w'))(scores, -1)",
    "return getattr(torch, base64.b64decode('c29mdG1heA==').decode())(scores, -1)",
    "return getattr(torch, bytes.fromhex('736f66746d6178').decode())(scores, -1)",
    "return getattr(torch, codecs.decode('fbsgznk', 'rot13'))(scores, -1)",
    "return getattr(torch, 'SOFTMAX'.lower())(scores, -1)",
    "return getattr(torch, 'hardmax'.replace('hard', 'soft'))(scores, -1)",
    "for name in ('softmax',):\n    out = getattr(torch, name)(scores, -1)\nreturn out",
    "g = getattr\nreturn g(torch, 'softmax')(scores, -1)",
    "import builtins\nreturn builtins.getattr(torch, 'softmax')(scores, -1)",
    "return __builtins__['getattr'](torch, 'softmax')(scores, -1)",
    "return torch.__getattribute__('softmax')(scores, -1)",
    "return object.__getattribute__(torch, 'softmax')(scores, -1)",
    "return torch.__dict__['softmax'](scores, -1)",
    "return torch.__dict__.get('softmax')(scores, -1)",
    "return vars(torch)['soft' 'max'](scores, -1)",
    "d = vars(torch)\nreturn d['softmax'](scores, -1)",
    "return operator.attrgetter('softmax')(torch)(scores, -1)",
    "return operator.attrgetter('nn.functional.softmax')(torch)(scores, -1)",
    "return operator.methodcaller('softmax', -1)(scores)",
    "return functools.partial(torch.softmax, dim=-1)(scores)",
    "return list(map(torch.softmax, [scores], [-1]))[0]",
    "return __import__('torch').softmax(scores, -1)",
    "return importlib.import_module('torch').softmax(scores, -1)",
    "return importlib.import_module('torch.nn.' + 'functional').softmax(scores, -1)",
    "return sys.modules['torch'].softmax(scores, -1)",
    "return eval('torch.softmax')(scores, -1)",
    "return eval('torch.soft' + 'max(scores, -1)')",
    "exec('out = torch.softmax(scores, -1)')\nreturn locals()['out']",
    "return eval(compile('torch.softmax(scores, -1)', 'x', 'eval'))",
    "return get_ipython().ev('torch.softmax')(scores, -1)",
    "return (lambda s: torch.softmax(s, -1))(scores)",
    "def inner(f=torch.softmax):\n    return f(scores, -1)\nreturn inner()",
    "return [f(scores, -1) for f in [torch.softmax]][0]",
    "if (s := torch.softmax):\n    return s(scores, -1)",
    "class A(nn.Softmax):\n    pass\nreturn A(-1)(scores)",
    "try:\n    return 1 / 0\nexcept ZeroDivisionError:\n    return torch.softmax(scores, -1)",
    "with torch.no_grad():\n    return torch.softmax(scores, -1)",
    "def spelt():\n    return 'soft' + 'max'\nreturn getattr(torch, spelt())(scores, -1)",
    "def library():\n    return torch\nreturn library().softmax(scores, -1)",
    "get = lambda name: getattr(torch, name)\nreturn get('softmax')(scores, -1)",
    "def get(m, *, name):\n    return getattr(m, name)\nreturn get(torch, name='softmax')(scores, -1)",
    "get = lambda n: getattr(torch, n)\nget('exp')\nreturn get('softmax')(scores, -1)",
    "return globals()['helper'](scores)",
    "return helper(scores)",
    "return through(scores)",
    "return Helper()(scores)",
    "return Helper.now(scores)",
    "return Keeper().run(scores)",
    "return alias(scores, -1)",
    "return late(scores)",
    "return table['a'](scores, -1)",
    "return bag[0](scores, -1)",
    "return layer(scores)",
    "return scores.sneaky(-1)",
    "return told(scores, -1)",
    "return made(scores, -1)",
    "return globals()['gl' + 'obal'](scores, -1)",
    "return softmax.kept(scores, -1)",
    "return timed(scores)",
    "return check.ps3.reference_softmax(scores)",
    "from seqcourse.check import ps3\nreturn ps3.reference_softmax(scores)",
]
HELPERS = """
def helper(x):
    return F.softmax(x, -1)

def through(x):
    return helper(x)

class Helper:
    def __call__(self, x):
        return x.softmax(-1)

    @staticmethod
    def now(x):
        return torch.softmax(x, -1)

class Keeper:
    def __init__(self):
        self.kept = torch.softmax

    def run(self, x):
        return self.kept(x, -1)

alias = torch.softmax
late = lambda x: alias(x, -1)
table = {"a": alias}
bag = []
bag.append(torch.softmax)
layer = nn.Softmax(dim=-1)
torch.Tensor.sneaky = torch.softmax
exec("told = torch.softmax")
globals()["global"] = torch.softmax

def make():
    global made
    made = torch.softmax

make()
%time timed = lambda x: torch.softmax(x, -1)
"""


def answer(body: str) -> str:
    lines = "\n    ".join(body.split("\n"))
    return f"def softmax(scores):\n    {lines}\n\nsoftmax.kept = alias\n"


@pytest.mark.parametrize("body", OFFENCES)
@pytest.mark.parametrize("entry", ["softmax", "torch.softmax"])
def test_a_use_is_found(body, entry):
    if entry == "torch.softmax" and "functional.softmax(scores)" in body:
        return  # the package's, not PyTorch's
    found = [use for use in uses([SETUP, HELPERS, answer(body)], "softmax", [entry]) if use.readable]
    assert found
    assert "the thing to build here" in sentence(found[0], "softmax")


# Cells that bind `softmax` to something that is PyTorch's.
CELLS = [
    ["from torch import softmax"],
    ["from torch.nn.functional import softmax as s", "softmax = s"],
    ["softmax = torch.softmax"],
    ["softmax = F.softmax if torch.cuda.is_available() else torch.softmax"],
    ["from torch.nn.functional import *"],
    ["def softmax(x):\n    return x.exp()", "from torch import *"],
    ["def softmax(x):\n    return x.exp()", "softmax = torch.softmax"],
    ["@functools.wraps(torch.softmax)\ndef softmax(x):\n    return x.exp()"],
    ["@(lambda f: torch.softmax)\ndef softmax(x):\n    return x.exp()"],
    ["def softmax(x, f=torch.softmax):\n    return f(x, -1)"],
    ["def softmax(x, *, f=F.softmax):\n    return f(x, -1)"],
    ["import torch as t\nsoftmax = lambda x: t.softmax(x, -1)"],
    ["%%time\ndef softmax(x):\n    return torch.softmax(x, -1)"],
    ["%%capture out\ndef softmax(x):\n    return torch.softmax(x, -1)"],
    ["!ls\n%matplotlib inline\nsoftmax = torch.softmax"],
    ["class softmax(nn.Softmax):\n    pass"],
    ["s = torch.softmax\nsoftmax = s\ns = None"],
    ["globals()['softmax'] = torch.softmax"],
    ["globals().update(softmax=torch.softmax)"],
    ["import __main__\nsetattr(__main__, 'soft' + 'max', torch.softmax)"],
    ["globals().__setitem__('softmax', torch.softmax)"],
    ["vars()['softmax'] = torch.softmax"],
    ["import __main__\n__main__.__dict__['softmax'] = torch.softmax"],
    ["sys.modules['__main__'].softmax = torch.softmax"],
    ["get_ipython().user_ns['softmax'] = torch.softmax"],
    ["get_ipython().push({'softmax': torch.softmax})"],
    ["get_ipython().run_cell('softmax = torch.softmax')"],
    ["\ufeffdef softmax(x):\r\n    return torch.softmax(x, -1)\r\n"],
]


@pytest.mark.parametrize("cells", CELLS, ids=range(len(CELLS)))
def test_an_answer_that_is_the_library_s_is_found(cells):
    assert any(use.readable for use in uses([SETUP, *cells], "softmax", ["softmax"]))


# Bodies and cells that a student may honestly write.
INNOCENT = [
    "# torch.softmax would do\nreturn scores.exp()",
    "'''Like torch.softmax.'''\nreturn scores.exp()",
    "print('torch.softmax')\nreturn scores.exp()",
    "softmax_of = scores.exp()\nreturn softmax_of",
    "weights = {'softmax': scores.exp()}\nreturn weights['softmax']",
    "e = getattr(scores, 'exp')()\nreturn e / e.sum()",
    "e = getattr(torch, 'e' + 'xp')(scores)\nreturn e",
    "for name in ('exp', 'relu'):\n    scores = getattr(torch, name)(scores)\nreturn scores",
    "def softmax(x):\n    return x.exp()\nreturn softmax(scores)",
    "return Own().softmax(scores)",
    "return Own().anything('softmax', scores)",
    "return Child().softmax(scores)",
    "return Kept(scores).now()",
    "own = Own()\nreturn own.softmax(scores)",
    "shadow = scores.exp()\nreturn shadow",
    "def inner(alias):\n    return alias.exp()\nreturn inner(scores)",
    "softmax = scores.exp()\nreturn softmax / softmax.sum()",
    "import math\nreturn math.exp(scores)",
    "return F.relu(scores)",
    "return eval('scores.exp()')",
    "return example + scores",
    "return torch.logsumexp(scores, -1)",
    "def typed(x: nn.Softmax) -> nn.Softmax:\n    return x\nreturn typed(scores)",
    "found: nn.Softmax = scores.exp()\nreturn found",
    "return data.PAD * scores",
    "return scores.check()",
    "return apply(lambda x: x.exp(), scores)",
    "def again(n):\n    return again(n - 1) if n else scores.exp()\nreturn again(3)",
    "get = lambda name: getattr(torch, name)\nreturn get('exp')(scores)",
]
BESIDE = """
class Own:
    def __init__(self):
        self.scale = 1.0

    def softmax(self, x):
        return x.exp() * self.scale

    def anything(self, name, x):
        return getattr(self, name)(x)

class Child(Own):
    pass

class Kept:
    def now(self):
        return self.softmax['x']

    def __init__(self, x):
        self.softmax = {'x': x}

alias = torch.softmax
shadow = torch.softmax
example = torch.softmax(torch.zeros(3), -1)

def apply(f, x):
    return f(x)

def another_exercise(x):
    return apply(torch.softmax, x)
"""
AFTER = "assert torch.allclose(softmax(example), torch.softmax(example, -1))"


@pytest.mark.parametrize("body", INNOCENT)
@pytest.mark.parametrize("entry", ["softmax", "torch.softmax"])
def test_honest_code_is_left_in_peace(body, entry):
    own = answer(body).replace("softmax.kept = alias", "")
    assert uses([SETUP, BESIDE, own, AFTER], "softmax", [entry]) == []


SHADOWED = [
    ["from torch import softmax", "def softmax(x):\n    return x.exp()"],
    ["softmax = torch.softmax\nprint(softmax)\ndel softmax", "def softmax(x):\n    return x.exp()"],
    ["from torch import *", "def softmax(x):\n    return x.exp()"],
    ["def softmax(x):\n    return x.exp()", "from math import *"],
    [
        "helper = torch.softmax",
        "def helper(x):\n    return x.exp()\ndef softmax(x):\n    return helper(x)",
    ],
    [
        "def softmax(x):\n    return helper(x)",
        "helper = F.softmax",
        "def helper(x):\n    return x.exp()",
    ],
    ["def softmax(x):\n    return x.exp(", "def softmax(x):\n    return x.exp()"],
]


@pytest.mark.parametrize("cells", SHADOWED, ids=range(len(SHADOWED)))
def test_what_stands_last_counts(cells):
    assert uses([SETUP, *cells], "softmax", ["softmax"]) == []


@pytest.mark.parametrize(
    "body",
    [
        "return getattr(torch, name_of())(scores)",
        "return getattr(scores, input())(-1)",
        "return vars(torch)[name_of()](scores)",
        "return torch.__dict__[name_of()](scores)",
        "exec(text)",
        "return eval(input())",
        "return importlib.import_module(name_of()).softmin(scores)",
        "return operator.attrgetter(name_of())(torch)(scores)",
        "import pickle\nreturn pickle.loads(b'...')(scores)",
        "return get_ipython().run_cell(name_of())",
    ],
)
def test_what_cannot_be_read_is_a_kind_of_its_own(body):
    (use,) = uses([SETUP, answer(body).replace("softmax.kept = alias", "")], "softmax", ["softmax"])
    assert not use.readable and use.line == body.count("\n") + 2
    assert "known only when it runs" in sentence(use, "softmax")


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (
            "s = torch.softmax\n\ndef softmax(x):\n    return s(x, -1)",
            "softmax uses torch.softmax (under the name s, line 4 of the cell), which is the thing to "
            "build here.",
        ),
        (
            "def softmax(x):\n    return torch.softmax(x, -1)",
            "softmax uses torch.softmax (line 2 of the cell), which is the thing to build here.",
        ),
        (
            "def softmax(x):\n    return helper(x)\n\n\ndef helper(x):\n    return F.softmax(x, -1)",
            "softmax uses torch.nn.functional.softmax (in helper, as F.softmax, line 6 of the cell), "
            "which is the thing to build here.",
        ),
    ],
)
def test_the_sentence_says_where(cell, told):
    assert sentence(uses([SETUP, cell], "softmax", ["softmax"])[0], "softmax") == told


@pytest.mark.parametrize(
    ("entry", "path", "covered"),
    [
        ("softmax", "torch.softmax", True),
        ("softmax", "scipy.special.softmax", True),
        ("torch.softmax", "scipy.special.softmax", False),
        ("torch.softmax", "torch.nn.functional.softmax", True),
        ("torch.softmax", "?.softmax", True),
        ("torch.softmax", "?.softmax_", True),
        ("torch.softmax", "?.Softmax", False),
        ("torch.softmax", "torch.log_softmax", False),
        ("LSTMCell", "torch.lstm_cell", True),
        ("torch.nn.functional", "torch.nn.functional.relu", True),
        ("torch.nn.functional", "torch.relu", False),
        ("seqcourse", "seqcourse.metrics.links_from_weights", True),
        ("seqcourse", "seqcourse.data.PAD", False),
        ("seqcourse", "seqcourseish.metrics", False),
    ],
)
def test_what_an_entry_means(entry, path, covered):
    assert covers(entry, path) is covered


@pytest.mark.parametrize(
    "cell",
    [
        "x = 'a' * 10**10\ndef softmax(x):\n    return getattr(torch, 'a' * 10**9)",
        "def softmax(x):\n    return getattr(torch, '{:1000000000}'.format(1))",
        "def softmax(x):\n    return getattr(torch, '{:{}}'.format('a', 10**9))",
        "def softmax(x):\n    return getattr(torch, str([[['a'] * 5000] * 5000] * 5000))",
        "def softmax(x):\n    return getattr(torch, ''.join(c for _ in range(10**9) for c in 'a'))",
        "def softmax(x):\n    return " + "(" * 150 + "x" + ")" * 150,
        "def softmax(x):\n    return x" + ".a" * 5000,
        "def softmax(x):\n    return x" + " + x" * 5000,
        "softmax = softmax\nsoftmax = softmax",
        "def softmax(x):\n    softmax = softmax\n    return softmax(x)",
        "class softmax(softmax):\n    softmax = softmax",
        "\x00",
        "",
        "text = 'exec(text)'\nexec(text)\ndef softmax(x):\n    exec(text)",
        "for n in 'abcdefghijklmnopqrstuvwxyz':\n    pass\ndef softmax(x):\n    return "
        + "getattr(" * 40
        + "torch"
        + ", n)" * 40,
    ],
    ids=range(15),
)
def test_hostile_source_ends_without_an_error(cell):
    assert all(isinstance(use, Use) for use in uses([SETUP, cell], "softmax", ["softmax"]))


@cache
def assignment(name: str):
    module = load_checks(ROOT, name)
    book = nbformat.read(ROOT / f"solutions/{name}/{name}.ipynb", as_version=4)
    cells = {}
    for cell in book.cells:
        grader = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and not grader.get("grade"):
            cells[grader.get("grade_id", cell.id)] = cell.source
    return module, cells


def forbidden_of(name: str, exercise: str) -> tuple[str, ...]:
    package = importlib.import_module(f"seqcourse.check.{name}")
    return tuple(getattr(package, "FORBIDDEN", {}).get(exercise, ()))


@pytest.mark.parametrize("name", ["ps1", "ps2", "ps3", "ps4", "ps5", "ps6", "ps7", "ps8"])
def test_references_and_right_answers_are_clean_and_marked_wrong_ones_are_found(name):
    module, cells = assignment(name)
    for exercise in set(module.WRONG) & set(module.RIGHT):
        entries = forbidden_of(name, exercise)
        assert uses(list(cells.values()), exercise, entries) == []
        for kind in ("RIGHT", "WRONG"):
            for title, source, *says in getattr(module, kind)[exercise]:
                written = cells | {exercise: source}
                found = uses(list(written.values()), exercise, entries)
                is_offence = bool(says) and "the thing to build here" in says[0]
                assert bool(found) == is_offence, (exercise, title, found)


def test_the_checks_themselves_are_never_part_of_an_answer():
    cell = "def greedy(step):\n    return check.ps2.reference_greedy(step)"
    (use,) = uses([SETUP, cell], "greedy", ())
    assert use.name.startswith(ALWAYS[0])


def test_where_nothing_is_forbidden_anything_may_be_computed():
    cell = "def greedy(step):\n    return getattr(torch, input())(step)"
    assert uses([SETUP, cell], "greedy", ()) == []
    assert len(uses([SETUP, cell], "greedy", ["softmax"])) == 1


def test_what_one_exercise_hands_a_helper_is_nothing_to_the_next():
    cells = [SETUP, BESIDE, "def other(x):\n    return apply(torch.softmax, x)"]
    cells.append("def softmax(x):\n    y = apply(torch.exp, x)\n    return y")
    for _ in range(2):
        assert uses(cells, "softmax", ["softmax"]) == []
        assert [use.name for use in uses(cells, "other", ["softmax"])] == ["torch.softmax"]


def test_a_cell_too_long_to_read_is_said():
    cells = [SETUP, "def softmax(x):\n    return torch.softmax(x)\n" + "#" * 500_000]
    (use,) = uses(cells, "softmax", ["softmax"])
    assert not use.readable and "too long" in sentence(use, "softmax")
