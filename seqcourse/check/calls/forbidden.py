"""What an answer may not use: entries, what they cover, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from seqcourse.check.calls.compare import Mistake
from seqcourse.check.calls.watch import is_below, is_of_the_checks

_UNSEEN = {
    "thread": "starts a thread",
    "process": "starts a process",
    "ctypes": "calls compiled code through ctypes",
    "tracing": "changes how Python's calls are traced",
    "operator": "runs an operator that is not PyTorch's own",
}

_ATTENTION = (
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
    "_flash_attention_forward",
    "_efficient_attention_forward",
    "_safe_softmax",
    "flex_attention",
)
_BATCH_NORM = ("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "instance_norm")
_FAST_HEADS = ("_native_multi_head_attention", "_transformer_encoder_layer_fwd")
_RECURRENT = ("mkldnn_rnn_layer", "_cudnn_rnn", "miopen_rnn")
# Operators that compute what an entry names, under names of their own.
_OPERATORS = {
    "softmax": ("_safe_softmax", "_masked_softmax", *_ATTENTION, *_FAST_HEADS),
    "scaled_dot_product_attention": (*_ATTENTION, *_FAST_HEADS),
    "multi_head_attention_forward": _FAST_HEADS,
    "layer_norm": ("native_layer_norm",),
    "batch_norm": _BATCH_NORM,
    "instance_norm": _BATCH_NORM,
    "group_norm": ("native_group_norm",),
    "cross_entropy": ("cross_entropy_loss",),
    "lstm": (*_RECURRENT, "_thnn_fused_lstm_cell"),
    "gru": (*_RECURRENT, "_thnn_fused_gru_cell"),
    "rnn": (*_RECURRENT, "rnn_tanh", "rnn_relu"),
    "lstm_cell": ("_thnn_fused_lstm_cell",),
    "gru_cell": ("_thnn_fused_gru_cell",),
}


def refuse(name: str, ran: Iterable[str], forbidden: Iterable[str]) -> None:
    """Raise Mistake when what `ran` in the answer called `name` is forbidden, or hides what runs.

    ran: names as in `Watch.ran`; those of a student's process are untrusted and never repeated. With
        `Watch.ran_in`, of this process, a function that the answer calls is named.
    forbidden: entries as in `covers`. Without any, everything may run but the checks' own answers.
    """
    functions = ran if isinstance(ran, Mapping) else {}
    ran, forbidden = tuple(str(one) for one in ran), tuple(forbidden)
    if any(map(is_of_the_checks, ran)):
        raise Mistake(f"{name} calls the answer that the self-check compares with. Write your own.")
    for one in ran:
        for entry in forbidden:
            if covers(entry, one):
                function = functions.get(one, name) or name
                calls = "" if function == name else f" calls your {function}, which"
                raise Mistake(
                    f"{name}{calls} uses {entry}, which is to be built here. "
                    "The text above the exercise says what may be used."
                )
    kind = next((one.removeprefix("unseen:") for one in ran if one.startswith("unseen:")), "")
    if forbidden and kind in _UNSEEN:
        raise Mistake(
            f"{name} {_UNSEEN[kind]}: what it does there cannot be seen, and this exercise forbids some "
            "functions. Compute the result in the function itself."
        )


def covers(entry: str, name: str) -> bool:
    """Whether a forbidden entry means something that ran.

    entry: "softmax" is any function, method or class of this name in any library, whatever its capitals
        and underscores, and the operators that compute the same; "seqcourse.decode.sample" is the one of
        this package only; "torch.optim.lr_scheduler" is everything in this module.
    """
    module, _, path = name.partition(":")
    if is_below(module, entry):
        return True
    package, _, last = entry.rpartition(".")
    if package and not is_below(module, package):
        return False
    wanted = {_plain(last), *_ways.get(_plain(last), ())}
    return any(_plain(part) in wanted for part in path.split("."))


def _plain(word: str) -> str:
    return word.replace("_", "").lower()


_ways = {_plain(entry): frozenset(map(_plain, names)) for entry, names in _OPERATORS.items()}
