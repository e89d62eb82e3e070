"""The hidden checks of assignment 6, and the answers that test them.

WRONG: (name of the mistake, source, words that self-check and hidden check must say).
RIGHT: (style, source).
"""

from __future__ import annotations

WRONG = {
    "layer_norm": [
        (
            "eps outside the root, and std()",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / (x.std(-1, keepdim=True) + eps) + beta
""",
            "eps outside the root, and the variance",
        ),
        (
            "eps outside the root",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    sigma = x.std(-1, correction=0, keepdim=True)
    return gamma * (x - mean) / (sigma + eps) + beta
""",
            "eps outside the root",
        ),
        (
            "var() divides by D - 1",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(-1, keepdim=True) + eps) + beta
""",
            "divided by D - 1",
        ),
        (
            "eps is not used",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / x.std(-1, correction=0, keepdim=True) + beta
""",
            "eps missing",
        ),
        (
            "no root",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / (x.var(-1, correction=0, keepdim=True) + eps) + beta
""",
            "root missing",
        ),
        (
            "the mean is not subtracted",
            """
def layer_norm(x, gamma, beta, eps):
    return gamma * x / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps) + beta
""",
            "subtracted before you divide",
        ),
        (
            "RMS normalisation",
            """
def layer_norm(x, gamma, beta, eps):
    return gamma * x * torch.rsqrt((x**2).mean(-1, keepdim=True) + eps) + beta
""",
            "RMS normalisation",
        ),
        (
            "gamma and beta exchanged",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return beta * (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps) + gamma
""",
            "exchange gamma and beta",
        ),
        (
            "no gamma",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps) + beta
""",
            "gamma missing",
        ),
        (
            "no beta",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)
""",
            "beta missing",
        ),
        (
            "beta inside the brackets",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    return gamma * ((x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps) + beta)
""",
            "beta multiplied by gamma",
        ),
        (
            "scaled before the normalisation",
            """
def layer_norm(x, gamma, beta, eps):
    x = gamma * x + beta
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)
""",
            "before the normalisation",
        ),
        (
            "over the first axis",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(0, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(0, correction=0, keepdim=True) + eps) + beta
""",
            "over the first axis",
        ),
        (
            "over the positions",
            """
def layer_norm(x, gamma, beta, eps):
    dim = -2 if x.ndim > 1 else -1
    mean = x.mean(dim, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps) + beta
""",
            "over the positions",
        ),
        (
            "over everything",
            """
def layer_norm(x, gamma, beta, eps):
    return gamma * (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) + beta
""",
            "share one mean",
        ),
        (
            "no keepdim",
            """
def layer_norm(x, gamma, beta, eps):
    mean, variance = x.mean(-1), x.var(-1, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta
""",
            "keepdim=True missing",
        ),
        (
            "only for three axes",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(2, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(2, correction=0, keepdim=True) + eps) + beta
""",
            "dim=-1, not dim=2",
        ),
        (
            "changed in place",
            """
def layer_norm(x, gamma, beta, eps):
    x -= x.mean(-1, keepdim=True)
    return gamma * x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) + beta
""",
            "changes its input x",
        ),
        (
            "mean and variance cut off from the gradient",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    sigma = torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)
    return gamma * (x - mean.detach()) / sigma.detach() + beta
""",
            "the gradient of x is not",
        ),
        (
            "float32 inside",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    y = ((x - mean) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)).float()
    return gamma.float() * y + beta.float()
""",
            "float64",
        ),
        (
            "PyTorch's own",
            """
def layer_norm(x, gamma, beta, eps):
    return torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, eps)
""",
            "the thing to build here",
        ),
        (
            "the package's own",
            """
def layer_norm(x, gamma, beta, eps):
    return functional.layer_norm(x, gamma, beta, eps)
""",
            "the thing to build here",
        ),
    ],
    "warmup_rate": [
        (
            "max",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * max(step**-0.5, step * warmup**-1.5)
""",
            "smaller of the two",
        ),
        (
            "no warm-up",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * step**-0.5
""",
            "smaller of the two",
        ),
        (
            "climbs for ever",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * step * warmup**-1.5
""",
            "smaller of the two",
        ),
        (
            "no width",
            """
def warmup_rate(step, width, warmup):
    return min(step**-0.5, step * warmup**-1.5)
""",
            "width missing",
        ),
        (
            "times the root of the width",
            """
def warmup_rate(step, width, warmup):
    return width**0.5 * min(step**-0.5, step * warmup**-1.5)
""",
            "multiply by the root of the width",
        ),
        (
            "divided by the width",
            """
def warmup_rate(step, width, warmup):
    return 1 / width * min(step**-0.5, step * warmup**-1.5)
""",
            "divide by the width itself",
        ),
        (
            "warmup to the power -0.5",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * min(step**-0.5, step * warmup**-0.5)
""",
            "minus one half",
        ),
        (
            "step over warmup",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * min(step**-0.5, step / warmup)
""",
            "minus one?",
        ),
        (
            "the sign of the exponent lost",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * min(step**-0.5, step * warmup**1.5)
""",
            "smaller of the two",
        ),
        (
            "steps counted from 0",
            """
def warmup_rate(step, width, warmup):
    step = step + 1
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)
""",
            "add 1 to the step",
        ),
        (
            "one step late",
            """
