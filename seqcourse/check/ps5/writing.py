"""Exercise 7: writing with a cache, the likeliest token every time, and how often the model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from seqcourse import functional
from seqcourse.check import core
from seqcourse.check.compare import outcome
from seqcourse.check.core import Case, Likely, Mistake
from seqcourse.check.discreet import size_in_words, sizes_told
from seqcourse.check.ps5.projecting import drawn_weights

FORBIDDEN = {"generate": ("greedy", "beam_search", "seqcourse.decode.sample")}
PLACES = 64  # longer than any text of a check
Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


def small_decoder(v: int, seed: int) -> Step:
    """A language model of one masked attention layer: step(tokens (B, n), cache) -> logits, cache.

    What it writes depends much on the place and on all that came before, so that mistakes show.
    """
    width = 8
    sizes = {"table": (v, width), "out": (v, width), "places": (PLACES, width)}
    drawn = core.normal(sizes, seed + 1)
    out = torch.nn.functional.normalize(drawn["out"], dim=-1)
    weights = drawn_weights(width, seed + 2, torch.float64)

    def step(tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        if cache is None:
            cache = drawn["table"].new_zeros(len(tokens), 0, width)
        known = cache.shape[1]
        x = drawn["table"][tokens] + 2 * drawn["places"][known : known + tokens.shape[1]]
        cache = torch.cat([cache, x], dim=1)  # what was read: keys and values are made of it anew
        w_q, w_k, w_v = weights["w_in"].chunk(3)
        y, _ = functional.attention(x @ w_q.T, cache @ w_k.T, cache @ w_v.T, causal=True)
        return (x + 2 * y @ weights["w_out"].T) @ out.T, cache

    return step


def generate_arguments(
    batch: int, prompt: int, count: int, v: int = 11, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `generate`: a decoder with fixed weights, a prompt, how many tokens to write."""
    generator = torch.Generator().manual_seed(seed)
    return {
        "step": small_decoder(v, seed),
        "prompt": torch.randint(v, (batch, prompt), generator=generator),
        "count": count,
    }


def through_two(seed: int, **sizes: int) -> dict[str, int]:
    """What `generate_arguments` is called with: a seed at which every row writes a 2 before its end."""
    while True:
        given = generate_arguments(**sizes, seed=seed)
        written = reference_generate(**given)[:, sizes["prompt"] : -1]
        if (written == 2).any(dim=1).all():
            return {**sizes, "seed": seed}
        seed += 1000


def generate_cases(seed: int) -> dict[str, dict[str, int]]:
    """Texts of several sizes, one of them with a token 2 in it."""
    sizes = {
        "a few texts": dict(batch=3, prompt=5, count=7),
        "a batch of one": dict(batch=1, prompt=4, count=9),
        "a prompt of one token": dict(batch=2, prompt=1, count=6),
        "one token to write": dict(batch=3, prompt=4, count=1),
    }
    cases = {kind: {**size, "seed": seed + 1000 * k} for k, (kind, size) in enumerate(sizes.items())}
    return {
        **cases,
        "a text with a token 2 in it": through_two(seed + 4000, batch=1, prompt=3, count=8, v=6),
    }


def _write(
    step: Step,
    prompt: Tensor,
    count: int,
    *,
    place: int = -1,
    hand_on: bool = True,
    feed: Callable[[Tensor, Tensor], Tensor] = lambda text, new: new,
    choose: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(dim=-1),
    first: Callable[[Tensor], Tensor] = lambda prompt: prompt,
) -> Tensor:
    """The prompt and what was written; the options make the mistakes of GENERATE."""
    text, fed, cache = prompt, first(prompt), None
    for _ in range(count):
        logits, longer = step(fed, cache)
        cache = longer if hand_on else cache
        new = choose(logits[:, place])[:, None]
        text = torch.cat([text, new], dim=1)
        fed = feed(text, new)
    return text


def reference_generate(step: Step, prompt: Tensor, count: int) -> Tensor:
    """The likeliest token, over and over, (B, P + count)."""
    return _write(step, prompt, count)


def _variant(**mistake: Any) -> Callable[..., Tensor]:
    return lambda *arguments: _write(*arguments, **mistake)


def _until_two(more: int) -> Callable[..., Tensor]:
    """Ends with the first 2 that is written, or so many tokens after it."""

    def generate(step: Step, prompt: Tensor, count: int) -> Tensor:
        text = reference_generate(step, prompt, count)
        two = (text[0, prompt.shape[1] :] == 2).nonzero().flatten().tolist()
        return text[:, : prompt.shape[1] + two[0] + more] if two else text

    return generate


def _padded_after_two(filling: int) -> Callable[..., Tensor]:
    """Writes the same token wherever a 2 was written before."""

    def generate(step: Step, prompt: Tensor, count: int) -> Tensor:
        text = reference_generate(step, prompt, count)
        twos = (text[:, prompt.shape[1] :] == 2).long()
        ended = torch.nn.functional.pad(twos.cumsum(dim=1) - twos > 0, (prompt.shape[1], 0))
        return text.masked_fill(ended, filling)

    return generate


