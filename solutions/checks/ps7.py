"""The hidden checks of assignment 7, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

WRONG = {
    "language_batch": [
        (
            "targets are the inputs",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[:-1] + [PAD] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "one place later in the stream",
        ),
        (
            "no separator",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in document]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "separator missing",
        ),
        (
            "no separator after the last document",
            """
def language_batch(documents, length, end):
    stream = []
    for k, document in enumerate(documents):
        if k > 0:
            stream.append(end)
        stream.extend(document)
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "last document have no separator",
        ),
        (
            "separator in front",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [end, *document]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "stands after it",
        ),
        (
            "the rest is thrown away",
            """
def language_batch(documents, length, end):
    stream = torch.tensor([token for document in documents for token in document + [end]])
    rows = (len(stream) - 1) // length
    inputs = stream[: rows * length].reshape(rows, length)
    targets = stream[1 : rows * length + 1].reshape(rows, length)
    return inputs, targets
""",
            "thrown away",
        ),
        (
            "targets are filled up with padding",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [PAD] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "use IGNORE",
        ),
        (
            "inputs are filled up with IGNORE",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [IGNORE] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "use PAD",
        ),
        (
            "a row too many",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = length - (len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "nothing but filling",
        ),
        (
            "the last token is an input",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -len(stream) % length
    inputs = torch.tensor(stream + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * (left + 1))
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "Nothing follows it",
        ),
        (
            "rows are cut before the shift",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -len(stream) % length
    inputs = torch.tensor(stream + [PAD] * left).reshape(-1, length)
    targets = torch.tensor(stream + [IGNORE] * left).reshape(-1, length)
    return inputs[:, :-1], targets[:, 1:]
""",
            "Shift the stream, then cut both",
        ),
        (
            "a document per row",
            """
def language_batch(documents, length, end):
    inputs, targets = [], []
    for document in documents:
        asked = list(document[1:]) + [end]
        for start in range(0, len(document), length):
            x, y = document[start : start + length], asked[start : start + length]
            inputs.append(x + [PAD] * (length - len(x)))
            targets.append(y + [IGNORE] * (length - len(y)))
    return torch.tensor(inputs), torch.tensor(targets)
""",
            "follow each other in one stream",
        ),
        (
            "the end asks for the beginning",
            """
def language_batch(documents, length, end):
    stream = torch.tensor([token for document in documents for token in [*document, end]])
    targets = torch.roll(stream, -1)
    left = -len(stream) % length
    inputs = torch.cat([stream, torch.full((left,), PAD)])
    targets = torch.cat([targets, torch.full((left,), IGNORE)])
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "torch.roll",
        ),
        (
            "down the columns",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(length, -1).T, targets.reshape(length, -1).T
""",
            "down the columns",
        ),
        (
            "the separator is never asked for",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor([IGNORE if t == end else t for t in stream[1:]] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "learned like a word",
        ),
        (
            "swapped",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return targets.reshape(-1, length), inputs.reshape(-1, length)
""",
            "swap the two",
        ),
        (
            "the documents are changed",
            """
def language_batch(documents, length, end):
    stream = []
    for document in documents:
        document.append(end)
        stream += document
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "changes its input documents",
        ),
        (
            "lists",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, end]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length).tolist(), targets.reshape(-1, length).tolist()
""",
            "Two tensors",
        ),
        (
            "the end is taken for 2",
            """
def language_batch(documents, length, end):
    stream = [token for document in documents for token in [*document, 2]]
    left = -(len(stream) - 1) % length
    inputs = torch.tensor(stream[:-1] + [PAD] * left)
    targets = torch.tensor(stream[1:] + [IGNORE] * left)
    return inputs.reshape(-1, length), targets.reshape(-1, length)
""",
            "handed in as `end`",
        ),
    ],
    "few_shot_prompt": [
        (
            "a space at the end",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}: ")
    return "\\n\\n".join(parts)
""",
            "end with a space",
        ),
        (
            "a line end at the end",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:\\n")
    return "\\n\\n".join(parts)
""",
            "end with a line end",
        ),
        (
            "texts keep their line ends",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {text}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {query}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "Each text stands on one line",
        ),
        (
            "only stripped",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {text.strip()}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {query.strip()}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "at both ends only",
        ),
        (
            "line ends replaced one by one",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {text.strip().replace(chr(10), ' ')}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {query.strip().replace(chr(10), ' ')}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "one by one",
        ),
        (
            "no empty lines",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n".join(parts)
""",
            "empty line between",
        ),
        (
            "no task",
            """
def few_shot_prompt(task, names, examples, query):
    parts = []
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "task missing",
        ),
        (
            "reverse order",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in reversed(examples):
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "reverse order",
        ),
        (
            "the query first",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task, f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:"]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    return "\\n\\n".join(parts)
""",
            "query stand before",
        ),
        (
            "answers are not shown",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}:")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "have no answers",
        ),
        (
            "no line for the answer to the query",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}")
    return "\\n\\n".join(parts)
""",
            "last line missing",
        ),
        (
            "no query",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    return "\\n\\n".join(parts)
""",
            "query missing",
        ),
        (
            "the last example is left out",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples[:-1]:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "last example missing",
        ),
        (
            "a list",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}: {answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return parts
""",
            "join the parts",
        ),
        (
            "no space after the colon",
            """
def few_shot_prompt(task, names, examples, query):
    parts = [task]
    for text, answer in examples:
        parts.append(f"{names[0]}: {' '.join(text.split())}\\n{names[1]}:{answer}")
    parts.append(f"{names[0]}: {' '.join(query.split())}\\n{names[1]}:")
    return "\\n\\n".join(parts)
""",
            "space after the second name",
        ),
    ],
    "gpt_parameters": [
        (
            "a model of the package, counted",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    model = models.GPT(vocabulary, width, 1, layers, hidden=hidden, longest=longest)
    return sum(part.nelement() for part in model.state_dict().values())
""",
            "the thing to build here",
        ),
        (
            "no biases at all",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    block = 4 * width**2 + 2 * width * hidden + 4 * width
    return (vocabulary + longest) * width + layers * block + 2 * width
""",
            "biases of the blocks",
        ),
        (
            "no biases in the attention",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * width * width
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "four biases of the attention",
        ),
        (
            "no biases in the MLP",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "biases of the MLP",
        ),
        (
            "three projections",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 3 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "W_O missing",
        ),
        (
            "no last normalisation",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm)
""",
            "last normalisation missing",
        ),
        (
            "one normalisation in a block",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + norm) + norm
""",
            "one normalisation only",
        ),
        (
            "gamma only",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "gamma and beta",
        ),
        (
            "no positions",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = vocabulary * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "positions missing",
        ),
        (
            "an output table of its own",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (2 * vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "tied",
        ),
        (
            "an output bias",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width + vocabulary
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "bias for each word",
        ),
        (
            "hidden is 4 D",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    hidden = 4 * width
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp + 2 * norm) + norm
""",
            "handed in as `hidden`",
        ),
        (
            "one block",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + (attention + mlp + 2 * norm) + norm
""",
            "only one block",
        ),
        (
            "no normalisations in the blocks",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width
    return tables + layers * (attention + mlp) + norm
""",
            "all normalisations of the blocks",
        ),
    ],
    "bert_parameters": [
        (
            "no pooler",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm)
""",
            "pooler missing",
        ),
        (
            "a pooler without bias",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "pooler have no bias",
        ),
        (
            "no segments",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "segments missing",
        ),
        (
            "embeddings are not normalised",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "normalisation of the embeddings",
        ),
        (
            "a normalisation after the last block",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + norm + pooler
""",
            "post-norm",
        ),
        (
            "an output table",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler + vocabulary * width
""",
            "Heads of the pre-training",
        ),
        (
            "no biases in the attention",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * width * width
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "four biases of the attention",
        ),
        (
            "no biases in the MLP",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "biases of the MLP",
        ),
        (
            "three projections",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 3 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "W_O missing",
        ),
        (
            "gamma only",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "gamma and beta",
        ),
        (
            "hidden is 4 D",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    hidden = 4 * width
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + longest + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "handed in as `hidden`",
        ),
        (
            "no positions",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + hidden * width + width
    norm = 2 * width
    tables = (vocabulary + segments) * width + norm
    pooler = width * width + width
    return tables + layers * (attention + mlp + 2 * norm) + pooler
""",
            "positions missing",
        ),
    ],
    "fine_tuning_loss": [
        (
            "the class from the last column",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[:, -1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "last column",
        ),
        (
            "the class from the first state",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[:, 0]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "read from the first state",
        ),
        (
            "the class from the mean",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states.mean(dim=1)
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "mean of all states",
        ),
        (
            "one place too far",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "lengths[b] - 1",
        ),
        (
            "no shift",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    class_loss = torch.nn.functional.cross_entropy(last @ w_classes.T, labels)
    logits = states @ w_words.T
    word_loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), tokens.flatten(), ignore_index=PAD
    )
    return class_loss + weight * word_loss
""",
            "State t is asked for token t + 1",
        ),
        (
            "the shift the wrong way round",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    class_loss = torch.nn.functional.cross_entropy(last @ w_classes.T, labels)
    losses = -torch.log_softmax(states[:, 1:] @ w_words.T, dim=-1)
    losses = losses.gather(2, tokens[:, :-1, None])[..., 0]
    real = torch.arange(1, tokens.shape[1]) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "wrong way round",
        ),
        (
            "padding counts",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses.mean()
""",
            "padding counted",
        ),
        (
            "one target too many",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(tokens.shape[1] - 1) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "after the last one",
        ),
        (
            "padding in the mean",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * (losses * real).mean()
""",
            "counted in the mean",
        ),
        (
            "the mean of means",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * ((losses * real).sum(1) / real.sum(1)).mean()
""",
            "texts' own means",
        ),
        (
            "a sum over the words",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].sum()
""",
            "loss of the words a sum",
        ),
        (
            "divided by the texts",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].sum() / len(labels)
