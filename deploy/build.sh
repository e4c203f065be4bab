#!/usr/bin/env bash
# Builds .build/release/ftw-mqtt. Installs what is missing first.
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install.sh build
mkdir -p .build
swift build -c release --product ftw-mqtt --explicit-target-dependency-import-check error >.build/build.log 2>&1 || {
    tail -n 40 .build/build.log >&2
    exit 1
}
