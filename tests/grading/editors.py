"""How editors write a notebook that was solved in them, and what people do to cells there.

Each form is written by hand from the editor's documentation, its source or files that it saved (`source`
names them). `FORMS` maps a name to a form, `EDITS` a name to a change of the notebook itself; each edit
can be saved in each form. What of the course's marks survives a form is told by `keeps`: nbgrader's
names (in the cells' metadata) and the cells' ids.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import jupytext
import nbformat

from cellgrader.notebook.document import mark, text

NAMES_AND_IDS, NAMES, IDS, NOTHING = "names, ids", "names", "ids", "nothing"
DEEPNOTES_LINE = "<a href='https://deepnote.com'>Created in deepnote.com</a>"


@dataclass(frozen=True)
class Form:
    """How an editor saves a notebook.

    save: a solved notebook of format 4.5, which it may change -> the file's bytes.
    keeps: which marks of the course survive.
    source: where the form is documented or can be seen.
    adds: sources of cells that the editor adds itself.
    """

    save: Callable[[dict], bytes]
    keeps: str
    source: str
    adds: tuple[str, ...] = ()


def written(notebook: dict, indent: int | None = 1, end: str = "\n") -> bytes:
    """The file as JSON."""
    return (json.dumps(notebook, indent=indent, ensure_ascii=False) + end).encode()


def fresh(cell: dict, place: int, length: int) -> str:
    """An id that an editor makes up for a cell."""
    return hashlib.sha256(f"{place} {text(cell)}".encode()).hexdigest()[:length]


def lines(cell: dict) -> list[str]:
    """A source as most editors store it: a list of lines."""
    return text(cell).splitlines(keepends=True)


def python(name: str = "python3", title: str = "Python 3", version: str = "3.11.4") -> dict:
    """A notebook's metadata about its kernel."""
    return {
        "kernelspec": {"display_name": title, "language": "python", "name": name},
        "language_info": {"name": "python", "version": version, "file_extension": ".py"},
    }


def node(notebook: dict) -> nbformat.NotebookNode:
    """The notebook as `nbformat` and jupytext take it, without ids, which neither keeps."""
    cells = [{key: cell[key] for key in cell if key != "id"} for cell in notebook["cells"]]
    return nbformat.reads(json.dumps(notebook | {"cells": cells, "nbformat_minor": 4}), as_version=4)


def _without_ids(notebook: dict, minor: int) -> Iterator[tuple[int, dict]]:
    """The cells with their places, after the file was turned into an older format 4.x."""
    notebook["nbformat_minor"] = minor
    for cell in notebook["cells"]:
        cell.pop("id", None)
    return enumerate(notebook["cells"])


# Editors


def jupyterlab(notebook: dict) -> bytes:
    """As the course itself is written."""
    return written(notebook)


def colab(notebook: dict) -> bytes:
    """Colab: an id of its own in the metadata, the state of widgets, addresses of outputs."""
    for place, cell in _without_ids(notebook, 0):
        cell["metadata"] |= {"id": fresh(cell, place, 12)}
        cell["source"] = lines(cell)
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"colab": {"base_uri": "https://localhost:8080/", "height": 35}}
            cell["metadata"]["outputId"] = fresh(cell, place, 36)
            drawn = {"application/vnd.google.colaboratory.intrinsic+json": {"type": "string"}}
            data = {"text/plain": ["'done'"], **drawn}
            cell["outputs"].append(
                {"output_type": "execute_result", "metadata": {}, "data": data, "execution_count": 3}
            )
    slider = {"model_module": "@jupyter-widgets/controls", "state": {"value": 3, "max": 9}}
    notebook["metadata"] = {
        "accelerator": "GPU",
        "colab": {"provenance": [], "gpuType": "T4", "toc_visible": True},
        "kernelspec": {"display_name": "Python 3", "name": "python3"},
        "language_info": {"name": "python"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"a1": slider}},
    }
    order = ("cells", "metadata", "nbformat", "nbformat_minor")
    return written({key: notebook[key] for key in order}, indent=2, end="")


