"""Self-checks of assignment 9, the whole system: `check.ps9.system(globals())`."""

from seqcourse.check.experiments import Experiments
from seqcourse.check.ps9.contract import System

__all__ = ["EXERCISES", "experiment", "system"]

system = System()
EXERCISES = {system.name: system}
experiment = Experiments(EXERCISES, "system")
