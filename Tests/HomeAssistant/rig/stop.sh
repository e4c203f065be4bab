#!/usr/bin/env bash
# Stops what run.sh started, by its pid files only.
#   stop.sh [FOLDER] [STATE] [all|broker|ha]
set -u
here=$(dirname "$(realpath "$0")")
ROOT=$(realpath -m "${1:-${HOME_ASSISTANT_ROOT:-$here/../../../.build/home-assistant}}")
STATE=$(realpath -m "${2:-${HA_STATE:-$ROOT/state}}")
WHICH=${3:-all}
stop() {  # NAME PIDFILE SECONDS
  [ -s "$2" ] || return 0
  local p; p=$(cat "$2")
  # a stale file must never hit another process: the command line has to be the one we started
  if kill -0 "$p" 2>/dev/null && tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q -e "$4"; then
    kill -TERM "$p" 2>/dev/null
    for i in $(seq $(($3 * 10))); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$p" 2>/dev/null; then echo "$1 ($p) did not stop in $3 s: KILL" >&2; kill -KILL "$p"; fi
    echo "$1 stopped"
  fi
  rm -f "$2"
}
if [ "$WHICH" != broker ]; then
  stop "Home Assistant" "$STATE/ha.pid" 60 "hass -c /srv/config"
  stop "its restart loop" "$STATE/ha-loop.pid" 5 "ha-loop"
fi
if [ "$WHICH" != ha ]; then
  stop mosquitto "$STATE/mosquitto.pid" 10 "mosquitto.* -c $STATE/mosquitto.conf"
fi
exit 0
