"""What a thread with a large stack needs beyond Python's recursion limit, and how it is stopped from outside.

    allow(60_000)                   of this thread: calls within C, which some versions of Python count apart
    interrupt(thread.ident)         KeyboardInterrupt in that thread, as soon as it runs Python again
"""

cdef extern from *:
    """
    static void allow_recursion(int depth) {
    #if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
        PyThreadState_Get()->c_recursion_remaining += depth;      /* 3.14 looks at the stack itself */
    #endif
    }
    """
    void allow_recursion(int depth) noexcept
    int PyThreadState_SetAsyncExc(unsigned long thread, object exception)


def allow(int depth):
    """Let this thread make so many more nested calls within C: its stack has to be large enough for them."""
    allow_recursion(depth)


def interrupt(unsigned long thread):
    """Raise KeyboardInterrupt in another thread; nothing where it has ended."""
    PyThreadState_SetAsyncExc(thread, KeyboardInterrupt)
