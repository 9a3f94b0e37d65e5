"""Under load, and under 10,000 hostile requests: every one is answered, nobody else waits, memory stays as it was.

    TS_HOSTILE_REQUESTS=1000 pytest -m long tests/serve/test_hostile.py -s        fewer, and what was measured
"""

import asyncio
import io
import json
import os
import random
import statistics
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.serve.client import JSON, NPZ, Connection, answer, ask, load, request

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.conftest import serving

pytestmark = pytest.mark.long
REQUESTS = int(os.environ.get("TS_HOSTILE_REQUESTS", "10000"))
ROOT = Path(__file__).parents[2]
PARTS = 5  # each has its own time
AT_ONCE = 48


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def lying_npz():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n"
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 16)
    return out.getvalue()


def model_json(*inputs):
    return request("POST", "/predict", json.dumps({"inputs": list(inputs)}).encode(), JSON)


BOMB = npz(x=np.zeros(1 << 27, dtype=np.int8))
LARGE = npz(x=np.zeros(1 << 24, dtype=np.int8))  # which may come in, and whose answer is too large
LATE = {503, 504}  # where the machine has no time for so many; still an answer
# What is sent whole, and the statuses that may come back.
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
    (request("POST", "/predict", lying_npz(), NPZ), {400}),
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


async def whole(port, what, expected):
    """Ask, and take the answer."""
    async with Connection(port) as connection:
        connection.writer.write(what)
        status, _, body = await answer(connection.reader)
        assert status in expected | LATE, (status, what[:80], body[:200])
        assert status == 200 or set(json.loads(body)["error"]) == {"status", "code", "message"}


async def leave(port):
    """Ask for much, and go away."""
    async with Connection(port) as connection:
        connection.writer.write(ENDLESS[0] if random.random() < 0.1 else model_json([[1.0]] * 1000))
        await connection.writer.drain()


async def half(port):
    """Send half of a request, and nothing more."""
    async with Connection(port) as connection:
        what = model_json([[1.0]])
        connection.writer.write(what[: random.randrange(1, len(what))])
        if random.random() < 0.8:  # and go
            await connection.writer.drain()
            return
        status = (await connection.reader.read(4096))[9:12]
        assert status in (b"", b"408", b"400"), status


async def deaf(port):
    """Ask for much, again and again, and read nothing."""
    async with Connection(port) as connection:
        for _ in range(20):
            connection.writer.write(model_json([[1.5] * 2000]))
        await asyncio.sleep(0.2)


def hostile(port, number):
    """The next of them: most are cheap to send, some are slow or without end."""
    if number % 100 == 7:
        return whole(port, *ENDLESS)
    if number % 500 == 13:
        return whole(port, *STUCK)
    if number % 20 == 3:
        return half(port)
    if number % 20 == 5:
        return leave(port)
    if number % 100 == 11:
        return deaf(port)
    return whole(port, *WHOLE[number % len(WHOLE)])


