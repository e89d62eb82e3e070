"""PyTorch's Transformer with hooks: every number that it computes, and changes in the middle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.nn.functional import linear

from seqcourse import data, functional
from seqcourse.live.room import scene
from seqcourse.tokens import EOS, SOS

Found = dict[str, Any]
# Typed arrays become lists on their way out of the page.
SEND = """async ([call, given]) => JSON.parse(JSON.stringify(await seqlive.send(call, given),
    (_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value))"""
# Answers to some nodes, to three of the nodes that each of them names, and so on: every kind of node a
# few times. An answer is told by its node, its texts, its number and the sum of its terms.
WALK = """async ([name, waiting, most]) => {
    const seen = [], count = {};
    while (waiting.length) {
        const node = waiting.shift();
        if ((count[node.t] = (count[node.t] ?? 0) + 1) > most) continue;
        const found = await seqlive.send("origin", { name, node }), { terms, map, title, about } = found;
        const sum = terms && terms.reduce((all, { value }) => all + value, 0);
        seen.push({ node, title, about, sum, total: found.total, value: found.value });
        const named = map ? map.nodes.flat()
            : terms.flatMap(({ label }) => label.filter(Array.isArray).map(part => part[1]));
        const places = new Set([0, 0.37, 0.99].map(share => Math.floor(share * named.length)));
        waiting.push(...[...places].map(place => named[place]).filter(Boolean));
    }
    return seen; }"""
# Whose norm reads a state: the state "s0" of the encoder is what the norm of the first MLP is given.
STATES = {
    "encoder": {"x0": "0.self", "s0": "0.mlp", "x1": "1.self", "s1": "1.mlp", "x2": "end"},
    "decoder": {
        "x0": "0.self", "s0": "0.cross", "c0": "0.mlp", "x1": "1.self",
        "s1": "1.cross", "c1": "1.mlp", "x2": "end",
    },
}  # fmt: skip
# The state behind a norm's sublayer has its name in the page.
NAMES = {"self": "s{}", "cross": "c{}"}


def send(page: Any, name: str, call: str, **given: Any) -> Any:
    """What the page's worker answers to a call about this model."""
    return page.evaluate(SEND, [call, {"name": name, **given}])


def walk(page: Any, name: str, *starts: Found, most: int = 12) -> list[Found]:
    """Answers to nodes from these on; each but a head is the sum of its terms."""
    seen = page.evaluate(WALK, [name, list(starts), most])
    for one in seen:
        if one["node"]["t"] != "head":
            numpy.testing.assert_allclose(one["sum"], one["total"], 1e-5, 1e-5, err_msg=str(one["node"]))
        assert one["title"] and one["about"]
    return seen


def norms_of(blocks: Any, last: Any) -> dict[str, Any]:
    """The normalisations of a side by what they stand before: "0.self", "0.mlp", "end"."""
    found = {"end": last}
    for number, block in enumerate(blocks):
        for kind in ("self", "cross", "mlp"):
            if (norm := getattr(block, f"{kind}_norm")) is not None:
                found[f"{number}.{kind}"] = norm
    return found


def name_of(key: str) -> str:
    """What the page calls the part that a norm stands before: "0.self" is "s0", "0.mlp" is "x1"."""
    if key == "end":
        return "end"
    number, kind = key.split(".")
    return f"x{int(number) + 1}" if kind == "mlp" else NAMES[kind].format(number)


def close(mine, theirs, what: str) -> None:
    """Equal within 1e-5 of the value, or of the largest number beside it."""
    theirs = torch.as_tensor(theirs).double().numpy()
    most = max(1.0, float(abs(theirs).max(initial=0)))
    numpy.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5 * most, err_msg=what)


