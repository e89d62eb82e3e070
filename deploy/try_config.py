"""The class's hub to try alone, without accounts: an instructor and two students, all with your rights.

    FOLDER/bin/jupyterhub --config deploy/try_config.py

Anyone who reaches the address may be any of the three, so it listens on this machine only. Their
homes are made in the folder home/ beside the hub's own files, in the current folder.
"""

import os
from pathlib import Path

here = str(Path(__file__).parent)
load_subconfig("jupyterhub_config.py", path=here)  # noqa: F821 - JupyterHub defines it
c = get_config()  # noqa: F821

c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = "try-the-course"
c.Authenticator.allowed_users = {"instructor", "ada", "bob"}
c.JupyterHub.spawner_class = "simple"
homes = Path.cwd() / "home"
c.SimpleLocalProcessSpawner.home_dir_template = str(homes / "{username}")
if os.geteuid() == 0:  # in a container; Jupyter asks for a word then
    c.Spawner.args = ["--allow-root"]


def tell_nbgrader_the_name(spawner):
    """nbgrader asks the system who somebody is, and the system knows only you."""
    settings = homes / spawner.user.name / ".jupyter" / "nbgrader_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    if spawner.user.name != "instructor":
        settings.write_text(f"c = get_config()\nc.CourseDirectory.student_id = {spawner.user.name!r}\n")


c.Spawner.pre_spawn_hook = tell_nbgrader_the_name
