#!/usr/bin/env python3
"""Screenshot of a page of the running Home Assistant, logged in, in Debian's headless Chromium.

  shot.py PATH OUT.png [--size 1280x900] [--full] [--dark] [--wait TEXT] [--settle S] [--text]
             [--click TEXT]... [--top TEXT] [--locale en] [--console FILE] [--scale 1]

PATH, for example
  /rig-mqtt/mqtt                     the dashboard that `probe.py dashboard` makes
  /config/devices/device/DEVICE_ID   a device's page;  device:TEXT looks the id up by name/identifier
  /history?entity_id=sensor.x   /logbook   /config/entities   /energy
  entity:ENTITY_ID                   the entity's more-info dialog
  /                                  the default dashboard

--wait TEXT   wait until TEXT is in the rendered page (shadow roots included); fails if it never is
--click TEXT  then click the first element whose own text is TEXT (repeatable)
--top TEXT    scroll until the last element whose own text is TEXT is at the top, below the page's head
--text        also print the rendered text, shadow roots included (to assert on without an image)
--full        as tall as the content instead of the window
Standard library only; the token comes from STATE/ha.json (--state or HA_STATE).
"""
import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ws import WS, http, wait_until  # noqa: E402
from probe import HA, default_state  # noqa: E402

# visible text of the document with every shadow root, in order
TEXT_JS = r"""
(() => {
  const out = [];
  const skip = new Set(['STYLE', 'SCRIPT', 'TEMPLATE', 'NOSCRIPT']);
  const visible = e => { const s = getComputedStyle(e); return s.display !== 'none' && s.visibility !== 'hidden'; };
  const walk = n => {
    if (n.nodeType === 3) { const t = n.data.replace(/\s+/g, ' ').trim(); if (t) out.push(t); return; }
    if (n.nodeType !== 1 && n.nodeType !== 11 && n.nodeType !== 9) return;
    if (n.nodeType === 1) { if (skip.has(n.tagName) || !visible(n)) return;
      if (n.tagName === 'INPUT' && n.value) out.push(n.value); }
    const kids = n.shadowRoot ? n.shadowRoot.childNodes : (n.tagName === 'SLOT' && n.assignedNodes().length ? n.assignedNodes() : n.childNodes);
    for (const k of kids) walk(k);
  };
  walk(document.documentElement);
  return out.join('\n');
})()
"""
CLICK_JS = r"""
(text => {
  let hit = null;
  const walk = n => {
    if (hit) return;
    if (n.nodeType === 1) {
      const own = [...n.childNodes].filter(c => c.nodeType === 3).map(c => c.data).join('').replace(/\s+/g, ' ').trim();
      if (own === text && n.getClientRects().length) { hit = n; return; }
      if ((n.getAttribute('aria-label') || n.label || '') === text && n.getClientRects().length) { hit = n; return; }
      if (n.shadowRoot) walk(n.shadowRoot);
    }
    for (const k of n.childNodes) walk(k);
  };
  walk(document);
  if (!hit) return null;
  hit.scrollIntoView({block: 'center'});
  const r = hit.getBoundingClientRect();
  return [r.x + r.width / 2, r.y + r.height / 2];
})
"""
TOP_JS = r"""
(text => {
  let hit = null;
  const walk = n => {
    if (n.nodeType === 1) {
      const own = [...n.childNodes].filter(c => c.nodeType === 3).map(c => c.data).join('').replace(/\s+/g, ' ').trim();
      if (own === text && n.getClientRects().length) hit = n;
      if (n.shadowRoot) walk(n.shadowRoot);
    }
    for (const k of n.childNodes) walk(k);
  };
  walk(document);
  if (!hit) return false;
  hit.scrollIntoView({block: 'start'});
  for (let n = hit; n; n = n.parentNode || n.host)
    if (n.scrollTop > 80) { n.scrollTop -= 80; return true; }
  window.scrollBy(0, -80);
  return true;
})
"""
HEIGHT_JS = r"""
(() => {
  let h = 0;
  const walk = n => {
    if (n.nodeType === 1) {
      if (n.scrollHeight > n.clientHeight + 1 || true) {
        const r = n.getBoundingClientRect();
        h = Math.max(h, r.top + Math.max(r.height, n.scrollHeight));
      }
      if (n.shadowRoot) walk(n.shadowRoot);
    }
    for (const k of n.childNodes) walk(k);
  };
  walk(document);
  return Math.ceil(h);
})()
"""


