"""Load tests and 10,000 hostile requests: every request is answered, other clients stay fast, memory does not grow.

    TS_HOSTILE_REQUESTS=1000 pytest -m long tests/serve/test_malicious_clients.py -s        fewer requests; prints measurements
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serve import malicious_clients
from tests.serve.client import JSON, Connection, read_response, ask, load, request
from tests.serve.malicious_clients import attack

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.conftest import serving

pytestmark = pytest.mark.long
REQUESTS = int(os.environ.get("TS_HOSTILE_REQUESTS", "10000"))
ROOT = Path(__file__).parents[2]
MAX_LATENCY_SECONDS = 0.5  # limit in seconds of the 99th percentile of latencies, for machines under other load


def memory(pids):
    """Return the private memory of processes in bytes."""
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
    """Return the process IDs of a process and its descendants."""
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


@contextmanager
def regular_clients(port, *words):
    """Run regular clients in another process; yield the list of their statuses and latencies."""
    command = [sys.executable, "-m", "tests.serve.regular_clients", str(port), *map(str, words)]
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)
    found = []
    assert client.stdout.readline() == "ready\n"
    try:
        yield found
    finally:
        out, _ = client.communicate("", timeout=60)
    assert client.returncode == 0
    found += json.loads(out)


def times(found, name):
    """Return the 99th percentile of latencies; print a summary."""
    latencies = sorted(seconds for _, seconds in found)
    late = latencies[len(latencies) * 99 // 100]
    refused = sum(status != 200 for status, _ in found)
    print(
        f"  {name}: {len(latencies):,}, median {statistics.median(latencies) * 1e3:.0f} ms, 99% {late * 1e3:.0f} ms, longest "
        f"{latencies[-1] * 1e3:.0f} ms; {refused} refused"
    )
    return late, refused


@contextmanager
def attacked(hostile, persistent, new, *words):
    """Run an attack; check that the server has not grown; return the latencies of regular clients."""
    with serving(*words) as process:
        sizes = []
        start = time.perf_counter()
        with regular_clients(process.port, *persistent) as persistent_latencies, regular_clients(process.port, *new, "--new") as new_latencies:
            statuses = asyncio.run(
                attack(process.port, hostile, range(REQUESTS), lambda: sizes.append(memory(family(process.pid))), REQUESTS // 40)
            )
        seconds = time.perf_counter() - start
        counts = ", ".join(f"{count:,} of {status}" for status, count in sorted(statuses.items(), key=str))
        print(f"\n{REQUESTS:,} hostile requests in {seconds:.0f} s: {counts}")
        print(f"  memory in MB: {', '.join(f'{size / 1e6:.0f}' for size in sizes)}")
        half = len(sizes) // 2
        assert max(sizes[half:]) < max(sizes[:half]) * 1.5 + 100e6
        yield process, times(persistent_latencies, "regular, on persistent connections"), times(new_latencies, "regular, from another address")


def metrics_of(port):
    """Return the metrics of the server by name."""
    text = asyncio.run(ask(port, "GET", "/metrics"))[2].decode()
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")


@pytest.mark.parametrize("batch", [1, 8])
def test_malicious_requests_to_a_model(busy, batch):
    """Hostile requests get the expected responses, regular clients stay fast, and no connection or file
    remains."""
    words = ("--seconds", 1, "--bytes", "100M", "--max-answer", "4M", "--max-body", "256K", "--client-seconds", 5)
    with attacked(malicious_clients.model, ("model", 50), ("model", 5), busy, *words, "--batch", batch) as (process, persistent, new):
        time.sleep(4)  # time for disconnected clients to be served
        values = metrics_of(process.port)
        assert values["ts_serve_queue"] == values["ts_serve_body_bytes"] == values["ts_serve_processes_busy"] == "0"
        assert values["ts_serve_open"] == "1"
    assert persistent == (pytest.approx(0, abs=MAX_LATENCY_SECONDS), 0) and new[0] < 10 * MAX_LATENCY_SECONDS


def test_malicious_programs():
    """Hostile playground programs run in separate processes and do not slow other clients."""
    with attacked(malicious_clients.playground, ("playground", 5), ("playground", 1), "--seconds", 1) as (process, persistent, new):
        time.sleep(4)
        values = metrics_of(process.port)
        assert values["ts_serve_body_bytes"] == "0" and values["ts_serve_open"] == "1"
    assert persistent == (pytest.approx(0, abs=10 * MAX_LATENCY_SECONDS), 0) and new[0] < 20 * MAX_LATENCY_SECONDS


def test_load(net):
    """Small requests at full speed, with and without batches, are all answered."""
    requests = [request("POST", "/predict", json.dumps({"inputs": [[[float(i), 0.5, 1.0, 2.0]]]}).encode(), JSON) for i in range(50)]
    for words in ((), ("--batch", 32)):
        with serving(net, *words) as process:
            asyncio.run(load(process.port, requests, 1000, 32))
            statuses, latencies, seconds = asyncio.run(load(process.port, requests, 10_000, 32))
            assert statuses == {"200": 10_000}
            print(
                f"\n{' '.join(map(str, words)) or 'one at a time'}: {10_000 / seconds:,.0f} requests a second, median "
                f"{latencies[5000] * 1e3:.1f} ms, 99% {latencies[9900] * 1e3:.1f} ms"
            )


def test_queue_overflow(busy):
    """Requests beyond a short queue are rejected at once, with Retry-After."""
    with serving(busy, "--seconds", 1, "--workers", 1, "--queue", 4) as process:

        async def all_at_once():
            start = time.perf_counter()
            replies = await asyncio.gather(*(whole_reply(process.port) for _ in range(40)))
            return replies, time.perf_counter() - start

        async def whole_reply(port):
            async with Connection(port) as connection:
                connection.writer.write(malicious_clients.ENDLESS[0])
                start = time.perf_counter()
                status, headers, _ = await read_response(connection.reader)
                return status, headers.get("retry-after"), time.perf_counter() - start

        replies, _ = asyncio.run(all_at_once())
        refused = [reply for reply in replies if reply[0] in (429, 503)]
        assert {status for status, _, _ in replies} <= {429, 503, 504} and 30 <= len(refused) < 40
        assert all(retry for _, retry, _ in refused) and statistics.median(s for _, _, s in refused) < 1


def test_connection_limit(busy):
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
