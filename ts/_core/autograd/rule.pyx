"""Differentiation rules and derivative formulas, built by the function that `set_rules` registers."""

from libc.stdlib cimport free, malloc

from ts._core.value.build_lock import import_lock


cdef class Formula:
    """Derivative formula: `function` receives the values described by `sources`.

    It returns the gradients of the arguments with the numbers in `gives`.
    """

    def __init__(self, Function function not None, sources, tuple gives not None, tuple wanted not None):
        if self.sources != NULL:
            raise TypeError("a formula is made once")
        self.sources = <Source *>malloc(max(len(sources), 1) * sizeof(Source))
        self.given_at = <int *>malloc(max(len(gives), 1) * sizeof(int))
        if self.sources == NULL or self.given_at == NULL:
            raise MemoryError()
        for i, (origin, at, as_tensor) in enumerate(sources):
            self.sources[i].origin, self.sources[i].at, self.sources[i].as_tensor = origin, at, as_tensor
            if origin in (RESULT, RESULTS) or origin >= SIZE:
                self.reads_results = True
        self.count, self.given_count = len(sources), len(gives)
        self.function, self.gives, self.wanted = function, gives, wanted

    def __dealloc__(self):
        free(self.sources)
        free(self.given_at)

    cdef int find_inputs(self, tuple inputs) except -1:
        for i, number in enumerate(self.gives):
            self.given_at[i] = inputs.index(number)
        return 0


cdef class Rule:
    """Differentiation rule of an operator; by default, no gradient flows to the arguments."""

    def __init__(
        self, DifferentiationKind how=PLAIN, str name not None="", inputs=(), results=(), *, int written=-1, bint lists=False,
        bint absent=False, Function decomposition=None, str text not None="", build=None,
    ):
        self.how, self.name, self.inputs, self.results = how, name, tuple(inputs), tuple(results)
        self.written, self.lists, self.absent = written, lists, absent
        self.decomposition, self.text, self.build = decomposition, text, build
        self.formulas = {}
        if len(self.inputs) > MAX_INPUTS:
            raise ValueError(f"{name} has gradients of {len(self.inputs)} arguments")
        for i, number in enumerate(self.inputs):
            self.input_at[i] = number
        self.input_count = len(self.inputs)
        if len(self.results) and max(self.results) >= 64:
            raise ValueError(f"{name} has gradients of result {max(self.results)}")
        for number in self.results:
            self.result_bits |= <uint64_t>1 << <int>number
        self.last = None

    cdef Formula formula(self, uint64_t wanted):
        if self.last is not None and self.last_wanted == wanted:
            return self.last
        result = self.formulas.get(wanted)
        if result is None:
            result = self.build(wanted)
            (<Formula?>result).find_inputs(self.inputs)
            self.formulas[wanted] = result
        self.last, self.last_wanted = <Formula?>result, wanted
        return self.last


invoke_graph = NULL
cdef object give_rule = None


def set_rules(function):
    """Register `function(record)`, which must return the rule of an operator; called by
    `ts.ops.derivatives`.
    """
    global give_rule
    give_rule = function


cdef Rule rule_of(object record):
    if give_rule is None:
        with import_lock():
            import ts.ops.derivatives.tape_rules  # noqa: F401
    return <Rule?>give_rule(record)