def warmup_rate(step, width, warmup):
    step = step - 1
    return width**-0.5 * min(step**-0.5 if step else 1.0, step * warmup**-1.5)
""",
            "subtract 1 from the step",
        ),
        (
            "stays at the top",
            """
def warmup_rate(step, width, warmup):
    return (width * warmup) ** -0.5 * min(1, step / warmup)
""",
            "stay at the top",
        ),
        (
            "falls like 1 / step",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * min(1 / step, step * warmup**-1.5)
""",
            "like 1 / step",
        ),
        (
            "a curve on the way up",
            """
def warmup_rate(step, width, warmup):
    return width**-0.5 * min(step**-0.5, step**2 * warmup**-2.5)
""",
            "straight line",
        ),
        (
            "steps counted from the top",
            """
def warmup_rate(step, width, warmup):
    if step <= warmup:
        return width**-0.5 * step * warmup**-1.5
    return width**-0.5 * (step - warmup) ** -0.5
""",
            "count from there",
        ),
        (
            "no return",
            """
def warmup_rate(step, width, warmup):
    rate = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
""",
            "return statement missing",
        ),
    ],
    "block_parameters": [
        (
            "W_O forgotten",
            """
def block_parameters(width, hidden, cross):
    attention = 3 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "W_O forgotten",
        ),
        (
            "no biases",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * width * width
    mlp = 2 * width * hidden
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "all biases forgotten",
        ),
        (
            "no biases in the attention",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * width * width
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "biases of the attention",
        ),
        (
            "no biases in the MLP",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "biases of the MLP",
        ),
        (
            "no bias of the hidden layer",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "hidden layer forgotten",
        ),
        (
            "no bias of the second layer",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "second layer forgotten",
        ),
        (
            "both biases as long as a vector",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * (width * hidden + width)
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "one entry per hidden unit",
        ),
        (
            "gamma only",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "It has beta too",
        ),
        (
            "no norms",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 0
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "norms forgotten",
        ),
        (
            "one norm per block",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + 1 * norm
""",
            "one norm only",
        ),
        (
            "the third norm forgotten",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + 2 * norm
""",
            "norm of the cross-attention",
        ),
        (
            "cross is not used",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return 1 * attention + mlp + 2 * norm
""",
            "cross not used",
        ),
        (
            "the cross-attention forgotten",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    norm = 2 * width
    return 1 * attention + mlp + (3 if cross else 2) * norm
""",
            "the cross-attention forgotten",
        ),
        (
            "one matrix in the MLP",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = width * hidden + hidden + width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "one matrix only",
        ),
        (
            "two MLPs",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 2 * width * hidden + hidden + width
    return (2 if cross else 1) * (attention + mlp) + (3 if cross else 2) * 2 * width
""",
            "MLP come twice",
        ),
        (
            "hidden is 4 D",
            """
def block_parameters(width, hidden, cross):
    attention = 4 * (width * width + width)
    mlp = 8 * width * width + 5 * width
    norm = 2 * width
    return (2 if cross else 1) * attention + mlp + (3 if cross else 2) * norm
""",
            "taken to be 4 D",
        ),
        (
            "the package's block, counted",
            """
def block_parameters(width, hidden, cross):
    from seqcourse.nn import Block

    block = Block(width, 1, hidden, cross=cross)
    return sum(p.numel() for p in block.parameters())
""",
            "the thing to build here",
        ),
        (
            "a PyTorch layer, counted",
            """
def block_parameters(width, hidden, cross):
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    return sum(p.numel() for p in kind(width, 1, hidden).parameters())
""",
            "the thing to build here",
        ),
    ],
    "transformer_parameters": [
        (
            "an output matrix of its own",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + 2 * target) * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "output weights counted",
        ),
        (
            "no bias of the logits",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "bias of the logits forgotten",
        ),
        (
            "a bias as long as a vector",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + width
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "as long as a vector",
        ),
        (
            "a bias for source words too",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * (width + 1)
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "source words too",
        ),
        (
            "no tables",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "tables missing",
        ),
        (
            "only the target table",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = target * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "one table only",
        ),
        (
            "only the source table",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = source * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "one table only",
        ),
        (
            "one block on either side",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = encoder_block + decoder_block
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "one block on either side",
        ),
        (
            "only the encoder's blocks",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * encoder_block
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "decoder's blocks missing",
        ),
        (
            "layers shared out",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * (encoder_block + decoder_block) // 2
    last = 4 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "shared out",
        ),
        (
            "no last norms",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 0
    return tables + blocks + last
""",
            "last norms forgotten",
        ),
        (
            "one last norm",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 2 * width if order == "pre" else 0
    return tables + blocks + last
""",
            "one last norm only",
        ),
        (
            "last norms always",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width
    return tables + blocks + last
""",
            "last norms with post-norm",
        ),
        (
            "last norms with post-norm",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    tables = (source + target) * width + target
    blocks = layers * (encoder_block + decoder_block)
    last = 4 * width if order == "post" else 0
    return tables + blocks + last
""",
            "last norms with post-norm",
        ),
        (
            "a model of the package, counted",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    model = models.Transformer(source, target, width, 1, layers, norm=order)
    return sum(p.numel() for p in model.parameters())
""",
            "the thing to build here",
        ),
    ],
    "encoder_block": [
        (
            "always post",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    x = norms[0](x + attend(x, x, mask))
    return norms[1](x + mlp(x))
""",
            "other order",
        ),
        (
            "always pre",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "other order",
        ),
        (
            "the orders exchanged",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "pre":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "other order",
        ),
        (
            "no residual connections",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](attend(x, x, mask))
        return norms[1](mlp(x))
    n = norms[0](x)
    x = attend(n, n, mask)
    return mlp(norms[1](x))
