"""From sound to coefficients and back: equal to reference libraries, and right on sounds one knows."""

import math

import numpy
import pytest
import scipy.fft
import scipy.signal
import torch

from seqcourse import functional as F

audio = pytest.importorskip("transformers.audio_utils")
RATE = 8000


def tone(hertz, seconds=0.5):
    return torch.sin(2 * math.pi * hertz * torch.arange(round(RATE * seconds)) / RATE)


def some_sound(count=5000):
    rng = numpy.random.default_rng(0)
    return rng.normal(0, 0.2, count) * numpy.hanning(count) + 0.3 * tone(440, count / RATE).numpy()


@pytest.mark.parametrize("kind", ["hann", "hamming"])
def test_windows_equal_those_of_scipy(kind):
    expected = scipy.signal.get_window(kind, 40)
    numpy.testing.assert_allclose(F.spectral_window(40, kind), expected, atol=1e-6)
    with pytest.raises(ValueError, match="'hann' or 'hamming', but it is 'flat'"):
        F.spectral_window(4, "flat")


def test_frames_stand_around_their_middles():
    frames = F.cut_frames(torch.arange(1.0, 8), size=4, hop=2)
    assert frames.tolist() == [[0, 0, 1, 2], [1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 0]]
    assert F.cut_frames(torch.zeros(3, 1), 4, 2).shape == (3, 1, 4)
    for sound, size, hop in ((torch.zeros(0), 4, 2), (torch.zeros(3), 0, 2), (torch.zeros(3), 4, 0)):
        with pytest.raises(ValueError, match="at least one sample"):
            F.cut_frames(sound, size, hop)


def test_a_tone_has_its_power_at_its_frequency():
    power = F.power_spectrum(F.cut_frames(tone(1000), 400, 200))
    assert set(power[1:-1].argmax(-1).tolist()) == {50}  # 50 * 8000 / 400 = 1000 Hz
    # Parseval: the power of all frequencies, both signs, is that of the windowed samples
    frames = torch.randn(3, 64)
    power = F.power_spectrum(frames)
    twice = power.sum(-1) * 2 - power[:, 0] - power[:, -1]
    torch.testing.assert_close(twice / 64, (frames * F.spectral_window(64)).square().sum(-1))


@pytest.mark.parametrize("scale", ["slaney", "htk"])
def test_the_mel_scale(scale):
    hertz = torch.tensor([0.0, 100, 999, 1000, 1001, 3000, 8000], dtype=torch.float64)
    mel = F.hertz_to_mel(hertz, scale)
    numpy.testing.assert_allclose(mel, audio.hertz_to_mel(hertz.numpy(), mel_scale=scale))
    torch.testing.assert_close(F.mel_to_hertz(mel, scale), hertz)
    with pytest.raises(ValueError, match="'slaney' or 'htk', but it is 'bark'"):
        F.hertz_to_mel(hertz, "bark")


@pytest.mark.parametrize("scale", ["slaney", "htk"])
@pytest.mark.parametrize("even", [True, False])
def test_filters_equal_the_reference(scale, even):
    ours = F.mel_filters(40, 512, RATE, scale, even)
    norm = "slaney" if even else None
    theirs = audio.mel_filter_bank(257, 40, 0.0, 4000.0, RATE, norm=norm, mel_scale=scale)
    numpy.testing.assert_allclose(ours.T, theirs, atol=1e-6)


@pytest.mark.filterwarnings("ignore:At least one mel filter")
@pytest.mark.parametrize(("bands", "size", "hop"), [(128, 400, 200), (40, 512, 80), (23, 256, 128)])
def test_levels_and_coefficients_equal_the_reference(bands, size, hop):
    sound = some_sound()
    filters = audio.mel_filter_bank(
        size // 2 + 1, bands, 0.0, RATE / 2, RATE, norm="slaney", mel_scale="slaney"
    )
    levels = audio.spectrogram(
        sound,
        audio.window_function(size, "hann"),
        size,
        hop,
        fft_length=size,
        power=2.0,
        pad_mode="constant",
        mel_filters=filters,
        mel_floor=1e-10,
        log_mel="dB",
        db_range=80.0,
    ).T
    ours = F.log_mel(torch.from_numpy(sound), bands, size, hop)
    numpy.testing.assert_allclose(ours, levels, atol=1e-3)  # dB
    expected = scipy.fft.dct(levels, norm="ortho")[:, :13]
    found = F.mfcc(torch.from_numpy(sound), 13, bands, size, hop)
    numpy.testing.assert_allclose(found, expected, atol=5e-3)


