"""Regular clients in a separate process, whose latencies are independent of attacks by the test process.

    python -m tests.serve.regular_clients PORT model 50            50 requests a second, until its standard input ends
    python -m tests.serve.regular_clients PORT playground 5 --new  each on a new connection, from another address

Out: "ready" as soon as the server trusts all of them; at the end JSON, `[[status, seconds], ...]`.  Seconds count from the scheduled time of a request, not from the time it was sent.
"""

import argparse
import asyncio
import json
import sys
import time

from tests.serve.client import JSON, read_response, request

CLIENT_COUNT = 25
RESPONSES_UNTIL_TRUSTED = 6  # per connection
NEW_CLIENT_ADDRESS = "127.0.0.2"
REQUESTS = {
    "model": ("/predict", {"inputs": [[[1.0, 2.0]], 3]}, lambda found: found["outputs"]["data"] == [[3.0, 6.0]]),
    "playground": ("/run", {"source": "def f(n: int) -> int:\n    return n + 1\n", "call": "f(41)"}, lambda found: found["result"] == "42"),
}  # fmt: skip
OVERLOAD_STATUSES = {429, 503, 504}


class Client:
    """Client that sends requests at scheduled times, on a single connection or on a new connection per
    request."""

    def __init__(self, port, kind, persistent):
        path, value, self.is_right = REQUESTS[kind]
        self.port, self.persistent = port, persistent
        self.request = request("POST", path, json.dumps(value).encode(), JSON)
        self.turn = asyncio.Lock()
        self.streams = None

    async def ask(self, due, record):
        async with self.turn if self.persistent else asyncio.Lock():
            reader, writer = self.streams or await asyncio.open_connection(
                "127.0.0.1", self.port, local_addr=None if self.persistent else (NEW_CLIENT_ADDRESS, 0)
            )
            writer.write(self.request)
            status, headers, body = await read_response(reader)
            record((status, time.perf_counter() - due))
            assert status in OVERLOAD_STATUSES or (status == 200 and self.is_right(json.loads(body))), (status, body)
            is_kept = self.persistent and headers.get("connection") != "close"
            self.streams = (reader, writer) if is_kept else None
            if not is_kept:
                writer.close()


async def main(port, kind, rate, persistent):
    enough = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    clients = [Client(port, kind, persistent) for _ in range(CLIENT_COUNT)]
    found, pending, due = [], [], time.perf_counter()
    is_ready = False
    while not enough.done():
        if not is_ready and len(found) >= (RESPONSES_UNTIL_TRUSTED * CLIENT_COUNT if persistent else 1):
            is_ready, found = True, []
            print("ready", flush=True)
        due += 1 / rate
        await asyncio.sleep(max(0, due - time.perf_counter()))
        pending.append(asyncio.ensure_future(clients[len(pending) % CLIENT_COUNT].ask(due, found.append)))
    await asyncio.gather(*pending)
    print(json.dumps(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("kind", choices=REQUESTS)
    parser.add_argument("rate", type=float)
    parser.add_argument("--new", action="store_true")
    words = parser.parse_args()
    asyncio.run(main(words.port, words.kind, words.rate, not words.new))
