"""Where the elements of a group's slots are while it runs.

    Viewed     an input that is a view: an array without an object
    Place      memory, and the steps from element to element and from tile to tile
    Gather     an input with gaps: each tile of it is copied before it is read
    Ends       what reads whole rows of a stage's results, piece by piece
    Run        all of these, with the numbers and loops that were read for this run
    Layout     lengths and strides of all slots, where they are not all alike

The functions are false where a group has no way for the shapes or layouts.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.table cimport End, Tile
from ts.backends.cpu.kernels.tile_plans cimport MOST_BUFFERS, MOST_ENDS, MOST_HEADS, MOST_INPUTS, MOST_SLOTS, MOST_TILES
from ts.backends.cpu.kernels.tile_plans cimport Group, Plan, Schedule

cdef enum:
    MOST_RANK = 8                      # dimensions of what does not lie flat

cdef extern from "numpy/arrayobject.h":
    ctypedef struct ArrayFields "PyArrayObject_fields":
        char *data
        int nd
        npy_intp *dimensions
        npy_intp *strides
        int flags


ctypedef struct Viewed:
    ArrayFields fields
    npy_intp dims[MOST_RANK]
    npy_intp strides[MOST_RANK]


ctypedef struct Place:                 # where the elements of a slot are
    char *data
    npy_intp step                      # from one to the next; 0: there is one
    npy_intp advance                   # from tile to tile, for one element: 0 for buffers


ctypedef struct Gather:                # an input that is copied tile by tile
    int slot
    int ndim
    npy_intp item
    npy_intp shape[MOST_RANK]
    npy_intp strides[MOST_RANK]
    const char *data
    char *tile


ctypedef struct EndPlace:              # an operator at the end
    End end
    int slot                           # whose rows it reads
    npy_intp memory                    # where these are, behind a thread's buffers; NOWHERE: they are a result
    char *out                          # its own results
    double *totals                     # ... of blocks, if rows come in pieces


ctypedef struct Ends:
    int count
    int placed                         # a bit for each of the group's ends that is here
    npy_intp row                       # elements
    npy_intp piece                     # elements that run together: some rows, or some blocks of one
    npy_intp pieces_of_row             # 1, unless they are blocks
    npy_intp bytes                     # of memory for rows
    EndPlace each[MOST_ENDS]
    PyObject *result[MOST_ENDS]        # of the group's ends: arrays, tensors of those that ran by themselves, or NULL


ctypedef struct Run:                   # of a stage
    npy_intp size
    Schedule *schedule
    int first                          # of the schedule's steps
    int last                           # behind it
    int gathers
    Place place[MOST_SLOTS]
    Gather gather[MOST_BUFFERS]
    double numbers[MOST_SLOTS]
    Tile tile[MOST_TILES]
    PyObject *array[MOST_SLOTS]        # of results, and what ends read from arrays of their own
    Ends ends
    PyArrayObject *input[MOST_INPUTS]  # of those that are tensors
    Viewed viewed[MOST_HEADS]


ctypedef struct Layout:
    int ndim
    npy_intp shape[MOST_RANK]          # to which all broadcast
    npy_intp size
    bint in_order                      # inputs, and so results, have outer dimensions outside
    int rank[MOST_SLOTS]
    uint32_t longs[MOST_SLOTS]         # a bit for each dimension that is not 1; such slots may differ in it
    bint is_flat[MOST_SLOTS]
    char *data[MOST_SLOTS]             # of inputs and whole results
    npy_intp strides[MOST_SLOTS][MOST_RANK]


# The arrays of inputs, or those that stand for views of them.
cdef bint place_inputs(Group g, Plan plan, IValue *r, const int32_t *at, Run *run) noexcept
# The elements [start, start + count) in the order in which they are written down, into the tile.
cdef void gather(Gather *g, npy_intp start, npy_intp count) noexcept nogil
cdef bint place_elements(Group g, Plan plan, IValue *r, const int32_t *at, Run *run) noexcept
# All tensors have one shape, and their elements lie in the same order, without gaps; `first`: some of these.
cdef bint place_flat(Group g, Plan plan, Run *run, PyArrayObject **first) noexcept
# The vectors of rows by channels, for tensors that lie like that one; `held` keeps them.
cdef bint place_channels(Group g, Plan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject *like, list held) except -1
# Tensors that broadcast, have gaps, or their dimensions in different orders; and how results lie.
cdef bint lay_slots(Group g, Plan plan, Run *run, Layout *layout) noexcept
# Which steps go together: by the lengths of their results.
cdef bint schedule_by_lengths(Group g, Plan plan, Layout *layout, Schedule *schedule) noexcept
# What a stage reads; `order`: of the dimensions in memory, of all that it makes.
cdef bint place_stage(Group g, Plan plan, Run *run, Layout *layout, int *order) noexcept
# A whole result of a stage, to be read by another.
cdef void lay_whole(Layout *layout, int slot, char *data, int *order, npy_intp item) noexcept
