"""Tell a student which cells do something that exists in an editor, but not where work is graded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cellgrader.notebook.cells import Piece

# What a cell does, what happens when it is graded.
SAID = {
    re.compile(
        r"^[ \t]*[!%][ \t]*(?:sudo |python3? -m |uv )*(?:pip3?|conda|mamba|uv|apt|apt-get)\b[^\n]*"
        r"\b(?:install|add)\b",
        re.M,
    ): "install{s} packages: nothing is installed while work is graded; what the course needs is there.",
    re.compile(r"^[ \t]*(?:from[ \t]+google\.colab|import[ \t]+google\.colab)\b", re.M): (
        "use{s} google.colab, which only Colab has: drives, downloads and uploads are passed over while "
        "work is graded."
    ),
    re.compile(r"^[^\n#'\"]*(?<![\w.])input\(", re.M): (
        "ask{s} with input(): nobody answers while work is graded, so a cell stops there."
    ),
    re.compile(r"^[^\n#'\"]*(?<![\w.])(?:getpass\.)?getpass\(", re.M): (
        "ask{s} with getpass(): nobody answers while work is graded, so a cell stops there."
    ),
    re.compile(r"^[^\n#'\"]*(?<![\w.])sys\.stdin\b", re.M): (
        "read{s} sys.stdin: nobody types while work is graded, so there is nothing to read."
    ),
    re.compile(
        r"^[ \t]*%(?:debug|pdb)\b"
        r"|^[^\n#'\"]*(?<![\w.])(?:breakpoint|i?pdb\.(?:set_trace|run|pm|post_mortem))\(",
        re.M,
    ): "start{s} a debugger: nobody answers it while work is graded, so a cell stops there.",
}


def remarks(pieces: Iterable[Piece]) -> list[str]:
    """A sentence for each such thing, with the numbers of the cells.

    pieces: the cells that the student wrote or changed.
    """
    code = [piece for piece in pieces if piece.kind == "code"]
    found = []
    for pattern, said in SAID.items():
        numbers = [str(piece.position + 1) for piece in code if pattern.search(piece.source)]
        if numbers:
            one = len(numbers) == 1
            more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
            cells = f"Cell{'' if one else 's'} {', '.join(numbers[:5])}{more}"
            found.append(f"{cells} {said.replace('{s}', 's' if one else '')}")
    return found
