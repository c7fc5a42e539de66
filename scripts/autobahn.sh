#!/usr/bin/env bash
# Installs the Autobahn test suite, which is Python 2 only, into .venv27 and prints the path of its wstest.
#
# usage: scripts/autobahn.sh
# exit:  0 installed (path on standard output), 3 no CPython 2.7 on this machine, else the installer's failure.
#
# SWITCHBOARD_PYTHON27 names an interpreter; otherwise python2.7 on PATH and pyenv's versions are tried.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly suite_version=25.10.1
readonly home=.venv27
readonly wstest=$home/bin/wstest
readonly stamp=$home/.installed-$suite_version

say() { printf 'autobahn: %s\n' "$*" >&2; }

# A pyenv shim named python2.7 exists even when no 2.7 is selected, so each candidate is run, not just looked up.
find_python27() {
    local candidate
    for candidate in \
        "${SWITCHBOARD_PYTHON27:-}" python2.7 python2 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7.*/bin/python2.7 \
        /opt/python2.7/bin/python2.7 /usr/local/bin/python2.7; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys, ssl, zlib; sys.exit(sys.version_info[:2] != (2, 7))' 2>/dev/null; then
            "$candidate" -c 'import sys; sys.stdout.write(sys.executable)'
            return 0
        fi
    done
    return 1
}

if [ -e "$stamp" ] && "$wstest" --help >/dev/null 2>&1; then
    printf '%s\n' "$PWD/$wstest"
    exit 0
fi

if ! python27=$(find_python27); then
    say "no CPython 2.7 with ssl and zlib found; install one (for example 'pyenv install 2.7.18')," \
        "or name it in SWITCHBOARD_PYTHON27"
    exit 3
fi

say "installing autobahntestsuite $suite_version for $python27 (about a minute)"
maker=$(mktemp -d)
trap 'rm -rf "$maker"' EXIT
# Not over an environment in which a test may be running.
[ -x .venv/bin/python ] || scripts/venv.sh
# The last virtualenv that can make Python 2.7 environments.
.venv/bin/python -m pip install --quiet --no-compile --target "$maker" 'virtualenv<20.22' >&2
rm -rf "$home"
PYTHONPATH=$maker .venv/bin/python -m virtualenv --quiet --python "$python27" "$home" >&2
# Some packages bring extensions in C, which are used for a minute: what compiles them soonest is best.
CFLAGS="-O0 -g0" "$home/bin/pip" install --quiet --no-compile "autobahntestsuite==$suite_version" >&2
"$wstest" --help >/dev/null
touch "$stamp"
printf '%s\n' "$PWD/$wstest"
