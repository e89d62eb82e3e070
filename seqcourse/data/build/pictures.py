"""Rebuild the cut of captioned photographs from the stamps of Tux Paint.

The table below lists the selection. Every row is checked against the stamp's own captions, which must
contain its English name, Spanish name and colour.
"""

from __future__ import annotations

import io
from pathlib import Path

from seqcourse.data.build.stamps import HOW, read_stamp, tight, write_stamps
from seqcourse.data.pictures import COLUMNS
from seqcourse.data.readers import FILES, read_lines
from seqcourse.errors import CourseError

LONGEST = 72  # pixels of the longer side; a scene of 64 pixels shows a thing at 15 to 45
SPANISH_COLOURS = {
    "blue": "azul",
    "brown": "marrón",
    "green": "verde",
    "pink": "rosa",
    "red": "roj",
    "white": "blanca",
    "yellow": "amarill",
}

# stamp | name, plural | Spanish name, plural, gender | colour | "unseen" where never trained on
TABLE = """\
animals/amphibians/frog | frog, frogs | rana, ranas, f | |
animals/birds/crow | crow, crows | cuervo, cuervos, m | |
animals/birds/duck | duck, ducks | pato, patos, m | |
animals/birds/hen | hen, hens | gallina, gallinas, f | brown |
animals/birds/magellanic_penguin | penguin, penguins | pingüino, pingüinos, m | |
animals/birds/ostrich | ostrich, ostriches | avestruz, avestruces, m | | unseen
animals/birds/owl | owl, owls | lechuza, lechuzas, f | |
animals/birds/penguin | penguin, penguins | pingüino, pingüinos, m | |
animals/birds/pink_flamingo | flamingo, flamingos | flamenco, flamencos, m | pink |
animals/birds/tucan | toucan, toucans | tucán, tucanes, m | |
animals/fish/seahorse | seahorse, seahorses | caballito de mar, caballitos de mar, m | |
animals/insects/grasshopper | grasshopper, grasshoppers | saltamontes, saltamontes, m | |
animals/insects/hornet | hornet, hornets | avispón, avispones, m | | unseen
animals/mammals/aquatic/orca | orca, orcas | orca, orcas, f | |
animals/mammals/badger | badger, badgers | tejón, tejones, m | | unseen
animals/mammals/bears/bear | bear, bears | oso, osos, m | |
animals/mammals/bears/european-bear | bear, bears | oso, osos, m | |
animals/mammals/bovines/cow | cow, cows | vaca, vacas, f | |
animals/mammals/bovines/sheep | sheep, sheep | oveja, ovejas, f | |
animals/mammals/camel/camel | camel, camels | camello, camellos, m | |
animals/mammals/cats/lion | lion, lions | león, leones, m | |
animals/mammals/cats/lion-2 | lion, lions | león, leones, m | |
animals/mammals/cats/tiger | tiger, tigers | tigre, tigres, m | |
animals/mammals/cats/tiger_sumatran | tiger, tigers | tigre, tigres, m | |
animals/mammals/dogs/dog | dog, dogs | perro, perros, m | |
animals/mammals/elephant | elephant, elephants | elefante, elefantes, m | |
animals/mammals/equines/horse | horse, horses | caballo, caballos, m | |
animals/mammals/equines/zebra | zebra, zebras | cebra, cebras, f | |
animals/mammals/giraffe | giraffe, giraffes | jirafa, jirafas, f | |
animals/mammals/pig | pig, pigs | cerdo, cerdos, m | |
animals/mammals/pig_golden | pig, pigs | cerdo, cerdos, m | |
animals/mammals/rodents/rabbit-2 | rabbit, rabbits | conejo, conejos, m | |
animals/mammals/rodents/rabbit | rabbit, rabbits | conejo, conejos, m | |
animals/marsupials/koala | koala, koalas | koala, koalas, m | | unseen
clothes/hats/blue_fedora | fedora, fedoras | sombrero, sombreros, m | blue |
clothes/hats/green_fedora | fedora, fedoras | sombrero, sombreros, m | green |
food/fruit/apple_green | apple, apples | manzana, manzanas, f | green |
food/fruit/apple_red | apple, apples | manzana, manzanas, f | red |
food/fruit/banana | banana, bananas | banana, bananas, f | |
food/fruit/lemon | lemon, lemons | limón, limones, m | yellow |
food/fruit/orange | orange, oranges | naranja, naranjas, f | |
food/fruit/pear | pear, pears | pera, peras, f | yellow | unseen
food/fruit/pineapple | pineapple, pineapples | piña, piñas, f | |
food/fruit/raspberry | raspberry, raspberries | frambuesa, frambuesas, f | | unseen
food/fruit/Strawberry2 | strawberry, strawberries | fresa, fresas, f | |
food/vegetables/carrot | carrot, carrots | zanahoria, zanahorias, f | |
food/vegetables/eggplant | eggplant, eggplants | berenjena, berenjenas, f | |
food/vegetables/mushroom | mushroom, mushrooms | hongo, hongos, m | |
food/vegetables/pepper | pepper, peppers | pimiento, pimientos, m | green |
food/vegetables/potato | potato, potatoes | papa, papas, f | brown |
food/vegetables/pumpkin_small | pumpkin, pumpkins | calabaza, calabazas, f | |
food/vegetables/tomato | tomato, tomatoes | tomate, tomates, m | red |
food/vegetables/yellowpepper | pepper, peppers | pimiento, pimientos, m | yellow |
hobbies/camera_35mm | camera, cameras | cámara, cámaras, f | |
hobbies/music/brass/trumpet | trumpet, trumpets | trompeta, trompetas, f | |
hobbies/music/percussion/drumkit | drum kit, drum kits | batería, baterías, f | |
hobbies/music/string/guitar_classical | guitar, guitars | guitarra, guitarras, f | |
hobbies/music/string/guitar_electric | guitar, guitars | guitarra, guitarras, f | |
hobbies/music/string/violin | violin, violins | violín, violines, m | |
household/Lightbulb | lightbulb, lightbulbs | bombilla, bombillas, f | |
household/dishes/teapot | teapot, teapots | tetera, teteras, f | |
household/tools/saw | saw, saws | serrucho, serruchos, m | | unseen
plants/flowers/plastic/chuvanna_plastic_poo | flower, flowers | flor, flores, f | red |
plants/flowers/yellow-flower | flower, flowers | flor, flores, f | yellow |
plants/trees/liberia-palm | palm tree, palm trees | palmera, palmeras, f | |
sports/basketball | basketball, basketballs | pelota de baloncesto, pelotas de baloncesto, f | |
sports/soccer | soccer ball, soccer balls | pelota de fútbol, pelotas de fútbol, f | |
sports/trophy_cup | trophy, trophies | trofeo, trofeos, m | | unseen
town/flags/greenflag | flag, flags | bandera, banderas, f | green |
town/flags/redflag | flag, flags | bandera, banderas, f | red |
town/flags/whiteflag | flag, flags | bandera, banderas, f | white |
town/flags/yellowflag | flag, flags | bandera, banderas, f | yellow |
town/usps_mailbox | mailbox, mailboxes | buzón, buzones, m | |
vehicles/cycle/pink_tricycle | tricycle, tricycles | triciclo, triciclos, m | pink |
vehicles/emergency/firetruck | fire truck, fire trucks | camión de bomberos, camiones de bomberos, m | |
vehicles/flight/balloon360 | balloon, balloons | globo, globos, m | |
vehicles/flight/planes/747 | airplane, airplanes | avión, aviones, m | |
vehicles/masstransit/green_korean_bus | bus, buses | autobús, autobuses, m | green |
vehicles/auto/sportscar2 | sports car, sports cars | coche deportivo, coches deportivos, m | |
"""


