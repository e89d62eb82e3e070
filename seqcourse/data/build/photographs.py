"""Rebuild the photographs with ImageNet classes from the stamps of Tux Paint.

They show objects of ImageNet's classes, larger than the cut-outs for the scenes. There is one photograph
per class, and the selection does not depend on any network's predictions.
"""

from __future__ import annotations

import io
from pathlib import Path

from seqcourse.data.build.stamps import read_stamp, write_stamps
from seqcourse.data.readers import FILES

SIZE = 224  # pixels; what EfficientNet-lite0 was trained with
SHARE = 0.9  # of the square's side, taken up by the object's longer side
QUALITY = 85  # of the JPEG file
# stamp | name | indices of the right ImageNet classes | name of the first one
TABLE = """\
animals/birds/duck | duck | 97 | drake
animals/birds/hen | hen | 8 | hen
animals/birds/ostrich | ostrich | 9 | ostrich
animals/birds/peacock | peacock | 84 | peacock
animals/birds/pelican | pelican | 144 | pelican
animals/birds/penguin | penguin | 145 | king penguin
animals/birds/pink_flamingo | flamingo | 130 | flamingo
animals/birds/tucan | toucan | 96 | toucan
animals/insects/grasshopper | grasshopper | 311 | grasshopper
animals/insects/mantis | mantis | 315 | mantis
animals/mammals/apes/gorilla | gorilla | 366 | gorilla
animals/mammals/aquatic/orca | orca | 148 | killer whale
animals/mammals/badger | badger | 362 | badger
animals/mammals/camel/dromedary | dromedary | 354 | Arabian camel
animals/mammals/cats/lion | lion | 291 | lion
animals/mammals/cats/tiger | tiger | 292 | tiger
animals/mammals/elephant | elephant | 386, 101 | African elephant
animals/mammals/equines/zebra | zebra | 340 | zebra
animals/mammals/hippopotamus | hippopotamus | 344 | hippopotamus
animals/marsupials/koala | koala | 105 | koala
animals/marsupials/wombat | wombat | 106 | wombat
food/fruit/apple_green | apple | 948 | Granny Smith
food/fruit/banana | banana | 954 | banana
food/fruit/lemon | lemon | 951 | lemon
food/fruit/orange | orange | 950 | orange
food/fruit/pineapple | pineapple | 953 | pineapple
food/fruit/pomegranate | pomegranate | 957 | pomegranate
food/fruit/Strawberry2 | strawberry | 949 | strawberry
food/vegetables/broccoli | broccoli | 937 | broccoli
food/vegetables/mushroom | mushroom | 947 | mushroom
food/vegetables/yellowpepper | pepper | 945 | bell pepper
hobbies/music/brass/trumpet | trumpet | 513 | cornet, horn, trumpet
hobbies/camera_35mm | camera | 759 | reflex camera
hobbies/music/string/cello | cello | 486 | cello
hobbies/music/string/guitar_electric | guitar | 546 | electric guitar
hobbies/music/string/guitar_classical | classical guitar | 402 | acoustic guitar
hobbies/music/string/violin | violin | 889 | violin
household/dishes/teapot | teapot | 849 | teapot
household/tools/hammer | hammer | 587 | hammer
sports/basketball | basketball | 430 | basketball
sports/soccer | soccer ball | 805 | soccer ball
sports/tennis_ball | tennis ball | 852 | tennis ball
town/usps_mailbox | mailbox | 637 | mailbox
vehicles/auto/sportscar2 | sports car | 817 | sports car
vehicles/cycle/pink_tricycle | tricycle | 870 | tricycle
vehicles/emergency/firetruck | fire truck | 555 | fire engine
vehicles/flight/balloon360 | balloon | 417 | balloon
vehicles/flight/planes/747 | airplane | 404 | airliner
"""


def read_table() -> list[dict[str, str]]:
    """The rows of the table as the index file has them, in the order of their file names."""
    rows = []
    for line in TABLE.splitlines():
        stamp, name, classes, label = (field.strip() for field in line.split("|"))
        file = f"{name.replace(' ', '_')}.jpg"
        row = {"file": file, "name": name, "classes": classes, "label": label, "stamp": stamp}
        rows.append(row)
    return sorted(rows, key=lambda row: row["file"])


def on_white(path: Path, size: int = SIZE) -> bytes:
    """A stamp in the middle of a white square, as a JPEG file."""
    from PIL import Image

    image = read_stamp(path)
    ratio = SHARE * size / max(image.size)
    scaled = tuple(max(1, round(side * ratio)) for side in image.size)
    image = image.resize(scaled, Image.Resampling.LANCZOS)
    canvas = Image.new("RGB", (size, size), "white")
    canvas.paste(image, tuple((size - side) // 2 for side in scaled), image)
    buffer = io.BytesIO()
    canvas.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return buffer.getvalue()


def build(source: Path, target: Path = FILES) -> None:
    """Write ``photographs`` under ``target``: the files, their index, licence and note."""
    rows = read_table()
    files = {row["file"]: on_white(source / f"{row['stamp']}.png") for row in rows}
    selection = {
        "filter": {
            "stamps": "photographs of things that are among the 1000 classes of ImageNet, one per class",
            "pixels": f"on white, {SIZE} x {SIZE}, the longer side {SHARE:.0%} of it, JPEG {QUALITY}",
        },
        "counts": {"photographs": len(rows), "bytes": sum(map(len, files.values()))},
    }
    write_stamps("photographs", source, target, rows, files, selection)
