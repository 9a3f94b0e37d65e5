"""`python -m benchmarks.serving_load PORT REQUESTS`: the client of `benchmarks.serving`.

Output: the measurements, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from benchmarks.serving import CONNECTIONS
from tests.serve.client import JSON, load, request


def main(port: int, count: int) -> None:
    """Send requests to the server and print their statuses and times."""
    bodies = [{"inputs": [[[i + j / 16 for j in range(16)]]]} for i in range(50)]
    requests = [request("POST", "/predict", json.dumps(body).encode(), JSON) for body in bodies]
    start = time.process_time()
    statuses, times, seconds = asyncio.run(load(port, requests, count, CONNECTIONS))
    cpu = time.process_time() - start
    found = {
        "statuses": statuses,
        "seconds": seconds,
        "cpu": cpu,
        "median": times[count // 2],
        "late": times[count * 99 // 100],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