_NO_END = (
    "Does it stop at token 2? Here no token ends a text: always write `count` tokens, whatever they are."
)
GENERATE = [
    Likely(
        "Does each step forget the ones before? Hand on the cache that step returned.",
        _variant(hand_on=False),
    ),
    Likely(
        "Do you feed the whole text again and hand on the cache as well? Then everything stands in it "
        "twice: once the prompt is read, feed the newest token only.",
        _variant(feed=lambda text, new: text),
    ),
    Likely(
        "Is the prompt fed again and again? Once it is read, feed the newest token only.",
        lambda step, prompt, count: _write(step, prompt, count, feed=lambda text, new: prompt),
    ),
    Likely(
        "Do you take the logits at the first place? The last place, [:, -1], says what comes next.",
        _variant(place=0),
    ),
    Likely(
        "Is only the last token of the prompt read? step reads all of it at once.",
        _variant(first=lambda prompt: prompt[:, -1:]),
    ),
    Likely("Did you take the unlikeliest token? It is argmax.", _variant(choose=lambda z: z.argmin(-1))),
    Likely(
        "Is the prompt missing in front of the result?",
        lambda step, prompt, count: reference_generate(step, prompt, count)[:, prompt.shape[1] :],
    ),
    Likely(
        "Is there one token too few? `count` new ones should be written.",
        lambda step, prompt, count: reference_generate(step, prompt, count - 1),
    ),
    Likely(
        "Is there one token too many? `count` new ones should be written.",
        lambda step, prompt, count: reference_generate(step, prompt, count + 1),
    ),
    Likely(
        "Is `count` the length of the whole text? It is the number of new tokens.",
        lambda step, prompt, count: reference_generate(step, prompt, max(0, count - prompt.shape[1])),
    ),
    Likely(
        "Is the first new token missing? It comes from the logits after the prompt.",
        lambda step, prompt, count: torch.cat(
            [prompt, reference_generate(step, prompt, count + 1)[:, prompt.shape[1] + 1 :]], dim=1
        ),
    ),
    Likely(
        "Is the last token of the prompt fed twice? The logits after the prompt already give the first "
        "new token.",
        lambda step, prompt, count: torch.cat(
            [
                prompt,
                _write(step, torch.cat([prompt, prompt[:, -1:]], dim=1), count)[
                    :, prompt.shape[1] + 1 :
                ],
            ],
            dim=1,
        ),
    ),
    *(
        Likely(_NO_END, mistake)
        for mistake in (_until_two(1), _until_two(0), _padded_after_two(0), _padded_after_two(2))
    ),
]


class Counted:
    """A step that keeps how many tokens it was fed in each call."""

    def __init__(self, step: Step) -> None:
        self.step, self.widths = step, []

    def __call__(self, tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        self.widths.append(tokens.shape[1] if tokens.dim() == 2 else 0)
        return self.step(tokens, cache)


def record_generate(
    student: Callable[..., Tensor], given: Mapping[str, Any], prefix: str = ""
) -> dict[str, numpy.ndarray]:
    """What `record` writes down, and the number of tokens of each call of step."""
    counted = Counted(given["step"])
    found = core.record(student, {**given, "step": counted}, prefix)
    return found | core.arrays(**{f"{prefix}widths": torch.tensor(counted.widths[:1000])})


def judge_calls(widths: Sequence[int], prompt: int, count: int) -> None:
    """Raise Mistake unless the prompt was read in one call, and then one token per call."""
    widths = list(widths)
    if widths == [prompt] + [1] * (count - 1):
        return
    question = "Read the prompt in one call, then feed one token per call."
    if widths == [prompt] + [1] * count:
        question = "One call too many: nobody needs what step says after the last token."
    elif widths == [prompt + k for k in range(len(widths))] and count > 1:
        question = (
            "The whole text is read anew for each token. The cache holds what was read: feed the newest "
            "token only."
        )
    elif prompt > 1 and widths[:prompt] == [1] * prompt:
        question = "The prompt is read token by token: step takes all of it in one call."
    with sizes_told(prompt, count, count + 1):
        calls, tokens = size_in_words(len(widths)), size_in_words(sum(widths))
    raise Mistake(
        f"generate: the text is right, but step was called {calls} times, with {tokens} tokens "
        f"altogether, where {count} calls with {prompt + count - 1} tokens do. {question}"
    )


def judge_generate_calls(
    found: Mapping[str, numpy.ndarray], given: Mapping[str, Any], prefix: str
) -> None:
    """Judge one case of the second half: the text, then how step was called; raise Mistake."""
    core.judge("generate", found, given, reference_generate, GENERATE, prefix)
    widths = core.result(found, f"{prefix}widths")
    if not isinstance(widths, Tensor) or widths.dim() != 1:
        raise Mistake("generate: the calls of step could not be counted.")
    judge_calls([int(width) for width in widths.tolist()], given["prompt"].shape[1], given["count"])


def generate(student: Callable[..., Tensor]) -> None:
    """Check exercise 7: greedy writing with a cache, and its calls."""
    sizes = {
        "the first example": (2, 4, 6),
        "a batch of 1": (1, 3, 5),
        "a prompt of one token": (3, 1, 4),
        "count 1": (2, 3, 1),
        "a longer text": (4, 6, 12),
    }
    cases = [
        Case(label, lambda s=size, k=k: generate_arguments(*s, seed=10 * k + 5))
        for k, (label, size) in enumerate(sizes.items())
    ]
    ending = through_two(2, batch=1, prompt=3, count=8, v=6)
    cases.append(Case("a text with a token 2 in it", lambda: generate_arguments(**ending)))
    core.check_function(
        "generate", student, reference_generate, cases, GENERATE, forbidden=FORBIDDEN["generate"]
    )
    for case in cases:
        given = case.make()
        counted = Counted(given["step"])
        outcome(student, (counted, given["prompt"], given["count"]))
        judge_calls(counted.widths, given["prompt"].shape[1], given["count"])
