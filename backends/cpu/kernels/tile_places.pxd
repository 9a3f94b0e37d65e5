"""Where the elements of a group's slots are while it runs.

    Place      memory, and the steps from element to element and from tile to tile
    Gather     an input with gaps: each tile of it is copied before it is read
    Run        both, for all slots, with the numbers and loops that were read for this run

The functions are false where a group has no way for the shapes or layouts.
"""

from libc.stdint cimport int32_t
from numpy cimport npy_intp

from ts._core.tensor.ndarray cimport PyArrayObject
from ts._core.tensor.tensor cimport Tensor
from ts._core.value.ivalue cimport IValue
from ts.backends.cpu.kernels.kernel cimport MOST_DIMS
from ts.backends.cpu.kernels.table cimport Tile
from ts.backends.cpu.kernels.tile_plans cimport MOST_BUFFERS, MOST_SLOTS, MOST_TILES, Group, Plan

ctypedef struct Place:                 # where the elements of a slot are
    char *data
    npy_intp step                      # from one to the next; 0: there is one
    npy_intp advance                   # from tile to tile, for one element: 0 for buffers


ctypedef struct Gather:                # an input that is copied tile by tile
    int slot
    int ndim
    npy_intp item
    npy_intp shape[MOST_DIMS]
    npy_intp strides[MOST_DIMS]
    const char *data
    char *tile


ctypedef struct Run:
    npy_intp size
    int gathers
    Place place[MOST_SLOTS]
    Gather gather[MOST_BUFFERS]
    double numbers[MOST_SLOTS]
    Tile tile[MOST_TILES]


cdef inline PyArrayObject *array_at(IValue *r, const int32_t *at, int i) noexcept:
    return <PyArrayObject *>(<Tensor>r[at[i]].v.o).array


# The elements [start, start + count) in the order in which they are written down, into the tile.
cdef void gather(Gather *g, npy_intp start, npy_intp count) noexcept nogil
cdef bint place_elements(Group g, Plan plan, IValue *r, const int32_t *at, Run *run) noexcept
cdef bint place_flat(Group g, Plan plan, IValue *r, const int32_t *at, Run *run, PyArrayObject **first) noexcept
cdef bint place_broadcast(Group g, Plan plan, IValue *r, const int32_t *at, Run *run, int *ndim, npy_intp *shape) noexcept
