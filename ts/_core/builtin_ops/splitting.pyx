"""String splitting that checks limits after each substring.

Input: a string and a separator. Output: a list with the result of the corresponding `str` method.

Python's methods check neither limits nor signals, and may take seconds for long strings. Examples with their
results:

    split_at("a,b,c", ",", 1, False)      ["a", "b,c"]
    split_words(" a  b ", -1)             ["a", "b"]
    split_lines("a\\r\\nb", False)          ["a", "b"]
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from ts._core.thread.allowance cimport TEXT_BYTES, limited, take_text
from ts._core.builtin_ops.pieces cimport find_word, substring
from ts._core.thread.deadline cimport count_items
from ts._core.value.container cimport List, list_append, list_new, list_reverse
from ts._core.value.ivalue cimport STR_SPEC, list_spec
from ts._core.value.tagged cimport IValue, TAG_OBJECT

cdef extern from "Python.h":
    int PyUnicode_KIND(object string)    # number of bytes per character of the string: 1, 2 or 4
    Py_ssize_t PyUnicode_Find(object string, object piece, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    bint Py_UNICODE_ISLINEBREAK(Py_UCS4 c)


cdef int append_piece(List pieces, str string, Py_ssize_t start, Py_ssize_t end, str piece=None) except -1:
    cdef IValue value
    count_items(0)
    # Charge the memory limit for the substring, except for strings of one Latin-1 character, because Python
    # caches these.
    if limited and (end - start > 1 or PyUnicode_KIND(string) > 1):
        take_text(TEXT_BYTES + (end - start) * PyUnicode_KIND(string))
    if piece is None:
        piece = substring(string, start, end)
    value.tag = TAG_OBJECT
    value.v.o = <PyObject *>piece
    return list_append(<PyObject *>pieces, &value)


cdef List split_at(str string, str separator, int64_t max_splits, bint backwards):
    cdef List pieces = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start = 0, end = len(string), position, n = len(separator)
    while max_splits != 0:
        position = PyUnicode_Find(string, separator, start, end, -1 if backwards else 1)
        if position < 0:
            break
        if backwards:
            append_piece(pieces, string, position + n, end)
            end = position
        else:
            append_piece(pieces, string, start, position)
            start = position + n
        max_splits -= 1
    append_piece(pieces, string, start, end)
    if backwards:
        list_reverse(<PyObject *>pieces)
    return pieces


cdef List split_words(str string, int64_t max_splits):
    cdef List pieces = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start = 0, end = 0
    while True:
        word = find_word(string, &start, &end)
        if start == end:
            return pieces
        # After `max_splits` words, append the rest of the string, without leading whitespace, as the last
        # item.
        if max_splits == 0:
            append_piece(pieces, string, start, len(string))
            return pieces
        append_piece(pieces, string, start, end, word)
        max_splits -= 1


cdef List split_lines(str string, bint keep_line_ends):
    cdef List pieces = list_new(list_spec(STR_SPEC), 0)
    cdef Py_ssize_t start, end, i = 0, n = len(string)
    while i < n:
        start = i
        while i < n and not Py_UNICODE_ISLINEBREAK(string[i]):
            i += 1
        end = i
        if i < n:
            i += 2 if string[i] == "\r" and i + 1 < n and string[i + 1] == "\n" else 1
        append_piece(pieces, string, start, i if keep_line_ends else end)
    return pieces


cdef List split_characters(str string):
    cdef List pieces = list_new(list_spec(STR_SPEC), len(string))
    cdef Py_ssize_t i
    for i in range(len(string)):
        append_piece(pieces, string, i, i + 1)
    return pieces
