from __future__ import annotations

import pytest
import torch
from bs4 import BeautifulSoup

from seqcourse import CourseError, viz


def test_table_rounds_aligns_and_escapes():
    rows = [["a < b", 31.256, 12000], ["`beam`", torch.tensor(4.5), None]]
    page = BeautifulSoup(
        viz.table(rows, ["search", "BLEU", "pairs"], "Two *rows*.")._repr_html_(), "html.parser"
    )
    cells = [[cell.text for cell in row.select("td")] for row in page.select("tbody tr")]
    assert cells == [["a < b", "31.26", "12,000"], ["beam", "4.50", "–"]]
    assert page.select_one("td code").text == "beam"
    assert [head.get("class") for head in page.select("th")] == [None, ["sq-number"], ["sq-number"]]
    assert page.caption.em.text == "rows"
    assert all(head["scope"] == "col" for head in page.select("th"))


def test_table_is_readable_in_a_terminal():
    text = repr(viz.table([["greedy", 1.0], ["beam", 10.25]], ["search", "BLEU"], "Search.", digits=1))
    assert text.splitlines() == ["Search.", "search  BLEU", "-" * 12, "greedy   1.0", "beam    10.2"]


def test_table_names_the_row_that_does_not_fit():
    with pytest.raises(CourseError, match="Row 1 has 1 cells, but there are 2 headers"):
        viz.table([[1, 2], [3]], ["a", "b"], "A table.")
    with pytest.raises(CourseError, match="no rows"):
        viz.table([], ["a"], "A table.")
    with pytest.raises(CourseError, match="caption"):
        viz.table([[1]], ["a"], "")


def test_numbers_head_their_rows_and_need_no_header(capsys):
    weights = torch.tensor([[0.25, 0.75], [-0.001, -torch.inf]], requires_grad=True)
    viz.numbers("weights", ["we", "<eos>"], weights, ["a", 2], digits=2)
    shown = capsys.readouterr().out
    assert [line.split() for line in shown.splitlines()] == [
        ["weights"],
        ["a", "2"],
        ["-" * 17],
        ["we", "0.25", "0.75"],
        ["<eos>", "0.00", "-inf"],
    ]
    page = BeautifulSoup(viz.table([["we", 0.5]], ["", ""], "c")._repr_html_(), "html.parser")
    assert page.thead is None and page.select_one("tbody th")["scope"] == "row"
    with pytest.raises(CourseError, match="no rows"):
        viz.numbers("weights", [], [])