class Page:
    def __init__(self, ws_url, console):
        self.ws, self.i, self.console = WS(ws_url, timeout=60), 0, console

    def __call__(self, method, **params):
        self.i += 1
        i = self.i
        self.ws.send({"id": i, "method": method, "params": params})
        while True:
            m = self.ws.recv()
            if m.get("id") == i:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.note(m)

    def note(self, m):
        k = m.get("method")
        if k == "Runtime.consoleAPICalled":
            p = m["params"]
            self.console.append(p["type"] + ": " + " ".join(str(a.get("value", a.get("description", ""))) for a in p["args"]))
        elif k == "Runtime.exceptionThrown":
            d = m["params"]["exceptionDetails"]
            self.console.append("exception: " + str(d.get("exception", {}).get("description", d.get("text"))))

    def js(self, expr):
        r = self("Runtime.evaluate", expression=expr, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(r["exceptionDetails"]["exception"].get("description"))
        return r["result"].get("value")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("path")
    p.add_argument("out")
    p.add_argument("--state", default=default_state())
    p.add_argument("--size", default="1280x900")
    p.add_argument("--scale", type=float, default=1)
    p.add_argument("--full", action="store_true")
    p.add_argument("--dark", action="store_true")
    p.add_argument("--locale", default="en")
    p.add_argument("--wait")
    p.add_argument("--timeout", type=float, default=45)
    p.add_argument("--settle", type=float, default=1.5)
    p.add_argument("--click", action="append", default=[])
    p.add_argument("--top")
    p.add_argument("--text", action="store_true")
    p.add_argument("--console")
    a = p.parse_args()
    ha = HA(a.state)
    path = a.path
    if path.startswith("device:"):
        path = "/config/devices/device/" + ha.device_id(path[7:])
    more_info = None
    if path.startswith("entity:"):
        more_info, path = path[7:], "/profile/general"
        if ha.rest("GET", "/api/states/" + more_info)[0] != 200:
            raise SystemExit(f"no entity {more_info}")
    w, h = (int(x) for x in a.size.split("x"))
    exe = next((e for e in ("chromium", "chromium-browser", "google-chrome") if shutil.which(e)), None)
    if not exe:
        raise SystemExit("no Chromium (apt: chromium)")
    prof = tempfile.mkdtemp(prefix="ha-shot-")
    console = []
    log = open(os.path.join(prof, "chromium.log"), "wb")
    proc = subprocess.Popen(
        [exe, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--mute-audio", "--force-color-profile=srgb", f"--lang={a.locale}",
         # nothing but loopback is to be reached from the page
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
         f"--user-data-dir={prof}", "--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1",
         "--remote-allow-origins=*", f"--window-size={w},{h}", "about:blank"],
        stdout=log, stderr=log, start_new_session=True)
    try:
        portf = os.path.join(prof, "DevToolsActivePort")

        def port():
            if proc.poll() is not None:
                with open(log.name, errors="replace") as f:
                    raise SystemExit("Chromium ended: " + f.read()[-2000:])
            with open(portf) as f:
                return f.read().split()[0]
        n = wait_until(port, 30, "Chromium")
        st, tabs = http("GET", f"http://127.0.0.1:{n}/json/list")
        page = Page(next(t for t in tabs if t["type"] == "page")["webSocketDebuggerUrl"], console)
        page("Page.enable")
        page("Runtime.enable")
        page("Emulation.setDeviceMetricsOverride", width=w, height=h, deviceScaleFactor=a.scale, mobile=False)
        page("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if a.dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        tokens = {"access_token": ha.token, "token_type": "Bearer", "expires_in": 315360000,
                  "hassUrl": ha.url, "clientId": ha.url + "/", "refresh_token": "",
                  "expires": int((time.time() + 315360000) * 1000)}
        page("Page.addScriptToEvaluateOnNewDocument", source=(
            f"if (location.origin === {json.dumps(ha.url)}) {{"
            f"localStorage.setItem('hassTokens', {json.dumps(json.dumps(tokens))});"
            f"localStorage.setItem('selectedLanguage', {json.dumps(json.dumps(a.locale))});"
            "}"))
        page("Page.navigate", url=ha.url + path)
        end = time.time() + a.timeout
        text, opened = "", False

        def ready():
            # the app is up when its launch screen is gone; then the wanted text, if any
            return page.js("document.readyState === 'complete' && !document.getElementById('ha-launch-screen')"
                           " && !!document.querySelector('home-assistant')")
        ok = False
        while time.time() < end:
            try:
                if ready():
                    text = page.js(TEXT_JS)
                    if more_info and not opened and len(text) > 40:
                        page.js("document.querySelector('home-assistant').dispatchEvent(new CustomEvent("
                                "'hass-more-info', {detail: {entityId: " + json.dumps(more_info) + "}}))")
                        opened = True
                        time.sleep(1)
                        continue
                    if (a.wait in text) if a.wait else len(text) > 40:
                        ok = True
                        break
            except RuntimeError:
                pass           # navigation in between
            time.sleep(0.25)
        time.sleep(a.settle)
        for c in a.click:
            xy = None
            while xy is None and time.time() < end:
                xy = page.js(f"({CLICK_JS})({json.dumps(c)})")
                if xy is None:
                    time.sleep(0.25)
            if xy is None:
                ok = False
                print(f"shot: nothing to click with text {c!r}", file=sys.stderr)
                break
            for t in ("mousePressed", "mouseReleased"):
                page("Input.dispatchMouseEvent", type=t, x=xy[0], y=xy[1], button="left", clickCount=1)
            time.sleep(a.settle)
        if a.top:
            if not page.js(f"({TOP_JS})({json.dumps(a.top)})"):
                ok = False
                print(f"shot: nothing to scroll to with text {a.top!r}", file=sys.stderr)
            time.sleep(a.settle)
        if a.full:
            hh = min(max(page.js(HEIGHT_JS) or h, h), 12000)
            page("Emulation.setDeviceMetricsOverride", width=w, height=hh, deviceScaleFactor=a.scale, mobile=False)
            time.sleep(0.8)
        text = page.js(TEXT_JS)
        png = base64.b64decode(page("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"])
        with open(a.out, "wb") as f:
            f.write(png)
        if a.console:
            with open(a.console, "w") as f:
                f.write("\n".join(console) + "\n")
        if a.text:
            print(text)
        if not ok:
            print(f"shot: {'text ' + repr(a.wait) if a.wait else 'the page'} did not appear within {a.timeout}s; "
                  f"screenshot of what was there: {a.out}", file=sys.stderr)
            return 1
        print(f"{a.out}: {len(png)} bytes", file=sys.stderr)
        return 0
    finally:
        # the group is ours alone: started with start_new_session
        for sig in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(proc.pid, sig)
            except ProcessLookupError:
                break
            try:
                proc.wait(5)
                break
            except subprocess.TimeoutExpired:
                continue
        log.close()
        shutil.rmtree(prof, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
