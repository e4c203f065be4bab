#!/usr/bin/env python3
"""Runs the acceptance tests, several classes at a time, each worker with Home Assistants of its own.

    run.py [PATTERN] [--workers N] [--list] [--long]

PATTERN is a regular expression for `module.Class.test`. With --long the classes run too that wait for
Home Assistant's own statistics, some ten minutes; they have `is_long = True`. Ends non-zero when a test
failed or was skipped, when nothing ran, or when what ran compared nothing.
"""
from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parents[1] / ".build/home-assistant-tests"
sys.path.insert(0, str(HERE))


def every_test(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    found: list[unittest.TestCase] = []
    for item in suite:
        found += every_test(item) if isinstance(item, unittest.TestSuite) else [item]
    return found


def found_classes(pattern: str, long: bool) -> dict[str, list[str]]:
    """Ids of the tests that fit, by class; the class that takes longest first."""
    loader = unittest.TestLoader()
    tests = every_test(loader.discover(str(HERE), "test_*.py", str(HERE)))
    if loader.errors:
        raise SystemExit("\n".join(loader.errors))
    classes: dict[str, list[str]] = {}
    cost: dict[str, int] = {}
    for test in tests:
        if re.search(pattern, test.id()) and (long or not getattr(test, "is_long", False)):
            name = test.id().rsplit(".", 1)[0]
            classes.setdefault(name, []).append(test.id())
            cost[name] = getattr(type(test), "cost", 1)
    return dict(sorted(classes.items(), key=lambda item: -cost[item[0]]))


# -- one worker: a line with test ids in, a line with what became of them out


class Result(unittest.TextTestResult):
    """Tells how long each test took."""

    def startTest(self, test: unittest.TestCase) -> None:
        self._began = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test: unittest.TestCase) -> None:
        unittest.TestResult.addSuccess(self, test)
        self.stream.writeln(f"ok ({time.monotonic() - self._began:.1f} s)")


def work() -> None:
    from support import counts, end_all, pool

    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    # The only thing that a test does not take for its own failure.
    signal.signal(signal.SIGTERM, broken_off)
    try:
        for line in sys.stdin:
            before = Counter(counts)
            text = io.StringIO()
            try:
                suite = unittest.TestLoader().loadTestsFromNames(json.loads(line))
                result = unittest.TextTestRunner(text, verbosity=2, resultclass=Result).run(suite)
                told: dict[str, Any] = {
                    "ran": result.testsRun, "skipped": len(result.skipped),
                    "failed": len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)}
            except Exception:  # noqa: BLE001 (whatever it is, it fails the class and not the run)
                told = {"ran": 0, "skipped": 0, "failed": 1}
                text.write(traceback.format_exc())
            told["counts"] = dict(Counter(counts) - before)
            told["text"] = text.getvalue()
            answers.write(json.dumps(told) + "\n")
    except KeyboardInterrupt:
        end_all()
    finally:
        pool.close()
        end_all()


# -- the run


class Run:
    """Hands classes to workers and gathers what became of them."""

    def __init__(self, classes: dict[str, list[str]]) -> None:
        self._left = list(classes.items())
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._workers: list[subprocess.Popen[str]] = []
        self.totals: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def serve(self, number: int) -> None:
        """One worker's life."""
        environment = {**os.environ, "FTW_TEST_OUTPUT": str(OUTPUT / f"worker-{number}")}
        worker = subprocess.Popen([sys.executable, str(HERE / "run.py"), "--worker"], text=True, cwd=HERE,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert worker.stdin and worker.stdout
        self._workers.append(worker)
        try:
            while True:
                with self._lock:
                    if not self._left:
                        break
                    name, tests = self._left.pop(0)
                worker.stdin.write(json.dumps(tests) + "\n")
                worker.stdin.flush()
                began = time.monotonic()
                line = worker.stdout.readline()
                told = json.loads(line) if line else {"ran": 0, "skipped": 0, "failed": 1, "counts": {},
                                                      "text": "the worker died"}
                self._take(name, told, time.monotonic() - began)
                if not line:
                    break
        finally:
            worker.stdin.close()
            worker.wait(180)

    def break_off(self) -> None:
        """Ends every worker, and with it what it started."""
        self._left = []
        for worker in self._workers:
            worker.terminate()

    def _take(self, name: str, told: dict[str, Any], took: float) -> None:
        with self._lock:
            print(f"\n== {name} ({took:.0f} s; {time.monotonic() - self._began:.0f} s since the start)")
            print(told["text"], end="", flush=True)
            for what in ("ran", "failed", "skipped"):
                self.totals[what] += told[what]
            self.counts.update(told["counts"])
            if told["failed"] or told["skipped"]:
                self.failed.append(name)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--workers", type=int, default=int(os.environ.get("FTW_TEST_WORKERS", "3")))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return 0
    classes = found_classes(options.pattern, options.long)
    if options.list or not classes:
        print("\n".join(test for tests in classes.values() for test in tests) or "no test fits")
        return 0 if options.list else 1
    shutil.rmtree(OUTPUT, ignore_errors=True)
    run = Run(classes)
    signal.signal(signal.SIGTERM, lambda *_: run.break_off())
    workers = [threading.Thread(target=run.serve, args=(n + 1,))
               for n in range(min(options.workers, len(classes)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    told = ", ".join(f"{number} {what}" for what, number in sorted(run.counts.items()))
    print(f"\n{run.totals['ran']} tests in {len(classes)} classes, {run.totals['failed']} failed, "
          f"{run.totals['skipped']} skipped; {told}")
    if run.failed or not run.totals["ran"]:
        print(f"failed: {', '.join(run.failed)}; what they left is in {OUTPUT}")
        return 1
    shutil.rmtree(OUTPUT, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