""",
            "divided by the number of texts",
        ),
        (
            "a sum over the texts",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).sum()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "loss of the classes a sum",
        ),
        (
            "no auxiliary loss",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss
""",
            "loss of the words missing",
        ),
        (
            "no weight",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + losses[real].mean()
""",
            "weight missing",
        ),
        (
            "the weight on the other loss",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return weight * class_loss + losses[real].mean()
""",
            "multiply the loss of the classes",
        ),
        (
            "the weight shares out",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return (1 - weight) * class_loss + weight * losses[real].mean()
""",
            "keeps its full weight",
        ),
        (
            "the wrong sign",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "sign wrong",
        ),
        (
            "logits for log-probabilities",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = last @ w_classes.T
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = states[:, :-1] @ w_words.T
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "take the logits for log-probabilities",
        ),
        (
            "no gradient into the words",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.detach().T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "no gradient reaches w_words",
        ),
        (
            "the body is frozen for the class",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1].detach()
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss + weight * losses[real].mean()
""",
            "gradient of states",
        ),
        (
            "both parts",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    last = states[torch.arange(len(states)), lengths - 1]
    classes = torch.log_softmax(last @ w_classes.T, dim=-1)
    class_loss = -classes.gather(1, labels[:, None]).mean()
    words = torch.log_softmax(states[:, :-1] @ w_words.T, dim=-1)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    real = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
    return class_loss, losses[real].mean()
""",
            "One number is asked for",
        ),
        (
            "the package's own",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    from seqcourse import functional

    last = states[torch.arange(len(states)), lengths - 1]
    class_loss = torch.nn.functional.cross_entropy(last @ w_classes.T, labels)
    return class_loss + weight * functional.sequence_loss(states[:, :-1] @ w_words.T, tokens[:, 1:])
""",
            "which is the thing to build here",
        ),
    ],
    "mask_words": [
        (
            "the package's own",
            """
def mask_words(tokens, draws, size):
    return data.mask_words(tokens, draws, MASK, size)
""",
            "the thing to build here",
        ),
        (
            "always at least one",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    u = torch.where(tokens >= FIRST, draws[0], 1.0)
    smallest = u == u.min(dim=1, keepdim=True).values
    chosen = torch.where(chosen.any(dim=1, keepdim=True), chosen, smallest)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "at least one word",
        ),
        (
            "specials are chosen",
            """
def mask_words(tokens, draws, size):
    chosen = draws[0] < 0.15
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "Are specials chosen too",
        ),
        (
            "only padding is left out",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens != PAD)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "only padding left out",
        ),
        (
            "labels everywhere",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = tokens.clone()
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "every place have a label",
        ),
        (
            "labels of what was put there",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.8, MASK, torch.where(draws[1] < 0.9, other, tokens))
    hidden = torch.where(chosen, hidden, tokens)
    return hidden, torch.where(chosen, hidden, IGNORE)
""",
            "hold what was put there",
        ),
        (
            "labels where <mask> stands",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.8, MASK, torch.where(draws[1] < 0.9, other, tokens))
    hidden = torch.where(chosen, hidden, tokens)
    return hidden, torch.where(hidden == MASK, tokens, IGNORE)
""",
            "replaced or kept",
        ),
        (
            "labels where something changed",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.8, MASK, torch.where(draws[1] < 0.9, other, tokens))
    hidden = torch.where(chosen, hidden, tokens)
    return hidden, torch.where(hidden != tokens, tokens, IGNORE)
""",
            "where the word was kept",
        ),
        (
            "labels of the others are padding",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, PAD)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "use IGNORE",
        ),
        (
            "always <mask>",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, MASK, tokens), labels
