"""Tables of the appendices that are made from the book, the assignments, results and notes of licences.

python -m tests.house.tables          # writes them into the pages
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from seqcourse.audit import results
from seqcourse.check.experiments import numbers
from tests.versions.trial import RESULTS as VERSIONS

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
FILES = ROOT / "seqcourse" / "data" / "files"
ZOO = ROOT / "seqcourse" / "zoo" / "files"
# A table stands between two such lines.
BEGIN, END = "<!-- made: {} -->\n", "<!-- made so far -->"
EXERCISE = re.compile(
    r"^\| *(?P<number>\d+) *\|(?P<builds>[^|]*)\|(?P<points>[^|]*)\|(?P<minutes>[^|]*)\|$", re.M
)
LEANS = re.compile(r"(?:That|It|They|This|These|Those)\b")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# The data that recipes name: the folders of the package that they read.
READ = {
    "alice": ["alice"],
    "children": ["alice", "children"],
    "cmudict": ["cmudict"],
    "digits": ["digits"],
    "en-es": ["tatoeba-en-es"],
    "en-fr": ["tatoeba-en-fr"],
    "fashion-mnist": ["fashion-mnist"],
    "none": [],  # drawn at random
    "scenes": ["pictures"],
}
# Tasks that read something else than their recipe's data, or more.
ALSO = {
    "subword translation": ["tatoeba-en-es", "tatoeba-en-es-beyond"],
    "familiar photographs": ["familiar"],
}
LAWS = {"LICENSE", "LICENCE", "ATTRIBUTION", "COPYING"}


def texts(page: Path) -> list[str]:
    """The text cells of a notebook."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def chapters() -> Iterator[tuple[str, Path]]:
    """The chapters by number, with the second page of chapter 5 as 5b."""
    for page in sorted(BOOK.glob("[0-9]*.ipynb")):
        yield page.name.partition("_")[0].lstrip("0"), page


def box(source: list[str], kind: str) -> str:
    """The words of a chapter's box of a kind: "question" or "know"."""
    (found,) = re.findall(rf":class: {kind}\n(.*?)\n:::", "\n".join(source), re.S)
    return found


def goals() -> str:
    """Each chapter's question, and what a reader then knows, in the chapter's own words."""
    parts = []
    for number, page in chapters():
        source = texts(page)
        title = source[0].splitlines()[0].lstrip("# ")
        question = " ".join(LINK.sub(r"\1", box(source, "question")).split())
        known = re.split(r"\n(?=\d+\. )", box(source, "know"))
        firsts = [re.sub(r"^\d+\. ", "", " ".join(LINK.sub(r"\1", each).split())) for each in known]
        parts.append(f"**[{number} · {title}]({page.name})** {question}\n")
        # A sentence that leans on the one before it would stand alone here.
        parts += [f"- {first_sentence(each)}" for each in firsts if not LEANS.match(each)]
        parts.append("")
    return "\n".join(parts).rstrip()


def first_sentence(text: str) -> str:
    """The first sentence, with whatever is in brackets or formulas kept whole."""
    for end in re.finditer(r"[.!?](?= [A-Z*`$“\"])", text):
        kept = text[: end.end()]
        if kept.count("(") == kept.count(")") and not kept.count("$") % 2 and not kept.count("`") % 2:
            return kept
    return text


def openings() -> Iterator[tuple[str, str, str, list[dict[str, str]]]]:
    """Of each assignment its link, title, first paragraph, and the rows of its table of exercises."""
    for name in sorted(path.name for path in (ROOT / "solutions").glob("ps*")):
        source = texts(ROOT / "solutions" / name / f"{name}.ipynb")[0]
        title, about = source.split("\n\n")[:2]
        rows = [
            {key: value.strip() for key, value in row.groupdict().items()}
            for row in EXERCISE.finditer(source)
        ]
        link = f"[{name}](../assignments/{name}/{name}.ipynb)"
        yield link, title.partition(" · ")[2], " ".join(about.split()), rows


def exercises() -> str:
    """Each assignment in its own words, and what its exercises build."""
    parts = []
    for number, (link, title, about, rows) in enumerate(openings(), 1):
        builds = "; ".join(row["builds"] for row in rows)
        parts += [f"## {number} · {title}", "", f"{about} ({link})", "", f"*You build:* {builds}.", ""]
    return "\n".join(parts).rstrip()


def assignments() -> str:
    """Each assignment: its exercises, points, hours."""
    lines = ["| assignment | exercises | points | hours |", "|---|---|---|---|"]
    for link, title, _, rows in openings():
        points = sum(float(each) for row in rows for each in row["points"].split("+"))
        minutes = sum(int(row["minutes"]) for row in rows)
        lines.append(f"| {link} {title} | {len(rows)} | {points:g} | {minutes / 60:.1f} |")
    return "\n".join(lines)


