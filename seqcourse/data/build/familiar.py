"""Rebuild the photographs of familiar things, and the photographs of ground to train on.

The things were chosen, with the captions that count as true, before any captioner was trained. Each file
has its own author and licence. The ground patches show none of the things that the course's scenes know.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.familiar import FEATURES
from seqcourse.data.readers import FILES
from seqcourse.errors import CourseError

if TYPE_CHECKING:
    from PIL import Image

SIZE = {"thing": 224, "ground": 192}  # pixels of a square's side
QUALITY = 85  # of the JPEG files
HOW = (
    "It is in the Debian packages gcompris-qt-data and mate-backgrounds: apt-get download, dpkg-deb -x "
    "both into one folder, and name that folder."
)
RESOURCES = "usr/share/gcompris-qt/rcc"
WALLPAPERS = "usr/share/backgrounds/mate/nature"
# What a line's place is short for: archive and folder in it.
PLACES = {
    "farm": ("explore_farm_animals", "resource/animals"),
    "world": ("explore_world_animals", "resource/animals"),
    "erase": ("erase", "resource"),
    "others": ("categorization", "resource/images/others"),
}
COMMONS = "https://commons.wikimedia.org/wiki/File:"
MATE = "https://git.mate-desktop.org/mate-backgrounds"
# use | file | captions that are true | place/name | left, top, side in pixels | author | licence | page
TABLE = """\
thing | bear | a bear | world/polar_bear | 200, 50, 700 | anonymous | public domain | Churchill_Wildlife_Management_Area_polar_bear30.JPG
thing | camel | a camel | erase/camels | 760, 0, 1080 | Alexandr frolov | CC-BY-SA-4.0 | Camelus_bactrianus_in_western_Mongolia_02.jpg
thing | cow | a cow; three cows | farm/cow | 190, 0, 768 | Dohduhdah | public domain | Cow-IMG_2050.JPG
thing | dog | a dog | farm/dog | 130, 0, 768 | Hans Kemperman | public domain | German-shepherd-4040871920._(2).jpg
thing | duck | a duck | farm/duck | 0, 0, 966 | Bernard Spragg | CC0-1.0 | Aylesbury_Duck._(9373723157).jpg
thing | giraffe | a giraffe | erase/giraffe | 840, 0, 1080 | Sergio Cambelo | public domain | Giraffe.JPG
thing | hen | a brown hen | farm/chicken | 0, 115, 375 | Tranquilles | public domain | Chickens_at_Tranquilles_B%26B.JPG
thing | horse | a horse | erase/horse | 150, 0, 1080 | Eatcha | CC-BY-SA-4.0 | Zaniskari_Horse_in_Ladakh.jpg
thing | lightbulb | a lightbulb | others/bulb | 0, 60, 240 | Vitaium | CC0-1.0 | Philips_LED_bulb.jpg
thing | owl | an owl | farm/owl | 340, 0, 683 | Lepale | CC0-1.0 | Owl_The_Nightbird.jpg
thing | penguin | a penguin | erase/penguin | 320, 0, 1080 | Gordon Leggett | CC-BY-SA-4.0 | 2019-03-03_Chinstrap_penguin_on_Barrientos_Island,_Antarctica.jpg
thing | pig | a pig | farm/pig | 100, 110, 600 | Teinesavaii | public domain | Pig_1,_Savaii,_Samoa.JPG
thing | sheep | a sheep | farm/sheep | 110, 0, 742 | Rob Mitchell | CC0-1.0 | Sheep_(33625876592).jpg
thing | toucan | a toucan | erase/toucan | 20, 100, 900 | LG Nyqvist | CC-BY-SA-4.0 | Pteroglossus_torquatus_Costa_Rica.jpg
ground | grass | | world/bison | 0, 538, 230 | Kurt Kaiser | CC0-1.0 | American_Bison_9.jpg
ground | mud | | world/crocodile | 0, 326, 180 | Djambalawa | public domain | Saltwater_Crocodile_on_a_river_bank_(cropped).jpg
ground | sand | | world/dragon | 0, 0, 200 | TimVickers | public domain | Varanus_komodoensis_(5).jpg
ground | stones | | world/jaguar | 0, 523, 160 | Frieda Bredesen | CC0-1.0 | Two_Jaguar_Sisters.jpg
ground | rock | | world/jaguar | 800, 0, 224 | Frieda Bredesen | CC0-1.0 | Two_Jaguar_Sisters.jpg
ground | shade | | world/kangaroo | 800, 0, 224 | Vicki Nunn | public domain | Eastern_Grey_Kangaroo_%26_Joey2.jpg
ground | leaves | | world/lemur | 800, 0, 200 | Mathias Appel | CC0-1.0 | Lemur_(37122852696).jpg
ground | forest | | world/moose | 0, 0, 220 | Ryan Hagerty | public domain | Male_Moose.jpg
ground | heath | | world/moose | 780, 439, 244 | Ryan Hagerty | public domain | Male_Moose.jpg
ground | water | | world/narwhal | 0, 300, 230 | Dr Kristin Laidre | public domain | Pod_Monodon_monoceros.jpg
ground | blades | | world/hedgehog | 0, 0, 180 | George Chernilevsky | public domain | Erinaceus_roumanicus_2020_G2.jpg
ground | cloth | | others/pillow | 90, 80, 130 | Choe Kwangmo | CC0-1.0 | 2014-04-22_IMG_7242_%EC%B5%9C%EA%B4%91%EB%AA%A8.JPG
ground | drops | | mate/Aqua | 100, 600, 900 | Charles Barbin | GPL-2.0-or-later |
ground | leaf | | mate/Blinds | 300, 100, 1000 | Lennart Poettering, Andrea Cimitan | GPL-2.0-or-later |
ground | dune | | mate/Dune | 300, 0, 1050 | Marco Cogoni, Hylke Bons | GPL-2.0-or-later |
ground | reeds | | mate/Dune | 900, 350, 700 | Marco Cogoni, Hylke Bons | GPL-2.0-or-later |
ground | meadow | | mate/GreenMeadow | 100, 0, 1000 | Timothy Schellhase, Lapo Calamandrei | GPL-2.0-or-later |
ground | rain | | mate/RainDrops | 500, 100, 1000 | blackcombwhistler07 | GPL-2.0-or-later |
ground | storm | | mate/Storm | 200, 0, 1280 | Sergey Nazarov | GPL-2.0-or-later |
ground | wood | | mate/Wood | 300, 300, 1500 | Jean-François Fortin Tam | GPL-2.0-or-later |
"""  # noqa: E501
LICENCE = """\
Each photograph in this folder has its own author and licence. familiar.tsv names them, with the address
of the original:

