"""Sound to the numbers that a listener reads, and back: spectra, mel filter banks, MFCCs.

A sound is (..., N) samples between -1 and 1, ``rate`` of them a second (Hz). Cut into T frames it is
(..., T, size); a power spectrum is (..., T, size // 2 + 1), entry k for the frequency k rate / size Hz.
The defaults are those of the recordings of chapter 15: 8000 Hz, a frame of 50 ms every 25 ms, 128 mel
bands, 13 coefficients, levels in decibels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from seqcourse.functional.precision import widened

RATE = 8000  # Hz
SIZE = 400  # samples in a frame, 50 ms
HOP = 200  # samples from one frame to the next, 25 ms
BANDS = 128
COEFFICIENTS = 13
QUIETEST = 1e-10  # the power that counts as silence, -100 dB
RANGE = 80.0  # dB below the loudest of a sound, where levels are cut off


def spectral_window(size: int, kind: str = "hann") -> Tensor:
    r"""A window that fades a frame in and out, (size,), periodic.

    .. math:: w_n = a - (1 - a) \cos(2 \pi n / \mathrm{size}), \qquad a = 0.5 \text{ (Hann) or }
        0.54 \text{ (Hamming)}

    Raises:
        ValueError: if the kind is neither "hann" nor "hamming".
    """
    if kind not in ("hann", "hamming"):
        raise ValueError(f"kind should be 'hann' or 'hamming', but it is {kind!r}.")
    a = 0.5 if kind == "hann" else 0.54
    return a - (1 - a) * torch.cos(2 * math.pi * torch.arange(size) / size)


def cut_frames(sound: Tensor, size: int = SIZE, hop: int = HOP) -> Tensor:
    """Overlapping frames of a sound; the middle of frame t is sample t * hop.

    Args:
        sound: (..., N) samples; half a frame of silence is put before and after.
        size: samples in a frame.
        hop: samples from one frame to the next.

    Returns:
        (..., T, size) with T = N // hop + 1 (for an even size).

    Raises:
        ValueError: if there is no sample, or size or hop is below 1.
    """
    if sound.shape[-1] == 0 or size < 1 or hop < 1:
        raise ValueError(
            f"Expected at least one sample, and size and hop of at least 1, but the sound has "
            f"{sound.shape[-1]}, size is {size} and hop {hop}."
        )
    return torch.nn.functional.pad(sound, (size // 2, size // 2)).unfold(-1, size, hop)


def power_spectrum(frames: Tensor) -> Tensor:
    r"""Power of every frequency in every frame: :math:`P_k = |\sum_n w_n x_n e^{-2 \pi i k n / N}|^2`.

    Args:
        frames: (..., T, size); the window is :func:`spectral_window`, "hann".

    Returns:
        (..., T, size // 2 + 1).
    """
    wide = widened(frames)
    spectrum = torch.fft.rfft(wide * spectral_window(frames.shape[-1]).to(wide))
    return spectrum.abs().square().to(frames.dtype)


def hertz_to_mel(hertz: Tensor, scale: str = "slaney") -> Tensor:
    r"""Frequencies in Hz on the mel scale, on which equal steps sound equally large.

    "htk": :math:`2595 \log_{10}(1 + f / 700)`. "slaney": f / 66.67 up to 1000 Hz, which is 15, and
    from there 27 mels for every factor of 6.4 (Slaney 1998), as the recordings of chapter 15 have it.

    Raises:
        ValueError: if the scale is neither.
    """
    _check_scale(scale)
    if scale == "htk":
        return 2595 * torch.log10(1 + hertz / 700)
    above = 15 + 27 * torch.log(hertz.clamp_min(1000) / 1000) / math.log(6.4)
    return torch.where(hertz < 1000, hertz * 3 / 200, above)


def mel_to_hertz(mel: Tensor, scale: str = "slaney") -> Tensor:
    """The inverse of :func:`hertz_to_mel`."""
    _check_scale(scale)
    if scale == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    return torch.where(mel < 15, mel * 200 / 3, 1000 * torch.exp((mel - 15) * math.log(6.4) / 27))


def _check_scale(scale: str) -> None:
    if scale not in ("slaney", "htk"):
        raise ValueError(f"scale should be 'slaney' or 'htk', but it is {scale!r}.")


def mel_filters(
    bands: int = BANDS, size: int = SIZE, rate: int = RATE, scale: str = "slaney", even: bool = True
) -> Tensor:
    """A bank of triangular filters, (bands, size // 2 + 1), as wide as their distance on the mel scale.

    Band m rises from the middle of band m - 1 to its own and falls to that of m + 1; the middles
    stand at even distances in mel between 0 and rate / 2 Hz.

    Args:
        bands: how many.
        size: samples in a frame.
        rate: Hz.
        scale: see :func:`hertz_to_mel`.
        even: divide each by half its width in Hz, so that white noise gives the same in all of them.
            Otherwise each triangle is 1 high.
    """
    top = hertz_to_mel(torch.tensor(rate / 2, dtype=torch.float64), scale)
    edges = mel_to_hertz(torch.linspace(0, float(top), bands + 2, dtype=torch.float64), scale)  # Hz
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    hertz = torch.linspace(0, rate / 2, size // 2 + 1, dtype=torch.float64)
    triangles = torch.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle))
    filters = triangles.clamp_min(0)
    return (filters * 2 / (high - low) if even else filters).float()


def decibels(power: Tensor, top: float | None = RANGE) -> Tensor:
    r"""Levels :math:`10 \log_{10} P` in dB, not below -100 dB nor ``top`` dB below the loudest."""
    level = 10 * torch.log10(widened(power).clamp_min(QUIETEST))
    if top is not None:
        level = level.maximum(level.amax((-1, -2), keepdim=True) - top)
    return level.to(power.dtype)


def log_mel(
    sound: Tensor, bands: int = BANDS, size: int = SIZE, hop: int = HOP, rate: int = RATE
) -> Tensor:
    """Level of every mel band in every frame, in dB: sound (..., N) to (..., T, bands)."""
    power = power_spectrum(cut_frames(widened(sound), size, hop))
    return decibels(power @ mel_filters(bands, size, rate).to(power).T).to(sound.dtype)


def dct_matrix(rows: int, columns: int) -> Tensor:
    r"""The first rows of the orthonormal discrete cosine transform (DCT-II), (rows, columns).

    .. math:: C_{kn} = \sqrt{\tfrac{2 - [k = 0]}{N}} \cos\frac{\pi k (2n + 1)}{2N}
    """
    k, n = torch.arange(rows)[:, None], torch.arange(columns)
    matrix = math.sqrt(2 / columns) * torch.cos(math.pi * k * (2 * n + 1) / (2 * columns))
    matrix[0] /= math.sqrt(2)
    return matrix


def mfcc(
    sound: Tensor,
    coefficients: int = COEFFICIENTS,
    bands: int = BANDS,
    size: int = SIZE,
    hop: int = HOP,
    rate: int = RATE,
) -> Tensor:
    """MFCCs, mel-frequency cepstral coefficients (Davis and Mermelstein 1980): (..., N) to (..., T, K).

    The first K numbers of the cosine transform of the mel bands' levels in dB. The first one grows
    with the loudness, the next ones describe the spectrum's coarse shape, which the mouth makes; the
    pitch is left out.
    """
    levels = log_mel(widened(sound), bands, size, hop, rate)
    return (levels @ dct_matrix(coefficients, bands).to(levels).T).to(sound.dtype)


def levels_from_mfcc(coefficients: Tensor, bands: int = BANDS) -> Tensor:
    """Mel levels in dB, (..., T, bands), as far as MFCCs (..., T, K) tell them: a smooth curve."""
    return coefficients @ dct_matrix(coefficients.shape[-1], bands).to(coefficients)


def power_from_levels(levels: Tensor, size: int = SIZE, rate: int = RATE) -> Tensor:
    """A power spectrum (..., T, size // 2 + 1) that has about these mel levels (..., T, bands), in dB.

    Every frequency takes the mean of the bands it lies in, weighted as the filters weight it.
    """
    wide = widened(levels)
    filters = mel_filters(levels.shape[-1], size, rate, even=False).to(wide)
    width = mel_filters(levels.shape[-1], size, rate).to(wide).sum(1)  # of each band, even filters
    power = 10 ** (wide / 10) / width.clamp_min(1e-8)
    return (power @ filters / filters.sum(0).clamp_min(1e-8)).to(levels.dtype)


def vocode(
    power: Tensor, hop: int = HOP, rate: int = RATE, pitch: float | None = None, seed: int = 0
) -> Tensor:
    """Sound with a given power spectrum: noise, or a buzz, is coloured frame by frame (Dudley 1939).

    What the spectrum does not say, the phase and with MFCCs the pitch, is made up: with noise the
    result whispers, with a buzz it speaks on one tone.

    Args:
        power: (T, size // 2 + 1).
        hop: samples from one frame to the next.
        rate: Hz.
        pitch: of the buzz, in Hz, or None for noise.
        seed: of the noise.

    Returns:
        (T - 1) * hop samples, the loudest of them +-0.9.
    """
    size = 2 * (power.shape[-1] - 1)
    length = (power.shape[0] - 1) * hop
    noise = torch.randn(length, generator=torch.Generator().manual_seed(seed))
    source = noise
    if pitch is not None:
        phase = torch.arange(length) * pitch / rate
        source = (phase % 1 < pitch / rate).float() * math.sqrt(rate / pitch) + 0.1 * noise
    fade = spectral_window(size)
    spectrum = torch.fft.rfft(cut_frames(source, size, hop) * fade) * power.sqrt()
    pieces = torch.fft.irfft(spectrum, size) * fade  # (T, size)
    whole = torch.zeros(length + size)
    weight = torch.full((length + size,), 1e-3)
    for t, piece in enumerate(pieces):
        whole[t * hop : t * hop + size] += piece
        weight[t * hop : t * hop + size] += fade.square()
    sound = (whole / weight)[size // 2 : size // 2 + length]
    return 0.9 * sound / sound.abs().max().clamp_min(1e-9)


def sound_of_mfcc(coefficients: Tensor, pitch: float | None = None) -> Tensor:
    """What is left of a sound in its MFCCs (T, K), made audible; see :func:`vocode`.

    ::

        IPython.display.Audio(F.sound_of_mfcc(frames), rate=8000)
    """
    return vocode(power_from_levels(levels_from_mfcc(widened(coefficients))), pitch=pitch)
