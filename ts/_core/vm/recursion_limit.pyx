"""C recursion allowance of threads with large stacks, and asynchronous interruption of threads.

    allow(60_000)                   of this thread: C recursion, which some versions of Python count
    separately
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
    """Raise this thread's C recursion limit by `depth`; its stack must be large enough."""
    allow_recursion(depth)


def interrupt(unsigned long thread):
    """Raise KeyboardInterrupt asynchronously in another thread; ignored if it has ended."""
    PyThreadState_SetAsyncExc(thread, KeyboardInterrupt)
