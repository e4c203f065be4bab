#!/usr/bin/env bash
# All tests: units, the recorded sessions of a real box, the whole stack against a real broker, and
# the bridge as people run it against a real Home Assistant. Installs what is missing first. Ends
# non-zero when a test fails, is skipped, or a warning appears.
#
#   deploy/test.sh                             everything; as root, since Home Assistant gets a Debian
#                                              root of its own in .build/home-assistant
#   deploy/test.sh [OPTIONS OF 'swift test']   these tests, without Home Assistant
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install.sh
log=$(mktemp)
installed=$(mktemp)
installing=
finish() {
    if [ -n "$installing" ]; then kill "$installing" 2>/dev/null || true; fi
    rm -f "$log" "$installed"
}
trap finish EXIT
# The tests start their own brokers on loopback.
# Without colours, so that what is looked for below is found.
export MQTT_TEST_BROKER=${MQTT_TEST_BROKER:-auto} SWIFT_BACKTRACE=enable=no NO_COLOR=1
if [ $# -eq 0 ]; then
    # Mostly waiting for mirrors: it goes on while the rest is built.
    HA_CHROMIUM=1 Tests/HomeAssistant/rig/install.sh >"$installed" 2>&1 &
    installing=$!
fi
swift build --build-tests --explicit-target-dependency-import-check error

# A test that hangs is a failure, and not for ever.
run() { timeout 900 "$@" 2>&1 | tee -a "$log"; }
tests() { run swift test --skip-build --disable-xctest "$@"; }
# Whole rooms of brokers, relays and programs: more than a few at a time starve each other.
few() {
    run "$(swift build --show-bin-path)/ftw-mqttPackageTests.xctest" --testing-library swift-testing \
        --experimental-maximum-parallelization-width 8 "$@"
}
# A house whose time moves by hand gives the others their turn before it moves on. On one core
# a turn is a turn, however busy the machine is.
one_core=$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')
by_hand() { run taskset -c "$one_core" swift test --skip-build --disable-xctest --no-parallel "$@"; }

models='CommandModelTests|ShownStateTests|EnergyTrackerTests'
hours='BadAnswerTests|CarSituationTests|HouseAsksTests|DocumentedCommandTests|GoalAnswerTests|GoalOrderTests'
hours="$hours|LeaseOrderTests|IntegrationTests.OrderTests|RefusedOrderTests"
if [ $# -gt 0 ]; then
    tests "$@"
else
    wait "$installing" || {
        installing=
        echo "test: Home Assistant could not be installed:" >&2
        cat "$installed" >&2
        exit 1
    }
    installing=
    # Thousands of seeded schedules keep every core busy for minutes: whatever waits beside them
    # waits as long. The whole stack, which meets real sockets and real programs, is alone as well.
    tests --skip "IntegrationTests|$models"
    tests --filter "$models"
    by_hand --filter "$hours"
    few --filter IntegrationTests --skip "KillTests|$hours"
    # Hundreds of programs that start and die want the machine for themselves too.
    tests --filter KillTests
fi
# What Swift Testing writes for a test that did not run; a name with that word in it is none.
if grep -E '^[^A-Za-z]*(Test|Suite) .* skipped' "$log"; then
    echo "test: something was skipped; a run that skips proves nothing" >&2
    exit 1
fi
if grep -E 'Test run with 0 tests' "$log"; then
    echo "test: a step ran nothing: its name has changed" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    FTW_MQTT_PROGRAM="$(swift build --show-bin-path)/ftw-mqtt" deploy/test-home-assistant.sh
fi
