#!/usr/bin/env python3
"""Look into, and act on, a running Home Assistant (started by run.sh) from the command line.

Standard library only.  Where to connect comes from STATE/ha.json (written by run.sh);
choose STATE with --state or the environment variable HA_STATE (else FOLDER/state of run.sh).

  dump [--device TEXT] [--states]  all MQTT devices with their entities: registry, state, attributes
  log [--since 'YYYY-mm-dd HH:MM:SS' | --mark] [--match REGEX] [--level WARNING] [--fail]
                                   warnings/errors of the log that concern mqtt (or templates)
  mark                             remember "now"; a later `log --mark` reports only what came after
  issues                           repairs (deprecations the integration raised for the user)
  debug DEVICE                     what HA's MQTT integration itself knows of a device: each entity's
                                   discovery payload, its subscriptions, last messages
  states [GLOB]                    plain list: entity_id state unit
  wait ENTITY STATE [--timeout S]  wait until an entity has a state (also: --attr NAME)
  gone ENTITY [--timeout S]        wait until an entity has no state any more
  call DOMAIN.SERVICE [--entity ID]... [--data JSON] [--response]
  say SENTENCE [--language en]     a sentence through the conversation agent
  expose ENTITY... | expose --device TEXT    expose to Assist (buttons, numbers, … are not, by default)
  automation create ID JSON|@FILE  write an automation as the editor does (and reload)
  automation trigger ID            run its actions;   automation delete ID
  events [--type state_changed] [--seconds S] [--match TEXT]   print events as they come
  history ENTITY [--hours H]       recorder's states
  logbook [--entity ID] [--hours H]
  dashboard [--url-path rig-mqtt] [--device TEXT]   make/refresh a dashboard of all MQTT entities
  triggers DEVICE                  device triggers offered in the automation editor
  delete-device DEVICE             remove the device in the UI's way (HA clears the retained config)
  reload                           reload the MQTT config entry
  ws TYPE [JSON]                   any websocket command;   rest METHOD PATH [JSON]
"""
import argparse
import datetime
import fnmatch
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ws import WS, http, wait_until  # noqa: E402


def default_state():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.environ.get("HOME_ASSISTANT_ROOT") or os.path.join(here, "../../../.build/home-assistant")
    return os.environ.get("HA_STATE") or os.path.join(root, "state")


class HA:
    def __init__(self, state=None, url=None, token=None):
        self.state_dir = state or default_state()
        if url is None:
            with open(os.path.join(self.state_dir, "ha.json")) as f:
                j = json.load(f)
            url, token = j["url"], j["token"]
        self.url, self.token, self._ws, self._id = url.rstrip("/"), token, None, 0

    # -- REST
    def rest(self, method, path, body=None):
        return http(method, self.url + path, self.token, body)

    def ok(self, method, path, body=None):
        st, r = self.rest(method, path, body)
        if st >= 300:
            raise SystemExit(f"{method} {path}: HTTP {st}: {r}")
        return r

    # -- websocket
    @property
    def ws(self):
        if self._ws is None:
            w = WS(self.url.replace("http", "ws", 1) + "/api/websocket")
            w.recv()
            w.send({"type": "auth", "access_token": self.token})
            r = w.recv()
            if r.get("type") != "auth_ok":
                raise SystemExit(f"websocket auth: {r}")
            self._ws = w
        return self._ws

    def cmd(self, type_, allow_error=False, **kw):
        self._id += 1
        i = self._id
        self.ws.send({"id": i, "type": type_, **kw})
        while True:
            m = self.ws.recv()
            if m.get("id") == i and m.get("type") == "result":
                if not m["success"]:
                    if allow_error:
                        return m
                    raise SystemExit(f"{type_}: {m['error']}")
                return m["result"]

    # -- views
    def mqtt_view(self, device=None):
        ents = [e for e in self.cmd("config/entity_registry/list") if e["platform"] == "mqtt"]
        full = {}
        ids = [e["entity_id"] for e in ents]
        if ids:
            full = self.cmd("config/entity_registry/get_entries", entity_ids=ids)
        states = {s["entity_id"]: s for s in self.cmd("get_states")}
        entry = self.mqtt_entry()
        devs = [d for d in self.cmd("config/device_registry/list")
                if (entry and (entry["entry_id"] in (d.get("config_entries") or [])
                               or d.get("config_entry_id") == entry["entry_id"]))
                or any(e["device_id"] == d["id"] for e in ents)]
        out = []
        for d in devs:
            if device and not device_matches(d, device):
                continue
            out.append({"device": d, "entities": [
                entity_view(full.get(e["entity_id"], e), states.get(e["entity_id"]))
                for e in sorted(ents, key=lambda e: e["entity_id"]) if e["device_id"] == d["id"]]})
        loose = [entity_view(full.get(e["entity_id"], e), states.get(e["entity_id"]))
                 for e in ents if not e["device_id"]]
        return {"ha_version": self.ok("GET", "/api/config")["version"], "mqtt_entry": entry,
                "devices": out, "entities_without_device": [] if device else loose}

    def mqtt_entry(self):
        r = self.cmd("config_entries/get", domain="mqtt")
        return r[0] if r else None

    def device_id(self, text):
        hits = [d for d in self.cmd("config/device_registry/list") if device_matches(d, text)]
        if len(hits) != 1:
            raise SystemExit(f"{len(hits)} devices match {text!r}: "
                             + ", ".join(str(d["name"]) for d in hits))
        return hits[0]["id"]


