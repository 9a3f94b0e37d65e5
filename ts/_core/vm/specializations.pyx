"""Function multiversioning, which selects specialized code by type guards on the arguments of a call.

A call runs the specialization whose guards match the arguments, or general code. A specialization is compiled
at the first call with its combination of guards.

In the example, the guarded arguments of f(x, n, b) are x and b. `make([x, b])` compiles a specialization:

    specializations = Specializations("f", specs, result, [0, 2], make, make_general)
"""

from gc import collect

from ts._core.tensor.ndarray cimport PyArrayObject, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, is_layered, needs_grad
from ts._core.value.ivalue cimport TAG_NONE, TAG_OBJECT, box_shallow

from ts._core.value.build_lock import build_lock

MAX_SPECIALIZATIONS_PER_FUNCTION = MAX_SPECIALIZATIONS       # exported to Python, for reports
MAX_GUARDED_ARGUMENTS = MAX_GUARDS                           # exported to Python, for the compiler
cdef int specialization_count = 0              # number of specializations in the process
cdef enum:
    SKIPPED_COLLECTIONS = 1_000    # new specializations that are refused after a collection without effect
cdef int collections_to_skip = 0
cdef object check = None           # check(code, specializations) raises an error if the signatures differ


cdef int set_check(object function) except -1:
    global check
    check = function
    return 0


cdef uint32_t guard_of(const IValue *x) noexcept:
    """Return the guard of an argument, a code for the properties on which specialized code depends.

    For a tensor, these include dtype, rank and device. Return UNSUPPORTED_GUARD if specialization for the
    argument is unsupported.
    """
    cdef int rank
    if x.tag == TAG_NONE:
        return IS_NONE
    if x.tag != TAG_OBJECT or not isinstance(<object>x.v.o, Tensor):
        return A_VALUE + <uint32_t>x.tag
    cdef Tensor t = <Tensor>x.v.o
    if is_layered(t):
        return UNSUPPORTED_GUARD
    rank = ndim_of(<PyArrayObject *>t.array) if t.backend == BACKEND_CPU else rank_elsewhere(t)
    if not 0 <= rank < 256:
        return UNSUPPORTED_GUARD
    return (
        <uint32_t>A_TENSOR | <uint32_t>(REQUIRES_GRAD if needs_grad(t) else 0) | <uint32_t>t.backend << 24
        | <uint32_t>(t.device_index + 1) << 16 | <uint32_t>rank << 8 | <uint32_t>t.scalar_type
    )


cdef int rank_elsewhere(Tensor t) noexcept:
    """Return the rank of a device array, or -1 if it is unknown."""
    try:
        return len(t.array.shape)
    except Exception:
        return -1


cdef inline bint holds(const uint32_t *guards, const uint32_t *expected, int count) noexcept:
    cdef int i
    for i in range(count):
        if guards[i] != expected[i]:
            return False
    return True


cdef int find(Specializations p, const uint32_t *guards) noexcept:
    """Return the index of the specialization with equal guards, or -1 without match."""
    cdef int index
    if p.last < p.count and holds(guards, p.guards[p.last], p.guard_count):
        return p.last
    for index in range(p.count):
        if holds(guards, p.guards[index], p.guard_count):
            p.last = index
            return index
    return -1


cdef int collect_released() except -1:
    """If the process has the maximal number of specializations, free those of functions that are no longer used."""
    global collections_to_skip
    if specialization_count < MAX_SPECIALIZATIONS_OF_PROCESS:
        return 0
    if collections_to_skip:
        collections_to_skip -= 1
        return 0
    collect()
    if specialization_count >= MAX_SPECIALIZATIONS_OF_PROCESS:
        collections_to_skip = SKIPPED_COLLECTIONS
    return 0


cdef bint may_specialize(Specializations p, const uint32_t *guards) noexcept:
    """Return whether the recompilation limits allow a new specialization for these guards."""
    cdef int i
    if p.count >= MAX_SPECIALIZATIONS or specialization_count >= MAX_SPECIALIZATIONS_OF_PROCESS:
        return False
    for i in range(p.guard_count):
        if guards[i] == UNSUPPORTED_GUARD:
            return False
    return True


