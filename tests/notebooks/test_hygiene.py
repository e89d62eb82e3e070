"""Notebooks are stored clean: readable differences, no traces of a machine, nothing hidden."""

from __future__ import annotations

import ast
import re
import tomllib

import nbformat
import pytest

from seqcourse import __version__
from seqcourse.pages.code import without_guards
from seqcourse.viz.paper import PAPER
from seqcourse.viz.poll import POLLS, check_poll, load_poll
from seqcourse.viz.predictions import PREDICTIONS

from .finding import ROOMS, notebooks, read, text

NOTEBOOKS = notebooks(*ROOMS)
# Cells with these tags are compared with their stored output, which is short and text.
COMPARED = {"nbval-check-output"}
LONGEST_OUTPUT = 2000
# nbval does not honour the first; the second would hide what broke.
REFUSED_TAGS = {"skip-execution", "raises-exception", "nbval-skip", "nbval-raises-exception"}
LONGEST_CELL = 30
# What a page shows of a cell that is not folded away.
FOLDED = {"hide-input", "remove-input", "remove-cell"}
SHOWN_LINES, SHOWN_COLUMNS = 25, 88
# A path that only one machine has: from the root of the file system, or with a drive's letter.
ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:home|root|Users|mnt|tmp|usr|work|opt|var)/\w|\b[A-Z]:\\\\?\w")
DRAWS = {
    "viz": {"alignment", "heatmap", "curves", "bars", "beam_tree"},
    "plt": {"show", "subplots", "plot", "figure", "imshow", "hist", "bar"},
}
# What these show says by itself what is seen.
TOUCHED = {
    "drawing": {"show"},
    "viz": {"explore", "type_in", "listen", "mask_painter", "vectors", "heads", "look"},
}
# What loads a split that is shipped with the course.
SPLIT = re.compile(r"\bload_\w+$")
# A drawing cell whose code is the idea itself: it stays open.
IDEA = "idea"


def tags(cell: dict) -> set[str]:
    return set(cell["metadata"].get("tags", []))