def device_matches(d, text):
    t = text.lower()
    return (d["id"] == text or t in str(d.get("name_by_user") or d.get("name") or "").lower()
            or any(t == str(i[1]).lower() for i in d["identifiers"]))


def entity_view(e, s):
    keep = ("entity_id", "unique_id", "name", "original_name", "has_entity_name", "translation_key",
            "device_class", "original_device_class", "entity_category", "icon", "original_icon",
            "disabled_by", "hidden_by", "capabilities", "supported_features", "options", "device_id",
            "previous_unique_id", "suggested_object_id", "object_id_base", "aliases", "labels", "area_id")
    r = {k: e[k] for k in keep if k in e}
    r["state"] = s["state"] if s else None
    r["attributes"] = s["attributes"] if s else None
    if s:
        r["last_changed"] = s["last_changed"]
    return r


LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)(?:[+-]\d\d:\d\d)? (\w+) \((.*?)\) \[(.*?)\] (.*)$")
LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


def read_log(ha, since=None, match=r"mqtt|helpers\.template", level="WARNING"):
    st, text = ha.rest("GET", "/api/error_log")
    if st != 200:
        p = os.path.join(ha.state_dir, "config", "home-assistant.log")
        with open(p, errors="replace") as f:
            text = f.read()
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    out = []
    for ln in text.splitlines():
        m = LINE.match(ln)
        if m:
            out.append({"time": m[1], "level": m[2], "logger": m[4], "message": m[5]})
        elif out:
            out[-1]["message"] += "\n" + ln
    rx = re.compile(match, re.I) if match else None
    return [e for e in out
            if LEVELS.index(e["level"]) >= LEVELS.index(level)
            and (not since or e["time"] >= since)
            and (rx is None or rx.search(e["logger"] + " " + e["message"]))]


def now_of_ha():
    # the log is written in local time of the HA process (UTC inside the rig)
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def loads(text):
    if text is None:
        return {}
    if text.startswith("@"):
        with open(text[1:]) as f:
            text = f.read()
    return json.loads(text)


def show(x):
    print(json.dumps(x, indent=1, ensure_ascii=False, sort_keys=False))


