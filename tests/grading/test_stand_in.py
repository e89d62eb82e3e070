"""What only an editor has is passed over where work is graded, and the lines below it run."""

from __future__ import annotations

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cellgrader.notebook import only_in_editors
from cellgrader.notebook.cells import Piece
from cellgrader.sandbox.stand_in import install


def no_window(*_: object) -> None:
    """As a window that is not installed; a real one would change matplotlib for the other tests."""
    raise ImportError("no such window")


@pytest.fixture
def run(monkeypatch):
    """Run cells one after another in a shell of their own; the names that they defined come back."""
    without_history = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(config=without_history)
    monkeypatch.setattr(shell, "enable_matplotlib", no_window)
    install(shell)

    def cells(*sources: str) -> dict:
        for source in sources:
            shell.run_cell(source)
        return shell.user_ns

    return cells


@pytest.mark.parametrize(
    "source",
    [
        "from google.colab import drive\ndrive.mount('/content/drive')",
        "from google.colab import files as f, userdata\nuserdata.get('KEY')\nfor n in f.upload(): 1",
        "import google.colab\ngoogle.colab.output.clear()",
        "import google.colab.drive as d\nd.flush_and_unmount()",
        "from google.colab.patches import cv2_imshow\ncv2_imshow(3)",
        "from google import colab\ncolab.drive.mount('/content')",
        "%matplotlib widget",
        "%matplotlib no_such_window",
        "%load_ext google.colab.data_table",
        "%cd /content/drive/MyDrive",
    ],
)
def test_the_lines_below_run(run, source, capsys):
    assert run(f"import math\n{source}\nafter = math.pi")["after"] > 3, capsys.readouterr().out
    assert "google.colab" not in sys.modules, "else the given cell would install the course"


def test_what_is_passed_over_is_said(run, capsys):
    run("from google.colab import files\nfiles.download('ps1.ipynb')", "%load_ext no_such_extension")
    said = capsys.readouterr().out
    assert "google.colab.files.download() was passed over: only Colab has it." in said
    assert "%load_ext no_such_extension was passed over while work is graded" in said


def test_whoever_asks_whether_this_is_colab_is_told_no(run):
    asked = "try:\n    import google.colab\n    here = True\nexcept ImportError:\n    here = False"
    assert run(asked)["here"] is False


def test_errors_of_the_work_itself_count(run, capsys):
    space = run(
        "%time 1 / 0\nafter = 1", "%no_such_magic\nafter = 2", "import no_such_module\nafter = 3"
    )
    assert "after" not in space
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_magics_see_the_cells_own_names(run, capsys):
    run("def f():\n    inside = 41\n    get_ipython().run_line_magic('time', 'print(inside + 1)')\nf()")
    assert "42" in capsys.readouterr().out


def test_cells_that_need_an_editor_are_named():
    sources = [
        "!pip install -q einops",
        "import math",
        "    %pip install einops",
        "from google.colab import drive",
        "!uv pip install x\n!apt-get -qq install y",
        "# !pip install z\nprint('input(')\nmodel.input(3)",
        "name = input('Name? ')",
        "from getpass import getpass\nkey = getpass()",
        "import getpass\nkey = getpass.getpass('Key: ')",
        "import sys\nfor line in sys.stdin:\n    print(line)",
        "def f():\n    import pdb; pdb.set_trace()",
        "breakpoint()",
        "%debug",
        "# breakpoint()\nprint('sys.stdin')\nself.breakpoint()\nsys.stdin_name = 'pdb.set_trace()'",
    ]
    found = only_in_editors.remarks([Piece(k, "code", source) for k, source in enumerate(sources)])
    assert [line.split(":")[0] for line in found] == [
        "Cells 1, 3, 5 install packages",
        "Cell 4 uses google.colab, which only Colab has",
        "Cell 7 asks with input()",
        "Cells 8, 9 ask with getpass()",
        "Cell 10 reads sys.stdin",
        "Cells 11, 12, 13 start a debugger",
    ]
    assert only_in_editors.remarks([Piece(0, "markdown", sources[0])]) == []
