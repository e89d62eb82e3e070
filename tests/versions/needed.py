"""Print what the package and all its extras need, a line each."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
for group in (project["dependencies"], *project["optional-dependencies"].values()):
    for need in group:
        if not need.startswith(project["name"]):
            print(need)
