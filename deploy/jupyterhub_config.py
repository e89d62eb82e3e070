"""JupyterHub for a class on one machine: accounts of the system, one JupyterLab for each.

Run as root, in a folder for the hub's own files, with the programs that install.sh installed:

    /opt/seqcourse/bin/jupyterhub --config /path/of/the/course/deploy/jupyterhub_config.py

try_config.py is the same without accounts, to try it alone.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub defines it

programs = Path(sys.executable).parent  # of the environment that runs the hub
# Put a web server that speaks HTTPS before this address.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.cleanup_servers = True

# Members of this group of the system log in with their own passwords. For the login of your school
# instead, set another class here; JupyterHub's documentation lists them (OAuth, LDAP, LTI, ...).
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {"seqcourse"}

c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(programs / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
    "JUPYTER_PREFER_ENV_PATH": "0",  # what an account chooses goes before what is installed for all
    "OMP_NUM_THREADS": "1",  # many notebooks share the processors
}

# Assignments of which submissions are graded as they arrive, such as ["ps3"]: one service of the hub for
# each, run by the instructor's account in its copy of the course, and started again when it ends.
watched = []
instructor = "instructor"
course = os.path.expanduser(f"~{instructor}/course")
c.JupyterHub.services = [
    {
        "name": f"watch-{name}",
        "user": instructor,
        "cwd": course,
        "command": [str(programs / "seqcourse"), "watch", name, "--page", f"grading/watch-{name}.html"],
        "environment": {"PATH": c.Spawner.environment["PATH"]},
    }
    for name in watched
]

c.ConfigurableHTTPProxy.command = [str(programs / "configurable-http-proxy")]
