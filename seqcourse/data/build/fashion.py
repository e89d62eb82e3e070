"""Make the cut of Fashion-MNIST: some pictures of every kind."""

from __future__ import annotations

from pathlib import Path

from seqcourse.data.build.writing import sha256, write_set
from seqcourse.data.fashion import CLOTHES, PUBLISHED, load_fashion, write_idx
from seqcourse.data.readers import FILES

EACH = {"train": 400, "valid": 50, "test": 100}  # pictures of every kind

LICENCE = """\
Fashion-MNIST, https://github.com/zalandoresearch/fashion-mnist

The MIT License (MIT)

Copyright (c) 2017 Zalando SE, https://tech.zalando.com

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def build(source: Path, target: Path = FILES) -> None:
    """Write ``fashion-mnist`` under ``target``: the first pictures of every kind of every split."""
    cuts = {split: load_fashion(split, source).first(each) for split, each in EACH.items()}
    files: dict[str, bytes | str] = {"LICENSE": LICENCE}
    for split, cut in cuts.items():
        files[f"{split}-images.idx.xz"] = write_idx(cut.images)
        files[f"{split}-labels.idx.xz"] = write_idx(cut.labels)
    published = [name for names in PUBLISHED.values() for name in names]
    note = {
        "package": "dataset-fashion-mnist 0.0~git20200523.55506a9-1 (Debian)",
        "file": [f"usr/share/datasets/fashion-mnist/{name}" for name in published],
        "sha256": {name: sha256(source / name) for name in published},
        "origin": "https://github.com/zalandoresearch/fashion-mnist",
        "licence": "MIT, Zalando SE, see LICENSE",
        "columns": list(CLOTHES),
        "filter": {
            "of_every_kind": EACH,
            "order": "as published; valid is taken from the last 5,000 training pictures",
        },
        "counts": {split: len(cut) for split, cut in cuts.items()},
    }
    write_set("fashion", target / "fashion-mnist", files, note)
