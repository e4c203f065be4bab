#!/usr/bin/env python3
"""Measures a running bridge from outside and prints what it found beside what is aimed at.

The bridge reaches its broker and its relay over two wires that are listened to, so that the time from
a frame to its message, and from a command to its frame, is the bridge's own.
"""
from __future__ import annotations

import argparse
import bisect
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from support import Bridge, Broker, House, end_all, wait_until  # noqa: E402
from support.mqtt import MQTT  # noqa: E402
from support.tap import CONNACK, PUBLISH, Packet, Tap  # noqa: E402

FRAME = 60
"""Fewer bytes are a sign of life and not a sealed frame."""

PAUSE = 0.1
"""Seconds of silence that end a burst of messages."""

UNDERWAY = ("received", "accepted")
"""Stages after which something more comes."""


class Wired(Broker):
    """The broker as the bridge sees it: behind a wire that is listened to."""

    def __init__(self, broker: Broker, tap: Tap) -> None:
        self._inner, self.tap, self.host, self.port = broker, tap, broker.host, tap.port

    @property
    def mqtt(self) -> MQTT:
        return self._inner.mqtt


class WiredHouse(House):
    """The house, its relay behind a wire that is listened to."""

    tap: Tap

    @property
    def relay_url(self) -> str:
        return f"ws://127.0.0.1:{self.tap.port}"


