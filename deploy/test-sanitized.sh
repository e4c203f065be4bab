#!/usr/bin/env bash
# Tests once more, built with a sanitizer of the compiler: `thread` finds what two threads do at once,
# `address` finds memory that is used wrongly, at the C libraries above all. Ends non-zero when a test fails or
# the sanitizer reports something.
#
#   deploy/test-sanitized.sh thread|address [OPTIONS OF 'swift test']
#
# Without options: the unit tests but for the seeded schedules, which would take hours. The builds lie
# in .build/thread and .build/address.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
thread) export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.supp ${TSAN_OPTIONS:-}" ;;
# Swift keeps metadata and globals until the end, which is no leak.
address) export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}" ;;
*)
    sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
sanitizer=$1
shift
deploy/install.sh
export MQTT_TEST_BROKER=${MQTT_TEST_BROKER:-auto} SWIFT_BACKTRACE=enable=no
[ $# -gt 0 ] || set -- --skip 'IntegrationTests|CommandModelTests|ShownStateTests|EnergyTrackerTests'
build=(--sanitize="$sanitizer" --scratch-path ".build/$sanitizer")
swift build --build-tests "${build[@]}"
swift test --skip-build --disable-xctest "${build[@]}" "$@"
