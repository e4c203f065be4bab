#!/usr/bin/env bash
# Runs every command of the README that stands in an `sh` block, as written, from the top of the tree,
# and checks that the files it links to exist.
set -euo pipefail
cd "$(dirname "$0")/.."
readme=README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v dir="$work" '
    /^```sh$/ { inside = 1; n++; file = sprintf("%s/%02d.sh", dir, n); next }
    /^```/ { inside = 0 }
    inside { print > file }
' "$readme"
count=0
for block in "$work"/*.sh; do
    printf 'readme: %s\n' "$(head -n 1 "$block")"
    timeout 900 bash -euo pipefail "$block" </dev/null >"$work/out" 2>&1 || {
        echo "readme: this block failed:" >&2
        cat "$block" >&2
        tail -n 30 "$work/out" >&2
        exit 1
    }
    count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "readme: no sh block found" >&2; exit 1; }

status=0
while read -r link; do
    [ -e "${link%%#*}" ] || { echo "readme: links to $link, which is not there" >&2; status=1; }
done < <(grep -oE '\]\([^)#][^)]*\)' "$readme" | sed -E 's/^\]\(//; s/\)$//' | grep -v '^http' | sort -u)
echo "readme: $count blocks ran"
exit $status