@dataclass(frozen=True)
class Memory:
    """Kilobytes of one process, from smaps_rollup and smaps (proc(5))."""

    rss: int
    private: int
    heap: int

    @staticmethod
    def of(pid: int) -> Memory:
        rollup = dict(
            (line.split(":")[0], int(line.split()[1]))
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
        return Memory(rollup["Rss"], rollup["Private_Clean"] + rollup["Private_Dirty"], rollup["Anonymous"])

    def __str__(self) -> str:
        return f"{self.rss / 1024:.1f} MB RSS ({self.heap / 1024:.1f} MB of it heap and stacks)"


def processor_s(pid: int) -> float:
    """Processor seconds a process has used: its clock (clock_getcpuclockid(3)), to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


def share(times: list[float], part: float) -> float:
    """The quantile of seconds, in milliseconds."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] * 1000


def spread(times: list[float]) -> str:
    if not times:
        return "nothing to measure"
    return f"p50 {share(times, 0.5):.2f} ms, p99 {share(times, 0.99):.2f} ms ({len(times)} times)"


def sent(packets: list[Packet], since: float = 0) -> list[Packet]:
    """What the bridge published."""
    return [p for p in packets if p.from_program and p.kind == PUBLISH and p.at >= since]


class Measurement:
    """One run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rows: list[tuple[str, str, str]] = []
        folder = Path(tempfile.mkdtemp(prefix="ftw-mqtt-measure-"))
        os.environ["FTW_TEST_OUTPUT"] = str(folder)
        self._serial = 0
        self.broker = Broker().start()
        self.house = WiredHouse(self.broker).start()
        self.broker_tap = Tap(self.broker.port, reads_mqtt=True)
        self.house.tap = Tap(self.house.relay_port)
        self.wired = Wired(self.broker, self.broker_tap)

    def run(self) -> None:
        bridge = Bridge(self.wired, {"home": self.house}).pair_all().start()
        self.at_rest(bridge)
        self.commands(bridge, "on disk")
        self.restart(bridge)
        bridge.stop()
        bridge.settings["mqtt"] = {"rate": "fast"}
        with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="ftw-mqtt-measure-") as memory:
            shutil.copytree(bridge.folder / "state", f"{memory}/state")
            bridge.settings["state_dir"] = f"{memory}/state"
            bridge.write()
            bridge.start()
            self.commands(bridge, "in memory")
            self.frames(bridge)
            bridge.stop()
        if self.options.sites > 1:
            self.further_sites()

    def at_rest(self, bridge: Bridge) -> None:
        """The house lives its day at 1 Hz; nobody asks for anything."""
        # What happens once after a start is no rest: greeting, history, boards.
        self.wait(30)
        pid = bridge.pid
        begin, used = time.monotonic(), processor_s(pid)
        first = Memory.of(pid)
        for minute in range(self.options.minutes):
            self.wait(60)
            if minute == 1 and self.options.minutes > 2:
                self.row("memory after 2 minutes", "", str(Memory.of(pid)))
        length = time.monotonic() - begin
        last = Memory.of(pid)
        self.row("memory at rest, one site", "≤ 20 MB RSS", f"{last} after {self.options.minutes} min")
        self.row("  its growth in that time", "none", f"{last.rss - first.rss:+d} kB")
        cpu = (processor_s(pid) - used) / length * 100
        self.row("processor, one site at 1 Hz", "≤ 0.3 % of a core", f"{cpu:.2f} %")
        published = sent(self.broker_tap.packets, begin)
        by_topic = Counter(p.topic for p in published)
        much = ", ".join(f"{topic} {n}" for topic, n in by_topic.most_common(self.options.topics))
        hour = len(published) / length * 3600
        self.row("messages in an hour, the house alive", "(≤ 200 with nothing changing)", f"{hour:.0f}")
        if much:
            print(f"measure: published in {length:.0f} s: {much}", file=sys.stderr)

    def commands(self, bridge: Bridge, where: str) -> None:
        """From the command's last byte at the bridge to its frame on the way to the box.

        Before it is sent a command is written to disk, so that it is never carried out twice: the
        time is the disk's too.
        """
        topic = f"{bridge.root()}/car/garage/control/set"
        begin = time.monotonic()
        with self.broker.mqtt.watch(f"{bridge.root()}/result") as results:
            for number in range(self.options.commands):
                wish = {"id": f"measure-{self._serial}", "value": ("pause", "plan")[number % 2]}
                self._serial += 1
                self.broker.mqtt.publish(topic, wish)
                results.wait("the end of a command", lambda m, wish=wish: (
                    m.document.get("id") == wish["id"] and m.document.get("stage") not in UNDERWAY), 60)
                # The bridge lets a loadpoint's commands follow each other slowly.
                self.wait(2)
        asked = [p.at for p in self.broker_tap.packets
                 if not p.from_program and p.topic == topic and p.at >= begin]
        frames = [p.at for p in self.house.tap.pieces if p.from_program and p.count >= FRAME]
        times: list[float] = []
        for at, until in zip(asked, [*asked[1:], time.monotonic()], strict=True):
            place = bisect.bisect_left(frames, at)
            if place < len(frames) and frames[place] < until:
                times.append(frames[place] - at)
        self.row(f"command received → frame on the wire, state {where}", "p50 ≤ 0.5 ms, p99 ≤ 3 ms",
                 spread(times))

    def restart(self, bridge: Bridge) -> None:
        """What a home automation sees of a start, with a box that cannot be reached yet."""
        self.house("box away")
        bridge.stop()
        begin = time.monotonic()
        bridge.start(wait=False)
        power = f"{bridge.root()}/power"
        wait_until("the last known picture",
                   lambda: any(p.topic == power for p in sent(self.broker_tap.packets, begin)), 30)
        self.wait(2)
        packets = [p for p in self.broker_tap.packets if p.at >= begin]
        connected = next(p.at for p in packets if p.kind == CONNACK and not p.from_program)
        out = sent(packets)
        # What comes after a pause is news: that the box is still away, how the process fares.
        pause = next((n for n, (a, b) in enumerate(pairwise(out), 1) if b.at - a.at > PAUSE), len(out))
        out = out[:pause]
        first = next(p.at for p in out if p.topic == power) - connected
        self.row("start → CONNACK", "", f"{(connected - begin) * 1000:.0f} ms")
        self.row("CONNACK → last known picture", "≤ 100 ms",
                 f"power {first * 1000:.0f} ms, all {len(out)} messages "
                 f"{(out[-1].at - connected) * 1000:.0f} ms")
        self.house("box back")
        bridge.wait_live()

    def frames(self, bridge: Bridge) -> None:
        """From a frame's last byte at the bridge to the message that it caused, at the rate `fast`."""
        self.wait(20)
        begin = time.monotonic()
        self.wait(self.options.frames)
        power = f"{bridge.root()}/power"
        published = [p.at for p in sent(self.broker_tap.packets, begin) if p.topic == power]
        arrived = [p.at for p in self.house.tap.pieces if not p.from_program and p.count >= FRAME]
        times: list[float] = []
        for at in published:
            place = bisect.bisect_right(arrived, at)
            if place and at - arrived[place - 1] < 0.3:
                times.append(at - arrived[place - 1])
        self.row("frame received → PUBLISH on the wire", "p50 ≤ 0.3 ms, p99 ≤ 2 ms", spread(times))

    def further_sites(self) -> None:
        """Several sites in one process, all at the same box: to the bridge they are strangers."""
        sites = {f"site{number}": self.house for number in range(self.options.sites)}
        alone = self.settled({"site0": self.house})
        many = self.settled(sites)
        each = (many.rss - alone.rss) / (self.options.sites - 1)
        self.row("memory of each further site", "≤ 150 KB", f"{each:.0f} kB ({self.options.sites} sites)")

    def settled(self, sites: dict[str, House | None]) -> Memory:
        bridge = Bridge(self.wired, sites).pair_all().start()
        # A minute after its start the program gives back what it needed for that.
        self.wait(75)
        memory = Memory.of(bridge.pid)
        bridge.stop()
        return memory

    def wait(self, seconds: float) -> None:
        """This is a measurement and no test: here time itself is waited for."""
        time.sleep(seconds)

    def row(self, what: str, target: str, measured: str) -> None:
        self.rows.append((what, target, measured))
        print(f"measure: {what}: {measured}", file=sys.stderr)

    def table(self) -> str:
        wide = [max(len(row[column]) for row in [*self.rows, HEAD]) for column in (0, 1)]
        return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c}" for a, b, c in [HEAD, *self.rows])


HEAD = ("what", "target", "measured")


def main() -> int:
    parser = argparse.ArgumentParser(prog="deploy/measure.sh")
    parser.add_argument("--minutes", type=int, default=2, help="how long the bridge rests [2]")
    parser.add_argument("--commands", type=int, default=10,
                        help="how many commands are sent, twice; more than 10 a minute are refused [10]")
    parser.add_argument("--frames", type=int, default=60, help="seconds of frames that are followed [60]")
    parser.add_argument("--sites", type=int, default=4,
                        help="sites in one process, 1 to 4; 1 leaves them out [4]")
    parser.add_argument("--topics", type=int, default=0, help="name the N topics with most messages [0]")
    measurement = Measurement(parser.parse_args())
    code = 0
    try:
        measurement.run()
    except AssertionError as trouble:
        print(f"measure: stopped: {trouble}", file=sys.stderr)
        code = 1
    finally:
        end_all()
    print("\n" + measurement.table())
    return code


if __name__ == "__main__":
    sys.exit(main())
