"""The course's own models through the same interface."""

from __future__ import annotations

import pytest
import torch

from seqcourse.decode import beam_search, greedy, sample, score
from seqcourse.models import AttentionSeq2Seq, CharLM, DelayedModel, EncoderDecoder
from seqcourse.tokens import EOS, SOS

from .toys import sources

SIZES = (12, 9, 6, 8)
MODELS = {
    "delayed": lambda: DelayedModel(*SIZES),
    "fixed context in the state": lambda: EncoderDecoder(*SIZES, context="state"),
    "fixed context": lambda: EncoderDecoder(*SIZES, context="separate"),
    "average context": lambda: EncoderDecoder(*SIZES, context="average"),
    "attention": lambda: AttentionSeq2Seq(*SIZES),
    "several heads": lambda: AttentionSeq2Seq(*SIZES, heads=2, score="general"),
    "local attention": lambda: AttentionSeq2Seq(*SIZES, window=2, score="dot", bidirectional=False),
}


def built(name):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MODELS[name]()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
        model.output_bias.data[EOS] += 2.0  # so that some outputs end
        return model.eval()


def forced(model, src, lengths, targets):
    """log P of the targets by one teacher-forced pass."""
    logits = model(src, lengths, torch.tensor([[SOS, *targets[:-1]]])).logits.log_softmax(-1)
    return logits[0, range(len(targets)), targets].sum().item()


@pytest.mark.parametrize("name", MODELS)
def test_log_probs_of_every_search_equal_teacher_forcing(name):
    model, (src, lengths) = built(name), sources(5, 4)
    memory = model.encode(src, lengths)
    beams = [h[0] for h in beam_search(model, memory, 4, max_len=12)]
    maker = torch.Generator().manual_seed(0)
    drawn = sample(model, memory, max_len=12, generator=maker)
    ended = []
    for hypotheses in (beams, greedy(model, memory, max_len=12), drawn):
        flags = [h.finished for h in hypotheses]
        again = score(model, memory, [h.tokens for h in hypotheses], flags).tolist()
        for row, (h, length) in enumerate(zip(hypotheses, lengths.tolist(), strict=True)):
            targets = [*h.tokens, *([EOS] if h.finished else [])]
            with torch.no_grad():
                exact = forced(model, src[row : row + 1, :length], lengths[row : row + 1], targets)
            assert again[row] == pytest.approx(exact, abs=1e-3)
            assert h.log_prob == pytest.approx(exact, abs=1e-3)
        ended += flags
    assert any(ended)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_a_character_model_is_sampled_from_a_prefix(kind):
    torch.manual_seed(0)
    model, prefix = CharLM(9, 4, 6, kind=kind).eval(), [4, 5, 6]
    maker = torch.Generator().manual_seed(0)
    for h in sample(model, None, prefix=prefix, batch_size=3, max_len=8, generator=maker):
        ids = [*prefix, *h.tokens, *([EOS] if h.finished else [])]
        with torch.no_grad():
            log_probs = model(torch.tensor([ids[:-1]])).logits.log_softmax(-1)[0]
        exact = log_probs[torch.arange(2, len(ids) - 1), ids[3:]].sum().item()
        assert h.log_prob == pytest.approx(exact, abs=1e-4)
