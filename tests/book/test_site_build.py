"""The runner of the book's notebooks and the builder, on small books of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_cache import get_cache

from seqcourse.cli.execute import NotebookFailed, keep, run_notebooks
from seqcourse.cli.site import build, contents
from seqcourse.errors import CourseError

# A small book of two pages.
TOC = (
    "format: jb-book\nroot: book/index\nparts:\n"
    "  - caption: One\n    chapters:\n      - file: book/page\n"
)


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of code cells; a text that begins with # is prose."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    for number, source in enumerate(cells, 1):
        prose = source.startswith("# ")
        make = nbformat.v4.new_markdown_cell if prose else nbformat.v4.new_code_cell
        notebook.cells.append(make(source, id=f"cell-{number}"))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A root with a package (one file) and an empty book/."""
    (tmp_path / "seqcourse").mkdir()
    (tmp_path / "seqcourse" / "__init__.py").write_text("ANSWER = 1\n")
    (tmp_path / "book").mkdir()
    return tmp_path


def run(root: Path, *paths: Path, timeout: int = 60) -> tuple[int, list[str]]:
    said: list[str] = []
    count = run_notebooks(root, list(paths), root / "_build" / "cache", said.append, timeout)
    return count, said


def outputs(root: Path, path: Path) -> str:
    """What the cache would give to the page."""
    cache = get_cache(str(root / "_build" / "cache"))
    _, notebook = cache.merge_match_into_notebook(nbformat.read(path, as_version=4))
    return "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])
    )


def test_runs_in_this_python_as_a_static_page_with_this_package(book):
    path = write_notebook(
        book / "book" / "a.ipynb",
        "import os, sys, seqcourse\n"
        "print(sys.executable, os.environ['SEQCOURSE_STATIC'], seqcourse.__file__, sep='\\n')",
    )
    count, said = run(book, path)
    assert count == 1
    assert any(line.startswith("book/a.ipynb: ") and line.endswith("(1 of 1)") for line in said)
    executable, static, package = outputs(book, path).split()
    assert Path(executable) == Path(sys.executable)
    assert static == "1"
    assert Path(package) == book / "seqcourse" / "__init__.py"


def test_runs_again_only_what_changed(book):
    path = write_notebook(book / "book" / "a.ipynb", "import seqcourse\nprint(seqcourse.ANSWER)")
    assert run(book, path)[0] == 1
    assert run(book, path) == (0, ["1 of 1 notebooks are up to date"])
    # The package changes, the notebook does not: its old output would be wrong.
    (book / "seqcourse" / "__init__.py").write_text("ANSWER = 23\n")
    assert run(book, path)[0] == 1
    assert outputs(book, path).strip() == "23"
    # What a page cannot depend on does not count.
    (book / "seqcourse" / "cli").mkdir()
    (book / "seqcourse" / "cli" / "new.py").write_text("")
    assert run(book, path)[0] == 0


def test_what_ran_elsewhere_is_kept_until_it_changes(book):
    path = write_notebook(book / "book" / "a.ipynb", "import seqcourse\nprint(seqcourse.ANSWER)")
    ran = nbformat.read(path, as_version=4)
    ran.cells[0].outputs = [nbformat.v4.new_output("stream", text="as nbval saw it")]
    keep(path, book, book / "_build" / "cache", ran, seconds=1.0)
    assert run(book, path) == (0, ["1 of 1 notebooks are up to date"])
    assert outputs(book, path) == "as nbval saw it"
    (book / "seqcourse" / "__init__.py").write_text("ANSWER = 23\n")
    assert run(book, path)[0] == 1
    assert outputs(book, path).strip() == "23"


def test_failures_name_notebook_cell_and_error_and_the_rest_still_runs(book):
    bad = write_notebook(book / "book" / "bad.ipynb", "# A title", "x = 1", "y = 1 / (x - 1)", "z = y")
    good = write_notebook(book / "book" / "good.ipynb", "print('fine')")
    with pytest.raises(NotebookFailed) as caught:
        run(book, bad, good)
    message = str(caught.value)
    assert "book/bad.ipynb stopped at cell 3 of 4 (id cell-3)" in message
    assert "ZeroDivisionError: division by zero" in message
    assert "y = 1 / (x - 1)" in message
    assert "good.ipynb" not in message
    assert outputs(book, good).strip() == "fine"


