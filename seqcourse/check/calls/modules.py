"""Check classes: build an object, set its weights, call it several times, compare results and gradients.

A maker for such an exercise returns (`module_arguments` makes it from sizes):

    {
        "build": {"d": 4},                          # arguments of the class, by name
        "weights": {"w.weight": ..., "b": ...},     # its parameters, named as in the exercise's text
        "calls": [{"x": ...}, {"x": ...}],          # arguments of successive calls of one object
    }

The check sets `record=record_module`. Its `reference` is the right class, and the `answer` of a likely
mistake is a class that makes the mistake. Every second call of a module is in training mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from seqcourse.check.calls.compare import Likely, Mistake, Stopped, compare, outcome, same, stopped
from seqcourse.check.calls.errors import error_kind
from seqcourse.check.calls.gradients import compare_gradients, place_in_words, reached_from
from seqcourse.check.calls.inputs import copy, each_tensor, normal
from seqcourse.check.calls.recording import Asked, after, unchanged
from seqcourse.check.calls.values import Found, Given, arrays, result
from seqcourse.check.told.discreet import sizes_told

ORDINALS = ("first", "second", "third", "fourth", "fifth")
MODES = ("", ", in training mode")  # every second call of a module


def module_arguments(
    build: Mapping[str, Any],
    weights: Mapping[str, Sequence[int]],
    inputs: Mapping[str, Sequence[int]],
    calls: int = 2,
    seed: int = 0,
) -> dict[str, Any]:
    """Arguments for testing a class, made from sizes: its weights, and the arguments of every call."""
    return {
        "build": dict(build),
        "weights": normal(weights, seed=seed),
        "calls": [normal(inputs, seed=seed + 1 + number) for number in range(calls)],
    }


def record_module(
    student: Callable[..., Any], given: Given, prefix: str = "", gradient: Sequence[str] = ()
) -> Found:
    """Build an object for a probe, set its weights and call it; record results and gradients."""
    mine = copy(dict(given))
    found = arrays(
        **{f"{prefix}{name}": item for name, item in _build_and_call(student, mine, gradient).items()}
    )
    return found | after(_inputs(mine), prefix)


def judge_module(
    exercise: Asked,
    found: Found,
    given: Given,
    prefix: str = "",
    gradient: Sequence[str] = (),
    *,
    label: str = "",
    hint: str = "",
) -> None:
    """Judge what `record_module` stored under the same prefix, as `judge` does a call."""
    name, tolerance, hint = label or exercise.name, exercise.tolerance, hint or exercise.hint
    built = result(found, f"{prefix}built")
    if isinstance(built, Stopped):
        question = _explain_stop(exercise.likely, built, given) or hint
        with sizes_told(given):
            told = stopped("it", built)
        wanted = ", ".join(given["build"]) or "no arguments"
        raise Mistake(f"{name} could not be built with {wanted}: {told}", question, sized=True)
    _compare_names(name, found, given["weights"], prefix)
    unchanged(name, found, _inputs(given), prefix)
    right = arrays(**_build_and_call(exercise.reference, copy(dict(given)), gradient))
    results, expected = result(found, f"{prefix}result"), result(right, "result")
    fitting = _explanations(exercise.likely, results, given, tolerance)
    told = dict(hint=hint, tolerance=tolerance, parts=exercise.parts)
    for number, call in enumerate(given["calls"]):
        where = f"{name} ({ORDINALS[number]} call of one object{MODES[number % 2]})" if number else name
        mistakes = [Likely(question, _returns(wrong[number])) for question, wrong in fitting]
        compare(where, results[number], expected[number], call.values(), mistakes, **told)
    if bool(result(found, f"{prefix}alike")):
        raise Mistake(f"{name}: {ALIKE}")
    if gradient:
        places = [key.removeprefix("gradient.") for key in right if key.startswith("gradient.")]
        reached = [
            {place: result(half, f"{start}gradient.{place}") for place in places}
            for half, start in ((found, prefix), (right, ""))
        ]
        compare_gradients(name, *reached, tolerance)


def _build_and_call(build: Callable[..., Any], given: Given, gradient: Sequence[str]) -> dict[str, Any]:
    """Build and call an object; return its results by name. Used by both the probe and the verdict."""
    instance = outcome(lambda: build(**given["build"]), ())
    if isinstance(instance, Exception):
        return {"built": instance}
    weights = given["weights"]
    try:
        shapes = {key: tuple(value.shape) for key, value in _parameters(instance, weights).items()}
    except (AttributeError, TypeError) as error:
        return {"built": error}
    if shapes != {key: tuple(value.shape) for key, value in weights.items()}:
        return {"built": True, "names": _in_words(shapes)}
    alike = isinstance(instance, nn.Module) and begin_alike(instance.parameters())
    leaves = _load(instance, weights)
    if gradient:
        leaves |= _followed(given)
    results = []
    for number, call in enumerate(given["calls"]):
        if isinstance(instance, nn.Module):
            instance.train(bool(number % 2))
        results.append(outcome(instance, tuple(call.values())))
    used = {"built": True, "names": _in_words(shapes), "alike": alike, "result": tuple(results)}
    reached = outcome(reached_from, (results, leaves)) if gradient else {}
    if isinstance(reached, Exception):
        reached = dict.fromkeys(leaves)
    return used | {f"gradient.{key}": item for key, item in reached.items()}


def _followed(given: Given) -> dict[str, Tensor]:
    """Put copies of leaves in the place of all floating inputs; return the leaves by name."""
    leaves: dict[str, Tensor] = {}

    def follow(place: str, tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            return tensor
        number, _, name = place.partition(".")
        leaf = leaves[f"{place_in_words(name)} of call {int(number) + 1}"] = tensor.requires_grad_()
        return leaf.clone()  # which an answer that changes its input can change

    given["calls"][:] = each_tensor(follow, given["calls"])
    return leaves


def begin_alike(parameters: Iterable[Tensor]) -> bool:
    """Whether most matrices begin with one number only, such as 0, so that their rows stay alike."""
    matrices = [p for p in parameters if p.dim() > 1 and p.numel() > 1]
    return 2 * sum(bool((p == p.flatten()[0]).all()) for p in matrices) > len(matrices)


ALIKE = (
    "its matrices begin with one number only. What is all alike gets gradients that are all alike, or "
    "none: leave the numbers that nn.Linear draws, or draw some."
)


def _parameters(instance: Any, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An object's parameters by name: all of them for a module, otherwise those in ``weights``."""
    if isinstance(instance, nn.Module):
        return _named(instance)
    named = {key: outcome(reduce, (getattr, key.split("."), instance)) for key in weights}
    return {key: value for key, value in named.items() if isinstance(value, Tensor)}


