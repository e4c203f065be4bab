#!/usr/bin/env bash
# The whole bridge at work, needing no box: broker, relay, a simulated house and its box, the bridge,
# and the topics as they change. Installs and builds what is missing first.
#
#   deploy/demo.sh [OPTIONS OF 'ftw-mqtt demo']      deploy/demo.sh --help shows them
set -euo pipefail
cd "$(dirname "$0")/.."
echo "demo: building; this takes some minutes the first time" >&2
deploy/install.sh demo
deploy/build.sh
exec .build/release/ftw-mqtt demo "$@"
