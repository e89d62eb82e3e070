"""A student's notebook runs here: in a kernel that sees nothing, reaches nobody and is limited.

``limits``    how much of the machine one submission may use
``sandbox``   what a kernel sees: bubblewrap's arguments, in one readable place
``holder``    a sandbox that is there, and how it ends
``available`` whether this machine offers one
``warm``      the client of a process that has imported PyTorch & co. and is forked for every submission
``server``    that process
``child``     what its forks do, in order; how they
``enter``     a sandbox for good, without a privilege, and which
``calls``     of Linux are refused to them; and why
``unprivileged``     a student's code is not root's even when root grades
``kernel``    all of it as a kernel manager of jupyter_client, so that nbclient runs notebooks in it;
``client``    its side of the messages, which may be lies;
``exchange``  files in and out
``watch``     looks after a sandbox from outside and ends it when it uses too much
``cgroup``    limits that Linux keeps for a group of processes, where we may set them
``plain``     the same manager without confinement, for machines that have no sandbox

A sandbox is a set of Linux namespaces that bubblewrap makes around a *holder*, a process that does
nothing. For every submission the warm process forks; the child enters the namespaces of a holder of
its own, gives up every privilege and becomes a Jupyter kernel. The grader talks to it through socket
files in a folder of the sandbox. When the holder dies, everything in its sandbox dies; the holder
dies with the warm process, and that one with the grader.
"""

from seqcourse.grading.confine.available import refusal
from seqcourse.grading.confine.kernel import ConfinedKernelManager, kernel_manager
from seqcourse.grading.confine.limits import Limits
from seqcourse.grading.confine.sandbox import EXCHANGE, SCRATCH
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
