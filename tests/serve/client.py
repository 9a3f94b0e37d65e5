"""HTTP client for valid and malformed requests, and a load generator.

    async with Connection(port) as connection:
        status, headers, body = await connection.ask("POST", "/predict", b"{}", {"Content-Type": "application/json"})
    answers, seconds = await load(port, [request(...)], count=10_000, connections=32)
"""

import asyncio
import json
import time

JSON = {"Content-Type": "application/json"}
NPZ = {"Content-Type": "application/x-npz"}


def request(method, path, body=b"", headers=None, host="127.0.0.1"):
    """Return the bytes of a request."""
    lines = {"Host": host, **({"Content-Length": str(len(body))} if body or method == "POST" else {}), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


async def read_response(reader):
    """Read the next response: status, headers by lower-case name, body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split()[1]), headers, body


class Connection:
    """A persistent connection."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    async def ask(self, method, path, body=b"", headers=None, host="127.0.0.1"):
        self.writer.write(request(method, path, body, headers, host))
        return await read_response(self.reader)


async def ask(port, method, path, body=b"", headers=None, host="127.0.0.1"):
    """Send one request on a new connection; return status, headers and body."""
    async with Connection(port) as connection:
        return await connection.ask(method, path, body, headers, host)


def ask_json(port, path, value, headers=None):
    """Post JSON; return the status and the decoded response."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    status, _, text = asyncio.run(ask(port, "POST", path, body, JSON | (headers or {})))
    return status, json.loads(text)


class _LoadConnection(asyncio.Protocol):
    """Connection that sends the next request as soon as the last one is answered."""

    def __init__(self, requests, budget, latencies, statuses):
        self.requests, self.budget, self.latencies, self.statuses = requests, budget, latencies, statuses
        self.done = asyncio.get_running_loop().create_future()
        self.data, self.need = b"", None

    def connection_made(self, transport):
        self.transport = transport
        self.next()

    def next(self):
        try:
            number = next(self.budget)
        except StopIteration:
            self.transport.close()
            self.done.set_result(None)
            return
        self.start = time.perf_counter()
        self.transport.write(self.requests[number % len(self.requests)])

    def data_received(self, data):
        self.data += data
        if self.need is None:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            at = self.data.index(b"Content-Length: ") + 16
            self.need = end + 4 + int(self.data[at : self.data.index(b"\r", at)])
        if len(self.data) >= self.need:
            status = self.data[9:12].decode()
            self.statuses[status] = self.statuses.get(status, 0) + 1
            self.data, self.need = self.data[self.need :], None
            self.latencies.append(time.perf_counter() - self.start)
            self.next()

    def connection_lost(self, error):
        if not self.done.done():
            self.done.set_exception(ConnectionError("lost before the answer"))


async def load(port, requests, count, connections):
    """Return the count of each status, the sorted latencies, and the total time, in seconds."""
    budget, latencies, statuses = iter(range(count)), [], {}
    loop = asyncio.get_running_loop()
    start = time.perf_counter()
    protocols = [
        (await loop.create_connection(lambda: _LoadConnection(requests, budget, latencies, statuses), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(protocol.done for protocol in protocols))
    return statuses, sorted(latencies), time.perf_counter() - start
