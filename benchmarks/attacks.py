"""What hostile submissions get: from stock nbgrader, and from this course's grader.

    seqcourse bench attacks
    python benchmarks/attacks.py --stock      measures stock nbgrader anew (an hour)

Prints a table of the corpus in tests/attacks/corpus and writes benchmarks/results/attacks.json with
the machine that it ran on. Stock nbgrader is measured once: it grades the course as it was when the
hidden tests still stood in the notebooks.

About 10 minutes on two idle cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the corpus belongs to the tests

from tests.attacks import hostile  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "attacks.json"
# What an attack did besides, in the words of the table.
DID = {"others": "others' grades or work", "leak": "reached what is hidden", "stop": "stopped the class"}


def machine() -> dict[str, str | int]:
    """What ran: processor, cores, system, versions."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "nbgrader": version("nbgrader"),
        "python": platform.python_version(),
    }


def read() -> dict:
    """What was measured before."""
    return json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}


def write(measured: dict) -> None:
    RESULT.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure_stock(names: list[str]) -> None:
    """Give the attacks of these names (all of them without names) to stock nbgrader."""
    from tests.attacks import stock

    measured = read()
    done = measured.setdefault("stock", {})
    measured["stock machine"] = machine()
    attacks = [attack for attack in hostile.load() if not names or attack.name in names]

    def tell(name: str, found: dict) -> None:
        done[name] = found
        write(measured)
        print(f"{name:36} {in_words(found)}", flush=True)

    with tempfile.TemporaryDirectory(prefix="stock-") as folder:
        stock.measure_all(attacks, Path(folder), tell)


def measure_ours() -> None:
    """Grade the whole corpus as one class with three honest students."""
    from tests.attacks import classroom

    measured = read()
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        graded = classroom.grade_all(Path(folder), hostile.load())
        honest = {student: graded.points[student] for student in graded.honest}
        touched = bool(graded.touched) or graded.honest != honest
        measured["machine"] = machine()
        measured["seconds"] = round(graded.seconds, 1)
        measured["ours"] = {
            attack.name: {
                "score": graded.points[attack.name],
                "fair": graded.fair[attack.name],
                "status": graded.records[attack.name].status,
                "others": touched,
                "leak": any(classroom.loot(text) for _, text in graded.texts(attack.name)),
                "stop": False,
            }
            for attack in hostile.load()
        }
    write(measured)


def in_words(found: dict | None) -> str:
    """A score and what was done besides; "-" for no grade."""
    if found is None:
        return "not measured"
    if "not run" in found:
        return f"not run: {found['not run']}"
    score = "–" if found["score"] is None else f"{found['score']:g}"
    did = [words for key, words in DID.items() if found[key]]
    return ", ".join([score, *did])


def table(measured: dict) -> str:
    """The corpus as a table in Markdown."""
    stocked = measured.get("stock machine", {}).get("nbgrader", "")
    lines = [f"| attack | tries | stock nbgrader {stocked} | ours |", "|---|---|---|---|"]
    ours, stock = measured.get("ours", {}), measured.get("stock", {})
    for attack in hostile.load():
        here = ours.get(attack.name)
        status = f" ({here['status']})" if here else ""
        lines.append(
            f"| {attack.title} | {attack.kind} | {in_words(stock.get(attack.name))} "
            f"| {in_words(here)}{status} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hostile submissions, graded.")
    parser.add_argument("--stock", nargs="*", metavar="NAME", help="measure stock nbgrader anew")
    chosen = parser.parse_args()
    if chosen.stock is not None:
        measure_stock(chosen.stock)
    else:
        measure_ours()
    print(table(read()))


if __name__ == "__main__":
    main()
