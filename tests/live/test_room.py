"""The machine room: its numbers and changes are PyTorch's, and its stops say what is so."""

from __future__ import annotations

import itertools

import pytest
import torch

from seqcourse import zoo
from seqcourse.live.room import next_words, stops
from seqcourse.tokens import EOS, SOS
from tests.sizes import nightly_but

from .conftest import ROOM, ROOM_EXAMPLES, sentences
from .hooked import Hooked, close, compare, send, walk

pytestmark = pytest.mark.browser
BREAD = ROOM_EXAMPLES[0]
TEXTS = [BREAD, "the man bit the dog", "She was wearing a black hat."]
CROSS = [f"decoder.{layer}.cross_attention" for layer in range(2)]
CHANGES = {
    "a head off": [{"kind": "off", "part": CROSS[1], "head": 1}],
    "a head of the encoder off": [{"kind": "off", "part": "encoder.0.self_attention", "head": 3}],
    "an MLP off": [{"kind": "mlp", "part": "decoder.0.mlp"}, {"kind": "mlp", "part": "encoder.1.mlp"}],
    "keys": [{"kind": "keys", "part": part, "a": 2, "b": 3} for part in CROSS],
    "values": [{"kind": "values", "part": part, "a": 2, "b": 3} for part in CROSS],
    "keys of the encoder": [{"kind": "keys", "part": "encoder.0.self_attention", "a": 0, "b": 3}],
    "keys of the decoder": [{"kind": "keys", "part": "decoder.1.self_attention", "a": 0, "b": 2}],
    "values of the decoder": [{"kind": "values", "part": "decoder.0.self_attention", "a": 0, "b": 1}],
    "hold": [{"kind": "hold", "part": CROSS[1], "head": 2, "row": 1, "column": 0},
             {"kind": "hold", "part": "encoder.1.self_attention", "head": 0, "row": 3, "column": 5}],
    "hold in the decoder": [
        {"kind": "hold", "part": "decoder.0.self_attention", "head": 0, "row": 2, "column": 1}],
    "places": [{"kind": "place", "part": "encoder", "at": 0, "to": 9},
               {"kind": "place", "part": "decoder", "at": 1, "to": 4}],
    **{f"patch of {state}": [
        {"kind": "patch", "part": f"encoder.{state}", "at": 3, "text": "she drinks red wine", "from": 3}]
       for state in ("x0", "s0", "x1", "s1", "x2", "memory")},
    **{f"patch of the decoder's {state}": [
        {"kind": "patch", "part": f"decoder.{state}", "at": 2, "text": "she drinks red wine", "from": 3}]
       for state in ("x0", "s0", "c0", "x1", "s1", "c1", "x2")},
    "heat": [{"kind": "heat", "part": "output", "to": 0.5}],
}  # fmt: skip
CHANGES["several"] = [
    *CHANGES["a head off"], *CHANGES["keys of the encoder"], *CHANGES["places"],
    *CHANGES["patch of s0"], *CHANGES["heat"],
]  # fmt: skip
ALWAYS = ["several", "values", "hold in the decoder", "an MLP off"]  # each kind of change


@pytest.fixture(scope="module")
def hooked() -> Hooked:
    return Hooked(zoo.load(ROOM))


def check(page, hooked, text: str, at: int, changes=()) -> None:
    """Every number of one answer, and what is written with the changes."""
    shown = send(page, ROOM, "operate", text=text, at=at, changes=list(changes))
    kept, words = send(page, ROOM, "kept"), hooked.system.target.tokens
    plain = hooked.write(text)
    assert shown["plain"] == [words[k] for k in plain]
    assert shown["rewritten"] == [words[k] for k in hooked.write(text, changes)]
    theirs = hooked.run(text, plain[: shown["at"]], changes)
    rows = shown["at"] + 1
    assert compare(kept["E"], theirs["encoder"], None) > 10_000
    assert compare(kept["T"], theirs["decoder"], rows) > 5_000
    close(kept["T"]["logits"][:rows], theirs["logits"], "logits")
    close(kept["shares"], theirs["shares"], "shares")
    before = hooked.run(text, plain[: shown["at"]])["shares"]
    for bar in shown["bars"]:
        assert bar["share"] == pytest.approx(float(theirs["shares"][bar["id"]]), abs=1e-5)
        assert bar["before"] == pytest.approx(float(before[bar["id"]]), abs=1e-5)
    for side, trace in (("encoder", kept["E"]), ("decoder", kept["T"])):
        assert shown[side]["states"]["x2"] == trace["states"]["x2"][: len(shown[side]["words"])]


