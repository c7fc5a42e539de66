#!/usr/bin/env bash
# Makes .venv with the packages of Tests/requirements.txt, and remakes it when that file or the interpreter changes.
#
# usage: scripts/venv.sh
# SWITCHBOARD_PYTHON names an interpreter; the default is Debian's, else python3 on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${SWITCHBOARD_PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null 2>&1 || python=python3

stamp=.venv/.installed
want=$("$python" --version; sha256sum <Tests/requirements.txt)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ]; then
    exit 0
fi

printf 'venv: installing Tests/requirements.txt into .venv\n' >&2
rm -rf .venv
"$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement Tests/requirements.txt
printf '%s\n' "$want" >"$stamp"
