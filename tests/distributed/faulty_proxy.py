"""Proxy between two processes that delays, holds or cuts connections, also in the middle of a message.

proxy = Proxy("ts://127.0.0.1:4711")
proxy.address                       address to connect to
proxy.delay = 0.01                  delay in seconds of each chunk
proxy.hold(), proxy.release()       stop forwarding without data loss; continue
proxy.cut()                         close all connections
proxy.drop_after(1000)              close the connection that forwards the thousandth byte from now
proxy.heal()                        remove all faults
"""

import asyncio
import threading
import time


class Proxy:
    """Forwards connections to another process and injects faults."""

    _loop = None

    def __init__(self, address):
        scheme, _, place = address.rpartition("/")
        self._host, _, port = place.partition(":")
        self._port = int(port)
        self._links = set()
        self._run(self._start())
        self.address = f"{scheme}/127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.heal()

    @classmethod
    def _run(cls, work):
        if cls._loop is None:
            cls._loop = asyncio.new_event_loop()
            threading.Thread(target=cls._loop.run_forever, daemon=True, name="proxy").start()
        return asyncio.run_coroutine_threadsafe(work, cls._loop).result(20)

    def heal(self):
        """Forward all data without delay."""
        self.delay, self._budget = 0.0, None
        self.release()

    def drop_after(self, count):
        """Close a connection in the middle of the data, after a number of bytes."""
        self._budget = count

    def hold(self):
        """Hold all data."""
        self._loop.call_soon_threadsafe(self._free.clear)

    def release(self):
        """Forward held data."""
        self._loop.call_soon_threadsafe(self._free.set)

    def cut(self):
        """Close all connections."""
        self._run(self._cut())

    def close(self):
        """Close the proxy."""
        self._run(self._close())

    async def _start(self):
        self._free = asyncio.Event()
        self._server = await asyncio.start_server(self._link, "127.0.0.1", 0)

    async def _cut(self):
        for writer in list(self._links):
            writer.transport.abort()

    async def _close(self):
        self._server.close()
        self._free.set()
        await self._cut()
        until = time.monotonic() + 10
        while self._links and time.monotonic() < until:
            await asyncio.sleep(0.001)

    async def _link(self, reader, writer):
        self._links.add(writer)
        target_writer = None
        try:
            target_reader, target_writer = await asyncio.open_connection(self._host, self._port)
            self._links.add(target_writer)
            await asyncio.gather(self._pump(reader, target_writer, writer), self._pump(target_reader, writer, target_writer))
        except OSError:
            return  # closing the connection informs the other end
        finally:
            for each in (writer, target_writer):
                if each is not None:
                    each.transport.abort()
                    self._links.discard(each)

    async def _pump(self, reader, writer, back):
        while data := await reader.read(1 << 16):
            await self._free.wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            if self._budget is not None:
                self._budget -= len(data)
                if self._budget <= 0:
                    data = data[: self._budget] if self._budget else data
                    self._budget = None
                    writer.write(data)
                    break
            writer.write(data)
            await writer.drain()
        writer.close()
        back.close()
