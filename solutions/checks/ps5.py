"""The hidden checks of assignment 5: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse.check import ps5
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

_PROJECTIONS = ["x", "w_in", "b_in", "w_out", "b_out"]
_MASK_HINT = "A mask is boolean: a comparison gives one, or .bool()."

CHECKS = [
    HiddenCheck(
        "causal_mask-grade",
        "causal_mask",
        ps5.causal_arguments,
        {
            "no past": dict(size=4, past=None),
            "a single query": dict(size=1, past=None),
            "many queries": dict(size=9, past=None),
        },
        ps5.reference_causal_mask,
        likely=ps5.CAUSAL_MASK,
        see=("08", "Do not look ahead"),
        hint=_MASK_HINT,
    ),
    HiddenCheck(
        "causal_mask-grade-2",
        "causal_mask",
        ps5.causal_arguments,
        {
            "a past": dict(size=3, past=4),
            "a past of one": dict(size=5, past=1),
            "a past longer than what is new": dict(size=1, past=6),
        },
        ps5.reference_causal_mask,
        likely=ps5.CAUSAL_MASK,
        see=("08", "The key-value cache"),
        hint=_MASK_HINT,
    ),
    HiddenCheck(
        "padding_mask-grade",
        "padding_mask",
        ps5.padding_arguments,
        {
            "a few sentences": dict(lengths=[4, 2, 5, 1], size=6),
            "a batch of one": dict(lengths=[3], size=5),
            "as many sentences as places": dict(lengths=[2, 3, 1], size=3),
            "a sentence without words": dict(lengths=[0, 4], size=7),
        },
        ps5.reference_padding_mask,
        likely=ps5.PADDING_MASK,
        see=("08", "Padding, and both at once"),
        hint=_MASK_HINT,
    ),
    HiddenCheck(
        "combine-grade",
        "combine",
        ps5.combine_arguments,
        {
            "a few sentences": dict(lengths=[5, 2, 4], size=5),
            "a batch of one": dict(lengths=[3], size=6),
            "as many sentences as places": dict(lengths=[2, 4, 1, 3], size=4),
            "a past": dict(lengths=[7, 5], size=3, past=4),
            "padding in front": dict(lengths=[2, 5, 3], size=5, left=True),
        },
        ps5.reference_combine,
        likely=ps5.COMBINE,
        see=("08", "Padding, and both at once"),
        hint=_MASK_HINT,
    ),
    HiddenCheck(
        "attention-grade",
        "attention",
        ps5.attention_arguments,
        {
            "no mask": dict(batch=2, heads=3, queries=4, keys=5, d=6, d_v=2),
            "no mask and no axis for heads": dict(batch=3, heads=None, queries=2, keys=4, d=3, d_v=5),
            "no mask, all sizes equal": dict(batch=3, heads=3, queries=3, keys=3, d=3, d_v=3),
            "a causal mask": dict(batch=2, heads=2, queries=4, keys=4, d=5, d_v=3, kind="causal"),
            "a causal mask with a past": dict(
                batch=2, heads=3, queries=3, keys=5, d=2, d_v=4, kind="causal"
            ),
            "a mask for each sentence": dict(
                batch=3, heads=2, queries=5, keys=4, d=3, d_v=2, kind="mask"
            ),
            "a mask and no axis for heads": dict(
                batch=2, heads=None, queries=4, keys=6, d=4, d_v=3, kind="mask"
            ),
            "masked scores far above the others": dict(
                batch=2, heads=2, queries=4, keys=6, d=3, d_v=2, kind="hidden"
            ),
        },
        ps5.reference_attention,
        likely=ps5.ATTENTION,
        gradient=["q", "k", "v"],
        see=("08", "Do not look ahead"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "attention-grade-2",
        "attention",
        ps5.attention_arguments,
        {
            "queries with nothing to attend to": dict(
                batch=2, heads=3, queries=5, keys=4, d=3, d_v=2, kind="nothing"
            ),
            "a single query with nothing to attend to": dict(
                batch=1, heads=2, queries=1, keys=3, d=4, d_v=3, kind="nothing"
            ),
            "nothing to attend to, no axis for heads": dict(
                batch=3, heads=None, queries=4, keys=5, d=2, d_v=4, kind="nothing"
            ),
        },
        judge=ps5.judge_nothing,
        gradient=["q", "k", "v"],
        see=("08", "Nothing to attend to"),
    ),
    HiddenCheck(
        "split_heads-grade",
        "split_heads",
        ps5.split_arguments,
        {
            "a few sentences": dict(batch=3, time=4, heads=2, d=5),
            "a batch of one": dict(batch=1, time=6, heads=3, d=2),
            "all sizes equal": dict(batch=3, time=3, heads=3, d=3),
            "one head": dict(batch=2, time=5, heads=1, d=3),
        },
        ps5.reference_split_heads,
        likely=ps5.SPLIT_HEADS,
        gradient=["x"],
        see=("09", "One projection, reshaped"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "merge_heads-grade",
        "merge_heads",
        ps5.merge_arguments,
        {
            "a few sentences": dict(batch=3, time=4, heads=2, d=5),
            "a batch of one": dict(batch=1, time=6, heads=3, d=2),
            "all sizes equal": dict(batch=3, time=3, heads=3, d=3),
            "one head": dict(batch=2, time=5, heads=1, d=3),
        },
        ps5.reference_merge_heads,
        likely=ps5.MERGE_HEADS,
        gradient=["y"],
        see=("09", "One projection, reshaped"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "multi_head-grade",
        "multi_head",
        ps5.multi_head_arguments,
        {
            "a few sentences": dict(batch=3, time=4, heads=2, d=5),
            "a batch of one": dict(batch=1, time=6, heads=3, d=2),
            "all sizes equal": dict(batch=3, time=3, heads=3, d=3),
            "one head": dict(batch=2, time=5, heads=1, d=4),
        },
        ps5.reference_multi_head,
        likely=ps5.MULTI_HEAD,
        gradient=_PROJECTIONS,
        see=("09", "One projection, reshaped"),
        hint="Is a size written into your code?",
    ),
    HiddenCheck(
        "multi_head-grade-2",
        "multi_head",
        ps5.multi_head_arguments,
        {
            "a memory": dict(batch=2, time=3, heads=2, d=4, keys=6),
            "a memory shorter than x": dict(batch=3, time=5, heads=3, d=2, keys=2),
            "a memory with padding": dict(batch=3, time=4, heads=2, d=3, keys=5, mask="padding"),
            "a causal mask": dict(batch=2, time=5, heads=2, d=3, mask="causal"),
            "padding in self-attention": dict(batch=4, time=4, heads=3, d=2, mask="padding"),
        },
        ps5.reference_multi_head,
        likely=ps5.MULTI_HEAD,
        gradient={
            kind: _PROJECTIONS + ["memory"] * ("memory" in kind)
            for kind in (
                "a memory",
                "a memory shorter than x",
                "a memory with padding",
                "a causal mask",
                "padding in self-attention",
            )
        },
        see=("09", "Several heads"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "cached_step-grade",
        "cached_step",
        ps5.cached_arguments,
        {
            "one new vector": dict(batch=3, time=1, heads=2, d=3, past=4),
            "a batch of one": dict(batch=1, time=1, heads=3, d=2, past=6),
            "all sizes equal": dict(batch=3, time=1, heads=3, d=3, past=3),
            "an empty cache": dict(batch=2, time=1, heads=2, d=4, past=0),
        },
        ps5.reference_cached_step,
        likely=ps5.CACHED_STEP,
        gradient=_PROJECTIONS,
        see=("08", "The key-value cache"),
    ),
    HiddenCheck(
        "cached_step-grade-2",
        "cached_step",
        ps5.cached_arguments,
        {
            "several new vectors": dict(batch=2, time=3, heads=2, d=4, past=5),
            "as many new vectors as old ones": dict(batch=2, time=4, heads=3, d=2, past=4),
            "a whole prompt and an empty cache": dict(batch=3, time=5, heads=2, d=3, past=0),
        },
        ps5.reference_cached_step,
        likely=ps5.CACHED_STEP,
        gradient=_PROJECTIONS,
        see=("08", "The key-value cache"),
    ),
    HiddenCheck(
        "generate-grade",
        "generate",
        ps5.generate_arguments,
        ps5.generate_cases,
        ps5.reference_generate,
        likely=ps5.GENERATE,
        see=("08", "Train in parallel, write one by one"),
    ),
    HiddenCheck(
        "generate-grade-2",
        "generate",
        ps5.generate_arguments,
        {
            "a few texts": dict(batch=3, prompt=5, count=7),
            "a prompt of one token": dict(batch=2, prompt=1, count=6),
            "one token to write": dict(batch=1, prompt=4, count=1),
        },
        record=ps5.record_generate,
        judge=ps5.judge_generate_calls,
        see=("08", "The key-value cache"),
    ),
    Poll("poll_1-grade", "poll_1", "a", see=("09", "Several heads")),
    Poll("poll_2-grade", "poll_2", "d", see=("09", "Three ways of processing a sequence")),
    Poll("poll_3-grade", "poll_3", "b", see=("08", "Do not look ahead")),
    Poll("poll_4-grade", "poll_4", "c", see=("09", "Three ways of processing a sequence")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps5.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