def check_many(room, hooked, count: int, longest: int) -> None:
    short = [text for text in sentences(6 * count) if len(hooked.ids(text)) <= longest][:count]
    assert len(short) == count
    for number, text in enumerate([*TEXTS, *short[len(TEXTS) :]]):
        check(room, hooked, text, number % 4)


def test_every_number_is_pytorchs(room, hooked):
    check_many(room, hooked, 20, longest=7)


@pytest.mark.nightly
def test_every_number_of_many_sentences_is_pytorchs(room, hooked):
    check_many(room, hooked, 300, longest=20)


@pytest.mark.parametrize("name", nightly_but(ALWAYS, CHANGES))
def test_a_change_is_the_same_change_in_pytorch(room, hooked, name):
    check(room, hooked, BREAD, 2, CHANGES[name])


def test_a_change_changes_something(room):
    plain = send(room, ROOM, "operate", text=BREAD, at=2, changes=[])["bars"]
    for name in ALWAYS:
        changes = CHANGES[name]
        assert send(room, ROOM, "operate", text=BREAD, at=2, changes=changes)["bars"] != plain, name


@pytest.mark.parametrize("name", ["several", None])
def test_every_number_is_the_sum_of_its_terms_down_to_the_embeddings(room, name):
    bars = send(room, ROOM, "operate", text=BREAD, at=2, changes=CHANGES.get(name, []))["bars"]
    seen = walk(
        room,
        ROOM,
        {"t": "share", "id": bars[0]["id"]},
        {"t": "credit", "id": bars[0]["id"], "rival": 20},
        {"t": "head", "side": "encoder", "stage": "s1", "head": 2},
        {"t": "state", "side": "decoder", "stage": "x0", "i": 1, "k": 7},
    )
    kinds = {one["node"]["t"] for one in seen}
    assert kinds == {
        "share", "logit", "norm", "mean", "spread", "state", "embedding", "place", "wrote", "carried",
        "weight", "score", "project", "mlp", "neuron", "credit", "piece", "head",
    }  # fmt: skip


def test_the_value_of_a_node_is_that_of_the_trace(room):
    send(room, ROOM, "operate", text=BREAD, at=2, changes=CHANGES["several"])
    kept = send(room, ROOM, "kept")
    sides, met = {"encoder": kept["E"], "decoder": kept["T"]}, set()
    end = {"t": "state", "side": "encoder", "stage": "x2", "i": 2, "k": 5}
    for found in walk(room, ROOM, {"t": "share", "id": 20}, end, most=30):
        node = found["node"]
        trace, k, i = sides.get(node.get("side")), node.get("k"), node.get("i")
        if "text" in node:
            continue
        met.add((node["t"], node.get("side")))
        match node["t"]:
            case "share":
                assert found["value"] == pytest.approx(kept["shares"][node["id"]], abs=1e-9)
            case "logit":
                assert found["total"] == kept["T"]["logits"][2][node["id"]]
            case "state":
                assert found["total"] == trace["states"][node["stage"]][i][k]
            case "norm":
                assert found["total"] == trace["norms"][node["stage"]][i]["y"][k]
            case "wrote":
                assert found["total"] == trace["looks"][node["stage"]][i]["wrote"][node["head"]][k]
            case "score":
                own = trace["looks"][node["stage"]][i]["scores"][node["head"]]
                assert found["total"] == own[node["j"]]
            case "weight":
                own = trace["looks"][node["stage"]][i]["weights"][node["head"]]
                assert found["value"] == own[node["j"]]
    kinds = ("state", "norm", "wrote", "score", "weight")
    assert {(kind, side) for kind in kinds for side in sides} - met == set()


def test_a_word_of_the_new_translation_is_asked_behind_its_own_words(room, hooked):
    changes = [{"kind": "off", "part": part, "head": head} for part in CROSS for head in range(4)]
    new = hooked.write(BREAD, changes)
    assert new[:2] != hooked.write(BREAD)[:2]
    shown = send(room, ROOM, "operate", text=BREAD, at=2, anew=True, changes=changes)
    again, plain = hooked.run(BREAD, new[:2], changes), hooked.run(BREAD, new[:2])
    assert shown["anew"] and shown["bars"][0]["id"] == new[2]
    close(send(room, ROOM, "kept")["shares"], again["shares"], "shares")
    for bar in shown["bars"]:
        assert bar["before"] == pytest.approx(float(plain["shares"][bar["id"]]), abs=1e-5)
    found = send(room, ROOM, "origin", node={"t": "credit"})
    one, other = found["id"], found["rival"]
    assert (one, other) == (new[2], int(plain["logits"][-1].argmax()))
    for run, key, whole in ((again, "value", "total"), (plain, "before", "before")):
        lead = float(run["logits"][-1][one] - run["logits"][-1][other])
        assert found[whole] == pytest.approx(lead, abs=1e-4)
        assert sum(term[key] for term in found["terms"]) == pytest.approx(lead, abs=1e-4)
    assert not send(room, ROOM, "operate", text=BREAD, at=2, anew=True, changes=[])["anew"]


