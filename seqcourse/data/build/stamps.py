"""Read and write stamps of Tux Paint, for the builders of pictures and photographs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.readers import FILES
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

HOW = (
    "It is in the Debian package tuxpaint-stamps-default: apt-get download, dpkg-deb -x, and name the "
    "folder usr/share/tuxpaint/stamps."
)

LICENCE = """\
The pictures in this folder are stamps of Tux Paint, copyright 2002-2022 Bill Kendrick and the
contributors of the Tux Paint project (https://tuxpaint.org). They are free software: you can
redistribute and change them under the terms of the GNU General Public License as published by the
Free Software Foundation, either version 2 of the licence, or (at your option) any later version.
They come without any warranty, without even the implied warranty of merchantability or fitness for
a particular purpose. The text of the licence lies beside this file, in COPYING.

Changes: a selection was made, empty margins were cut off, the pictures were made smaller, and names
were taken out of their captions, as source.json and seqcourse/data/build/{name}.py say. The last
column of {name}.tsv names the stamp that a picture was made from. This licence is that of this
folder alone; the code that reads it has its own.
"""


def read_stamp(path: Path) -> Image.Image:
    """A stamp without its empty margins.

    Raises:
        CourseError: there is no such file.
    """
    from PIL import Image

    if not path.is_file():
        raise CourseError(f"Expected a picture at {path}, but there is none. {HOW}")
    with Image.open(path) as opened:
        return tight(opened.convert("RGBA"))


def tight(image: Image.Image) -> Image.Image:
    """Crop the edges that are nearly or fully transparent."""
    return image.crop(image.getchannel("A").point(lambda a: 255 * (a > 24)).getbbox())


def write_stamps(
    name: str,
    source: Path,
    target: Path,
    rows: list[dict[str, str]],
    files: dict[str, bytes],
    selection: dict[str, Any],
) -> None:
    """Write the pictures made from stamps: their files, index, licence and note.

    Args:
        name: of the data set and its builder.
        source: the folder of the stamps.
        target: where to write the folder.
        rows: of the index, each with its "stamp".
        files: name -> content.
        selection: "filter" and "counts" of the note.
    """
    index = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    note = {
        "package": "tuxpaint-stamps-default 2022.06.04-1 (Debian)",
        "file": f"usr/share/tuxpaint/stamps, the stamps that {name}.tsv names",
        "sha256": sha256(*(source / f"{row['stamp']}.png" for row in rows)),
        "sha256 of": f"the stamps' PNG files, one after the other in the order of {name}.tsv",
        "origin": "Tux Paint, https://tuxpaint.org",
        "licence": "GPL-2.0-or-later, see LICENSE",
        **selection,
    }
    more = {
        f"{name}.tsv": "".join(f"{line}\n" for line in index),
        "LICENSE": LICENCE.format(name=name),
        "COPYING": (FILES / "pictures" / "COPYING").read_bytes(),
    }
    write_set(name, target / name, {**files, **more}, note)
