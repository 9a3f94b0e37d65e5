"""HTTP behaviour of the server: responses, error format, host and origin checks, isolation of requests."""

import asyncio
import io
import json
import re
import signal
import sys
import time

import numpy as np
import pytest

from tests.serve.client import JSON, NPZ, Connection, read_response, ask, ask_json, request

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.conftest import serving
from ts.cli.main import main


@pytest.fixture(scope="module")
def port(busy):
    """Port of a server of the model `Busy`."""
    with serving(busy, "--seconds", 2, "--bytes", "200M", "--max-body", "1M", "--workers", 4, "--client-seconds", 2, "--batch", 8) as process:
        yield process.port


@pytest.fixture(scope="module")
def playground():
    with serving("--seconds", 1, "--workers", 4) as process:
        yield process.port


def predict(port, *inputs, **headers):
    return ask_json(port, "/predict", {"inputs": list(inputs)}, headers)


def error_of(reply):
    """Return status and code of an error response, after checking its format."""
    status, _, body = reply
    error = json.loads(body)["error"]
    assert set(error) == {"status", "code", "message"} and error["status"] == status
    return status, error["code"]


def get(port, method="GET", path="/", body=b"", headers=None, host="127.0.0.1"):
    return asyncio.run(ask(port, method, path, body, headers, host))


# ---- models ------------------------------------------------------------------------------------------


def test_json(port):
    status, found = predict(port, [[1.5, 2.0]], 2)
    assert (status, found) == (200, {"outputs": {"data": [[3.0, 4.0]], "dtype": "float32", "shape": [1, 2]}})


def test_npz(port):
    out = io.BytesIO()
    np.savez(out, x=np.ones((2, 2), dtype=np.int64), n=np.array(5))
    status, headers, body = get(port, "POST", "/predict", out.getvalue(), NPZ)
    assert (status, headers["content-type"]) == (200, "application/x-npz")
    assert np.load(io.BytesIO(body), allow_pickle=False)["out"].tolist() == [[5, 5], [5, 5]]
    status, headers, body = get(port, "POST", "/predict", out.getvalue(), NPZ | {"Accept": "application/json"})
    assert json.loads(body)["outputs"]["data"] == [[5, 5], [5, 5]]


def test_model_description(port):
    about = json.loads(get(port)[2])
    assert [(each["name"], each["type"], each["optional"]) for each in about["inputs"]] == [
        ("x", "Tensor", False), ("n", "int", True), ("what", "str", True),
    ]  # fmt: skip
    assert json.loads(get(port, path="/healthz")[2]) == {"status": "ok"}


