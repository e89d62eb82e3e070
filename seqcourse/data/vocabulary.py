"""Word-level vocabularies: tokens to ids and back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from seqcourse.data.readers import read_lines, write_text
from seqcourse.errors import CourseError
from seqcourse.tokens import EOS, PAD, SOS, SPECIALS, UNK


def drop_specials(ids: Iterable[int], size: int) -> list[int]:
    """The ids before the first <eos>, without <pad> and <sos>.

    Raises:
        CourseError: an id is not between 0 and ``size`` - 1.
    """
    kept: list[int] = []
    for number in map(int, ids):
        if not 0 <= number < size:
            raise CourseError(
                f"The id {number} is not in this vocabulary, whose ids run from 0 to {size - 1}."
            )
        if number == EOS:
            break
        if number not in (PAD, SOS):
            kept.append(number)
    return kept


class TokenTable:
    """Tokens and their ids: what word and subword vocabularies have in common.

    The id of a token is its index in ``tokens``. The first four are special in the whole course:
    <pad> 0, <sos> 1, <eos> 2, <unk> 3.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens: tuple[str, ...] = tuple(tokens)
        self._ids = {token: number for number, token in enumerate(self.tokens)}

    def _encode(self, tokens: Iterable[str], sos: bool, eos: bool) -> list[int]:
        return [SOS] * sos + [self.id(token) for token in tokens] + [EOS] * eos

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of the ids; stops at <eos> and leaves out <pad> and <sos>.

        <unk> is kept: it marks an unknown token.
        """
        return [self.tokens[number] for number in drop_specials(ids, len(self))]

    def id(self, token: str) -> int:
        """The id of one token (<unk>'s for an unknown one)."""
        return self._ids.get(token, UNK)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __hash__(self) -> int:
        return hash(self.tokens)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} entries)"


class Vocabulary(TokenTable):
    """A fixed list of word-level tokens, after the four specials."""

    def __init__(self, tokens: Sequence[str]) -> None:
        """Make a vocabulary of ``tokens`` (without specials, no token twice)."""
        super().__init__((*SPECIALS, *tokens))
        if len(self._ids) != len(self.tokens):
            twice = [token for token, n in Counter(self.tokens).items() if n > 1]
            why = " The four special tokens are added for you: store and give tokens[4:]." * (
                twice[0] in SPECIALS
            )
            raise CourseError(
                f"Every token of a vocabulary should appear once, but {twice[0]!r} appears more "
                f"often.{why}"
            )

    @classmethod
    def build(
        cls, token_lists: Iterable[Sequence[str]], min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """Collect the tokens of a text, the most frequent first (ties: alphabetically).

        Args:
            token_lists: tokenised sentences.
            min_count: leave out tokens seen less often.
            max_size: keep at most this many entries, including the four specials.

        Raises:
            CourseError: nothing is left to put into the vocabulary.
        """
        counts = Counter(token for tokens in token_lists for token in tokens)
        for special in SPECIALS:
            counts.pop(special, None)
        kept = sorted(
            (token for token, count in counts.items() if count >= min_count),
            key=lambda token: (-counts[token], token),
        )
        if max_size is not None:
            kept = kept[: max(0, max_size - len(SPECIALS))]
        if not kept:
            raise CourseError(
                f"The vocabulary would be empty: {len(counts)} different tokens were found, and "
                f"none passes min_count={min_count}, max_size={max_size}. Give it tokenised "
                f"sentences (lists of words), or lower min_count."
            )
        return cls(kept)

    def encode(self, tokens: Sequence[str], sos: bool = False, eos: bool = True) -> list[int]:
        """The ids of the tokens; unknown tokens become <unk>.

        ``sos`` and ``eos`` say whether to add <sos> at the beginning and <eos> at the end.
        """
        if isinstance(tokens, str):
            raise CourseError(
                f"encode expects a list of tokens, but got the text {tokens!r}. "
                f"Split it first, for example with data.tokenize (or list(...) for characters)."
            )
        return self._encode(tokens, sos, eos)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    __hash__ = TokenTable.__hash__  # a class that defines __eq__ does not inherit it

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON, packed if the name ends in .gz."""
        content = {"kind": "words", "tokens": self.tokens[len(SPECIALS) :]}
        write_text(Path(path), json.dumps(content, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read a vocabulary that :meth:`save` wrote.

        Raises:
            CourseError: the file is missing or holds something else.
        """
        text = "\n".join(line for _, line in read_lines(Path(path)))
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise CourseError(
                f"{path}, line {error.lineno}: expected a vocabulary in JSON, "
                f"but it is not JSON ({error.msg})."
            ) from error
        tokens = content.get("tokens") if isinstance(content, dict) else None
        if (
            not isinstance(tokens, list)
            or content.get("kind") != "words"
            or not all(isinstance(token, str) for token in tokens)
        ):
            raise CourseError(
                f"{path}: expected a word vocabulary as Vocabulary.save writes it "
                f'({{"kind": "words", "tokens": [...]}}), but found something else.'
            )
        return cls(tokens)
