"""Every formula in 16 bits against itself in 64: what it sums neither overflows nor vanishes."""

from __future__ import annotations

import pytest
import torch

from seqcourse import functional as F

B, T, D = 3, 1000, 64
EXCUSED = {
    **dict.fromkeys(("boolean_mask", "causal_mask", "length_mask"), "makes a mask of no floats"),
    **dict.fromkeys(
        ("check_hidden", "check_lengths", "check_share", "check_width", "looks_at_values"),
        "computes nothing",
    ),
    **dict.fromkeys(
        ("dct_matrix", "grid_encoding", "mel_filters", "shift_matrix", "spectral_window"),
        "is given no numbers in 16 bits",
    ),
    **dict.fromkeys(
        ("gumbel_max", "gumbel_noise", "gumbel_softmax"), "draws other numbers in 64 bits: below"
    ),
    "widened": "is what the others use: exact",
}


def draw(*shape, scale=1.0):
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64) * scale


def evenly(first, last, steps=100):
    return torch.linspace(first, last, steps, dtype=torch.float64)


def everywhere(*sizes):
    return torch.ones(sizes, dtype=torch.bool)


def dropped(x):
    torch.manual_seed(0)
    return F.dropout(x, 0.3)


def evened(weights):
    return F.doubly_stochastic(weights, everywhere(4, 500))


def stepped(x, h, *matrices):
    return torch.cat(F.lstm_step(x, (h, h), *matrices))


def smoothed(logits):
    return F.sequence_loss(logits, torch.ones(logits.shape[:2], dtype=torch.int64), label_smoothing=0.1)


MATRICES = [draw(B, D), draw(B, T, D), draw(D, D) / 8, draw(D, D) / 8, draw(D)]
STEP = [draw(B, D), draw(B, D)]
LARGE = [draw(2, 4, D, scale=200), draw(2, T, D, scale=200), draw(2, T, D)]
EQUAL = torch.zeros(2, 100_000, dtype=torch.float64)
SOUND = draw(4000, scale=0.1)