def test_levels_end_at_the_floor():
    assert F.decibels(torch.tensor([[1.0, 0.1, 0.0]])).tolist() == [[0, -10, -80]]
    assert F.decibels(torch.tensor([[1.0, 0.0]]), top=None).tolist() == [[0, -100]]
    quiet = torch.tensor([[[1.0, 0.0]], [[1e-3, 0.0]]])  # each sound has a loudest of its own
    torch.testing.assert_close(F.decibels(quiet)[:, 0, 1], torch.tensor([-80.0, -100.0]))


def test_the_cosine_transform():
    x = torch.randn(5, 16, dtype=torch.float64)
    matrix = F.dct_matrix(16, 16).double()
    numpy.testing.assert_allclose(x @ matrix.T, scipy.fft.dct(x.numpy(), norm="ortho"), atol=1e-5)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(16, dtype=torch.float64), atol=1e-6, rtol=0)


def test_louder_moves_the_first_coefficient_only():
    sound = torch.from_numpy(some_sound())
    soft, loud = F.mfcc(sound), F.mfcc(10 * sound)
    torch.testing.assert_close(loud[:, 1:], soft[:, 1:], atol=1e-3, rtol=1e-4)
    expected = torch.full_like(soft[:, 0], 20 * math.sqrt(128))  # 20 dB in each of 128 bands
    torch.testing.assert_close(loud[:, 0] - soft[:, 0], expected, atol=1e-2, rtol=0)


def test_all_coefficients_keep_the_levels_and_a_few_a_smooth_curve():
    levels = torch.randn(3, 40)
    every = levels @ F.dct_matrix(40, 40).T
    torch.testing.assert_close(F.levels_from_mfcc(every, 40), levels, atol=1e-4, rtol=1e-4)
    smooth = F.levels_from_mfcc(every[:, :5], 40)
    assert smooth.diff(dim=1).abs().mean() < levels.diff(dim=1).abs().mean() / 3


def test_white_noise_comes_back_from_its_levels_evenly():
    """Of power 1 at every frequency, even filters make the same level in every band."""
    filters = F.mel_filters(40, 512)
    levels = F.decibels(torch.ones(1, 257) @ filters.T)
    power = F.power_from_levels(levels, 512)
    inside = power[0, 5:250]
    torch.testing.assert_close(inside, torch.ones_like(inside), atol=1e-3, rtol=0)


@pytest.mark.parametrize("pitch", [None, 120.0])
def test_what_is_heard_has_the_spectrum_that_was_asked_for(pitch):
    """A sound that moves from low to high, made into levels, made audible, made into levels again."""
    sweep = torch.from_numpy(scipy.signal.chirp(numpy.arange(RATE) / RATE, 300, 1, 3000)).float()
    levels = F.log_mel(sweep, 40)
    heard = F.vocode(F.power_from_levels(levels), pitch=pitch)
    assert len(heard) == RATE and heard.abs().max() == pytest.approx(0.9)
    again = F.log_mel(heard, 40)
    off = (again.argmax(1) - levels.argmax(1)).abs()[2:-2]
    assert off.float().mean() < 1.5  # bands of 40
    torch.testing.assert_close(F.vocode(F.power_from_levels(levels), pitch=pitch), heard)


def test_coefficients_of_what_is_heard_are_like_those_it_was_made_from():
    from seqcourse import data

    for recording in data.load_digits("test")[:4]:
        frames = torch.from_numpy(recording.frames.copy())
        again = F.mfcc(F.sound_of_mfcc(frames, pitch=110.0))
        assert again.shape == frames.shape
        for k in range(5):
            assert numpy.corrcoef(frames[:, k], again[:, k])[0, 1] > 0.75, (recording, k)
