"""Published models of others, run by our own modules.

They are extras: nothing in the course needs them, and without them the chapters show stored outputs.
``seqcourse data fetch`` with ``smollm2``, ``minilm`` or ``efficientnet`` downloads them.
"""

from seqcourse.zoo.published.efficientnet import PictureEncoder, known_photographs, load_efficientnet
from seqcourse.zoo.published.few_shot import GRAMMAR, POOR, TASKS, PromptTask
from seqcourse.zoo.published.minilm import SentenceEncoder, load_minilm
from seqcourse.zoo.published.packages import (
    PACKAGES,
    Package,
    fetch,
    find,
    found,
    package,
    package_folder,
)
from seqcourse.zoo.published.smollm import SmolLM, chat, load_smollm
from seqcourse.zoo.published.stored import StoredLM, outputs, reference, smollm_or_stored

__all__ = [
    "GRAMMAR",
    "PACKAGES",
    "POOR",
    "TASKS",
    "Package",
    "PictureEncoder",
    "PromptTask",
    "SentenceEncoder",
    "SmolLM",
    "StoredLM",
    "chat",
    "fetch",
    "find",
    "found",
    "known_photographs",
    "load_efficientnet",
    "load_minilm",
    "load_smollm",
    "outputs",
    "package",
    "package_folder",
    "reference",
    "smollm_or_stored",
]
