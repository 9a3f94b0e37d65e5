"""Debug assertions (invariant checks) of verified properties, only in checked builds (`TS_CHECKED=1`).

In the example, `require` aborts the process with the message "an index" if the condition is false:

    if CHECKED:
        require(0 <= i < n, b"an index")
"""

cdef extern from *:
    """
    #ifdef TS_CHECKED
    #define TS_IS_CHECKED 1
    #else
    #define TS_IS_CHECKED 0
    #endif
    #define ts_require(held, what) do { if (!(held)) Py_FatalError(what); } while (0)
    """
    const bint CHECKED "TS_IS_CHECKED"
    void require "ts_require"(bint held, const char *what) noexcept nogil