@pytest.mark.parametrize("name", ["several", "an MLP off", None])
def test_credit_is_the_difference_of_two_scores(room, hooked, name):
    changes = CHANGES.get(name, [])
    bars = send(room, ROOM, "operate", text=BREAD, at=1, changes=changes)["bars"]
    logits = hooked.run(BREAD, hooked.write(BREAD)[:1], changes)["logits"][-1]
    for one, other in itertools.permutations([bar["id"] for bar in bars[:3]], 2):
        found = send(room, ROOM, "origin", node={"t": "credit", "id": one, "rival": other})
        parts = [term["value"] for term in found["terms"]]
        assert len(parts) == 2 + 16 + 4 + 2 + 1
        assert sum(parts) == pytest.approx(float(logits[one] - logits[other]), abs=1e-4)
        assert sum(parts) == pytest.approx(found["total"], abs=1e-5)


def vector(hooked, state: str, i: int, text: str = BREAD) -> torch.Tensor:
    return hooked.run(text, [])["encoder"]["states"][state][i]


def nearest(hooked, x: torch.Tensor) -> list[tuple[str, float]]:
    table = hooked.model.source_embedding
    cosines = torch.cosine_similarity(table[2:], x[None]).detach()
    return [(hooked.system.source.tokens[k + 2], float(cosines[k])) for k in cosines.topk(5).indices]


def said(hooked, number: int) -> str:
    """What PyTorch writes with the changes of a stop."""
    stop = stops()[number - 1]
    words = hooked.system.target.tokens
    return " ".join(words[k] for k in hooked.write(stop["text"], stop["changes"]) if k != EOS)


def shares(hooked, number: int, changed: bool) -> dict[str, float]:
    """The shares of the next word at a stop."""
    stop = stops()[number - 1]
    written = hooked.write(stop["text"])[: stop["at"]]
    found = hooked.run(stop["text"], written, stop["changes"] if changed else ())["shares"]
    return dict(zip(hooked.system.target.tokens, found.tolist(), strict=True))


def stop_1(hooked):
    table, word = hooked.model.source_embedding, hooked.system.source.tokens.index("bread")
    assert [w for w, _ in nearest(hooked, table[word])][:2] == ["bread", "sushi"]
    assert [w for w, _ in nearest(hooked, vector(hooked, "x0", 3))][:2] == ["bread", "sushi"]
    assert {"eat", "beard"} <= set(hooked.system.source.tokens)


def stop_2(hooked):
    assert said(hooked, 2) == "el perro mordió al hombre ."
    plain = [hooked.system.target.tokens[k] for k in hooked.write("the man bit the dog")]
    assert " ".join(plain[:-2]) == "el hombre mordió al perro"
    other = hooked.run("the dog bit the man", [])["encoder"]["states"]["memory"]
    moved = hooked.run("the man bit the dog", [], stops()[1]["changes"])["encoder"]["states"]["memory"]
    close(moved[[0, 4, 2, 3, 1, 5, 6]].tolist(), other, "the memory of the other sentence")


def stop_3(hooked):
    row = hooked.run(BREAD, [])["encoder"]["looks"]["s1"]["weights"][:, 3]  # (H, 6): of "bread"
    assert round(float(row[2, 2]), 2) == 0.98
    assert all(int(row[head].argmax()) != 2 or head in (1, 2) for head in range(4))
    assert int(row[1].argmax()) == 2


def stop_4(hooked):
    (word, cosine), *_ = nearest(hooked, vector(hooked, "x2", 3))
    assert word == "bread" and round(cosine, 2) == 0.90


def stop_5(hooked):
    neurons = hooked.run(BREAD, [])["encoder"]["inner"]["x1"][3]
    assert int((neurons > 0).sum()) == 8 and len(neurons) == 640


def stop_6(hooked):
    assert vector(hooked, "memory", slice(None)).shape == (6, 192)


def stop_7(hooked):
    found = hooked.run(BREAD, hooked.write(BREAD)[:2])["decoder"]["looks"]
    for name in ("s0", "s1"):
        assert not found[name]["weights"].triu(1).any()