def compare(mine, theirs, rows: int | None) -> int:
    """All numbers of one side; how many there were."""
    count = 0

    def same(a, b, what):
        nonlocal count
        close(a, b, f"{mine['side']} {what}")
        count += torch.as_tensor(b).numel()

    for kept in ("embedding", "place"):
        same(mine[kept][:rows], theirs[kept], kept)
    assert mine["states"].keys() == theirs["states"].keys()
    for state, values in theirs["states"].items():
        same(mine["states"][state][:rows], values, state)
    assert mine["norms"].keys() == theirs["norms"].keys()
    for name, (y, mean, spread) in theirs["norms"].items():
        own = mine["norms"][name][:rows]
        for key, values in (("y", y), ("mean", mean), ("spread", spread)):
            same([one[key] for one in own], values, f"{name} {key}")
    for name, values in theirs.get("inner", {}).items():
        own = mine["mlps"][name][:rows]
        same([one["inner"] for one in own], values, f"{name} neurons")
        same([one["out"] for one in own], theirs["mlp"][name], f"{name} MLP")
    assert mine["looks"].keys() == theirs["looks"].keys()
    for name, look in theirs["looks"].items():
        own = mine["looks"][name][:rows]
        for letter, kept in (("k", "keys"), ("v", "values")):
            whole = look[letter].transpose(0, 1).flatten(1)  # (M, D)
            same(mine[kept][name][: len(whole)], whole, f"{name} {kept}")
        same([one["q"] for one in own], look["q"].transpose(0, 1).flatten(1), f"{name} queries")
        same([one["mixed"] for one in own], look["mixed"], f"{name} mixed")
        scores = look["q"] @ look["k"].transpose(1, 2) / look["q"].shape[-1] ** 0.5  # (H, N, M)
        for i, one in enumerate(own):
            m = len(one["weights"][0])
            same(one["weights"], look["weights"][:, i, :m], f"{name} weights")
            same(one["scores"], scores[:, i, one["keyFrom"]], f"{name} scores")
            assert not look["weights"][:, i, m:].any()
            same(one["wrote"], look["wrote"][:, i], f"{name} wrote")
    return count


