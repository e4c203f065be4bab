#!/usr/bin/env bash
# Installs a real Home Assistant (core + frontend) into a folder of its own, so that what this bridge
# announces meets the real client. Uses apt (Debian) and pip; nothing outside the folder is changed
# but for the Debian packages of deploy/packages.txt.
#
#   install.sh [FOLDER]          as root; FOLDER is $HOME_ASSISTANT_ROOT or .build/home-assistant
#
# Environment:
#   HA_VERSION     version of Home Assistant            (default 2026.11.0)
#   HA_SUITE       Debian suite for the Python root     (default forky: has Python 3.14)
#   HA_PYTHON      python package/binary of that suite  (default python3.14)
#   HA_CHROMIUM=1  bring Chromium too, for screenshots
#
# Idempotent: each stage leaves a stamp; run it again to continue or to change HA_VERSION.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
ROOT=$(realpath -m "${1:-${HOME_ASSISTANT_ROOT:-$here/../../../.build/home-assistant}}")
HA_VERSION=${HA_VERSION:-2026.11.0}
HA_SUITE=${HA_SUITE:-forky}
HA_PYTHON=${HA_PYTHON:-python3.14}
FS=$ROOT/rootfs
say() { printf '[install %(%H:%M:%S)T] %s\n' -1 "$*"; }
# Mirrors hiccup; a test run should not end for that.
retry() {
  local pause
  for pause in 3 10 30; do
    "$@" && return 0
    say "failed, again in $pause s: ${*:0:3}"; sleep "$pause"
  done
  "$@"
}
[ "$(id -u)" = 0 ] || { echo "install.sh: run as root (chroot, mount namespace)" >&2; exit 1; }
mkdir -p "$ROOT"
exec 9>"$ROOT/.install.lock"; flock 9

# ---- 1. host packages ---------------------------------------------------------------------
retry "$here/../../../deploy/install.sh" "$([ -n "${HA_CHROMIUM:-}" ] && echo pictures || echo tests)"

