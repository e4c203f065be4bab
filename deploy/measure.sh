#!/usr/bin/env bash
# What the bridge costs and how fast it is, as seen from outside: a small table of targets and figures.
# Starts a broker, a simulated house with its relay, and the release build of the bridge, all on loopback,
# and ends just these. Decides nothing: no test depends on it. A busy machine makes everything slower.
#
#   deploy/measure.sh [--minutes N] [--commands N] [--frames N] [--sites N]   --help shows them
#
# FTW_MQTT_PROGRAM names another program than .build/release/ftw-mqtt.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${FTW_MQTT_PROGRAM:-}" ]; then
    echo "measure: building; this takes some minutes the first time" >&2
    deploy/build.sh
    FTW_MQTT_PROGRAM=$PWD/.build/release/ftw-mqtt
    export FTW_MQTT_PROGRAM
fi
# Debian's own Python has the MQTT client that Debian ships.
exec /usr/bin/python3 Tests/HomeAssistant/measure.py "$@"
