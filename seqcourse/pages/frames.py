"""Pictures and sounds that a notebook keeps inside itself become files beside the page.

JupyterLab needs them inside; a reader of the page should load one only when it comes near. A
picture becomes WebP where that is smaller, dot for dot unless it is a heavy photograph. It keeps its
place by a width and a height, and loads when it is close to the screen; a sound loads when its
figure is touched (`touch.js`). A picture whose dots a script reads is marked `data-inside` and stays:
opened from a folder, a page may show a file but not read it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEAVY = 20_000  # bytes: a picture that is heavier without loss holds photographs, and may lose a little
QUALITY = 55  # of those; with two dots to a pixel nobody sees a difference
SMALLEST = 1000  # bytes: anything below costs less inside the page than a request of its own
DATA = re.compile(r'(?<!data-inside )(src|href|srcset)="data:(image|audio)/([a-z0-9]+);base64,([^"]+)"')
PICTURE = re.compile(r"<(?:img|source)\b[^>]*>")
SOUND = re.compile(r"<(?:audio|video)\b[^>]*>")
PRELOAD = re.compile(r'\spreload="[^"]*"')
STYLED = re.compile(r'style="width: (\d+)px; height: (\d+)px;"')
EARLIER = re.compile(r"<script data-touch>.*?</script>\n", re.S)
SCRIPT = (Path(__file__).parent / "touch.js").read_text(encoding="utf-8")
TOUCH = f"<script data-touch>\n{SCRIPT}</script>\n"


def take_out(page: str, where: Path, folder: Path) -> str:
    """The page's HTML with its pictures and sounds as files in ``folder``; nothing new the second time.

    Args:
        page: HTML.
        where: its file; addresses in it are relative to that.
        folder: for the files.
    """
    near = os.path.relpath(folder, where.parent).replace(os.sep, "/")

    def as_file(found: re.Match[str]) -> str:
        attribute, kind, form, code = found.groups()
        content = base64.b64decode(code)
        if len(content) < SMALLEST:
            return found[0]
        form = {"jpeg": "jpg", "mpeg": "mp3"}.get(form, form)
        name = keep(content, form, folder, may_shrink=kind == "image")
        return f'{attribute}="{near}/{name}"'

    page = DATA.sub(as_file, page)
    page = SOUND.sub(lambda found: _with(PRELOAD.sub("", found[0]), "preload", "none"), page)
    page = PICTURE.sub(lambda found: _lighter(found[0], where, folder, near), page)
    page = EARLIER.sub("", page)
    if "sq-frame" in page or "<audio" in page:
        page = page.replace("</body>", f"{TOUCH}</body>", 1)
    return page


def keep(content: bytes, form: str, folder: Path, may_shrink: bool = True) -> str:
    """Write a file named by its content and how it is made, as WebP where that is smaller; its name."""
    mark = hashlib.sha256(b"%d %d " % (HEAVY, QUALITY) + content).hexdigest()[:16]
    for path in (folder / f"{mark}.webp", folder / f"{mark}.{form}"):
        if path.is_file():
            return path.name
    folder.mkdir(parents=True, exist_ok=True)
    if may_shrink and form == "png":
        smaller = as_webp(content)
        if len(smaller) < len(content):
            content, form = smaller, "webp"
    path = folder / f"{mark}.{form}"
    path.write_bytes(content)
    return path.name


def as_webp(content: bytes) -> bytes:
    """A picture as WebP with every dot the same; a heavy one at a quality where nobody sees the loss."""
    from PIL import Image

    made, lossy = io.BytesIO(), io.BytesIO()
    with Image.open(io.BytesIO(content)) as picture:
        mode = "RGBA" if "transparency" in picture.info or picture.mode in ("RGBA", "LA") else "RGB"
        dots = picture.convert(mode)
    dots.save(made, format="webp", lossless=True, quality=80, method=4)
    if made.tell() > HEAVY:
        dots.save(lossy, format="webp", quality=QUALITY, method=6)
    return lossy.getvalue() if 0 < lossy.tell() < 0.85 * made.tell() else made.getvalue()


def _lighter(tag: str, where: Path, folder: Path, near: str) -> str:
    """An ``<img>`` (or its narrow form) that loads late, has its size, and shows the lighter file."""
    kind = "src" if tag.startswith("<img") else "srcset"
    source = re.search(rf'\s{kind}="([^"]+)"', tag)
    if source is None or "logo__image" in tag:
        return tag
    address = urlsplit(source[1])
    file = where.parent / unquote(address.path)
    if address.scheme or address.netloc or not file.is_file():
        return tag
    if size := _size_in_style(tag) or size_of(file):
        tag = _with(_with(tag, "width", str(size[0])), "height", str(size[1]))
    if file.suffix == ".png" and file.parent != folder:
        name = keep(file.read_bytes(), "png", folder)
        if name.endswith(".webp"):
            tag = tag.replace(f'"{source[1]}"', f'"{near}/{name}"', 1)
    return _with(tag, "loading", "lazy") if kind == "src" else tag


def size_of(file: Path) -> tuple[int, int] | None:
    """Width and height of a picture in CSS pixels; None where it does not say."""
    if file.suffix != ".svg":
        from PIL import Image

        with Image.open(file) as picture:
            return picture.size
    opening = re.search(r"<svg\b[^>]*>", file.read_text(encoding="utf-8"))
    found = re.findall(r'\s(width|height)="([\d.]+)(pt|px)?"', opening[0]) if opening else []
    sizes = {name: float(value) * (4 / 3 if unit == "pt" else 1) for name, value, unit in found}
    return (round(sizes["width"]), round(sizes["height"])) if len(sizes) == 2 else None


def _size_in_style(tag: str) -> tuple[int, int] | None:
    """What MyST-NB writes for a picture of double density; a style sheet may overrule it."""
    found = STYLED.search(tag)
    return (int(found[1]), int(found[2])) if found else None


def _with(tag: str, attribute: str, value: str) -> str:
    """A tag with an attribute that it may have already."""
    if attribute in re.findall(r'\s([\w-]+)(?:="[^"]*")?', tag):
        return tag
    end = "/>" if tag.endswith("/>") else ">"
    return f'{tag[: -len(end)].rstrip()} {attribute}="{value}"{end}'
