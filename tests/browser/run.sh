#!/usr/bin/env bash
# Measure a built site in Chromium: tests/browser/run.sh SITE_DIR [check …]
# Needs node, npm, Debian's chromium and poppler-utils; brings the rest by npm, beside this file, out of git.
set -euo pipefail
site=$(realpath "$1")
cd "$(dirname "$0")"
for tool in node npm "${CHROME_PATH:-/usr/bin/chromium}" pdftotext; do
  command -v "$tool" > /dev/null || { echo "$tool is missing: apt-get install nodejs npm chromium poppler-utils" >&2; exit 1; }
done
npm install --no-package-lock --no-audit --no-fund --loglevel=error
exec node run.mjs "$site" "${@:2}"