def test_metrics(port):
    predict(port, [1.0])
    status, headers, body = get(port, path="/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = body.decode().splitlines()
    assert all(re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+]+', line) for line in lines)
    values = dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")
    assert int(values['ts_serve_requests_total{path="/predict",status="200"}']) > 0
    assert values['ts_serve_request_seconds_bucket{le="+Inf"}'] == values["ts_serve_request_seconds_count"]


@pytest.mark.parametrize(
    ("inputs", "status", "code"),
    [
        ([[1.0], "x"], 400, "bad_input"),
        ([[1.0], 1, "strange"], 422, "failed"),
        ([[1.0], 1, "loop"], 504, "too_long"),
        ([[1.0], 40, "memory"], 507, "too_much_memory"),
    ],
)
def test_errors_of_models(port, inputs, status, code):
    found = predict(port, *inputs)
    assert (found[0], found[1]["error"]["code"]) == (status, code)


def test_exception_of_a_model_is_reported(port):
    assert "ValueError: strange" in predict(port, [1.0], 1, "strange")[1]["error"]["message"]


def test_uninterruptible_operator_is_killed(port):
    """An operator that cannot be interrupted is stopped by SIGKILL; another worker serves the next request."""
    assert predict(port, [1.0], 25, "text")[0] in (504, 507)
    assert predict(port, [1.0], 3)[1]["outputs"]["data"] == [3.0]


def test_failures_do_not_affect_other_requests_of_a_batch(port):
    """Requests in a batch with failing or endless requests get the same responses as single requests."""

    async def send_all():
        bodies = [{"inputs": [[float(i)], 3]} for i in range(20)]
        bodies[3]["inputs"] += ["strange"]
        bodies[7]["inputs"] += ["loop"]
        bodies[11]["inputs"][0] = "nothing"
        pending = (ask(port, "POST", "/predict", json.dumps(body).encode(), JSON) for body in bodies)
        return await asyncio.gather(*pending)

    found = asyncio.run(send_all())
    assert [status for status, _, _ in found] == [{3: 422, 7: 504, 11: 400}.get(i, 200) for i in range(20)]
    for i in {*range(20)} - {3, 7, 11}:
        assert json.loads(found[i][2])["outputs"]["data"] == [3.0 * i]


def test_endless_requests_do_not_block_others(port):
    """Requests are served while three workers run endless ones."""
    endless = json.dumps({"inputs": [[1.0], 1, "loop"]}).encode()

    async def run_concurrently():
        slow = [asyncio.ensure_future(ask(port, "POST", "/predict", endless, JSON)) for _ in range(3)]
        await asyncio.sleep(0.3)
        done = 0
        async with Connection(port) as connection:
            while not all(task.done() for task in slow):
                body = json.dumps({"inputs": [[1.0], 2]}).encode()
                assert (await connection.ask("POST", "/predict", body, JSON))[0] == 200
                done += 1
        return done, [(await task)[0] for task in slow]

    done, statuses = asyncio.run(run_concurrently())
    assert done > 3 and statuses == [504] * 3


# ---- rejected requests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "headers", "expected"),
    [
        ("GET", "/nothing", {}, (404, "not_found")),
        ("GET", "/../../etc/passwd", {}, (404, "not_found")),
        ("GET", "/%2e%2e/page.html", {}, (404, "not_found")),
        ("GET", "/predict", {}, (405, "bad_method")),
        ("DELETE", "/predict", {}, (405, "bad_method")),
        ("POST", "/healthz", {}, (405, "bad_method")),
        ("POST", "/predict", {}, (415, "bad_type")),
        ("POST", "/predict", {"Content-Type": "text/plain"}, (415, "bad_type")),
        ("POST", "/predict", JSON | {"Content-Encoding": "gzip"}, (415, "bad_type")),
        ("POST", "/predict", JSON | {"Content-Length": "1048577"}, (413, "too_large")),
        ("POST", "/predict", JSON | {"Content-Length": "99999999999999999999"}, (400, "bad_request")),
        ("POST", "/predict", JSON | {"Content-Length": "-1"}, (400, "bad_request")),
        ("POST", "/predict", JSON | {"Content-Length": "1, 2"}, (400, "bad_request")),
        ("POST", "/predict", JSON | {"X": "a" * 10_000}, (400, "bad_request")),
        ("GET", "/ HTTP/1.1\r\nHost: second\r\nX: ", {}, (400, "bad_request")),
        ("G\0T", "/", {}, (400, "bad_request")),
        ("POST", "/predict", JSON | {"Origin": "http://elsewhere.example"}, (403, "bad_origin")),
        ("POST", "/predict", JSON | {"Origin": "null"}, (403, "bad_origin")),
        ("POST", "/predict", JSON | {"Sec-Fetch-Site": "cross-site"}, (403, "bad_origin")),
    ],
)
def test_rejected_requests(port, method, path, headers, expected):
    reply = get(port, method, path, headers=headers)
    assert error_of(reply) == expected
    assert reply[1]["x-content-type-options"] == "nosniff" and "access-control-allow-origin" not in reply[1]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("127.0.0.1:8000", 200), ("[::1]:8000", 200), ("LOCALHOST.:1", 200),
        ("elsewhere.example", 421), ("localhost.elsewhere.example", 421), ("127.0.0.1.elsewhere.example", 421), ("", 421),
    ],
)  # fmt: skip
def test_host_header(port, playground, host, status):
    """Other host names are rejected, even if they resolve to this machine (DNS rebinding)."""
    assert get(port, host=host)[0] == status and get(playground, host=host)[0] == status


def test_chunked_body_size_limit(port):
    async def chunked():
        async with Connection(port) as connection:
            head = request("POST", "/predict", headers=JSON | {"Transfer-Encoding": "chunked"}).replace(b"Content-Length: 0\r\n", b"")
            connection.writer.write(head)
            for _ in range(20):
                connection.writer.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
            return await read_response(connection.reader)

    assert error_of(asyncio.run(chunked())) == (413, "too_large")


