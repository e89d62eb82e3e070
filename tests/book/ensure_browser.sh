#!/bin/sh
# Sees to it that the tests of the pages find a Chromium. Says one line; never stops `make test`:
# without a browser those tests are skipped (and fail where CI=true).
set -u

found=""
for program in chromium chromium-browser google-chrome google-chrome-stable chrome; do
  if command -v "$program" >/dev/null 2>&1; then found=$(command -v "$program"); break; fi
done
for place in "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
             "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
  if [ -z "$found" ] && [ -x "$place" ]; then found=$place; fi
done
if [ -n "$found" ]; then
  echo "Browser for the tests of the pages: $found"
  exit 0
fi

if [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "No Chromium found: installing Debian's package (once; a minute or two) ..."
  if (apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1 \
     && command -v chromium >/dev/null 2>&1; then
    echo "Browser for the tests of the pages: $(command -v chromium)"
    exit 0
  fi
fi

python=${PYTHON_OF_COURSE:-.venv/bin/python}
if [ -x "$python" ] && "$python" -c "import playwright" >/dev/null 2>&1; then
  echo "No Chromium found: trying Playwright's own ..."
  if "$python" -m playwright install chromium >/dev/null 2>&1; then
    echo "Browser for the tests of the pages: the one that Playwright fetched."
    exit 0
  fi
fi

echo "No Chromium could be found or installed. The tests of the pages need one: install Chromium or Chrome" \
     "(on Debian and Ubuntu: sudo apt-get install chromium). Without it they are skipped."
exit 0
