"""Parameters and floating-point operations of a Transformer, by formula, from its shape alone.

::

    shape = Shape(layers=12, width=768, heads=12, hidden=3072, vocabulary=50257, positions=1024)
    sum(count_parameters(shape).values())  # 124,439,808: the small GPT-2
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

KINDS = ("decoder-only", "encoder-only", "encoder-decoder")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the counts of a Transformer depend on.

    Attributes:
        layers: N; of an encoder-decoder, in the encoder and again in the decoder.
        width: D, of every vector.
        heads: H of every attention.
        hidden: d_ff of the MLPs.
        vocabulary: V, of what is predicted.
        kind: "decoder-only", "encoder-only" or "encoder-decoder".
        source_vocabulary: if the encoder has an embedding table of its own, its rows; None if one table
            serves both sides. Of an encoder-decoder only.
        positions: rows of a learned table of positions; 0 if positions are computed. An encoder-decoder
            has two tables.
        segments: rows of a table of segments, as BERT has.
        tied: whether the embedding table is the output's weights too.
        output_bias: whether each word has a bias in the output.
        biases: whether the linear layers of the blocks have biases.
        norm: "pre" or "post"; pre-norm ends each stack with one more normalisation.
        norm_shifts: whether normalisations have shifts beta beside the scales gamma; RMS norm has not.
        embedding_norm: whether the sum of the embeddings is normalised, as in BERT.
        head_size: coordinates of a head; D / H if it is not given.
        key_value_heads: heads of the keys and values, where several query heads share one; else H.
        gated: whether the MLP has a third matrix, a gate (Shazeer 2020).
        word_head: one more layer, D to D, and a normalisation before the output, as in BERT.
        pooler: a layer, D to D, on the first vector, as in BERT.
        classes: outputs of a linear classifier; 0 if there is none.

    Raises:
        ValueError: if the kind or the norm is unknown, or a number makes no sense.
    """

    layers: int
    width: int
    heads: int
    hidden: int
    vocabulary: int
    kind: str = "decoder-only"
    source_vocabulary: int | None = None
    positions: int = 0
    segments: int = 0
    tied: bool = True
    output_bias: bool = False
    biases: bool = True
    norm: str = "pre"
    norm_shifts: bool = True
    embedding_norm: bool = False
    head_size: int | None = None
    key_value_heads: int | None = None
    gated: bool = False
    word_head: bool = False
    pooler: bool = False
    classes: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind should be one of {', '.join(KINDS)}, but it is {self.kind!r}.")
        if self.norm not in ("pre", "post"):
            raise ValueError(f"norm should be pre or post, but it is {self.norm!r}.")
        for name in ("layers", "width", "heads", "hidden", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} should be at least 1, but it is {getattr(self, name)}.")
        if self.head_size is None and self.width % self.heads:
            raise ValueError(
                f"heads should divide the width, {self.width}, but there are {self.heads}. "
                f"Where heads times their size is not the width, give head_size."
            )
        if self.source_vocabulary is not None and self.kind != "encoder-decoder":
            raise ValueError(f"A {self.kind} model has one vocabulary: leave source_vocabulary out.")

    @property
    def stacks(self) -> int:
        """Stacks of blocks: 2 of an encoder-decoder, else 1."""
        return 2 if self.kind == "encoder-decoder" else 1

    @property
    def query_width(self) -> int:
        """Heads times their size: D as a rule."""
        return self.heads * (self.head_size or self.width // self.heads)

    @property
    def key_width(self) -> int:
        """Width of all keys, and of all values, of one vector."""
        return self.query_width // self.heads * (self.key_value_heads or self.heads)

    @property
    def mlp_matrices(self) -> int:
        """Matrices of D times d_ff in an MLP."""
        return 3 if self.gated else 2


def count_parameters(shape: Shape) -> dict[str, int]:
    r"""Parameters of a Transformer, part by part.

    With the usual choices a block of an encoder, or of a decoder-only model, has

    .. math:: \underbrace{4 D^2 + 4 D}_{\text{attention}} +
        \underbrace{2 D d_{ff} + d_{ff} + D}_{\text{MLP}} + \underbrace{2 \cdot 2 D}_{\text{norms}}

    and a decoder's block with cross-attention has two attentions and three norms.

    Args:
        shape: of the model.

    Returns:
        "embeddings", "positions" (segments included), "attention", "mlp", "norms" and "output" with the
        parameters of each; their sum is that of the model.
    """
    s, width = shape, shape.width
    attention = 2 * width * (s.query_width + s.key_width)  # W_Q and W_O, W_K and W_V
    mlp = s.mlp_matrices * width * s.hidden
    if s.biases:
        attention += s.query_width + 2 * s.key_width + width
        mlp += (s.mlp_matrices - 1) * s.hidden + width
    norm = width * (2 if s.norm_shifts else 1)
    # A decoder's block of an encoder-decoder has one attention and one norm more.
    attentions = s.layers * (3 if s.stacks == 2 else 1)
    norms = attentions + s.stacks * s.layers + (s.stacks if s.norm == "pre" else 0)
    norms += s.embedding_norm * s.stacks + s.word_head
    rows = s.vocabulary + (s.source_vocabulary or 0)
    output = 0 if s.tied else s.vocabulary * width
    output += s.output_bias * s.vocabulary
    output += (s.word_head + s.pooler) * (width * width + width) + s.classes * (width + 1)
    return {
        "embeddings": rows * width,
        "positions": (s.stacks * s.positions + s.segments) * width,
        "attention": attentions * attention,
        "mlp": s.stacks * s.layers * mlp,
        "norms": norms * norm,
        "output": output,
    }


def count_flops(
    shape: Shape, batch: int, places: int, target_places: int | None = None, *, training: bool = True
) -> dict[str, int]:
    r"""Floating-point operations of the matrix products for one batch, part by part.

    A product of (m, k) and (k, n) takes :math:`2 m k n`: m n sums of k products. Attention of n queries
    over m keys takes :math:`2 n m D` for the similarities and as much for the weighted sums. Going back,
    :math:`Y = X W` asks for :math:`dX = dY\, W^\top` and :math:`dW = X^\top dY`, each as much work as
    Y, so a training step takes three times the forward pass. Softmax, normalisations, activations and
    the optimiser, which grow with D and not with its square, are left out. Places count whether they
    hold a word or padding, and a masked similarity counts too: the readable path computes it.

    Args:
        shape: of the model.
        batch: sequences B.
        places: of a sequence (of the source, for an encoder-decoder), padding counted.
        target_places: of the target, for an encoder-decoder.
        training: forward and backward, or forward only.

    Returns:
        "projections" and "products" of the attentions, "mlp" and "output"; their sum is the step's.

    Raises:
        ValueError: if the target's places are missing, or given where there is no target.
    """
    if (target_places is None) == (shape.kind == "encoder-decoder"):
        wanted = "needs" if target_places is None else "has no"
        raise ValueError(f"A model of kind {shape.kind} {wanted} target_places.")
    s, width = shape, shape.width
    own, keys = 2 * width * s.query_width, 2 * width * s.key_width  # per place: queries, keys
    stacks = [places] if target_places is None else [places, target_places]
    projections = products = mlp = 0
    for n in stacks:
        projections += n * (2 * own + 2 * keys)
        products += 4 * n * n * s.query_width
        mlp += n * s.mlp_matrices * 2 * width * s.hidden
    if target_places is not None:  # the decoder's look at the source
        projections += target_places * 2 * own + places * 2 * keys
        products += 4 * target_places * places * s.query_width
    output = stacks[-1] * 2 * width * (s.vocabulary + s.word_head * width)
    output += s.pooler * 2 * width * width + 2 * width * s.classes
    times = batch * (3 if training else 1)
    return {
        "projections": times * s.layers * projections,
        "products": times * s.layers * products,
        "mlp": times * s.layers * mlp,
        "output": times * output,
    }


def number_of_parameters(model: nn.Module) -> int:
    """Parameters of a module by code; one that is used twice counts once."""
    return sum(p.numel() for p in model.parameters())
