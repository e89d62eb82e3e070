"""The attempts of a day are counted on the disk, and a clock that jumps gives none back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cellgrader.course.folders import Course
from cellgrader.watch import day

NOON = datetime(2026, 11, 25, 12).timestamp()
HOUR = 3600.0
DAY = 24 * HOUR


def used(course: Course, now: float) -> int:
    return day.used(day.tries(course, "ps1", "ada", now), now)


def begin(course: Course, number: int, now: float, submission: str = "") -> None:
    day.begin(course, "ps1", "ada", submission or f"{number:02x}", number, now)


def test_what_was_begun_counts_once_for_its_day(tmp_path):
    course = Course(tmp_path)
    assert used(course, NOON) == 0 and day.last(course, "ps1", "ada", NOON) is None
    begin(course, 1, NOON - 13 * HOUR)  # yesterday
    begin(course, 2, NOON)
    begin(course, 2, NOON + HOUR)  # killed and begun again
    begin(course, 3, NOON + 2 * HOUR)
    assert used(course, NOON + 2 * HOUR) == 2
    assert used(Course(tmp_path), NOON + DAY) == 0
    assert day.tries(course, "ps1", "bob", NOON) == () == day.tries(course, "ps2", "ada", NOON)


def test_an_attempt_that_the_grader_spoilt_costs_nothing_but_cannot_be_had_without_end(tmp_path):
    course = Course(tmp_path)
    for number in range(1, 5):
        begin(course, number, NOON)
        state = day.SPOILT if number > 1 else day.SHOWN
        day.note(course, "ps1", "ada", number, state, NOON)
        assert used(course, NOON) == max(1, number - 1)
    day.note(course, "ps1", "ada", 4, day.GRADED, NOON)
    assert used(course, NOON) == 2
    assert day.last(course, "ps1", "ada", NOON).state == day.GRADED


def test_setting_the_clock_back_gives_no_attempts_back(tmp_path):
    course = Course(tmp_path)
    begin(course, 1, NOON)
    begin(course, 2, NOON)
    for back in (HOUR, DAY, 400 * DAY, NOON):  # the last one is 1970
        assert used(course, NOON - back) == 2
    assert used(course, NOON) == 2, "nor does setting it right again"
    assert used(course, NOON + DAY) == 0


def test_a_clock_that_was_ahead_takes_attempts_for_a_day_at_most(tmp_path):
    course = Course(tmp_path)
    begin(course, 1, NOON + 400 * DAY)
    assert used(course, NOON) == 1
    assert used(course, NOON + DAY) == 0
    begin(course, 2, NOON + DAY)
    assert used(course, NOON + DAY) == 1


def test_the_next_day_begins_at_midnight_also_when_clocks_change(tmp_path):
    for now in (NOON, NOON - 12 * HOUR, NOON + 12 * HOUR - 1):
        begins = day.next_day(now)
        assert datetime.fromtimestamp(begins) == datetime(2026, 11, 26)
        # The machine's midnight, by the class's clock.
        there = datetime.fromtimestamp(begins, UTC)
        assert day.at(begins, UTC) == f"{there.day} November 2026, {there:%H:%M} UTC"
        hour = (there.hour + 9) % 24
        assert f", {hour:02}:{there:%M} Asia/Tokyo" in day.at(begins, ZoneInfo("Asia/Tokyo"))
    for month in range(1, 13):
        for number in range(1, 29):
            now = datetime(2026, month, number, 1, 30)
            begins = datetime.fromtimestamp(day.next_day(now.timestamp()))
            assert begins.date() == now.date() + timedelta(days=1) and begins.hour <= 1


def test_a_damaged_file_stops_nobody(tmp_path):
    course = Course(tmp_path)
    begin(course, 1, NOON)
    (path,) = (course.folder / "watch").rglob("ada.json")
    for content in ("", '{"tries": [', "[]"):
        path.write_text(content)
        assert used(course, NOON) == 0
        begin(course, 2, NOON)
        assert used(course, NOON) == 1
