#!/bin/sh
# Sees to it that programs which pip cannot install are there: as root on Debian it installs them.
#
#   sh tests/ensure_tools.sh browser firefox bubblewrap postgresql
#
# Says one line for each; never stops `make`. Without a browser or PostgreSQL the tests that need one are
# skipped (without a browser they fail where CI=true); without bubblewrap nothing is graded on Linux unless
# one asks for it with --unsafe-no-sandbox.
set -u

can_install() {
  [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

install() {
  echo "No $1 found: installing Debian's package (once; a minute or two) ..."
  shift
  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@") \
    >/dev/null 2>&1
}

find_browser() {
  for program in chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if command -v "$program" 2>/dev/null; then return 0; fi
  done
  for place in "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
               "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
    if [ -x "$place" ]; then echo "$place"; return 0; fi
  done
  return 1
}

browser() {
  if found=$(find_browser) || { can_install && install Chromium chromium && found=$(find_browser); }; then
    echo "Browser for the tests of the pages: $found"
    return
  fi
  python=${PYTHON_OF_COURSE:-.venv/bin/python}
  if [ -x "$python" ] && "$python" -c "import playwright" >/dev/null 2>&1; then
    echo "No Chromium found: trying Playwright's own ..."
    if "$python" -m playwright install chromium >/dev/null 2>&1; then
      echo "Browser for the tests of the pages: the one that Playwright fetched."
      return
    fi
  fi
  echo "No Chromium could be found or installed. The tests of the pages need one: install Chromium or Chrome" \
       "(on Debian and Ubuntu: sudo apt-get install chromium). Without it they are skipped."
}

a_firefox() {  # a function called firefox would be found as the program
  if found=$(command -v firefox-esr || command -v firefox) \
     || { can_install && install Firefox firefox-esr && found=$(command -v firefox-esr); }; then
    echo "Firefox for the tests of the pages at night: $found"
  else
    echo "No Firefox could be found or installed. The tests of the pages in Firefox need it: install it (on Debian:" \
         "sudo apt-get install firefox-esr). Without it they are skipped."
  fi
}

bubblewrap() {
  if found=$(command -v bwrap) \
     || { can_install && install bubblewrap bubblewrap libseccomp2 && found=$(command -v bwrap); }; then
    echo "Sandbox for the notebooks that are graded: $found"
  elif [ "$(uname -s)" = Linux ]; then
    echo "No bubblewrap could be found or installed. Grading needs it: install it (on Debian and Ubuntu:" \
         "sudo apt-get install bubblewrap). Without it no submission is graded unless --unsafe-no-sandbox" \
         "is given."
  else
    echo "No sandbox: bubblewrap exists for Linux only. Grading here needs --unsafe-no-sandbox."
  fi
}

find_postgresql() {
  if command -v pg_ctl 2>/dev/null; then return 0; fi
  for program in /usr/lib/postgresql/*/bin/pg_ctl; do
    if [ -x "$program" ]; then echo "$program"; return 0; fi
  done
  return 1
}

postgresql() {
  if found=$(find_postgresql) \
     || { can_install && install PostgreSQL postgresql && found=$(find_postgresql); }; then
    echo "PostgreSQL for the tests of a shared gradebook: $found"
  else
    echo "No PostgreSQL could be found or installed. The tests of a gradebook on a server need it (on Debian and" \
         "Ubuntu: sudo apt-get install postgresql). Without it they are skipped."
  fi
}

for tool in "$@"; do
  case $tool in
    browser | bubblewrap | postgresql) "$tool" ;;
    firefox) a_firefox ;;
    *) echo "A tool should be browser, firefox, bubblewrap or postgresql, but it is $tool." ;;
  esac
done
exit 0