def test_slow_clients_time_out(port):
    """An incomplete header closes the connection; an incomplete body gets an error response."""

    async def slow():
        async with Connection(port) as body:
            body.writer.write(request("POST", "/predict", b"x" * 10, JSON)[:-5])
            start = time.monotonic()
            reply = await read_response(body.reader)
            return reply, time.monotonic() - start

    async def slow_head():
        async with Connection(port) as head:
            for byte in request("GET", "/healthz", headers={"X": "x" * 100}):
                head.writer.write(bytes([byte]))
                await asyncio.sleep(0.1)
                if head.reader.at_eof():
                    return b""
            return await head.reader.read(1)

    async def both():
        return await asyncio.gather(slow(), slow_head())

    (reply, seconds), head = asyncio.run(both())
    assert error_of(reply) == (408, "slow") and 1.5 < seconds and head == b""


def test_expect_continue(port):
    async def careful(length):
        async with Connection(port) as connection:
            body = json.dumps({"inputs": [[1.0]]}).encode()
            headers = JSON | {"Expect": "100-continue"} | ({"Content-Length": length} if length else {})
            connection.writer.write(request("POST", "/predict", body, headers)[: -len(body)])
            head = await connection.reader.readuntil(b"\r\n\r\n")
            if head != b"HTTP/1.1 100 Continue\r\n\r\n":
                return int(head.split()[1])
            connection.writer.write(body)
            return (await read_response(connection.reader))[0]

    assert asyncio.run(careful(None)) == 200
    assert asyncio.run(careful("2000000")) == 413


def test_pipelined_requests(port):
    """Pipelined requests of one connection are answered in order."""

    async def pipelined():
        async with Connection(port) as connection:
            for i in range(30):
                connection.writer.write(request("POST", "/predict", json.dumps({"inputs": [[float(i)]]}).encode(), JSON))
            return [json.loads((await read_response(connection.reader))[2])["outputs"]["data"] for _ in range(30)]

    assert asyncio.run(pipelined()) == [[float(i)] for i in range(30)]


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", [400]),
        (b"GET http://elsewhere.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", [200]),
        (b"GET /healthz?x=%00%ff#y HTTP/1.1\r\nHost: localhost\r\n\r\n", [200]),
        (b"GET //etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", [404]),
        (b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
        (b"CONNECT elsewhere.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", [404]),
        (b"OPTIONS /predict HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere.example\r\n\r\n", [405]),
        (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", [405]),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + request("GET", "/healthz"), [200, 200]),
        (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", [400]),
        (b"GET / HTTP/1.1\nHost: localhost\n\n", [400]),
        (b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", [400]),
        (b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", [400]),
    ],
    ids=range(14),
)  # fmt: skip
def test_unusual_requests(port, text, statuses):
    """A request text is parsed as the expected number of requests (no request smuggling)."""

    async def sent():
        async with Connection(port) as connection:
            connection.writer.write(text)
            return [(await read_response(connection.reader))[0] for _ in statuses]

    assert asyncio.run(sent()) == statuses


def test_head_response_has_no_body(port):
    async def head():
        async with Connection(port) as connection:
            connection.writer.write(request("HEAD", "/") + request("GET", "/healthz"))
            head = await connection.reader.readuntil(b"\r\n\r\n")
            return head[9:12], (await read_response(connection.reader))[2]

    assert asyncio.run(head()) == (b"200", b'{"status": "ok"}')


def test_disconnected_clients(port):
    async def leave():
        for _ in range(20):
            async with Connection(port) as connection:
                connection.writer.write(request("POST", "/predict", b'{"inputs": [[1.0], 1, "loop"]}', JSON))
                await connection.writer.drain()
        return await ask(port, "POST", "/predict", b'{"inputs": [[1.0]]}', JSON)

    assert asyncio.run(leave())[0] == 200


# ---- start and shutdown --------------------------------------------------------------------------


@pytest.mark.long
def test_open_requests_complete_at_shutdown(busy):
    with serving(busy, "--seconds", 1) as process:

        async def stopped():
            pending = asyncio.ensure_future(ask(process.port, "POST", "/predict", b'{"inputs": [[1.0], 1, "loop"]}', JSON))
            await asyncio.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            return await pending

        assert error_of(asyncio.run(stopped())) == (504, "too_long")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["absent.pt"], 2, "no such file: absent.pt"),
        ([__file__], 2, "is not an archive"),
        (["--port", "70000"], 2, "--port must be"),
        (["--seconds", "0"], 2, "--seconds must be more than 0"),
        pytest.param(["{bad}"], 1, "cannot serve", marks=pytest.mark.long),
        (["{model}:absent"], 1, "has no method 'absent'; it has: forward"),
    ],
)
def test_start_errors(busy, tmp_path, capfd, words, code, message):
    (tmp_path / "bad.pt").write_bytes(b"PK nothing")
    words = [word.format(bad=tmp_path / "bad.pt", model=busy) for word in words]
    assert main(["serve", *words]) == code
    error = capfd.readouterr().err
    assert message in error and "Traceback" not in error


