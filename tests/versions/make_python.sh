#!/bin/sh
# Makes an interpreter of another version in a folder of its own, and an environment with all that the course
# needs: at the versions of constraints.txt, at the newest or the oldest that pyproject.toml allows, or at the
# newest with Sphinx itself instead of Jupyter Book:
#
#   sh tests/versions/make_python.sh 3.14 FOLDER [tested|newest|oldest|sphinx]     FOLDER/env/bin/python then runs it
#   sh tests/versions/make_python.sh 3.14 FOLDER none      prints where the interpreter lies, and makes no environment
#
# An interpreter on the path is taken as it is. Otherwise its packages come from a newer suite of Debian, by the
# mirror that this machine uses, and are unpacked, not installed: nothing of the system changes. Where that
# cannot be, one sentence says why and the status is 3; packages that cannot be installed are a fault, status 1.
set -eu
version=$1 folder=$2 packages=${3:-tested}
here=$(cd "$(dirname "$0")/../.." && pwd)

cannot() {
  echo "Python $version cannot be had here: $1"
  exit 3
}

suite_of() {
  case $1 in 3.13) echo trixie ;; 3.14) echo forky ;; *) cannot "no suite of Debian is known to have it." ;; esac
}

apt() {
  apt-get -o Dir::Etc::sourcelist="$folder/suite.sources" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o Dir::State::status=/dev/null "$@"
}

unpacked() {
  [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || cannot "this is no Debian on amd64."
  command -v patchelf >/dev/null || cannot "patchelf is absent (sudo apt-get install patchelf)."
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages" "$folder/root"
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$(suite_of "$version")" \
    /usr/share/keyrings/debian-archive-keyring.gpg >"$folder/suite.sources"
  apt update -qq >/dev/null 2>&1 || cannot "the newer suite of Debian does not answer."
  names=$(apt install -s -y --no-install-recommends "python$version" "python$version-venv" libstdc++6 2>/dev/null \
    | awk '/^Inst/ { print $2 }')
  (cd "$folder/packages" && apt download $names >/dev/null 2>&1) || cannot "its packages do not arrive."
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done
  libraries=$folder/root/usr/lib/x86_64-linux-gnu
  # Its own loader and libraries: the system's may be older than it needs.
  patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$libraries" \
    "$folder/root/usr/bin/python$version"
  # Its own pip in new environments: the system's is older than it can run.
  sed -i "s|/usr/share/python-wheels/|$folder/root&|" "$folder/root/usr/lib/python$version"/_sysconfig*
  echo "$folder/root/usr/bin/python$version"
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
here_already() { "python$version" -c "import sys; print(sys.executable)" 2>/dev/null; }
python=$(here_already || unpacked) || { echo "$python"; exit 3; }
if [ "$packages" = none ]; then echo "$python"; exit; fi
command -v uv >/dev/null || cannot "uv is absent (pip install uv)."
"$python" -m venv --without-pip "$folder/env"
"$python" "$here/tests/versions/needed.py" "$packages" >"$folder/needed.txt"
case $packages in
  tested) set -- --constraints "$here/constraints.txt" ;;
  newest | sphinx) set -- --upgrade ;;
  oldest) set -- --resolution lowest-direct ;;
  *) echo "$packages is no choice of packages."; exit 1 ;;
esac
uv pip install --quiet --python "$folder/env/bin/python" "$@" --requirements "$folder/needed.txt" \
  || { echo "Python $version: not every package can be installed on it."; exit 1; }
"$folder/env/bin/python" -c "import sys, torch; print('Python', sys.version.split()[0], 'with PyTorch', torch.__version__)"
