"""The hidden checks of assignment 6: one for every grade cell."""

from __future__ import annotations

from dataclasses import replace

from seqcourse import functional
from seqcourse.check import ps6
from seqcourse.check.hidden import BY_CASE, HiddenCheck, Poll

CHECKS = [
    HiddenCheck(
        "layer_norm-grade",
        "layer_norm",
        ps6.norm_arguments,
        {
            "the vectors of a few sentences": dict(shape=(3, 5, 4)),
            "one vector alone": dict(shape=(7,), eps=0.3),
            "as many sentences as positions and entries": dict(shape=(4, 4, 4), eps=0.2),
            "a small eps": dict(shape=(1, 3, 6), eps=1e-5),
            "vectors whose entries are all equal": dict(shape=(2, 5), spread=0.0),
        },
        functional.layer_norm,
        likely=ps6.LAYER_NORM,
        gradient=["x", "gamma", "beta"],
        see=("10", "Layer normalisation"),
        hint="Write dim=-1, not dim=2: there may be any number of axes in front.",
    ),
    HiddenCheck(
        "warmup_rate-grade",
        "warmup_rate",
        ps6.rate_arguments,
        {
            "one of the first steps": dict(step=2, width=32, warmup=40, moving="warmup"),
            "a step on the way up": dict(step=11, width=20, warmup=30),
            "the top, step = warmup": dict(step=12, width=24, warmup=12, moving="both"),
            "a step after the top": dict(step=70, width=48, warmup=25),
            "a step far after the top": dict(step=9000, width=256, warmup=400),
        },
        ps6.reference_warmup_rate,
        likely=ps6.WARMUP_RATE,
        see=("11", "Warm-up"),
        tolerance=ps6.TOLERANCE,
    ),
    HiddenCheck(
        "block_parameters-grade",
        "block_parameters",
        ps6.block_arguments,
        {
            "a block of the encoder": dict(width=5, hidden=12),
            "a wide block of the encoder": dict(width=130, hidden=300),
            "a block of the decoder": dict(width=6, hidden=15, cross=True),
            "a wide block of the decoder": dict(width=90, hidden=400, cross=True),
        },
        ps6.reference_block_parameters,
        likely=ps6.BLOCK_PARAMETERS,
        see=("10", "Counting parameters"),
        tolerance=0.0,
    ),
    HiddenCheck(
        "transformer_parameters-grade",
        "transformer_parameters",
        ps6.transformer_arguments,
        {
            "the order post": dict(source=100, target=70, width=8, layers=3, order="post"),
            "the order pre": dict(source=90, target=120, width=6, layers=4, order="pre"),
            "the order post and many layers": dict(
                source=1000, target=2000, width=20, layers=8, order="post"
            ),
            "the order pre and two layers": dict(source=300, target=40, width=9, layers=2, order="pre"),
        },
        ps6.reference_transformer_parameters,
        likely=ps6.TRANSFORMER_PARAMETERS,
        see=("11", "Tied embeddings"),
        tolerance=0.0,
    ),
    HiddenCheck(
        "encoder_block-grade",
        "encoder_block",
        ps6.encoder_arguments,
        {
            "no padding": dict(batch=3, n=5, d=4),
            "padding": dict(batch=4, n=5, d=6, lengths=[5, 2, 4, 3]),
            "padding and a batch of one": dict(batch=1, n=6, d=5, lengths=[4]),
            "as many sentences as positions and entries": dict(batch=4, n=4, d=4, lengths=[3, 4, 2, 1]),
        },
        ps6.reference_encoder_block,
        likely=ps6.ENCODER_BLOCK,
        gradient=["x"],
        see=("10", "The block"),
    ),
    HiddenCheck(
        "encoder_block-grade-2",
        "encoder_block",
        ps6.encoder_arguments,
        {
            "no padding": dict(batch=2, n=6, d=5, order="pre"),
            "padding": dict(batch=3, n=4, d=5, order="pre", lengths=[1, 4, 3]),
            "padding and a batch of one": dict(batch=1, n=5, d=4, order="pre", lengths=[3]),
            "as many sentences as positions and entries": dict(
                batch=4, n=4, d=4, order="pre", lengths=[2, 4, 3, 1]
            ),
        },
        ps6.reference_encoder_block,
        likely=ps6.ENCODER_BLOCK,
        gradient=["x"],
        see=("10", "Before or after: pre-norm and post-norm"),
    ),
    HiddenCheck(
        "label_smoothed_loss-grade",
        "label_smoothed_loss",
        ps6.loss_arguments,
        {
            "no padding": dict(lengths=[4, 4, 4], v=6, epsilon=0.2),
            "no padding, as many sentences as positions and words": dict(lengths=[5] * 5, v=5),
            "epsilon 0": dict(lengths=[3, 5], v=7, epsilon=0.0),
            "padding": dict(lengths=[5, 2, 4], v=8, epsilon=0.3),
            "padding and a batch of many": dict(lengths=[3, 1, 2, 6, 4], v=9, epsilon=0.15),
            "padding with another id": dict(lengths=[2, 6, 4], v=7, pad=4, epsilon=0.25),
            "logits in the hundreds": dict(lengths=[4, 3], v=6, scale=500.0),
        },
        ps6.reference_label_smoothed_loss,
        likely=ps6.LABEL_SMOOTHED_LOSS,
        gradient=["logits"],
        see=("11", "Label smoothing"),
        share=BY_CASE,
    ),
    HiddenCheck(
        "decoder_block-grade",
        "decoder_block",
        ps6.decoder_arguments,
        {
            "no padding": dict(batch=3, n=4, m=6, d=5),
            "padding in the source": dict(batch=3, n=5, m=4, d=6, lengths=[4, 1, 3]),
            "padding and a batch of one": dict(batch=1, n=3, m=5, d=4, lengths=[2]),
            "all sizes equal": dict(batch=4, n=4, m=4, d=4, lengths=[3, 4, 1, 2]),
        },
        ps6.reference_decoder_block,
        likely=ps6.DECODER_BLOCK,
        gradient=["y", "memory"],
        see=("11", "Encoder, decoder, cross-attention"),
    ),
    HiddenCheck(
        "decoder_block-grade-2",
        "decoder_block",
        ps6.decoder_arguments,
        {
            "no padding": dict(batch=2, n=5, m=3, d=4, order="pre"),
            "padding in the source": dict(batch=4, n=3, m=6, d=5, order="pre", lengths=[6, 2, 4, 3]),
            "padding and a batch of one": dict(batch=1, n=4, m=5, d=6, order="pre", lengths=[3]),
            "all sizes equal": dict(batch=4, n=4, m=4, d=4, order="pre", lengths=[2, 1, 4, 3]),
        },
        ps6.reference_decoder_block,
        likely=ps6.DECODER_BLOCK,
        gradient=["y", "memory"],
        see=("11", "Encoder, decoder, cross-attention"),
    ),
    HiddenCheck(
        "translate-grade",
        "translate",
        ps6.translate_arguments,
        {
            "a few sentences": dict(left=[5, 2, 7, 3], lengths=[4, 6, 3, 5], max_len=12),
            "a single sentence": dict(left=[4], lengths=[5], max_len=9),
            "sentences that max_len cuts off": dict(left=[25, 3, 30], lengths=[3, 5, 4], max_len=6),
            "a sentence that ends at once": dict(left=[1, 5, 3], lengths=[2, 4, 6], max_len=10),
            "sentences that all end together": dict(left=[4, 4, 4], lengths=[5, 5, 3], max_len=9),
        },
        ps6.reference_translate,
        likely=ps6.TRANSLATE,
        see=("11", "It translates"),
        share=BY_CASE,
    ),
    Poll("poll_1-grade", "poll_1", "a", see=("10", "Where vectors meet, and where they do not")),
    Poll("poll_2-grade", "poll_2", "c", see=("11", "Encoder, decoder, cross-attention")),
    Poll("poll_3-grade", "poll_3", "b", see=("10", "Counting parameters")),
    Poll("poll_4-grade", "poll_4", "d", see=("11", "Label smoothing")),
]
# An answer may not use what is the answer.
CHECKS = [replace(check, forbid=ps6.FORBIDDEN.get(check.answer, ())) for check in CHECKS]