""",
            "every chosen word replaced by <mask>",
        ),
        (
            "none is kept",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = other
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "From 90 % on it stays",
        ),
        (
            "none is replaced",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = tokens
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "no word become a random one",
        ),
        (
            "words change that were not chosen",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(tokens >= FIRST, hidden, tokens), labels
""",
            "words changed that were not chosen",
        ),
        (
            "the choice the wrong way round",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] >= 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "smaller than 15 %",
        ),
        (
            "one draw for choice and fate",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[0] < 0.9, other, tokens)
    hidden = torch.where(draws[0] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "every chosen word replaced by <mask>",
        ),
        (
            "the random word may be a special",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = (draws[2] * size).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "random word be a special",
        ),
        (
            "the random word beyond the vocabulary",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * size).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "beyond the vocabulary",
        ),
        (
            "rounded",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).round().long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "Did you round",
        ),
        (
            "the caller's tokens are changed",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    masked = chosen & (draws[1] < 0.8)
    replaced = chosen & (draws[1] >= 0.8) & (draws[1] < 0.9)
    tokens[masked] = MASK
    tokens[replaced] = other[replaced]
    return tokens, labels
""",
            "changes its input tokens",
        ),
        (
            "<= at the borders",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] <= 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] <= 0.9, other, tokens)
    hidden = torch.where(draws[1] <= 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "Are the borders the other way",
        ),
        (
            "own random numbers",
            """
def mask_words(tokens, draws, size):
    draws = torch.rand(3, *tokens.shape)
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return torch.where(chosen, hidden, tokens), labels
""",
            "numbers are not",
        ),
        (
            "swapped",
            """
def mask_words(tokens, draws, size):
    chosen = (draws[0] < 0.15) & (tokens >= FIRST)
    labels = torch.where(chosen, tokens, IGNORE)
    other = FIRST + (draws[2] * (size - FIRST)).long()
    hidden = torch.where(draws[1] < 0.9, other, tokens)
    hidden = torch.where(draws[1] < 0.8, MASK, hidden)
    return labels, torch.where(chosen, hidden, tokens)
""",
            "swap the two",
        ),
    ],
    "masked_word_loss": [
        (
            "NaN where none is chosen",
            """
def masked_word_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORE)
""",
            "0 / 0",
        ),
        (
            "NaN from the mean of nothing",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.mean()
""",
            "0 / 0",
        ),
        (
            "NaN covered up",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits, dim=-1)
    losses = -log_probs.gather(2, labels.clamp(min=0)[..., None])[..., 0]
    return ((losses * chosen).sum() / chosen.sum()).nan_to_num()
