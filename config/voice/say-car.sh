#!/usr/bin/env bash
# Says aloud how the car is, from the bridge's retained sentences: how full and who says so, what is going
# on, and whether it will be ready. Needs mosquitto_sub, jq, and a program that speaks what it reads.
#
#   say-car.sh [OPTIONS] [-- OPTIONS OF mosquitto_sub]
#     --car ID         which charging point (garage)
#     --lang en|sv     in which language (en)
#     --what MEMBER    spoken, level, goal, readiness or charging (spoken)
#     --base TOPIC     base topic and site (ftw/home)
#     --speaker CMD    reads the text on its standard input (espeak-ng -v LANG)
#     --follow         go on, and say it again whenever it changes
#
#   say-car.sh --lang sv -- -h broker.local -u me -P secret
#   say-car.sh --what readiness --speaker 'piper -m sv.onnx --output-raw | aplay -r 22050 -f S16_LE'
#
# Ends with 0 when it was said, 1 when there was nothing to say or it could not be heard or said, 2 when it was
# called wrongly. --follow ends with a signal, or when mosquitto_sub does, as when the broker refuses it.
set -euo pipefail

car=garage lang=en what=spoken base=ftw/home speaker='' follow=''
usage() {
    echo "say-car: $1; see the beginning of this file" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
    --car | --lang | --what | --base | --speaker)
        [ $# -ge 2 ] || usage "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    --follow) follow=1 && shift ;;
    --) shift && break ;;
    *) usage "$1 is no option" ;;
    esac
done
case $lang in en | sv) ;; *) usage "--lang is en or sv" ;; esac
case $what in spoken | level | goal | readiness | charging) ;; *) usage "--what is none of those" ;; esac
: "${speaker:=espeak-ng -v $lang}"

# Of a document that is none nothing is said.
text() { jq -r --arg what "$what" '.[$what]? // empty' <<<"$1" || true; }
speak() { bash -c "$speaker" <<<"$1"; }

topic="$base/car/$car/text/$lang"
if [ -n "$follow" ]; then
    exec 3< <(exec mosquitto_sub "$@" -t "$topic")
    listener=$!
    trap 'kill "$listener" 2>/dev/null || true' EXIT
    trap 'exit 0' INT TERM HUP
    last='' said=''
    while IFS= read -r -u 3 document; do
        text=$(text "$document")
        # A voice that fails once is no reason to fall silent for good.
        if [ -n "$text" ] && [ "$text" != "$last" ]; then
            if speak "$text"; then said=1; else echo "say-car: not said: $text" >&2; fi
        fi
        last=$text
    done
    wait "$listener" && code=0 || code=$?
    trap - EXIT
    # 0 and 27 are ends that its own options -C and -W ask for.
    case $code in
    0 | 27) [ -n "$said" ] || exit 1 ;;
    *)
        echo "say-car: mosquitto_sub ended with $code; what it said is above" >&2
        exit 1
        ;;
    esac
else
    # The bridge keeps its newest sentences on the broker, so the first message is at once.
    if ! document=$(mosquitto_sub -W 10 "$@" -t "$topic" -C 1) || [ -z "$document" ]; then
        echo "say-car: nothing on $topic: is the bridge running, and is the car called $car?" >&2
        exit 1
    fi
    text=$(text "$document")
    if [ -z "$text" ]; then
        echo "say-car: nothing is known about $what" >&2
        exit 1
    fi
    if ! speak "$text"; then
        echo "say-car: not said: $text" >&2
        exit 1
    fi
fi
