"""What a sandbox sees of the checks: hidden inputs arrive without exercise, maker or reference."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import seqcourse
from seqcourse.check.cards.load import load_checks
from seqcourse.check.grade.verdict import Judge

ROOT = Path(__file__).resolve().parents[2]
# In a process of its own, where no assignment's exercises can be imported.
UNPICKLE = """
import pickle, sys

class Hidden:
    def find_spec(self, name, path, target=None):
        assert not name.startswith("seqcourse.check.ps"), name

sys.meta_path.insert(0, Hidden())
from seqcourse.check.grade.probe import _function
count = 0
for request in pickle.load(sys.stdin.buffer):
    _function(request["record"])
    for call in pickle.loads(request["calls"]):
        assert call["given"]
        count += 1
print(count)
"""


def test_every_hidden_input_arrives_where_no_exercise_can_be_imported():
    requests = [
        Judge(check, 5).request
        for path in sorted((ROOT / "solutions").glob("ps*"))
        for check in load_checks(ROOT, path.name).CHECKS
        if hasattr(check, "exercise")
    ]
    assert len(requests) > 70
    done = subprocess.run(
        [sys.executable, "-c", UNPICKLE], input=pickle.dumps(requests), cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 300


def test_no_file_that_a_sandbox_sees_imports_an_exercise():
    folder = Path(seqcourse.__file__).parent / "check"
    for path in [*folder.glob("*.py"), *folder.glob("inside/*.py")]:
        source = path.read_text(encoding="utf-8")
        assert (
            "from seqcourse.check.ps" not in source and "from seqcourse.check import ps" not in source
        ), path


def test_self_checks_are_left_out_where_their_folder_is_empty(tmp_path):
    """A sandbox mounts an empty folder over each assignment's exercises."""
    code = """
import importlib.util, seqcourse.check
from importlib.machinery import ModuleSpec
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: ModuleSpec(name, None) if ".ps" in name else real(name)
from seqcourse import check
check.ps2.final_states(None)
with check.ps2.experiment("1"):
    print("experiment")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "Self-checks are left out while work is graded.\nexperiment\n", done.stderr
