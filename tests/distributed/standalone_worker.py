"""Standalone worker: `python -m tests.distributed.standalone_worker SECRET` prints its address and runs until
its standard input ends."""

import logging
import sys

from tests.distributed import rpc_worker
from tests.distributed.fork_server import shorten_timeouts
from tests.distributed.process_groups import free_port
from ts.distributed import rpc
from ts.distributed.transport import Security
from ts.distributed.rpc.state import current

if __name__ == "__main__":
    logging.disable()
    shorten_timeouts()
    given = rpc_worker.options(free_port(), secret=None)
    given.security = Security(secret=bytes.fromhex(sys.argv[1]))
    rpc.init_rpc("worker0", rank=0, world_size=1, rpc_backend_options=given)
    print(current().directory.peers[0].address, flush=True)
    sys.stdin.read()
    rpc.shutdown()
