#!/usr/bin/env bash
# Installs what building, demo and tests need on Debian 12. Does nothing when all of it is there.
#
#   deploy/install.sh        as root, or as a user who may use sudo
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v swift >/dev/null; then
    echo "install: no 'swift' in PATH. Install Swift 6.2 or newer from swift.org and put its usr/bin in PATH." >&2
    exit 1
fi

missing=()
while read -r package; do
    case $package in '' | '#'*) continue ;; esac
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
# The broker is started by demo and tests on a port of their own. RUNLEVEL=1 keeps the package from
# starting one as a service on the machine.
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
