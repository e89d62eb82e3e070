"""What a coding assistant reads in an assignment's folder, by the class's choice in course.toml.

A tutor's rules in AGENTS.md are made from the exercises themselves, so they never fall behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cellgrader.errors import CourseError
from cellgrader.notebook import document as notebooks
from cellgrader.printable import printable
from cellgrader.profile import the_course

ALLOWED, TUTOR, OFF = "allowed", "tutor", "off"
CHOICES = (ALLOWED, TUTOR, OFF)

# Assistants that look for a file of their own import this one.
RULES, POINTERS = "AGENTS.md", ("CLAUDE.md", "GEMINI.md")
EDITOR = ".vscode/settings.json"
NO_COMPLETION = {"editor.inlineSuggest.enabled": False, "github.copilot.enable": {"*": False}}
NO_ASSISTANT = {"chat.disableAIFeatures": True}

# The last section of each assignment, and what its second cell holds before a student writes there.
TITLE, EMPTY = "What you used", "*Double-click here and write.*"
# What each choice says, above the list of exercises.
SAID = Path(__file__).parents[1] / "templates" / "assistants"


def files(choice: str, name: str, exercises: Mapping[str, tuple]) -> dict[str, bytes]:
    """What an assignment's folder holds for assistants and editors: path -> content.

    Args:
        choice: one of `CHOICES`; all but "allowed" also switch inline completion off.
        exercises: name -> (idea, chapter and section to read, questions), in the notebook's order.
    """
    said = (SAID / f"{choice}.md").read_text(encoding="utf-8")
    rules = f"# Assignment {name.removeprefix('ps')}: rules for assistants\n\n{said}"
    parts = [_part(choice, name, exercise, *rest) for exercise, rest in exercises.items()]
    if parts:
        rules = "\n".join([rules, "## The exercises\n", *parts])
    made = {RULES: rules, **dict.fromkeys(POINTERS, f"@{RULES}\n")}
    if choice != ALLOWED:
        silent = NO_COMPLETION | (NO_ASSISTANT if choice == OFF else {})
        made[EDITOR] = json.dumps(silent, indent=2) + "\n"
    return {path: text.encode() for path, text in made.items()}


def declared(path: Path) -> str:
    """What a student wrote under "What you used", on one line; "" if nothing, or if it is not found."""
    try:
        cells = notebooks.read(path)["cells"]
    except (CourseError, OSError):
        return ""
    texts = [notebooks.text(cell) for cell in cells if cell.get("cell_type") == "markdown"]
    place = next((k for k, text in enumerate(texts) if text.lstrip("# ").startswith(TITLE)), None)
    # Some write into the section's first cell, below the three lines that were given.
    told = [] if place is None else [*texts[place].splitlines()[3:], *texts[place + 1 :]]
    return printable(" ".join(" ".join(told).replace(EMPTY, "").split()), 1000)


def _part(
    choice: str, name: str, exercise: str, idea: str, see: tuple[str, str], questions: tuple[str, ...]
) -> str:
    """What a file says about one exercise."""
    chapter, section = see
    told = f"### `{exercise}`\n\n{idea} Read: chapter {chapter}, “{section}”."
    if choice != TUTOR:
        return f"{told}\n"
    asked = "\n".join(f"- {question}" for question in questions)
    call = the_course().self_check.format(assignment=name, exercise=exercise)
    return f"{told} Self-check: `{call}`. Ask:\n\n{asked}\n"


def exercises(root: Path, name: str) -> dict[str, tuple]:
    """The exercises of an assignment as `files` wants them."""
    found = {}
    for check in the_course().load_checks(root, name).CHECKS:
        record = getattr(check, "exercise", None)  # polls and whole systems have none
        if record and record.idea:
            found.setdefault(record.name, (record.idea, record.see, record.questions))
    return found