""",
            "both residual connections missing",
        ),
        (
            "no residual around the attention",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "residual connection around the attention",
        ),
        (
            "no residual around the MLP",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return mlp(norms[1](x))
""",
            "residual connection around the MLP",
        ),
        (
            "no norms",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    x = x + attend(x, x, mask)
    return x + mlp(x)
""",
            "nothing normalised",
        ),
        (
            "no second norm",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return x + mlp(x)
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x + mlp(x)
""",
            "second norm missing",
        ),
        (
            "norms exchanged",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[1](x + attend(x, x, mask))
        return norms[0](x + mlp(x))
    n = norms[1](x)
    x = x + attend(n, n, mask)
    return x + mlp(norms[0](x))
""",
            "norms exchanged",
        ),
        (
            "one norm for both",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[0](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x + mlp(norms[0](x))
""",
            "norms[0] used twice",
        ),
        (
            "the mask is not handed on",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, None))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, None)
    return x + mlp(norms[1](x))
""",
            "mask not get into",
        ),
        (
            "the mask turned round",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    mask = ~mask
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "wrong way round",
        ),
        (
            "pre: only the queries normalised",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, x, mask)
    return x + mlp(norms[1](x))
""",
            "only the queries normalised",
        ),
        (
            "pre: only keys and values normalised",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(x, n, mask)
    return x + mlp(norms[1](x))
""",
            "queries not normalised",
        ),
        (
            "pre: the normalised x on the residual path",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = n + attend(n, n, mask)
    return norms[1](x) + mlp(norms[1](x))
""",
            "on the residual path",
        ),
        (
            "pre: the normalised x on the residual path of the attention",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = n + attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "on the residual path",
        ),
        (
            "the sublayer's result normalised",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = x + norms[0](attend(x, x, mask))
        return x + norms[1](mlp(x))
    n = norms[0](x)
    x = x + norms[0](attend(x, x, mask))
    return x + norms[1](mlp(x))
""",
            "before x is added",
        ),
        (
            "the MLP first",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[1](x + mlp(x))
        return norms[0](x + attend(x, x, mask))
    n = x + mlp(norms[1](x))
    x = n
    return x + attend(norms[0](x), norms[0](x), mask)
""",
            "MLP come first",
        ),
        (
            "no MLP",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return x
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return x
""",
            "MLP missing",
        ),
        (
            "the block's input around the MLP",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        u = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(u))
    n = norms[0](x)
    u = x + attend(n, n, mask)
    return x + mlp(norms[1](u))
""",
            "block's input added around the MLP",
        ),
        (
            "attention and MLP side by side",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        u = norms[0](x + attend(x, x, mask))
        return norms[1](u + mlp(x))
    n = norms[0](x)
    return x + attend(n, n, mask) + mlp(norms[1](x))
""",
            "MLP get the block's input",
        ),
        (
            "pre: a norm too many at the end",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    return norms[1](x + mlp(norms[1](x)))
""",
            "norm too many",
        ),
        (
            "attend without a memory",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, mask)
    return x + mlp(norms[1](x))
""",
            "attend takes queries, memory and mask",
        ),
        (
            "changed in place",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x += attend(x, x, mask)
        x = norms[0](x)
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x += attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "changes its input x",
        ),
        (
            "cut off from the gradient",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x.detach() + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x.detach() + attend(n, n, mask)
    return x + mlp(norms[1](x))
""",
            "gradient of x is not",
        ),
        (
            "no return with pre",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    if order == "post":
        x = norms[0](x + attend(x, x, mask))
        return norms[1](x + mlp(x))
    n = norms[0](x)
    x = x + attend(n, n, mask)
    x = x + mlp(norms[1](x))
""",
            "return statement missing",
        ),
    ],
    "label_smoothed_loss": [
        (
            "epsilon is not used",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = one_hot
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "epsilon not used",
        ),
        (
            "spread over the others",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / (v - 1) * (1 - one_hot)
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "over the other words only",
        ),
        (
            "the right word gets 1 - epsilon alone",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = torch.where(one_hot > 0, 1 - epsilon, epsilon / v)
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "1 - epsilon alone",
        ),
        (
            "the right word keeps its 1",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "keep all of its 1",
        ),
        (
            "epsilon the wrong way round",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = epsilon * one_hot + (1 - epsilon) / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "exchanged",
        ),
        (
            "not divided by V",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "not divided by V",
        ),
        (
            "no share for <pad>",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    q = torch.zeros_like(logits) + epsilon / (v - 2)
    q[..., pad] = 0
    q.scatter_(-1, targets[..., None], 1 - epsilon)
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "<pad> get no share",
        ),
        (
            "a divergence",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * (torch.log_softmax(logits, dim=-1) - torch.log(q.clamp(min=1e-30)))).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "divergence KL",
        ),
        (
            "the sign",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = (q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "sign wrong",
        ),
        (
            "logits in place of log-probabilities",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * logits).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "logits for log-probabilities",
        ),
        (
            "no log",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "log missing",
        ),
        (
            "softmax over the positions",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "over the positions",
        ),
        (
            "log of a softmax",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log(torch.softmax(logits, dim=-1))).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "overflow",
        ),
        (
            "exp without a maximum",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log(torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True))).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "overflow",
        ),
        (
            "padding counted",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return losses.mean()
""",
            "padding counted",
        ),
        (
            "padding left out of the sum only",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).mean()
