"""How fast do we decode? Beam search beside HF transformers' generate, and the cache beside recomputing.

    seqcourse bench decoding

1. Beam search with 5 beams, 100 sentences at once, 12 tokens: a Transformer of 5.4 M parameters with
   random weights, and a Marian model of HF transformers of the same shape, through its ``generate``;
   both write 12 tokens on every beam (<eos> is forbidden). Needs the library transformers, an extra.
2. Greedy writing of 128 tokens by a GPT of 1.1 M parameters, sixteen texts at once and one alone: with
   its key-value cache, and reading everything again for every token.

Exit code 1 when, in three of four turns, ours is less than 1.5 times as fast as generate, or the cache
less than 5 times as fast as recomputing sixteen texts. For one text of so small a model there is no bar:
a step with the cache is then mostly the time of the calls, which no cache saves.

About 1 minute on two idle cores.
"""

from __future__ import annotations

import sys

import torch
from _bars import missed
from _side_by_side import in_turns, machine, medians, ratios, take_turns, write

import seqcourse
from seqcourse import data, decode, models

SENTENCES, LENGTH, BEAMS, TOKENS = 100, 10, 5, 12
WIDTH, HEADS, LAYERS, HIDDEN = 192, 4, 2, 1920
SOURCE, TARGET = 3159, 5089  # vocabularies of en-es
WRITTEN = 128
TURNS = 5


def beams() -> dict:
    """name -> one beam search over all sentences."""
    try:
        from transformers import MarianConfig, MarianMTModel
    except ImportError:
        print("HF transformers is not here, so its generate is left out: pip install transformers")
        MarianMTModel = None
    device = seqcourse.device()
    seqcourse.seed_everything(0)
    src = torch.randint(4, SOURCE, (SENTENCES, LENGTH), device=device)
    lengths = torch.full((SENTENCES,), LENGTH, device=device)
    ours = models.Transformer(SOURCE, TARGET, WIDTH, HEADS, LAYERS, hidden=HIDDEN).to(device).eval()

    def search() -> None:
        with torch.inference_mode():
            found = decode.beam_search(
                ours, ours.encode(src, lengths), BEAMS, max_len=TOKENS, forbid=(data.PAD, data.EOS)
            )
        assert all(len(best[0].tokens) == TOKENS for best in found)

    runs = {"ours": search}
    if MarianMTModel is not None:
        config = MarianConfig(
            vocab_size=SOURCE,
            decoder_vocab_size=TARGET,
            share_encoder_decoder_embeddings=False,
            d_model=WIDTH,
            encoder_layers=LAYERS,
            decoder_layers=LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=HIDDEN,
            decoder_ffn_dim=HIDDEN,
            max_position_embeddings=64,
            pad_token_id=data.PAD,
            eos_token_id=data.EOS,
            decoder_start_token_id=data.SOS,
        )
        theirs = MarianMTModel(config).to(device).eval()
        mask = torch.ones_like(src)

        def generate() -> None:
            with torch.inference_mode():
                out = theirs.generate(
                    input_ids=src,
                    attention_mask=mask,
                    num_beams=BEAMS,
                    min_new_tokens=TOKENS,
                    max_new_tokens=TOKENS,
                    do_sample=False,
                )
            assert out.shape == (SENTENCES, TOKENS + 1)

        runs["HF generate"] = generate
    return runs


def writing(texts: int) -> dict:
    """name -> greedy writing of WRITTEN tokens, with and without the cache; the same tokens."""
    device = seqcourse.device()
    seqcourse.seed_everything(0)
    model = models.GPT(2000, 128, 4, 4, longest=WRITTEN + 1).to(device).eval()
    first = torch.arange(5, 5 + texts, device=device)[:, None]
    written: dict[str, torch.Tensor] = {}

    @torch.inference_mode()
    def cached() -> None:
        tokens, state = first, model.start(batch_size=texts)
        for _ in range(WRITTEN):
            out = model.step(tokens[:, -1], state)
            state = out.state
            tokens = torch.cat([tokens, out.logits.argmax(-1, keepdim=True)], 1)
        written["cached"] = tokens

    @torch.inference_mode()
    def again() -> None:
        tokens = first
        for _ in range(WRITTEN):
            logits = model(tokens).logits[:, -1]
            tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], 1)
        written["again"] = tokens

    cached(), again()
    assert torch.equal(written["cached"], written["again"])
    return {"with the cache": cached, "everything again": again}


def main() -> int:
    """Measure, print, and write the result."""
    result: dict = {"machine": machine(), "turns": TURNS}
    bad = 0
    for name, runs, to, most in (
        ("beam search", beams(), "HF generate", 1 / 1.5),
        ("greedy, 16 texts", writing(16), "everything again", 1 / 5),
        ("greedy, one text", writing(1), "everything again", None),
    ):
        found = take_turns(runs, TURNS)
        to = to if to in runs else next(iter(runs))
        row = {"seconds": medians(found), "time_ratio": ratios(found, to)}
        if name == "beam search":
            row["sentences_per_second"] = {k: round(SENTENCES / s) for k, s in row["seconds"].items()}
        result[name] = row
        mine = next(iter(runs))
        bad += to != mine and most is not None and missed(in_turns(found, mine, to), most)
        for run in runs:
            print(
                f"{name}, {run:>18}: {row['seconds'][run]:.3f} s, "
                f"{1 / row['time_ratio'][run]:.2f} x as fast as {to}",
                flush=True,
            )
    write("decoding", result)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