def code_cells(name: str) -> list[dict]:
    return [cell for cell in read(name)["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks_everywhere():
    for room in ROOMS:
        assert notebooks(room), f"{room}/ should hold notebooks"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_format(name):
    notebook = read(name)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    nbformat.validate(nbformat.from_dict(notebook))
    kernel = notebook["metadata"]["kernelspec"]
    assert (kernel["name"], kernel["display_name"]) == ("python3", "Python 3")
    # What is released says with which version.
    version = {"seqcourse": {"version": __version__}} if name.startswith("assignments/") else {}
    assert {key: notebook["metadata"].pop(key) for key in version} == version
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
    ids = [cell.get("id") for cell in notebook["cells"]]
    assert all(ids), "every cell has an id"
    assert len(set(ids)) == len(ids), "ids differ"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_stray_outputs(name):
    for cell in code_cells(name):
        if tags(cell) & COMPARED:
            assert cell["outputs"] and cell["execution_count"], f"{cell['id']}: nothing to compare"
            assert len(str(cell["outputs"])) < LONGEST_OUTPUT, f"{cell['id']}: a long output"
        else:
            assert cell["outputs"] == [], f"{cell['id']} has outputs"
            assert cell["execution_count"] is None, f"{cell['id']} has an execution count"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_path_of_one_machine(name):
    for cell in read(name)["cells"]:
        found = ABSOLUTE.search(text(cell))
        assert not found, f"{cell['id']}: {found.group()}"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_tag_hides_a_cell_from_the_tests(name):
    for cell in read(name)["cells"]:
        assert not tags(cell) & REFUSED_TAGS, cell["id"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_magic_lines(name):
    """nbval passes over a failing magic line and all that follows it in the cell."""
    for cell in code_cells(name):
        for line in text(cell).splitlines():
            assert not line.lstrip().startswith(("%", "!")), f"{cell['id']}: {line}"
            assert not re.match(r"\s*\w+ = [%!]", line), f"{cell['id']}: {line}"


@pytest.mark.parametrize("name", notebooks("book"))
def test_code_cells_can_be_read_at_a_glance(name):
    for cell in code_cells(name):
        lines = len(text(cell).splitlines())
        assert lines <= LONGEST_CELL, f"{cell['id']} has {lines} lines"
        if not tags(cell) & FOLDED:
            shown = without_guards(text(cell)).splitlines()
            assert len(shown) <= SHOWN_LINES, f"{cell['id']} shows {len(shown)} lines"
            wide = [line for line in shown if len(line) > SHOWN_COLUMNS]
            assert not wide, f"{cell['id']} scrolls sideways: {wide}"


def draws(source: str, drawing: dict[str, set[str]] = DRAWS) -> bool:
    """Whether a cell draws when it runs, not only in a function that it defines."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
                waiting.append(child)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in drawing.get(owner.id, ()):
                return True
    return False


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("viz.curves(x, xlabel='a', ylabel='b');", True),
        ("fig, ax = plt.subplots()", True),
        ("def draw(k):\n    return viz.bars(k, ylabel='a')", False),
        ("viz.explore(draw, k=[1, 2])", False),
        ("for x in y:\n    viz.bars(x, ylabel='a')", True),
    ],
)
def test_draws_knows_a_drawing_cell(source, answer):
    assert draws(source) is answer


def serves(source: str) -> bool:
    """Whether a cell imports, or does nothing but check."""
    kinds = {type(node) for node in ast.parse(source).body}
    return bool(kinds & {ast.Import, ast.ImportFrom}) or kinds == {ast.Assert}


@pytest.mark.parametrize("name", notebooks("book"))
def test_code_that_only_shows_is_folded(name):
    """In JupyterLab and on the site: what a reader sees open is the idea."""
    for cell in code_cells(name):
        source, hidden = text(cell), cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        shows = (draws(source) or draws(source, TOUCHED)) and IDEA not in tags(cell)
        poll = source.startswith(("viz.poll(", "viz.predict(", "viz.by_hand(", "viz.inventory("))
        if shows or poll or serves(source):
            assert hidden, f"{cell['id']}: metadata.jupyter.source_hidden should be true"
        on_the_site = {"remove-input"} if poll else {"hide-input"} if hidden else set()
        assert tags(cell) & {"hide-input", "remove-input"} == on_the_site, cell["id"]


def test_every_poll_of_the_book_is_asked_once_and_gives_nothing_away():
    asked = []
    for name in notebooks("book"):
        for cell in code_cells(name):
            source = text(cell)
            assert "answer=" not in source and "viz.ask" not in source, f"{cell['id']}: move it to POLLS"
            asked += re.findall(r'^viz\.poll\("([\w-]+)"\)$', source, re.M)
    written = [
        f"{path.stem}-{key}"
        for path in POLLS.glob("*.toml")
        for key in tomllib.loads(path.read_text(encoding="utf-8"))
    ]
    assert sorted(asked) == sorted(written)
    for name in asked:
        check_poll(**load_poll(name))


def test_every_calculation_of_the_book_is_asked_once():
    cells = (text(cell) for name in notebooks("book") for cell in code_cells(name))
    asked = [
        found for cell in cells for found in re.findall(r'^viz\.by_hand\("([\w-]+)"\)$', cell, re.M)
    ]
    written = [
        f"{path.stem}-{key}"
        for path in PAPER.glob("*.toml")
        for key in tomllib.loads(path.read_text(encoding="utf-8"))
    ]
    assert sorted(asked) == sorted(written)


def test_every_prediction_is_asked_once_and_measured_once():
    asked, measured = [], []
    for name in notebooks("book"):
        cells = [text(cell) for cell in read(name)["cells"] if cell["cell_type"] == "code"]
        for cell in cells:
            asked += re.findall(r'^viz\.predict\("([\w-]+)"\)$', cell, re.M)
            for found in re.findall(r'^ *viz\.predicted\("([\w-]+)", ', cell, re.M):
                assert found in asked, f"{found} is measured before it is asked"
                measured.append(found)
    written = [
        f"{path.stem}-{key}"
        for path in PREDICTIONS.glob("*.toml")
        for key in tomllib.loads(path.read_text(encoding="utf-8"))
    ]
    assert sorted(asked) == sorted(measured) == sorted(written)


@pytest.mark.parametrize("name", notebooks("book"))
def test_a_prediction_stands_before_code_that_ends_in_a_figure(name):
    """The page folds what these cells print, and the caption, until the reader has guessed."""
    cells = read(name)["cells"]
    for place, cell in enumerate(cells):
        if text(cell).startswith("viz.predict("):
            after = next(each for each in cells[place:] if each["cell_type"] != "code")
            assert text(after).startswith('<a id="fig'), f"{cell['id']}: text before the caption"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_drawing_has_alternative_text(name):
    for cell in code_cells(name):
        if draws(text(cell)):
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt.split()) >= 4, f"{cell['id']} draws, but has no mystnb.image.alt"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_picture_in_the_text_has_alternative_text(name):
    for cell in read(name)["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        source = text(cell)
        for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", source):
            assert alt.strip(), f"{cell['id']}: {target}"
            assert not target.startswith("http"), f"{cell['id']} loads {target}"
        for directive in re.findall(r":::+\{(?:figure|image)\}.*?:::", source, re.S):
            assert ":alt:" in directive, cell["id"]
        assert "<img" not in source, f"{cell['id']} has an <img>; write ![text](file)"


def bare_tags(source: str) -> list[str]:
    """Words such as <eos> outside of code and mathematics: JupyterLab drops them as unknown HTML."""
    outside = re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", "", source, flags=re.S)
    return re.findall(r"<(?!a |br|!--|https?:)[a-zA-Z_]+>", outside)


@pytest.mark.parametrize(
    ("source", "answer"),
    [("ends with <eos>.", ["<eos>"]), (r"`<eos>` $\texttt{<sos>}$ a < b > c<br>", [])],
)
def test_bare_tags_knows_a_word_that_vanishes(source, answer):
    assert bare_tags(source) == answer


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_word_of_the_text_vanishes_in_jupyterlab(name):
    for cell in read(name)["cells"]:
        if cell["cell_type"] == "markdown":
            assert bare_tags(text(cell)) == [], f"{cell['id']}: write it as `<eos>`"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_brackets_of_formulas_come_in_pairs(name):
    """In a program's text \\r is an end of line: an edit may turn \\rfloor into one."""
    for cell in read(name)["cells"]:
        if cell["cell_type"] == "markdown":
            for pair in ("left right", "lfloor rfloor", "lceil rceil", "langle rangle", "lVert rVert"):
                found = [len(re.findall(rf"\\{name}(?![a-zA-Z])", text(cell))) for name in pair.split()]
                assert found[0] == found[1], f"{cell['id']}: {found} of {pair}"


def shown_last(source: str) -> bool:
    """Whether no table is made and dropped: only the value of a cell's last line is shown."""
    lines = ast.parse(source).body
    return not any(
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Call)
        and ast.unparse(line.value.func) == "viz.table"
        for line in lines[:-1]
    )


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("viz.table(rows, names)", True),
        ("viz.table(rows, names)\nprint(1)", False),
        ("t = viz.table(rows, names)\nt", True),
    ],
)
def test_shown_last_knows_a_dropped_table(source, answer):
    assert shown_last(source) is answer


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_table_is_shown(name):
    for cell in code_cells(name):
        assert shown_last(text(cell)), f"{cell['id']} makes a table that nobody sees"


