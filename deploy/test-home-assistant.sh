#!/usr/bin/env bash
# The acceptance tests: the bridge as people run it, against a real Home Assistant. Installs what is
# missing first (as root; Home Assistant goes into .build/home-assistant or $HOME_ASSISTANT_ROOT).
#
#   deploy/test-home-assistant.sh [PATTERN] [--workers N] [--list] [--long]
#
# PATTERN is a regular expression for module.Class.test. --long runs those too that wait for Home
# Assistant's own statistics, some ten minutes. FTW_MQTT_PROGRAM names another program than
# .build/debug/ftw-mqtt.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${HOME_ASSISTANT_ROOT:-.build/home-assistant}
# One test looks at a real screen, so a browser belongs to it.
if [ ! -x "$root/enter" ] || ! ls "$root"/.venv-* >/dev/null 2>&1 || ! command -v chromium >/dev/null; then
    HA_CHROMIUM=1 Tests/HomeAssistant/rig/install.sh "$root"
fi
if [ -z "${FTW_MQTT_PROGRAM:-}" ]; then
    deploy/install.sh
    swift build --product ftw-mqtt --explicit-target-dependency-import-check error
fi
# Debian's own Python has the MQTT client that Debian ships.
python=/usr/bin/python3
"$python" -c 'import paho.mqtt.client' 2>/dev/null || Tests/HomeAssistant/rig/install.sh "$root"
export HOME_ASSISTANT_ROOT="$(realpath "$root")"
exec "$python" Tests/HomeAssistant/run.py "$@"
