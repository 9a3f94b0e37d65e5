"""Cluster on this machine for the duration of a `with` block, for notebooks, tests and small programs.

In the example, this process joins the cluster under the name "me" and calls a worker:

    with LocalCluster(workers=4) as cluster:
        cluster.join("me")
        rpc.rpc_sync("worker0", scripted, args=(x,))

The cluster runs in a child process. The child process ends when this process ends or is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Self

from ts.distributed.cluster import certificates
from ts.distributed.cluster.status import members
from ts.distributed.rpc import api, state
from ts.distributed.rpc.options import RpcBackendOptions
from ts.distributed.transport import Security

_SHUTDOWN_TIMEOUT_SECONDS: Final = 20.0  # time after which a cluster that has not shut down is killed


class LocalCluster:
    """Scheduler and worker processes of a cluster on this machine, from start-up to `close`.

    workers              number of worker processes
    threads              maximum number of concurrent calls per worker
    allow_python         whether workers run Python functions
    seconds, bytes, fuel, allowed_ops    limits of each call, as for `ts.limits` and `ts.jit.load`
    tls_dir              folder with certificates (None: connections without TLS)
    host                 address that all processes listen on (default: only this machine can connect)
    secret               shared secret (None: a new secret in a file that only this user can read)
    restart              whether workers that exit are restarted
    patience             number of seconds during which workers try to reconnect to the scheduler
    """

    def __init__(
        self,
        workers: int = 4,
        *,
        threads: int = 16,
        allow_python: bool = False,
        seconds: float | None = None,
        bytes: int | str | None = None,
        fuel: int | None = None,
        allowed_ops: Iterable[str] = (),
        tls_dir: str | Path | None = None,
        host: str = "127.0.0.1",
        secret: str | None = None,
        restart: bool = True,
        patience: float = 5.0,
    ) -> None:
        arguments = ["--workers", str(workers), "--host", host, "--threads", str(threads)]
        arguments += ["--patience", str(patience), "--end-with-input"]
        for name, value in {"seconds": seconds, "bytes": bytes, "fuel": fuel, "tls-dir": tls_dir}.items():
            arguments += [] if value is None else [f"--{name}", str(value)]
        arguments += [argument for name in allowed_ops for argument in ("--allow-op", name)]
        arguments += ["--allow-python"] * allow_python + ["--no-restart"] * (not restart)
        self.allow_python = allow_python
        self._folder, self._secret = tls_dir, secret
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ts", "cluster", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(secret),
            # In a new session, Ctrl-C in the terminal does not interrupt the child process.
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self._process.stdout.readline():  # `ts cluster` prints a line when all workers have registered
            code = self._process.wait()
            self.close()
            raise RuntimeError(f"the cluster failed to start (exit code {code}); see its error output above")

    @property
    def security(self) -> Security | None:
        """Return the security settings for processes that join the cluster.

        None means that there are no certificates, and that these processes read the secret from a file.
        """
        if self._folder is not None:
            return certificates.security(self._folder)
        return None if self._secret is None else Security(secret=self._secret.encode())

    @property
    def pid(self) -> int:
        """Id of the child process `ts cluster`, which runs the scheduler."""
        return self._process.pid

    def options(self, **more: Any) -> RpcBackendOptions:
        """Return the options with which a process joins by `init_rpc`. `more` replaces or adds options."""
        defaults = {"init_method": self.address, "security": self.security, "allow_python": self.allow_python}
        return RpcBackendOptions(**{**defaults, **more})

    def join(self, name: str = "program", **more: Any) -> None:
        """Join the cluster with this process until the `with` block ends.

        `more` are options of `init_rpc`.
        """
        api.init_rpc(name, rpc_backend_options=self.options(**more))

    def members(self) -> list[dict[str, Any]]:
        """Return the attributes of each process of the cluster, as `ts.distributed.cluster.status` does."""
        return members(self.address, self.security)

    def close(self) -> None:
        """Shut down the scheduler and all workers."""
        if state.agent is not None and getattr(state.agent.directory, "address", None) == self.address:
            api.shutdown(graceful=False)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_SHUTDOWN_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def __enter__(self) -> Self:
        """Return this cluster."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the cluster."""
        self.close()


def _environment(secret: str | None) -> dict[str, str]:
    """Return the environment of the child process: this process's environment, import path and the secret."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    return environment if secret is None else {**environment, "TS_RPC_SECRET": secret}
