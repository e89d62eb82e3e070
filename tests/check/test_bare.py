"""A process without the right answers still makes every check's inputs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A decoder step of assignment 3 is handed an attention that works.
HANDED_OUT = "HANDED_OUT = ('reference_attend',)\n"
# In a process of its own: what is forgotten does not come back.
FORGET = (
    HANDED_OUT
    + """
import gc, json, sys, types
from pathlib import Path
from seqcourse.check.verdict import load_checks

requests = {}
for path in sorted(Path("solutions").glob("ps*")):
    for check in load_checks(Path("."), path.name).CHECKS:
        if hasattr(check, "make"):
            requests[check.cell] = json.dumps(check.request(check.choose(5)))
del check
for name in [name for name in sys.modules if name.startswith("seqcourse")]:
    del sys.modules[name]
gc.collect()

from seqcourse.check.bare import forget_answers
from seqcourse.check.probe import _function
forget_answers()
fresh = vars(sys.modules["seqcourse.check.ps2"])
assert not [name for name in fresh if name.startswith("reference_") or name.isupper()], list(fresh)
for module in [m for n, m in sys.modules.items() if n.startswith("seqcourse.check.ps")]:
    for name, value in vars(module).items():
        assert not name.startswith("reference_") or name in HANDED_OUT, (module, name)
        assert not (isinstance(value, list) and value and type(value[0]).__name__ == "Likely"), name
for cell, request in requests.items():
    check = json.loads(request)
    _function(check["record"])
    for case in check["cases"]:
        assert _function(check["make"])(**case["arguments"]), cell
print("inputs of", len(requests), "checks")
from seqcourse import check
check.ps2.final_states(None)
"""
)


def test_makers_work_without_references():
    done = subprocess.run([sys.executable, "-c", FORGET], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert int(said[0].split()[2]) > 20
    assert said[1] == "Self-checks are left out while work is graded."


GONE = (
    HANDED_OUT
    + """
import gc, types
from seqcourse.check.bare import forget_answers
forget_answers()
left = [f for f in gc.get_objects() if type(f) is types.FunctionType and f.__name__[:10] == "reference_"]
left = [f.__name__ for f in left if f.__name__ not in HANDED_OUT]
assert not left, left
"""
)


def test_no_reference_is_left_in_memory():
    done = subprocess.run([sys.executable, "-c", GONE], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