def _named(module: nn.Module) -> dict[str, Tensor]:
    """A module's parameters; one that has several names by the shortest, `w_q` before `layers.0`."""
    names: dict[Tensor, str] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names[parameter] = min(
            names.get(parameter, name), name, key=lambda one: (one.count("."), len(one))
        )
    return {name: parameter for parameter, name in names.items()}


def _load(instance: Any, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Set an object's weights and return its parameters by name."""
    if isinstance(instance, nn.Module):
        kind = next(iter(weights.values()), torch.zeros((), dtype=torch.float64))
        instance.to(device=kind.device, dtype=kind.dtype)
        instance.load_state_dict(dict(weights), strict=False)
        return _named(instance)
    loaded = {key: value.detach().clone().requires_grad_() for key, value in weights.items()}
    for key, value in loaded.items():
        *path, last = key.split(".")
        setattr(reduce(getattr, path, instance), last, value)
    return loaded


def _in_words(shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    return tuple(f"{key} {shape}" for key, shape in sorted(shapes.items()))


def _compare_names(name: str, found: Found, weights: Mapping[str, Tensor], prefix: str) -> None:
    """Raise Mistake unless the object has exactly the parameters that the text asks for."""
    theirs = set(result(found, f"{prefix}names"))
    wanted = _in_words({key: tuple(value.shape) for key, value in weights.items()})
    missing = [item for item in wanted if item not in theirs]
    if missing:
        turned = _in_words({key: tuple(value.shape)[::-1] for key, value in weights.items()})
        raise Mistake(
            f"{name} should have these parameters, with these names and shapes: {'; '.join(missing)}.",
            "Are the sizes swapped? nn.Linear(d_in, d_out) reads d_in numbers, and is (d_out, d_in)."
            if theirs & {item for item in turned if item not in wanted}
            else "A tensor that is learned is an nn.Parameter, or part of a layer that is an attribute.",
        )
    if len(theirs) > len(wanted):
        raise Mistake(
            f"{name} has more parameters than it should: only {'; '.join(wanted) or 'none'} are asked "
            "for.",
            "Does a layer have a bias that it should not have?",
        )


def _inputs(given: Given) -> dict[str, Any]:
    """The arguments of all calls by name, for `unchanged`."""
    calls = given["calls"]
    return {
        (f"{name} of call {number + 1}" if len(calls) > 1 else name): value
        for number, call in enumerate(calls)
        for name, value in call.items()
    }


def _explain_stop(likely: Iterable[Likely], stopped: Stopped, given: Given) -> str:
    """The question of the first likely mistake that fails to build with the same error, or ""."""
    for mistake in likely:
        built = _build_and_call(mistake.answer, copy(dict(given)), ())["built"]
        if error_kind(built) == stopped.kind and str(built) == str(stopped):
            return mistake.question
    return ""


def _explanations(
    likely: Iterable[Likely], results: Any, given: Given, tolerance: float | None
) -> list[tuple[str, Any]]:
    """(question, results) of the likely mistakes that explain all calls; of all if none does."""
    tried = []
    for mistake in likely:
        used = arrays(**_build_and_call(mistake.answer, copy(dict(given)), ()))
        if any(key.startswith("result.") for key in used):
            tried.append((mistake.question, result(used, "result")))
    whole = [
        (question, wrong)
        for question, wrong in tried
        if all(
            isinstance(got, Exception) or same(got, item, tolerance)
            for got, item in zip(results, wrong, strict=True)
        )
    ]
    return whole or tried


def _returns(value: Any) -> Callable[..., Any]:
    """A function that returns a value, or raises it if it is an error."""

    def function(*arguments: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return function
