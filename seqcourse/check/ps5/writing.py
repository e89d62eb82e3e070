"""Exercise 7: writing with a cache, the likeliest token every time, and how often the model is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.inputs import normal
from seqcourse.check.calls.recording import judge, record
from seqcourse.check.calls.values import Found, Given, result
from seqcourse.check.exercise import Exercise
from seqcourse.check.inside import ps5 as inside
from seqcourse.check.ps5.projecting import drawn_weights
from seqcourse.check.told.discreet import size_in_words, sizes_told

PLACES = 64  # longer than any text of a check
Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


def generate_arguments(
    batch: int, prompt: int, count: int, v: int = 11, seed: int = 0
) -> dict[str, Any]:
    """Arguments of `generate`: a decoder with fixed weights, a prompt, how many tokens to write."""
    generator = torch.Generator().manual_seed(seed)
    width = 8
    sizes = {"table": (v, width), "out": (v, width), "places": (PLACES, width)}
    drawn = normal(sizes, seed + 1)
    out = torch.nn.functional.normalize(drawn["out"], dim=-1)
    weights = drawn_weights(width, seed + 2, torch.float64)
    return {
        "step": partial(
            inside.step, drawn["table"], drawn["places"], out, weights["w_in"], weights["w_out"]
        ),
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


def reference_generate(step: Step, prompt: Tensor, count: int) -> Tensor:
    """The likeliest token, over and over, (B, P + count)."""
    written, cache = [prompt], None
    for _ in range(count):
        logits, cache = step(written[-1], cache)
        written.append(logits[:, -1].argmax(dim=-1, keepdim=True))
    return torch.cat(written, dim=1)


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


def judge_generate(found: Found, given: Given, prefix: str) -> None:
    """Judge one case: the text, then how step was called; raise Mistake."""
    judge(generate, found, given, prefix)
    widths = result(found, f"{prefix}widths")
    if not isinstance(widths, Tensor) or widths.dim() != 1:
        raise Mistake("generate: the calls of step could not be counted.")
    judge_calls([int(width) for width in widths.tolist()], given["prompt"].shape[1], given["count"])


_SIZES = {
    "the first example": dict(batch=2, prompt=4, count=6),
    "a batch of 1": dict(batch=1, prompt=3, count=5),
    "a prompt of one token": dict(batch=3, prompt=1, count=4),
    "count 1": dict(batch=2, prompt=3, count=1),
    "a longer text": dict(batch=4, prompt=6, count=12),
}
generate = Exercise(
    "generate",
    make=generate_arguments,
    reference=reference_generate,
    record=inside.record_generate,
    judge=judge_generate,
    cases={
        **{label: size | dict(seed=10 * k + 5) for k, (label, size) in enumerate(_SIZES.items())},
        "a text with a token 2 in it": through_two(2, batch=1, prompt=3, count=8, v=6),
    },
    variants={"text": {"cases": generate_cases, "record": record, "judge": None}},
    forbid=("greedy", "beam_search", "seqcourse.decode.sample"),
)