def weekend() -> str:
    """The lines of course.toml that keep the exercises which the weekend's table names."""
    page = (BOOK / "appendix_syllabus.md").read_text(encoding="utf-8")
    kept, away, parts = dict(re.findall(r"(ps\d): (\d.*?) \|", page)), [], []
    for number, (*_, rows) in enumerate(openings(), 1):
        if words := kept.get(f"ps{number}"):
            left = sorted({int(row["number"]) for row in rows} - set(numbers(words)))
            parts += ["", f"[ps{number}]", f"leave_out = {left}"]
        else:
            away.append(f"ps{number}")
    return "\n".join(["```toml", f"leave_out = {json.dumps(away)}", *parts, "```"])


def data() -> str:
    """Each data set, its source and its licence, from its note."""
    lines = ["| data set | from | licence | its text |", "|---|---|---|---|"]
    for note in sorted(FILES.glob("*/source.json")):
        told = json.loads(note.read_text(encoding="utf-8"))
        licence = re.sub(r",? see .*", "", told["licence"])
        beside = ", ".join(
            f"`{path.name}`" for path in sorted(note.parent.iterdir()) if path.name in LAWS
        )
        origin = told.get("origin", told["package"])
        lines.append(f"| `{note.parent.name}` | {origin} | {licence} | {beside} |")
    return "\n".join(lines)


def trained_on(recipe: dict) -> list[str]:
    """The data sets of the package that a recipe reads."""
    return ALSO.get(recipe["task"]) or READ[recipe["data"]]


def models() -> str:
    """Each checkpoint of the zoo, and what it was trained on, from its record."""
    lines = ["| checkpoint | is | was trained on |", "|---|---|---|"]
    for record in sorted(ZOO.glob("*/figures.json")):
        recipe = json.loads(record.read_text(encoding="utf-8"))["recipe"]
        read = ", ".join(f"`{name}`" for name in trained_on(recipe)) or "random symbols"
        lines.append(f"| `{record.parent.name}` | {recipe['about']} | {read} |")
    return "\n".join(lines)


def audited() -> dict[str, dict]:
    """What `seqcourse audit` found, by assignment and exercise."""
    return results.read(ROOT / results.RESULTS)


def held() -> str:
    """How many wrong answers that no check reads are refused and named."""
    return results.held_out(audited())


def audit() -> str:
    """Every exercise with its two error rates and its tolerance, a table for each assignment."""
    parts = []
    for assignment, exercises in audited().items():
        parts += [f"**Assignment {assignment.removeprefix('ps')}**", "", *results.table(exercises), ""]
    return "\n".join(parts).rstrip()


def ways() -> str:
    """What the right answers compute with."""
    return "\n".join(results.ways(audited()))


def usual() -> str:
    """The tolerances that exercises share, and the errors on both sides of them."""
    return "\n".join(results.usual(audited()))


def versions() -> str:
    """Each trial of tests/versions: Python, packages, results."""
    columns = {"python": "Python", "packages": "packages", "torch": "PyTorch", "numpy": "NumPy"}
    columns |= {"jupyterlab": "JupyterLab", "nbgrader": "nbgrader"}
    columns |= {"passed": "tests passed", "failed": "failed"}
    records = json.loads(VERSIONS.read_text(encoding="utf-8"))
    rows = [[*columns.values()], ["---"] * len(columns)]
    rows += [[f"{record[key]}" for key in columns] for record in records]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


TABLES = {
    "assignments.md": {"exercises": exercises},
    "appendix_environment.md": {"versions": versions},
    "appendix_audit.md": {"ways": ways, "held": held, "usual": usual, "audit": audit},
    "appendix_syllabus.md": {"goals": goals, "assignments": assignments, "weekend": weekend},
    "appendix_licences.md": {"data": data, "models": models},
}


def filled(page: str) -> str:
    """The text of a page with its tables made anew."""
    text = (BOOK / page).read_text(encoding="utf-8")
    for name, make in TABLES[page].items():
        before, _, rest = text.partition(BEGIN.format(name))
        _, end, after = rest.partition(END)
        if not end:
            raise ValueError(f"{page} should have a place for the table {name}")
        text = f"{before}{BEGIN.format(name)}\n{make()}\n\n{END}{after}"
    return text


if __name__ == "__main__":
    for page in TABLES:
        (BOOK / page).write_text(filled(page), encoding="utf-8")
        print(f"{page}: written")