# ---- first start: owner, long-lived token, MQTT config entry -------------------------------
def setup(a):
    base = a.url.rstrip("/")
    jf = os.path.join(a.state, "ha.json")

    def up():
        out = os.path.join(a.state, "ha.out")
        if os.path.exists(out):
            with open(out, errors="replace") as f:
                if "Activating recovery mode" in f.read():
                    raise SystemExit("Home Assistant went into recovery mode: see " + out)
        loop = os.path.join(a.state, "ha-loop.pid")
        if os.path.exists(loop):
            with open(loop) as f:
                if not os.path.exists("/proc/" + f.read().strip()):
                    raise SystemExit("Home Assistant has ended: see " + out)
        # once onboarded, a later start has no such view any more
        return http("GET", base + "/api/onboarding", timeout=5)[0] in (200, 404)
    wait_until(up, a.timeout, "HA's HTTP server")
    token = None
    if os.path.exists(jf):
        with open(jf) as f:
            token = json.load(f).get("token")
        if token and http("GET", base + "/api/", token)[0] != 200:
            token = None
    if token is None:
        client = base + "/"
        st, steps = http("GET", base + "/api/onboarding")
        if st == 200 and not {s["step"]: s["done"] for s in steps}.get("user"):
            st, r = http("POST", base + "/api/onboarding/users", body={
                "name": "Rig", "username": a.username, "password": a.password,
                "client_id": client, "language": "en"})
            if st >= 300:
                raise SystemExit(f"onboarding: HTTP {st}: {r}")
            code = r["auth_code"]
        else:
            st, f = http("POST", base + "/auth/login_flow", body={
                "client_id": client, "handler": ["homeassistant", None], "redirect_uri": client})
            st, r = http("POST", base + "/auth/login_flow/" + f["flow_id"], body={
                "client_id": client, "username": a.username, "password": a.password})
            if r.get("type") != "create_entry":
                raise SystemExit(f"login: {r}")
            code = r["result"]
        st, r = http("POST", base + "/auth/token", form={
            "grant_type": "authorization_code", "code": code, "client_id": client})
        if st != 200:
            raise SystemExit(f"token: HTTP {st}: {r}")
        ha = HA(a.state, base, r["access_token"])
        token = ha.cmd("auth/long_lived_access_token", client_name=f"rig {time.time():.0f}", lifespan=3650)
    ha = HA(a.state, base, token)
    wait_until(lambda: ha.ok("GET", "/api/config")["state"] == "RUNNING", a.timeout, "HA to be RUNNING", 0.5)
    # any onboarding step left (the run script marks the others done beforehand)
    e = ha.mqtt_entry()
    if e is None:
        f = ha.ok("POST", "/api/config/config_entries/flow", {"handler": "mqtt", "show_advanced_options": True})
        data = {"broker": a.mqtt_host, "port": a.mqtt_port,
                "other_settings": {"set_client_cert": False, "set_ca_cert": "off", "transport": "tcp"}}
        if a.mqtt_protocol:
            data["protocol"] = a.mqtt_protocol
        if a.mqtt_user:
            data["username"], data["password"] = a.mqtt_user, a.mqtt_password
        if not any(s.get("name") == "other_settings" for s in f.get("data_schema", [])):
            data.pop("other_settings")     # releases before 2026 have a flat form
            known = {s.get("name") for s in f.get("data_schema", [])}
            data = {k: v for k, v in data.items() if k in known}
        r = ha.ok("POST", "/api/config/config_entries/flow/" + f["flow_id"], data)
        if r.get("type") != "create_entry":
            raise SystemExit(f"mqtt config flow: {r}")
    wait_until(lambda: (ha.mqtt_entry() or {}).get("state") == "loaded", a.timeout, "the MQTT entry to load", 0.5)
    info = {"url": base, "token": token, "username": a.username, "password": a.password,
            "mqtt_host": a.mqtt_host, "mqtt_port": a.mqtt_port, "state": a.state,
            "log": os.path.join(a.state, "config", "home-assistant.log"),
            "version": ha.ok("GET", "/api/config")["version"], "mqtt_entry_id": ha.mqtt_entry()["entry_id"]}
    with open(jf + ".new", "w") as f:
        json.dump(info, f, indent=1)
    os.chmod(jf + ".new", 0o600)
    os.replace(jf + ".new", jf)
    with open(os.path.join(a.state, "env"), "w") as f:
        f.write(f"export HA_STATE={a.state}\nexport HA_URL={base}\nexport HA_TOKEN={token}\n"
                f"export MQTT_HOST={a.mqtt_host}\nexport MQTT_PORT={a.mqtt_port}\n")
    print(f"Home Assistant {info['version']} at {base}, MQTT {a.mqtt_host}:{a.mqtt_port}; see {jf}")


