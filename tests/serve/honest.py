"""A client in a process of its own, whose times are not those of whoever attacks beside it.

    python -m tests.serve.honest PORT       asks for little, over and over, until its standard input ends

Out: JSON, `[[status, seconds], ...]`.
"""

import http.client
import json
import select
import sys
import time

BODY = json.dumps({"inputs": [[[1.0, 2.0]], 3]})


def main(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    found = []
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        start = time.perf_counter()
        connection.request("POST", "/predict", BODY, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        found.append((answer.status, time.perf_counter() - start))
        assert answer.status in (503, 504) or json.loads(text)["outputs"]["data"] == [[3.0, 6.0]], text
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
