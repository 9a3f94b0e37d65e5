"""Frames on the heap: a running program is a linked list of them, kept by its State.

    chunk   [ frame | registers ][ frame | registers ][ ...  free ... ]        top: address of the next frame

Frames are pushed and popped at the top of a list of chunks, so a call increments a pointer and copies the
callee's register template.  A State belongs to one program at a time; the States of finished programs are
reused.  All functions require the GIL, or a State that no other thread can access.
"""

from cpython.pystate cimport PyThreadState
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from ts._core.vm.code cimport Code, Instruction
from ts._core.value.ivalue cimport IValue, release


cdef struct Frame:
    Frame *caller
    PyObject *code                # borrowed from its Function or from the creator of the program
    const Instruction *pc         # next instruction of a frame that does not run
    int32_t result                # byte offset of the caller's result register
    int32_t padding
    # followed by the registers


cdef struct Chunk:
    Chunk *previous
    Chunk *next
    char *end
    char *top                     # end of the chunk's frames, while a later chunk is in use


cdef struct State:
    Frame *frame                  # the innermost frame
    char *top
    char *end
    Chunk *chunk
    IValue result                 # result of the finished program
    PyThreadState *thread         # set while the program runs without the GIL
    int64_t budget                # remaining meter count at loop exit
    int64_t quantum               # initial meter count
    double looked                 # time of the last check for signals
    int64_t slice                 # budget until the program is suspended, INT64_MAX for never
    bint suspending               # set by other threads: suspend at the next meter check
    int depth
    int depth_limit
    State *next                   # in the list of unused states


cdef inline char *frame_registers(Frame *frame) noexcept nogil:
    return <char *>(frame + 1)


cdef inline size_t frame_size(Code code) noexcept nogil:
    return sizeof(Frame) + code.register_count * sizeof(IValue)


cdef inline Frame *push_frame(State *state, Code code) noexcept nogil:
    """Push and return a frame with initialized registers; NULL if the chunk is full."""
    cdef char *place = state.top
    cdef size_t size = frame_size(code)
    if size > <size_t>(state.end - place):
        return NULL
    cdef Frame *frame = <Frame *>place
    memcpy(frame + 1, code.template, size - sizeof(Frame))
    frame.caller = state.frame
    frame.code = <PyObject *>code
    frame.pc = code.instructions
    state.frame = frame
    state.top = place + size
    state.depth += 1
    return frame


# Convert the innermost frame, which has only its arguments, to a frame of other code with equal
# parameters; NULL if the chunk is full.  Not inlined, to save machine registers of the loop.
cdef Frame *exchange_code(State *state, Code code) noexcept nogil


cdef inline void release_registers(Frame *frame) noexcept nogil:
    """Release the references of a frame's local registers."""
    cdef int32_t *owned = (<Code>frame.code).owned
    cdef int i
    for i in range((<Code>frame.code).owned_count):
        release(<IValue *>frame_registers(frame) + owned[i])


cdef inline void pop_frame(State *state) noexcept nogil:
    """Remove the innermost frame; its registers must be released before."""
    cdef Frame *frame = state.frame
    state.frame = frame.caller
    state.top = <char *>frame
    state.depth -= 1
    if state.top == <char *>(state.chunk + 1) and state.chunk.previous != NULL:
        leave_chunk(state)


cdef State *take_state() except NULL
# Release all frames of a program and their registers.
cdef void release_frames(State *state) noexcept
cdef void give_state(State *state) noexcept
# Enter a new chunk with room for a frame of `size` bytes; raise MemoryError if the allocation fails.
cdef int enter_chunk(State *state, size_t size) except -1
cdef void leave_chunk(State *state) noexcept nogil
# Move the innermost frame to a chunk with room for the registers of `code`, before `exchange_code`.
cdef int move_frame(State *state, Code code) except -1


cdef inline int first_frame(State *state, Code code) except -1:
    """Push the first frame of a program."""
    if push_frame(state, code) == NULL:
        enter_chunk(state, frame_size(code))
        push_frame(state, code)
    state.frame.result = 0
    return 0