# Formula, call, arguments: ordinary ones, and those whose squares or sums leave 16 bits.
CASES = [
    ("additive_score", F.additive_score, MATRICES),
    ("additive_score_from_keys", F.additive_score_from_keys, [MATRICES[0], *MATRICES[1:3], draw(D)]),
    ("attention", lambda *x: F.attention(*x)[0], LARGE),
    ("attention", lambda *x: F.attention(*x, need_weights=True)[0], LARGE),
    ("attention", lambda *x: F.attention(*x, need_weights=True)[1], LARGE),
    ("attention", lambda *x: F.attention(*x, everywhere(T))[0], [LARGE[0][:, :1], *LARGE[1:]]),
    ("dpo_loss", F.dpo_loss, [draw(500, scale=40) - s for s in (90, 110, 100, 100)]),
    ("group_advantage", F.group_advantage, [draw(50, 8) + 3]),
    ("policy_loss", F.policy_loss, [draw(T) - 20, draw(T, scale=2)]),
    ("contrastive_loss", F.contrastive_loss, [draw(500, 600, scale=30)]),
    ("attention_rollout", F.attention_rollout, [draw(2, 12, 4, 50, 50).softmax(-1)]),
    ("cut_frames", F.cut_frames, [SOUND]),
    ("decibels", F.decibels, [draw(1, 10, 20).square() * 1e-4]),
    ("dot_score", F.dot_score, MATRICES[:2]),
    ("doubly_stochastic", evened, [draw(4, 500, 49).softmax(-1)]),
    ("dropout", dropped, [draw(B, D)]),
    ("gaussian_window", lambda c: F.gaussian_window(c, 5, 5000), [evenly(4000, 4000, 1)]),
    ("gelu", F.gelu, [draw(1000, scale=50)]),
    ("gelu_sigmoid", F.gelu_sigmoid, [draw(1000, scale=50)]),
    ("gelu_tanh", F.gelu_tanh, [draw(1000, scale=50)]),
    ("general_score", F.general_score, MATRICES[:3]),
    ("gru_combine", F.gru_combine, [draw(B, 3 * D), draw(B, 3 * D), draw(B, D)]),
    ("gru_step", F.gru_step, [*STEP, draw(3 * D, D) / 8, draw(3 * D, D) / 8, draw(3 * D)]),
    ("hertz_to_mel", F.hertz_to_mel, [evenly(0, 4000)]),
    ("hertz_to_mel", lambda x: F.hertz_to_mel(x, "htk"), [evenly(0, 4000)]),
    ("layer_norm", F.layer_norm, [draw(2, D, scale=300), draw(D), draw(D)]),
    ("levels_from_mfcc", F.levels_from_mfcc, [draw(10, 13, scale=20)]),
    ("log_mel", F.log_mel, [SOUND]),
    ("log_softmax", F.log_softmax, [EQUAL]),
    ("log_softmax", F.log_softmax, [draw(2, 1000, scale=5)]),
    ("lstm_step", stepped, [*STEP, draw(4 * D, D) / 8, draw(4 * D, D) / 8]),
    ("mel_to_hertz", F.mel_to_hertz, [evenly(0, 30)]),
    ("mel_to_hertz", lambda x: F.mel_to_hertz(x, "htk"), [evenly(0, 2000)]),
    ("mfcc", F.mfcc, [SOUND]),
    ("mlp_score", F.mlp_score, [*MATRICES[:2], draw(D, 2 * D) / 8, draw(D), draw(D), draw(1)]),
    ("pair_neighbours", lambda x: F.pair_neighbours(x)[0], [draw(B, 5, D)]),
    ("patches", lambda x: F.patches(x, 2), [draw(B, 3, 4, 4)]),
    ("power_from_levels", F.power_from_levels, [draw(10, 128, scale=20) - 40]),
    ("power_spectrum", F.power_spectrum, [draw(4, 400, scale=0.1)]),
    ("rms_norm", F.rms_norm, [draw(2, D, scale=300), draw(D)]),
    ("rms_norm", F.rms_norm, [draw(2, D, scale=0.01), draw(D)]),
    ("rnn_step", F.rnn_step, [*STEP, draw(D, D) / 8, draw(D, D) / 8, draw(D)]),
    ("rotate", lambda x: F.rotate(x, torch.arange(T)), [draw(2, T, D)]),
    ("sequence_loss", smoothed, [draw(4, 200, 5000, scale=3)]),
    ("silu", F.silu, [draw(1000, scale=50)]),
    ("sinusoidal_encoding", lambda t: F.sinusoidal_encoding(t, 16), [evenly(0, 99)]),
    ("softmax", F.softmax, [EQUAL]),
    ("softmax", lambda x: F.softmax(x, mask=everywhere(x.shape[-1])), [EQUAL]),
    ("softmax", F.softmax, [draw(2, 1000, scale=5)]),
    ("sound_of_mfcc", F.sound_of_mfcc, [draw(10, 13, scale=20)]),
    ("vocode", F.vocode, [draw(10, 201).square()]),
    ("weighted_sum", F.weighted_sum, [evenly(1 / T, 1 / T, B * T).view(B, T), draw(B, T, D) + 1]),
    ("window_mask", lambda c: F.window_mask(c, 5, 5000), [evenly(4000, 4000, 1)]),
]  # fmt: skip


def test_no_formula_is_left_out():
    assert {name for name, *_ in CASES} | set(EXCUSED) == set(F.__all__)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("name", "formula", "given"), CASES, ids=[name for name, *_ in CASES])
def test_16_bits_give_what_64_give_up_to_rounding(name, formula, given, dtype):
    short = [x.to(dtype) for x in given]  # both are given the same numbers
    got, exact = formula(*short).double(), formula(*(x.double() for x in short)).double()
    step = torch.finfo(dtype).eps * exact.abs().max() + torch.finfo(dtype).smallest_normal / 512
    assert (got - exact).abs().max() <= 2 * step


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_mixed_precision_leaves_large_similarities_finite(dtype):
    q, k, v = (x.float() for x in LARGE)
    with torch.autocast("cpu", dtype):
        y, weights = F.attention(q, k, v, need_weights=True)
    exact = F.attention(*(x.double() for x in (q, k, v)), need_weights=True)
    assert (y - exact[0]).abs().max() < 1e-3 and (weights - exact[1]).abs().max() < 1e-3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_draws_from_equal_logits_prefer_no_index(dtype):
    """In 16 bits the largest of 50,000 draws were equal, and the first of them was taken."""
    size, rows = 50_000, 100
    generator = torch.Generator().manual_seed(0)
    drawn = F.gumbel_max(torch.zeros(rows, size, dtype=dtype), generator).double() / size
    assert abs(drawn.mean() - 0.5) < 4 / (12 * rows) ** 0.5
    generator.manual_seed(0)
    soft = F.gumbel_softmax(torch.zeros(rows, size, dtype=dtype), 0.01, generator)
    assert soft.dtype == dtype and (soft.argmax(-1).double() / size).sub(drawn).abs().max() == 0


def test_noise_has_the_type_that_is_asked_for():
    assert F.gumbel_noise((3,), dtype=torch.float16).dtype == torch.float16
