"""C recursion limit of a thread with a large stack, and asynchronous exceptions in threads (interruption).

Python 3.12 and 3.13 count C recursion separately from Python recursion. Examples:

    allow(60_000)                   raises the C recursion limit of this thread
    interrupt(thread.ident)         raises KeyboardInterrupt in that thread when it next runs Python code
"""

cdef extern from *:
    """
    static void allow_recursion(int depth) {
    #if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
        PyThreadState_Get()->c_recursion_remaining += depth;      /* 3.14 checks the stack pointer instead */
    #endif
    }
    """
    void allow_recursion(int depth) noexcept
    int PyThreadState_SetAsyncExc(unsigned long thread, object exception)


def allow(int depth):
    """Increase the C recursion limit of this thread by `depth`.

    The stack of the thread must be large enough for the new limit.
    """
    allow_recursion(depth)


def interrupt(unsigned long thread):
    """Raise KeyboardInterrupt asynchronously in another thread. Do nothing if the thread has ended."""
    PyThreadState_SetAsyncExc(thread, KeyboardInterrupt)
