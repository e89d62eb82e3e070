"""A live figure: one wrong word is planted into a translation, and the rest is written again."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from seqcourse.live.figure import figure
from seqcourse.tokens import EOS, PAD, SOS


def slip(model: str, label: str, examples: Sequence[str]) -> Any:
    """A sentence to type, its greedy translation, and what follows each word's second choice.

    Make the call the last line of its cell.

    Args:
        model: a translator of the zoo.
        label: what to type.
        examples: sentences; the first one's slips are in the page.

    Raises:
        CourseError: if there is no label or example, or the model does not translate.
    """
    from seqcourse import zoo
    from seqcourse.viz.html import Shown

    system = zoo.load(model)

    def run(text: str) -> Shown:
        found = slips(system, text)
        if not found:
            return Shown("<p>Nothing was written.</p>", "nothing")
        return Shown(table_of(found), " ".join(word for word, _, _ in found))

    return figure("slip", {model: "The translator"}, label, examples, run)


def slips(system: Any, text: str) -> list[tuple[str, str, list[str]]]:
    """For each word of a greedy translation: the word, the second choice there, what then follows."""
    import torch

    (source,) = system.sources([text])
    most = 2 * len(source) + 10

    def write(memory: Any, given: list[int]) -> list[tuple[int, int]]:
        """The words, of which the first are given, each with the second choice at its position."""
        state, token, found = system.model.start(memory), SOS, []
        while token != EOS and len(found) < most:
            out = system.model.step(torch.tensor([token], device=system.device), state, memory)
            state, logits = out.state, out.logits[0].clone()
            logits[[PAD, SOS]] = -torch.inf
            first, second = logits.topk(2).indices.tolist()
            token = given[len(found)] if len(found) < len(given) else first
            found.append((token, second))
        return found

    with torch.inference_mode():
        memory = system.encode([source])
        plain = write(memory, [])
        words, rows = [word for word, _ in plain], []
        for place, (word, second) in enumerate(plain):
            if word == EOS:
                break
            rest = write(memory, [*words[:place], second])[place + 1 :]
            rows.append((word, second, [other for other, _ in rest if other != EOS]))
    name = system.target.decode
    return [
        (name([word])[0], (name([second]) or ["<eos>"])[0], name(rest)) for word, second, rest in rows
    ]


def table_of(found: Sequence[tuple[str, str, list[str]]]) -> str:
    """A row per word; what differs from the translation is marked, as in runtime/translating.js."""
    words, body = [word for word, _, _ in found], ""
    for place, (word, second, rest) in enumerate(found):
        usual = words[place + 1 :]
        marked = " ".join(
            html.escape(other)
            if k < len(usual) and other == usual[k]
            else f"<mark>{html.escape(other)}</mark>"
            for k, other in enumerate(rest)
        )
        body += (
            f'<tr><th scope="row">{html.escape(word)}</th><td>{html.escape(second)}</td>'
            f"<td>{html.escape(' '.join(words[:place]))} <b>{html.escape(second)}</b> {marked}</td></tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("word", "slip", "written then"))
    return (
        f'<p lang="es">{html.escape(" ".join(words))}</p><div class="sq-scroll"><table class="sq-slips">'
        f"<caption>One slip at a time</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
