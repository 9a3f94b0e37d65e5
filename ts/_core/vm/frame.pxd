"""Call stack of a running program on the heap, with bump allocation of stack frames in chunks.

The call stack is a list of chunks. Each chunk contains frames, their registers and free memory:

    [ frame | registers ][ frame | registers ][ ...  free ... ]        `top` is the address of the next frame

A State represents a call stack. It belongs to one program at a time, and is reused when this program has
finished. All functions require the GIL, or a State that no other thread can access.
"""

from cpython.pystate cimport PyThreadState
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from ts._core.vm.code cimport Code, Instruction
from ts._core.value.ivalue cimport IValue, release


cdef struct Frame:
    Frame *caller
    PyObject *code                # borrowed reference to the Code, which a Function or the suspended program owns
    # Next instruction of the frame. While the frame runs, this field is outdated, because the loop uses a
    # local variable instead.
    const Instruction *pc
    int32_t result                # byte offset of the result register in the caller's frame
    int32_t padding
    # The registers of the frame follow the struct in memory.


cdef struct Chunk:
    Chunk *previous
    Chunk *next
    char *end
    char *top                     # end of the frames in this chunk. Valid only while a later chunk is in use.


cdef struct State:
    Frame *frame                  # the innermost frame
    char *top
    char *end
    Chunk *chunk
    IValue result                 # result of the finished program
    PyThreadState *thread         # thread state of a program that has released the GIL, else NULL
    # Number of steps (backward jumps and calls) until signals and limits are checked. While the loop runs, it
    # counts down a local variable. It writes the variable back to this field when it returns.
    int64_t budget
    int64_t quantum               # initial value of `budget` after the last check
    # time at which the program last acquired the GIL to check for signals or to let other threads run
    double last_check_time
    int64_t slice  # number of steps until the program is suspended, or INT64_MAX if it is never suspended
    bint suspending               # set by other threads to suspend the program at its next check of signals and limits
    int depth
    int depth_limit
    State *next                   # link in the list of unused States


cdef inline char *frame_registers(Frame *frame) noexcept nogil:
    return <char *>(frame + 1)


cdef inline size_t frame_size(Code code) noexcept nogil:
    return sizeof(Frame) + code.register_count * sizeof(IValue)


cdef inline Frame *push_frame(State *state, Code code) noexcept nogil:
    """Push a frame with initialized registers and return it, or return NULL if the chunk is full."""
    cdef char *base = state.top
    cdef size_t size = frame_size(code)
    if size > <size_t>(state.end - base):
        return NULL
    cdef Frame *frame = <Frame *>base
    memcpy(frame + 1, code.template, size - sizeof(Frame))
    frame.caller = state.frame
    frame.code = <PyObject *>code
    frame.pc = code.instructions
    state.frame = frame
    state.top = base + size
    state.depth += 1
    return frame


# Replace the code of the innermost frame, which has not executed anything yet. The new code has the same
# parameters. Return NULL if the chunk has too little memory for its registers. The function is not inlined,
# because the loop would then need more machine registers.
cdef Frame *exchange_code(State *state, Code code) noexcept nogil


cdef inline void release_registers(Frame *frame) noexcept nogil:
    """Release the references of a frame's local registers."""
    cdef int32_t *owned = (<Code>frame.code).owned
    cdef int i
    for i in range((<Code>frame.code).owned_count):
        release(<IValue *>frame_registers(frame) + owned[i])


cdef inline void pop_frame(State *state) noexcept nogil:
    """Remove the innermost frame. The caller must have released its registers."""
    cdef Frame *frame = state.frame
    state.frame = frame.caller
    state.top = <char *>frame
    state.depth -= 1
    if state.top == <char *>(state.chunk + 1) and state.chunk.previous != NULL:
        leave_chunk(state)


cdef State *allocate_state() except NULL
# Release all frames of a program and the objects in their registers.
cdef void release_frames(State *state) noexcept
cdef void release_state(State *state) noexcept
# Enter a new chunk with memory for a frame of `size` bytes. Raise MemoryError if the allocation fails.
cdef int enter_chunk(State *state, size_t size) except -1
cdef void leave_chunk(State *state) noexcept nogil
# Move the innermost frame to a chunk that has memory for the registers of `code`. This is called before
# `exchange_code`.
cdef int move_frame(State *state, Code code) except -1


cdef inline int first_frame(State *state, Code code) except -1:
    """Push the first frame of a program."""
    if push_frame(state, code) == NULL:
        enter_chunk(state, frame_size(code))
        push_frame(state, code)
    state.frame.result = 0
    return 0
