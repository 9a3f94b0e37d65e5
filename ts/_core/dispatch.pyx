"""Operators that can be called: from the interpreter through their kernel, from Python as objects.

In: a schema and a kernel.  Out: `Operator.__call__`, which unboxes its arguments by what they are,
runs the kernel and boxes the results.

    >>> operator(3, 4)          # aten::add.int
    7
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from ts._core.ivalue cimport box_shallow, release, unbox_shallow


cdef class Operator:
    def __repr__(self):
        return f"<operator {self.schema_text}>"

    def __call__(self, *args):
        cdef int n = self.nargs, total = n + self.nrets, i
        cdef IValue *r
        cdef int32_t *at
        if len(args) != n:
            raise TypeError(f"{self.name} takes {n} arguments but {len(args)} were given")
        r = <IValue *>calloc(total + 1, sizeof(IValue) + sizeof(int32_t))
        if r == NULL:
            raise MemoryError()
        at = <int32_t *>(r + total + 1)
        try:
            for i in range(n):
                unbox_shallow(args[i], &r[i])
            for i in range(total):
                at[i] = i
            self.kernel(self, r, at)
            results = tuple([box_shallow(&r[i]) for i in range(n, total)])
            return results[0] if self.nrets == 1 else (results or None)
        finally:
            for i in range(total):
                release(&r[i])
            free(r)
