"""Exit statuses of the interpreter loop and of machine code, each of which requests a slow path."""


cdef enum ExitStatus:
    """Exit statuses of the interpreter loop. Numbers below 100 are from `scalar.Status`."""
    DONE = 100
    FAILED = 101                # an exception is set
    METER_ZERO = 102
    # At a CALL for which the caller of the loop must call `call_slow_path`, for example because the callee is
    # not compiled. The CALL is then executed again.
    CALL_SLOW_PATH = 103
    NEEDS_GIL = 104
    BAD_INDEX = 105
    BAD_KEY = 106               # the dict has no entry for the key in r[c]
    BAD_CAST = 107
    BAD_LENGTH = 108
    RAISED = 109                # a RAISE was executed, with the message in r[a] and the class in r[b]
    FORKING = 110               # at a FORK instruction
    WAITING = 111               # at a WAIT instruction. `advance` returns it if the future is unfinished.
    SUSPENDED = 112  # the program must be suspended. `advance` returns this status, the loop does not.
    BAD_ATTRIBUTE = 113         # slot c of r[b] is unset
    BREAKING = 114              # at a BREAK instruction
    # tensor index out of range. The operand pool contains the registers of the tensor and the indices.
    BAD_ELEMENT = 115
    HOT = 116  # the code of the innermost frame must be compiled to machine code. Set by `advance`, not by the loop.
