"""Hostile requests to a model and to the playground: sizes, types, slow clients, programs without end.

    await model(port, number)                     send request `number`; AssertionError for an unexpected response
    await attack(port, model, range(10_000))      send hundreds at a time; return the count of each status
"""

import asyncio
import io
import json
import os
import random
import re
import zipfile
from collections import Counter

import numpy as np

from tests.serve.client import JSON, NPZ, Connection, read_response, request

MAX_CONCURRENT_REQUESTS = 300


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def npz_with_false_size():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n"
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 16)
    return out.getvalue()


def model_json(*inputs):
    return request("POST", "/predict", json.dumps({"inputs": list(inputs)}).encode(), JSON)


BOMB = npz(x=np.zeros(1 << 27, dtype=np.int8))
LARGE = npz(x=np.zeros(1 << 24, dtype=np.int8))  # accepted, but the response is too large
OVERLOAD_STATUSES = {429, 503, 504}
# Complete requests, with their expected statuses.
WHOLE = [
    (model_json([[1.0]], 1, "strange"), {422}),
    (model_json([[1.0]], 60, "memory"), {507}),
    (request("POST", "/predict", LARGE, NPZ), {413}),
    (model_json("x"), {400}),
    (model_json([[1.0], [1.0, 2.0]]), {400}),
    (model_json(*range(99)), {400}),
    (request("POST", "/predict", b"[" * 50_000, JSON), {400}),
    (request("POST", "/predict", b'{"inputs": {"x": NaN}}', JSON), {400}),
    (request("POST", "/predict", b'{"inputs": {"x": ' + b"9" * 5_000 + b"}}", JSON), {400}),
    (request("POST", "/predict", b'{"inputs": [' + b"[]," * 50_000 + b"[]]}", JSON), {400}),
    (request("POST", "/predict", b"\xff" * 1000, JSON), {400}),
    (request("POST", "/predict", BOMB[:-1], NPZ), {400}),
    (request("POST", "/predict", BOMB, NPZ), {400}),
    (request("POST", "/predict", npz_with_false_size(), NPZ), {400}),
    (request("POST", "/predict", npz(x=np.array(["a"])), NPZ), {400}),
    (request("POST", "/predict", os.urandom(2000), NPZ), {400}),
    (request("POST", "/predict", b"{}", {"Content-Type": "text/plain"}), {415}),
    (request("POST", "/predict", b"{}", JSON | {"Content-Encoding": "gzip"}), {415}),
    (request("POST", "/predict", b"", JSON | {"Content-Length": "123456789"}), {413}),
    (request("POST", "/predict", b"{}", JSON | {"Origin": "http://elsewhere.example"}), {403}),
    (request("GET", "/../../../etc/passwd"), {404}),
    (request("GET", "/metrics", host="elsewhere.example"), {421}),
    (request("PUT", "/predict", b"x"), {405}),
    (request("GET", "/" + "a" * 9_000), {400, 414}),
    (request("GET", "/", headers={f"X-{i}": "a" * 100 for i in range(200)}), {400}),
    (b"\x16\x03\x01\x02\x00\x01\x00" * 20 + b"\r\n\r\n", {400}),
    (b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", {400, 200, 505}),
    (b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    (b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZ\r\n", {400}),
]  # fmt: skip
ENDLESS = (model_json([[1.0]], 1, "loop"), {504})
STUCK = (model_json([[1.0]], 24, "text"), {504, 507})



def program(source, call="f(1)", **more):
    return request("POST", "/run", json.dumps({"source": source, "call": call, **more}).encode(), JSON)


def ends_with(kind):
    """Return a check that the error kind of a playground response matches a pattern."""
    return lambda found: found["error"] is not None and re.fullmatch(kind, found["error"]["kind"])


# Programs, with their expected statuses and checks of the response.
PROGRAMS = [
    (program("def f(n: int) -> int:\n    return n + 1\n"), {200}, lambda found: found["result"] == "2"),
    (program("def f(n: int) -> int:\n    return n +\n"), {200}, ends_with("FrontendError")),
    (program("def f(n: int) -> int:\n    return [0][n]\n"), {200}, ends_with(".*Error")),
    (program("def f(n: int) -> str:\n    return torch.hub.os.name\n"), {200}, ends_with(".*Error")),
    (program("import os\ndef f(n: int) -> int:\n    return n\n"), {200}, ends_with("Rejected")),
    (program("def f(n: int) -> int:\n    return f(n + 1)\n"), {200}, ends_with(".*")),
    (program("def f(n: int) -> Tensor:\n    return torch.ones(1 << 40)\n"), {200}, ends_with(".*Exceeded|.*Error")),
    (program("def f(n: int) -> List[int]:\n    return [n] * (1 << 50)\n"), {200}, ends_with(".*Exceeded|.*Error")),
    (program("def f(n: int) -> int:\n    return " + "(" * 3_000 + "n" + ")" * 3_000 + "\n"), {200}, ends_with(".*")),
    (program("def f(n: int) -> int:\n" + "    n += 1\n" * 1_000 + "    return n\n"), {200}, None),
    (program("#" * 70_000), {200}, ends_with("Rejected")),
    (program("#" * 300_000), {413}, None),
    (program("def f(n: int) -> int:\n    for i in range(3000):\n        print(i)\n    return n\n"), {200}, None),
    (program("", more=1), {400}, None),
    (program(1), {400}, None),
    (request("POST", "/run", b"[" * 50_000, JSON), {400}, None),
    (request("POST", "/run", b"{}", {"Content-Type": "text/plain"}), {415}, None),
    (request("POST", "/run", b"{}", JSON | {"Origin": "http://elsewhere.example"}), {403}, None),
    (request("GET", "/page.js"), {200}, None),
    (request("GET", "/page.css/../../app.py"), {404}, None),
]  # fmt: skip
LOOP = "def f(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\n"
ENDLESS_PROGRAM = (program(LOOP), {200}, ends_with("TimeExceeded|Ended"))
STUCK_PROGRAM = (
    program(
        "def f(n: int) -> int:\n    s = 'a'\n    for _ in range(24):\n        s = s + s\n    while n > 0:\n"
        "        n += len(s.replace('a', 'b'))\n    return n\n"
    ),
    {200},
    ends_with("TimeExceeded|Ended|MemoryExceeded"),
)


async def send_request(port, what, expected, is_right=None):
    """Send a request, check the response and return its status."""
    async with Connection(port) as connection:
        connection.writer.write(what)
        status, _, body = await read_response(connection.reader)
    assert status in expected | OVERLOAD_STATUSES, (status, what[:80], body[:200])
    assert status == 200 or set(json.loads(body)["error"]) == {"status", "code", "message"}
    if status == 200 and is_right is not None:
        assert is_right(json.loads(body)), (what[:200], body[:500])
    return status


async def send_and_disconnect(port, what):
    """Send an expensive request and disconnect."""
    async with Connection(port) as connection:
        connection.writer.write(what)
        await connection.writer.drain()


async def send_incomplete_request(port, what):
    """Send an incomplete request."""
    async with Connection(port) as connection:
        connection.writer.write(what[: random.randrange(1, len(what))])
        if random.random() < 0.8:  # and disconnect
            await connection.writer.drain()
            return
        status = (await connection.reader.read(4096))[9:12]
        assert status in (b"", b"408", b"400"), status


async def send_without_reading(port, what):
    """Send many expensive requests without reading responses."""
    async with Connection(port) as connection:
        for _ in range(20):
            connection.writer.write(what)
        await asyncio.sleep(0.2)


def model(port, number):
    """Return the next hostile request to a model: most are cheap, some slow or endless."""
    if number % 100 == 7:
        return send_request(port, *ENDLESS)
    if number % 500 == 13:
        return send_request(port, *STUCK)
    if number % 20 == 3:
        return send_incomplete_request(port, model_json([[1.0]]))
    if number % 20 == 5:
        return send_and_disconnect(port, ENDLESS[0] if random.random() < 0.1 else model_json([[1.0]] * 1000))
    if number % 100 == 11:
        return send_without_reading(port, model_json([[1.5] * 2000]))
    return send_request(port, *WHOLE[number % len(WHOLE)])


def playground(port, number):
    """Return the next hostile request to the playground."""
    if number % 100 == 7:
        return send_request(port, *ENDLESS_PROGRAM)
    if number % 500 == 13:
        return send_request(port, *STUCK_PROGRAM)
    if number % 20 == 3:
        return send_incomplete_request(port, PROGRAMS[0][0])
    if number % 20 == 5:
        return send_and_disconnect(port, ENDLESS_PROGRAM[0] if random.random() < 0.1 else PROGRAMS[0][0])
    if number % 100 == 11:
        return send_without_reading(port, request("GET", "/page.js"))
    return send_request(port, *PROGRAMS[number % len(PROGRAMS)])


async def attack(port, hostile, numbers, callback=None, every=250):
    """Send all requests and return the count of each status; `callback` runs after every `every` requests."""
    numbers, statuses = iter(numbers), Counter()

    async def send_sequentially():
        for number in numbers:
            statuses[await asyncio.wait_for(hostile(port, number), 100)] += 1
            if callback is not None and number % every == 0:
                await asyncio.to_thread(callback)

    await asyncio.gather(*(send_sequentially() for _ in range(MAX_CONCURRENT_REQUESTS)))
    return statuses
