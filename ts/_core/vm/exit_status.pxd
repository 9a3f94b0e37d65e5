"""Exit statuses of the interpreter loop and of machine code."""


cdef enum ExitStatus:
    """Exit statuses of the interpreter loop; numbers below 100 are those of `scalar.Status`."""
    DONE = 100
    FAILED = 101                # an exception is set
    METER_ZERO = 102
    CALL_SLOWLY = 103           # callee not compiled, or no room for its frame; the CALL is executed again
    NEEDS_GIL = 104
    BAD_INDEX = 105
    BAD_KEY = 106               # the key is in r[c]
    BAD_CAST = 107
    BAD_LENGTH = 108
    RAISED = 109                # RAISE executed: message in r[a], class in r[b]
    FORKING = 110               # at a FORK
    WAITING = 111               # at a WAIT; from `advance`: its future is unfinished, call again later
    SUSPENDED = 112             # from `advance`, not from the loop: suspended by `look_up`
    BAD_ATTRIBUTE = 113         # slot c of r[b] is not set
    BREAKING = 114              # at a BREAK
    BAD_ELEMENT = 115           # tensor index out of range; the pool has the registers of tensor and indices
    HOT = 116                   # not from the loop: offer the innermost frame's code to the compiler
