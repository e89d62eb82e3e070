"""Run students' notebooks in sandboxed kernels with resource limits.

``limits``       resource limits of one submission
``bubblewrap``   bubblewrap's arguments: what a kernel sees
``holder``       starts and ends one sandbox
``available``    whether this machine can run a sandbox
``warm``         client of the warm process, which has imported PyTorch and forks a kernel per request
``server``       the warm process
``child``        what a forked child does
``enter``        how the child enters a sandbox and drops its privileges
``calls``        the system calls refused by seccomp
``unprivileged`` drops root's rights when root grades
``kernel``       a jupyter_client kernel manager for sandboxed kernels, for use with nbclient
``client``       the matching client, which treats the kernel's messages as untrusted
``handover``     copies files into and out of a sandbox
``usage``        monitors a sandbox from outside and kills it when it exceeds a limit
``stand_in``     what takes the place of a name that no import gave
``cgroup``       limits enforced by control groups, where they can be created
``unconfined``   the same kernel manager without a sandbox, for machines that cannot run one

A sandbox is a set of Linux namespaces that bubblewrap creates around a *holder*, an idle process. For
each submission the warm process forks a child. The child enters the namespaces of its own holder, drops
all privileges and becomes a Jupyter kernel. The grader talks to it through socket files in a folder of
the sandbox. When the holder dies, everything in its sandbox dies. The holder dies with the warm process,
and the warm process with the grader.
"""

from cellgrader.sandbox.available import refusal
from cellgrader.sandbox.bubblewrap import EXCHANGE, SCRATCH
from cellgrader.sandbox.kernel import ConfinedKernelManager, kernel_manager
from cellgrader.sandbox.limits import Limits
from cellgrader.sandbox.warm import SharedWarm, Warm, shared

__all__ = [
    "EXCHANGE",
    "SCRATCH",
    "ConfinedKernelManager",
    "Limits",
    "SharedWarm",
    "Warm",
    "kernel_manager",
    "refusal",
    "shared",
]
