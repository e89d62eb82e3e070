"""Subword vocabularies: byte-pair encoding by the library `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqcourse.data.readers import read_lines, write_text
from seqcourse.data.vocabulary import TokenTable, Vocabulary
from seqcourse.errors import CourseError
from seqcourse.tokens import SPECIALS, UNK

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SPACE = "▁"  # replaces the space before a word


class SubwordVocabulary(TokenTable):
    """Frequent pieces of words, so that a small vocabulary can spell every word.

    Byte-pair encoding (Sennrich, Haddow and Birch 2016, "Neural machine translation of rare
    words with subword units"): begin with single characters; join the most frequent
    neighbouring pair into a new piece; repeat until the vocabulary is full. It has the methods of
    :class:`~seqcourse.data.Vocabulary`, and ``tokenize`` and ``detokenize`` of its own.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.encode_special_tokens = True  # treat "<eos>" in a text as ordinary text
        self._tokenizer = tokenizer
        super().__init__(tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size()))

    @classmethod
    def train(cls, texts: Iterable[str], size: int, lowercase: bool = True) -> SubwordVocabulary:
        """Learn at most ``size`` entries (the four specials counted) from texts.

        Args:
            texts: sentences, not tokenised.
            size: entries of the vocabulary; fewer if the texts have no more pairs to join.
            lowercase: make texts lower-case first, here and in ``tokenize``.

        Raises:
            CourseError: the texts are empty, or ``size`` has no room for their characters.
        """
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

        texts = [text for text in texts if text.strip()]
        if not texts:
            raise CourseError(
                "The subword vocabulary would be empty: expected at least one text that is not "
                "blank, but got none."
            )
        tokenizer = Tokenizer(models.BPE(unk_token=SPECIALS[UNK]))
        steps = [normalizers.NFC(), *([normalizers.Lowercase()] if lowercase else [])]
        tokenizer.normalizer = normalizers.Sequence(steps)
        # Words and punctuation are separate pieces; a space belongs to the following word.
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(replacement=_SPACE), pre_tokenizers.Punctuation("isolated")]
        )
        tokenizer.decoder = decoders.Metaspace(replacement=_SPACE)
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=list(SPECIALS), show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        if tokenizer.get_vocab_size() > size:
            alphabet = sum(len(token) == 1 for token in tokenizer.get_vocab())
            raise CourseError(
                f"A subword vocabulary of {size} entries is too small: the texts have {alphabet} "
                f"different characters and there are {len(SPECIALS)} specials. "
                f"Ask for at least {alphabet + len(SPECIALS)}."
            )
        return cls(tokenizer)

    def tokenize(self, text: str) -> list[str]:
        """Split a text into pieces; "▁" marks a space in front."""
        return self._tokenizer.encode(" ".join(text.split())).tokens

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join pieces into text."""
        return "".join(tokens).replace(_SPACE, " ").strip()

    def encode(self, tokens: Sequence[str] | str, sos: bool = False, eos: bool = True) -> list[int]:
        """The ids of pieces, or of a whole text, which is split first."""
        pieces = self.tokenize(tokens) if isinstance(tokens, str) else tokens
        return self._encode(pieces, sos, eos)

    @property
    def merges(self) -> list[str]:
        """The pairs of pieces that were joined in training, "a b" each, the most frequent first."""
        return [" ".join(pair) for pair in json.loads(self._tokenizer.to_str())["model"]["merges"]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubwordVocabulary):
            return False
        return self._tokenizer.to_str() == other._tokenizer.to_str()

    __hash__ = TokenTable.__hash__  # a class that defines __eq__ does not inherit it

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON, packed if the name ends in .gz."""
        content = {"kind": "subwords", "tokenizer": json.loads(self._tokenizer.to_str())}
        write_text(Path(path), json.dumps(content, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> SubwordVocabulary:
        """Read a vocabulary that :meth:`save` wrote.

        Raises:
            CourseError: the file is missing or holds something else.
        """
        from tokenizers import Tokenizer

        text = "\n".join(line for _, line in read_lines(Path(path)))
        try:
            content = json.loads(text)
            if content["kind"] != "subwords":
                raise ValueError(f"its kind is {content['kind']!r}")
            return cls(Tokenizer.from_str(json.dumps(content["tokenizer"])))
        except Exception as error:  # the library raises plain Exception for invalid content
            raise CourseError(
                f"{path}: expected a subword vocabulary as SubwordVocabulary.save writes it, "
                f"but found something else ({error})."
            ) from error


def load_vocabulary(path: str | Path) -> Vocabulary:
    """Read a vocabulary of either kind, words or subwords.

    Raises:
        CourseError: the file is missing or holds something else.
    """
    try:
        content = json.loads("\n".join(line for _, line in read_lines(Path(path))))
    except json.JSONDecodeError:
        content = None  # Vocabulary.load raises the error
    subwords = isinstance(content, dict) and content.get("kind") == "subwords"
    return SubwordVocabulary.load(path) if subwords else Vocabulary.load(path)
