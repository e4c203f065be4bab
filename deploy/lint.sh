#!/usr/bin/env bash
# Formatting and house rules. Prints what is wrong and where; silent when nothing is.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
swift format lint --strict -r Sources Tests Package.swift || status=1

# Each C library stays behind one file.
for module in CMosquitto CCrypto CWebSockets CCBOR CYAML CSystemd CPNG CZBar; do
    users=$(grep -rlE "^(public |internal |private |fileprivate |package )?import $module\$" Sources || true)
    if [ "$(printf '%s\n' "$users" | grep -c .)" -gt 1 ]; then
        echo "lint: $module is imported by more than one file:" $users
        status=1
    fi
done
# What would trap or hide a fault.
if grep -rnE '\btry!|\bas!' Sources; then
    echo "lint: a forced try or cast"
    status=1
fi
if grep -rnE '^(public |private )?import (Foundation|FoundationNetworking)$' Sources; then
    echo "lint: FoundationEssentials only"
    status=1
fi
# SecretBytes lends its bytes; what keeps them is not wiped with them.
if grep -rnE 'withBytes(\(\{|\s*\{)\s*(\$0|Array\(\$0(\[\.\.\.\])?\))\s*\}' Sources; then
    echo "lint: a lent secret is kept; take exported() where a copy is needed"
    status=1
fi
# A limit in a unit test runs out by what its neighbours do. Only the whole stack waits for a world.
if grep -rnE '\.timeLimit' Tests --include='*.swift' | grep -v '^Tests/IntegrationTests/'; then
    echo "lint: a time limit outside the integration tests"
    status=1
fi
# One file, one thought.
while read -r lines file; do
    if [ "$file" != total ] && [ "$lines" -gt 400 ]; then
        echo "lint: $file has $lines lines; split it past 400"
        status=1
    fi
done < <(find Sources -name '*.swift' -exec wc -l {} +)
exit $status
