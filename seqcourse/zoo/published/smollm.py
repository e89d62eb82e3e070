"""SmolLM2-135M (Ben Allal et al. 2025), read from its .gguf file into our own decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqcourse import decode
from seqcourse.errors import CourseError
from seqcourse.models import GPT, TODAY
from seqcourse.nn.multi_head import Cache
from seqcourse.settings import device
from seqcourse.zoo.published.packages import found, package

# <|endoftext|>, <|im_start|> and <|im_end|>: a text ends there.
ENDS = (0, 1, 2)

# The form of the conversations on which the model was tuned, as its file gives it.
_TURN = "<|im_start|>{}\n{}<|im_end|>\n"
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def chat(text: str) -> str:
    """The prompt in which a person says the text and it is the model's turn."""
    return _TURN.format("system", SYSTEM) + _TURN.format("user", text) + "<|im_start|>assistant\n"


@dataclass
class SmolLM:
    """The language model and its tokenizer: text in, text out.

    Attributes:
        model: in evaluation mode.
        tokenizer: of the ``tokenizers`` library, byte-level BPE with 49,152 tokens.
    """

    model: GPT
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.model.embedding.device

    def ids(self, text: str) -> Tensor:
        """A text's tokens, (1, T).

        Raises:
            CourseError: if the text is empty.
        """
        ids = self.tokenizer.encode(text).ids
        if not ids:
            raise CourseError("Expected a text of at least one character, but it is empty.")
        return torch.tensor([ids], device=self.device)

    def complete(
        self,
        prompt: str,
        length: int = 20,
        *,
        stop: str | None = None,
        temperature: float = 0.0,
        top_p: float | None = None,
        seed: int = 0,
    ) -> str:
        """What the model writes after a prompt (the prompt is not repeated).

        Args:
            prompt: the text to continue.
            length: the most tokens to write.
            stop: cut the answer before this text, for instance a line feed.
            temperature: 0 takes the most likely token each time; above, tokens are drawn.
            top_p: see ``decode.filter_logits``.
            seed: the same seed draws the same text.
        """
        ids = self.ids(prompt)
        with torch.inference_mode():
            _, state = self.model.run(ids[:, :-1], self.model.start(batch_size=1))
        reader = _AfterPrompt(self.model, state)
        options = dict(max_len=length, prefix=ids[0, -1:], batch_size=1)
        if temperature == 0:
            written = decode.greedy(reader, None, **options)[0]
        else:
            generator = torch.Generator(self.device).manual_seed(seed)
            written = decode.sample(
                reader, None, temperature, top_p=top_p, generator=generator, **options
            )[0]
        tokens = written.tokens
        end = next((at for at, token in enumerate(tokens) if token in ENDS), len(tokens))
        text = self.tokenizer.decode(tokens[:end])
        return text if stop is None else text.split(stop)[0]

    def complete_all(self, prompts: Sequence[str], length: int = 20) -> list[str]:
        """What the model writes after each of several prompts, always the most likely token.

        Prompts of equal length are read and continued together.
        """
        rows, texts = [self.ids(prompt) for prompt in prompts], {}
        for size in {row.shape[1] for row in rows}:
            which = [k for k, row in enumerate(rows) if row.shape[1] == size]
            batch, written = torch.cat([rows[k] for k in which]), []
            with torch.inference_mode():
                _, state = self.model.run(batch[:, :-1], self.model.start(batch_size=len(which)))
                token, ended = batch[:, -1], torch.zeros(len(which), dtype=torch.bool)
                while len(written) < length and not ended.all():
                    output = self.model.step(token, state, None)
                    token, state = output.logits.argmax(-1), output.state
                    written.append(token.tolist())
                    ended |= torch.isin(token.cpu(), torch.tensor(ENDS))
            for k, tokens in zip(which, zip(*written, strict=True), strict=True):
                end = next((at for at, token in enumerate(tokens) if token in ENDS), len(tokens))
                texts[k] = self.tokenizer.decode(list(tokens[:end]))
        return [texts[k] for k in range(len(prompts))]

    def next_words(self, prompt: str, count: int = 5) -> list[tuple[str, float]]:
        """The most likely next tokens after a prompt, and their probabilities."""
        with torch.inference_mode():
            probabilities = self.model(self.ids(prompt)).logits[0, -1].softmax(-1)
        values, ids = probabilities.topk(count)
        pairs = zip(ids.tolist(), values.tolist(), strict=True)
        return [(self.tokenizer.decode([token]), value) for token, value in pairs]

    def hits(self, prefix: str, pairs: Sequence[tuple[str, str]], sign: str) -> list[bool]:
        """Whether the most likely continuation of ``prefix + question + sign`` begins with the answer.

        The prefix is read once; all questions share its keys and values. No text is written: the greedy
        answer is right exactly if each token of the right answer is the most likely one after the
        tokens before it, which one pass over the right answer shows.

        Args:
            prefix: a description and examples, ending in a line feed.
            pairs: questions and answers.
            sign: the text after a question.
        """
        ids = self.ids(prefix)
        asked = [self.ids(f"{question}{sign}")[0] for question, _ in pairs]
        answers = [self.ids(f" {answer}")[0] for _, answer in pairs]
        rows = [torch.cat(both) for both in zip(asked, answers, strict=True)]
        # Padding is at the end, where no real token looks.
        batch = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        with torch.inference_mode():
            _, state = self.model.run(ids, self.model.start(batch_size=1))
            state = tuple(
                (k.expand(len(rows), -1, -1, -1), v.expand(len(rows), -1, -1, -1)) for k, v in state
            )
            likely = self.model.run(batch, state)[0].logits.argmax(-1)  # (B, n): of the next token
        return [
            torch.equal(likely[row, len(q) - 1 : len(q) + len(a) - 1], a)
            for row, (q, a) in enumerate(zip(asked, answers, strict=True))
        ]


