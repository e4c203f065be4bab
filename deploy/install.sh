#!/usr/bin/env bash
# Installs what building, demo or tests need on Debian 12. Does nothing when all of it is there.
#
#   deploy/install.sh [build|demo|tests|pictures]     as root, or as a user who may use sudo; [tests]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v swift >/dev/null; then
    echo "install: no 'swift' in PATH. Install Swift 6.2 or newer from swift.org and put its usr/bin in PATH." >&2
    exit 1
fi

wanted=${1:-tests}
grep -qx "# $wanted" "$here/packages.txt" || {
    echo "install: nothing is called '$wanted'; known are build, demo, tests and pictures" >&2
    exit 1
}
missing=()
last=
while read -r package; do
    case $package in
        '#'*) # The parts after the wanted one are not looked at.
            [ "$last" != "$wanted" ] || break
            last=${package#'# '}
            continue ;;
        '') continue ;;
    esac
    status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing+=("$package")
done <"$here/packages.txt"
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install: these packages are missing and only root can install them: ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi
echo "install: ${missing[*]}"
# The broker is started by demo and tests on a port of their own: no service of the machine is started,
# in the way Debian's packages ask for it. A machine that has rules of its own for that keeps them.
rules=/usr/sbin/policy-rc.d
if [ ! -e "$rules" ]; then
    trap '"${as_root[@]}" rm -f "$rules"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$rules"
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
