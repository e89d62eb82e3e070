"""The drawing of the house in CONTRIBUTING.md is the house."""

from __future__ import annotations

from tests.house.picture import DRAWING, GUIDE, arrows, drawing


def test_the_drawing_is_up_to_date():
    assert DRAWING.findall(GUIDE.read_text(encoding="utf-8")) == [drawing()], "run `make house`"


def test_every_arrow_is_drawn_or_implied():
    drawn = {
        tuple(line.split(" --> ")) for line in drawing().replace("    ", "").splitlines() if ">" in line
    }

    def reaches(room: str, other: str) -> bool:
        return (room, other) in drawn or any(reaches(b, other) for a, b in drawn if a == room)

    for room, others in arrows().items():
        assert all(reaches(room, other) for other in others), room


def test_the_guide_is_short():
    assert len(GUIDE.read_text(encoding="utf-8").splitlines()) <= 150
