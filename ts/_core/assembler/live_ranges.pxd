"""Live ranges of virtual registers (`live_ranges.pyx`)."""

cimport cython

from ts._core.assembler.instruction cimport Instruction, Label


@cython.final
cdef class LiveRange:
    """Live ranges and write positions of a virtual register, or of several that share a real register."""
    cdef list starts, ends            # first and end (exclusive) index of each range, in order
    cdef list writes                  # indices of the instructions that write the register, in order

    # Return the end of the range around instruction `index`, or -1 if the register is not live there.
    cdef int end_at(self, int index) except -2
    # Return whether all ranges and writes of `self` are before those of `other`, so that they cannot conflict.
    cdef bint precedes(self, LiveRange other) noexcept
    # Return the indices of the writes of `self` at which `other` is live, or is written, too.
    cdef list writes_in(self, LiveRange other)
    # Merge the live ranges and writes of `other` into this object.
    cdef int absorb(self, LiveRange other) except -1


@cython.final
cdef class LiveRanges:
    """Live ranges of all registers of `code`, except those of constants."""
    cdef list code
    cdef int parameters
    cdef bytearray is_constant        # for each register: 1 if it contains a constant, else 0
    cdef frozenset objects
    # lifetimes   maps a register to its LiveRange, or to None if the register is never written
    # dying       maps an instruction to object registers that it reads or writes, and that are not live after it
    # dead        maps the start of a path after a conditional jump to object registers that only the other path
    #             reads
    cdef list lifetimes
    cdef dict dying, dead
    cdef dict jumps                   # label -> number of forward jumps to it
    # label of a loop head -> registers known to be live there, which grow until a fixed point
    cdef dict loop_heads
    cdef dict alive                   # register that is live at the current instruction -> index of its last read

    cdef int find_jumps(self) except -1
    cdef int check_registers(self, Instruction instruction, tuple registers) except -1
    cdef LiveRange lifetime_of(self, int register)
    cdef int update_loop_heads(self) except -1
    cdef bint collect_ranges(self) except -1
    cdef int record_dying(self, int index, Instruction instruction) except -1
    cdef int end_ranges(self, int index, frozenset live_at_target) except -1
    cdef int join_paths(self, int jump_index, Instruction instruction, Label target, frozenset live_at_target) except -1


cdef LiveRanges find_live_ranges(list code, int parameters, bytearray is_constant, frozenset objects)