def test_a_cell_that_never_ends_is_stopped_and_named(book):
    path = write_notebook(book / "book" / "a.ipynb", "while True:\n    pass")
    with pytest.raises(NotebookFailed, match=r"stopped at cell 1 of 1 .*longer than the 3 seconds"):
        run(book, path, timeout=3)


def test_standard_error_is_reported(book):
    path = write_notebook(book / "book" / "a.ipynb", "import sys\nprint('careful', file=sys.stderr)")
    _, said = run(book, path)
    assert "book/a.ipynb: cell 1 wrote to standard error: careful" in said


def test_contents_names_a_page_that_is_not_there(tmp_path):
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nparts:\n"
        "  - caption: One\n    chapters:\n      - file: book/lost\n"
    )
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("# Hello\n")
    with pytest.raises(CourseError, match=r"name the page book/lost, but there is neither"):
        contents(tmp_path)


def test_contents_holds_the_second_page_of_a_chapter(tmp_path):
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nparts:\n  - chapters:\n      - file: one\n"
        "        sections:\n          - file: more\n      - file: two\n"
    )
    for name in ("index", "one", "more", "two"):
        (tmp_path / f"{name}.md").write_text("# Hello\n")
    assert [page.stem for page in contents(tmp_path)] == ["index", "one", "more", "two"]


def test_no_contents_is_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="Run the command from the root"):
        build(tmp_path, print)


def test_a_notebook_whose_figure_has_a_caption_runs_once_for_its_page(tmp_path):
    """Jupyter Book runs by itself what it does not find in the cache, and says nothing."""
    (tmp_path / "_config.yml").write_text(
        "title: Small\nonly_build_toc_files: true\nexecute:\n  execute_notebooks: cache\n"
        "sphinx:\n  extra_extensions: [seqcourse.pages.plain]\n"
    )
    (tmp_path / "_toc.yml").write_text(TOC)
    path = write_notebook(
        tmp_path / "book" / "page.ipynb",
        "# Page",
        "with open('runs.txt', 'a') as file:\n    file.write('once ')\n"
        "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
        "# The caption",
    )
    notebook = nbformat.read(path, as_version=4)
    (tmp_path / "book" / "index.md").write_text("# Hello\n")
    notebook.cells[2].source = '<a id="fig-one"></a>**Figure 1.** A caption.'
    nbformat.write(notebook, path)
    for _ in range(2):
        build(tmp_path, print)
    assert (tmp_path / "book" / "runs.txt").read_text() == "once "
    assert "A caption." in (tmp_path / "_build/html/book/page.html").read_text()


def test_a_page_with_an_error_stops_the_build_each_time_and_a_new_sheet_reaches_the_pages(tmp_path):
    (tmp_path / "_config.yml").write_text(
        "title: Small\nonly_build_toc_files: true\n"
        "sphinx:\n  config:\n    html_static_path: [book/_static]\n"
    )
    (tmp_path / "_toc.yml").write_text(TOC)
    sheet = tmp_path / "book" / "_static" / "own.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text("p { color: red }")
    (tmp_path / "book" / "index.md").write_text("# Hello\n")
    (tmp_path / "book" / "page.md").write_text("# Page\n\nSee {ref}`nowhere-at-all`.\n")
    for _ in range(2):  # Sphinx alone would not look at the page again, and pass
        with pytest.raises(CourseError, match=r"book/page\.md:3: WARNING: .*nowhere-at-all"):
            build(tmp_path, print)
    (tmp_path / "book" / "page.md").write_text("# Page\n\nAll is well.\n")
    index = build(tmp_path, print)
    assert index == tmp_path / "_build" / "html" / "index.html"
    assert "All is well." in (tmp_path / "_build/html/book/page.html").read_text()
    sheet.write_text("p { color: blue }")
    build(tmp_path, print)  # Sphinx alone would find no text to read, and copy nothing
    assert (tmp_path / "_build/html/_static/own.css").read_text() == sheet.read_text()
