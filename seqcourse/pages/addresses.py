"""Where the book and its repository are on the web, and what follows from that.

``BOOK_REPOSITORY`` is the address of the repository; else ``repository`` in course.toml; else the git
remote "origin" if it is on a public hosting service; else none. ``BOOK_SITE`` is the address at which
the pages will be; else ``book`` in course.toml; without both, what needs a full address is left out.
``BOOK_HUB`` is the address of a class's JupyterHub that has nbgitpuller; with it, pages open there, too.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from cellgrader.class_settings import read_settings, repository
from seqcourse.errors import CourseError

NO_REPOSITORY = (
    "{} should be the address of a repository on GitHub, GitLab or Bitbucket, such as "
    "https://github.com/owner/name, but it is {!r}."
)
NO_ADDRESS = "{} should be the address of {}, such as https://example.org/course, but it is {!r}."


def find_repository(root: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """The repository's address by the setting, else by git, else None. Raises CourseError."""
    settings = read_settings(root)
    places = {
        "BOOK_REPOSITORY": environment.get("BOOK_REPOSITORY", ""),
        f"{settings.where('repository')}: repository": settings["repository"],
    }
    for where, given in places.items():
        if given and (found := repository(given)):
            return found
        if given:
            raise CourseError(NO_REPOSITORY.format(where, given))
    command = ["git", "-C", str(root), "config", "--get", "remote.origin.url"]
    try:
        remote = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):  # no git, or no answer
        return None
    return repository(remote)


def find_site(root: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """The address of the pages, with a slash at its end, or None. Raises CourseError."""
    given = environment.get("BOOK_SITE", "").strip() or read_settings(root)["book"]
    return _whole("BOOK_SITE", "the pages", given)


def find_hub(environment: Mapping[str, str] = os.environ) -> str | None:
    """The address of the class's JupyterHub, with a slash at its end, or None. Raises CourseError."""
    return _whole("BOOK_HUB", "a JupyterHub", environment.get("BOOK_HUB", "").strip())


def _whole(name: str, what: str, given: str) -> str | None:
    parts = urlsplit(given)
    if given and not (parts.scheme in ("http", "https") and parts.netloc):
        raise CourseError(NO_ADDRESS.format(name, what, given))
    return given.rstrip("/") + "/" if given else None


def launchers(address: str | None, hub: str | None = None) -> dict[str, str]:
    """What the theme needs to offer notebooks on other people's machines."""
    on = (urlsplit(address or "").hostname or "").split(".")
    colab = {"colab_url": "https://colab.research.google.com"} if "github" in on else {}
    binder = {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
    own = {"jupyterhub_url": hub, "notebook_interface": "jupyterlab"} if hub and address else {}
    return own | ({**colab, **binder} if {"github", "gitlab"} & set(on) else {})


def launch(address: str | None, path: str, branch: str, hub: str | None = None) -> dict[str, str]:
    """Addresses at which a file of the repository opens and runs, by the name of the service."""
    services = launchers(address, hub)
    owner = urlsplit(address or "").path.strip("/")
    found = {}
    runs = f"{branch}?urlpath=lab/tree/{path}"
    if "jupyterhub_url" in services:
        name = owner.rpartition("/")[2]
        asked = {"repo": address, "urlpath": f"lab/tree/{name}/{path}", "branch": branch}
        pull = "hub/user-redirect/git-pull"
        found["JupyterHub"] = f"{services['jupyterhub_url']}{pull}?{urlencode(asked, safe='/')}"
    if "colab_url" in services:
        found["Colab"] = f"{services['colab_url']}/github/{owner}/blob/{branch}/{path}"
    if "binderhub_url" in services:
        kind, owner = ("gh", owner) if "colab_url" in services else ("gl", owner.replace("/", "%2F"))
        found["Binder"] = f"{services['binderhub_url']}/v2/{kind}/{owner}/{runs}"
    return found


def _settle(app: Any, config: Any) -> None:
    from sphinx.errors import ConfigError  # the package is also built from here, without Sphinx

    try:
        config.book_repository = find_repository(Path(app.confdir)) or ""
        config.book_site = find_site(Path(app.confdir)) or ""
        config.book_hub = find_hub() or ""
    except CourseError as error:
        raise ConfigError(str(error)) from error
    if config.book_site:
        config.html_baseurl = config.book_site
    if config.book_repository:
        config.html_theme_options |= {
            "repository_url": config.book_repository,
            "repository_branch": config.book_branch,
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": launchers(config.book_repository, config.book_hub),
        }


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("book_repository", "", "env", str)
    app.add_config_value("book_branch", "main", "env", str)
    app.add_config_value("book_site", "", "env", str)
    app.add_config_value("book_hub", "", "env", str)
    app.connect("config-inited", _settle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