def stop_8(hooked):
    weights = hooked.run(BREAD, hooked.write(BREAD)[:2])["decoder"]["looks"]["c1"]["weights"]
    assert float(weights[:, 2, 3].min()) >= 0.965  # 0.97, rounded
    assert weights[:, 1].argmax(-1).tolist() == [2] * 4


def stop_9(hooked):
    logits = hooked.run(BREAD, hooked.write(BREAD)[:1])["logits"][-1]
    words = hooked.system.target.tokens
    first, second = (words[k] for k in logits.topk(2).indices)
    assert (first, second) == ("comiendo", "almorzando")
    assert round(float(logits.topk(2).values.diff().abs()), 2) == 4.01


def stop_10(hooked):
    assert said(hooked, 10) == "estamos comiendo pan ."
    assert round(shares(hooked, 10, False)["comiendo"], 2) == 0.97
    assert round(shares(hooked, 10, True)["comiendo"], 2) == 0.83


def stop_11(hooked):
    assert round(shares(hooked, 11, True)["comiendo"], 2) == 0.87
    weights = hooked.run(BREAD, hooked.write(BREAD)[:2], stops()[10]["changes"])["decoder"]["looks"]
    at_eating = weights["c1"]["weights"][:, 2, 2]  # where the key of "bread" is now
    assert (at_eating > 0.5).all()


def stop_12(hooked):
    assert said(hooked, 12) == "estamos comiendo vino ."
    assert round(shares(hooked, 12, True)["vino"], 2) == 0.88


# The right options, and the numbers that the reasons name.
RIGHT = {
    1: ("“sushi”",), 2: ("the reverse: el perro mordió al hombre",), 3: ("“eating”", "0.98"),
    4: ("“bread”", "0.90"), 5: ("8", "8", "632"), 6: ("six, one for each word and sign", "six", "192"),
    7: ("none",), 8: ("all at “bread”", "0.97"), 9: ("no part gives more than a fifth of it", "0.70"),
    10: ("still “comiendo”", "0.97", "0.83"), 11: ("“comiendo” once more", "0.87"),
    12: ("estamos comiendo vino", "0.88"),
}  # fmt: skip


@pytest.mark.parametrize("number", range(1, 13))
def test_what_a_stop_says_is_so_in_pytorch(hooked, number):
    stop, (right, *numbers) = stops()[number - 1], RIGHT[number]
    assert stop["options"][stop["answer"]] == right
    assert all(named in stop["because"] for named in numbers)
    globals()[f"stop_{number}"](hooked)


def test_what_the_page_invites_to_try_shows_something(hooked):
    words = hooked.system.target.tokens

    def written(text, changes):
        return " ".join(words[k] for k in hooked.write(text, changes) if k != EOS)

    swapped = [{"kind": "values", "part": part, "a": 1, "b": 4} for part in CROSS]
    bitten = [written(TEXTS[1], changes) for changes in (swapped, swapped[1:], swapped[:1])]
    assert bitten == ["el perro mordió al hombre ."] * 2 + ["el perro mordió al perro ."]
    verb = {"kind": "patch", "part": "encoder.memory", "at": 2, "text": "she drinks red wine", "from": 1}
    assert written(BREAD, [verb]) == "nosotros bebe pan ."
    late = {"kind": "patch", "at": 2, "text": "she drinks red wine", "from": 2}
    assert hooked.write("she drinks red wine")[1] == words.index("bebe")
    for stage, said in (("s1", "estamos comiendo pan ."), ("c1", "estamos comiendo vino .")):
        assert written(BREAD, [{**late, "part": f"decoder.{stage}"}]) == said


def test_the_largest_share_of_a_lead_is_what_stop_9_says(room):
    send(room, ROOM, "operate", text=BREAD, at=1, changes=[])
    found = send(room, ROOM, "origin", node={"t": "credit"})
    assert found["title"] == "Why “comiendo” and not “almorzando”"
    best = max(found["terms"], key=lambda term: term["value"])
    assert best["label"][0][0] == "cross-attention 2, head 2" and round(best["value"], 2) == 0.70
    assert best["value"] < found["total"] / 5
    assert any(term["value"] < -0.1 for term in found["terms"])


def test_the_bars_in_the_page_are_pytorchs(hooked):
    rows = next_words(hooked.system, hooked.system.tokens(BREAD))
    theirs = hooked.run(BREAD, [])["shares"].topk(5)
    assert [share for _, share, _ in rows] == pytest.approx(theirs.values.tolist(), abs=1e-6)
    assert [word for word, *_ in rows] == [hooked.system.target.tokens[k] for k in theirs.indices]
    assert SOS not in theirs.indices
