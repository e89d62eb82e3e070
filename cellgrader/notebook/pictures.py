"""Pictures in the texts of a submission: kept apart from the text, and shown to whoever grades.

Colab writes a picture into the text itself (a data URI, hundreds of thousands of characters); JupyterLab
and VS Code attach it to the cell and refer to it in several spellings. Here each becomes an attachment
under a name of its own, so that the text is measured, compared and shown without it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from cellgrader import bounds
from cellgrader.notebook.cells import joined, text
from cellgrader.notebook.document import mark

# What is opened. A browser shows the first two without running anything.
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
AS_IT_IS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
# The longest side of a picture that is made smaller, in pixels: the first that fits.
SIDES = (1600, 1100, 800, 500, 300)
IN_NOTEBOOK = "It is in the notebook that was handed in."

_TYPE = r"data:[\w/.+-]{1,80}(?:;[\w=.-]{1,80}){0,4};base64,"
_DATA = re.compile(
    rf"""(?:(?<=["']){_TYPE}([A-Za-z0-9+/=\s]+)(?=["'])|{_TYPE}([A-Za-z0-9+/=]+))""", re.IGNORECASE
)
_END = re.compile(r"[)>\"'\s]")
MARK = "attachment:"
_NAME = re.compile(rf"{MARK}(picture-[0-9a-f]{{16}})")
_LONGEST = 300  # characters of an attachment's name


def taken_out(cell: dict) -> tuple[str, dict[str, str]]:
    """A cell's text, in which each picture has a name made of its content, and name -> base64."""
    found: dict[str, str] = {}

    def named(content: str) -> str:
        content = "".join(content.split())
        name = f"picture-{hashlib.sha256(content.encode(errors='replace')).hexdigest()[:16]}"
        found[name] = content
        return f"{MARK}{name}"

    attached = _attached(cell)
    first, *parts = text(cell).split(MARK)
    for place, part in enumerate(parts):
        length, name = _reference(part, attached)
        content = attached.get(name)
        parts[place] = named(content) + part[length:] if content else f"{MARK}{part}"
    source = "".join([first, *parts])
    return _DATA.sub(lambda match: named(match[1] or match[2]), source), found


def referred(cell: dict) -> set[str]:
    """The names of the attachments to which a cell's text refers."""
    attached = _attached(cell)
    return {_reference(part, attached)[1] for part in text(cell).split(MARK)[1:]} - {""}


def _attached(cell: dict) -> dict[str, str]:
    """Name -> base64 of what is attached to a cell."""
    attached = cell.get("attachments")
    bundles = attached.items() if isinstance(attached, dict) else ()
    contents = {
        name: [joined(each) for each in bundle.values()]
        for name, bundle in bundles
        if isinstance(bundle, dict)
    }
    return {name: next(filter(None, some)) for name, some in contents.items() if any(some)}


def _reference(after: str, attached: Mapping[str, str]) -> tuple[int, str]:
    """The length and the name of the attachment that follows ``attachment:``; (0, "") if none does."""
    ends = [match.start() for match in _END.finditer(after[:_LONGEST])]
    for end in reversed([*ends, min(len(after), _LONGEST)] if attached else []):
        for name in (after[:end], unquote(html.unescape(after[:end]))):
            if name in attached:
                return end, name
    return 0, ""


def attach(cells: Sequence[dict], pictures: Mapping[str, str]) -> dict[int, str]:
    """Attach to each text the pictures that it refers to, small enough for a page.

    The pictures of one answer, with those of the cells below it, share a budget.

    Args:
        cells: those of the mended notebook; they are changed.
        pictures: name -> base64, as ``taken_out`` found them.
    Returns:
        The index of a cell -> a sentence on those of its pictures that are left out.
    """
    told = {}
    for answer in _answers(cells):
        wanted = {place: _referred(cells[place], pictures) for place in answer}
        every = [name for names in wanted.values() for name in names]
        share = bounds.PICTURES_SHOWN // max(1, len(every))
        made, why = _shown({name: pictures[name] for name in every}, share)
        for place, names in wanted.items():
            names = list(dict.fromkeys(names))
            if shown := {name: made[name] for name in names if name in made}:
                cells[place]["attachments"] = cells[place].get("attachments", {}) | shown
            if left := [why[name] for name in names if name in why]:
                count = f"{len(left)} of {len(names)} pictures" if len(names) > 1 else "The picture"
                reasons = "; ".join(dict.fromkeys(left))
                told[place] = f"{count} cannot be shown here: {reasons}. {IN_NOTEBOOK}"
    return told


def _answers(cells: Sequence[dict]) -> Iterator[list[int]]:
    """The indices of each answer's cell and of those below it; first those above all answers."""
    begins = [place for place, cell in enumerate(cells) if mark(cell).get("solution")]
    for begin, end in zip([0, *begins], [*begins, len(cells)], strict=True):
        yield [place for place in range(begin, end) if cells[place]["cell_type"] == "markdown"]


def _referred(cell: dict, pictures: Mapping[str, str]) -> list[str]:
    return [name for name in _NAME.findall(text(cell)) if name in pictures]


def _shown(contents: Mapping[str, str], share: int) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Name -> attachment, and name -> why it is left out, of the pictures of one answer.

    Args:
        share: the most bytes of each on the page.
    """
    made, why = {}, {}
    left = bounds.PICTURES
    for name, content in contents.items():
        left -= len(content) * 3 // 4
        if left < 0:
            why[name] = f"the pictures of an answer may have {bounds.PICTURES // bounds.MB} MB together"
            continue
        try:
            kind, small = _small(base64.b64decode(content, validate=True), share)
        except Exception:  # whatever Pillow says of bytes that are no picture
            why[name] = "it is not a PNG, JPEG, GIF, WebP or BMP picture of a usual size"
            continue
        made[name] = {kind: base64.b64encode(small).decode()}
    return made, why


def _small(content: bytes, most: int) -> tuple[str, bytes]:
    """A picture of at most ``most`` bytes: as it is, or as a smaller JPEG; (MIME type, bytes).

    Raises:
        Exception: it is not a picture, or cannot be made small enough.
    """
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(content), formats=FORMATS) as image:
        kind = next((kind for begin, kind in AS_IT_IS.items() if content.startswith(begin)), "")
        if kind and len(content) <= most:
            image.verify()
            return kind, content
        if image.width * image.height > bounds.PIXELS:
            raise ValueError("too many pixels")
        image.draft("RGB", (SIDES[0], SIDES[0]))  # a JPEG is read at half its size, or less
        picture = ImageOps.exif_transpose(image).convert("RGBA")
    for side in SIDES:
        picture.thumbnail((side, side))
        paper = Image.new("RGBA", picture.size, "white")
        paper.alpha_composite(picture)
        file = io.BytesIO()
        paper.convert("RGB").save(file, "JPEG", quality=80)
        if file.tell() <= most:
            return "image/jpeg", file.getvalue()
    raise ValueError("too large")
