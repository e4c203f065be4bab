"""Waiting for a condition, never for a time."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(what: str, condition: Callable[[], T], timeout: float = 30, step: float = 0.1,
               told: Callable[[], object] | None = None) -> T:
    """Asks again and again until the answer is true, and returns it.

    The bound is generous on purpose: it decides when a test fails, not how long one takes.
    `told` is asked for what is there instead when the time is over.
    """
    end = time.monotonic() + timeout
    trouble: Exception | None = None
    while True:
        try:
            answer = condition()
            if answer:
                return answer
            trouble = None
        except (OSError, KeyError, LookupError, ValueError) as error:
            trouble = error
        if time.monotonic() > end:
            there = f"; there is: {told()}" if told else ""
            raise AssertionError(f"waited {timeout:g} s for {what}"
                                 + (f" ({type(trouble).__name__}: {trouble})" if trouble else "") + there)
        time.sleep(step)