""",
            "way forward only",
        ),
        (
            "every place counts",
            """
def masked_word_loss(logits, labels):
    log_probs = torch.log_softmax(logits, dim=-1)
    return -log_probs.gather(2, labels.clamp(min=0)[..., None]).mean()
""",
            "places counted that were not chosen",
        ),
        (
            "divided by all places",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / labels.numel()
""",
            "divided by all places",
        ),
        (
            "the mean of the rows' means",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits, dim=-1)
    losses = -log_probs.gather(2, labels.clamp(min=0)[..., None])[..., 0] * chosen
    return (losses.sum(dim=1) / chosen.sum(dim=1).clamp(min=1)).mean()
""",
            "rows' own means",
        ),
        (
            "a sum",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum()
""",
            "loss a sum",
        ),
        (
            "1 added to the number",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / (1 + len(losses))
""",
            "add 1",
        ),
        (
            "divided by the rows",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / len(labels)
""",
            "number of rows",
        ),
        (
            "shifted by one",
            """
def masked_word_loss(logits, labels):
    logits, labels = logits[:, :-1], labels[:, 1:]
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "shifted by one",
        ),
        (
            "the wrong sign",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen], dim=-1)
    losses = log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "sign wrong",
        ),
        (
            "no log",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.softmax(logits[chosen], dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "log missing",
        ),
        (
            "logits for log-probabilities",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = logits[chosen]
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "take the logits for log-probabilities",
        ),
        (
            "softmax over the places",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits, dim=1)[chosen]
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "over the wrong axis",
        ),
        (
            "IGNORE as an index",
            """
def masked_word_loss(logits, labels):
    log_probs = torch.log_softmax(logits, dim=-1)
    losses = -log_probs.gather(-1, labels[..., None])[..., 0]
    chosen = labels != IGNORE
    return (losses * chosen).sum() / chosen.sum().clamp(min=1)
""",
            "IGNORE is no index",
        ),
        (
            "no gradient",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = torch.log_softmax(logits[chosen].detach(), dim=-1)
    losses = -log_probs.gather(1, labels[chosen][:, None])
    return losses.sum() / max(1, len(losses))
""",
            "no gradient reaches logits",
        ),
        (
            "the axes of cross_entropy",
            """
def masked_word_loss(logits, labels):
    total = torch.nn.functional.cross_entropy(logits, labels, ignore_index=IGNORE, reduction="sum")
    return total / (labels != IGNORE).sum().clamp(min=1)
""",
            "words on the second axis",
        ),
    ],
    "pack_pair": [
        (
            "the package's own",
            """
def pack_pair(a, b, longest):
    from seqcourse.data.masking import join_pair

    tokens, second = join_pair(a, b, longest)
    return torch.tensor(tokens), (torch.arange(len(tokens)) >= second).long()
""",
            "the thing to build here",
        ),
        (
            "specials are not counted",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "three specials not count",
        ),
        (
            "two specials are counted",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 2 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "two specials",
        ),
        (
            ">= in place of >",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 >= longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "one token too few",
        ),
        (
            "the end is cut off",
            """
def pack_pair(a, b, longest):
    tokens = torch.tensor([CLS, *a, SEP, *b, SEP])[:longest]
    segments = torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1))[:longest]
    return tokens, segments
""",
            "cut the end of the whole",
        ),
        (
            "only b is shortened",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (b if b else a).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "only the second sentence",
        ),
        (
            "half each",
            """
def pack_pair(a, b, longest):
    half = (longest - 3) // 2
    a, b = a[:half], b[:half]
    tokens = [CLS, *a, SEP, *b, SEP]
    return torch.tensor(tokens), torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1))
""",
            "half of the room",
        ),
        (
            "a loses where both are equal",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) >= len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "Shorten b then",
        ),
        (
            "from the front",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop(0)
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "from the front",
        ),
        (
            "nothing is shortened",
            """
def pack_pair(a, b, longest):
    tokens = [CLS, *a, SEP, *b, SEP]
    return torch.tensor(tokens), torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1))
""",
            "nothing shortened",
        ),
        (
            "the caller's lists are changed",
            """
def pack_pair(a, b, longest):
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "changes its input",
        ),
        (
            "no <sep> at the end",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b]
    segments = [0] * (len(a) + 2) + [1] * len(b)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "last <sep> missing",
        ),
        (
            "no <sep> in the middle",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, *b, SEP]
    segments = [0] * (len(a) + 1) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "between the two missing",
        ),
        (
            "no <cls>",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [*a, SEP, *b, SEP]
    segments = [0] * (len(a) + 1) + [1] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "<cls> missing",
        ),
        (
            "the first <sep> in the second segment",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 1) + [1] * (len(b) + 2)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "still belongs to a",
        ),
        (
            "segments 1 and 2",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [1] * (len(a) + 2) + [2] * (len(b) + 1)
    return torch.tensor(tokens), torch.tensor(segments)
""",
            "segments 1 and 2",
        ),
        (
            "lists",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return tokens, segments
""",
            "Two tensors",
        ),
        (
            "the tokens only",
            """
def pack_pair(a, b, longest):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > longest:
        (a if len(a) > len(b) else b).pop()
    tokens = [CLS, *a, SEP, *b, SEP]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(tokens)
""",
            "tokens only",
        ),
    ],
    "sentence_pairs": [
        (
            "false ones from the same document",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for other in documents for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "from the same document",
        ),
        (
            "a false one may be the true one",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = others
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "exactly like the true one",
        ),
        (
            "those like a are left out",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != a]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "leave out the sentences that read like a",
        ),
        (
            "the coin the wrong way round",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin >= 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "coin the wrong way round",
        ),
        (
            "<= at the border",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin <= 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "one half itself",
        ),
        (
            "labels swapped",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 0))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 1))
    return pairs
""",
            "labels swapped",
        ),
        (
            "true ones only",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 1:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "only true pairs",
        ),
        (
            "one draw for both",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(coin * len(candidates))], 0))
    return pairs
