#!/usr/bin/env bash
# Starts mosquitto (loopback) and Home Assistant (loopback), onboards non-interactively, adds the
# MQTT integration, waits until all is up, and writes the access data.
#
#   run.sh [FOLDER] [STATE] [all|broker|ha]
#     FOLDER  where install.sh installed   (default $HOME_ASSISTANT_ROOT or .build/home-assistant)
#     STATE   configuration, database, logs, pid files   (default FOLDER/state; one per instance)
#     which   start only one of the two                  (default all; what already runs is left alone)
#
# Environment: HA_PORT (8123), MQTT_PORT (18883), MQTT_HOST (127.0.0.1; with MQTT_EXTERNAL=1 a broker
#   that is already running there is used and none is started), MQTT_USER / MQTT_PASSWORD (else
#   anonymous), MQTT_PROTOCOL (3.1.1 or 5; else Home Assistant's default), HA_LOG (warning; debug for
#   all MQTT traffic), HA_TZ (UTC), HA_LANGUAGE (en), HA_COUNTRY (SE), HA_CURRENCY (SEK).
#
# STATE/config/packages/*.yaml are read as packages. Writes STATE/ha.json (url, token, ports, log file)
# and STATE/env (to source). A second start on the same STATE keeps entities, history and token.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
ROOT=$(realpath -m "${1:-${HOME_ASSISTANT_ROOT:-$here/../../../.build/home-assistant}}")
STATE=$(realpath -m "${2:-${HA_STATE:-$ROOT/state}}")
WHICH=${3:-all}
HA_PORT=${HA_PORT:-8123} MQTT_PORT=${MQTT_PORT:-18883} MQTT_HOST=${MQTT_HOST:-127.0.0.1}
[ -x "$ROOT/enter" ] || { echo "run.sh: nothing installed in $ROOT (install.sh first)" >&2; exit 1; }
case "$STATE" in *\ *) echo "run.sh: no blanks in the path of STATE" >&2; exit 1;; esac
mkdir -p "$STATE/config/.storage" "$STATE/config/packages"
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

# ---- broker --------------------------------------------------------------------------------
if [ "$WHICH" != ha ] && [ -z "${MQTT_EXTERNAL:-}" ] && ! alive "$STATE/mosquitto.pid"; then
  { echo "listener $MQTT_PORT $MQTT_HOST"
    if [ -n "${MQTT_USER:-}" ]; then
      rm -f "$STATE/passwd"; (umask 077; : >"$STATE/passwd")
      mosquitto_passwd -b "$STATE/passwd" "$MQTT_USER" "${MQTT_PASSWORD:-}" >&2
      echo "allow_anonymous false"; echo "password_file $STATE/passwd"
    else echo "allow_anonymous true"; fi
    echo "user root"                     # stay the user who started it: STATE is root's
    echo "persistence true"; echo "persistence_location $STATE/"
    echo "persistence_file mosquitto.db"; echo "autosave_interval 30"
    echo "log_dest file $STATE/mosquitto.log"; echo "log_type error"; echo "log_type warning"
    echo "log_type notice"; echo "log_type information"; echo "connection_messages true"
  } >"$STATE/mosquitto.conf"
  m=$(command -v mosquitto || echo /usr/sbin/mosquitto)
  setsid "$m" -c "$STATE/mosquitto.conf" </dev/null >"$STATE/mosquitto.out" 2>&1 9>&- &
  echo $! >"$STATE/mosquitto.pid"
  for i in $(seq 50); do
    (exec 3<>"/dev/tcp/$MQTT_HOST/$MQTT_PORT") 2>/dev/null && break
    alive "$STATE/mosquitto.pid" || { cat "$STATE/mosquitto.out" "$STATE/mosquitto.log" >&2; exit 1; }
    sleep 0.1
  done
fi
[ "$WHICH" = broker ] && { echo "broker on $MQTT_HOST:$MQTT_PORT"; exit 0; }

