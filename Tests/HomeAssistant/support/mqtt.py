"""The test's own view of a broker: what is retained, what passes, and publishing."""
from __future__ import annotations

import itertools
import json
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import paho.mqtt.client as paho

from .waiting import wait_until


@dataclass(frozen=True)
class Message:
    """One message as it was delivered."""

    topic: str
    payload: str
    retained: bool
    qos: int

    @property
    def document(self) -> Any:
        """The payload as JSON."""
        return json.loads(self.payload)


class Watcher:
    """Everything that passes on a filter from now on."""

    def __init__(self, port: int, host: str, topic_filter: str) -> None:
        self._lock = threading.Lock()
        self._messages: list[Message] = []
        self._client = _connected(port, host, self._take)
        _subscribe(self._client, topic_filter)

    def _take(self, message: Message) -> None:
        with self._lock:
            self._messages.append(message)

    @property
    def messages(self) -> list[Message]:
        with self._lock:
            return list(self._messages)

    def wait(self, what: str, fits: Callable[[Message], bool], timeout: float = 30) -> Message:
        """The first message that fits."""
        return wait_until(what, lambda: next((m for m in self.messages if fits(m)), None), timeout, 0.05,
                          told=lambda: [(m.topic, m.payload[:200]) for m in self.messages[-5:]])

    def close(self) -> None:
        _close(self._client)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MQTT:
    """One connection to a broker."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.port, self.host = port, host
        self._client = _connected(port, host, lambda message: None)

    def publish(self, topic: str, payload: str | bytes | dict[str, Any] = "", retain: bool = False,
                qos: int = 1) -> None:
        """Publishes and waits until the broker has it."""
        body = json.dumps(payload) if isinstance(payload, dict) else payload
        self._client.publish(topic, body, qos, retain).wait_for_publish(10)

    def retained(self, topic_filter: str = "#") -> dict[str, Message]:
        """All that is retained now, by topic.

        The broker answers a subscription with what it retains before it delivers what we publish
        after, so our own marker says that the answer is whole.
        """
        found: dict[str, Message] = {}
        whole = threading.Event()
        marker = f"test/marker/{uuid.uuid4().hex}"

        def take(message: Message) -> None:
            if message.topic == marker:
                whole.set()
            elif message.retained and message.payload:
                found[message.topic] = message

        client = _connected(self.port, self.host, take)
        _subscribe(client, marker)
        _subscribe(client, topic_filter)
        client.publish(marker, "x", 1)
        if not whole.wait(20):
            raise AssertionError("the broker did not tell what it retains")
        _close(client)
        return found

    def document(self, topic: str) -> Any:
        """The retained document on a topic; None without one."""
        message = self.retained(topic).get(topic)
        return message.document if message else None

    def text(self, topic: str) -> str | None:
        """The retained payload on a topic; None without one."""
        message = self.retained(topic).get(topic)
        return message.payload if message else None

    def wait_document(self, topic: str, fits: Callable[[Any], bool], timeout: float = 30) -> Any:
        """Waits until the document on a topic fits, and returns it."""
        with self.watch(topic) as watcher:
            return watcher.wait(f"{topic} to fit", lambda m: bool(m.payload) and fits(m.document),
                                timeout).document

    def wait_text(self, topic: str, text: str, timeout: float = 30) -> None:
        """Waits until a topic says just that."""
        with self.watch(topic) as watcher:
            watcher.wait(f"{topic} to say {text}", lambda m: m.payload == text, timeout)

    def watch(self, topic_filter: str) -> Watcher:
        """Everything on a filter: first what is retained, then what comes."""
        return Watcher(self.port, self.host, topic_filter)

    def clear(self, topic_filter: str = "#") -> int:
        """Empties every retained topic of the filter; returns how many."""
        # What announces goes first: nothing is then shown as broken in between.
        topics = sorted(self.retained(topic_filter), key=lambda t: (not t.endswith("/config"), t))
        for topic in topics:
            self.publish(topic, "", retain=True)
        return len(topics)

    def close(self) -> None:
        _close(self._client)


_numbers = itertools.count(1)


def _connected(port: int, host: str, take: Callable[[Message], None]) -> paho.Client:
    client = paho.Client(client_id=f"test-{uuid.uuid4().hex[:12]}-{next(_numbers)}")
    ready = threading.Event()
    client.on_connect = lambda *_: ready.set()
    client.on_message = lambda _c, _u, m: take(
        Message(m.topic, m.payload.decode("utf-8", "replace"), bool(m.retain), m.qos))
    client.max_inflight_messages_set(0)
    client.connect(host, port, 600)
    client.loop_start()
    if not ready.wait(20):
        raise AssertionError(f"no answer from the broker on port {port}")
    return client


def _subscribe(client: paho.Client, topic_filter: str) -> None:
    taken = threading.Event()
    client.on_subscribe = lambda *_: taken.set()
    client.subscribe(topic_filter, 1)
    if not taken.wait(20):
        raise AssertionError(f"the subscription to {topic_filter} was not answered")


def _close(client: paho.Client) -> None:
    client.disconnect()
    client.loop_stop()
