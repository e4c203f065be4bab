#!/usr/bin/env bash
# Sends one command to the bridge and waits for its outcome. Needs mosquitto_rr (MQTT 5) and jq.
#
#   ask.sh TOPIC VALUE [OPTIONS OF mosquitto_rr]
#
#   ask.sh ftw/home/car/garage/control/set charge_now
#   ask.sh ftw/home/car/garage/control/set '{"value":"charge_now","minutes":90}'
#   ask.sh ftw/home/car/garage/goal/set '{"level":80,"by":"07:00"}' -h broker.local -u me -P secret
#
# Prints the outcome's sentence and ends with 0 when it was done, 1 when it was not, 2 when it was called
# wrongly, 3 when the bridge did not answer.
#
# It asks again with the same id until the answer is final. An id is carried out once, whoever repeats it:
# the bridge answers with how far it is.
set -euo pipefail

if [ $# -lt 2 ]; then
    echo "usage: ask.sh TOPIC VALUE [OPTIONS OF mosquitto_rr]" >&2
    exit 2
fi
topic=$1 value=$2
shift 2
id="ask-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')"
# An object is the command itself and gets the id unless it has one; a word or a number is its value.
payload=$(jq -cn --arg id "$id" --arg value "$value" '
    ($value | fromjson? // $value) as $asked
    | if ($asked | type) == "object" then {id: $id} + $asked else {id: $id, value: $asked} end')
for _ in $(seq 1 40); do
    answer=$(mosquitto_rr -V 5 -q 1 -W 10 -t "$topic" -e "answers/$id" -m "$payload" "$@") || answer=''
    if [ -z "$answer" ]; then
        echo "ask: no answer from the bridge on $topic" >&2
        exit 3
    fi
    if [ "$(jq -r .final <<<"$answer")" = true ]; then
        jq -r .text <<<"$answer"
        [ "$(jq -r .stage <<<"$answer")" = done ] || exit 1
        exit 0
    fi
    sleep 0.5
done
# Results are told at the top of the site, below which the command's own topic lies.
site=$(sed -E 's#/(car/[^/]+/[^/]+/[^/]+|mode/set|bridge/request/[^/]+)$##' <<<"$topic")
echo "ask: no outcome yet; it will be on $site/result" >&2
exit 3
