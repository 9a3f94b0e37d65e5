"""Differentiation rules and derivative formulas, built by `ts.ops.derivatives.tape_rules`."""

from libc.stdlib cimport free, malloc

from ts._core.late_binding import resolve


cdef class Formula:
    """Derivative formula: a function that computes gradients from the values that `sources` describes.

    `compile` returns the function. The first backward pass calls it, so that a forward pass compiles no
    derivatives. The results of the function are the gradients of the arguments with the numbers in `argument_indices`.
    """

    def __init__(self, compile not None, sources, tuple argument_indices not None, tuple requires_grad not None):
        if self.sources != NULL:
            raise TypeError("a derivative formula cannot be initialized twice")
        self.sources = <Source *>malloc(max(len(sources), 1) * sizeof(Source))
        self.input_indices = <int *>malloc(max(len(argument_indices), 1) * sizeof(int))
        if self.sources == NULL or self.input_indices == NULL:
            raise MemoryError()
        for i, (origin, at, as_tensor) in enumerate(sources):
            self.sources[i].origin, self.sources[i].at, self.sources[i].as_tensor = origin, at, as_tensor
            if origin in (RESULT, RESULTS) or origin >= SIZE:
                self.reads_results = True
        self.count, self.gradient_count = len(sources), len(argument_indices)
        self.compile, self.argument_indices, self.requires_grad = compile, argument_indices, requires_grad

    def __dealloc__(self):
        free(self.sources)
        free(self.input_indices)

    cdef Function function(self):
        if self.compiled is None:
            self.compiled = <Function?>self.compile()
        return self.compiled

    cdef int find_inputs(self, tuple inputs) except -1:
        for i, argument in enumerate(self.argument_indices):
            self.input_indices[i] = inputs.index(argument)
        return 0


cdef class Rule:
    """Differentiation rule of an operator. By default, no gradient flows to the arguments."""

    def __init__(
        self, DifferentiationKind how=PLAIN, str name not None="", inputs=(), results=(), *, int written=-1, bint reshapes=False,
        bint lists=False, bint absent=False, Function decomposition=None, str error_message not None="", build=None,
    ):
        self.how, self.name, self.inputs, self.results = how, name, tuple(inputs), tuple(results)
        self.written, self.reshapes, self.lists, self.absent = written, reshapes, lists, absent
        self.decomposition, self.error_message, self.build = decomposition, error_message, build
        self.formulas = {}
        if len(self.inputs) > MAX_INPUTS:
            raise ValueError(f"{name} has gradients of {len(self.inputs)} arguments; the maximum is {MAX_INPUTS}")
        for i, index in enumerate(self.inputs):
            self.input_at[i] = index
        self.input_count = len(self.inputs)
        if len(self.results) and max(self.results) >= 64:
            raise ValueError(f"{name} has a gradient of result {max(self.results)}; only results 0 to 63 are supported")
        for index in self.results:
            self.result_bits |= <uint64_t>1 << <int>index
        self.last = None

    cdef Formula formula(self, uint64_t grad_mask):
        if self.last is not None and self.last_grad_mask == grad_mask:
            return self.last
        result = self.formulas.get(grad_mask)
        if result is None:
            result = self.build(grad_mask)
            (<Formula?>result).find_inputs(self.inputs)
            self.formulas[grad_mask] = result
        self.last, self.last_grad_mask = <Formula?>result, grad_mask
        return self.last


invoke_graph = NULL
cdef Rule rule_of(object record):
    return <Rule?>resolve("derivative_rule")(record)
