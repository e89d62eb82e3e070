"""Self-checks of assignment 8, captions, patches and speech: one function per exercise.

Beside each stand the mistakes people make (an upper-case list), the reference and the inputs, which
the hidden checks use too.
"""

from __future__ import annotations

from typing import Any

from seqcourse.check import core
from seqcourse.check.ps3.trying import experiment
from seqcourse.check.ps8 import captions, patches, pointing, pyramid, rollouts, stochastic, streams
from seqcourse.check.ps8.captions import (
    CAPTION_STEP,
    caption_arguments,
    caption_step,
    reference_caption_step,
)
from seqcourse.check.ps8.patches import (
    CUT_PATCHES,
    EMBED_PATCHES,
    cut_arguments,
    cut_patches,
    embed_arguments,
    embed_patches,
    reference_cut_patches,
    reference_embed_patches,
)
from seqcourse.check.ps8.pointing import (
    POINTS_AT,
    pointing_arguments,
    points_at,
    reference_points_at,
)
from seqcourse.check.ps8.pyramid import (
    PYRAMID_LAYER,
    pyramid_arguments,
    pyramid_layer,
    reference_pyramid_layer,
)
from seqcourse.check.ps8.rollouts import (
    ROLLOUT,
    reference_rollout,
    rollout,
    rollout_arguments,
)
from seqcourse.check.ps8.stochastic import (
    DOUBLY_STOCHASTIC,
    doubly_stochastic,
    reference_doubly_stochastic,
    stochastic_arguments,
)
from seqcourse.check.ps8.streams import (
    CO_ATTENTION,
    co_attention,
    reference_co_attention,
    streams_arguments,
)

FORBIDDEN = {}
for _part in (captions, patches, pointing, pyramid, rollouts, stochastic, streams):
    FORBIDDEN |= _part.FORBIDDEN

__all__ = [
    "CAPTION_STEP",
    "CO_ATTENTION",
    "CUT_PATCHES",
    "DOUBLY_STOCHASTIC",
    "EMBED_PATCHES",
    "FORBIDDEN",
    "POINTS_AT",
    "PYRAMID_LAYER",
    "ROLLOUT",
    "caption_arguments",
    "caption_step",
    "co_attention",
    "cut_arguments",
    "cut_patches",
    "doubly_stochastic",
    "embed_arguments",
    "embed_patches",
    "experiment",
    "pointing_arguments",
    "points_at",
    "polls",
    "pyramid_arguments",
    "pyramid_layer",
    "reference_caption_step",
    "reference_co_attention",
    "reference_cut_patches",
    "reference_doubly_stochastic",
    "reference_embed_patches",
    "reference_points_at",
    "reference_pyramid_layer",
    "reference_rollout",
    "rollout",
    "rollout_arguments",
    "stochastic_arguments",
    "streams_arguments",
]


def polls(**answers: Any) -> None:
    """Say which polls are answered; not which are right."""
    core.polls({f"poll_{k}": "abc" for k in (1, 2, 3, 4)}, answers)
