#!/usr/bin/env bash
# All tests: units, the recorded sessions of a real box, and the whole stack against a real broker.
# Installs what is missing first. Ends non-zero when a test fails, is skipped, or a warning appears.
#
#   deploy/test.sh [OPTIONS OF 'swift test']
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The tests start their own brokers on loopback.
export MQTT_TEST_BROKER=${MQTT_TEST_BROKER:-auto} SWIFT_BACKTRACE=enable=no
swift build --build-tests --explicit-target-dependency-import-check error
run() { swift test --skip-build --disable-xctest "$@" 2>&1 | tee -a "$log"; }
if [ $# -gt 0 ]; then
    run "$@"
else
    # The whole stack gets the machine for itself: it meets real sockets and real programs, and the
    # seeded mutations of the units would starve it.
    run --skip IntegrationTests
    run --filter IntegrationTests --skip KillTests
    # Hundreds of programs that start and die want the machine for themselves too.
    run --filter KillTests
fi
# What Swift Testing writes for a test that did not run; a name with that word in it is none.
if grep -E '^[^A-Za-z]*(Test|Suite) .* skipped' "$log"; then
    echo "test: something was skipped; a run that skips proves nothing" >&2
    exit 1
fi