""",
            "one draw used for both",
        ),
        (
            "rounded",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[round(which * (len(candidates) - 1))], 0))
    return pairs
""",
            "Did you round",
        ),
        (
            "the last candidate is never picked",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * (len(candidates) - 1))], 0))
    return pairs
""",
            "last candidate never",
        ),
        (
            "over the end of a document",
            """
def sentence_pairs(documents, draws):
    flat = [(number, s) for number, document in enumerate(documents) for s in document]
    pairs = []
    for k in range(len(draws)):
        (number, a), (_, b) = flat[k], flat[k + 1]
        if draws[k, 0] < 0.5:
            pairs.append((a, b, 1))
        else:
            candidates = [s for other, s in flat if other != number and s != b]
            pairs.append((a, candidates[int(draws[k, 1] * len(candidates))], 0))
    return pairs
""",
            "beginning of the next",
        ),
        (
            "every sentence once",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1:2], document[1::2]):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "in one pair only",
        ),
        (
            "draws begin anew with every document",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for i in range(len(document) - 1):
            a, b = document[i], document[i + 1]
            if draws[i, 0] < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(draws[i, 1] * len(candidates))], 0))
    return pairs
""",
            "anew with every document",
        ),
        (
            "no label",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))]))
    return pairs
""",
            "label missing",
        ),
        (
            "the label in front",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((1, a, b))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((0, a, candidates[int(which * len(candidates))]))
    return pairs
""",
            "label stand in front",
        ),
        (
            "own random numbers",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for k, other in enumerate(documents) if k != number for s in other]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = torch.rand(2).tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "sentence_pairs",
        ),
        (
            "from the next document only",
            """
def sentence_pairs(documents, draws):
    pairs = []
    for number, document in enumerate(documents):
        others = [s for s in documents[(number + 1) % len(documents)]]
        for a, b in zip(document[:-1], document[1:], strict=True):
            coin, which = draws[len(pairs)].tolist()
            if coin < 0.5:
                pairs.append((a, b, 1))
            else:
                candidates = [s for s in others if s != b]
                pairs.append((a, candidates[int(which * len(candidates))], 0))
    return pairs
""",
            "from the next document only",
        ),
    ],
    "poll_1": [
        ("the wrong letter b", 'poll_1 = "b"'),
        ("the wrong letter c", 'poll_1 = "c"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
    ],
    "poll_2": [
        ("the wrong letter a", 'poll_2 = "a"'),
        ("the wrong letter b", 'poll_2 = "b"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
    ],
    "poll_3": [
        ("the wrong letter a", 'poll_3 = "a"'),
        ("the wrong letter c", 'poll_3 = "c"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abc"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
    "poll_4": [
        ("the wrong letter a", 'poll_4 = "a"'),
        ("the wrong letter b", 'poll_4 = "b"'),
        ("no answer", "poll_4 = None"),
        ("all letters at once", 'poll_4 = "abc"'),
        ("a list of letters", 'poll_4 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_4 = "x"'),
    ],
}

RIGHT = {
    "language_batch": [
        (
            "padded by the package",
            """
def language_batch(documents, length, end):
    import seqcourse

    seqcourse.seed_everything(0)
    stream = [token for document in documents for token in [*document, end]]
    starts = range(0, len(stream) - 1, length)
    rows = [stream[start : start + length + 1] for start in starts]
    inputs, _ = data.pad([row[:-1] for row in rows] + [[PAD] * length])
    targets, _ = data.pad([row[1:] for row in rows] + [[PAD] * length], IGNORE)
    return inputs[:-1], targets[:-1]
""",
        ),
        (
            "with full tensors and copies",
            """
def language_batch(documents, length, end):
    pieces = [torch.tensor(list(document) + [end]) for document in documents]
    stream = torch.cat(pieces)
    asked = len(stream) - 1
    rows = (asked + length - 1) // length
    inputs = torch.full((rows * length,), PAD)
    targets = torch.full((rows * length,), IGNORE)
    inputs[:asked] = stream[:-1]
    targets[:asked] = stream[1:]
    return inputs.view(rows, length), targets.view(rows, length)
""",
        ),
        (
            "row by row",
            """
def language_batch(documents, length, end):
    stream = []
    for document in documents:
        stream.extend(document)
        stream.append(end)
    inputs, targets = [], []
    for start in range(0, len(stream) - 1, length):
        row = stream[start : start + length + 1]
        missing = length + 1 - len(row)
        inputs.append(row[:-1] + [PAD] * missing)
        targets.append(row[1:] + [IGNORE] * missing)
    return torch.tensor(inputs), torch.tensor(targets)
""",
        ),
        (
            "with torch's pad",
            """
def language_batch(documents, length, end):
    stream = torch.tensor(sum([[*document, end] for document in documents], []))
    left = (length - (len(stream) - 1) % length) % length
    inputs = torch.nn.functional.pad(stream[:-1], (0, left), value=PAD)
    targets = torch.nn.functional.pad(stream[1:], (0, left), value=IGNORE)
    return inputs.unflatten(0, (-1, length)), targets.unflatten(0, (-1, length))
""",
        ),
    ],
    "few_shot_prompt": [
        (
            "one string that grows",
            """
def few_shot_prompt(task, names, examples, query):
    first, second = names
    prompt = task + "\\n\\n"
    for text, answer in examples:
        prompt += first + ": " + " ".join(text.split()) + "\\n"
        prompt += second + ": " + answer + "\\n\\n"
    return prompt + first + ": " + " ".join(query.split()) + "\\n" + second + ":"
""",
        ),
        (
            "with a regular expression",
            """
import re


def few_shot_prompt(task, names, examples, query):
    def block(text, answer):
        line = re.sub(r"\\s+", " ", text).strip()
        return f"{names[0]}: {line}\\n{names[1]}: {answer}".rstrip()

    return "\\n\\n".join([task] + [block(*pair) for pair in examples] + [block(query, "")])
""",
        ),
        (
            "with format",
            """
def few_shot_prompt(task, names, examples, query):
    form = names[0] + ": {}\\n" + names[1] + ":{}"
    shown = [form.format(" ".join(t.split()), " " + a) for t, a in examples]
    return "\\n\\n".join((task, *shown, form.format(" ".join(query.split()), "")))
""",
        ),
    ],
    "gpt_parameters": [
        (
            "in closed form",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    d, f = width, hidden
    return (vocabulary + longest + 2) * d + layers * (4 * d**2 + 2 * d * f + 9 * d + f)
""",
        ),
        (
            "a loop over the layers",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    count = vocabulary * width + longest * width
    for _ in range(layers):
        for rows, columns in [(width, width)] * 4 + [(hidden, width), (width, hidden)]:
            count += rows * columns + rows
        count += 2 * width + 2 * width
    return count + width + width
""",
        ),
        (
            "shapes multiplied out by torch",
            """
def gpt_parameters(vocabulary, longest, width, layers, hidden):
    d = width
    block = [(d, d), (d,)] * 4 + [(hidden, d), (hidden,), (d, hidden), (d,)] + [(d,)] * 4
    shapes = [(vocabulary, d), (longest, d)] + block * layers + [(d,)] * 2
    return sum(int(torch.tensor(shape).prod()) for shape in shapes)
""",
        ),
    ],
    "bert_parameters": [
        (
            "in closed form",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    d, f = width, hidden
    blocks = layers * (4 * d**2 + 2 * d * f + 9 * d + f)
    return (vocabulary + longest + segments + 2) * d + blocks + d * (d + 1)
""",
        ),
        (
            "from the answer before",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    gpt = gpt_parameters(vocabulary, longest, width, layers, hidden)
    return gpt + segments * width + (width + 1) * width
""",
        ),
        (
            "a loop over the layers",
            """
def bert_parameters(vocabulary, longest, segments, width, layers, hidden):
    count = sum(rows * width for rows in (vocabulary, longest, segments)) + 2 * width
    for _ in range(layers):
        for rows, columns in [(width, width)] * 4 + [(hidden, width), (width, hidden)]:
            count += rows * columns + rows
        count += 4 * width
    return count + width * width + width
""",
        ),
    ],
    "fine_tuning_loss": [
        (
            "with the package's mask",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    from seqcourse.functional import length_mask

    last = states[torch.arange(len(states)), lengths - 1]
    class_loss = torch.nn.functional.cross_entropy(last @ w_classes.T, labels)
    words = functional.log_softmax(states[:, :-1] @ w_words.T)
    losses = -words.gather(2, tokens[:, 1:, None])[..., 0]
    return class_loss + weight * losses[length_mask(lengths - 1, losses.shape[1])].mean()
""",
        ),
        (
            "with cross_entropy and IGNORE",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    rows = torch.arange(len(states))
    class_loss = torch.nn.functional.cross_entropy(states[rows, lengths - 1] @ w_classes.T, labels)
    targets = tokens[:, 1:].masked_fill(tokens[:, 1:] == PAD, IGNORE)
    logits = (states @ w_words.T)[:, :-1]
    word_loss = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), targets, ignore_index=IGNORE
    )
    return class_loss + weight * word_loss
""",
        ),
        (
            "text by text",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    class_loss, word_loss, count = 0, 0, 0
    for h, x, m, y in zip(states, tokens, lengths.tolist(), labels.tolist()):
        class_loss = class_loss - torch.log_softmax(w_classes @ h[m - 1], 0)[y]
        for t in range(m - 1):
            word_loss = word_loss - torch.log_softmax(w_words @ h[t], 0)[x[t + 1]]
            count += 1
    return class_loss / len(states) + weight * word_loss / count
""",
        ),
        (
            "einsum and logsumexp",
            """
def fine_tuning_loss(states, tokens, lengths, labels, w_classes, w_words, weight):
    place = (lengths - 1)[:, None, None].expand(-1, 1, states.shape[2])
    z = torch.einsum("bd,cd->bc", states.gather(1, place)[:, 0], w_classes)
    class_loss = (z.logsumexp(1) - z[torch.arange(len(z)), labels]).mean()
    z = torch.einsum("btd,vd->btv", states, w_words)
    losses = z[:, :-1].logsumexp(2) - z[:, :-1].gather(2, tokens[:, 1:, None]).squeeze(2)
    real = (tokens[:, 1:] != PAD).to(losses.dtype)
    return weight * (losses * real).sum() / real.sum() + class_loss
""",
        ),
    ],
    "mask_words": [
        (
            "a copy and indices",
            """
def mask_words(tokens, draws, size):
    choose, fate, word = draws
    chosen = torch.logical_and(choose < 0.15, tokens >= FIRST)
    labels = torch.full_like(tokens, IGNORE)
    labels[chosen] = tokens[chosen]
    hidden = tokens.clone()
    hidden[chosen & (fate < 0.8)] = MASK
    other = chosen & (fate >= 0.8) & (fate < 0.9)
    hidden[other] = FIRST + torch.floor(word[other] * (size - FIRST)).to(torch.int64)
    return hidden, labels
""",
        ),
        (
            "word by word",
            """
def mask_words(tokens, draws, size):
    hidden, labels = [], []
    for b, row in enumerate(tokens.tolist()):
        new, asked = [], []
        for t, token in enumerate(row):
            u, fate, word = draws[:, b, t].tolist()
            asked.append(IGNORE)
            if token in (PAD, CLS, SEP, UNK, MASK) or u >= 0.15:
                new.append(token)
                continue
            asked[-1] = token
            if fate < 0.8:
                new.append(MASK)
            elif fate < 0.9:
                new.append(FIRST + int(word * (size - FIRST)))
            else:
                new.append(token)
        hidden.append(new)
        labels.append(asked)
    return torch.tensor(hidden), torch.tensor(labels)
""",
        ),
        (
            "masked_fill",
            """
def mask_words(tokens, draws, size):
    spared = (tokens < FIRST) | (draws[0] >= 0.15)
    words = torch.arange(FIRST, size)
    other = words[(draws[2] * len(words)).long()]
    hidden = tokens.masked_fill(~spared & (draws[1] < 0.8), MASK)
    third = ~spared & (0.8 <= draws[1]) & (draws[1] < 0.9)
    return other * third + hidden * ~third, tokens.masked_fill(spared, IGNORE)
""",
        ),
    ],
    "masked_word_loss": [
        (
            "with the package's log_softmax",
            """
def masked_word_loss(logits, labels):
    chosen = labels != IGNORE
    log_probs = functional.log_softmax(logits)
    picked = log_probs.gather(-1, labels.clamp_min(0)[..., None])[..., 0]
    return -torch.where(chosen, picked, 0.0).sum() / chosen.sum().clamp_min(1)
""",
        ),
        (
            "cross_entropy with a sum",
            """
def masked_word_loss(logits, labels):
    total = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, reduction="sum"
    )
    return total / (labels != IGNORE).sum().clamp(min=1)
""",
        ),
        (
            "an if for nothing",
            """
def masked_word_loss(logits, labels):
    asked = labels >= 0
    if not asked.any():
        return torch.zeros((), dtype=logits.dtype)
    return torch.nn.functional.cross_entropy(logits[asked], labels[asked])
""",
        ),
        (
            "NaN turned into 0 where that is harmless",
            """
def masked_word_loss(logits, labels):
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORE)
    return loss.nan_to_num()
""",
        ),
        (
            "place by place",
            """
def masked_word_loss(logits, labels):
    total, count = logits.sum() * 0, 0
    for b in range(labels.shape[0]):
        for t in range(labels.shape[1]):
            word = int(labels[b, t])
            if word != IGNORE:
                total = total + logits[b, t].logsumexp(0) - logits[b, t, word]
                count += 1
    return total / count if count else total
""",
        ),
    ],
    "pack_pair": [
        (
            "slices",
            """
def pack_pair(a, b, longest):
    room = longest - 3
    n, m = len(a), len(b)
    while n + m > room:
        if n > m:
            n -= 1
        else:
            m -= 1
    first = [CLS] + a[:n] + [SEP]
    second = b[:m] + [SEP]
    return torch.tensor(first + second), torch.tensor([0] * len(first) + [1] * len(second))
""",
        ),
        (
            "in closed form",
            """
def pack_pair(a, b, longest):
    room = longest - 3
    n, m = len(a), len(b)
    if n + m > room:
        small, large = room // 2, room - room // 2
        if m <= small:
            n = room - m
        elif n <= large:
            m = room - n
        else:
            n, m = large, small
    tokens = torch.cat([torch.tensor(part) for part in ([CLS], a[:n], [SEP], b[:m], [SEP])])
    segments = (torch.arange(len(tokens)) > n + 1).long()
    return tokens, segments
""",
        ),
        (
            "recursion",
            """
def pack_pair(a, b, longest):
    if len(a) + len(b) > longest - 3:
        if len(b) >= len(a):
            return pack_pair(a, b[:-1], longest)
        return pack_pair(a[:-1], b, longest)
    tokens = torch.tensor([CLS, *a, SEP, *b, SEP])
    segments = torch.zeros_like(tokens)
    segments[len(a) + 2 :] = 1
    return tokens, segments
""",
        ),
    ],
    "sentence_pairs": [
        (
            "with indices",
            """
def sentence_pairs(documents, draws):
    made, k = [], 0
    for i in range(len(documents)):
        for j in range(len(documents[i]) - 1):
            a, true = documents[i][j], documents[i][j + 1]
            if float(draws[k, 0]) < 0.5:
                made.append((a, true, 1))
            else:
                pool = []
                for n in range(len(documents)):
                    if n != i:
                        pool += [s for s in documents[n] if s != true]
                made.append((a, pool[int(float(draws[k, 1]) * len(pool))], 0))
            k += 1
    return made
""",
        ),
        (
            "all neighbours first",
            """
import math


def sentence_pairs(documents, draws):
    places = [(d, i) for d, text in enumerate(documents) for i in range(len(text) - 1)]
    everything = [(d, s) for d, text in enumerate(documents) for s in text]
    made = []
    for (d, i), (coin, which) in zip(places, draws.tolist()):
        a, b = documents[d][i : i + 2]
        follows = int(coin < 0.5)
        if not follows:
            candidates = [s for other, s in everything if other != d and s != b]
            b = candidates[math.floor(which * len(candidates))]
        made.append((a, b, follows))
    return made
""",
        ),
        (
            "a generator that is used up",
            """
def sentence_pairs(documents, draws):
    def each():
        rows = iter(draws)
        for document in documents:
            others = [s for other in documents if other is not document for s in other]
            for a, b in zip(document, document[1:]):
                coin, which = next(rows)
                pool = list(filter(lambda s: s != b, others))
                yield (a, b, 1) if coin < 0.5 else (a, pool[int(which * len(pool))], 0)

    return list(each())
""",
        ),
    ],
}

SURVIVORS = {
    "fine_tuning_loss": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "classes = torch.log_softmax(last @ w_classes.T, dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "SliceBound",
            7,
            "words = torch.log_softmax(states[:,  :] @ w_words.T, dim=-1)",
            "gather reads as many places as there are targets: the last state stays unread",
        ),
        (
            "NumberReplacer",
            8,
            "losses = -words.gather(2, tokens[:, 1:, None])[..., -1]",
            "the last axis has size 1",
        ),
        (
            "DropArgument",
            9,
            "real = torch.arange(1, tokens.shape[1]) < lengths[:, None]",
            "without a GPU the device is the same",
        ),
    ],
    "masked_word_loss": [
        (
            "ReplaceComparisonOperator_NotEq_Gt",
            3,
            "chosen = labels > IGNORE",
            "every word's id is greater than IGNORE",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "log_probs = torch.log_softmax(logits[chosen], dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
    ],
    "sentence_pairs": [
        (
            "DropArgument",
            6,
            "for a, b in zip(document[:-1], document[1:]):",
            "both parts have the same length",
        ),
        (
            "ReplaceTrueWithFalse",
            6,
            "for a, b in zip(document[:-1], document[1:], strict=False):",
            "both parts have the same length",
        ),
        (
            "DropCall",
            7,
            "coin, which = (draws[len(pairs)])",
            "a tensor of two numbers can be unpacked and compared as well",
        ),
    ],
}
