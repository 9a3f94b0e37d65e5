"""Segmented stack of call frames (activation records), with allocation of States and of chunks for frames.

A State represents the stack of one program. Example:

    state = allocate_state()      returns a State with an empty chunk, from the free list if possible
    push_frame(state, code)       returns NULL if the chunk is full
    enter_chunk(state, size)      adds a chunk, so that `push_frame` can succeed
    release_state(state)          returns the State to the free list, with one chunk
"""

from libc.stdint cimport INT64_MAX
from libc.stdlib cimport calloc, free, malloc

cdef enum:
    CHUNK_SIZE = 1 << 16

cdef State *unused = NULL


cdef Chunk *new_chunk(size_t size) except NULL:
    cdef Chunk *chunk = <Chunk *>malloc(sizeof(Chunk) + size)
    if chunk == NULL:
        raise MemoryError()
    chunk.previous = chunk.next = NULL
    chunk.top = <char *>(chunk + 1)
    chunk.end = chunk.top + size
    return chunk


cdef State *allocate_state() except NULL:
    global unused
    cdef State *state = unused
    if state != NULL:
        unused = state.next
        return state
    state = <State *>calloc(1, sizeof(State))
    if state == NULL:
        raise MemoryError()
    state.chunk = new_chunk(CHUNK_SIZE)
    state.top, state.end = state.chunk.top, state.chunk.end
    state.slice = INT64_MAX
    return state


cdef void release_frames(State *state) noexcept:
    while state.frame != NULL:
        release_registers(state.frame)
        pop_frame(state)


cdef void release_state(State *state) noexcept:
    global unused
    while state.chunk.previous != NULL:
        leave_chunk(state)
    free_chunks(state.chunk.next)
    state.chunk.next = NULL
    state.frame = NULL
    state.top = <char *>(state.chunk + 1)
    state.depth = 0
    state.slice = INT64_MAX
    state.suspending = False
    state.next = unused
    unused = state


cdef void free_chunks(Chunk *chunk) noexcept nogil:
    cdef Chunk *after
    while chunk != NULL:
        after = chunk.next
        free(chunk)
        chunk = after


cdef int enter_chunk(State *state, size_t size) except -1:
    cdef Chunk *chunk = state.chunk.next
    if chunk != NULL and size > <size_t>(chunk.end - <char *>(chunk + 1)):
        free_chunks(chunk)
        chunk = state.chunk.next = NULL
    if chunk == NULL:
        chunk = new_chunk(max(<size_t>CHUNK_SIZE, size))
        chunk.previous = state.chunk
        state.chunk.next = chunk
    state.chunk.top = state.top
    state.chunk = chunk
    state.top, state.end = <char *>(chunk + 1), chunk.end
    return 0


cdef void leave_chunk(State *state) noexcept nogil:
    """Return to the previous stack chunk. The current chunk is cached for the next deep call."""
    state.chunk = state.chunk.previous
    state.top, state.end = state.chunk.top, state.chunk.end


cdef int move_frame(State *state, Code code) except -1:
    cdef size_t size = state.top - <char *>state.frame
    # The values are copied, because `enter_chunk` may free the chunk with the frame that contains them
    cdef char *frame_copy = <char *>malloc(size)
    if frame_copy == NULL:
        raise MemoryError()
    memcpy(frame_copy, state.frame, size)
    pop_frame(state)
    try:
        enter_chunk(state, max(size, frame_size(code)))
    except MemoryError:
        release_registers(<Frame *>frame_copy)
        free(frame_copy)
        raise
    memcpy(state.top, frame_copy, size)
    free(frame_copy)
    state.frame = <Frame *>state.top
    state.top += size
    state.depth += 1
    return 0


cdef Frame *exchange_code(State *state, Code code) noexcept nogil:
    cdef Frame *frame = state.frame
    cdef size_t arguments = code.parameter_count * sizeof(IValue), size = frame_size(code)
    if size > <size_t>(state.end - <char *>frame):
        return NULL
    memcpy(frame_registers(frame) + arguments, <char *>code.template + arguments, size - sizeof(Frame) - arguments)
    frame.code = <PyObject *>code
    frame.pc = code.instructions
    state.top = <char *>frame + size
    return frame