class Hooked:
    """A translator whose forward pass is kept, with the changes of the machine room."""

    states: Mapping[str, Mapping[str, str]] = STATES

    def __init__(self, system: Any) -> None:
        self.system, self.model = system, system.model
        self.plain: dict[str, list[int]] = {}  # what is written without changes
        self.others: dict[str, Found] = {}  # states of other sentences, to take one from

    def parts(self, side: str) -> tuple[Any, Any]:
        """The blocks of a side, and its last norm."""
        return getattr(self.model, side), getattr(self.model, f"{side}_norm")

    def ids(self, text: str) -> list[int]:
        return self.system.source.encode(self.system.tokens(text))

    def run(self, text: str, written: Sequence[int], changes: Sequence[Found] = ()) -> Found:
        """Everything along the forward pass of a sentence and the ids written: (N, ...) each."""
        for one in changes:
            if one["kind"] == "patch" and one["text"] not in self.others:
                other = self.run(one["text"], self.write(one["text"]))
                self.others[one["text"]] = {side: other[side]["states"] for side in self.states}
        found: Found = {side: {} for side in self.states}
        with torch.inference_mode(), self._hooked(found, changes):
            found["logits"] = self.forward(text, written, changes)[0]
        heat = next((one["to"] for one in changes if one["kind"] == "heat"), 1.0)
        found["shares"] = (found["logits"][-1].double() / heat).softmax(-1)
        return found

    def forward(self, text: str, written: Sequence[int], changes: Sequence[Found]) -> Tensor:
        """The logits of the model's own pass, (1, N, V)."""
        ids, lengths = data.pad([self.ids(text)])
        return self.model(ids, lengths, torch.tensor([[SOS, *written]])).logits

    def positions(self, side: str) -> Any:
        """The module that adds positions to a side's vectors."""
        return getattr(self.model, "source_positions" if side == "encoder" else "target_positions")

    def write(self, text: str, changes: Sequence[Found] = ()) -> list[int]:
        """Word by word the likeliest, each time from the whole forward pass."""
        if not changes and text in self.plain:
            return self.plain[text]
        ids: list[int] = []
        while len(ids) < 2 * len(self.ids(text)) + 8:
            logits = self.run(text, ids, changes)["logits"][-1].clone()
            logits[:2] = -torch.inf  # padding and the beginning are never written
            ids.append(int(logits.argmax()))
            if ids[-1] == EOS:
                break
        if not changes:
            self.plain[text] = ids
        return ids

    @contextmanager
    def _hooked(self, found: Found, changes: Sequence[Found]) -> Iterator[None]:
        with ExitStack() as stack:

            def hook(register: Any, call: Any) -> None:
                stack.callback(register(call).remove)

            for side in self.states:
                kept, (blocks, last) = found[side], self.parts(side)
                states = {key: state for state, key in self.states[side].items()}
                for key, norm in norms_of(blocks, last).items():
                    hook(
                        norm.register_forward_pre_hook,
                        self._keeps_state(kept, side, states[key], changes),
                    )
                    hook(norm.register_forward_hook, self._keeps_norm(kept, side, key, changes))
                for number, block in enumerate(blocks):
                    if block.mlp is not None:
                        self._hook_mlp(
                            hook, kept, f"{side}.{number}.mlp", block.mlp, f"x{number + 1}", changes
                        )
                    for kind in ("self", "cross"):
                        if attention := getattr(block, f"{kind}_attention"):
                            part, name = f"{side}.{number}.{kind}_attention", NAMES[kind].format(number)
                            self._open_attention(stack, hook, kept, part, attention, name, changes)
                self._move_places(stack, kept, side, changes)
            yield

    def _keeps_state(self, kept: Found, side: str, state: str, changes: Sequence[Found]) -> Any:
        def call(_: Any, given: tuple[Tensor]) -> None:
            (x,) = given
            for one in changes:
                fits = one["kind"] == "patch" and one["part"] == f"{side}.{state}"
                if fits and one["at"] < x.shape[1]:  # in the stream itself
                    x[0, one["at"]] = self.others[one["text"]][side][state][one["from"]]
            kept.setdefault("states", {})[state] = x[0].clone()

        return call

    def _keeps_norm(self, kept: Found, side: str, key: str, changes: Sequence[Found]) -> Any:
        def call(norm: Any, given: tuple[Tensor], y: Tensor) -> Tensor:
            x = given[0][0]
            moments = x.mean(-1), (x.var(-1, correction=0) + norm.eps).sqrt()
            kept.setdefault("norms", {})[name_of(key)] = (y[0].clone(), *moments)
            if (side, key) == ("encoder", "end"):
                y = y.clone()
                for one in changes:
                    if one["kind"] == "patch" and one["part"] == "encoder.memory":
                        y[0, one["at"]] = self.others[one["text"]]["encoder"]["memory"][one["from"]]
                kept["states"]["memory"] = y[0]
            return y

        return call

    def _hook_mlp(
        self, hook: Any, kept: Found, part: str, mlp: Any, name: str, changes: Sequence[Found]
    ) -> None:
        mute = any(one["kind"] == "mlp" and one["part"] == part for one in changes)

        def keep_inner(_: Any, given: tuple[Tensor]) -> None:
            kept.setdefault("inner", {})[name] = given[0][0]

        def keep_out(_: Any, given: Any, y: Tensor) -> Tensor:
            y = torch.zeros_like(y) if mute else y
            kept.setdefault("mlp", {})[name] = y[0]
            return y

        hook(mlp.outer.register_forward_pre_hook, keep_inner)
        hook(mlp.register_forward_hook, keep_out)

    def _open_attention(
        self, stack: ExitStack, hook: Any, kept: Found, part: str, attention: Any, name: str,
        changes: Sequence[Found],
    ) -> None:  # fmt: skip
        mine = [one for one in changes if one["part"] == part]
        off = [one["head"] for one in mine if one["kind"] == "off"]
        usual, size = attention.attend, attention.size
        look: Found = kept.setdefault("looks", {}).setdefault(name, {})

        def attend(
            q: Tensor, k: Tensor, v: Tensor, mask: Any = None, *, causal=False, need_weights=False
        ):
            look.update(q=q[0], k=k[0], v=v[0])
            if all(one["kind"] == "off" for one in mine):
                y, weights = usual(q, k, v, mask, causal=causal, need_weights=True)
                look["weights"] = weights[0]
                return y, weights
            y, look["weights"] = changed(q[0], k[0], v[0], causal)
            return attention.out(y.transpose(0, 1).flatten(1)[None]), look["weights"][None]

        def changed(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Tensor, Tensor]:
            heads, rows, width = q.shape
            weights, y = q.new_zeros(heads, rows, k.shape[1]), q.new_zeros(heads, rows, width)
            for head in range(heads):
                for i in range(rows):
                    m = i + 1 if causal else k.shape[1]
                    keys, values = exchanged("keys", m), exchanged("values", m)
                    w = (k[head, keys] @ q[head, i] / math.sqrt(width)).softmax(0)
                    for one in mine:
                        if (one["kind"], one.get("head"), one.get("row")) == ("hold", head, i):
                            w = torch.eye(m)[one["column"]]
                    weights[head, i, :m], y[head, i] = w, w @ v[head, values]
            return y, weights

        def exchanged(kind: str, m: int) -> list[int]:
            order = list(range(m))
            for one in mine:
                if one["kind"] == kind and max(one["a"], one["b"]) < m:
                    a, b = one["a"], one["b"]
                    order[a], order[b] = order[b], order[a]
            return order

        def keep_mixed(_: Any, given: tuple[Tensor]) -> tuple[Tensor]:
            look["mixed"] = given[0][0].clone()
            mixed = given[0].clone()
            for head in off:
                mixed[..., head * size : (head + 1) * size] = 0
            parts = mixed[0].unflatten(-1, (-1, size))  # (N, H, D / H)
            columns = attention.out.weight.unflatten(-1, (-1, size))  # (D, H, D / H)
            look["wrote"] = torch.einsum("nhs,dhs->hnd", parts, columns)
            return (mixed,)

        attention.attend = attend
        stack.callback(delattr, attention, "attend")  # the class's own is there again
        hook(attention.out.register_forward_pre_hook, keep_mixed)

    def _move_places(self, stack: ExitStack, kept: Found, side: str, changes: Sequence[Found]) -> None:
        positions = self.positions(side)
        usual = positions.forward

        def forward(x: Tensor, first: int = 0) -> Tensor:
            kept["embedding"] = x[0].clone()
            places = list(range(x.shape[1]))
            for one in changes:
                if one["kind"] == "place" and one["part"] == side and one["at"] < len(places):
                    places[one["at"]] = one["to"]
            kept["place"] = usual(x.new_zeros(1, max(places) + 1, x.shape[2]))[0, places]
            return x + kept["place"]

        positions.forward = forward
        stack.callback(delattr, positions, "forward")