def prefixes(sources: list[str]) -> list[str]:
    """Lines that take the first of a shipped data set, which may be sorted, and give no reason."""
    shipped: set[str] = set()
    found = []

    def is_shipped(node: ast.AST) -> bool:
        if isinstance(node, ast.ListComp):
            return is_shipped(node.generators[0].iter)
        if isinstance(node, ast.Attribute):
            return is_shipped(node.value)
        if isinstance(node, ast.Name):
            return node.id in shipped
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(is_shipped(part.value) for part in node.elts if isinstance(part, ast.Starred))
        return isinstance(node, ast.Call) and SPLIT.search(ast.unparse(node.func)) is not None

    for source in sources:
        lines = source.split("\n")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Assign):
                left, right = node.targets[0], node.value
                several = isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple)
                pairs = zip(left.elts, right.elts, strict=True) if several else [(left, right)]
                shipped |= {a.id for a, b in pairs if isinstance(a, ast.Name) and is_shipped(b)}
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
                cut, line = node.slice, lines[node.lineno - 1]
                first = cut.lower is None and isinstance(cut.upper, ast.Constant)
                found += [line.strip()] * (first and is_shipped(node.value) and "#" not in line)
    return found


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ('x = data.load_pairs("en-es", "test")[:500]', True),
        ('x = [p for p in data.load_pairs("en-es", "test") if p][:500]', True),
        ("a, test = data.load_fashion('train'), data.load_fashion('test')\nx = test.images[:9]", True),
        ("test = [*data.load_pairs('en-es', 'test')]\nx = test[:20]", True),
        ("test = data.load_fashion('test')\nx = test.images[:8]  # eight to look at", False),
        ("test = data.load_pairs('en-es', 'test')\nx = random.Random(0).sample(test, 20)", False),
        ("x = zoo.load('en-es-fixed').translate(texts)[:3]", False),
    ],
)
def test_prefixes_knows_a_sample_that_is_none(source, refused):
    assert bool(prefixes([source])) is refused


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name.startswith("book/")])
def test_samples_are_drawn(name):
    """The first of a file are no sample of it: say in a comment why they will do, or draw."""
    assert prefixes([text(cell) for cell in code_cells(name)]) == []
