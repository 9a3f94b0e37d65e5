"""Exit statuses of the interpreter loop and of machine code."""


cdef enum ExitStatus:
    """Exit statuses of the interpreter loop. Numbers below 100 are from `scalar.Status`."""
    DONE = 100
    FAILED = 101                # an exception is set
    METER_ZERO = 102
    # the callee is not compiled, or its frame needs more memory. The CALL is executed again.
    CALL_SLOW_PATH = 103
    NEEDS_GIL = 104
    BAD_INDEX = 105
    BAD_KEY = 106               # dict lookup failed for the key in r[c]
    BAD_CAST = 107
    BAD_LENGTH = 108
    RAISED = 109                # a RAISE was executed, with the message in r[a] and the class in r[b]
    FORKING = 110               # at a FORK instruction
    WAITING = 111               # at a WAIT instruction, returned by `advance` if the future is unfinished
    SUSPENDED = 112             # returned by `advance` only: `check_signals_and_limits` suspended the program
    BAD_ATTRIBUTE = 113         # slot c of r[b] is unset
    BREAKING = 114              # at a BREAK instruction
    BAD_ELEMENT = 115           # tensor index out of range. The pool has the registers of tensor and indices.
    HOT = 116                   # not returned by the loop: request compilation of the code of the innermost frame
