"""All that a run leaves behind, in a form in which two runs can be compared."""

from __future__ import annotations

import json
import re

from sqlalchemy import create_engine, inspect, select, text

from cellgrader.course.folders import Course

# Differs from run to run: the number of the kernel's process in tracebacks, and colours around it.
PROCESS = re.compile(r"ipykernel_\d+/\d+\.py")


def gradebook(url: str) -> dict[str, list[str]]:
    """Every row of every table, sorted; nbgrader's random ids replaced by what they stand for."""
    from nbgrader.api import Base

    engine = create_engine(url)
    with engine.connect() as connection:
        tables = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table))]
            for table in Base.metadata.sorted_tables
        }
        assert set(tables) | {"alembic_version"} == set(inspect(engine).get_table_names())
        version = connection.execute(text("SELECT version_num FROM alembic_version")).all()
    engine.dispose()
    # One thing may have rows in two tables: a cell, and what makes it a grade cell.
    named: dict[str, list[tuple[str, dict]]] = {}
    for table, rows in tables.items():
        for row in rows:
            if re.fullmatch("[0-9a-f]{32}", str(row.get("id", ""))):
                named.setdefault(row["id"], []).append((table, row))

    def told(value: object) -> object:
        if isinstance(value, str) and value in named:
            return [[table, plain(row)] for table, row in named[value]]
        return value if isinstance(value, (int, float, bool, type(None))) else str(value)

    def plain(row: dict) -> dict:
        return {key: told(value) for key, value in row.items() if value not in named or key != "id"}

    found = {
        table: sorted(json.dumps(plain(row), sort_keys=True) for row in rows)
        for table, rows in tables.items()
    }
    return {**found, "alembic_version": sorted(str(row[0]) for row in version)}


def files(course: Course) -> dict[str, object]:
    """The graded notebooks, what lies beside them, and the records; and nothing else may be there."""
    found: dict[str, object] = {}
    for path in sorted(course.folder.rglob("*")):
        name = path.relative_to(course.folder).as_posix()
        if not path.is_file() or name.split("/")[0] in ("submitted", "released", "secret"):
            continue
        if name in (".lock", "history/.lock", "gradebook.db"):
            continue
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            found[name] = _notebook(content)
        elif name.startswith("records/"):
            record = json.loads(content)
            # The fingerprint holds the package's code, which somebody may edit while tests run.
            del record["seconds"], record["fingerprint"]
            found[name] = record
        elif name.startswith("history/"):
            found[name] = [{**json.loads(line), "time": ""} for line in content.splitlines()]
        else:
            found[name] = content
    return found


def _notebook(content: str) -> dict:
    """Without the times at which the cells ran."""
    book = json.loads(PROCESS.sub("ipykernel", content))
    for cell in book["cells"]:
        cell["metadata"].pop("execution", None)
    return book
