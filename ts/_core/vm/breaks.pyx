"""Where a debugger stops programs, and what it sees of them there.

In: a program at a BREAK, which has a place's number.  Out: on with the program, or a call of `on_stop` with
the program as a `PausedProgram`, which is on with the program when it returns, and ends it when it raises.

    breaks = Breaks(on_stop, on_failure)
    place = breaks.new_place(armed=False)       the lowering emits BREAK there
    breaks.arm(place, True)                     a breakpoint: every program stops
    breaks.go(stopped, 2)                       that program stops at the next place in at most 2 nested calls

Code for debugging names its Breaks among its functions, so that programs need not know that they are
debugged, and others have nothing to do with it.
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
        """`on_stop(stopped, place, armed)`, `on_failure(stopped, error)`."""
        self.on_stop, self.on_failure = on_stop, on_failure

    def new_place(self, bint armed=False, bint at_return=False):
        """The number of a new place."""
        self.flags.append((ARMED if armed else 0) | (AT_RETURN if at_return else 0))
        return len(self.flags) - 1

    def arm(self, int place, bint armed):
        """Whether all programs stop there."""
        self.flag(place)[0] = (self.flag(place)[0] & ~ARMED) | (ARMED if armed else 0)

    cdef char *flag(self, int place) except NULL:
        if not 0 <= place < len(self.flags):
            raise IndexError(f"there is no place {place} to stop at")
        return PyByteArray_AS_STRING(self.flags) + place

    def go(self, PausedProgram stopped, depth=EVERYWHERE, return_depth=0):
        """Let this program stop next in at most `depth` nested calls; without one, whichever comes next."""
        self.stepping = NULL if stopped is None else stopped.state
        self.depth, self.return_depth = depth, return_depth

    cdef int reach(self, State *state, int place) except -1:
        cdef char flags = self.flag(place)[0]
        cdef int depth = self.return_depth if flags & AT_RETURN else self.depth
        if not flags & ARMED and (state.depth > depth or (self.stepping != NULL and self.stepping != state)):
            return 0
        cdef PausedProgram stopped = PausedProgram.__new__(PausedProgram)
        stopped.state = state
        try:
            self.on_stop(stopped, place, bool(flags & ARMED))
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
        """A number that tells programs that run at the same time from each other."""
        return <size_t>self.state

    @property
    def depth(self):
        """How many calls are under way."""
        return 0 if self.state == NULL else self.state.depth

    def frames(self):
        """(code, number of the instruction) of the calls under way, innermost first."""
        cdef Frame *frame = NULL if self.state == NULL else self.state.frame
        cdef Code code
        found = []
        while frame != NULL:
            code = <Code>frame.code
            found.append((code, max(frame.pc - code.instructions - 1, 0)))
            frame = frame.caller
        return found

    def value(self, int level, int register, bint whole=True):
        """What a register holds in the call `level` calls out; LookupError where that is nothing.

        As Python gets it, or not `whole`: containers and objects as they are in the core.
        """
        cdef Frame *frame = NULL if self.state == NULL else self.state.frame
        cdef IValue *value
        while frame != NULL and level > 0:
            frame = frame.caller
            level -= 1
        if frame == NULL:
            raise LookupError("the program does not stand there any more")
        if not 0 <= register < (<Code>frame.code).register_count:
            raise LookupError(f"there is no register {register}")
        value = <IValue *>frame_registers(frame) + register
        if value.tag == TAG_OBJECT and value.v.o == NULL:
            raise LookupError("it has no value here")
        return box(value) if whole else box_shallow(value)


seal(PausedProgram)
