"""Whose turn it is, and who is known: clients wait for themselves."""

import asyncio
import json
from types import SimpleNamespace

import pytest

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.client import JSON, Connection, ask
from tests.serve.conftest import serving
from ts.serve.fair_queue import Shares, Turns
from ts.serve.clients import Visitors


def all_of(turns):
    return [turns.pop() for _ in range(len(turns))]


def test_clients_take_turns():
    turns = Turns(Shares())
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        turns.put(item[0], item)
    assert (len(turns), turns.of("a"), turns.of("d"), next(iter(turns))) == (6, 3, 0, "a1")
    assert all_of(turns) == ["a1", "b1", "c1", "a2", "c2", "a3"]
    with pytest.raises(IndexError):
        turns.pop()


def test_who_has_had_least_is_next():
    shares = Shares()
    turns = Turns(shares)
    shares.charge("a", 1.0)
    for item in ("a1", "b1", "a2", "b2"):
        turns.put(item[0], item)
    assert all_of(turns) == ["b1", "b2", "a1", "a2"]


def test_what_was_had_is_forgotten(monkeypatch):
    from ts.serve import fair_queue as turns

    now = [100.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    shares = Shares()
    shares.charge("a", 1.0)
    now[0] += 10
    assert shares.of("a") == pytest.approx(0.5) and shares.of("b") == 0
    for number in range(5_000):  # and so are those who had it
        shares.charge(str(number), 0.1)
    assert shares.of("a") == 0 and len(shares._had) <= 4096


def test_who_goes_is_not_waited_for():
    turns = Turns(Shares())
    for item in ("a1", "b1", "a2"):
        turns.put(item[0], item)
    turns.discard("a", "a1")
    turns.discard("a", "a1")
    turns.discard("d", "d1")
    turns.discard("b", "b1")
    assert len(turns) == 1 and all_of(turns) == ["a2"] and turns.waited() == 0


def request(remote="10.0.0.1", **headers):
    return SimpleNamespace(headers=headers, remote=remote, protocol=SimpleNamespace())


def test_visitors_are_connections():
    visitors = Visitors(None)
    first, second = request(), request()
    visitor = visitors.of(first)
    for _ in range(4):
        assert not visitor.is_known
        visitor.praise()
    assert visitors.of(first) is visitor and visitor.is_known
    assert visitors.of(second).client == visitor.client and not visitors.of(second).is_known
    visitor.blame()
    assert not visitor.is_known


def test_visitors_that_a_proxy_names():
    """The last name is the proxy's own; what the client wrote before it is nobody's."""
    visitors = Visitors("X-Forwarded-For")
    one = visitors.of(request(**{"X-Forwarded-For": "spoofed, 10.9.9.9"}))
    assert one.client == "10.9.9.9" and visitors.of(request(**{"X-Forwarded-For": "10.9.9.9"})) is one
    assert visitors.of(request(remote="10.0.0.2")).client == "10.0.0.2"
    for number in range(5_000):
        visitors.of(request(**{"X-Forwarded-For": str(number)}))
    assert len(visitors._named) <= 4096


def test_a_client_waits_for_itself(busy):
    """Who asks for too much is told to come back, whoever else asks is answered meanwhile; nobody is forgotten."""
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
