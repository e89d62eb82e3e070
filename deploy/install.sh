#!/bin/sh
# Installs the course with JupyterHub and nbgrader's exchange:  sh deploy/install.sh [FOLDER [EXCHANGE]]
# FOLDER gets a virtual environment of its own. EXCHANGE is the folder that instructors and students share.
# Needs Python with venv, node and npm; PYTHON=python3.12 names another Python. Running it again is an update.
set -eu
course=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-/opt/seqcourse}
exchange=${2:-/srv/nbgrader/exchange}

rm -rf "$course/build"  # of an earlier installation
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet --constraint "$course/constraints.txt" "$course[grading]" "jupyterhub>=6.1,<7"
npm install --silent --global --prefix "$folder" configurable-http-proxy@5

mkdir -p "$exchange" "$folder/etc/jupyter/labconfig"
chmod ugo+rwx "$exchange"
cat > "$folder/etc/jupyter/nbgrader_config.py" <<END
c = get_config()
c.Exchange.root = "$exchange"
c.CourseDirectory.course_id = "seqcourse"
END

# A login shell would forget where the course's programs are.
cat > "$folder/etc/jupyter/jupyter_server_config.py" <<END
c = get_config()
c.ServerApp.terminado_settings = {"shell_command": ["/bin/bash"]}
END

# Nobody is asked about news. What only instructors need is off: `jupyter labextension enable --level=user` brings it to an instructor's account.
cat > "$folder/etc/jupyter/labconfig/page_config.json" <<END
{
  "disabledExtensions": {
    "@jupyterlab/apputils-extension:announcements": true,
    "@jupyter/nbgrader:course-list": true,
    "@jupyter/nbgrader:create-assignment": true,
    "@jupyter/nbgrader:formgrader": true
  }
}
END
echo "Installed in $folder; the exchange is $exchange. Next: book/appendix_hub.md"