# ---- configuration (first start only; edit it in STATE/config afterwards) -------------------
C=$STATE/config
if [ ! -e "$C/configuration.yaml" ]; then
  cat >"$C/configuration.yaml" <<EOS
homeassistant:
  name: Rig
  latitude: 59.33
  longitude: 18.07
  elevation: 28
  radius: 100
  unit_system: metric
  time_zone: ${HA_TZ:-UTC}
  currency: ${HA_CURRENCY:-SEK}
  country: ${HA_COUNTRY:-SE}
  language: ${HA_LANGUAGE:-en}
  packages: !include_dir_named packages
frontend:
config:
conversation:
history:
logbook:
energy:
sun:
my:
recorder:
  commit_interval: 1
automation: !include automations.yaml
script: !include scripts.yaml
scene: !include scenes.yaml
logger:
  default: ${HA_LOG_DEFAULT:-warning}
  logs:
    homeassistant.components.mqtt: ${HA_LOG:-warning}
EOS
  echo "[]" >"$C/automations.yaml"; : >"$C/scripts.yaml"; echo "[]" >"$C/scenes.yaml"
  # leave only the "user" step of onboarding: the others would set up cloud-dependent extras
  cat >"$C/.storage/onboarding" <<'EOS'
{"version": 4, "minor_version": 1, "key": "onboarding", "data": {"done": ["core_config", "analytics", "integration"]}}
EOS
fi
if ! alive "$STATE/ha.pid"; then
  # the HTTP server's address: stored settings since 2026 (the YAML keys are deprecated there);
  # an older release gets the YAML keys
  if ! grep -qs "\"server_port\": $HA_PORT," "$C/.storage/http"; then
    "$ROOT/enter" -b "$C:/srv/config" /srv/venv/bin/python - "$HA_PORT" <<'EOS'
import json, sys
port = int(sys.argv[1])
try:
    from homeassistant.components.http import config as c
    stable = dict(c.HTTP_STORAGE_SCHEMA({}), server_host=["127.0.0.1"], server_port=port,
                  created_at="2026-01-01T00:00:00+00:00", error=None, error_message=None)
    with open("/srv/config/.storage/http", "w") as f:
        json.dump({"version": c.STORAGE_VERSION, "minor_version": c.STORAGE_MINOR_VERSION, "key": "http",
                   "data": {"stable": stable, "pending": None, "yaml_migration_done": True}}, f, indent=1)
except (ImportError, AttributeError):
    with open("/srv/config/configuration.yaml") as f:
        y = f.read()
    if "\nhttp:" not in y:
        with open("/srv/config/configuration.yaml", "a") as f:
            f.write(f"http:\n  server_host: 127.0.0.1\n  server_port: {port}\n")
EOS
  fi
  # hass asks for a restart with exit status 100 (the UI's restart, homeassistant.restart)
  setsid /bin/bash -c '
    while :; do
      "$1/enter" -b "$2/config:/srv/config" /srv/venv/bin/hass -c /srv/config --skip-pip --log-no-color &
      echo $! >"$2/ha.pid"; wait $!; rc=$?
      [ $rc = 100 ] || exit $rc
    done' ha-loop "$ROOT" "$STATE" </dev/null >>"$STATE/ha.out" 2>&1 9>&- &
  echo $! >"$STATE/ha-loop.pid"
  for i in $(seq 50); do alive "$STATE/ha.pid" && break; sleep 0.1; done
fi
python3 "$here/probe.py" --state "$STATE" setup --url "http://127.0.0.1:$HA_PORT" \
  --mqtt-host "$MQTT_HOST" --mqtt-port "$MQTT_PORT" \
  ${MQTT_USER:+--mqtt-user "$MQTT_USER" --mqtt-password "${MQTT_PASSWORD:-}"} \
  ${MQTT_PROTOCOL:+--mqtt-protocol "$MQTT_PROTOCOL"} \
  || { echo "--- last output of Home Assistant" >&2; tail -30 "$STATE/ha.out" >&2; exit 1; }
