"""String splitting that checks limits after each substring.

In: a string and a separator.  Out: a core List with the result of the corresponding `str` method.

    split_at("a,b,c", ",", 1, False)      ["a", "b,c"]
    split_words(" a  b ", -1)             ["a", "b"]
    split_lines("a\\r\\nb", False)          ["a", "b"]

A string of 50 MB may have 25 million substrings, whose creation takes seconds and gigabytes; Python's methods
create all of them without a check of limits or signals.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ts._core.thread.allowance cimport TEXT_BYTES, limited, take_text
from ts._core.builtin_ops.pieces cimport substring, word_behind
from ts._core.thread.deadline cimport worked
from ts._core.value.container cimport List, list_append, list_new, list_reverse
from ts._core.value.ivalue cimport STR_SPEC, list_spec
from ts._core.value.tagged cimport IValue, TAG_OBJECT

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)      # bytes per character
    Py_ssize_t PyUnicode_Find(object text, object part, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    bint Py_UNICODE_ISLINEBREAK(Py_UCS4 c)


cdef int add_part(List parts, str text, Py_ssize_t start, Py_ssize_t end, str piece=None) except -1:
    cdef IValue part
    worked(0)
    # Python caches one-character Latin-1 strings, so they use no memory
    if limited and (end - start > 1 or PyUnicode_KIND(text) > 1):
        take_text(TEXT_BYTES + (end - start) * PyUnicode_KIND(text))
    if piece is None:
        piece = substring(text, start, end)
    part.tag = TAG_OBJECT
    part.v.o = <PyObject *>piece
    return list_append(<PyObject *>parts, &part)


cdef List split_at(str text, str separator, int64_t max_splits, bint backwards):
    cdef List parts = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start = 0, end = len(text), position, n = len(separator)
    while max_splits != 0:
        position = PyUnicode_Find(text, separator, start, end, -1 if backwards else 1)
        if position < 0:
            break
        if backwards:
            add_part(parts, text, position + n, end)
            end = position
        else:
            add_part(parts, text, start, position)
            start = position + n
        max_splits -= 1
    add_part(parts, text, start, end)
    if backwards:
        list_reverse(<PyObject *>parts)
    return parts


cdef List split_words(str text, int64_t max_splits):
    cdef List parts = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start = 0, end = 0
    while True:
        word = word_behind(text, &start, &end)
        if start == end:
            return parts
        if max_splits == 0:                    # the rest of the text, without leading whitespace
            add_part(parts, text, start, len(text))
            return parts
        add_part(parts, text, start, end, word)
        max_splits -= 1


cdef List split_lines(str text, bint keep_line_ends):
    cdef List parts = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start, end, i = 0, n = len(text)
    while i < n:
        start = i
        while i < n and not Py_UNICODE_ISLINEBREAK(text[i]):
            i += 1
        end = i
        if i < n:
            i += 2 if text[i] == "\r" and i + 1 < n and text[i + 1] == "\n" else 1
        add_part(parts, text, start, i if keep_line_ends else end)
    return parts


cdef List split_characters(str text):
    cdef List parts = list_new(list_spec(STR_SPEC), len(text))
    cdef Py_ssize_t i
    for i in range(len(text)):
        add_part(parts, text, i, i + 1)
    return parts
