"""String splitting that checks limits after each substring (`splitting.pyx`)."""

from libc.stdint cimport int64_t

from ts._core.value.container cimport List

# Split `string` at a non-empty separator, at most `max_splits` times (no limit if negative). If `backwards`,
# split at the last separators of the string instead of the first.
cdef List split_at(str string, str separator, int64_t max_splits, bint backwards)
# Split `string` at whitespace, at most `max_splits` times (no limit if negative).
cdef List split_words(str string, int64_t max_splits)
# Split `string` into lines, which include the line ends if `keep_line_ends`.
cdef List split_lines(str string, bint keep_line_ends)
# Split `string` into single characters.
cdef List split_characters(str string)