def colab_new(notebook: dict) -> bytes:
    """Cells copied one by one into a new notebook on Colab: nothing of the course's is left."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return colab(notebook)


def vscode(notebook: dict) -> bytes:
    """VS Code: keys sorted, sources as lines, the environment's name, languages of cells."""
    for place, cell in enumerate(notebook["cells"]):
        cell["source"] = lines(cell)
        cell["id"] = cell.get("id") or fresh(cell, place, 8)
        if cell["cell_type"] == "code":
            cell["execution_count"] = place
    notebook["cells"][-1]["metadata"]["vscode"] = {"languageId": "latex"}
    notebook["metadata"] = python(title=".venv (3.11.4)") | {
        "seqcourse": notebook["metadata"]["seqcourse"]
    }
    return (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def vscode_2021(notebook: dict) -> bytes:
    """VS Code of 2021: no ids, `orig_nbformat`, the interpreter's hash."""
    for _, cell in _without_ids(notebook, 2):
        cell["source"] = lines(cell)
        cell["metadata"] |= {"scrolled": True} if cell["cell_type"] == "code" else {}
    found = {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b9275f58929596ceb00d14d90e3e16cd6"}}
    notebook["metadata"] = python() | {"orig_nbformat": 4, "vscode": found}
    return written(notebook)


def kaggle(notebook: dict) -> bytes:
    """Kaggle's editor: its own identifiers, hidden inputs, each source one string, one line of JSON."""
    for place, cell in _without_ids(notebook, 4):
        cell["source"] = text(cell)
        seen = {"iopub.status.busy": "2024-04-20T14:45:26.215233Z"}
        cell["metadata"] |= {"_uuid": fresh(cell, place, 40), "_kg_hide-input": place % 2 == 0}
        cell["metadata"] |= {"_cell_guid": fresh(cell, place, 36), "execution": seen, "trusted": True}
    data = {"accelerator": "none", "dataSources": [], "isGpuEnabled": False, "sourceType": "notebook"}
    notebook["metadata"] = python(version="3.10.13") | {"kaggle": data}
    order = ("metadata", "nbformat_minor", "nbformat", "cells")
    return written({key: notebook[key] for key in order}, indent=None, end="")


def kaggle_run(notebook: dict) -> bytes:
    """A version saved on Kaggle, which papermill ran: ids of eight characters, its own metadata."""
    for place, cell in enumerate(notebook["cells"]):
        cell["id"], cell["source"] = fresh(cell, place, 8), lines(cell)
        took = {"duration": 0.005, "exception": False, "status": "completed"}
        cell["metadata"] |= {"papermill": took, "tags": []}
    took = {"default_parameters": {}, "duration": 11.1, "version": "2.5.0", "parameters": {}}
    notebook["metadata"] = python() | {"papermill": took, "kaggle": {"language": "python"}}
    return written(notebook)


def jupyterlite(notebook: dict) -> bytes:
    """JupyterLite: each source one string, metadata first, the kernel of the browser."""
    for cell in notebook["cells"]:
        cell["source"] = text(cell)
        cell["metadata"] |= {"trusted": True} if cell["cell_type"] == "code" else {}
    notebook["metadata"] = python("python", "Python (Pyodide)", "3.12")
    order = ("metadata", "nbformat_minor", "nbformat", "cells")
    return written({key: notebook[key] for key in order}, indent=2, end="")


def classic(notebook: dict) -> bytes:
    """Notebook 6 with extensions: format 4.4, no ids, times, a table of contents, variables."""
    for _, cell in _without_ids(notebook, 4):
        cell["source"] = lines(cell)
        took = {"start_time": "2021-03-02T09:00:00.000Z", "end_time": "2021-03-02T09:00:01.000Z"}
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"ExecuteTime": took, "collapsed": True, "scrolled": False}
        cell["metadata"] |= {"hide_input": False}
    shown = {"cols": {"lenName": 16, "lenType": 16}, "kernels_config": {}, "window_display": False}
    contents = {"base_numbering": 1, "toc_cell": False, "toc_position": {}, "sideBar": True}
    notebook["metadata"] = python() | {"toc": contents, "varInspector": shown, "hide_input": False}
    return written(notebook)


def pycharm(notebook: dict) -> bytes:
    """PyCharm of 2020: a name with a marker in each cell, metadata last, a stem cell."""
    for place, cell in enumerate(_without_ids(notebook, 0)):
        cell = cell[1]
        marker = "#%%\n" if cell["cell_type"] == "code" else "#%% md\n"
        kept = cell.pop("metadata") | {"collapsed": False, "pycharm": {"name": marker}}
        cell["source"] = lines(cell)
        cell["metadata"] = kept | ({"is_executing": True} if place % 5 == 0 else {})
    stem = {"cell_type": "raw", "metadata": {"collapsed": False}, "source": []}
    old = {"name": "python", "version": "2.7.6", "pygments_lexer": "ipython2"}
    about = {
        "kernelspec": {"name": "pycharm-3f2a", "language": "python", "display_name": "PyCharm (hw)"}
    }
    notebook["metadata"] = about | {"language_info": old, "pycharm": {"stem_cell": stem}}
    return written(notebook, end="")


def pycharm_2023(notebook: dict) -> bytes:
    """PyCharm and DataSpell since 2023: metadata and ids behind the source, an old language version."""
    for place, cell in enumerate(notebook["cells"]):
        cell["source"] = lines(cell)
        kept, identifier = cell.pop("metadata"), cell.pop("id", None) or fresh(cell, place, 16)
        cell["metadata"] = kept | {"collapsed": False}
        if cell["cell_type"] == "code":
            took = {"start_time": "2024-05-02T09:00:00Z", "end_time": "2024-05-02T09:00:01Z"}
            cell["metadata"] |= {"ExecuteTime": took, "jupyter": {"is_executing": place == 3}}
        cell["id"] = identifier
    old = {"name": "python", "version": "2.7.6", "pygments_lexer": "ipython2"}
    notebook["metadata"] = {"kernelspec": python()["kernelspec"], "language_info": old}
    return written(notebook, end="")


def deepnote(notebook: dict) -> bytes:
    """Deepnote: identifiers in the metadata, its own keys, and a cell that names it at the end."""
    for place, cell in _without_ids(notebook, 0):
        cell["metadata"] |= {"cell_id": fresh(cell, place, 32), "source_hash": fresh(cell, place, 8)}
        cell["metadata"] |= {"deepnote_cell_type": cell["cell_type"], "execution_millis": 12}
        cell["metadata"] |= {"deepnote_to_be_reexecuted": False}
    line = {"cell_type": "markdown", "source": DEEPNOTES_LINE}
    notebook["cells"].append(line | {"metadata": {"created_in_deepnote_cell": True}})
    notebook["metadata"] = {"deepnote": {}, "deepnote_execution_queue": [], "orig_nbformat": 2}
    return written(notebook, indent=2, end="")


def databricks(notebook: dict) -> bytes:
    """Databricks: nothing but its own metadata, no ids, kernels without a kernel."""
    for place, cell in _without_ids(notebook, 0):
        kept = {"cellMetadata": {"rowLimit": 10000}, "nuid": fresh(cell, place, 36), "title": ""}
        cell["metadata"] = {"application/vnd.databricks.v1+cell": {"inputWidgets": {}, **kept}}
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["source"] = 0, lines(cell)
    about = {"language": "python", "notebookName": "ps", "widgets": {}, "dashboards": []}
    notebook["metadata"] = {"application/vnd.databricks.v1+notebook": about}
    return written(notebook, indent=0, end="")


def nbdev(notebook: dict) -> bytes:
    """Cleaned by `nbdev_clean` before a commit: no metadata, no outputs, no counts; ids stay."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook["metadata"] = {"kernelspec": python()["kernelspec"]}
    return written(notebook)


def jupytexts(notebook: dict) -> bytes:
    """Edited as a script: to py:percent and back by jupytext itself; ids are new."""
    script = jupytext.writes(node(notebook), "py:percent")
    return written(json.loads(nbformat.writes(jupytext.reads(script, "py:percent"))))


def jupytexts_markdown(notebook: dict) -> bytes:
    """Edited as Markdown without metadata: to MyST and back by jupytext, all filtered out."""
    notebook["metadata"] = {
        "jupytext": {"cell_metadata_filter": "-all", "notebook_metadata_filter": "kernelspec,-all"},
        "kernelspec": python()["kernelspec"],
    }
    page = jupytext.writes(node(notebook), "md:myst")
    return written(json.loads(nbformat.writes(jupytext.reads(page, "md:myst"))))


def windows(notebook: dict) -> bytes:
    """Saved by an editor of text on Windows: a byte order mark, CR LF in the file and in the sources."""
    for cell in notebook["cells"]:
        cell["source"] = text(cell).replace("\n", "\r\n")
    return b"\xef\xbb\xbf" + written(notebook).replace(b"\n", b"\r\n")


def format_4_0(notebook: dict) -> bytes:
    """Written by `nbformat` in the first format 4."""
    for _, cell in _without_ids(notebook, 0):
        cell["metadata"].pop("jupyter", None)
    return nbformat.writes(nbformat.from_dict(notebook)).encode()


def format_3(notebook: dict) -> bytes:
    """Converted by `nbformat` to format 3: worksheets, headings as cells of their own."""
    return nbformat.writes(node(notebook), version=3).encode()


FORMS = {
    "JupyterLab": Form(jupyterlab, NAMES_AND_IDS, "the released notebook itself"),
    "Colab": Form(
        colab,
        NAMES,
        "googlecolab/colabtools: notebooks/Getting_started_with_google_colab_ai.ipynb; issue 5402 there "
        "(new notebooks have format 4.0, without ids)",
    ),
    "Colab, copied": Form(colab_new, NOTHING, "as Colab; a new notebook into which cells were copied"),
    "VS Code": Form(
        vscode,
        NAMES_AND_IDS,
        "microsoft/vscode: extensions/ipynb/src/serializers.ts and notebookModelStoreSync.ts",
    ),
    "VS Code, 2021": Form(
        vscode_2021, NAMES, "microsoft/vscode-jupyter: issues 5246, 7749 (`orig_nbformat`, no ids)"
    ),
    "Kaggle": Form(
        kaggle, NAMES, "deepnote/deepnote: test-fixtures/kaggle-sample.ipynb; public files of Kaggle"
    ),
    "Kaggle, run": Form(kaggle_run, NAMES, "papermill.readthedocs.io; public files of Kaggle"),
    "JupyterLite": Form(
        jupyterlite, NAMES_AND_IDS, "jupyterlite/demo: content/pyodide/plotly.ipynb; public files"
    ),
    "Notebook 6": Form(
        classic,
        NAMES,
        "jupyter/nbformat pull request 189 (format 4.4 and ids); "
        "ipython-contrib/jupyter_contrib_nbextensions: pull requests 77, 922",
    ),
    "PyCharm, 2020": Form(
        pycharm, NAMES, "gammapy/gammapy issue 2096; r5py/r5py pull request 102 (`pycharm`, stem cell)"
    ),
    "PyCharm, 2023": Form(
        pycharm_2023, NAMES_AND_IDS, "public files with `initial_id` and `is_executing` in their cells"
    ),
    "Deepnote": Form(
        deepnote, NAMES, "deepnote/deepnote: packages/convert (deepnote to jupyter)", (DEEPNOTES_LINE,)
    ),
    "Databricks": Form(databricks, NOTHING, "docs.databricks.com: export and import notebooks (IPYNB)"),
    "nbdev": Form(nbdev, IDS, "nbdev.fast.ai: api/clean (nbdev_clean)"),
    "jupytext, script": Form(jupytexts, NAMES, "jupytext itself, py:percent"),
    "jupytext, page": Form(jupytexts_markdown, NOTHING, "jupytext itself, md:myst without metadata"),
    "Windows": Form(windows, NAMES_AND_IDS, "a byte order mark and CR LF, in the file and in sources"),
    "format 4.0": Form(format_4_0, NAMES, "nbformat itself"),
    "format 3": Form(format_3, NAMES, "nbformat itself"),
}


# What people do in an editor


def own_code(source: str) -> dict:
    return {
        "cell_type": "code",
        "id": f"own-{hashlib.sha256(source.encode()).hexdigest()[:8]}",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }


INSTALLS = ("%pip install --quiet einops", "!pip install -U seqcourse\nimport math")
ON_COLAB = (
    "from google.colab import drive, files\ndrive.mount('/content/drive')\nimport math",
    "files.download('ps1.ipynb')",
)


def installs(notebook: dict) -> None:
    """Packages are installed at the top."""
    notebook["cells"][1:1] = [own_code(source) for source in INSTALLS]


def mounts(notebook: dict) -> None:
    """Colab's drive at the top, and a download at the end."""
    notebook["cells"].insert(0, own_code(ON_COLAB[0]))
    notebook["cells"].append(own_code(ON_COLAB[1]))


def answers(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if mark(cell).get("solution")]


def code_answers(notebook: dict) -> list[dict]:
    return [cell for cell in answers(notebook) if cell["cell_type"] == "code"]


def helper(cell: dict) -> str:
    """A line that a student wrote above an answer."""
    return f"{mark(cell)['grade_id'].replace('-', '_')}_scale = 1.0"


def split(notebook: dict) -> None:
    """Each code answer in two cells, a line of its own above: as VS Code splits, the second is bare."""
    for cell in code_answers(notebook):
        place = notebook["cells"].index(cell)
        notebook["cells"].insert(place + 1, own_code(text(cell)))
        cell["source"] = helper(cell)


def split_twice(notebook: dict) -> None:
    """The same in JupyterLab, where both halves have the metadata of the whole."""
    for cell in code_answers(notebook):
        place = notebook["cells"].index(cell)
        second = copy.deepcopy(cell) | {"id": f"{cell.get('id')}-2"}
        notebook["cells"].insert(place + 1, second)
        cell["source"] = helper(cell)


def merge_checks(notebook: dict) -> None:
    """Each code answer in one cell with its self-check and its grade cell."""
    for cell in code_answers(notebook):
        place = notebook["cells"].index(cell)
        while len(notebook["cells"]) > place + 1 and mark(notebook["cells"][place + 1]).get("locked"):
            cell["source"] = f"{text(cell)}\n\n{text(notebook['cells'].pop(place + 1))}"


def merge_answers(notebook: dict) -> None:
    """Every second code answer moved into the cell of the one before it."""
    found = code_answers(notebook)
    for first, second in zip(found[::2], found[1::2], strict=False):
        first["source"] = f"{text(first)}\n\n\n{text(second)}"
        notebook["cells"].remove(second)


def merge_questions(notebook: dict) -> None:
    """Each written answer in one cell with its question, which keeps its marks."""
    for cell in [cell for cell in answers(notebook) if cell["cell_type"] == "markdown"]:
        place = notebook["cells"].index(cell)
        before = notebook["cells"][place - 1]
        if before["cell_type"] == "markdown":
            before["source"] = f"{text(before)}\n\n{text(cell)}"
            del notebook["cells"][place]


def move(notebook: dict) -> None:
    """The exercises in reverse, each with its heading."""
    parts: list[list[dict]] = [[]]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and re.match(r"#+ Exercise", text(cell)):
            parts.append([])
        parts[-1].append(cell)
    notebook["cells"] = [cell for part in [parts[0], *reversed(parts[1:])] for cell in part]


EDITS: dict[str, Callable[[dict], None]] = {
    "packages installed": installs,
    "on Colab's drive": mounts,
    "cells split": split,
    "cells split, marks twice": split_twice,
    "merged with checks": merge_checks,
    "two answers in a cell": merge_answers,
    "merged with questions": merge_questions,
    "exercises moved": move,
}


def saved(notebook: dict, form: str, edit: str = "") -> bytes:
    """The bytes of a solved notebook, edited and saved; the notebook itself stays as it is."""
    notebook = copy.deepcopy(notebook)
    if edit:
        EDITS[edit](notebook)
    return FORMS[form].save(notebook)
