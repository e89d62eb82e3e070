"""Beam search: against the whole tree, against a slow version, and its promises one by one."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqcourse.decode import beam_search, exhaustive_search, greedy, score, select
from seqcourse.tokens import EOS

from .toys import A, B, C, Tables, Written, recurrent, sources

seeds = st.integers(0, 10_000)
alphas = st.sampled_from([0.0, 0.6, 1.0, 2.0])


def told(hypotheses):
    return [(h.tokens, h.finished) for h in hypotheses]


def slow_beam_search(tables, sentence, width, n_best, alpha, max_len):
    """One sentence, one path at a time, to the very end; as plain as can be."""
    beam, ended = [((), 0.0, False)], []
    for length in range(1, max_len + 1):
        candidates = []
        for tokens, total, finished in beam:
            if finished:
                candidates.append((tokens, total, True))
                continue
            for token in range(2, tables.vocabulary):
                longer = tables.log_prob(sentence, [*tokens, token], finished=False)
                candidates.append(((*tokens, token), longer, token == EOS))
        beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        for tokens, total, finished in beam:
            if finished and len(tokens) == length:
                ended.append((tokens, total / length**alpha))
    cut = [(tokens, total / max_len**alpha) for tokens, total, done in beam if not done]
    ended.sort(key=lambda pair: -pair[1])
    cut.sort(key=lambda pair: -pair[1])
    best = [([t for t in tokens if t != EOS], s, True) for tokens, s in ended]
    best += [(list(tokens), s, False) for tokens, s in cut]
    return best[:n_best]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, depth=st.integers(1, 4), alpha=alphas, n_best=st.integers(1, 5))
def test_a_beam_as_wide_as_the_tree_finds_what_exhaustive_search_finds(seed, depth, alpha, n_best):
    tables = Tables(vocabulary=5, depth=depth, sentences=2, seed=seed)
    options = {"n_best": n_best, "length_penalty": alpha, "max_len": depth}
    found = beam_search(tables, tables.memory, beam_width=3**depth + n_best, **options)
    oracle = exhaustive_search(tables, tables.memory, **options)
    for ours, theirs in zip(found, oracle, strict=True):
        assert told(ours) == told(theirs)
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs])
        assert [h.log_prob for h in ours] == pytest.approx([h.log_prob for h in theirs])


@settings(max_examples=25, deadline=None)
@given(seed=seeds, width=st.integers(1, 5), alpha=alphas, data=st.data())
def test_batched_search_equals_the_slow_one(seed, width, alpha, data):
    n_best = data.draw(st.integers(1, width))
    tables = Tables(vocabulary=6, depth=4, sentences=3, seed=seed)
    found = beam_search(tables, tables.memory, width, n_best, alpha, max_len=4)
    for sentence, hypotheses in enumerate(found):
        expected = slow_beam_search(tables, sentence, width, n_best, alpha, max_len=4)
        assert [(h.tokens, h.finished) for h in hypotheses] == [(t, f) for t, _, f in expected]
        assert [h.score for h in hypotheses] == pytest.approx([s for _, s, _ in expected])


def test_exhaustive_search_finds_the_best_of_all_written_out():
    tables = Tables(vocabulary=5, depth=3, seed=4)
    outputs = [[], *([a] for a in (A, B)), *([a, b] for a in (A, B) for b in (A, B))]
    ranked = sorted(outputs, key=lambda tokens: -tables.log_prob(0, tokens, True) / (len(tokens) + 1))
    (found,) = exhaustive_search(tables, tables.memory, max_len=3, n_best=7)
    assert [h.tokens for h in found] == ranked
    assert all(h.finished for h in found)


# The likeliest sentence begins with the least likely word.
TRAP = Written(
    {
        (): {A: 0.4, B: 0.35, C: 0.25},
        (A,): {A: 0.3, B: 0.3, EOS: 0.4},
        (B,): {A: 0.4, B: 0.25, EOS: 0.35},
        (C,): {EOS: 0.9, A: 0.1},
    }
    | {(x, y): {EOS: 1.0} for x in (A, B, C) for y in (A, B, C)}
)


def test_beam_search_is_not_optimal():
    (best,) = exhaustive_search(TRAP, None, max_len=4, length_penalty=0.0)
    assert best[0].tokens == [C]
    assert math.exp(best[0].log_prob) == pytest.approx(0.25 * 0.9)
    (narrow,) = beam_search(TRAP, None, beam_width=2, length_penalty=0.0)
    assert narrow[0].tokens == [A]
    assert math.exp(narrow[0].log_prob) == pytest.approx(0.4 * 0.4)
    (wide,) = beam_search(TRAP, None, beam_width=3, length_penalty=0.0)
    assert told(wide) == told(best)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, stop=st.sampled_from(["n_best", "first"]))
def test_a_beam_of_one_is_greedy(seed, stop):
    tables = Tables(vocabulary=6, depth=4, sentences=4, seed=seed)
    assert [[h] for h in greedy(tables, tables.memory, max_len=4)] == beam_search(
        tables, tables.memory, beam_width=1, max_len=4, stop=stop
    )
    model, (src, lengths) = recurrent(seed % 10), sources(seed, 3)
    memory = model.encode(src, lengths)
    assert [[h] for h in greedy(model, memory, max_len=9)] == beam_search(
        model, memory, beam_width=1, max_len=9, stop=stop
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_sentence_gets_the_same_in_a_padded_batch_and_alone(seed):
    model, (src, lengths) = recurrent(seed), sources(seed, 6)
    together = beam_search(model, model.encode(src, lengths), 4, n_best=3, max_len=10)
    for row, length in enumerate(lengths.tolist()):
        memory = model.encode(src[row : row + 1, :length], lengths[row : row + 1])
        (alone,) = beam_search(model, memory, 4, n_best=3, max_len=10)
        assert told(together[row]) == told(alone)
        for ours, theirs in zip(together[row], alone, strict=True):
            assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-4)
            torch.testing.assert_close(ours.weights[:, :length], theirs.weights, atol=1e-5, rtol=0)
            assert not ours.weights[:, length:].any()


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_log_prob_is_what_score_recomputes_and_score_is_normalised(alpha):
    model, (src, lengths) = recurrent(3), sources(3, 5)
    memory = model.encode(src, lengths)
    found = beam_search(model, memory, 4, n_best=4, length_penalty=alpha, max_len=5)
    rows = torch.tensor([row for row, hypotheses in enumerate(found) for _ in hypotheses])
    flat = [h for hypotheses in found for h in hypotheses]
    assert {h.finished for h in flat} == {True, False}
    again = score(model, select(memory, rows), [h.tokens for h in flat], [h.finished for h in flat])
    assert [h.log_prob for h in flat] == pytest.approx(again.tolist(), abs=1e-4)
    for h in flat:
        assert h.score == pytest.approx(h.log_prob / (len(h.tokens) + h.finished) ** alpha)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_weights_follow_their_path_through_all_reordering(width):
    tables = Tables(vocabulary=6, depth=5, sentences=3, seed=8)
    for sentence, hypotheses in enumerate(
        beam_search(tables, tables.memory, width, n_best=width, max_len=5)
    ):
        for h in hypotheses:
            expected = tables.weights_along(sentence, h.tokens)
            torch.testing.assert_close(h.weights, expected, atol=0, rtol=0)


@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_hypotheses_differ_and_come_best_first(seed):
    tables = Tables(vocabulary=6, depth=4, sentences=2, seed=seed)
    for hypotheses in beam_search(tables, tables.memory, 8, n_best=8, max_len=4):
        assert len({tuple(h.tokens) for h in hypotheses}) == len(hypotheses) == 8
        order = [(not h.finished, -h.score) for h in hypotheses]
        assert order == sorted(order)


def test_what_is_impossible_is_never_chosen():
    model = Written({(): {A: 0.7, B: 0.3}, (A,): {EOS: 1.0}, (B,): {EOS: 1.0}})
    (found,) = beam_search(model, None, beam_width=6, n_best=6)
    assert [h.tokens for h in found] == [[A], [B]]  # two outputs exist, so two come back


def test_among_equals_the_lower_id_wins():
    even = {A: 0.25, B: 0.25, C: 0.25, EOS: 0.25}
    prefixes = [(), *((x,) for x in (A, B, C)), *((x, y) for x in (A, B, C) for y in (A, B, C))]
    model = Written({prefix: even for prefix in prefixes}, vocabulary=9)
    (found,) = beam_search(model, None, beam_width=4, n_best=4, max_len=3, length_penalty=0.0)
    # step 1 keeps <eos>, A, B, C; afterwards <eos> holds its place and A <eos>, A A, ... are all
    # less likely than A, B and C were, equal among themselves: those of A come first
    assert [(h.tokens, h.finished) for h in found] == [
        ([], True),
        ([A], True),
        ([A, A], True),
        ([A, A, A], False),
    ]
    assert greedy(model, None, max_len=3)[0].tokens == []


def test_exact_ties_rank_the_same_in_both_searches():
    """Paths of equal probability by other ways."""
    model = Written(
        {
            (): {A: 0.25, B: 0.5, EOS: 0.25},
            (A,): {A: 0.5, B: 0.5},
            (B,): {A: 0.25, B: 0.25, EOS: 0.5},
            **{(x, y): {EOS: 0.5, A: 0.25, B: 0.25} for x in (A, B) for y in (A, B)},
        }
    )
    options = dict(n_best=20, max_len=3, length_penalty=0.0)
    (beam,) = beam_search(model, None, beam_width=20, **options)
    (whole,) = exhaustive_search(model, None, **options)
    assert [hypothesis.tokens for hypothesis in beam] == [hypothesis.tokens for hypothesis in whole]
    assert len({hypothesis.log_prob for hypothesis in whole}) < len(whole) / 2  # many ties


def test_a_model_that_needs_a_memory_asks_for_it():
    with pytest.raises(ValueError, match=r"memory = model.encode\(src, src_lengths\)"):
        beam_search(recurrent(), None)


def test_many_equals_beyond_what_topk_looks_at():
    from seqcourse.decode.choosing import best

    logits = torch.zeros(2, 500)
    logits[1, 400] = 1.0
    values, ids = best(logits, 3)
    assert ids.tolist() == [[0, 1, 2], [400, 0, 1]]
    assert values.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_max_len_cuts_paths_off_and_says_so():
    endless = Written(
        {(A,) * n: {A: 0.9, B: 0.1} for n in range(6)} | {(A,) * n + (B,): {A: 1.0} for n in range(6)}
    )
    (found,) = beam_search(endless, None, beam_width=1, max_len=5)
    assert told(found) == [([A] * 5, False)]
    assert found[0].score == pytest.approx(math.log(0.9))
    assert told(greedy(endless, None, max_len=5)) == told(found)


def test_a_path_that_ended_comes_before_one_that_was_cut_off():
    model = Written({(): {A: 0.9, EOS: 0.1}, (A,): {A: 1.0}, (A, A): {A: 1.0}})
    (found,) = beam_search(model, None, beam_width=2, n_best=2, max_len=3, length_penalty=0.0)
    assert told(found) == [([], True), ([A, A, A], False)]
    assert found[0].log_prob < found[1].log_prob


def test_stop_first_returns_the_likeliest_path_that_ended_n_best_goes_on():
    model = Written(
        {
            (): {A: 0.6, B: 0.4},
            (A,): {EOS: 0.6, C: 0.4},
            (B,): {C: 1.0},
            (A, C): {EOS: 1.0},
            (B, C): {C: 1.0},
            (B, C, C): {EOS: 1.0},
        }
    )
    # after two steps: "B C" 0.40, "A <eos>" 0.36; after three "B C C" 0.40; then it ends
    (first,) = beam_search(model, None, beam_width=2, stop="first", length_penalty=0.0)
    assert told(first) == [([B, C, C], True)]
    shorter = Written(model.probabilities | {(B,): {C: 0.5, A: 0.5}, (B, A): {EOS: 1.0}})
    trace = []
    (first,) = beam_search(shorter, None, beam_width=2, stop="first", trace=trace)
    assert told(first) == [([A], True)]
    assert len(trace) == 2  # "A <eos>" 0.36 led after two steps, so the search stopped there
    (best,) = beam_search(shorter, None, beam_width=2, n_best=2)
    assert told(best) == [([A, C], True), ([A], True)]  # 0.24 ** (1/3) > 0.36 ** (1/2)


def test_length_penalty_decides_between_short_and_long():
    model = Written(
        {(): {EOS: 0.4, A: 0.6}, (A,): {A: 0.6, B: 0.4}, (A, A): {EOS: 1.0}, (A, B): {EOS: 1.0}}
    )
    short = beam_search(model, None, beam_width=3, length_penalty=0.0)[0][0]
    long = beam_search(model, None, beam_width=3, length_penalty=1.0)[0][0]
    assert (short.tokens, long.tokens) == ([], [A, A])
    assert short.score == pytest.approx(math.log(0.4))
    assert long.score == pytest.approx(math.log(0.36) / 3)


def test_the_encoder_runs_once_and_the_model_starts_once():
    model, (src, lengths) = recurrent(0), sources(0, 4)
    beam_search(model, model.encode(src, lengths), beam_width=3, max_len=6)
    assert (model.encoded, model.started) == (1, 1)


def test_paths_and_sentences_that_ended_are_not_stepped():
    tables = Tables(vocabulary=6, depth=4, sentences=2, seed=1)
    tables.logits[0, :, EOS] = 50.0  # the first sentence ends at once
    tables.logits[1, :, EOS] = float("-inf")  # the second never does
    beam_search(tables, tables.memory, beam_width=1, max_len=4)
    assert tables.rows_stepped == 2 + 1 + 1 + 1
    tables.rows_stepped = 0
    greedy(tables, tables.memory, max_len=4)
    assert tables.rows_stepped == 2 + 1 + 1 + 1


def test_the_search_ends_when_nothing_can_come_in_any_more():
    tables = Tables(vocabulary=6, depth=4, sentences=1, seed=1)
    tables.logits[0, :, EOS] = float("-inf")
    tables.logits[0, 0, EOS] = 20.0
    beam_search(tables, tables.memory, beam_width=3, max_len=4, length_penalty=0.0)
    assert tables.rows_stepped == 1  # <eos> at once; no longer path can be as probable again


def test_prefix_and_batch_size_for_a_language_model():
    model = Written({(): {A: 1.0}, (A,): {B: 0.8, EOS: 0.2}, (A, B): {EOS: 1.0}})
    (from_start,) = beam_search(model, None, beam_width=2)
    (after_a,) = beam_search(model, None, beam_width=2, prefix=[1, A])
    assert (from_start[0].tokens, after_a[0].tokens) == ([A, B], [B])
    assert after_a[0].log_prob == pytest.approx(math.log(0.8))
    assert beam_search(model, None, beam_width=2, batch_size=3) == [from_start] * 3


def test_forbidden_words_are_not_chosen_and_change_no_log_probability():
    (found,) = beam_search(TRAP, None, beam_width=3, forbid=[A, C], length_penalty=0.0)
    assert found[0].tokens == [B]
    assert math.exp(found[0].log_prob) == pytest.approx(0.35 * 0.35)
    assert told(exhaustive_search(TRAP, None, 4, length_penalty=0.0, forbid=[A, C])[0]) == told(found)


def test_trace_is_the_tree():
    tables = Tables(vocabulary=6, depth=4, sentences=1, seed=11)
    trace = []
    (found,) = beam_search(tables, tables.memory, 3, n_best=3, max_len=4, trace=trace)
    paths, beam = [{None: []}], 1
    for before, step in zip([[]] + trace, trace, strict=False):
        paths.append({})
        for place, node in enumerate(step):
            if node.parent is not None:
                assert before[node.parent].kept and not before[node.parent].finished
            tokens = [*paths[-2][node.parent], node.token]
            paths[-1][place] = tokens
            assert node.finished == (node.token == EOS)
            assert node.log_prob == pytest.approx(tables.log_prob(0, tokens, finished=False), abs=1e-5)
        kept = sorted((n.log_prob for n in step if n.kept), reverse=True)
        dropped = [n.log_prob for n in step if not n.kept]
        assert len(kept) <= 3 and min(kept) >= max(dropped, default=-math.inf)
        beam = max(beam, len(kept))
    assert beam == 3
    first = found[0]
    spelled = [*first.tokens, EOS] if first.finished else first.tokens
    assert [[node.token for node in step if node.best] for step in trace][: len(spelled)] == [
        [token] for token in spelled
    ]
    assert not any(node.best for step in trace[len(spelled) :] for node in step)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beam_width": 0}, "beam_width should be a whole number of at least 1, but it is 0"),
        ({"beam_width": 2.5}, "beam_width should be a whole number"),
        ({"n_best": 0}, "n_best should be a whole number of at least 1"),
        ({"n_best": 6}, "n_best is 6, but a beam of width 5"),
        ({"n_best": 2, "stop": "first"}, "stop='first' ends the search with one hypothesis"),
        ({"stop": "never"}, "stop should be 'n_best' or 'first', but it is 'never'"),
        ({"max_len": 0}, "max_len should be a whole number"),
        ({"length_penalty": -1.0}, "length_penalty should be a finite number of at least 0"),
        ({"length_penalty": math.nan}, "length_penalty should be a finite number of at least 0"),
        ({"batch_size": 2}, "batch_size is 2, but the memory holds 3 sentences"),
        ({"prefix": []}, "prefix is empty"),
        ({"forbid": [77]}, "forbid names token 77, but the model's vocabulary has the ids 0 to 5"),
        ({"forbid": [2, 3, 4, 5]}, "sentence 0 has no output"),
        ({"prefix": ["a"]}, "prefix should be a list of ids"),
        ({"trace": []}, "trace records the tree of one sentence, but there are 3"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(arguments, message):
    tables = Tables(vocabulary=6, depth=2, sentences=3)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        beam_search(tables, tables.memory, **{"max_len": 2} | arguments)


def test_exhaustive_search_refuses_a_tree_that_is_too_large():
    model, (src, lengths) = recurrent(0, vocabulary=150), sources(0, 1)
    with pytest.raises(ValueError, match="more than 1,000,000. Choose a smaller max_len"):
        exhaustive_search(model, model.encode(src, lengths), max_len=4)
