"""The tree that a beam search grows, drawn from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from seqcourse.errors import CourseError
from seqcourse.tokens import SOS, SPECIALS
from seqcourse.viz.style import COLOURS, figure_axes

_READABLE = 22  # leaves of the drawing
_PALE, _KEPT, _PATH, _BEST = "#A9B0B9", COLOURS["ink"], COLOURS["blue"], COLOURS["vermillion"]


@dataclass
class _Node:
    """One node of the drawing: what the search knew, and where it stands."""

    token: str
    log_prob: float
    kept: bool
    finished: bool
    depth: int
    best: bool
    parent: _Node | None = None
    children: list[_Node] = field(default_factory=list)
    y: float = 0.0
    rank: int | None = None  # 0 on the best path, 1 ... on the other highlighted ones

    def line(self) -> list[_Node]:
        """The path from the root to this node."""
        return [*(self.parent.line() if self.parent else []), self]


def beam_tree(
    trace: Sequence[Sequence[Any]],
    vocabulary: Any,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    best: int | None = None,
    pruned: int | None = None,
) -> Axes:
    """The paths that a beam search followed and dropped, with total log-probabilities.

    ``trace`` is the list that ``decode.beam_search(..., trace=trace)`` fills for one sentence: per
    step the candidates it looked at, each with parent (an index into the step before), token,
    log_prob, kept, finished and best. ``vocabulary`` turns token ids into words (a Vocabulary, a
    list of strings, or a mapping). ``best`` says how many of the finished paths are highlighted
    (all, when it is None), the one that the search returned in another colour. ``pruned`` says how
    many dropped continuations of each path are drawn (None: as many as stay readable).
    Raises CourseError for an empty trace, a parent that does not exist, or an unknown token.
    """
    root, nodes = _grow(trace, vocabulary)
    nodes = _prune(root, nodes, pruned)
    _place(root)
    _rank(nodes, best)
    depth = max(node.depth for node in nodes)
    lowest = max(node.y for node in nodes)
    step = max(0.9, 0.25 + 0.085 * max(len(node.token) for node in nodes))
    ax = figure_axes(ax, (max(4.5, step * (depth + 1)), max(2.2, 0.36 * (lowest + 1) + 0.7)))
    for node in sorted(nodes, key=_importance):
        _draw_edge(ax, node)
    for node in [root, *nodes]:
        _draw_node(ax, node)
    ax.set(xlim=(-0.45, depth + 0.5), ylim=(lowest + 0.6, -0.6))
    ax.set_xticks(range(1, depth + 1))
    ax.set_xlabel("output position (under each word: log-probability of the path so far, in nats)")
    ax.yaxis.set_visible(False)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.tick_params(axis="x", length=0)
    if title:
        ax.set_title(title, pad=18)
    _legend(ax, nodes)
    return ax


def _grow(trace: Sequence[Sequence[Any]], vocabulary: Any) -> tuple[_Node, list[_Node]]:
    """The root and all other nodes, linked."""
    if not any(trace):
        raise CourseError(
            "The trace is empty: pass a list to the search, beam_search(..., trace=trace), and "
            "draw it afterwards."
        )
    root = _Node(SPECIALS[SOS], 0.0, True, False, 0, False)
    before: dict[int, _Node] = {}
    nodes: list[_Node] = []
    for depth, step in enumerate(trace, start=1):
        here: dict[int, _Node] = {}
        for index, raw in enumerate(step):
            parent = _get(raw, "parent")
            above = root if parent is None or parent < 0 or depth == 1 else before.get(parent)
            if above is None:
                raise CourseError(
                    f"Node {index} of step {depth} names the parent {parent}, but the step before "
                    f"has no such node."
                )
            node = _Node(
                _word(vocabulary, int(_get(raw, "token"))),
                float(_get(raw, "log_prob")),
                bool(_get(raw, "kept")),
                bool(_get(raw, "finished")),
                depth,
                bool(_get(raw, "best", False)),
                above,
            )
            above.children.append(node)
            here[index] = node
            nodes.append(node)
        before = here
    return root, nodes


def _prune(root: _Node, nodes: list[_Node], pruned: int | None) -> list[_Node]:
    """Leave out dropped continuations beyond ``pruned`` per path, the least likely first."""
    widest = max(sum(not child.kept for child in node.children) for node in [root, *nodes])
    tries = range(widest, -1, -1) if pruned is None else [pruned]
    for most in tries:
        shown = {id(node): _shown(node, most) for node in [root, *nodes]}
        left = [child for children in shown.values() for child in children]
        leaves = sum(not shown[id(node)] for node in left)
        if leaves <= _READABLE:
            break
    for node in [root, *nodes]:
        node.children = shown[id(node)]
    return left


def _shown(node: _Node, most: int) -> list[_Node]:
    """The children that are drawn: all that were kept, and the likeliest ``most`` dropped ones."""
    dropped = sorted((c for c in node.children if not c.kept), key=lambda child: -child.log_prob)
    return [child for child in node.children if child.kept] + dropped[:most]


_MISSING = object()


def _get(raw: Any, name: str, default: Any = _MISSING) -> Any:
    """An attribute of a node, or the entry of a mapping."""
    value = raw.get(name, default) if isinstance(raw, Mapping) else getattr(raw, name, default)
    if value is _MISSING:
        raise CourseError(
            f"A node of the trace has no {name!r}: every node should have parent, token, "
            f"log_prob, kept and finished, but this one is {raw!r}."
        )
    return value


def _word(vocabulary: Any, token: int) -> str:
    """The word behind a token id, the special ones included."""
    if hasattr(vocabulary, "decode"):
        if 0 <= token < len(SPECIALS):
            return SPECIALS[token]
        words = vocabulary.decode([token])
        return words if isinstance(words, str) else " ".join(words)
    try:
        return str(vocabulary[token])
    except (KeyError, IndexError) as error:
        raise CourseError(
            f"The vocabulary has no word for token {token}; it should be the target vocabulary "
            f"of the model that was searched."
        ) from error


def _place(root: _Node) -> None:
    """Heights: leaves one below the other, likelier children first, parents in the middle."""
    next_leaf = 0.0
    stack: list[tuple[_Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            node.y = (node.children[0].y + node.children[-1].y) / 2
        elif node.children:
            node.children.sort(key=lambda child: -child.log_prob)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
        else:
            node.y = next_leaf
            next_leaf += 1.0


def _rank(nodes: list[_Node], best: int | None) -> None:
    """Mark the nodes on the finished paths, the returned one first, then by mean log-probability.

    Where no path finished, the likeliest open one is marked.
    """
    ends = [node for node in nodes if node.kept and node.finished]
    last = max(node.depth for node in nodes)
    returned = [node for node in nodes if node.best and not any(c.best for c in node.children)]
    if not ends:
        ends = returned or [node for node in nodes if node.kept and node.depth == last]
        ends = [max(ends, key=lambda node: node.log_prob)]
    ends.sort(key=lambda node: (not node.best, -node.log_prob / node.depth))
    ends = ends[:best]
    for rank in reversed(range(len(ends))):
        for node in ends[rank].line()[1:]:
            node.rank = rank


def _importance(node: _Node) -> float:
    """Drawn from the palest to the boldest, so that the best path lies on top."""
    if node.rank is not None:
        return 1000.0 - node.rank
    return 1.0 if node.kept else 0.0


def _colour(node: _Node) -> str:
    if node.rank is not None:
        return _BEST if node.rank == 0 else _PATH
    return _KEPT if node.kept else _PALE


def _draw_edge(ax: Axes, node: _Node) -> None:
    parent = node.parent
    assert parent is not None
    middle = (parent.depth + node.depth) / 2
    line = Path(
        [(parent.depth, parent.y), (middle, parent.y), (middle, node.y), (node.depth, node.y)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    width = 2.6 if node.rank == 0 else 1.8 if node.rank is not None else 1.0
    dashes = "-" if node.kept else (0, (3, 2))
    ax.add_patch(
        PathPatch(line, fill=False, lw=width, ec=_colour(node), ls=dashes, zorder=1, capstyle="butt")
    )


def _draw_node(ax: Axes, node: _Node) -> None:
    colour = _colour(node) if node.depth else _KEPT
    weight = "bold" if node.rank == 0 else "normal"
    number = f"\n{node.log_prob:.2f}" if node.depth else ""
    box = {
        "boxstyle": "round,pad=0.22",
        "facecolor": "white",
        "edgecolor": colour if node.finished else "white",
        "linewidth": 1.4 if node.kept else 0.8,
    }
    ax.text(
        node.depth,
        node.y,
        f"{node.token}{number}",
        ha="center",
        va="center",
        fontsize=8,
        linespacing=1.05,
        color=colour,
        fontweight=weight,
        bbox=box,
        zorder=2,
    )


def _legend(ax: Axes, nodes: list[_Node]) -> None:
    ranks = {node.rank for node in nodes}
    entries = [(0 in ranks, _BEST, 2.6, "-", "best path")]
    entries.append((bool(ranks - {0, None}), _PATH, 1.8, "-", "other finished paths"))
    open_ones = any(node.kept and node.rank is None for node in nodes)
    entries.append((open_ones, _KEPT, 1.0, "-", "kept for a while"))
    entries.append((any(not node.kept for node in nodes), _PALE, 1.0, "--", "pruned"))
    lines = [
        Line2D([], [], color=colour, lw=width, ls=dashes, label=label)
        for there, colour, width, dashes, label in entries
        if there
    ]
    ax.legend(
        handles=lines,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(lines),
        fontsize=8,
        borderaxespad=0.2,
        handlelength=2.2,
    )
