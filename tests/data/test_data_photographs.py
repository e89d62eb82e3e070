"""Photographs of one's own: orientation, odd modes, damaged files; COCO and Flickr8k folders."""

from __future__ import annotations

import json
import warnings

import numpy
import pytest
from PIL import Image

from seqcourse.data import captioned_photographs as captioned
from seqcourse.data import photographs
from seqcourse.errors import CourseError


def halves(width=60, height=40, mode="RGB", left="red", right="blue"):
    image = Image.new("RGB", (width, height), left)
    image.paste(right, (width // 2, 0, width, height))
    return image.convert(mode)


RED, BLUE = (255, 0, 0), (0, 0, 255)


def near(pixel, colour, by=40):
    return numpy.abs(numpy.asarray(pixel, int) - colour).max() <= by


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".gif", ".tif", ".webp"])
def test_usual_kinds(tmp_path, suffix):
    path = tmp_path / f"picture{suffix}"
    halves().save(path)
    pixels = photographs.read_photograph(path)
    assert pixels.shape == (40, 60, 3) and pixels.dtype == numpy.uint8
    assert near(pixels[20, 5], RED) and near(pixels[20, 55], BLUE)


@pytest.mark.parametrize(
    ("orientation", "shape", "red", "blue"),
    [
        (1, (40, 60), (20, 5), (20, 55)),
        (2, (40, 60), (20, 55), (20, 5)),  # mirrored
        (3, (40, 60), (20, 55), (20, 5)),  # upside down
        (6, (60, 40), (5, 20), (55, 20)),  # the camera was turned: red is above
        (8, (60, 40), (55, 20), (5, 20)),
    ],
)
def test_the_note_of_the_camera_is_obeyed(tmp_path, orientation, shape, red, blue):
    path = tmp_path / "held.jpg"
    image = halves()
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(path, exif=exif, quality=95)
    pixels = photographs.read_photograph(path)
    assert pixels.shape == (*shape, 3)
    assert near(pixels[red], RED) and near(pixels[blue], BLUE)


@pytest.mark.parametrize("mode", ["P", "L", "1", "CMYK", "YCbCr", "RGBA", "LA"])
def test_odd_modes_become_red_green_and_blue(tmp_path, mode):
    path = tmp_path / ("odd.jpg" if mode in ("CMYK", "YCbCr") else "odd.png")
    halves(mode=mode, left="white", right="black").save(path)
    pixels = photographs.read_photograph(path)
    assert pixels.shape == (40, 60, 3)
    assert near(pixels[20, 5], (255, 255, 255)) and near(pixels[20, 55], (0, 0, 0))


def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path):
    values = numpy.zeros((40, 60), numpy.uint16)
    values[:, 30:] = 32768
    Image.fromarray(values).save(tmp_path / "deep.png")
    pixels = photographs.read_photograph(tmp_path / "deep.png")
    assert (pixels[20, 5] == 0).all() and (pixels[20, 55] == 128).all()


def test_what_is_transparent_becomes_white(tmp_path):
    pixels = numpy.zeros((30, 30, 4), numpy.uint8)
    pixels[:, 15:] = (255, 0, 0, 255)  # the left half is black, but transparent
    Image.fromarray(pixels).save(tmp_path / "clear.png")
    palette = Image.new("P", (30, 30), 0)
    palette.save(tmp_path / "clear.gif", transparency=0)
    assert (photographs.read_photograph(tmp_path / "clear.png")[0, 0] == 255).all()
    assert (photographs.read_photograph(tmp_path / "clear.png")[0, 20] == RED).all()
    assert (photographs.read_photograph(tmp_path / "clear.gif") == 255).all()


def test_the_middle_square(tmp_path):
    image = Image.new("RGB", (200, 100), "red")
    image.paste("blue", (50, 0, 150, 100))
    image.save(tmp_path / "wide.png")
    pixels = photographs.read_photograph(tmp_path / "wide.png", size=20)
    assert pixels.shape == (20, 20, 3)
    assert all(near(pixels[place], BLUE) for place in ((10, 2), (2, 10), (10, 17)))
    both = photographs.stack([tmp_path / "wide.png"] * 2, 20)
    assert both.shape == (2, 20, 20, 3) and (both[1] == pixels).all()


