"""COCO and Flickr8k as their makers publish them: folders of photographs and files of captions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from seqcourse.data.readers import read_lines
from seqcourse.data.splits import check_split
from seqcourse.errors import CourseError

_FLICKR_SPLITS = {"train": "trainImages", "valid": "devImages", "test": "testImages"}
# The published token file has five captions for this name, and no picture has it.
_FLICKR_STRAY = "2258277193_586949ec62.jpg.1"
_COCO_HOW = (
    "COCO's captions are a JSON file such as captions_val2017.json from annotations_trainval2017.zip."
)
_FLICKR_HOW = "Flickr8k's captions are the file Flickr8k.token.txt from Flickr8k_text.zip."


@dataclass(frozen=True)
class CaptionedPhotograph:
    """A picture file and its captions, as people wrote them."""

    path: Path
    captions: tuple[str, ...]


def load_coco(
    captions: Path | str, images: Path | str, skip_missing: bool = False
) -> list[CaptionedPhotograph]:
    """Photographs with the captions of COCO (Chen et al. 2015), in the order of the file.

    Args:
        captions: a file such as ``captions_val2017.json``: an object with the lists "images" (each
            with "id" and "file_name") and "annotations" (each with "image_id" and "caption").
        images: the folder of the pictures.
        skip_missing: leave out photographs that are not in the folder.

    Raises:
        CourseError: a file is missing or malformed, or a photograph is missing.
    """
    path = Path(captions)
    text = "\n".join(line for _, line in read_lines(path, _COCO_HOW))
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise CourseError(f"{path}: expected a JSON file, but {error}. {_COCO_HOW}") from error
    names: dict[object, str] = {}
    for number, image in enumerate(_list(path, content, "images")):
        known, name = _fields(path, f"images, entry {number}", image, "id", "file_name")
        if known in names:
            raise CourseError(f"{path}: expected every image once, but the id {known!r} appears twice.")
        names[known] = name
    texts_of: dict[object, list[str]] = {}
    for number, note in enumerate(_list(path, content, "annotations")):
        about, caption = _fields(path, f"annotations, entry {number}", note, "image_id", "caption")
        if about not in names:
            raise CourseError(
                f"{path}: annotations, entry {number} is about the image {about!r}, which is not among "
                f"its {len(names)} images."
            )
        if caption.strip():
            texts_of.setdefault(about, []).append(" ".join(caption.split()))
    found = {name: texts_of[known] for known, name in names.items() if known in texts_of}
    return _gather(path, Path(images), found, skip_missing)


def load_flickr8k(
    captions: Path | str, images: Path | str, only: Path | str | None = None, skip_missing: bool = False
) -> list[CaptionedPhotograph]:
    """Photographs with the captions of Flickr8k (Hodosh, Young and Hockenmaier 2013).

    Args:
        captions: ``Flickr8k.token.txt``: NAME.jpg#0, a tab and a caption in every line.
        images: the folder of the pictures, ``Flicker8k_Dataset``.
        only: a list of file names such as ``Flickr_8k.trainImages.txt``; all photographs without, in
            the order of the list or of the captions.
        skip_missing: leave out photographs that are not in the folder.

    Raises:
        CourseError: a file is missing or malformed, or a photograph is missing or has no caption.
    """
    path = Path(captions)
    texts: dict[str, list[str]] = {}
    for number, line in read_lines(path, _FLICKR_HOW):
        if not line.strip():
            continue
        place, tab, caption = line.partition("\t")
        name, sign, which = place.rpartition("#")
        if not (tab and sign and name and which.isdecimal() and caption.strip()):
            raise CourseError(
                f"{path}, line {number}: expected NAME.jpg#0, a tab and a caption, but found "
                f"{line[:60]!r}. {_FLICKR_HOW}"
            )
        texts.setdefault(name, []).append(" ".join(caption.split()))
    texts.pop(_FLICKR_STRAY, None)
    if only is not None:
        listed = [line.strip() for _, line in read_lines(Path(only), _FLICKR_HOW) if line.strip()]
        bare = [name for name in listed if name not in texts]
        if bare:
            raise CourseError(
                f"{only}: expected names that have captions in {path.name}, but {bare[0]!r} has none "
                f"({len(bare)} of {len(listed)})."
            )
        texts = {name: texts[name] for name in listed}
    return _gather(path, Path(images), texts, skip_missing)


def load_captioned(folder: Path | str, split: str = "train") -> list[CaptionedPhotograph]:
    """The photographs of COCO or Flickr8k, unpacked into a folder.

    ::

        annotations/captions_train2017.json   train2017/         COCO, and the same for val2017;
        annotations/captions_val2017.json     val2017/           "valid" and "test" are its halves
        Flickr8k.token.txt   Flickr_8k.trainImages.txt   Flicker8k_Dataset/      Flickr8k

    The captions of COCO's own test photographs are secret, so val2017 serves as both "valid" (every
    second photograph) and "test" (the others).

    Raises:
        CourseError: no such split, the folder has neither data set, or a file is missing or malformed.
    """
    check_split(split)
    folder = Path(folder).expanduser()
    token = next(iter(sorted(folder.glob("**/Flickr8k.token.txt"))), None)
    if token is not None:
        listed = token.parent / f"Flickr_8k.{_FLICKR_SPLITS[split]}.txt"
        images = next((p for p in sorted(folder.glob("**/Flicker8k_Dataset")) if p.is_dir()), None)
        return load_flickr8k(token, images or folder / "Flicker8k_Dataset", listed)
    part = "train" if split == "train" else "val"
    found = sorted(folder.glob(f"annotations/captions_{part}20[0-9][0-9].json"))
    if not found:
        raise CourseError(
            f"Expected COCO (annotations/captions_{part}2017.json and {part}2017) or Flickr8k "
            f"(Flickr8k.token.txt and Flicker8k_Dataset) in {folder}, but neither is there."
        )
    photographs = load_coco(found[-1], folder / found[-1].stem.removeprefix("captions_"))
    return photographs if split == "train" else photographs[split == "test" :: 2]


def _list(path: Path, content: object, name: str) -> list:
    entries = content.get(name) if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise CourseError(
            f"{path}: expected an object with the lists 'images' and 'annotations', but found no list "
            f"{name!r}. {_COCO_HOW}"
        )
    return entries


def _fields(path: Path, where: str, entry: object, key: str, text: str) -> tuple[object, str]:
    """The id and the text of an entry."""
    known = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(known, int | str) or not isinstance(entry.get(text), str):
        shown = json.dumps(entry)[:60]
        raise CourseError(
            f"{path}: {where}: expected {key!r} and a text {text!r}, but found {shown}. {_COCO_HOW}"
        )
    return known, entry[text]


def _gather(
    source: Path, images: Path, texts: dict[str, list[str]], skip_missing: bool
) -> list[CaptionedPhotograph]:
    if not images.is_dir():
        raise CourseError(f"Expected the folder of the photographs at {images}, but there is none.")
    for name in texts:  # a name in a file must not lead out of the folder
        if Path(name).name != name:
            raise CourseError(f"{source}: expected file names without folders, but found {name!r}.")
    there = {path.name for path in images.iterdir()}
    missing = [name for name in texts if name not in there]
    if not texts or len(missing) == len(texts) or (missing and not skip_missing):
        example = f", such as {missing[0]}" if missing else ""
        raise CourseError(
            f"Expected the photographs that {source} names in {images}, but {len(missing)} of "
            f"{len(texts)} are missing{example}. Unpack them all, or pass skip_missing=True."
        )
    return [
        CaptionedPhotograph(images / name, tuple(captions))
        for name, captions in texts.items()
        if name in there
    ]
