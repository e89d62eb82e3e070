"""The glossary: in order, and every link leads to a section that speaks of the term."""

from __future__ import annotations

import re

import pytest

from .finding import ROOT, notebooks, read, text

GLOSSARY = (ROOT / "book/appendix_glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^(\S.*)\n  (\S.*) See \[[^]]+\]\([\w.]+#([\w-]+)\)\.$", GLOSSARY, re.M)


def sections() -> dict[str, str]:
    """The text of every section of the book that has a label."""
    found: dict[str, str] = {}
    for name in notebooks("book"):
        label = ""
        for cell in read(name)["cells"]:
            for line in text(cell).splitlines() if cell["cell_type"] == "markdown" else ():
                if begins := re.match(r'<a id="(sec[\w-]*)"></a>$', line):
                    label = begins[1]
                elif label:
                    found[label] = found.get(label, "") + line.lower() + "\n"
    return found


SECTIONS = sections()


def test_every_entry_is_one_sentence_and_they_are_in_order():
    assert len(ENTRIES) > 70 and GLOSSARY.count(" See [") == len(ENTRIES)
    names = [term.lower().strip("`<") for term, _, _ in ENTRIES]
    assert names == sorted(names) and len(set(names)) == len(names)
    assert [term for term, said, _ in ENTRIES if not said.endswith(".")] == []


@pytest.mark.parametrize(("term", "label"), [(term, label) for term, _, label in ENTRIES])
def test_a_link_leads_to_a_section_with_the_term(term, label):
    assert label in SECTIONS, f"{label} labels no section"
    words = [word for word in re.findall(r"[a-z-]{3,}", term.lower()) if word not in ("and", "error")]
    stems = [word[: max(4, len(word) - 3)] for word in words]
    assert any(stem in SECTIONS[label] for stem in stems), f"{label} says nothing of {term}"