def dashboard(ha, url_path, device):
    view = ha.mqtt_view(device)
    have = {d["url_path"] for d in ha.cmd("lovelace/dashboards/list")}
    if url_path not in have:
        ha.cmd("lovelace/dashboards/create", url_path=url_path, title="MQTT rig", icon="mdi:test-tube",
               show_in_sidebar=True, require_admin=False, mode="storage")
    cards = []
    for d in view["devices"]:
        ids = [e["entity_id"] for e in d["entities"] if not e.get("disabled_by")]
        if ids:
            cards.append({"type": "entities", "title": d["device"].get("name_by_user") or d["device"]["name"],
                          "show_header_toggle": False, "entities": ids})
    if view["entities_without_device"]:
        cards.append({"type": "entities", "title": "without a device",
                      "entities": [e["entity_id"] for e in view["entities_without_device"]]})
    ha.cmd("lovelace/config/save", url_path=url_path, config={
        "title": "MQTT rig", "views": [{"title": "MQTT", "path": "mqtt", "cards": cards or [
            {"type": "markdown", "content": "no MQTT entities"}]}]})
    print(f"/{url_path}/mqtt")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--state", default=default_state())
    sp = p.add_subparsers(dest="c", required=True)

    def add(name, *args):
        q = sp.add_parser(name)
        for names, kw in args:
            q.add_argument(*names, **kw)
        return q

    def arg(*names, **kw):
        return names, kw
    add("setup", arg("--url", required=True), arg("--username", default="rig"), arg("--password", default="rig-password"),
        arg("--mqtt-host", default="127.0.0.1"), arg("--mqtt-port", type=int, default=1883),
        arg("--mqtt-user"), arg("--mqtt-password", default=""), arg("--mqtt-protocol"),
        arg("--timeout", type=float, default=180))
    add("dump", arg("--device"), arg("--states", action="store_true"))
    add("log", arg("--since"), arg("--mark", action="store_true"), arg("--match", default=r"mqtt|helpers\.template"),
        arg("--level", default="WARNING"), arg("--fail", action="store_true"))
    add("mark")
    add("issues")
    add("debug", arg("device"))
    add("states", arg("glob", nargs="?", default="*"))
    add("wait", arg("entity"), arg("value"), arg("--attr"), arg("--timeout", type=float, default=10))
    add("gone", arg("entity"), arg("--timeout", type=float, default=10))
    add("call", arg("service"), arg("--entity", action="append", default=[]), arg("--data"),
        arg("--response", action="store_true"))
    add("say", arg("text"), arg("--language", default="en"), arg("--agent", default="conversation.home_assistant"))
    add("expose", arg("entity", nargs="*"), arg("--device"))
    add("automation", arg("action", choices=["create", "trigger", "delete", "get", "list"]), arg("id", nargs="?"), arg("json", nargs="?"))
    add("events", arg("--type", default="state_changed"), arg("--seconds", type=float, default=10), arg("--match", default=""))
    add("history", arg("entity"), arg("--hours", type=float, default=1))
    add("logbook", arg("--entity"), arg("--hours", type=float, default=1))
    add("dashboard", arg("--url-path", default="rig-mqtt"), arg("--device"))
    add("triggers", arg("device"))
    add("delete-device", arg("device"))
    add("reload")
    add("ws", arg("type"), arg("json", nargs="?"))
    add("rest", arg("method"), arg("path"), arg("json", nargs="?"))
    a = p.parse_args()
    if a.c == "setup":
        return setup(a)
    ha = HA(a.state)
    markf = os.path.join(ha.state_dir, "log.mark")
    if a.c == "dump":
        v = ha.mqtt_view(a.device)
        if a.states:
            for d in v["devices"]:
                print(f"# {d['device'].get('name_by_user') or d['device']['name']}  {d['device']['identifiers']}")
                for e in d["entities"]:
                    print(f"{e['entity_id']}\t{e['state']}\t{(e['attributes'] or {}).get('unit_of_measurement', '')}")
        else:
            show(v)
    elif a.c == "mark":
        t = now_of_ha()
        with open(markf, "w") as f:
            f.write(t)
        print(t)
    elif a.c == "log":
        since = a.since
        if a.mark and os.path.exists(markf):
            with open(markf) as f:
                since = f.read().strip()
        r = read_log(ha, since, a.match, a.level.upper())
        show(r)
        if a.fail and r:
            return 3
    elif a.c == "issues":
        show(ha.cmd("repairs/list_issues")["issues"])
    elif a.c == "debug":
        show(ha.cmd("mqtt/device/debug_info", device_id=ha.device_id(a.device)))
    elif a.c == "states":
        for s in sorted(ha.cmd("get_states"), key=lambda s: s["entity_id"]):
            if fnmatch.fnmatch(s["entity_id"], a.glob):
                print(f"{s['entity_id']}\t{s['state']}\t{s['attributes'].get('unit_of_measurement', '')}")
    elif a.c == "wait":
        def get():
            st, s = ha.rest("GET", "/api/states/" + a.entity)
            if st != 200:
                return None
            v = s["attributes"].get(a.attr) if a.attr else s["state"]
            get.last = v
            return s if fnmatch.fnmatchcase(str(v), a.value) else None
        get.last = "(no such entity)"
        end = time.time() + a.timeout
        while time.time() < end:
            s = get()
            if s:
                show(s)
                return 0
            time.sleep(0.1)
        print(f"{a.entity}: {get.last!r}, not {a.value!r}, after {a.timeout}s", file=sys.stderr)
        return 1
    elif a.c == "gone":
        wait_until(lambda: ha.rest("GET", "/api/states/" + a.entity)[0] == 404, a.timeout, f"{a.entity} to go")
    elif a.c == "call":
        d, s = a.service.split(".", 1)
        kw = {"domain": d, "service": s, "service_data": loads(a.data)}
        if a.entity:
            kw["target"] = {"entity_id": a.entity}
        if a.response:
            kw["return_response"] = True
        r = ha.cmd("call_service", allow_error=True, **kw)
        show(r)
        if isinstance(r, dict) and r.get("success") is False:
            return 1
    elif a.c == "say":
        r = ha.ok("POST", "/api/conversation/process", {"text": a.text, "language": a.language, "agent_id": a.agent})
        show(r)
        if r["response"]["response_type"] == "error":
            return 1
    elif a.c == "expose":
        ids = list(a.entity)
        if a.device:
            ids += [e["entity_id"] for d in ha.mqtt_view(a.device)["devices"] for e in d["entities"]]
        ha.cmd("homeassistant/expose_entity", assistants=["conversation"], entity_ids=ids, should_expose=True)
        print("\n".join(ids))
    elif a.c == "automation":
        path = f"/api/config/automation/config/{a.id}"
        if a.action == "create":
            cfg = loads(a.json)
            show(ha.ok("POST", path, cfg))
            wait_until(lambda: automation_of(ha, a.id), 10, f"automation {a.id} to load")
            s = automation_of(ha, a.id)
            print(f"{s['entity_id']} {s['state']}")
            if s["state"] == "unavailable":
                return 1
        elif a.action == "trigger":
            s = automation_of(ha, a.id)
            if not s:
                raise SystemExit("no such automation")
            show(ha.cmd("call_service", domain="automation", service="trigger",
                        service_data={"skip_condition": True}, target={"entity_id": s["entity_id"]}))
        elif a.action == "delete":
            show(ha.ok("DELETE", path))
        elif a.action == "get":
            show({"config": ha.ok("GET", path), "state": automation_of(ha, a.id)})
        else:
            show([s for s in ha.cmd("get_states") if s["entity_id"].startswith("automation.")])
    elif a.c == "events":
        ha.cmd("subscribe_events", event_type=a.type)
        end = time.time() + a.seconds
        while time.time() < end:
            m = ha.ws.recv(timeout=end - time.time())
            if m and m.get("type") == "event":
                t = json.dumps(m["event"], ensure_ascii=False)
                if a.match in t:
                    print(t, flush=True)
    elif a.c in ("history", "logbook"):
        start = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=a.hours)).isoformat()
        if a.c == "history":
            show(ha.cmd("history/history_during_period", start_time=start, entity_ids=[a.entity],
                        minimal_response=False, no_attributes=False))
        else:
            kw = {"entity_ids": [a.entity]} if a.entity else {}
            show(ha.cmd("logbook/get_events", start_time=start, **kw))
    elif a.c == "dashboard":
        dashboard(ha, a.url_path, a.device)
    elif a.c == "triggers":
        show(ha.cmd("device_automation/trigger/list", device_id=ha.device_id(a.device)))
    elif a.c == "delete-device":
        e = ha.mqtt_entry()
        show(ha.cmd("config/device_registry/remove_config_entry", device_id=ha.device_id(a.device),
                    config_entry_id=e["entry_id"]))
    elif a.c == "reload":
        show(ha.ok("POST", f"/api/config/config_entries/entry/{ha.mqtt_entry()['entry_id']}/reload"))
    elif a.c == "ws":
        r = ha.cmd(a.type, allow_error=True, **loads(a.json))
        show(r)
    elif a.c == "rest":
        st, r = ha.rest(a.method, a.path, loads(a.json) if a.json else None)
        print(st)
        show(r) if not isinstance(r, str) else print(r)
    return 0


def automation_of(ha, id_):
    for s in ha.cmd("get_states"):
        if s["entity_id"].startswith("automation.") and s["attributes"].get("id") == id_:
            return s
    return None


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(0)