# ---- the playground ----------------------------------------------------------------------------------

ADD = {"source": "def f(n: int) -> int:\n    return n + 1\n", "call": "f(1)"}


def test_programs(playground):
    status, found = ask_json(playground, "/run", ADD)
    assert (status, found["result"], found["error"]) == (200, "2", None)


def test_programs_run_concurrently(playground):
    """Endless programs are stopped, one of them by SIGKILL; a short one completes before."""
    endless = {"source": "def f(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\n", "call": "f(1)"}
    stuck = {
        "source": "def f(n: int) -> int:\n    s = 'a'\n    for _ in range(25):\n        s = s + s\n    while n > 0:\n"
        "        n += len(s.replace('a', 'b'))\n    return n\n",
        "call": "f(1)",
    }

    async def run(program):
        start = time.monotonic()
        _, _, body = await ask(playground, "POST", "/run", json.dumps(program).encode(), JSON)
        return json.loads(body), time.monotonic() - start

    async def run_concurrently():
        return await asyncio.gather(run(endless), run(endless), run(stuck), run(ADD))

    first, second, third, (quick, seconds) = asyncio.run(run_concurrently())
    assert first[0]["error"]["kind"] == second[0]["error"]["kind"] == "TimeExceeded"
    assert third[0]["error"]["kind"] in ("TimeExceeded", "Ended", "MemoryExceeded")
    assert quick["result"] == "2" and seconds < first[1]


@pytest.mark.parametrize(
    ("value", "headers", "expected"),
    [
        (ADD, {"Origin": "http://elsewhere.example"}, (403, "bad_origin")),
        (ADD, {"Content-Type": "text/plain"}, (415, "bad_type")),
        ({"source": 1}, {}, (400, "bad_input")),
        ({"source": "", "call": "", "more": ""}, {}, (400, "bad_input")),
        ({"source": "\ud800"}, {}, (400, "bad_input")),
        ({"source": "\0"}, {}, (400, "bad_input")),
        (b"[" * 100_000, {}, (400, "bad_input")),
        ({"source": "#" * 300_000}, {}, (413, "too_large")),
    ],
)
def test_rejected_programs(playground, value, headers, expected):
    status, found = ask_json(playground, "/run", value, headers)
    assert (status, found["error"]["code"]) == expected


def test_content_security_policy(playground):
    for path, kind in (("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")):
        status, headers, body = get(playground, path=path)
        assert status == 200 and headers["content-type"].startswith(kind) and body
        assert "default-src 'none'; script-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert not re.search(rb"(?:src|href)=\"(?:https?:)?//|<script>|\bon\w+=\"|style=\"|innerHTML|eval\(", body)


def test_workers_do_not_inherit_secrets(monkeypatch):
    """Workers inherit only listed variables of the environment, and HOME only for models."""
    from ts.serve import fork_server_client

    monkeypatch.setenv("SECRET_OF_THE_TEST", "x")
    monkeypatch.setenv("TS_RPC_SECRET", "x")
    monkeypatch.setenv("HOME", "/home/user")
    seen = {}
    monkeypatch.setattr(fork_server_client.subprocess, "Popen", lambda command, **options: seen.update(options) or 1 / 0)
    for kind, expected_home in (("program", None), ("model", "/home/user")):
        with pytest.raises(ZeroDivisionError):
            asyncio.run(fork_server_client.ForkServer({"kind": kind}).start())
        assert not {"SECRET_OF_THE_TEST", "TS_RPC_SECRET"} & seen["env"].keys()
        assert seen["env"]["PATH"] and seen["env"].get("HOME") == expected_home


def test_workers_have_different_seeds(playground):
    """Forked workers draw different random numbers."""
    program = {"source": "def f() -> float:\n    return float(torch.rand(1))\n", "call": "f()"}
    found = {ask_json(playground, "/run", program)[1]["result"] for _ in range(3)}
    assert len(found) == 3


def test_missing_aiohttp_error(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    assert main(["serve"]) == 1
    assert "pip install 'torchscript-ts[serve]'" in capsys.readouterr().err
