#!/usr/bin/env bash
# Makes a Python environment with the packages of a file, and remakes it when that file or the interpreter changes.
#
# usage: scripts/venv.sh [DIR REQUIREMENTS] ; the default is .venv with Tests/requirements.txt
# SWITCHBOARD_PYTHON names an interpreter; the default is Debian's, else python3 on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${1:-.venv}
requirements=${2:-Tests/requirements.txt}
python=${SWITCHBOARD_PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null 2>&1 || python=python3

stamp=$venv/.installed
want=$("$python" --version; sha256sum <"$requirements")
if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ]; then
    exit 0
fi

printf 'venv: installing %s into %s\n' "$requirements" "$venv" >&2
rm -rf "$venv"
"$python" -m venv "$venv"
# Python compiles what it imports; most files of the packages are never read.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --requirement "$requirements"
printf '%s\n' "$want" >"$stamp"