def memory(pids):
    """Bytes that processes have for themselves."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                fields = dict(line.split(":") for line in file.read().splitlines()[1:])
        except OSError:
            continue
        total += sum(int(fields[name].split()[0]) for name in ("Private_Clean", "Private_Dirty")) * 1024
    return total


def family(pid):
    """A process, its children and theirs."""
    parents = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{each}/stat") as file:
                parents[int(each)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {each for each, parent in parents.items() if parent in found} - found:
        found |= more
    return found


@pytest.fixture(scope="module")
def attacked(busy):
    """A server that is small, and what is measured of it."""
    words = ("--seconds", 1, "--bytes", "100M", "--max-answer", "4M", "--max-body", "256K", "--workers", 8)
    with serving(busy, *words, "--client-seconds", 5, "--batch", 8) as process:
        process.sizes = []
        yield process


@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_requests(attacked, part):
    """Each is answered as it should be, and so is one that asks for little beside them, in time."""
    port = attacked.port
    command = [sys.executable, "-m", "tests.serve.honest", str(port)]
    friend = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    async def attack(numbers):
        for number in numbers:
            await asyncio.wait_for(hostile(port, number), 60)
            if number % (REQUESTS // 40) == 0:
                attacked.sizes.append(await asyncio.to_thread(memory, family(attacked.pid)))

    async def everybody():
        numbers = iter(range(REQUESTS * part // PARTS, REQUESTS * (part + 1) // PARTS))
        await asyncio.gather(*(attack(numbers) for _ in range(AT_ONCE)))

    start = time.perf_counter()
    try:
        asyncio.run(everybody())
    finally:
        out, _ = friend.communicate("enough\n", timeout=60)
    seconds = time.perf_counter() - start
    assert friend.returncode == 0
    statuses, taken = zip(*json.loads(out), strict=True)
    late = sum(status in LATE for status in statuses)
    taken = sorted(taken)
    print(
        f"\n{REQUESTS // PARTS:,} hostile requests in {seconds:.0f} s; {len(taken):,} honest ones beside them: median "
        f"{statistics.median(taken) * 1e3:.0f} ms, 99% {taken[len(taken) * 99 // 100] * 1e3:.0f} ms, longest "
        f"{taken[-1] * 1e3:.0f} ms; {late} refused"
    )
    assert late <= len(taken) // 50


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs Linux's /proc to see memory")
def test_nothing_is_left_of_them(attacked):
    """Nobody waits, nothing is held, and memory went up and down, but not up and up."""
    time.sleep(4)  # those that went away have their time, too
    text = asyncio.run(ask(attacked.port, "GET", "/metrics"))[2].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert values["ts_serve_queue"] == values["ts_serve_body_bytes"] == values["ts_serve_processes_busy"] == "0"
    assert values["ts_serve_open"] == "1"
    sizes = attacked.sizes
    print(f"\nmemory in MB: {', '.join(f'{size / 1e6:.0f}' for size in sizes)}; of the server alone at most "
          f"{float(values['ts_serve_peak_bytes']) / 1e6:.0f}")  # fmt: skip
    half = len(sizes) // 2
    assert max(sizes[half:]) < max(sizes[:half]) * 1.5 + 100e6


def test_load(net):
    """Small requests at full speed, one at a time and together; every one has its answer."""
    requests = [request("POST", "/predict", json.dumps({"inputs": [[[float(i), 0.5, 1.0, 2.0]]]}).encode(), JSON) for i in range(50)]
    for words in ((), ("--batch", 32)):
        with serving(net, *words) as process:
            asyncio.run(load(process.port, requests, 1000, 32))
            statuses, taken, seconds = asyncio.run(load(process.port, requests, 10_000, 32))
            assert statuses == {"200": 10_000}
            print(
                f"\n{' '.join(map(str, words)) or 'one at a time'}: {10_000 / seconds:,.0f} requests a second, median "
                f"{taken[5000] * 1e3:.1f} ms, 99% {taken[9900] * 1e3:.1f} ms"
            )


def test_more_than_can_be_served(busy):
    """With a short queue the rest is refused at once, with a word about when to come back; nothing is lost."""
    with serving(busy, "--seconds", 1, "--workers", 1, "--queue", 4) as process:

        async def all_at_once():
            start = time.perf_counter()
            replies = await asyncio.gather(*(whole_reply(process.port) for _ in range(40)))
            return replies, time.perf_counter() - start

        async def whole_reply(port):
            async with Connection(port) as connection:
                connection.writer.write(ENDLESS[0])
                start = time.perf_counter()
                status, headers, _ = await answer(connection.reader)
                return status, headers.get("retry-after"), time.perf_counter() - start

        replies, _ = asyncio.run(all_at_once())
        refused = [reply for reply in replies if reply[0] == 503]
        assert {status for status, _, _ in replies} == {503, 504} and len(refused) >= 30
        assert all(retry for _, retry, _ in refused) and statistics.median(s for _, _, s in refused) < 1


def test_more_connections_than_there_may_be(busy):
    with serving(busy, "--connections", 20) as process:

        async def many():
            open_ones = [await asyncio.open_connection("127.0.0.1", process.port) for _ in range(100)]
            await asyncio.sleep(0.5)
            closed = sum(reader.at_eof() or bool(reader.exception()) for reader, _ in open_ones)
            for _, writer in open_ones:
                writer.close()
            await asyncio.sleep(0.5)
            return closed, (await ask(process.port, "GET", "/healthz"))[0]

        assert asyncio.run(many()) == (80, 200)
