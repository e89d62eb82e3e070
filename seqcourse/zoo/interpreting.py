"""English to Spanish by the model that knows the sentence.

No model of the zoo knows all sentences. The Transformer on words translates best where it knows every
word and the sentence is no longer than those it has learned from. The one on subwords reads the rest.

Greetings are hardly ever a training sentence of their own, so the Transformer says "buena mañana" for
"good morning". But longer training sentences contain them. If several contain the whole input and none
of their translations contains what the model says, it takes one of its next best outputs: the one that
most of these translations contain.

::

    zoo.interpreter().translate(["good morning"])[0].text
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from seqcourse import data
from seqcourse.data.pairs import LONG_WORDS, sentence_key
from seqcourse.zoo.system import System
from seqcourse.zoo.translation import Translation, sentence_by_sentence

WORDS, SUBWORDS = "en-es-transformer", "en-es-subwords"
LEAST_USES = 3  # training sentences that contain the input
CLEAR_SHARE = 0.75  # of their translations, that have to contain the output
NEXT_BEST = 12  # outputs that are looked through


@dataclass(frozen=True)
class Interpreter:
    """Two systems, and which of them is asked.

    Attributes:
        words: for sentences of words that it knows, no longer than those it has learned from.
        subwords: for all others.
    """

    words: System
    subwords: System

    def translate(self, texts: list[str], beam: int = 5, n_best: int = 1) -> list[Translation]:
        """Translate sentences, as :meth:`System.translate`."""
        return [self._one(text, beam, n_best) for text in texts]

    def translate_text(self, text: str, beam: int = 5) -> str:
        """Translate a text of any length, as :meth:`System.translate_text`."""
        return sentence_by_sentence(text, partial(self.translate, beam=beam))

    def _one(self, text: str, beam: int, n_best: int) -> Translation:
        tokens = self.words.tokens(text)
        known = set(tokens) <= set(self.words.source.tokens)
        if not known or data.count_words(tokens) >= LONG_WORDS[0]:
            return self.subwords.translate([text], beam, n_best)[0]
        found = self.words.translate([text], beam, n_best)[0]
        pairs = data.find_phrase(self.words.recipe.data, text)
        used = [_phrase(data.tokenize(other)) for _, other in pairs]
        if len(used) < LEAST_USES or any(_phrase(found.target) in other for other in used):
            return found
        return self._as_used(tokens, used, n_best) or found

    def _as_used(self, tokens: list[str], used: list[str], n_best: int) -> Translation | None:
        """Of the model's next best outputs the one that clearly most translations contain, if any."""
        outputs = self.words.search([tokens], NEXT_BEST, NEXT_BEST)[0]
        phrases = [_phrase(self.words.target.decode(output.tokens)) for output in outputs]
        counts = [sum(phrase in other for other in used) for phrase in phrases]
        if max(counts) < CLEAR_SHARE * len(used):
            return None
        best = outputs.pop(counts.index(max(counts)))
        return self.words.translation(tokens, [best, *outputs][:n_best])


def _phrase(tokens: list[str]) -> str:
    """The words, each between two spaces, so that "no" is not in "nosotros"."""
    return f" {sentence_key(tokens)} "
