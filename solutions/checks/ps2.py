"""The hidden checks of assignment 2, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations


def _changed(source: str, *changes: tuple[str, str]) -> str:
    """A source with some parts put in another's place; each part must be there."""
    for old, new in changes:
        if old not in source:
            raise ValueError(f"The source should hold {old!r}, but does not.")
        source = source.replace(old, new)
    return source


STEP = """
def decoder_step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):
    y = embedding[tokens]
    new = torch.tanh(y @ w_y.T + s @ w_s.T + c @ w_c.T + b)
    return new @ w_out.T + b_out, new
"""

LOSS = """
def teacher_forced_loss(step, state, y):
    logits = []
    for t in range(y.shape[1] - 1):
        z, state = step(y[:, t], state)
        logits.append(z)
    log_probs = torch.log_softmax(torch.stack(logits, dim=1), dim=-1)
    targets = y[:, 1:]
    losses = -log_probs.gather(-1, targets[..., None])[..., 0]
    real = targets != PAD
    losses = losses * real
    return losses.sum(dim=1), losses.sum() / real.sum()
"""

GREEDY = """
def greedy(step, state, first, max_len):
    tokens = first
    ended = torch.zeros(len(first), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        logits, state = step(tokens, state)
        tokens = logits.argmax(dim=-1)
        tokens = torch.where(ended, PAD, tokens)
        written.append(tokens)
        ended = ended | (tokens == EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
"""

GUMBEL = """
def gumbel_softmax(logits, u, temperature):
    noise = -torch.log(-torch.log(u))
    noisy = logits + noise
    return torch.softmax(noisy / temperature, dim=-1), noisy.argmax(dim=-1)
"""

SCHEDULED = """
def scheduled_sampling(step, state, y, epsilon, generator=None):
    logits, fed = [], []
    tokens = y[:, 0]
    for t in range(y.shape[1] - 1):
        if t > 0:
            own = logits[-1].argmax(dim=-1)
            coin = torch.rand(len(y), generator=generator)
            tokens = torch.where(coin < epsilon, y[:, t], own)
        z, state = step(tokens, state)
        logits.append(z)
        fed.append(tokens)
    return torch.stack(logits, dim=1), torch.stack(fed, dim=1)
"""

BEAM = """
def beam_search(step, state, beam_width, max_len, alpha=0.0):
    beam = [([], 0.0, state)]
    for _ in range(max_len):
        candidates = []
        for words, total, before in beam:
            if words and words[-1] == EOS:
                candidates.append((words, total, before))
                continue
            last = words[-1] if words else SOS
            logits, after = step(torch.tensor([last]), before)
            gains = torch.log_softmax(logits[0], dim=-1).tolist()
            for word, gain in enumerate(gains):
                candidates.append((words + [word], total + gain, after))
        candidates = sorted(candidates, key=lambda path: -path[1])
        beam = candidates[:beam_width]
        if all(path[0][-1] == EOS for path in beam):
            break
    finished = [path for path in beam if path[0][-1] == EOS]
    best = max(finished or beam, key=lambda path: path[1] / len(path[0]) ** alpha)
    return best[0], best[1] / len(best[0]) ** alpha
"""