public domain      free to use without conditions
CC0-1.0            https://creativecommons.org/publicdomain/zero/1.0/
CC-BY-SA-4.0       https://creativecommons.org/licenses/by-sa/4.0/ : name the author, share alike
GPL-2.0-or-later   the GNU General Public License of the Free Software Foundation, version 2 or later;
                   its text lies beside this file, in COPYING

They come without any warranty. Changes: a square was cut out of each, made smaller and stored again, as
seqcourse/data/build/familiar.py says. The changed photographs keep the licences of the originals. This
note is about this folder alone; the code that reads it has its own licence.
"""
COLUMNS = ("file", "use", "captions", "from", "author", "licence", "page")


def read_table() -> list[tuple[dict[str, str], str, tuple[int, int, int]]]:
    """For every line: its row of the index, its place and its square (left, top, side)."""
    found = []
    for line in TABLE.splitlines():
        use, name, captions, place, box, author, licence, page = (
            field.strip() for field in line.split("|")
        )
        file = f"{name}.jpg" if use == "thing" else f"ground_{name}.jpg"
        values = (file, use, captions, place, author, licence, COMMONS + page if page else MATE)
        square = tuple(int(number) for number in box.split(","))
        found.append((dict(zip(COLUMNS, values, strict=True)), place, square))
    return found


def unpack(path: Path) -> dict[str, bytes]:
    """The files in a resource archive of Qt: path -> content.

    Raises:
        CourseError: there is no such archive.
    """
    if not path.is_file():
        raise CourseError(f"Expected an archive at {path}, but there is none. {HOW}")
    content = path.read_bytes()
    version, tree, data, names = struct.unpack(">iiii", content[4:20])
    size, found = 22 if version >= 2 else 14, {}

    def walk(number: int, above: str) -> None:
        at = tree + number * size
        name, flags = struct.unpack(">iH", content[at : at + 6])
        length = struct.unpack(">H", content[names + name : names + name + 2])[0] if number else 0
        text = content[names + name + 6 : names + name + 6 + 2 * length].decode("utf-16-be")
        if flags & 2:  # a folder
            count, first = struct.unpack(">ii", content[at + 6 : at + 14])
            for child in range(first, first + count):
                walk(child, f"{above}{text}/" if number else "")
        elif not flags & 4:  # 4: packed in a way that Python cannot read
            start = data + struct.unpack(">i", content[at + 10 : at + 14])[0]
            packed = content[start + 4 : start + 4 + struct.unpack(">I", content[start : start + 4])[0]]
            found[above + text] = zlib.decompress(packed[4:]) if flags & 1 else packed

    walk(0, "")
    return found


def cut(image: Image.Image, square: tuple[int, int, int], size: int) -> bytes:
    """A square (left, top, side) of a picture, in ``size`` pixels, as a JPEG file."""
    from PIL import Image

    left, top, side = square
    image = image.convert("RGB").crop((left, top, left + side, top + side))
    buffer = io.BytesIO()
    image.resize((size, size), Image.Resampling.LANCZOS).save(
        buffer, "JPEG", quality=QUALITY, optimize=True
    )
    return buffer.getvalue()


def compressed(features: numpy.ndarray) -> bytes:
    """A file .npz with the array ``features``, the same bytes on every day."""
    array, buffer = io.BytesIO(), io.BytesIO()
    numpy.save(array, features, allow_pickle=False)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(zipfile.ZipInfo("features.npy"), array.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def build(
    source: Path,
    target: Path = FILES,
    features: Callable[[list[numpy.ndarray]], numpy.ndarray] | None = None,
) -> None:
    """Write ``familiar`` under ``target``: the photographs, their features, index, licences and note.

    Args:
        source: the folder with both packages.
        target: where to write the folder.
        features: from the photographs of things to their features. Without it the features that are
            there stay; :func:`seqcourse.zoo.published.grids.rebuild_familiar` makes them too.
    """
    from PIL import Image

    archives = {
        place: (f"gcompris/src/activities/{archive}/{folder}", source / RESOURCES / f"{archive}.rcc")
        for place, (archive, folder) in PLACES.items()
    }
    unpacked = {place: unpack(path) for place, (_, path) in archives.items()}
    rows, files, used = [], {}, [path for _, path in archives.values()]
    for row, place, square in read_table():
        kind, name = place.split("/")
        if kind == "mate":
            path = source / WALLPAPERS / f"{name}.jpg"
            used.append(path)
            if not path.is_file():
                raise CourseError(f"Expected a photograph at {path}, but there is none. {HOW}")
            content = path.read_bytes()
        else:
            content = unpacked[kind][f"{archives[kind][0]}/{name}.webp"]
        with Image.open(io.BytesIO(content)) as opened:
            files[row["file"]] = cut(opened, square, SIZE[row["use"]])
        rows.append(row)
    things = [
        numpy.asarray(Image.open(io.BytesIO(files[row["file"]])).convert("RGB"))
        for row in rows
        if row["use"] == "thing"
    ]
    index = ["\t".join(COLUMNS), *("\t".join(row.values()) for row in rows)]
    more = {
        **({FEATURES: compressed(features(things))} if features else {}),
        "familiar.tsv": "".join(f"{line}\n" for line in index),
        "LICENSE": LICENCE,
        "COPYING": (FILES / "pictures" / "COPYING").read_bytes(),
    }
    write_set("familiar", target / "familiar", {**files, **more}, _note(rows, files, used))


def _note(rows: list[dict[str, str]], files: dict[str, bytes], used: list[Path]) -> dict[str, Any]:
    """Where the photographs come from, and how they were chosen."""
    return {
        "package": "gcompris-qt-data 3.1-2 and mate-backgrounds 1.26.0-1 (Debian)",
        "file": f"{RESOURCES} and {WALLPAPERS}, the files that familiar.tsv names",
        "sha256": sha256(*dict.fromkeys(used)),
        "sha256 of": "the archives of four activities, then the wallpapers in the order of familiar.tsv",
        "origin": "GCompris, https://gcompris.net, and the MATE desktop, https://mate-desktop.org",
        "licence": "of each file its own, see LICENSE and familiar.tsv",
        "filter": {
            "things": "one photograph per thing, chosen before any captioner was trained",
            "ground": "patches that show none of the things that the scenes know",
            "features": "EfficientNet-lite0's last map in 8 bits, of the photographs of things",
            "pixels": f"things {SIZE['thing']}, ground {SIZE['ground']} a side, JPEG {QUALITY}",
        },
        "counts": {use: sum(row["use"] == use for row in rows) for use in ("thing", "ground")}
        | {"bytes": sum(map(len, files.values()))},
    }