""",
            "but counted in the mean",
        ),
        (
            "the sum",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return losses[real].sum()
""",
            "return the sum",
        ),
        (
            "divided by the number of sentences",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return losses[real].sum() / len(targets)
""",
            "number of sentences",
        ),
        (
            "the mean of the sentences' means",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return ((losses * real).sum(1) / real.sum(1)).mean()
""",
            "sentences' own means",
        ),
        (
            "no mean",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return losses * real
""",
            "no mean yet",
        ),
        (
            "padding is always 0",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != 0
    return (losses * real).sum() / real.sum()
""",
            "id 0 taken for padding",
        ),
        (
            "a logarithm to the base 2",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * (torch.log_softmax(logits, dim=-1) / 0.6931471805599453)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "base 2",
        ),
        (
            "changed in place",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    logits -= logits.logsumexp(-1, keepdim=True)
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * logits).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "changes its input logits",
        ),
        (
            "cut off from the gradient",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    logits = logits.detach()
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
            "no gradient reaches logits",
        ),
        (
            "PyTorch's own",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad, label_smoothing=epsilon
    )
""",
            "the thing to build here",
        ),
        (
            "the package's own",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    return functional.sequence_loss(logits, targets, pad, epsilon)
""",
            "the thing to build here",
        ),
    ],
    "decoder_block": [
        (
            "always post",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    y = norms[0](y + self_attend(y, y, causal))
    y = norms[1](y + cross_attend(y, memory, memory_mask))
    return norms[2](y + mlp(y))
""",
            "other order",
        ),
        (
            "always pre",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "other order",
        ),
        (
            "no causal mask",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = None
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "look ahead",
        ),
        (
            "the causal mask turned round",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    n = y.shape[1]
    causal = torch.ones(n, n).triu().bool()
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "lower triangle",
        ),
        (
            "a word hidden from itself",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    n = y.shape[1]
    causal = torch.ones(n, n).tril(-1).bool()
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "hide a word from itself",
        ),
        (
            "one word ahead",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    n = y.shape[1]
    causal = torch.ones(n, n).tril(1).bool()
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "one word ahead",
        ),
        (
            "the memory's mask in the self-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = memory_mask
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "get the memory's mask",
        ),
        (
            "no mask in the cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, None))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, None)
    return y + mlp(norms[2](y))
""",
            "memory_mask not used",
        ),
        (
            "the memory's mask turned round",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, ~memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, ~memory_mask)
    return y + mlp(norms[2](y))
""",
            "mask the wrong way round",
        ),
        (
            "a causal cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    ahead = torch.ones(y.shape[1], memory.shape[1]).tril().bool()
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, ahead))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, ahead)
    return y + mlp(norms[2](y))
""",
            "cross-attention causal",
        ),
        (
            "a second self-attention in place of the cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, y, causal))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), norms[1](y), causal)
    return y + mlp(norms[2](y))
""",
            "decoder's own vectors",
        ),
        (
            "queries and memory exchanged",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(memory, y, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(memory, norms[1](y), memory_mask)
    return y + mlp(norms[2](y))
""",
            "queries and memory exchanged",
        ),
        (
            "the memory normalised",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    memory = norms[1](memory)
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "memory normalised inside",
        ),
        (
            "self and cross exchanged",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + cross_attend(y, y, causal))
        y = norms[1](y + self_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + cross_attend(n, n, causal)
    y = y + self_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "self_attend and cross_attend exchanged",
        ),
        (
            "the cross-attention first",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        y = norms[0](y + self_attend(y, y, causal))
        return norms[2](y + mlp(y))
    n = y + cross_attend(norms[1](y), memory, memory_mask)
    y = n
    y = y + self_attend(norms[0](y), norms[0](y), causal)
    return y + mlp(norms[2](y))
""",
            "cross-attention come first",
        ),
        (
            "the MLP between the attentions",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[2](y + mlp(y))
        return norms[1](y + cross_attend(y, memory, memory_mask))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + mlp(norms[2](y))
    return y + cross_attend(norms[1](y), memory, memory_mask)
""",
            "MLP come too early",
        ),
        (
            "no residual connections",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](self_attend(y, y, causal))
        y = norms[1](cross_attend(y, memory, memory_mask))
        return norms[2](mlp(y))
    n = norms[0](y)
    y = self_attend(n, n, causal)
    y = cross_attend(norms[1](y), memory, memory_mask)
    return mlp(norms[2](y))