def read_table() -> list[dict[str, str]]:
    """The rows of the table as the index file has them, in the order of their file names."""
    rows = []
    for line in TABLE.splitlines():
        stamp, english, spanish, colour, part = (field.strip() for field in line.split("|"))
        name, plural = english.split(", ")
        name_es, plural_es, gender = spanish.split(", ")
        file = f"{Path(stamp).name.lower().replace('-', '_')}.png"
        values = (file, name, plural, name_es, plural_es, gender, colour, part or "train", stamp)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return sorted(rows, key=lambda row: row["file"])


def check_row(row: dict[str, str], source: Path) -> None:
    """Compare a row with the captions of its stamp.

    Raises:
        CourseError: the captions hold no such name, or no such colour.
    """
    path = source / f"{row['stamp']}.txt"
    lines = [line for _, line in read_lines(path, HOW)]
    spanish = next((line for line in lines if line.startswith("es.utf8=")), "")
    english, spanish = lines[0].lower(), spanish.lower()
    colour = row["colour"]
    for value, caption in (
        (row["name"], english),
        (row["name_es"], spanish),
        (colour, english),
        (SPANISH_COLOURS.get(colour, colour), spanish),
    ):
        if value not in caption:
            raise CourseError(f"{path}: expected {value!r} in the caption, but it is {caption!r}.")


def cut_out(path: Path, longest: int = LONGEST) -> bytes:
    """A stamp without its empty margins, its longer side ``longest`` pixels, as a PNG file."""
    from PIL import Image

    image = read_stamp(path)
    ratio = min(1.0, longest / max(image.size))
    size = tuple(max(1, round(side * ratio)) for side in image.size)
    buffer = io.BytesIO()
    tight(image.resize(size, Image.Resampling.LANCZOS)).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def build(source: Path, target: Path = FILES) -> None:
    """Write ``pictures`` under ``target``: the photographs, their index, licence and note."""
    rows = read_table()
    for row in rows:
        check_row(row, source)
    files = {row["file"]: cut_out(source / f"{row['stamp']}.png") for row in rows}
    selection = {
        "filter": {
            "stamps": "single, recognisable objects; photographs, but for the flags and the fedoras",
            "pixels": f"empty margins cut off, longer side at most {LONGEST} pixels",
            "colours": "only where the stamp's own captions name one, in both languages",
        },
        "counts": {
            "pictures": len(rows),
            "names": len({row["name"] for row in rows}),
            "names never trained on": len({row["name"] for row in rows if row["part"] == "unseen"}),
            "pictures with a colour word": sum(bool(row["colour"]) for row in rows),
            "bytes": sum(map(len, files.values())),
        },
    }
    write_stamps("pictures", source, target, rows, files, selection)
