"""Why the loop is left, and machine code."""


cdef enum ExitStatus:
    """Exit statuses of the interpreter loop; numbers below 100 are those of `scalar.Status`."""
    DONE = 100
    FAILED = 101                # an exception is set
    METER_ZERO = 102
    CALL_SLOWLY = 103           # the callee has no code, or its frame no room; run the CALL again
    NEEDS_GIL = 104
    BAD_INDEX = 105
    BAD_KEY = 106               # the key is in r[c]
    BAD_CAST = 107
    BAD_LENGTH = 108
    RAISED = 109                # by the script: message in r[a], class in r[b]
    FORKING = 110               # a FORK was read
    WAITING = 111               # a WAIT was read; of `advance`: its future is not finished, run it again then
    SUSPENDED = 112             # not set by the loop: `look_up` was asked to suspend the program
    BAD_ATTRIBUTE = 113         # slot c of r[b] is not set
    BREAKING = 114              # a BREAK was read
    BAD_ELEMENT = 115           # there is no such element; the tensor and its indices are in the pool
    HOT = 116                   # not by the loop: the innermost frame's code is to be offered for machine code