class _AfterPrompt:
    """The model for ``decode``, after it has read the prompt."""

    def __init__(self, model: GPT, state: tuple[Cache, ...]) -> None:
        self.step = model.step
        self.state = state

    def start(self, memory: None = None, batch_size: int | None = None) -> tuple[Cache, ...]:
        return self.state


def load_smollm(folder: Path | None = None) -> SmolLM:
    """Load SmolLM2-135M-Instruct on the course's device.

    Args:
        folder: of the package's files; searched for if not given.

    Raises:
        CourseError: if the files or the ``gguf`` library are missing.
    """
    path = found("smollm2", folder) / package("smollm2").inside[0]
    fields, tensors = read_gguf(path)
    state = gpt_from_gguf(
        tensors,
        heads=fields["llama.attention.head_count"],
        groups=fields["llama.attention.head_count_kv"],
    )
    with torch.device("meta"):
        model = GPT(
            len(fields["tokenizer.ggml.tokens"]),
            fields["llama.embedding_length"],
            fields["llama.attention.head_count"],
            fields["llama.block_count"],
            groups=fields["llama.attention.head_count_kv"],
            hidden=fields["llama.feed_forward_length"],
            base=fields["llama.rope.freq_base"],
            eps=fields["llama.attention.layer_norm_rms_epsilon"],
            **TODAY,
        )
    model.load_state_dict(state, assign=True)
    tokenizer = bpe(
        fields["tokenizer.ggml.tokens"],
        fields["tokenizer.ggml.merges"],
        fields["tokenizer.ggml.token_type"],
    )
    return SmolLM(model.to(device()).eval().requires_grad_(False), tokenizer)


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The fields and the tensors of a .gguf file, the latter in 32 bits.

    Most of SmolLM2's matrices are stored in blocks of 32 numbers, each of 4 bits, with a scale and a
    least value per block, :math:`W \\approx s q + m`; the embeddings in 8 bits.

    Raises:
        CourseError: if the ``gguf`` library is missing.
    """
    try:
        import gguf
    except ImportError as error:
        raise CourseError(
            "Reading a .gguf file needs the gguf library. Install it: pip install 'seqcourse[published]'"
        ) from error
    import numpy

    class Reader(gguf.GGUFReader):
        """Without numpy.memmap's slow slices: a tenth of the time for 98,052 strings."""

        @property
        def data(self) -> numpy.ndarray:
            return self._data

        @data.setter
        def data(self, value: numpy.ndarray) -> None:
            self._data = numpy.asarray(value)

    reader = Reader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    tensors = {
        part.name: torch.from_numpy(
            numpy.array(gguf.quants.dequantize(part.data, part.tensor_type), dtype=numpy.float32)
        )
        for part in reader.tensors
    }
    return fields, tensors


_QUERIES = ("attn_q", "attn_k", "attn_v")  # one matrix in ours
# The other parts of a layer in the file, and ours.
GGUF_PARTS = {
    "attn_norm": "self_norm.gamma",
    "attn_output": "self_attention.out.weight",
    "ffn_norm": "mlp_norm.gamma",
    "ffn_gate": "mlp.gate.weight",
    "ffn_up": "mlp.inner.weight",
    "ffn_down": "mlp.outer.weight",
}


def gpt_from_gguf(tensors: dict[str, Tensor], heads: int, groups: int) -> dict[str, Tensor]:
    """A Llama's tensors, named as in a .gguf file, as our state dict.

    The file pairs coordinate 2i with 2i + 1 for the rotary positions, we pair i with i + d/2: the rows
    of the query and key matrices are put in our order.
    """
    state = {"embedding": tensors["token_embd.weight"], "norm.gamma": tensors["output_norm.weight"]}
    for number in range(len({name.split(".")[1] for name in tensors if name.startswith("blk.")})):
        layer = {part: tensors[f"blk.{number}.{part}.weight"] for part in (*GGUF_PARTS, *_QUERIES)}
        q, k, v = (layer.pop(part) for part in _QUERIES)
        rows = [halves_from_pairs(q, heads), halves_from_pairs(k, groups), v]
        state[f"blocks.{number}.self_attention.in_weight"] = torch.cat(rows)
        state |= {f"blocks.{number}.{GGUF_PARTS[part]}": tensor for part, tensor in layer.items()}
    return state


def halves_from_pairs(weight: Tensor, heads: int) -> Tensor:
    """Rows 0, 1, 2, 3 .. of each head as 0, 2, .., 1, 3, ..: pairs become halves."""
    rows = weight.unflatten(0, (heads, -1, 2)).transpose(1, 2)  # (H, 2, d / 2, D)
    return rows.flatten(0, 2).contiguous()


def bpe(tokens: list[str], merges: list[str], kinds: list[int]) -> Any:
    """The byte-level BPE tokenizer of SmolLM2 from its tokens and merges; every digit is a token."""
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE

    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(BPE({token: at for at, token in enumerate(tokens)}, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = 3
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == control]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer
