from __future__ import annotations

from dataclasses import dataclass

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch

from seqcourse import CourseError, viz

WORDS = ["<pad>", "<sos>", "<eos>", "<unk>", "estamos", "comiendo", "pan", "nosotros"]


@dataclass
class Candidate:
    parent: int | None
    token: int
    log_prob: float
    kept: bool
    finished: bool = False
    best: bool = False


def small_trace() -> list[list[Candidate]]:
    """Beam width 2: two paths end, the one that began less likely is returned."""
    return [
        [
            Candidate(None, 4, -0.5, True),
            Candidate(None, 7, -1.0, True, best=True),
            Candidate(None, 6, -3.0, False),
        ],
        [
            Candidate(0, 5, -1.5, True),
            Candidate(0, 6, -2.5, False),
            Candidate(1, 4, -1.1, True, best=True),
            Candidate(1, 6, -4.0, False),
        ],
        [Candidate(0, 2, -1.9, True, finished=True), Candidate(2, 2, -1.2, True, True, best=True)],
    ]


def by_text(ax) -> dict:
    return {text.get_text(): text for text in ax.texts}


def test_every_node_shows_its_word_and_log_probability_at_its_position():
    texts = by_text(viz.beam_tree(small_trace(), WORDS))
    assert texts["<sos>"].get_position()[0] == 0
    assert texts["estamos\n-0.50"].get_position()[0] == 1
    assert texts["estamos\n-1.10"].get_position()[0] == 2
    assert texts["<eos>\n-1.20"].get_position()[0] == 3
    assert len(texts) == 10


def test_best_path_finished_paths_and_pruned_ones_look_different():
    texts = by_text(viz.beam_tree(small_trace(), WORDS))
    colour = {name: to_hex(text.get_color()).upper() for name, text in texts.items()}
    best = {"nosotros\n-1.00", "estamos\n-1.10", "<eos>\n-1.20"}
    other = {"estamos\n-0.50", "comiendo\n-1.50", "<eos>\n-1.90"}
    assert {colour[name] for name in best} == {viz.COLOURS["vermillion"]}
    assert {colour[name] for name in other} == {viz.COLOURS["blue"]}
    assert colour["pan\n-3.00"] not in viz.COLOURS.values()
    assert {texts[name].get_fontweight() for name in best} == {"bold"}


def test_best_limits_what_is_highlighted():
    texts = by_text(viz.beam_tree(small_trace(), WORDS, best=1))
    assert to_hex(texts["<eos>\n-1.90"].get_color()).upper() == viz.COLOURS["ink"]
    assert to_hex(texts["<eos>\n-1.20"].get_color()).upper() == viz.COLOURS["vermillion"]


def test_edges_join_each_node_to_its_own_parent():
    ax = viz.beam_tree(small_trace(), WORDS)
    place = {name: tuple(text.get_position()) for name, text in by_text(ax).items()}
    edges = {
        (tuple(patch.get_path().vertices[0]), tuple(patch.get_path().vertices[-1]))
        for patch in ax.patches
        if isinstance(patch, PathPatch)
    }
    assert (place["<sos>"], place["nosotros\n-1.00"]) in edges
    assert (place["nosotros\n-1.00"], place["estamos\n-1.10"]) in edges
    assert (place["estamos\n-1.10"], place["<eos>\n-1.20"]) in edges
    assert len(edges) == 9


def test_no_two_nodes_stand_on_the_same_place_and_siblings_are_in_order():
    ax = viz.beam_tree(small_trace(), WORDS)
    places = [text.get_position() for text in ax.texts]
    assert len(set(places)) == len(places)
    texts = by_text(ax)
    heights = [
        texts[name].get_position()[1] for name in ("estamos\n-0.50", "nosotros\n-1.00", "pan\n-3.00")
    ]
    assert heights == sorted(heights)
    assert ax.yaxis_inverted()


def test_a_wide_beam_is_thinned_until_it_can_be_read_but_keeps_what_was_kept():
    wide = [[Candidate(None, 4, -float(i), i < 8) for i in range(40)]]
    wide.append([Candidate(p, 5, -10.0 - p - i / 100, i == 0) for p in range(8) for i in range(40)])
    shown = by_text(viz.beam_tree(wide, WORDS))
    assert len(shown) < 45
    assert all(f"comiendo\n{-10.0 - p:.2f}" in shown for p in range(8))
    assert len(by_text(viz.beam_tree(wide, WORDS, pruned=1))) == 1 + 8 + 1 + 8 + 8


def test_a_search_that_was_cut_off_highlights_the_likeliest_open_path():
    trace = [[Candidate(None, 4, -0.5, True), Candidate(None, 7, -0.7, True)]]
    texts = by_text(viz.beam_tree(trace, WORDS))
    assert to_hex(texts["estamos\n-0.50"].get_color()).upper() == viz.COLOURS["vermillion"]
    assert to_hex(texts["nosotros\n-0.70"].get_color()).upper() == viz.COLOURS["ink"]


def test_nodes_may_be_mappings_and_the_legend_names_what_is_there():
    trace = [[vars(node) for node in step] for step in small_trace()]
    ax = viz.beam_tree(trace, dict(enumerate(WORDS)), title="Beam")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["best path", "other finished paths", "pruned"]


def test_a_trace_of_a_real_search_can_be_drawn():
    torch = pytest.importorskip("torch")
    decode = pytest.importorskip("seqcourse.decode")

    class Step:
        def __init__(self, logits, state):
            self.logits, self.state, self.weights = logits, state, None

    class Chain:
        """P(next | last) from a table; a language model without memory."""

        table = torch.tensor([[-9.0, -9, 0, -9, 2, 1, 0.5, 1]] * 4 + [[-9.0, -9, 2, -9, 0, 1, 1, 0]] * 4)

        def start(self, memory, batch_size=1):
            return torch.zeros(batch_size, 1)

        def step(self, tokens, state, memory):
            return Step(self.table[tokens], state)

    trace: list = []
    best = decode.beam_search(Chain(), None, beam_width=3, max_len=5, trace=trace)[0][0]
    ax = viz.beam_tree(trace, WORDS)
    marked = [text for text in ax.texts if to_hex(text.get_color()).upper() == viz.COLOURS["vermillion"]]
    words = [
        text.get_text().split("\n")[0] for text in sorted(marked, key=lambda text: text.get_position())
    ]
    assert words == [WORDS[token] for token in best.tokens] + ["<eos>"] * best.finished
    last = max(marked, key=lambda text: text.get_position()).get_text()
    assert last.endswith(f"{best.log_prob:.2f}")


def test_a_trace_that_makes_no_sense_is_refused_with_a_sentence():
    with pytest.raises(CourseError, match="trace is empty"):
        viz.beam_tree([], WORDS)
    trace = small_trace()
    trace[1][0].parent = 7
    with pytest.raises(CourseError, match="parent 7"):
        viz.beam_tree(trace, WORDS)
    with pytest.raises(CourseError, match="no word for token 7"):
        viz.beam_tree(small_trace(), WORDS[:7])
    with pytest.raises(CourseError, match="no 'log_prob'"):
        viz.beam_tree([[{"parent": None, "token": 4}]], WORDS)
