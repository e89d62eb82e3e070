"""A question with options that answers at once, and says why."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from seqcourse.errors import CourseError
from seqcourse.viz.html import STYLE, Shown, has_widgets, inline, new_id, plain

POLLS = Path(__file__).parent / "polls"


def poll(name: str) -> Any:
    """Ask the poll ``name`` of the book, for example "03-greedy".

    The polls of chapter 3 are in polls/03.toml: outside the notebook, so that nobody reads the
    answer before the question. Raises CourseError when there is no such poll.
    """
    return ask(**load_poll(name), name=name)


def load_poll(name: str, folder: Path = POLLS, kind: str = "poll") -> dict[str, Any]:
    """A poll's question, options and answer; a line break in a text is a space."""
    found = written(folder, name, kind)
    options = {option: folded(reason) for option, reason in found["options"].items()}
    return {"question": folded(found["question"]), "options": options, "answer": found["answer"]}


def written(folder: Path, name: str, kind: str) -> dict[str, Any]:
    """The record ``name`` of a folder: "03-greedy" is "greedy" in 03.toml."""
    page, _, key = name.rpartition("-")
    path = folder / f"{page}.toml"
    known = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if key not in known:
        pages = sorted(path.stem for path in folder.glob("*.toml"))
        names = [f"{page}-{key}" for key in known] or [f"{page}-..." for page in pages]
        raise CourseError(f"A {kind} should be one of {', '.join(names)}, but it is {name!r}.")
    return known[key]


def folded(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def ask(question: str, options: Mapping[str, str], answer: str, name: str = "") -> Any:
    """Ask ``question``; every option has its reason, and ``answer`` is the text that is right.

    With a kernel the options are radio buttons, and the reason appears when one is chosen; in the
    built page each option opens and shows right or wrong with its reason. The texts may hold
    `code`, *emphasis* and $mathematics$. Make the call the last line of its cell. Raises
    CourseError for fewer than two options, an option without a reason, or an answer that is not
    an option.
    """
    check_poll(question, options, answer)
    if has_widgets():
        return widget_form(question, options, answer)
    return static_form(question, options, answer, f"poll/{name}" if name else "")


def check_poll(question: str, options: Mapping[str, str], answer: str) -> None:
    """Raise CourseError when the poll cannot be asked as it is."""
    if not isinstance(question, str) or not question.strip():
        raise CourseError(f"question should be a sentence, but it is {question!r}.")
    if not isinstance(options, Mapping) or len(options) < 2:
        raise CourseError(
            "options should be a mapping {option: reason} with at least two entries, "
            f"but it is {options!r}."
        )
    for option, reason in options.items():
        if not isinstance(reason, str) or not reason.strip():
            raise CourseError(
                f"The option {option!r} has no reason: add one sentence that says why it is "
                f"right or wrong."
            )
    if answer not in options:
        raise CourseError(f"answer should be one of {list(options)}, but it is {answer!r}.")


def verdict(options: Mapping[str, str], answer: str, chosen: str) -> tuple[bool, str]:
    """Whether the chosen option is right, and its own reason."""
    return chosen == answer, options[chosen]


def static_form(
    question: str, options: Mapping[str, str], answer: str, asked: str = "", more: str = ""
) -> Shown:
    """HTML without JavaScript: one ``<details>`` per option; opening one closes the others.

    asked: the name of the card, such as "poll/03-greedy".    more: HTML below the options.
    """
    root = new_id("poll", question + "".join(options))
    choices = []
    for option in options:
        right, reason = verdict(options, answer, option)
        kind = ' class="sq-is-right"' if right else ""
        choices.append(
            f'<details name="{root}"{kind}><summary>{inline(option)}</summary>'
            f"<p>{spoken(right, reason)}</p></details>"
        )
    body = (
        f'<div class="sq sq-card sq-poll seq-poll tex2jax_process" id="{root}" role="group" '
        f'data-asked="{asked}" aria-labelledby="{root}-question">'
        f'<p class="sq-question" id="{root}-question">'
        f"{inline(question)}</p>{''.join(choices)}{more}"
        f'<p class="sq-note">Choose an option to see whether it is right.</p></div>'
    )
    lines = "\n".join(f"  ( ) {plain(option)}" for option in options)
    return Shown(body, f"{plain(question)}\n{lines}")


def widget_form(question: str, options: Mapping[str, str], answer: str) -> Any:
    """An ipywidgets box: the question, radio buttons with none chosen, and the reason below.

    A radio button cannot show a formula: where an option has one, the buttons are letters of a list.
    """
    import ipywidgets as widgets

    lettered = any("$" in option for option in options)
    listed = "".join(f"<li>{inline(option)}</li>" for option in options) if lettered else ""
    listed = f'<ol type="a" class="sq-listed">{listed}</ol>' if listed else ""
    asked = widgets.HTMLMath(f'{STYLE}<div class="sq"><b>{inline(question)}</b>{listed}</div>')
    labels = ascii_lowercase if lettered else map(plain, options)
    buttons = widgets.RadioButtons(
        options=list(zip(labels, options, strict=False)),
        index=None,
        layout=widgets.Layout(width="auto", max_width="100%"),
    )
    buttons.add_class("sq-radio")  # long options go over several lines
    said = widgets.HTMLMath()

    def tell(change: Any) -> None:
        if change["new"] is None:
            said.value = ""
            return
        right, reason = verdict(options, answer, change["new"])
        kind = " sq-is-right" if right else ""
        said.value = (
            f'{STYLE}<div class="sq sq-answer{kind}" role="status">{spoken(right, reason)}</div>'
        )

    buttons.observe(tell, names="value")
    return widgets.VBox([asked, buttons, said])


def spoken(right: bool, reason: str) -> str:
    return f"<strong>{'✓ Right.' if right else '✗ Not this one.'}</strong> {inline(reason)}"
