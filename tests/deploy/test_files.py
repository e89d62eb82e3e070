"""The files for hubs and containers fit together and fit the course."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
import typer
import yaml
from packaging.requirements import Requirement
from traitlets.config import Config, PyFileConfigLoader

from seqcourse.cli.app import app
from tests.house.test_house import ROOT, project

DEPLOY = ROOT / "deploy"
PAGE = ROOT / "book" / "appendix_hub.md"
# What a package of pip's is called on conda-forge, where the name differs; the first without CUDA.
CONDA = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}


def load(name: str) -> Config:
    return PyFileConfigLoader(name, str(DEPLOY)).load_config()


def default_exchange() -> str:
    """The exchange folder of install.sh."""
    return re.search(r"exchange=\$\{2:-(.+)}", (DEPLOY / "install.sh").read_text())[1]


def test_the_class_logs_in_with_accounts_and_is_reached_through_a_web_server_only():
    config = load("jupyterhub_config.py")
    assert config.JupyterHub.authenticator_class == "pam"
    assert config.JupyterHub.bind_url == "http://127.0.0.1:8000"
    assert config.LocalAuthenticator.allowed_groups == {"seqcourse"}
    assert "groupadd seqcourse" in PAGE.read_text()


def test_what_arrives_is_graded_by_the_instructor_s_account(tmp_path):
    """Nothing is watched at first; the page's line starts a command that exists, where the course is."""
    assert load("jupyterhub_config.py").JupyterHub.services == []
    line = re.search(r'`(watched = \["ps3"\])`', PAGE.read_text())[1]
    text = (DEPLOY / "jupyterhub_config.py").read_text()
    (tmp_path / "changed.py").write_text(text.replace("watched = []", line))
    changed = PyFileConfigLoader("changed.py", str(tmp_path)).load_config()
    (service,) = changed.JupyterHub.services
    assert service["user"] == "instructor" and service["cwd"].endswith("instructor/course")
    assert "in the folder `course` of its home" in PAGE.read_text()
    assert "for name in instructor" in PAGE.read_text()
    program, *arguments = service["command"]
    assert program.endswith("/bin/seqcourse") and f"`{arguments[-1]}`" in PAGE.read_text()
    command = typer.main.get_command(app).commands[arguments[0]]
    given = command.make_context("watch", arguments[1:]).params
    assert given["name"] == "ps3" and given["page"].parent.name == "grading"


def test_the_hub_to_try_knows_three_people_and_is_seen_on_this_machine_only():
    config = load("try_config.py")
    assert config.JupyterHub.authenticator_class == "shared-password"
    assert config.JupyterHub.bind_url == "http://127.0.0.1:8000"
    for said in (*config.Authenticator.allowed_users, config.SharedPasswordAuthenticator.user_password):
        assert f"`{said}`" in PAGE.read_text()
    assert config.Spawner.cmd == load("jupyterhub_config.py").Spawner.cmd


@pytest.mark.parametrize("path", ["deploy/install.sh", ".binder/postBuild"])
def test_scripts_can_be_parsed(path):
    assert subprocess.call(["bash", "-n", ROOT / path]) == 0


def test_kubernetes_mounts_the_exchange_where_the_image_has_it():
    singleuser = yaml.safe_load((DEPLOY / "values.yaml").read_text())["singleuser"]
    storage = singleuser["storage"]
    (volume,), (mount,) = storage["extraVolumes"], storage["extraVolumeMounts"]
    assert volume["name"] == mount["name"] and mount["mountPath"] == default_exchange()
    page, recipe = PAGE.read_text(), (DEPLOY / "Dockerfile").read_text()
    assert f"`{volume['persistentVolumeClaim']['claimName']}`" in page
    assert all(f"--tag {singleuser['image']['name']} ." in text for text in (page, recipe))
    # nbgrader takes the name from JupyterHub only where the system's account is called so
    assert " jovyan " in recipe and storage["homeMountPath"].endswith("/jovyan")


def test_the_image_is_made_by_the_script():
    recipe = (DEPLOY / "Dockerfile").read_text()
    assert "RUN sh /usr/src/seqcourse/deploy/install.sh" in recipe and "pip install" not in recipe


@pytest.mark.nightly
def test_the_image_can_be_built():
    try:
        engine = subprocess.run(["docker", "info"], capture_output=True).returncode == 0
    except OSError:
        engine = False
    if not engine:
        pytest.skip("no container engine runs here")
    assert subprocess.call(["docker", "build", "--file", "deploy/Dockerfile", "."], cwd=ROOT) == 0


def test_the_development_container_installs_with_make():
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert told["postCreateCommand"].startswith("make ")
    dry = ["make", "--dry-run", *told["postCreateCommand"].split()[1:], f"PYTHON={sys.executable}"]
    subprocess.run(dry, cwd=ROOT, check=True, capture_output=True)
    recommended = json.loads((ROOT / ".vscode" / "extensions.json").read_text())["recommendations"]
    assert told["customizations"]["vscode"]["extensions"] == recommended


def test_binder_gets_the_core_and_the_course_itself():
    core = map(Requirement, project()["dependencies"])
    there = [one for one in core if not one.marker or one.marker.evaluate({"sys_platform": "linux"})]
    wanted = {f"{CONDA.get(one.name, one.name)}{one.specifier}" for one in there}
    listed = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text())["dependencies"]
    assert {str(Requirement(one)) for one in listed if not one.startswith("python=")} == wanted
    assert "pip install --no-deps --editable ." in (ROOT / ".binder" / "postBuild").read_text()
    assert os.access(ROOT / ".binder" / "postBuild", os.X_OK)