WRONG = {
    "final_states": [
        (
            "the last column for both directions",
            """
def final_states(states, lengths):
    return states[:, -1]
""",
            "last column, states[:, -1], for both",
        ),
        (
            "the forward half from the padding",
            """
def final_states(states, lengths):
    half = states.shape[-1] // 2
    return torch.cat([states[:, -1, :half], states[:, 0, half:]], dim=-1)
""",
            "forward half from the last column",
        ),
        (
            "the backward half at the last word",
            """
def final_states(states, lengths):
    return states[torch.arange(len(states)), lengths - 1]
""",
            "backward half at the last word",
        ),
        (
            "the backward half from the last column",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    last = forward[torch.arange(len(states)), lengths - 1]
    return torch.cat([last, backward[:, -1]], dim=-1)
""",
            "backward half from the last column",
        ),
        (
            "the backward half first",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    last = forward[torch.arange(len(states)), lengths - 1]
    return torch.cat([backward[:, 0], last], dim=-1)
""",
            "backward half first",
        ),
        (
            "the directions taken for each other",
            """
def final_states(states, lengths):
    backward, forward = states.chunk(2, dim=-1)
    last = forward[torch.arange(len(states)), lengths - 1]
    return torch.cat([backward[:, 0], last], dim=-1)
""",
            "swap the directions",
        ),
        (
            "one place too far",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    last = forward[torch.arange(len(states)), lengths]
    return torch.cat([last, backward[:, 0]], dim=-1)
""",
            "Counting starts at 0",
        ),
        (
            "the forward half alone",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    return forward[torch.arange(len(states)), lengths - 1]
""",
            "forward half only",
        ),
        (
            "the halves added",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    return forward[torch.arange(len(states)), lengths - 1] + backward[:, 0]
""",
            "add the two halves",
        ),
        (
            "every length from every sentence",
            """
def final_states(states, lengths):
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat([forward[:, lengths - 1], backward[:, 0]], dim=-1)
""",
            "every length from every sentence",
        ),
        (
            "float32 inside",
            """
def final_states(states, lengths):
    half = states.shape[-1] // 2
    out = torch.zeros(len(states), 2 * half)
    for row, length in enumerate(lengths.tolist()):
        out[row, :half] = states[row, length - 1, :half]
        out[row, half:] = states[row, 0, half:]
    return out
""",
            "float64",
        ),
        (
            "cut off from the gradient",
            """
def final_states(states, lengths):
    forward, backward = states.detach().chunk(2, dim=-1)
    last = forward[torch.arange(len(states)), lengths - 1]
    return torch.cat([last, backward[:, 0]], dim=-1)
""",
            "no gradient reaches states",
        ),
    ],
    "decoder_step": [
        ("no context", _changed(STEP, (" + c @ w_c.T", "")), "context c missing"),
        ("no previous word", _changed(STEP, ("y @ w_y.T + ", "")), "previous word missing"),
        ("no old state", _changed(STEP, ("s @ w_s.T + ", "")), "old state s missing"),
        ("no bias", _changed(STEP, (" + b)", ")"), (" + b_out", "")), "both biases"),
        ("no bias of the state", _changed(STEP, (" + b)", ")")), "bias b of the state"),
        ("no tanh", _changed(STEP, ("torch.tanh", "")), "forget the tanh"),
        ("a sigmoid", _changed(STEP, ("torch.tanh", "torch.sigmoid")), "sigmoid in place"),
        (
            "the context after the tanh",
            _changed(STEP, (" + c @ w_c.T + b)", " + b) + c @ w_c.T")),
            "context added after the tanh",
        ),
        (
            "logits from the old state",
            _changed(STEP, ("return new @", "return s @")),
            "logits come from the old state",
        ),
        (
            "probabilities",
            _changed(STEP, ("new @ w_out.T + b_out,", "torch.softmax(new @ w_out.T + b_out, -1),")),
            "return probabilities",
        ),
        (
            "log-probabilities",
            _changed(STEP, ("new @ w_out.T + b_out,", "(new @ w_out.T + b_out).log_softmax(1),")),
            "return log-probabilities",
        ),
        (
            "the state first",
            _changed(STEP, ("return new @ w_out.T + b_out, new", "return new, new @ w_out.T + b_out")),
            "return the state first",
        ),
        ("the logits alone", _changed(STEP, ("b_out, new", "b_out")), "return the logits only"),
        ("the old state returned", _changed(STEP, ("b_out, new", "b_out, s")), "return the old state"),
        ("w_s not transposed", _changed(STEP, ("s @ w_s.T", "s @ w_s")), "transpose w_s"),
        ("nothing transposed", _changed(STEP, (".T", "")), "transpose the matrices"),
        (
            "the ids in place of the embedding",
            _changed(STEP, ("embedding[tokens]", "tokens")),
            "multiply with the ids",
        ),
        (
            "the state is changed in place",
            _changed(STEP, ("    new =", "    s.copy_("), ("+ b)\n", "+ b))\n"), ("new", "s")),
            "changes its input s",
        ),
    ],
    "teacher_forced_loss": [
        (
            "the target is the word that was fed",
            _changed(LOSS, ("targets = y[:, 1:]", "targets = y[:, :-1]")),
            "Is the target the word that was just fed",
        ),
        (
            "the decoder hears its own words",
            _changed(LOSS, ("step(y[:, t], state)", "step(z.argmax(-1) if t else y[:, 0], state)")),
            "hear its own words",
        ),
        (
            "the state is not handed on",
            _changed(LOSS, ("z, state = step", "z, _ = step")),
            "start from the first state",
        ),
        ("the sign", _changed(LOSS, ("-log_probs", "log_probs")), "Is the sign wrong"),
        ("no log", _changed(LOSS, ("torch.log_softmax", "torch.softmax")), "Is the log missing"),
        (
            "no softmax",
            _changed(
                LOSS, ("torch.log_softmax(torch.stack(logits, dim=1), dim=-1)", "torch.stack(logits, 1)")
            ),
            "logits for log-probabilities",
        ),
        (
            "the softmax over the steps",
            _changed(LOSS, ("dim=1), dim=-1)", "dim=1), dim=1)")),
            "softmax over the wrong axis",
        ),
        (
            "the two swapped",
            _changed(
                LOSS,
                (
                    "losses.sum(dim=1), losses.sum() / real.sum()",
                    "losses.sum() / real.sum(), losses.sum(dim=1)",
                ),
            ),
            "swap the two",
        ),
        ("the mean alone", _changed(LOSS, ("losses.sum(dim=1), ", "")), "mean only"),
        (
            "a sum over the whole batch",
            _changed(LOSS, ("losses.sum(dim=1),", "losses.sum(),")),
            "sum over the whole batch",
        ),
        (
            "the mean of each sentence",
            _changed(LOSS, ("losses.sum(dim=1),", "losses.sum(dim=1) / real.sum(dim=1),")),
            "loss of a sentence a mean",
        ),
        (
            "no <eos>",
            _changed(LOSS, ("real = targets != PAD", "real = (targets != PAD) & (targets != EOS)")),
            "<eos> missing",
        ),
        (
            "padding counted everywhere",
            _changed(LOSS, ("real = targets != PAD", "real = torch.ones_like(targets)")),
            "Is padding counted",
        ),
        (
            "padding counted in the mean's number of words",
            _changed(LOSS, ("losses.sum() / real.sum()", "losses.mean()")),
            "counted in the mean",
        ),
        (
            "the mean of the sentences' means",
            _changed(
                LOSS,
                ("losses.sum() / real.sum()", "(losses.sum(dim=1) / real.sum(dim=1)).mean()"),
            ),
            "average the sentences' own means",
        ),
        (
            "divided by the number of sentences",
            _changed(LOSS, ("losses.sum() / real.sum()", "losses.sum(dim=1).mean()")),
            "divide by the number of sentences",
        ),
        (
            "the mask from the inputs",
            _changed(LOSS, ("real = targets != PAD", "real = y[:, :-1] != PAD")),
            "Look at the target",
        ),
        (
            "cut off from the gradient",
            _changed(LOSS, ("logits.append(z)", "logits.append(z.detach())")),
            "no gradient reaches state",
        ),
    ],
    "greedy": [
        (
            "the package's own",
            """
def greedy(step, state, first, max_len):
    from seqcourse import decode

    class Model:
        def start(self, memory):
            return state

        def step(self, tokens, before, memory):
            return step(tokens, before)

    found = decode.greedy(Model(), None, max_len=max_len)
    return data.pad([each[0].tokens for each in found])[0]
""",
            "the thing to build here",
        ),
        (
            "goes on after <eos>",
            _changed(
                GREEDY,
                ("        tokens = torch.where(ended, PAD, tokens)\n", ""),
            ),
            "go on after its <eos>",
        ),
        (
            "goes on after <eos> until max_len",
            _changed(
                GREEDY,
                ("        tokens = torch.where(ended, PAD, tokens)\n", ""),
                ("        if ended.all():\n            break\n", ""),
            ),
            "go on after its <eos>",
        ),
        ("filled with <eos>", _changed(GREEDY, ("ended, PAD", "ended, EOS")), "filled with <eos>"),
        (
            "stops at the first <eos>",
            _changed(GREEDY, ("ended.all()", "ended.any()")),
            "stop when the first sentence ends",
        ),
        (
            "always runs to max_len",
            _changed(GREEDY, ("        if ended.all():\n            break\n", "")),
            "always run to max_len",
        ),
        (
            "no <eos> in the result",
            _changed(
                GREEDY,
                (
                    "return torch.stack(written, dim=1)",
                    "out = torch.stack(written, dim=1)\n    return torch.where(out == EOS, PAD, out)",
                ),
            ),
            "leave out the <eos>",
        ),
        (
            "<sos> in the result",
            _changed(GREEDY, ("written = []", "written = [first]")),
            "begin with <sos>",
        ),
        (
            "the state is not handed on",
            _changed(GREEDY, ("logits, state = step", "logits, _ = step")),
            "start from the first state",
        ),
        (
            "<sos> is fed for ever",
            _changed(GREEDY, ("step(tokens, state)", "step(first, state)")),
            "<sos> fed again and again",
        ),
        ("argmin", _changed(GREEDY, ("argmax", "argmin")), "unlikeliest"),
        (
            "one word too few",
            _changed(GREEDY, ("range(max_len)", "range(max(1, max_len - 1))")),
            "one word too few",
        ),
        (
            "one word too many",
            _changed(GREEDY, ("range(max_len)", "range(max_len + 1)")),
            "one word too many",
        ),
        (
            "time stands first",
            _changed(GREEDY, ("torch.stack(written, dim=1)", "torch.stack(written)")),
            "torch.stack(written, dim=1)",
        ),
        (
            "works only for one sentence",
            _changed(
                GREEDY,
                ("tokens = torch.where(ended, PAD, tokens)", "pass"),
                ("if ended.all()", "if (tokens == EOS).item()"),
            ),
            "RuntimeError",
        ),
    ],
    "gumbel_softmax": [
        (
            "one logarithm",
            _changed(GUMBEL, ("-torch.log(-torch.log(u))", "-torch.log(u)")),
            "two logarithms",
        ),
        ("the sign", _changed(GUMBEL, ("logits + noise", "logits - noise")), "noise's sign"),
        (
            "log of a negative number",
            _changed(GUMBEL, ("-torch.log(-torch.log(u))", "-torch.log(torch.log(u))")),
            "negative number",
        ),
        (
            "the uniform numbers themselves",
            _changed(GUMBEL, ("-torch.log(-torch.log(u))", "u")),
            "uniform numbers themselves",
        ),
        ("no noise", _changed(GUMBEL, ("logits + noise", "logits")), "no noise"),
        (
            "added to probabilities",
            _changed(GUMBEL, ("logits + noise", "logits.softmax(-1) + noise")),
            "noise to probabilities",
        ),
        (
            "the noise outside of the temperature",
            _changed(GUMBEL, ("noisy / temperature", "logits / temperature + noise")),
            "outside of the temperature",
        ),
        (
            "the noise outside of the temperature, both parts",
            _changed(
                GUMBEL,
                ("logits + noise", "logits / temperature + noise"),
                ("noisy / temperature", "noisy"),
            ),
            "outside of the temperature",
        ),
        (
            "multiplied by the temperature",
            _changed(GUMBEL, ("noisy / temperature", "noisy * temperature")),
            "multiply by the temperature",
        ),
        ("no temperature", _changed(GUMBEL, ("noisy / temperature", "noisy")), "temperature missing"),
        (
            "the largest logit",
            _changed(GUMBEL, ("noisy.argmax", "logits.argmax")),
            "largest logit",
        ),
        (
            "softmax over the batch",
            _changed(GUMBEL, ("temperature, dim=-1", "temperature, dim=0")),
            "softmax over the batch",
        ),
        (
            "a row of 0 and 1",
            _changed(
                GUMBEL,
                (
                    "noisy.argmax(dim=-1)",
                    "torch.nn.functional.one_hot(noisy.argmax(-1), logits.shape[1])",
                ),
            ),
            "row of 0 and 1",
        ),
        (
            "the two swapped",
            _changed(
                GUMBEL,
                (
                    "torch.softmax(noisy / temperature, dim=-1), noisy.argmax(dim=-1)",
                    "noisy.argmax(dim=-1), torch.softmax(noisy / temperature, dim=-1)",
                ),
            ),
            "swap the two",
        ),
        (
            "a softmax that overflows",
            _changed(
                GUMBEL,
                (
                    "torch.softmax(noisy / temperature, dim=-1),",
                    "(noisy / temperature).exp() / (noisy / temperature).exp().sum(1, keepdim=True),",
                ),
            ),
            "exp overflow",
        ),
        (
            "cut off from the gradient",
            _changed(GUMBEL, ("logits + noise", "logits.detach() + noise")),
            "no gradient reaches logits",
        ),
        (
            "the noise is made in place",
            _changed(GUMBEL, ("-torch.log(-torch.log(u))", "u.log_().neg_().log_().neg_()")),
            "changes its input u",
        ),
    ],
    "scheduled_sampling": [
        (
            "the coin the wrong way round",
            _changed(SCHEDULED, ("coin < epsilon", "coin >= epsilon")),
            "coin the wrong way round",
        ),
        (
            "always the truth",
            _changed(SCHEDULED, ("torch.where(coin < epsilon, y[:, t], own)", "y[:, t]")),
            "true word fed at every step",
        ),
        (
            "always its own word",
            _changed(SCHEDULED, ("torch.where(coin < epsilon, y[:, t], own)", "own")),
            "own word fed at every step",
        ),
        (
            "the next word is fed",
            _changed(
                SCHEDULED,
                ("tokens = y[:, 0]", "tokens = y[:, 1]"),
                ("y[:, t], own", "y[:, t + 1], own"),
            ),
            "y[:, t + 1] fed at step t",
        ),
        (
            "the state is not handed on",
            _changed(SCHEDULED, ("z, state = step", "z, _ = step")),
            "start from the first state",
        ),
        (
            "own words from a teacher-forced run",
            """
def scheduled_sampling(step, state, y, epsilon, generator=None):
    def run(inputs):
        logits, now = [], state
        for t in range(inputs.shape[1]):
            z, now = step(inputs[:, t], now)
            logits.append(z)
        return torch.stack(logits, dim=1)

    truth = y[:, :-1]
    own = run(truth).argmax(dim=-1)
    own = torch.cat([y[:, :1], own[:, :-1]], dim=1)
    coin = torch.rand(truth.shape, generator=generator) < epsilon
    fed = torch.where(coin, truth, own)
    return run(fed), fed
""",
            "teacher-forced run",
        ),
        (
            "written down but not fed",
            _changed(SCHEDULED, ("step(tokens, state)", "step(y[:, t], state)")),
            "written down but never fed",
        ),
        (
            "one coin for all sentences",
            _changed(SCHEDULED, ("torch.rand(len(y), generator", "torch.rand(1, generator")),
            "all sentences share one coin",
        ),
        (
            "one coin for a sentence",
            _changed(
                SCHEDULED,
                ("            coin = torch.rand(len(y), generator=generator)\n", ""),
                (
                    "    tokens = y[:, 0]\n",
                    "    tokens = y[:, 0]\n    coin = torch.rand(len(y), generator=generator)\n",
                ),
            ),
            "one coin thrown for a whole sentence",
        ),
        (
            "one coin for everything",
            _changed(
                SCHEDULED,
                ("            coin = torch.rand(len(y), generator=generator)\n", ""),
                (
                    "    tokens = y[:, 0]\n",
                    "    tokens = y[:, 0]\n    coin = torch.rand(1, generator=generator)\n",
                ),
            ),
            "one coin for everything",
        ),
        (
            "a fair coin",
            _changed(SCHEDULED, ("coin < epsilon", "coin < (0.5 if 0 < epsilon < 1 else epsilon)")),
            "always a fair one",
        ),
        (
            "its own word is drawn",
            _changed(
                SCHEDULED,
                (
                    "logits[-1].argmax(dim=-1)",
                    "torch.multinomial(logits[-1].softmax(-1), 1, generator=generator)[:, 0]",
                ),
                ("coin < epsilon", "coin < max(epsilon, 0.01)"),
            ),
            "numbers are not",
        ),
        (
            "a fixed seed",
            _changed(SCHEDULED, ("generator=generator", "generator=torch.Generator().manual_seed(t)")),
            "two seeds give the same coins",
        ),
        (
            "the generator is not used",
            _changed(SCHEDULED, (", generator=generator", "")),
            "pass the generator on",
        ),
        (
            "the logits alone",
            _changed(SCHEDULED, ("dim=1), torch.stack(fed, dim=1)", "dim=1)")),
            "logits only",
        ),
        (
            "the two swapped",
            _changed(
                SCHEDULED,
                (
                    "torch.stack(logits, dim=1), torch.stack(fed, dim=1)",
                    "torch.stack(fed, dim=1), torch.stack(logits, dim=1)",
                ),
            ),
            "swap the two",
        ),
        (
            "time stands first",
            _changed(SCHEDULED, (", dim=1)", ")")),
            "torch.stack(..., dim=1)",
        ),
        (
            "one step too many",
            _changed(SCHEDULED, ("range(y.shape[1] - 1)", "range(y.shape[1])")),
            "one step too many",
        ),
    ],
    "beam_search": [
        (
            "one path only",
            _changed(BEAM, ("candidates[:beam_width]", "candidates[:1]")),
            "follow one path only",
        ),
        (
            "logits are added up",
            _changed(BEAM, ("torch.log_softmax(logits[0], dim=-1)", "logits[0]")),
            "add up logits",
        ),
        (
            "probabilities are multiplied",
            _changed(
                BEAM,
                ("torch.log_softmax", "torch.softmax"),
                ("([], 0.0, state)", "([], 1.0, state)"),
                ("total + gain", "total * gain"),
            ),
            "multiply probabilities",
        ),
        (
            "probabilities are added up",
            _changed(BEAM, ("torch.log_softmax", "torch.softmax")),
            "add up probabilities",
        ),
        (
            "only the newest word counts",
            _changed(BEAM, ("total + gain", "gain")),
            "newest log-probability",
        ),
        (
            "finished paths grow on",
            _changed(
                BEAM,
                ("if words and words[-1] == EOS:", "if False:"),
                ("        if all(path[0][-1] == EOS for path in beam):\n            break\n", ""),
            ),
            "finished paths grow on",
        ),
        (
            "finished paths leave the beam",
            _changed(
                BEAM,
                ("    beam = [([], 0.0, state)]\n", "    beam = [([], 0.0, state)]\n    done = []\n"),
                (
                    "        if all(path[0][-1] == EOS for path in beam):\n",
                    "        done += [path for path in beam if path[0][-1] == EOS]\n"
                    "        beam = [path for path in beam if path[0][-1] != EOS]\n"
                    "        if not beam:\n",
                ),
                (
                    "    finished = [path for path in beam if path[0][-1] == EOS]\n",
                    "    finished = done\n",
                ),
            ),
            "go out of the beam",
        ),
        (
            "stops at the first finished path",
            _changed(BEAM, ("if all(path", "if any(path")),
            "as soon as one path has ended",
        ),
        (
            "one state for all paths",
            _changed(
                BEAM,
                ("        candidates = []\n", "        candidates = []\n        shared = None\n"),
                (
                    "            logits, after = step(torch.tensor([last]), before)\n",
                    "            shared = before if shared is None else shared\n"
                    "            logits, after = step(torch.tensor([last]), shared)\n",
                ),
            ),
            "grow from the same state",
        ),
        (
            "the length is not used",
            _changed(BEAM, (" / len(path[0]) ** alpha", ""), (" / len(best[0]) ** alpha", "")),
            "alpha not used",
        ),
        (
            "chosen by log-probability, divided afterwards",
            _changed(BEAM, ("path[1] / len(path[0]) ** alpha", "path[1]")),
            "divided afterwards",
        ),
        (
            "the length without <eos>",
            _changed(
                BEAM,
                ("len(path[0]) ** alpha", "max(1, len(path[0]) - (path[0][-1] == EOS)) ** alpha"),
                ("len(best[0]) ** alpha", "max(1, len(best[0]) - (best[0][-1] == EOS)) ** alpha"),
            ),
            "counted without <eos>",
        ),
        (
            "the length with <sos>",
            _changed(
                BEAM,
                ("len(path[0]) ** alpha", "(1 + len(path[0])) ** alpha"),
                ("len(best[0]) ** alpha", "(1 + len(best[0])) ** alpha"),
            ),
            "length count <sos>",
        ),
        (
            "times the length",
            _changed(BEAM, ("/ len(path[0])", "* len(path[0])"), ("/ len(best[0])", "* len(best[0])")),
            "multiply by the length",
        ),
        (
            "pruned by the normalised score",
            _changed(
                BEAM,
                ("key=lambda path: -path[1])", "key=lambda path: -path[1] / len(path[0]) ** alpha)"),
            ),
            "prune by the normalised score",
        ),
        (
            "a path that never ended wins",
            _changed(BEAM, ("max(finished or beam", "max(beam")),
            "never ended win",
        ),
        (
            "<sos> in the result",
            _changed(BEAM, ("return best[0],", "return [SOS] + best[0],")),
            "begin with <sos>",
        ),
        (
            "no <eos> in the result",
            _changed(BEAM, ("return best[0],", "return [word for word in best[0] if word != EOS],")),
            "<eos> missing in the result",
        ),
        (
            "one step too many",
            _changed(BEAM, ("range(max_len)", "range(max_len + 1)")),
            "one step too many",
        ),
        (
            "the sum in place of the score",
            _changed(BEAM, ("best[1] / len(best[0]) ** alpha", "best[1]")),
            "return log_prob as it is",
        ),
        (
            "the words alone",
            _changed(
                BEAM, ("return best[0], best[1] / len(best[0]) ** alpha", "return torch.tensor(best[0])")
            ),
            "words only",
        ),
    ],
    "poll_1": [
        ("the wrong letter", 'poll_1 = "a"'),
        ("another wrong letter", 'poll_1 = "c"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
    ],
    "poll_2": [
        ("the wrong letter", 'poll_2 = "b"'),
        ("another wrong letter", 'poll_2 = "c"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
    ],
    "poll_3": [
        ("the wrong letter", 'poll_3 = "a"'),
        ("another wrong letter", 'poll_3 = "b"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abc"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
    ],
    "poll_4": [
        ("the wrong letter", 'poll_4 = "c"'),
        ("another wrong letter", 'poll_4 = "a"'),
        ("no answer", "poll_4 = None"),
        ("all letters at once", 'poll_4 = "abc"'),
        ("a list of letters", 'poll_4 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_4 = "x"'),
    ],
}

RIGHT = {
    "final_states": [
        (
            "a loop over the batch",
            """
def final_states(states, lengths):
    half = states.shape[-1] // 2
    rows = []
    for b, length in enumerate(lengths):
        rows.append(torch.cat([states[b, length - 1, :half], states[b, 0, half:]]))
    return torch.stack(rows)
""",
        ),
        (
            "gather",
            """
def final_states(states, lengths):
    forward, backward = torch.split(states, states.shape[2] // 2, dim=2)
    index = (lengths - 1)[:, None, None].expand(-1, 1, forward.shape[2])
    return torch.cat((forward.gather(1, index).squeeze(1), backward[:, 0]), dim=1)
""",
        ),
        (
            "one-hot places and einsum",
            """
def final_states(states, lengths):
    half = states.size(2) // 2
    last = torch.nn.functional.one_hot(lengths - 1, states.size(1)).to(states.dtype)
    ahead = torch.einsum("bt,btd->bd", last, states[:, :, :half])
    return torch.hstack([ahead, states[:, 0, half:]])
""",
        ),
    ],
    "decoder_step": [
        (
            "one product of everything side by side",
            """
def decoder_step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):
    y = torch.nn.functional.embedding(tokens, embedding)
    new = (torch.cat([y, s, c], dim=1) @ torch.cat([w_y, w_s, w_c], dim=1).T + b).tanh()
    return [torch.addmm(b_out, new, w_out.T), new]
""",
        ),
        (
            "one-hot words and einsum",
            """
def decoder_step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):
    y = torch.nn.functional.one_hot(tokens, len(embedding)).to(s.dtype) @ embedding
    parts = [torch.einsum("bi,oi->bo", x, w) for x, w in [(y, w_y), (s, w_s), (c, w_c)]]
    new = torch.tanh(sum(parts) + b)
    return torch.einsum("bi,vi->bv", new, w_out) + b_out, new
""",
        ),
        (
            "a loop over the batch",
            """
def decoder_step(tokens, s, c, embedding, w_y, w_s, w_c, b, w_out, b_out):
    rows = []
    for token, s_row, c_row in zip(tokens.tolist(), s, c):
        rows.append(torch.tanh(w_c @ c_row + w_s @ s_row + w_y @ embedding[token] + b))
    new = torch.stack(rows)
    return torch.nn.functional.linear(new, w_out, b_out), new
""",
        ),
    ],
    "teacher_forced_loss": [
        ("all steps first", LOSS),
        (
            "cross_entropy",
            """
def teacher_forced_loss(step, state, y):
    logits = []
    for fed in y[:, :-1].T:
        z, state = step(fed, state)
        logits.append(z)
    losses = torch.nn.functional.cross_entropy(
        torch.stack(logits, dim=2), y[:, 1:], ignore_index=PAD, reduction="none"
    )
    return losses.sum(1), losses.sum() / (y[:, 1:] != 0).sum()
""",
        ),
        (
            "a loop over sentences and words",
            """
def teacher_forced_loss(step, state, y):
    totals, count = [0.0 for _ in y], 0
    for t in range(y.shape[1] - 1):
        z, state = step(y[:, t], state)
        log_probs = z - torch.logsumexp(z, dim=1, keepdim=True)
        for b in range(len(y)):
            if y[b, t + 1] != PAD:
                totals[b] = totals[b] - log_probs[b, y[b, t + 1]]
                count += 1
    totals = torch.stack(totals)
    return totals, totals.sum() / count
""",
        ),
    ],
    "greedy": [
        ("masked before it is fed", GREEDY),
        (
            "a tensor filled in, cut at the end",
            """
def greedy(step, state, first, max_len):
    out = torch.full((len(first), max_len), PAD)
    tokens, going = first, torch.ones(len(first), dtype=torch.bool)
    for t in range(max_len):
        logits, state = step(tokens, state)
        tokens = logits.max(dim=1).indices
        out[going, t] = tokens[going]
        going = going & (tokens != EOS)
    return out[:, : int((out != PAD).sum(dim=1).max())]
""",
        ),
        (
            "lists of numbers, padded at the end",
            """
def greedy(step, state, first, max_len):
    rows, tokens = [[] for _ in first], first
    for _ in range(max_len):
        logits, state = step(tokens, state)
        tokens = torch.tensor([int(row.argmax()) for row in logits])
        for row, word in zip(rows, tokens.tolist()):
            if EOS not in row:
                row.append(word)
        if all(EOS in row for row in rows):
            break
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
""",
        ),
    ],
    "gumbel_softmax": [
        (
            "log-probabilities and the maximum subtracted",
            """
def gumbel_softmax(logits, u, temperature):
    log_probs = logits - logits.logsumexp(dim=1, keepdim=True)
    scores = (log_probs - (-u.log()).log()) / temperature
    scores = scores - scores.max(dim=1, keepdim=True).values
    weights = scores.exp()
    return weights / weights.sum(dim=1, keepdim=True), weights.argmax(dim=1)
""",
        ),
        (
            "an exponential race",
            """
def gumbel_softmax(logits, u, temperature):
    race = torch.log(-u.log()) - logits
    return torch.softmax(-race / temperature, -1), race.argmin(-1)
""",
        ),
        (
            "row by row, the exponentials by hand",
            """
def gumbel_softmax(logits, u, temperature):
    rows, words = [], []
    for scores, chances in zip(logits, u):
        noisy = scores - torch.log(-torch.log(chances))
        e = torch.exp((noisy - noisy.max()) / temperature)
        rows.append(e / e.sum())
        words.append(int(noisy.argmax()))
    return torch.stack(rows), torch.tensor(words)
""",
        ),
    ],
    "scheduled_sampling": [
        ("argmax and where", SCHEDULED),
        (
            "all coins at once, bernoulli",
            """
def scheduled_sampling(step, state, y, epsilon, generator=None):
    chances = torch.full(y.shape, float(epsilon), dtype=torch.float64)
    coins = torch.bernoulli(chances, generator=generator).bool()
    coins[:, 0] = True
    fed = y[:, :-1].clone()
    logits = []
    for t in range(fed.shape[1]):
        if t:
            own = logits[-1].max(dim=1).indices
            fed[:, t] = coins[:, t] * y[:, t] + ~coins[:, t] * own
        z, state = step(fed[:, t], state)
        logits.append(z)
    return torch.stack(logits, 1), fed
""",
        ),
        (
            "coins from float64 numbers, words set by index",
            """
def scheduled_sampling(step, state, y, epsilon, generator=None):
    logits, fed = [], [y[:, 0]]
    for t in range(1, y.shape[1]):
        z, state = step(fed[-1], state)
        logits.append(z)
        own = torch.rand(len(y), generator=generator, dtype=torch.float64) >= epsilon
        words = y[:, t].clone()
        words[own] = z.argmax(dim=1)[own]
        fed.append(words)
    return torch.stack(logits, 1), torch.stack(fed[:-1], 1)
""",
        ),
    ],
    "beam_search": [
        ("every continuation", BEAM),
        (
            "a tensor of words, a tensor as score",
            _changed(
                BEAM,
                (
                    "return best[0], best[1]",
                    "return torch.tensor(best[0]), torch.as_tensor(best[1])",
                ),
                (
                    "gains = torch.log_softmax(logits[0], dim=-1).tolist()",
                    "gains = torch.log_softmax(logits[0], dim=-1)",
                ),
            ),
        ),
        (
            "finished paths are remembered when pushed out",
            _changed(
                BEAM,
                ("    beam = [([], 0.0, state)]\n", "    beam = [([], 0.0, state)]\n    done = []\n"),
                (
                    "        beam = candidates[:beam_width]\n",
                    "        beam = candidates[:beam_width]\n"
                    "        done += [path for path in beam if path[0][-1] == EOS]\n",
                ),
                (
                    "    finished = [path for path in beam if path[0][-1] == EOS]\n",
                    "    finished = done\n",
                ),
            ),
        ),
        (
            "all paths of the beam in one call, topk",
            """
def beam_search(step, state, beam_width, max_len, alpha=0.0):
    def rows(state, index):
        if isinstance(state, tuple):
            return tuple(rows(part, index) for part in state)
        return state[index]

    words, totals, going = [[]], torch.zeros(1, dtype=torch.float64), torch.tensor([True])
    while going.any() and len(max(words, key=len)) < max_len:
        fed = torch.tensor([w[-1] if w else SOS for w in words])
        logits, state = step(fed, state)
        gains = torch.log_softmax(logits, dim=-1)
        stay = torch.full_like(gains, -torch.inf)
        stay[:, EOS] = 0.0
        scores = (totals[:, None] + torch.where(going[:, None], gains, stay)).flatten()
        totals, best = scores.topk(min(beam_width, int((scores > -torch.inf).sum())))
        parents, tokens = best // logits.shape[1], (best % logits.shape[1]).tolist()
        words = [
            words[p] + ([t] if going[p] else []) for p, t in zip(parents.tolist(), tokens)
        ]
        state = rows(state, parents)
        going = torch.tensor([w[-1] != EOS for w in words])
    scores = torch.tensor([float(t) / len(w) ** alpha for t, w in zip(totals, words)])
    if not going.all():
        scores = torch.where(going, -torch.inf, scores)
    best = int(scores.argmax())
    return words[best], float(totals[best]) / len(words[best]) ** alpha
""",
        ),
    ],
}


# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
SURVIVORS = {
    "final_states": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            5,
            "return torch.cat([forward[rows, lengths - 1], backward[:, 0]], dim=+1)",
            "the tensor has two axes: the last one is number 1",
        )
    ],
    "teacher_forced_loss": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            7,
            "log_probs = torch.log_softmax(logits, dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "NumberReplacer",
            8,
            "loss = -log_probs.gather(-1, target[:, None])[:, -1]",
            "gather gives one column: the last is the first",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            8,
            "loss = -log_probs.gather(+1, target[:, None])[:, 0]",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceComparisonOperator_Eq_LtE",
            9,
            "losses = losses + torch.where(target <= PAD, 0.0, loss)",
            "PAD is 0, and no word has a number below it",
        ),
        (
            "ReplaceComparisonOperator_NotEq_Gt",
            10,
            "return losses, losses.sum() / (y[:, 1:] > PAD).sum()",
            "PAD is 0, and no word has a number below it",
        ),
    ],
    "greedy": [
        (
            "ReplaceComparisonOperator_Lt_NotEq",
            5,
            "while len(written) != max_len and not ended.all():",
            "the list grows by one word at a time, so it meets the length",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            7,
            "tokens = logits.argmax(dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceComparisonOperator_Eq_LtE",
            9,
            "ended = ended | (tokens <= EOS)",
            "no decoder, trained or of the checks, writes <pad> or <sos>",
        ),
    ],
    "gumbel_softmax": [
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "return torch.softmax(noisy / temperature, dim=+1), noisy.argmax(dim=-1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            4,
            "return torch.softmax(noisy / temperature, dim=-1), noisy.argmax(dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
    ],
    "scheduled_sampling": [
        ("ReplaceComparisonOperator_Gt_NotEq", 6, "if t != 0:", "t counts from 0 upwards"),
        (
            "ReplaceComparisonOperator_Lt_LtE",
            7,
            "truth = torch.rand(len(y), generator=generator) <= epsilon",
            "a random number is equal to epsilon once in millions",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            8,
            "tokens = torch.where(truth, y[:, t], logits[-1].argmax(dim=+1))",
            "the tensor has two axes: the last one is number 1",
        ),
    ],
    "beam_search": [
        (
            "NumberReplacer",
            1,
            "def beam_search(step, state, beam_width, max_len, alpha= -1.0):",
            "the assignment gives the signature, and every call names alpha",
        ),
        (
            "NumberReplacer",
            1,
            "def beam_search(step, state, beam_width, max_len, alpha= 1.0):",
            "the assignment gives the signature, and every call names alpha",
        ),
        ("DropStatement", 12, "pass", "only quicker: a beam of finished paths stays as it is"),
        ("DropStatement", 13, "pass", "only quicker: a beam of finished paths stays as it is"),
        (
            "ReplaceBreakWithContinue",
            13,
            "continue",
            "only quicker: a beam of finished paths stays as it is",
        ),
        (
            "DropCall",
            16,
            "last = ([words[-1] if words else SOS])",
            "the decoders take a list of one word, too",
        ),
        (
            "NumberReplacer",
            18,
            "gains, ids = torch.log_softmax(logits[ -1], dim=-1).sort(descending=True)",
            "one path is fed at a time: the last row is the first",
        ),
        (
            "NumberReplacer",
            18,
            "gains, ids = torch.log_softmax(logits[0], dim=- 0).sort(descending=True)",
            "one row is left: a vector has one axis",
        ),
        (
            "DropCall",
            19,
            "for gain, word in zip((gains[:beam_width]), ids.tolist()):",
            "tensors with one number are accepted in the result",
        ),
        (
            "DropCall",
            19,
            "for gain, word in zip(gains[:beam_width].tolist(), (ids)):",
            "tensors with one number are accepted in the result",
        ),
        (
            "SliceBound",
            19,
            "for gain, word in zip(gains[ : (beam_width) + 1].tolist(), ids.tolist()):",
            "only quicker: the beam is cut to its width two lines below",
        ),
        (
            "SliceBound",
            19,
            "for gain, word in zip(gains[ :].tolist(), ids.tolist()):",
            "only quicker: the beam is cut to its width two lines below",
        ),
    ],
}
