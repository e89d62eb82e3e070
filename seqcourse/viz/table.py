"""Small tables that fit the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.viz.arrays import as_labels
from seqcourse.viz.html import Shown, inline


def table(
    rows: Iterable[Sequence[Any]], headers: Sequence[str], caption: str, *, digits: int = 2
) -> Shown:
    """Rows under headers with a caption, as HTML in a notebook and as text in a terminal.

    Floats get ``digits`` decimals; columns that hold only numbers stand to the right. A wide table
    scrolls inside its own box. Make the call the last line of its cell. Raises CourseError when a
    row has another number of cells than there are headers.
    """
    headers = as_labels(headers, "headers")
    if not isinstance(caption, str) or not caption.strip():
        raise CourseError(f"caption should say what the table shows, but it is {caption!r}.")
    grid = [list(row) for row in rows]
    if not grid:
        raise CourseError("The table has no rows, so there is nothing to show.")
    for number, row in enumerate(grid):
        if len(row) != len(headers):
            raise CourseError(
                f"Row {number} has {len(row)} cells, but there are {len(headers)} headers "
                f"{headers}: {row}."
            )
    numeric = [all(_is_number(row[column]) for row in grid) for column in range(len(headers))]
    texts = [[_text(cell, digits) for cell in row] for row in grid]
    return Shown(_html(texts, headers, caption, numeric), _plain(texts, headers, caption, numeric))


def numbers(
    caption: str,
    labels: Iterable[Any],
    rows: Iterable[Iterable[Any]],
    columns: Iterable[Any] | None = None,
    *,
    digits: int = 3,
) -> None:
    """Show rows of numbers (a tensor, say), each with its label, as a table of its own at once.

    ``columns`` names the columns. Raises what `table` raises.
    """
    from IPython.display import display

    grid = [
        [str(label), *(float(x.detach() if hasattr(x, "detach") else x) for x in row)]
        for label, row in zip(labels, rows, strict=True)
    ]
    names = map(str, columns) if columns is not None else [""] * (len(grid[0]) - 1 if grid else 0)
    display(table(grid, ["", *names], caption, digits=digits))


def _is_number(cell: Any) -> bool:
    if cell is None or isinstance(cell, (bool, str)):
        return cell is None
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _text(cell: Any, digits: int) -> str:
    """A cell as text: whole numbers with thousands apart, others rounded, None as a dash."""
    if cell is None:
        return "–"
    if not _is_number(cell):
        return str(cell)
    if hasattr(cell, "item"):
        cell = cell.item()
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{round(cell, digits) + 0.0:,.{digits}f}"  # never -0.0


def _html(texts: list[list[str]], headers: list[str], caption: str, numeric: list[bool]) -> str:
    """The table; a first column without a header heads the rows."""
    kinds = [' class="sq-number"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{inline(header)}</th>' if header else "<td></td>"
        for header, kind in zip(headers, kinds, strict=True)
    )
    first = f"<td{kinds[0]}>{{}}</td>" if headers[0] else '<th scope="row">{}</th>'
    body = "".join(
        f"<tr>{first.format(inline(row[0]))}"
        + "".join(f"<td{kind}>{inline(t)}</td>" for t, kind in zip(row[1:], kinds[1:], strict=True))
        + "</tr>"
        for row in texts
    )
    head = f"<thead><tr>{head}</tr></thead>" if any(headers) else ""
    return (
        '<div class="sq sq-scroll tex2jax_process" tabindex="0"><table>'
        f"<caption>{inline(caption)}</caption>{head}<tbody>{body}</tbody></table></div>"
    )


def _plain(texts: list[list[str]], headers: list[str], caption: str, numeric: list[bool]) -> str:
    lines = [headers, *texts]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    made = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    ]
    head = [made[0], "-" * max(map(len, made))] if any(headers) else []
    return "\n".join([caption, *head, *made[1:]])
