"""A day on a real hub, in a browser, installed and started with the commands of the page about hubs."""

from __future__ import annotations

import csv
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.instructor.lab import PATIENCE, PICTURES, SIZE, Window, save_picture

from .machine import Machine, commands, for_everybody, reason_against

pytestmark = [pytest.mark.nightly, pytest.mark.browser]

NAME, NOTEBOOK = "ps1", "ps1.ipynb"
PEOPLE = ("instructor", "ada", "bob")
STEP = """def rnn_step(x, h, w_ih, w_hh, b_ih, b_hh):
    return torch.tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Machine:
    """A machine on which the page's commands installed the course and made the accounts."""
    if why := reason_against():
        pytest.skip(why)
    made = Machine(tmp_path_factory.mktemp("machine"))
    script = re.sub(r"^apt-get install .*\n", "", commands("useradd"))
    made.run(script, PYTHON=for_everybody())
    made.run(f"printf '%s\\n' {' '.join(f'{name}:of-{name}' for name in PEOPLE)} | chpasswd")
    return made


@dataclass
class Hub:
    """A running hub: its address, who knows which password, where homes are, who can look where."""

    machine: Machine
    chrome: object
    address: str
    homes: str
    passwords: dict[str, str]
    separate: bool

    def home(self, name: str) -> Path:
        return self.machine.inside(f"{self.homes}/{name}")

    @contextmanager
    def person(self, name: str, password: str = "") -> Iterator[Person]:
        """Somebody who has logged in and whose JupyterLab is there."""
        context = self.chrome.new_context(viewport=SIZE, reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(3 * PATIENCE)
        try:
            page.goto(self.address)
            page.fill("#username_input", name)
            page.fill("#password_input", password or self.passwords[name])
            picture(page, "login")
            page.click("#login_submit")
            page.wait_for_selector("#jp-main-dock-panel, .login_error")
            yield Person(page, f"{self.address}/user/{name}", self, name)
        finally:
            context.close()


class Person(Window):
    """One person's JupyterLab on the hub."""

    def __init__(self, page: object, address: str, hub: Hub, name: str) -> None:
        super().__init__(page, address, query="")
        self.hub, self.name = hub, name

    def terminal(self, command: str, fails: bool = False) -> str:
        """Type a command into a terminal of JupyterLab; returns what it said."""
        home = self.hub.home(self.name)
        (home / "code").unlink(missing_ok=True)
        if not self.page.locator(".jp-Terminal:visible").count():
            self.page.goto(f"{self.address}/lab?reset")
            self.page.get_by_role("menuitem", name="File", exact=True).click()
            self.page.locator(".lm-Menu-item", has_text="New").first.hover()
            self.page.locator(".lm-Menu-item", has_text="Terminal").click()
            self.page.wait_for_selector(".jp-Terminal:visible .xterm-screen")
            self.page.wait_for_timeout(1500)  # until the shell has begun
        self.page.locator(".jp-Terminal:visible .xterm-screen").click()
        self.page.keyboard.type(f"({command}) > ~/said 2>&1; echo $? > ~/wrote; mv ~/wrote ~/code\n")
        until((home / "code").exists, f"`{command}` should have ended", 600)
        said, code = (home / "said").read_text(), int((home / "code").read_text())
        assert (code != 0) == fails, f"{command}\n{said}"
        return said

    def course(self, command: str) -> str:
        """A command in the instructor's copy of the course."""
        return self.terminal(f"cd ~/course && {command}")


def until(done: Callable[[], bool], words: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"{words} within {seconds:.0f} s"
        time.sleep(0.2)


def picture(page: object, name: str) -> None:
    """Keep a picture when somebody asked for pictures."""
    if folder := os.environ.get(PICTURES):
        save_picture(page, Path(folder) / f"hub-{name}.png")


@contextmanager
def with_accounts(machine: Machine, chrome: object, watched: str = "") -> Iterator[Hub]:
    script = commands("/srv/jupyterhub")
    if watched:
        write = f"""sed -i 's/^watched = .*/watched = ["{watched}"]/' jupyterhub_config.py"""
        script = script.replace("cd /srv/jupyterhub\n", f"cd /srv/jupyterhub\n{write}\n")
    with machine.hub(script) as address:
        passwords = {name: f"of-{name}" for name in PEOPLE}
        yield Hub(machine, chrome, address, "/home", passwords, separate=True)


@contextmanager
def alone(machine: Machine, chrome: object) -> Iterator[Hub]:
    """The same programs, with the configuration to try; all are the account that runs the hub."""
    machine.run("mkdir -p /srv/me && ln -sfn /opt/seqcourse /srv/me/hub")
    machine.run("rm -rf /srv/nbgrader/exchange/*")  # of the other hub
    script = re.sub(r"^sh deploy/install.sh .*\n", "", commands("~/hub/bin"))
    with machine.hub(script, HOME="/srv/me") as address:
        passwords = dict.fromkeys(PEOPLE, "try-the-course")
        yield Hub(machine, chrome, address, "/opt/seqcourse/run/home", passwords, separate=False)


@pytest.mark.parametrize("start", [with_accounts, alone])
def test_a_day_on_the_hub(machine, chrome, start):
    with start(machine, chrome) as hub:
        nobody_enters_without_the_password(hub)
        the_instructor_releases(hub)
        with hub.person("ada") as ada:
            she_fetches_solves_validates_and_submits(ada)
            with hub.person("bob") as bob:
                bob_sees_nothing_of_hers(bob)
            the_instructor_grades(hub)
            she_fetches_her_feedback(ada)
    if start is with_accounts:
        with with_accounts(machine, chrome, watched=NAME) as hub, hub.person("ada") as ada:
            she_submits_again_and_it_is_graded_at_once(ada)


def nobody_enters_without_the_password(hub: Hub) -> None:
    with hub.person("ada", "a-guess") as stranger:
        assert "Invalid username or password" in stranger.page.inner_text(".login_error")


def the_instructor_releases(hub: Hub) -> None:
    with hub.person("instructor") as instructor:
        # a copy of the repository in the instructor's own home
        hub.machine.run(
            f"cp -r /srv/course {hub.homes}/instructor/course"
            + (f" && chown -R instructor: {hub.homes}/instructor/course" if hub.separate else "")
        )
        instructor.terminal(commands("labextension enable").strip())
        instructor.course(f"seqcourse release {NAME}")
        instructor.course(f"nbgrader db assignment add {NAME}")
        assert "Released as: seqcourse ps1" in instructor.course(f"nbgrader release_assignment {NAME}")
        picture(instructor.page, "terminal")
        assert "Formgrader" in tools(instructor)


def she_fetches_solves_validates_and_submits(ada: Person) -> None:
    assert "Formgrader" not in tools(ada)
    ada.assignment_list()
    ada.click_in_list("Fetch")
    ada.page.wait_for_selector(f"#fetched_assignments_list >> text={NAME}")
    picture(ada.page, "list")
    notebook = ada.open_notebook(f"{NAME}/{NOTEBOOK}")
    notebook.run("import matplotlib")
    notebook.type_into("def rnn_step", STEP)
    notebook.run("def rnn_step")
    assert "✓" in notebook.run("check.ps1.rnn_step")
    notebook.save()
    picture(ada.page, "notebook")
    ada.page.get_by_role("button", name="Validate").first.click()
    told = ada.page.locator(".jp-Dialog-content", has_text="check.ps1.")
    told.wait_for(timeout=600_000)
    picture(ada.page, "validate")
    assert "check.ps1.lstm_step" in told.inner_text() and "check.ps1.rnn_step" not in told.inner_text()
    ada.page.keyboard.press("Escape")
    ada.assignment_list()
    ada.submit(NAME, count=1)


def bob_sees_nothing_of_hers(bob: Person) -> None:
    hub = bob.hub
    answer = bob.page.goto(f"{hub.address}/user/ada/lab")
    assert answer.status in (403, 404) and not bob.page.locator("#jp-main-dock-panel").count()
    picture(bob.page, "refused")
    assert bob.page.goto(f"{hub.address}/user/ada/files/{NAME}/{NOTEBOOK}").status in (403, 404)
    inbound = "/srv/nbgrader/exchange/seqcourse/inbound"
    assert any(path.name.startswith("ada+") for path in hub.machine.inside(inbound).iterdir())
    if hub.separate:
        for look in (f"ls {hub.homes}/ada", f"cat {hub.homes}/ada/{NAME}/{NOTEBOOK}", f"ls {inbound}"):
            assert "Permission denied" in bob.terminal(look, fails=True)
        solutions = f"ls {hub.homes}/instructor/course/solutions"
        assert "Permission denied" in bob.terminal(solutions, fails=True)


def the_instructor_grades(hub: Hub) -> None:
    with hub.person("instructor") as instructor:
        assert "Processing 1 submissions" in instructor.course(f"nbgrader collect {NAME}")
        assert "ada" in instructor.course(f"seqcourse grade {NAME}")
        picture(instructor.page, "grade")
        instructor.course(f"seqcourse export {NAME} --csv marks.csv")
        instructor.course(f"seqcourse feedback {NAME} --release")
    with (hub.home("instructor") / "course" / "marks.csv").open(encoding="utf-8-sig") as file:
        (ada,) = csv.DictReader(file)
    assert ada["student"] == "ada"
    assert float(ada["rnn_step-grade"]) == 5 and float(ada["lstm_step-grade"]) == 0


def she_fetches_her_feedback(ada: Person) -> None:
    ada.page.goto(f"{ada.address}/lab?reset")
    ada.assignment_list()
    ada.click_in_list("Fetch Feedback")
    ada.page.wait_for_selector("#submitted_assignments_list >> text=(view feedback)")
    picture(ada.page, "feedback")
    (page,) = (ada.hub.home("ada") / NAME / "feedback").glob(f"*/{NAME}.html")
    assert "rnn_step" in page.read_text(encoding="utf-8")


def she_submits_again_and_it_is_graded_at_once(ada: Person) -> None:
    """A service of the hub grades what arrives; the instructor is not there."""
    released = ada.hub.machine.inside("/srv/nbgrader/exchange/seqcourse/feedback")
    notebook = ada.open_notebook(f"{NAME}/{NOTEBOOK}")
    notebook.type_into("def rnn_step", STEP.replace(" + b_hh", ""))
    notebook.save()
    ada.assignment_list()
    ada.submit(NAME, count=2)
    until(lambda: len([*released.glob("*.html")]) == 2, "the second feedback should be there", 300)
    ada.assignment_list()
    ada.click_in_list("Fetch Feedback")
    pages = ada.hub.home("ada") / NAME / "feedback"
    until(lambda: len([*pages.glob(f"*/{NAME}.html")]) == 2, "she should have both pages", 60)
    first, second = (path.read_text("utf-8") for path in sorted(pages.glob(f"*/{NAME}.html")))
    assert "bias of the hidden part" in second and "bias of the hidden part" not in first
    picture(ada.page, "watched")


def tools(person: Person) -> str:
    """What the menu Nbgrader offers."""
    person.page.goto(f"{person.address}/lab?reset")
    person.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    menu = person.page.locator(".lm-Menu:visible")
    menu.wait_for()
    said = menu.inner_text()
    person.page.keyboard.press("Escape")
    return said