# ---- 2. a Debian root with a new enough Python ---------------------------------------------
if [ ! -e "$ROOT/.rootfs-$HA_SUITE-$HA_PYTHON" ]; then
  # the mirror this machine already uses (deb822 or one-line sources)
  mirror=$(apt-get indextargets --format '$(SITE)|$(CREATED_BY)' 2>/dev/null \
           | sed -n 's/|Packages$//p' | grep -E '/debian/?$' | sort | uniq -c | sort -rn | awk 'NR==1{print $2}')
  [ -n "$mirror" ] || { echo "install.sh: no Debian mirror found in apt's sources" >&2; exit 1; }
  say "debootstrap $HA_SUITE -> $FS"
  bootstrap() {
    if [ -d "$FS" ]; then
      grep -q " $FS" /proc/self/mounts && { echo "install.sh: something is mounted under $FS" >&2; exit 1; }
      rm -rf --one-file-system "$FS"
    fi
    debootstrap --variant=minbase --include="$HA_PYTHON,$HA_PYTHON-venv,ca-certificates,tzdata,libturbojpeg0" \
      "$HA_SUITE" "$FS" "$mirror" "$script" >"$ROOT/debootstrap.log" 2>&1
  }
  script=/usr/share/debootstrap/scripts/$HA_SUITE
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid    # older debootstrap: same recipe
  retry bootstrap || { tail -20 "$ROOT/debootstrap.log" >&2; exit 1; }
  rm -f "$FS"/var/cache/apt/archives/*.deb "$FS"/var/lib/apt/lists/*_* 2>/dev/null || true
  rm -f "$ROOT"/.venv-*
  touch "$ROOT/.rootfs-$HA_SUITE-$HA_PYTHON"
fi

# ---- 3. enter: run a command inside the root, mounts private to that process ---------------
# (nothing stays mounted afterwards: the mounts live in the command's own mount namespace)
cat >"$ROOT/enter" <<'EOS'
#!/bin/bash
# enter [-b HOSTDIR:DIR]... CMD...   run CMD inside this folder's Debian root.
# The pid of this script becomes the pid of CMD (exec all the way).
FS=$(dirname "$(realpath "$0")")/rootfs
binds=()
while [ "${1:-}" = -b ]; do binds+=("$2"); shift 2; done
export FS BINDS="${binds[*]}"
exec unshare --mount --propagation private /bin/bash -c '
  set -e
  mount -t proc proc "$FS/proc"
  mount --rbind /sys "$FS/sys" 2>/dev/null || true
  mount --rbind /dev "$FS/dev"
  for f in resolv.conf hosts; do
    [ -e /etc/$f ] && { touch "$FS/etc/$f"; mount --bind "$(realpath /etc/$f)" "$FS/etc/$f"; } || true
  done
  [ -d /etc/ssl/certs ] && mount --bind /etc/ssl/certs "$FS/etc/ssl/certs"
  [ -d /usr/share/ca-certificates ] && mount --bind /usr/share/ca-certificates "$FS/usr/share/ca-certificates" || true
  [ -d /usr/local/share/ca-certificates ] && { mkdir -p "$FS/usr/local/share/ca-certificates"; mount --bind /usr/local/share/ca-certificates "$FS/usr/local/share/ca-certificates"; } || true
  for b in $BINDS; do mkdir -p "$FS${b##*:}"; mount --bind "${b%%:*}" "$FS${b##*:}"; done
  unset BINDS; root=$FS; unset FS PIP_FIND_LINKS PYENV_ROOT PYTHONPATH LD_PRELOAD
  export HOME=/root PATH=/srv/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
  exec chroot "$root" "$@"
' enter "$@"
EOS
chmod +x "$ROOT/enter"

# ---- 4. Home Assistant ---------------------------------------------------------------------
if [ ! -e "$ROOT/.venv-$HA_VERSION" ]; then
  mkdir -p "$FS/srv"
  [ -x "$FS/srv/venv/bin/python" ] || "$ROOT/enter" "$HA_PYTHON" -m venv /srv/venv
  say "pip: homeassistant $HA_VERSION"
  core() { "$ROOT/enter" /srv/venv/bin/pip install -q --no-cache-dir --prefer-binary "homeassistant==$HA_VERSION" >"$ROOT/pip1.log" 2>&1; }
  retry core \
    || { tail -30 "$ROOT/pip1.log" >&2; exit 1; }
  # The wheel names only core's own requirements; an integration's are in its manifest, and
  # Home Assistant would pip-install them at run time.  Collect them for what is loaded here.
  cat >"$FS/srv/collect_requirements.py" <<'EOS'
import json, pathlib, sys
import homeassistant
from homeassistant import bootstrap, const
base = pathlib.Path(homeassistant.__file__).parent / "components"
extra = """config api websocket_api http auth history logbook recorder energy sun conversation intent
mqtt template scene script automation group my media_source logger system_log blueprint
sensor binary_sensor number select button switch text event update light cover fan climate lock siren
vacuum valve water_heater humidifier lawn_mower alarm_control_panel camera image notify scene
device_tracker tag date time datetime infrared repairs diagnostics search lovelace onboarding trace
statistics utility_meter min_max threshold derivative shopping_list assist_pipeline isal hassio cloud""".split()
todo = extra + sorted(bootstrap.DEFAULT_INTEGRATIONS) + sorted(bootstrap.CORE_INTEGRATIONS)
# every entity platform that mqtt has
todo += [p.stem if p.is_file() else p.name for p in (base / "mqtt").iterdir()
         if (base / p.stem / "manifest.json").is_file()]
seen, reqs = set(), set()
while todo:
    d = todo.pop()
    if d in seen or not (base / d / "manifest.json").is_file():
        continue
    seen.add(d)
    m = json.loads((base / d / "manifest.json").read_text())
    reqs.update(m.get("requirements", []))
    todo += m.get("dependencies", [])
print("\n".join(sorted(reqs)))
EOS
  "$ROOT/enter" /srv/venv/bin/python /srv/collect_requirements.py >"$FS/srv/requirements.txt"
  say "pip: $(wc -l <"$FS/srv/requirements.txt") requirements of the integrations used"
  c=$("$ROOT/enter" /srv/venv/bin/python -c 'import homeassistant,os;print(os.path.dirname(homeassistant.__file__)+"/package_constraints.txt")')
  pipreq() { "$ROOT/enter" /srv/venv/bin/pip install -q --no-cache-dir --prefer-binary "$@" -c "$c" -r /srv/requirements.txt >"$ROOT/pip2.log" 2>&1; }
  if ! pipreq --only-binary=:all: && ! { sleep 3; pipreq --only-binary=:all:; }; then
    # some pinned requirement has no wheel for this Python (two small C++ audio modules in
    # 2026.11): bring a compiler for the moment of the build, and take it away again
    say "apt (inside): a compiler for requirements without a wheel"
    # follow this machine's own apt setting (a mirror that is a dated snapshot needs it)
    apt-config dump 2>/dev/null | grep -i '^Acquire::Check-Valid-Until' >"$FS/etc/apt/apt.conf.d/90host" || rm -f "$FS/etc/apt/apt.conf.d/90host"
    retry "$ROOT/enter" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ $HA_PYTHON-dev" >"$ROOT/apt2.log" 2>&1 \
      || { tail -20 "$ROOT/apt2.log" >&2; exit 1; }
    retry pipreq || { tail -30 "$ROOT/pip2.log" >&2; exit 1; }
    "$ROOT/enter" sh -c "DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq g++ $HA_PYTHON-dev && apt-get autoremove -y -qq --purge && apt-get clean && rm -f /var/lib/apt/lists/*_*" >>"$ROOT/apt2.log" 2>&1 || true
  fi
  rm -f "$ROOT"/.venv-*; touch "$ROOT/.venv-$HA_VERSION"
fi
v=$("$ROOT/enter" /srv/venv/bin/hass --version)
[ "$v" = "$HA_VERSION" ] || { echo "install.sh: expected $HA_VERSION, have $v" >&2; exit 1; }
# the ffmpeg integration (a dependency of tts) asks for its version at every start; nothing here
# plays media, so a stand-in that only answers that keeps the log clean
if [ ! -e "$FS/usr/bin/ffmpeg" ]; then
  printf '#!/bin/sh\n[ "$1" = -version ] && { echo "ffmpeg version 7.1 stand-in"; exit 0; }\nexit 1\n' >"$FS/usr/local/bin/ffmpeg"
  chmod +x "$FS/usr/local/bin/ffmpeg"
fi
say "ready: Home Assistant $v, $("$ROOT/enter" /srv/venv/bin/python -V), $(du -sh "$ROOT" | cut -f1) in $ROOT"
