#!/usr/bin/env bash
# Builds .build/release/ftw-mqtt. Installs what is missing first.
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install.sh build
mkdir -p .build
# With Swift's own libraries inside: the program runs without the toolchain, starts sooner, and keeps less
# in memory, as of each library only what it uses is there.
swift build -c release --static-swift-stdlib --product ftw-mqtt \
    --explicit-target-dependency-import-check error >.build/build.log 2>&1 || {
    tail -n 40 .build/build.log >&2
    exit 1
}
