"""The roles: what a thing does decides its colour, in drawings, plots, widgets and live figures."""

from __future__ import annotations

from typing import NamedTuple


class Role(NamedTuple):
    """What things of a role are called in the legend, and their colours: soft fill and line."""

    words: str
    light: tuple[str, str]
    dark: tuple[str, str]


ROLES = {
    "x": Role("input, score", ("#edeae5", "#7b7064"), ("#37322d", "#a79a8b")),
    "q": Role("query: asks", ("#f5dff0", "#923a80"), ("#4a2944", "#e59dd3")),
    "k": Role("key: is compared", ("#d3efe1", "#00755a"), ("#153f32", "#55c79f")),
    "v": Role("value: is handed over", ("#d5e8f8", "#0a68a6"), ("#17395a", "#74baf0")),
    "a": Role("weight: how much", ("#fff3d6", "#8f6000"), ("#2a241a", "#e2ab45")),
    "y": Role("output: comes out", ("#fcdccd", "#b2420a"), ("#552918", "#f59b72")),
    "m": Role("module: computes", ("#f1e6d5", "#8a7353"), ("#3d352b", "#b39c7d")),
    "no": Role("masked", ("#e7e3dd", "#857a6e"), ("#2b2825", "#8f8478")),
}

#: Colours that are no role's: the ground of a drawing, its edge, ink, muted ink, arrows, a plain cell,
#: a weight of 1, and the ink on it. Light first, then dark.
OTHERS = {
    "stage": ("#fdfaf5", "#1e1b18"),
    "edge": ("#eadfce", "#3a332b"),
    "ink": ("#2c241d", "#f4ede3"),
    "mute": ("#655a4e", "#bdb1a3"),
    "line": ("#75685a", "#aa9c8b"),
    "cell": ("#ffffff", "#2a2622"),
    "full": ("#eda61c", "#925f0a"),
    "on": ("#2c1d00", "#f4ede3"),
}

#: Of widgets and live figures: a weight of 1 below the page's own ink (and so is every part of it), and
#: what is below zero.
TINTS = {"tint": (OTHERS["full"][0], "#7a4b00"), "cool": ("#56b4e9", "#0e5c92")}

#: From no weight to the whole, for maps: each darker than the one before.
WEIGHTS = ("#ffffff", ROLES["a"].light[0], OTHERS["full"][0], ROLES["a"].light[1], OTHERS["on"][0])


def for_widgets(dark: bool) -> str:
    """The colours outside the drawings: --sq-q is the line of the role q, --sq-tint a weight of 1,
    --sq-stage and --sq-edge the ground and edge of a drawing."""
    lines = {
        name: (role.dark if dark else role.light)[1] for name, role in ROLES.items() if name in "qkvy"
    }
    stage = {name: OTHERS[name] for name in ("stage", "edge")}
    pairs = lines | {name: pair[dark] for name, pair in (TINTS | stage).items()}
    return "".join(f"--sq-{name}:{colour};" for name, colour in pairs.items())


def variables(dark: bool) -> str:
    """All colours as CSS variables: --d-q is the fill of the role q, --d-q2 its line and text."""
    pairs = {name: pair[dark] for name, pair in OTHERS.items()}
    for name, role in ROLES.items():
        pairs[name], pairs[f"{name}2"] = role.dark if dark else role.light
    return "".join(f"--d-{name}:{colour};" for name, colour in pairs.items())
