"""Stop points of the debugger, and access to stopped programs.

A BREAK instruction contains the number of a stop point. A program that stops there calls `on_stop` with a
`PausedProgram`. The program continues when `on_stop` returns, and ends if `on_stop` raises an exception.

Example:

    breaks = Breakpoints(on_stop, on_failure)
    stop_point = breaks.add_stop_point(armed=False)       number of a new stop point, for a BREAK
    breaks.arm(stop_point, True)                          all programs now stop at this stop point
"""

from cpython.bytearray cimport PyByteArray_AS_STRING

from ts._core.vm.code cimport Code
from ts._core.vm.frame cimport Frame, State, frame_registers
from ts._core.value.ivalue cimport IValue, TAG_OBJECT, box, box_shallow
from ts._core.value.no_python_construction cimport seal

cdef enum:
    ARMED = 1
    AT_RETURN = 2
    EVERYWHERE = 0x7FFFFFFF


cdef class Breakpoints(BreakpointsBase):
    def __cinit__(self, on_stop, on_failure):
        """Set the callbacks `on_stop(stopped, stop_point, armed)` and `on_failure(stopped, error)`."""
        self.on_stop, self.on_failure = on_stop, on_failure

    def add_stop_point(self, bint armed=False, bint at_return=False):
        """Create a stop point at a line, or at a return if `at_return`, and return the number of the stop point."""
        self.flags.append((ARMED if armed else 0) | (AT_RETURN if at_return else 0))
        return len(self.flags) - 1

    def arm(self, int stop_point, bint armed):
        """Set or clear the breakpoint of a stop point, for all programs."""
        self.flag(stop_point)[0] = (self.flag(stop_point)[0] & ~ARMED) | (ARMED if armed else 0)

    cdef char *flag(self, int stop_point) except NULL:
        if not 0 <= stop_point < len(self.flags):
            raise IndexError(f"unknown stop point {stop_point}: the function has {len(self.flags)}")
        return PyByteArray_AS_STRING(self.flags) + stop_point

    def request_stop(self, PausedProgram stopped, depth=EVERYWHERE, return_depth=0):
        """Make `stopped` stop at the next line or return.

        `depth` and `return_depth` limit their call depths.

        `depth` applies to lines, and `return_depth` to returns. If `stopped` is None, any program may stop
        there.
        """
        self.stepping = NULL if stopped is None else stopped.state
        self.depth, self.return_depth = depth, return_depth

    cdef int reach(self, State *state, int stop_point) except -1:
        cdef char flags = self.flag(stop_point)[0]
        cdef int depth = self.return_depth if flags & AT_RETURN else self.depth
        if not flags & ARMED and (state.depth > depth or (self.stepping != NULL and self.stepping != state)):
            return 0
        cdef PausedProgram stopped = PausedProgram.__new__(PausedProgram)
        stopped.state = state
        try:
            self.on_stop(stopped, stop_point, bool(flags & ARMED))
        finally:
            stopped.state = NULL
        return 0

    cdef int fail(self, State *state, object error) except -1:
        cdef PausedProgram stopped = PausedProgram.__new__(PausedProgram)
        stopped.state = state
        try:
            self.on_failure(stopped, error)
        finally:
            stopped.state = NULL
        return 0


cdef class PausedProgram:
    @property
    def program(self):
        """Return an identifier of the program that is unique among running programs."""
        return <size_t>self.state

    @property
    def depth(self):
        """Return the call depth of the program, or 0 after the program has ended."""
        return 0 if self.state == NULL else self.state.depth

    def frames(self):
        """Return (code, instruction index) for each active frame. The innermost frame is the first."""
        cdef Frame *frame = NULL if self.state == NULL else self.state.frame
        cdef Code code
        result = []
        while frame != NULL:
            code = <Code>frame.code
            result.append((code, max(frame.pc - code.instructions - 1, 0)))
            frame = frame.caller
        return result

    def value(self, int level, int register, bint as_python=True):
        """Return the value of a register in frame number `level`, counted from the innermost frame (0) outwards.

        If `as_python`, core containers and objects are converted to those of Python. Otherwise, they are
        returned without conversion. Raise LookupError if the register is unset.
        """
        cdef Frame *frame = NULL if self.state == NULL else self.state.frame
        cdef IValue *value
        while frame != NULL and level > 0:
            frame = frame.caller
            level -= 1
        if frame == NULL:
            raise LookupError("the frame no longer exists: the program is not stopped in it")
        if not 0 <= register < (<Code>frame.code).register_count:
            raise LookupError(f"unknown register {register}: the frame has {(<Code>frame.code).register_count}")
        value = <IValue *>frame_registers(frame) + register
        if value.tag == TAG_OBJECT and value.v.o == NULL:
            raise LookupError("the register has no value at this instruction")
        return box(value) if as_python else box_shallow(value)


seal(PausedProgram)