cdef void read_guards(Specializations p, const IValue *r, uint32_t *guards) noexcept:
    cdef int i
    for i in range(p.guard_count):
        guards[i] = guard_of(&r[p.at[i]])


cdef PyObject *code_of(Specializations p, const IValue *r, bint entered) noexcept:
    cdef uint32_t guards[MAX_GUARDS]
    cdef PyObject *code
    cdef int index
    read_guards(p, r, guards)
    index = find(p, guards)
    if index < 0 and may_specialize(p, guards):
        return NULL
    code = p.codes[index] if index >= 0 and p.codes[index] != NULL else p.general
    if code == NULL or not entered:
        return code
    if index >= 0:
        p.runs[index] += 1
    else:
        p.left += 1
    p.chosen = code
    return code


cdef PyObject *code_for(PyObject *specializations, const IValue *r) noexcept:
    return code_of(<Specializations>specializations, r, True)


cdef class Specializations:
    def __cinit__(self, str name not None, tuple specs not None, TypeSpec result not None, registers, make, make_general):
        """Create the specializations of a function without any code. The arguments in `registers` select the code.

        Raise ValueError for invalid registers and for more than MAX_GUARDS registers.
        """
        self.name, self.specs, self.result = name, specs, result
        self.make, self.make_general = make, make_general
        self.code_references = []
        self.guard_count = len(registers)
        if not 0 < len(registers) <= MAX_GUARDS or not 0 <= min(registers) <= max(registers) < len(specs):
            raise ValueError(f"{name}: specializations cannot guard the arguments {registers}")
        for i, register in enumerate(registers):
            self.at[i] = register

    def __dealloc__(self):
        global specialization_count
        specialization_count -= self.count

    @property
    def registers(self):
        """Return the registers of the guarded arguments."""
        return [self.at[i] for i in range(self.guard_count)]

    @property
    def specialized_codes(self):
        """Return one tuple (code, number of calls that entered the code) per specialization.

        `code` is None for a specialization that runs the general code.
        """
        return [(None if self.codes[i] == NULL else <object>self.codes[i], self.runs[i]) for i in range(self.count)]

    @property
    def chosen_specialization(self):
        """Return the index of the specialization that was entered last.

        Return None if general code was entered last, or before the first call.
        """
        for i in range(self.count):
            if self.codes[i] != NULL and self.codes[i] == self.chosen:
                return i
        return None

    @property
    def general_code(self):
        """Return the general code, or None if it is not compiled yet."""
        return None if self.general == NULL else <object>self.general

    cdef int settle(self, IValue *r) except -1:
        """Create the specialization or general code for the arguments in the registers `r`.

        Hold the build lock meanwhile.

        Do nothing if another thread has created it in the meantime.
        """
        global specialization_count
        cdef uint32_t guards[MAX_GUARDS]
        cdef int index
        with build_lock():
            collect_released()
            read_guards(self, r, guards)
            index = find(self, guards)
            if index < 0 and may_specialize(self, guards):
                code = self.make([box_shallow(&r[self.at[i]]) for i in range(self.guard_count)])
                # Search again, because `make` may have called the function recursively and thus created this
                # specialization
                if find(self, guards) < 0 and may_specialize(self, guards):
                    index = self.count
                    if code is not None:
                        self.codes[index] = self.adopt(code)
                    self.guards[index] = guards
                    self.count += 1
                    specialization_count += 1
            index = find(self, guards)
            if index < 0 or self.codes[index] == NULL:
                self.code_for_all()
        return 0

    cpdef object code_for_all(self):
        """Return the general code, compiled at the first call with double-checked locking."""
        if self.general == NULL:
            with build_lock():
                if self.general == NULL:
                    self.general = self.adopt(self.make_general())
        return <object>self.general

    cdef PyObject *adopt(self, object code) except NULL:
        """Check the signature of new code, and keep the code alive."""
        check(code, self)
        self.code_references.append(code)
        return <PyObject *>code