def damaged(tmp_path):
    whole = tmp_path / "whole.jpg"
    Image.effect_noise((200, 200), 60).save(whole)
    content = whole.read_bytes()
    whole.unlink()
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(content[: len(content) // 2])
    text = tmp_path / "text.png"
    text.write_text("no picture", encoding="utf-8")
    empty = tmp_path / "empty.png"
    empty.touch()
    tiny = tmp_path / "tiny.png"
    halves(15, 200).save(tiny)
    return {
        cut: "the picture is damaged",
        text: "no picture format fits",
        empty: "no picture format fits",
        tiny: "at least 16 x 16 pixels, but it has 15 x 200",
        tmp_path / "gone.png": "there is none",
        tmp_path: "a folder stands there",
    }


def test_damaged_files_are_sentences(tmp_path):
    for path, expected in damaged(tmp_path).items():
        with pytest.raises(CourseError, match=expected):
            photographs.read_photograph(path)


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    halves(400, 300).save(tmp_path / "large.png")
    monkeypatch.setattr(photographs, "LARGEST", 100_000)
    with pytest.raises(CourseError, match="at most 100,000 pixels, but it has 400 x 300"):
        photographs.read_photograph(tmp_path / "large.png")


def test_a_folder_of_ones_own(tmp_path):
    with pytest.raises(CourseError, match="of its files 0 have the name of a picture"):
        photographs.load_photographs(tmp_path)
    bad = damaged(tmp_path)
    (tmp_path / "notes.txt").write_text("no picture", encoding="utf-8")
    with pytest.raises(CourseError, match="none can be read"), pytest.warns(UserWarning):
        photographs.load_photographs(tmp_path)
    for name in ("b.PNG", "a.jpg", "d.webp", "e.png", "f.png", "g.png"):
        halves().save(tmp_path / name)
    with pytest.warns(UserWarning) as told:
        found = photographs.load_photographs(tmp_path)
    assert [one.path.name for one in found] == ["a.jpg", "b.PNG", "d.webp", "e.png", "f.png"]
    assert all(one.pixels.shape == (40, 60, 3) for one in found)
    assert "damaged" in str(told[0].message)
    assert len(told) == 2 < len(bad)  # cut.jpg and empty.png come before f.png
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(photographs.load_photographs(tmp_path, count=None, size=32)) == 6
    with pytest.raises(CourseError, match="is a file"):
        photographs.load_photographs(tmp_path / "a.jpg")
    with pytest.raises(CourseError, match="does not exist"):
        photographs.load_photographs(tmp_path / "nowhere")


@pytest.fixture
def coco(tmp_path):
    """A tiny COCO: two photographs for training, four for the rest; ids and lists out of order."""
    for part, names in (("train", "ba"), ("val", "cdef")):
        images, notes = [], []
        (tmp_path / f"{part}2017").mkdir()
        for number, name in enumerate(names):
            halves().save(tmp_path / f"{part}2017" / f"{name}.jpg")
            images.append({"id": 100 - number, "file_name": f"{name}.jpg", "width": 60})
            for n in range(2):
                note = {"id": n, "image_id": 100 - number, "caption": f"A {name}\n with {n}. "}
                notes.insert(0 if n else len(notes), note)
        (tmp_path / "annotations").mkdir(exist_ok=True)
        path = tmp_path / "annotations" / f"captions_{part}2017.json"
        path.write_text(json.dumps({"info": {}, "images": images, "annotations": notes}), "utf-8")
    return tmp_path


@pytest.fixture
def flickr(tmp_path):
    (tmp_path / "Flicker8k_Dataset").mkdir()
    lines = []
    for name in ("1_a.jpg", "2_b.jpg", "3#c.jpg"):
        halves().save(tmp_path / "Flicker8k_Dataset" / name)
        lines += [f"{name}#{n}\tA dog , the {n}\N{COMBINING ACUTE ACCENT} ." for n in range(5)]
    lines.append("2258277193_586949ec62.jpg.1#0\tA picture that nobody has .")
    (tmp_path / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "Flickr_8k.trainImages.txt").write_text("3#c.jpg\n1_a.jpg\n\n", "utf-8")
    (tmp_path / "Flickr_8k.devImages.txt").write_text("2_b.jpg\n", "utf-8")
    return tmp_path


def test_coco_is_read(coco):
    found = captioned.load_coco(coco / "annotations/captions_train2017.json", coco / "train2017")
    assert [one.path.name for one in found] == ["b.jpg", "a.jpg"]
    assert set(found[0].captions) == {"A b with 0.", "A b with 1."}
    assert [one.path.name for one in captioned.load_captioned(coco, "train")] == ["b.jpg", "a.jpg"]
    halves_of = [[one.path.name for one in captioned.load_captioned(coco, s)] for s in ("valid", "test")]
    assert halves_of == [["c.jpg", "e.jpg"], ["d.jpg", "f.jpg"]]
    assert photographs.stack([one.path for one in found], 16).shape == (2, 16, 16, 3)


def test_flickr_is_read(flickr):
    everything = captioned.load_flickr8k(flickr / "Flickr8k.token.txt", flickr / "Flicker8k_Dataset")
    assert [one.path.name for one in everything] == ["1_a.jpg", "2_b.jpg", "3#c.jpg"]
    assert all(len(one.captions) == 5 for one in everything)
    train = captioned.load_captioned(flickr, "train")
    assert [one.path.name for one in train] == ["3#c.jpg", "1_a.jpg"]
    assert [one.path.name for one in captioned.load_captioned(flickr, "valid")] == ["2_b.jpg"]
    with pytest.raises(CourseError, match="Flickr_8k.testImages.txt, but there is none"):
        captioned.load_captioned(flickr, "test")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "expected a JSON file"),
        ("[]", "found no list 'images'"),
        ('{"images": []}', "found no list 'annotations'"),
        ('{"images": [{"id": 1}], "annotations": []}', "images, entry 0: expected 'id' and a text"),
        ('{"images": ["a.jpg"], "annotations": []}', "entry 0: expected 'id'"),
        ('{"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 1, "file_name": "b.jpg"}], '
         '"annotations": []}', "the id 1 appears twice"),
        ('{"images": [], "annotations": [{"image_id": 7, "caption": "A."}]}', "the image 7, which"),
        ('{"images": [], "annotations": [{"image_id": 7, "caption": 3}]}', "annotations, entry 0"),
        ('{"images": [{"id": 1, "file_name": "../x.jpg"}], "annotations": '
         '[{"image_id": 1, "caption": "A."}]}', "file names without folders"),
        ('{"images": [], "annotations": []}', "0 of 0 are missing"),
    ],
)  # fmt: skip
def test_a_malformed_coco_file_is_a_sentence(coco, content, expected):
    path = coco / "annotations/captions_train2017.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=expected):
        captioned.load_coco(path, coco / "train2017")


