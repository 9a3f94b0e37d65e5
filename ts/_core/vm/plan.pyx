"""Selection of specialized code by the arguments of a call.

In: the arguments, in the first registers of a frame.  Out: the specialization whose guards match, or
general code.

    plans = Specializations("f", specs, result, [0, 2], make, make_general)       guards x and b of f(x, n, b)
    make([x, b])                  called once per combination of guard words; later calls reuse the code
"""

from ts._core.tensor.ndarray cimport PyArrayObject, ndim_of
from ts._core.tensor.tensor cimport BACKEND_CPU, Tensor, is_layered, needs_grad
from ts._core.value.ivalue cimport TAG_NONE, TAG_OBJECT, box_shallow

from ts._core.value.build_lock import build_lock

MAX_SPECIALIZATIONS_PER_FUNCTION = MAX_PLANS       # for reports
cdef int together = 0              # number of specializations in the process
cdef object check = None           # check(code, specializations) raises an error if the signatures differ


cdef int set_check(object function) except -1:
    global check
    check = function
    return 0


cdef uint32_t word_of(const IValue *x) noexcept:
    """Return the guard word of an argument; NO_WORD if it cannot be specialized."""
    cdef int rank
    if x.tag == TAG_NONE:
        return IS_NONE
    if x.tag != TAG_OBJECT or not isinstance(<object>x.v.o, Tensor):
        return A_VALUE + <uint32_t>x.tag
    cdef Tensor t = <Tensor>x.v.o
    if is_layered(t):
        return NO_WORD
    rank = ndim_of(<PyArrayObject *>t.array) if t.backend == BACKEND_CPU else rank_elsewhere(t)
    if not 0 <= rank < 256:
        return NO_WORD
    return (
        <uint32_t>A_TENSOR | <uint32_t>(WANTS_GRADIENT if needs_grad(t) else 0) | <uint32_t>t.backend << 24
        | <uint32_t>(t.device_index + 1) << 16 | <uint32_t>rank << 8 | <uint32_t>t.scalar_type
    )


cdef int rank_elsewhere(Tensor t) noexcept:
    """Return the rank of an array that is not on the CPU; -1 if it is unknown."""
    try:
        return len(t.array.shape)
    except Exception:
        return -1


cdef inline bint holds(const uint32_t *words, const uint32_t *plan, int count) noexcept:
    cdef int i
    for i in range(count):
        if words[i] != plan[i]:
            return False
    return True


cdef int find(Specializations p, const uint32_t *words) noexcept:
    """Return the index of the specialization with these guard words; -1 if there is none."""
    cdef int plan
    if p.last < p.count and holds(words, p.words[p.last], p.guards):
        return p.last
    for plan in range(p.count):
        if holds(words, p.words[plan], p.guards):
            p.last = plan
            return plan
    return -1


cdef bint may_plan(Specializations p, const uint32_t *words) noexcept:
    """Return whether the limits allow a new specialization for these guard words."""
    cdef int i
    if p.count >= MAX_PLANS or together >= MAX_BATCH:
        return False
    for i in range(p.guards):
        if words[i] == NO_WORD:
            return False
    return True


cdef void read_words(Specializations p, const IValue *r, uint32_t *words) noexcept:
    cdef int i
    for i in range(p.guards):
        words[i] = word_of(&r[p.at[i]])


cdef PyObject *code_of(Specializations p, const IValue *r, bint entered) noexcept:
    cdef uint32_t words[MAX_GUARDS]
    cdef PyObject *code
    cdef int plan
    read_words(p, r, words)
    plan = find(p, words)
    if plan < 0 and may_plan(p, words):
        return NULL
    code = p.codes[plan] if plan >= 0 and p.codes[plan] != NULL else p.general
    if code == NULL or not entered:
        return code
    if plan >= 0:
        p.runs[plan] += 1
    else:
        p.left += 1
    p.chosen = code
    return code


cdef PyObject *code_for(PyObject *plans, const IValue *r) noexcept:
    return code_of(<Specializations>plans, r, True)


cdef class Specializations:
    def __cinit__(self, str name not None, tuple specs not None, TypeSpec result not None, registers, make, make_general):
        """Guard the arguments in `registers`; raise ValueError if there are too many or one is invalid."""
        self.name, self.specs, self.result = name, specs, result
        self.make, self.make_general = make, make_general
        self.held = []
        self.guards = len(registers)
        if not 0 < len(registers) <= MAX_GUARDS or not 0 <= min(registers) <= max(registers) < len(specs):
            raise ValueError(f"{name}: no plans can guard the arguments {registers}")
        for i, register in enumerate(registers):
            self.at[i] = register

    def __dealloc__(self):
        global together
        together -= self.count

    @property
    def registers(self):
        """Return the registers of the guarded arguments."""
        return [self.at[i] for i in range(self.guards)]

    @property
    def made(self):
        """Return (code, number of entries) for each specialization; `code` is None for general code."""
        return [(None if self.codes[i] == NULL else <object>self.codes[i], self.runs[i]) for i in range(self.count)]

    @property
    def chosen_plan(self):
        """Return the index of the specialization that was entered last; None for general code or before the first
        call.
        """
        for i in range(self.count):
            if self.codes[i] != NULL and self.codes[i] == self.chosen:
                return i
        return None

    @property
    def general_code(self):
        """Return the general code; None if it is not compiled yet."""
        return None if self.general == NULL else <object>self.general

    cdef int settle(self, IValue *r) except -1:
        """Create the specialization for these arguments, unless it exists, while holding the build lock."""
        global together
        cdef uint32_t words[MAX_GUARDS]
        cdef int plan
        with build_lock():
            read_words(self, r, words)
            plan = find(self, words)
            if plan < 0 and may_plan(self, words):
                code = self.make([box_shallow(&r[self.at[i]]) for i in range(self.guards)])
                # checked again, because `make` may have created it recursively
                if find(self, words) < 0 and may_plan(self, words):
                    plan = self.count
                    if code is not None:
                        self.codes[plan] = self.adopt(code)
                    self.words[plan] = words
                    self.count += 1
                    together += 1
            plan = find(self, words)
            if plan < 0 or self.codes[plan] == NULL:
                self.code_for_all()
        return 0

    cpdef object code_for_all(self):
        """Return the general code; it is compiled at the first call."""
        if self.general == NULL:
            with build_lock():
                if self.general == NULL:
                    self.general = self.adopt(self.make_general())
        return <object>self.general

    cdef PyObject *adopt(self, object code) except NULL:
        """Check the signature of new code, and keep the code alive."""
        check(code, self)
        self.held.append(code)
        return <PyObject *>code