""",
            "every residual connection missing",
        ),
        (
            "no residual around the cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "residual connection around the cross-attention",
        ),
        (
            "no norms",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    y = y + self_attend(y, y, causal)
    y = y + cross_attend(y, memory, memory_mask)
    return y + mlp(y)
""",
            "nothing normalised",
        ),
        (
            "no norm for the cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = y + cross_attend(y, memory, memory_mask)
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(y, memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "norm of the cross-attention",
        ),
        (
            "no cross-attention",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = y
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y
    return y + mlp(norms[2](y))
""",
            "cross-attention missing",
        ),
        (
            "no MLP",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return y
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y
""",
            "MLP missing",
        ),
        (
            "the second and third norm exchanged",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[2](y + cross_attend(y, memory, memory_mask))
        return norms[1](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[2](y), memory, memory_mask)
    return y + mlp(norms[1](y))
""",
            "own norm",
        ),
        (
            "one norm for all",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[0](y + cross_attend(y, memory, memory_mask))
        return norms[0](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[0](y), memory, memory_mask)
    return y + mlp(norms[0](y))
""",
            "own norm",
        ),
        (
            "pre: only the queries normalised",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, y, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "only the queries",
        ),
        (
            "the sublayers' results normalised",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    y = y + norms[0](self_attend(y, y, causal))
    y = y + norms[1](cross_attend(y, memory, memory_mask))
    return y + norms[2](mlp(y))
""",
            "before y is added",
        ),
        (
            "changed in place",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    if order == "pre":
        n = norms[0](y)
        y += self_attend(n, n, causal)
        y = y + cross_attend(norms[1](y), memory, memory_mask)
        return y + mlp(norms[2](y))
    y += self_attend(y, y, causal)
    y = norms[0](y)
    y = norms[1](y + cross_attend(y, memory, memory_mask))
    return norms[2](y + mlp(y))
""",
            "changes its input y",
        ),
        (
            "the memory cut off from the gradient",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    causal = functional.causal_mask(y.shape[1])
    memory = memory.detach()
    if order == "post":
        y = norms[0](y + self_attend(y, y, causal))
        y = norms[1](y + cross_attend(y, memory, memory_mask))
        return norms[2](y + mlp(y))
    n = norms[0](y)
    y = y + self_attend(n, n, causal)
    y = y + cross_attend(norms[1](y), memory, memory_mask)
    return y + mlp(norms[2](y))
""",
            "no gradient reaches memory",
        ),
    ],
    "translate": [
        (
            "always from the first state",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "from the first state",
        ),
        (
            "<sos> fed again and again",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        tokens = torch.full((len(src),), data.SOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "<sos> fed again",
        ),
        (
            "encoded at every step",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        memory = model.encode(src, lengths)
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "encoded again at every step",
        ),
        (
            "begins with <eos>",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.EOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "begin with <eos>",
        ),
        (
            "begins with <pad>",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.zeros(len(src), dtype=torch.int64)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "begin with <pad>",
        ),
        (
            "the lengths are not used",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, torch.full((len(src),), src.shape[1]))
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "padding of the source read",
        ),
        (
            "the unlikeliest word",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmin(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "unlikeliest",
        ),
        (
            "words after <eos>",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(tokens)
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "go on after its <eos>",
        ),
        (
            "words after <eos>, to max_len",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(tokens)
        ended = ended | (tokens == data.EOS)
    return torch.stack(written, dim=1)
""",
            "go on after its <eos>",
        ),
        (
            "filled with <eos>",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.EOS, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "filled with <eos>",
        ),
        (
            "stops with the first sentence",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.any():
            break
    return torch.stack(written, dim=1)
""",
            "first sentence ends",
        ),
        (
            "always max_len steps",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
    return torch.stack(written, dim=1)
""",
            "always run to max_len",
        ),
        (
            "no <eos>",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended | (tokens == data.EOS), data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "leave out the <eos>",
        ),
        (
            "begins with <sos> in the result",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = [tokens]
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "begin with <sos>",
        ),
        (
            "one word too few",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len - 1):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    if not written:
        return src[:, :0]
    return torch.stack(written, dim=1)
""",
            "one word too few",
        ),
        (
            "one word too many",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len + 1):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "one word too many",
        ),
        (
            "words along the first axis",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written)
""",
            "along the first axis",
        ),
        (
            "a list",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.logits.argmax(-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return written
""",
            "return a list",
        ),
        (
            "the step taken for a pair",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        logits, state = model.step(tokens, state, memory)
        tokens = logits.argmax(-1)
        written.append(tokens)
    return torch.stack(written, dim=1)
""",
            "out.logits and out.state",
        ),
        (
            "the step taken for logits",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    tokens = torch.full((len(src),), data.SOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    written = []
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        state = out.state
        tokens = out.argmax(dim=-1)
        written.append(torch.where(ended, data.PAD, tokens))
        ended = ended | (tokens == data.EOS)
        if ended.all():
            break
    return torch.stack(written, dim=1)
""",
            "out.logits and out.state",
        ),
        (
            "the package's own search",
            """
def translate(model, src, lengths, max_len):
    from seqcourse.decode import greedy

    found = greedy(model, model.encode(src, lengths), max_len=max_len)
    return data.pad([each[0].tokens for each in found])[0]
""",
            "the thing to build here",
        ),
        (
            "the package's beam search with one beam",
            """
def translate(model, src, lengths, max_len):
    from seqcourse import decode

    found = decode.beam_search(model, model.encode(src, lengths), 1, max_len=max_len)
    return data.pad([each[0].tokens for each in found])[0]
""",
            "the thing to build here",
        ),
    ],
    "poll_1": [
        ("the letter b", 'poll_1 = "b"'),
        ("the letter c", 'poll_1 = "c"'),
        ("no answer", "poll_1 = None"),
        ("all letters at once", 'poll_1 = "abc"'),
        ("a list of letters", 'poll_1 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_1 = "x"'),
        ("a capital letter", 'poll_1 = "A"'),
    ],
    "poll_2": [
        ("the letter a", 'poll_2 = "a"'),
        ("the letter b", 'poll_2 = "b"'),
        ("no answer", "poll_2 = None"),
        ("all letters at once", 'poll_2 = "abc"'),
        ("a list of letters", 'poll_2 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_2 = "x"'),
        ("a capital letter", 'poll_2 = "C"'),
    ],
    "poll_3": [
        ("the letter a", 'poll_3 = "a"'),
        ("the letter c", 'poll_3 = "c"'),
        ("no answer", "poll_3 = None"),
        ("all letters at once", 'poll_3 = "abc"'),
        ("a list of letters", 'poll_3 = ["a", "b", "c"]'),
        ("a letter that is no answer", 'poll_3 = "x"'),
        ("a capital letter", 'poll_3 = "B"'),
    ],
    "poll_4": [
        ("the letter a", 'poll_4 = "a"'),
        ("the letter b", 'poll_4 = "b"'),
        ("the letter c", 'poll_4 = "c"'),
        ("no answer", "poll_4 = None"),
        ("all letters at once", 'poll_4 = "abcd"'),
        ("a list of letters", 'poll_4 = ["a", "b", "c", "d"]'),
        ("a letter that is no answer", 'poll_4 = "x"'),
        ("a capital letter", 'poll_4 = "D"'),
    ],
}

RIGHT = {
    "layer_norm": [
        (
            "var_mean and rsqrt",
            """
def layer_norm(x, gamma, beta, eps):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps) * gamma + beta
""",
        ),
        (
            "mean of squares minus square of the mean",
            """
def layer_norm(x, gamma, beta, eps):
    mean = x.mean(-1)[..., None]
    variance = (x * x).mean(-1)[..., None] - mean**2
    return gamma * ((x - mean) / (variance + eps) ** 0.5) + beta
""",
        ),
        (
            "sums and einsum",
            """
def layer_norm(x, gamma, beta, eps):
    d = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / d
    variance = torch.einsum("...i,...i->...", centred, centred) / d
    return torch.addcmul(beta, gamma, centred / torch.sqrt(variance + eps).unsqueeze(-1))
""",
        ),
        (
            "vector by vector",
            """
def layer_norm(x, gamma, beta, eps):
    rows = []
    for h in x.reshape(-1, x.shape[-1]):
        h = h - h.mean()
        rows.append(gamma * h / torch.sqrt((h @ h) / len(h) + eps) + beta)
    return torch.stack(rows).reshape(x.shape)
""",
        ),
    ],
    "warmup_rate": [
        (
            "with an if",
            """
def warmup_rate(step, width, warmup):
    if step < warmup:
        return step / (width**0.5 * warmup**1.5)
    return 1 / (width * step) ** 0.5
""",
        ),
        (
            "the math module",
            """
def warmup_rate(step, width, warmup):
    import math

    return min(1 / math.sqrt(step), step / math.sqrt(warmup) ** 3) / math.sqrt(width)
""",
        ),
        (
            "as a tensor",
            """
def warmup_rate(step, width, warmup):
    rates = torch.tensor([step**-0.5, step * warmup**-1.5], dtype=torch.float64)
    return rates.min() * width**-0.5
""",
        ),
        (
            "the top times the distance from it",
            """
def warmup_rate(step, width, warmup):
    top = (width * warmup) ** -0.5
    return top * min(step / warmup, (warmup / step) ** 0.5)
""",
        ),
    ],
    "block_parameters": [
        (
            "a dictionary named parameters",
            """
parameters = {"matrix": lambda a, b: a * b + b}


class Block:
    def __init__(self, width, hidden):
        self.parameters = 4 * parameters["matrix"](width, width)
        self.numel = parameters["matrix"](width, hidden) + parameters["matrix"](hidden, width)


def block_parameters(width, hidden, cross):
    block = Block(width, hidden)
    return (1 + cross) * block.parameters + block.numel + (2 + cross) * 2 * width
""",
        ),
        (
            "one polynomial",
            """
def block_parameters(width, hidden, cross):
    d, f = width, hidden
    return 4 * d * d + 9 * d + 2 * d * f + f + (4 * d * d + 6 * d if cross else 0)
""",
        ),
        (
            "matrices with a column for the bias",
            """
def block_parameters(width, hidden, cross):
    def layer(into, out):
        return (into + 1) * out

    attentions = 1 + int(cross)
    total = attentions * 4 * layer(width, width)
    total += layer(width, hidden) + layer(hidden, width)
    return total + (attentions + 1) * (width + width)
""",
        ),
        (
            "a list of shapes",
            """
def block_parameters(width, hidden, cross):
    shapes = [(width, width), (width,)] * 4 * (2 if cross else 1)
    shapes += [(hidden, width), (hidden,), (width, hidden), (width,)]
    shapes += [(width,), (width,)] * (3 if cross else 2)
    return sum(shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in shapes)
""",
        ),
    ],
    "transformer_parameters": [
        (
            "step by step",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    total = source * width
    total += target * (width + 1)
    for _ in range(layers):
        total += encoder_block
        total += decoder_block
    if order == "pre":
        total += 2 * width + 2 * width
    return total
""",
        ),
        (
            "one line",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    norms = 4 * (order == "pre")
    blocks = sum([encoder_block, decoder_block] * layers)
    return target + width * (source + target + norms) + blocks
""",
        ),
        (
            "the two sides",
            """
def transformer_parameters(encoder_block, decoder_block, source, target, width, layers, order):
    norm = 2 * width if order != "post" else 0
    encoder = source * width + layers * encoder_block + norm
    decoder = target * width + layers * decoder_block + norm
    return encoder + decoder + target
""",
        ),
    ],
    "encoder_block": [
        (
            "a helper for one sublayer",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    def sublayer(x, f, norm):
        if order == "post":
            return norm(x + f(x))
        return x + f(norm(x))

    x = sublayer(x, lambda n: attend(n, n, mask), norms[0])
    return sublayer(x, mlp, norms[1])
""",
        ),
        (
            "names for the arguments",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    first, second = norms
    post = order == "post"
    n = x if post else first(x)
    u = x + attend(queries=n, memory=n, mask=mask)
    u = first(u) if post else u
    out = u + mlp(u if post else second(u))
    return second(out) if post else out
""",
        ),
        (
            "sentence by sentence",
            """
def encoder_block(x, mask, attend, mlp, norms, order):
    rows = []
    for x, real in zip(x.split(1), mask.split(1)):
        if order == "pre":
            n = norms[0](x)
            x = attend(n, n, real) + x
            rows.append(mlp(norms[1](x)) + x)
        else:
            x = norms[0](attend(x, x, real) + x)
            rows.append(norms[1](mlp(x) + x))
    return torch.cat(rows)
""",
        ),
    ],
    "label_smoothed_loss": [
        (
            "one_hot",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.shape[-1]
    one_hot = torch.nn.functional.one_hot(targets, v).to(logits.dtype)
    q = (1 - epsilon) * one_hot + epsilon / v
    losses = -(q * torch.log_softmax(logits, dim=-1)).sum(-1)
    real = targets != pad
    return (losses * real).sum() / real.sum()
""",
        ),
        (
            "real places first",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    real = targets != pad
    log_p = logits[real].log_softmax(-1)
    right = log_p[torch.arange(len(log_p)), targets[real]]
    return -((1 - epsilon) * right + epsilon * log_p.mean(-1)).mean()
""",
        ),
        (
            "nll_loss twice",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    log_p = torch.nn.functional.log_softmax(logits, -1).flatten(0, 1)
    right = torch.nn.functional.nll_loss(log_p, targets.flatten(), ignore_index=pad)
    keep = (targets != pad).flatten().to(logits.dtype)
    even = -(log_p.mean(-1) * keep).sum() / keep.sum()
    return (1 - epsilon) * right + epsilon * even
""",
        ),
        (
            "scatter",
            """
def label_smoothed_loss(logits, targets, epsilon, pad):
    v = logits.size(2)
    q = torch.full_like(logits, epsilon / v)
    q = q.scatter_add(2, targets[..., None], torch.full_like(logits[..., :1], 1 - epsilon))
    log_p = logits - torch.logsumexp(logits, dim=2, keepdim=True)
    losses = -torch.einsum("bnv,bnv->bn", q, log_p)
    return losses[targets != pad].mean()
""",
        ),
    ],
    "decoder_block": [
        (
            "a helper for one sublayer",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    def sublayer(y, f, norm):
        return norm(y + f(y)) if order == "post" else y + f(norm(y))

    ahead = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
    y = sublayer(y, lambda n: self_attend(n, n, ahead), norms[0])
    y = sublayer(y, lambda n: cross_attend(n, memory, memory_mask), norms[1])
    return sublayer(y, mlp, norms[2])
""",
        ),
        (
            "a mask for every sentence",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    places = torch.arange(y.shape[1])
    causal = (places[None, :] <= places[:, None]).expand(len(y), -1, -1)
    one, two, three = norms
    if order == "pre":
        n = one(y)
        u = self_attend(n, n, causal) + y
        v = cross_attend(two(u), memory, memory_mask) + u
        return mlp(three(v)) + v
    u = one(self_attend(y, y, causal) + y)
    v = two(cross_attend(u, memory, memory_mask) + u)
    return three(mlp(v) + v)
""",
        ),
        (
            "a loop over the sublayers, names for the arguments",
            """
def decoder_block(y, memory, memory_mask, self_attend, cross_attend, mlp, norms, order):
    size = y.size(1)
    causal = ~torch.triu(torch.ones(size, size), diagonal=1).bool()
    calls = [
        lambda n: self_attend(queries=n, memory=n, mask=causal[None]),
        lambda n: cross_attend(queries=n, memory=memory, mask=memory_mask),
        mlp,
    ]
    for f, norm in zip(calls, norms, strict=True):
        y = y + f(norm(y)) if order == "pre" else norm(y + f(y))
    return y
""",
        ),
    ],
    "translate": [
        (
            "sentence by sentence",
            """
def translate(model, src, lengths, max_len):
    rows = []
    for b in range(len(src)):
        memory = model.encode(src[b : b + 1, : lengths[b]], lengths[b : b + 1])
        state, word, row = model.start(memory), data.SOS, []
        while len(row) < max_len and word != data.EOS:
            out = model.step(torch.tensor([word]), state, memory)
            state, word = out.state, out.logits[0].argmax().item()
            row.append(word)
        rows.append(row)
    return data.pad(rows)[0]
""",
        ),
        (
            "a table that is cut at the end",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    table = torch.full((len(src), max_len), data.PAD)
    tokens = torch.full_like(lengths, data.SOS)
    going = torch.ones_like(lengths, dtype=torch.bool)
    for t in range(max_len):
        out = model.step(tokens, state, memory)
        tokens, state = out.logits.max(dim=-1).indices, out.state
        table[going, t] = tokens[going]
        going &= tokens != data.EOS
        if not going.any():
            break
    return table[:, : t + 1]
""",
        ),
        (
            "finished sentences are fed padding",
            """
def translate(model, src, lengths, max_len):
    memory = model.encode(src, lengths)
    state = model.start(memory)
    rows = torch.full((len(src), 1), data.SOS)
    for _ in range(max_len):
        out = model.step(rows[:, -1], state, memory)
        state, best = out.state, torch.topk(out.logits, 1).indices
        over = (rows == data.EOS).any(dim=1, keepdim=True)
        rows = torch.cat([rows, best.masked_fill(over, data.PAD)], dim=1)
        if bool((rows == data.EOS).any(dim=1).all()):
            break
    return rows[:, 1:]
""",
        ),
        (
            "finished sentences leave the batch",
            """
def translate(model, src, lengths, max_len):
    from dataclasses import replace

    memory = model.encode(src, lengths)
    state = model.start(memory)
    rows = [[] for _ in src]
    going = torch.arange(len(src))
    tokens = torch.full((len(src),), data.SOS)
    for _ in range(max_len):
        out = model.step(tokens, state, memory)
        tokens = out.logits.argmax(dim=-1)
        for b, word in zip(going.tolist(), tokens.tolist()):
            rows[b].append(word)
        stay = tokens != data.EOS
        if not stay.any():
            break
        going, tokens = going[stay], tokens[stay]
        state = tuple(s[stay] if torch.is_tensor(s) else s for s in out.state)
        memory = replace(memory, states=memory.states[stay], mask=memory.mask[stay])
    return data.pad(rows)[0]
""",
        ),
    ],
}

# Operator mutants of the reference solutions that may keep every point: what was changed, in which
# line of the answer, what it reads then, and why nobody need lose a point for it.
TWO_WORDS = "the order is one of two words, and this compares them in alphabetical order"
ON_CPU = "graded on the CPU, where new tensors are anyway"
SURVIVORS = {
    "transformer_parameters": [
        (
            "ReplaceComparisonOperator_Eq_GtE",
            4,
            'last_norms = 2 * 2 * width if order >= "pre" else 0',
            TWO_WORDS,
        ),
    ],
    "encoder_block": [
        ("ReplaceComparisonOperator_Eq_LtE", 3, 'if order <= "post":', TWO_WORDS),
    ],
    "label_smoothed_loss": [
        (
            "NumberReplacer",
            4,
            "right = log_p.gather(-1, targets[..., None])[..., -1]",
            "the last axis has size 1",
        ),
    ],
    "decoder_block": [
        ("DropArgument", 3, "causal = functional.causal_mask(y.shape[1])", ON_CPU),
        ("ReplaceComparisonOperator_Eq_LtE", 4, 'if order <= "post":', TWO_WORDS),
    ],
    "translate": [
        ("DropArgument", 5, "tokens = torch.full((len(src),), data.SOS)", ON_CPU),
        ("DropArgument", 6, "ended = torch.zeros(len(src), dtype=torch.bool)", ON_CPU),
        (
            "ReplaceComparisonOperator_Lt_NotEq",
            8,
            "while len(written) != max_len and not ended.all():",
            "the number of words grows by one and meets max_len",
        ),
        (
            "ReplaceUnaryOperator_USub_UAdd",
            10,
            "state, tokens = out.state, out.logits.argmax(dim=+1)",
            "the tensor has two axes: the last one is number 1",
        ),
        (
            "ReplaceComparisonOperator_Eq_LtE",
            12,
            "ended = ended | (tokens <= data.EOS)",
            "no model writes <pad> or <sos>, the ids below <eos>",
        ),
    ],
}
