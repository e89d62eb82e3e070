"""All of it holds for an ordinary user, too, who can make no control groups and mount nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sizes import nightly_but

from .as_user import CANNOT, USER
from .confining import need_sandbox

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="the tests run as an ordinary user anyway"
)
@pytest.mark.parametrize("name", nightly_but(["sandbox"], ["sandbox", "limits", "kernel"]))
def test_an_ordinary_user_is_protected_as_well(name):
    need_sandbox()
    folder = tempfile.mkdtemp(prefix="user-")
    try:
        os.chown(folder, USER, USER)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.grading.as_user",
                folder,
                str(HERE / f"test_confine_{name}.py"),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == CANNOT:
            pytest.skip(done.stdout.strip())
        assert done.returncode == 0, done.stdout + done.stderr
        assert " passed" in done.stdout
    finally:
        shutil.rmtree(folder)
