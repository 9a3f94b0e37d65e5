"""Fair queues, trust in clients, and limits per client."""

import asyncio
import json
from types import SimpleNamespace

import pytest

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.client import JSON, Connection, ask
from tests.serve.conftest import serving
from ts.serve.clients import ClientRegistry
from ts.serve.fair_queue import ClientUsage, FairQueue


def pop_all(queue):
    return [queue.pop() for _ in range(len(queue))]


def test_round_robin_of_clients_without_usage():
    queue = FairQueue(ClientUsage())
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        queue.put(item[0], item)
    assert (len(queue), queue.count_items("a"), queue.count_items("d"), next(iter(queue))) == (6, 3, 0, "a1")
    assert pop_all(queue) == ["a1", "b1", "c1", "a2", "c2", "a3"]
    with pytest.raises(IndexError):
        queue.pop()


def test_client_with_least_usage_is_next():
    usage = ClientUsage()
    queue = FairQueue(usage)
    usage.add("a", 1.0)
    for item in ("a1", "b1", "a2", "b2"):
        queue.put(item[0], item)
    assert pop_all(queue) == ["b1", "b2", "a1", "a2"]


def test_usage_decays_and_is_bounded(monkeypatch):
    from ts.serve import fair_queue

    now = [100.0]
    monkeypatch.setattr(fair_queue.time, "monotonic", lambda: now[0])
    usage = ClientUsage()
    usage.add("a", 1.0)
    now[0] += 10
    assert usage.get("a") == pytest.approx(0.5) and usage.get("b") == 0
    for number in range(5_000):  # evicts the oldest clients
        usage.add(str(number), 0.1)
    assert usage.get("a") == 0 and len(usage._usage) <= 4096


def test_discard():
    queue = FairQueue(ClientUsage())
    for item in ("a1", "b1", "a2"):
        queue.put(item[0], item)
    queue.discard("a", "a1")
    queue.discard("a", "a1")
    queue.discard("d", "d1")
    queue.discard("b", "b1")
    assert len(queue) == 1 and pop_all(queue) == ["a2"] and queue.idle_seconds() == 0


def request(remote="10.0.0.1", **headers):
    return SimpleNamespace(headers=headers, remote=remote, protocol=SimpleNamespace())


def test_trust_belongs_to_a_connection():
    registry = ClientRegistry(None)
    first, second = request(), request()
    client = registry.find_client(first)
    for _ in range(4):
        assert not client.is_trusted
        client.record_success()
    assert registry.find_client(first) is client and client.is_trusted
    assert registry.find_client(second).name == client.name and not registry.find_client(second).is_trusted
    client.record_slow()
    assert not client.is_trusted


def test_trust_belongs_to_the_client_named_by_a_proxy():
    """The client is the last name of the header, which the proxy appends; clients control the other names."""
    registry = ClientRegistry("X-Forwarded-For")
    one = registry.find_client(request(**{"X-Forwarded-For": "spoofed, 10.9.9.9"}))
    assert one.name == "10.9.9.9" and registry.find_client(request(**{"X-Forwarded-For": "10.9.9.9"})) is one
    assert registry.find_client(request(remote="10.0.0.2")).name == "10.0.0.2"
    for number in range(5_000):
        registry.find_client(request(**{"X-Forwarded-For": str(number)}))
    assert len(registry._clients_by_name) <= 4096


def test_queue_limit_per_client(busy):
    """A client over its limit gets 429 with Retry-After; other clients are served meanwhile; every request is answered."""
    words = ("--seconds", 0.5, "--workers", 4, "--client-queue", 4, "--client-header", "X-Client")
    endless = json.dumps({"inputs": [[1.0], 1, "loop"]}).encode()
    little = json.dumps({"inputs": [[1.0], 2]}).encode()
    with serving(busy, *words) as process:

        async def all_of_them():
            greedy = [
                asyncio.ensure_future(ask(process.port, "POST", "/predict", endless, JSON | {"X-Client": "greedy"})) for _ in range(10)
            ]
            done = 0
            async with Connection(process.port) as connection:
                while not all(each.done() for each in greedy):
                    assert (await connection.ask("POST", "/predict", little, JSON | {"X-Client": "modest"}))[0] == 200
                    done += 1
            return done, [await each for each in greedy]

        done, answers = asyncio.run(all_of_them())
    assert done > 5 and {status for status, _, _ in answers} == {429, 504}
    assert all(headers.get("retry-after") for status, headers, _ in answers if status == 429)
