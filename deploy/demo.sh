#!/usr/bin/env bash
# The whole bridge at work, needing no box: broker, relay, a simulated house and its box, the bridge,
# and the topics as they change. Installs and builds what is missing first.
#
#   deploy/demo.sh [OPTIONS OF 'ftw-mqtt demo']      deploy/demo.sh --help shows them
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install.sh
mkdir -p .build
echo "demo: building (a few minutes the first time)" >&2
swift build -c release --product ftw-mqtt --explicit-target-dependency-import-check error >.build/demo.log 2>&1 || {
    tail -n 40 .build/demo.log >&2
    exit 1
}
rm -f .build/demo.log
exec "$(swift build -c release --show-bin-path)/ftw-mqtt" demo "$@"
