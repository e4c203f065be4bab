#!/usr/bin/env bash
# Makes the README's pictures of Home Assistant anew: the dashboards and the car's device page, light, dark
# and at the width of a phone, with the simulated house. Writes config/home-assistant/pictures/*.png.
#
#   deploy/screenshots.sh [FOLDER]      FOLDER: where the pictures go instead
#
# Look at them afterwards. Around noon they are at their best: the house has the machine's time of day.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${HOME_ASSISTANT_ROOT:-.build/home-assistant}
if [ ! -x "$root/enter" ] || ! command -v chromium >/dev/null; then
    HA_CHROMIUM=1 Tests/HomeAssistant/rig/install.sh "$root"
fi
deploy/install.sh
swift build --product ftw-mqtt
HOME_ASSISTANT_ROOT="$(realpath "$root")"
export HOME_ASSISTANT_ROOT
exec /usr/bin/python3 Tests/HomeAssistant/pictures.py "$@"
