"""Echo server: `python -m tests.distributed.echo_server SECRET` prints its address and answers until its
standard input ends."""

import asyncio
import logging
import sys

from distributed.core import Server, Status

from ts.distributed.transport import TransportLimits, Security
from ts.distributed.transport.multiplexing import answer


async def echo(data=None):
    return data


def fail():
    raise ValueError("no such thing")


async def calls(comm):
    """Answer a call with its data at once, or on a later "all" call (data that begins with "k"), or never."""
    delayed = []

    def handle(call, reply):
        if call == "break":
            comm.abort()
            return
        if call == "all":
            for each, reply_delayed in reversed(delayed):
                reply_delayed(each)
            delayed.clear()
        if call != "never":
            delayed.append((call, reply)) if call[:1] == "k" else reply(call)

    await answer(comm, handle)
    return Status.dont_reply


async def main():
    logging.disable()
    server = Server({"echo": echo, "fail": fail, "calls": calls})
    security = Security(secret=bytes.fromhex(sys.argv[1]), limits=TransportLimits(bytes=1 << 32, frames=100))
    await server.listen("ts://", **security.get_listen_args("worker"))
    print(server.address, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.close()


if __name__ == "__main__":
    asyncio.run(main())
