"""A student's notebook runs here: in a kernel that sees nothing, reaches nobody and is limited.

``limits``   how much of the machine one submission may use
``sandbox``  what a kernel sees: bubblewrap's arguments, in one readable place
``enter``    how a process enters a sandbox for good
``warm``     a process that has imported PyTorch & co. and is forked for every submission
``kernel``   all of it as a kernel manager of jupyter_client, so that nbclient runs notebooks in it
``plain``    the same manager without confinement, for machines that have no sandbox
``watch``    looks after a sandbox from outside and ends it when it uses too much
``cgroup``   the kernel's own limits for a group of processes, where we may set them

A sandbox is a set of Linux namespaces that bubblewrap makes around a *holder*, a process that does
nothing. For every submission the warm process forks; the child enters the namespaces of a holder of
its own, gives up every privilege and becomes a Jupyter kernel. The grader talks to it through socket
files in a folder of the sandbox. When the holder dies, everything in its sandbox dies; the holder
dies with the warm process, and that one with the grader.
"""

from seqcourse.grading.confine.kernel import ConfinedKernelManager, kernel_manager
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.sandbox import EXCHANGE, SCRATCH, refusal
from seqcourse.grading.confine.warm import PRELOAD, Warm

__all__ = [
    "EXCHANGE",
    "PRELOAD",
    "SCRATCH",
    "ConfinedKernelManager",
    "Limits",
    "Warm",
    "kernel_manager",
    "refusal",
]