@pytest.mark.parametrize(
    "line",
    ["1_a.jpg\tA dog .", "1_a.jpg#0 A dog .", "1_a.jpg#x\tA dog .", "#0\tA dog .", "1_a.jpg#0\t "],
)
def test_a_malformed_token_file_is_a_sentence(flickr, line):
    path = flickr / "Flickr8k.token.txt"
    path.write_text(f"1_a.jpg#0\tA dog .\n{line}\n", encoding="utf-8")
    with pytest.raises(CourseError, match="token.txt, line 2: expected NAME.jpg#0, a tab and a caption"):
        captioned.load_flickr8k(path, flickr / "Flicker8k_Dataset")


def test_missing_photographs_are_told_or_left_out(coco, flickr):
    (coco / "train2017/a.jpg").unlink()
    path = coco / "annotations/captions_train2017.json"
    with pytest.raises(CourseError, match="1 of 2 are missing, such as a.jpg"):
        captioned.load_coco(path, coco / "train2017")
    (one,) = captioned.load_coco(path, coco / "train2017", skip_missing=True)
    assert one.path.name == "b.jpg"
    (coco / "train2017/b.jpg").unlink()
    with pytest.raises(CourseError, match="2 of 2 are missing"):
        captioned.load_coco(path, coco / "train2017", skip_missing=True)
    with pytest.raises(CourseError, match="folder of the photographs"):
        captioned.load_coco(path, coco / "elsewhere")
    (flickr / "Flickr_8k.devImages.txt").write_text("9_z.jpg\n", "utf-8")
    with pytest.raises(CourseError, match="'9_z.jpg' has none"):
        captioned.load_captioned(flickr, "valid")


def test_a_folder_with_neither_is_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="neither is there"):
        captioned.load_captioned(tmp_path)
    with pytest.raises(CourseError, match="no split 'dev'"):
        captioned.load_captioned(tmp_path, "dev")