class HookedRow(Hooked):
    """A GPT of attention alone with rotary positions; its blocks are called "decoder"."""

    states: Mapping[str, Mapping[str, str]] = {
        "decoder": {"x0": "0.self", "s0": "1.self", "s1": "end"},
    }

    def parts(self, side: str) -> tuple[Any, Any]:
        return self.model.blocks, self.model.norm

    def ids(self, text: str) -> list[int]:
        return self.system.source.encode(list(text), eos=False)

    def forward(self, text: str, written: Sequence[int], changes: Sequence[Found]) -> Tensor:
        return self.model(torch.tensor([self.ids(text)])).logits

    def write(self, text: str, changes: Sequence[Found] = ()) -> list[int]:
        return []

    def _move_places(self, stack: ExitStack, kept: Found, side: str, changes: Sequence[Found]) -> None:
        def keep(_: Any, given: tuple[Tensor]) -> None:
            kept.setdefault("embedding", given[0][0].clone())
            kept.setdefault("place", torch.zeros_like(given[0][0]))

        def moved(attention: Any) -> Any:
            def project(x: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
                places = torch.arange(x.shape[1])
                for one in changes:
                    if one["kind"] == "place" and one["at"] < len(places):
                        places[one["at"]] = one["to"]
                q, k, v = linear(x, attention.in_weight, attention.in_bias).chunk(3, dim=-1)
                turned = [functional.rotate(attention.split(each), places) for each in (q, k)]
                return *turned, attention.split(v)

            return project

        stack.callback(self.model.positions.register_forward_pre_hook(keep).remove)
        for block in self.model.blocks:
            block.self_attention.project = moved(block.self_attention)
            stack.callback(delattr, block.self_attention, "project")


class HookedCaptioner(Hooked):
    """A captioner that writes of the scene of a text; of its encoder only the memory is kept."""

    states: Mapping[str, Mapping[str, str]] = {"decoder": STATES["decoder"]}

    def memory(self, text: str) -> Tensor:
        """The vectors of the places, (N, D)."""
        pixels = torch.as_tensor(scene(text).image).permute(2, 0, 1)[None]
        with torch.inference_mode():
            return self.model.encoder_norm(self.model.encoder(pixels))[0]

    def ids(self, text: str) -> list[int]:
        return [0] * len(self.memory(text))

    def positions(self, side: str) -> Any:
        return self.model.positions

    def forward(self, text: str, written: Sequence[int], changes: Sequence[Found]) -> Tensor:
        places = self.memory(text).clone()
        for one in changes:
            if one["kind"] == "patch" and one["part"] == "encoder.memory":
                places[one["at"]] = self.memory(one["text"])[one["from"]]
        known = self.model.remember(places[None], torch.ones(1, len(places), dtype=torch.bool))
        return self.model.write(known, torch.tensor([[SOS, *written]]))[0]
