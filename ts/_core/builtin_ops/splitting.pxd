"""Texts cut into lists of texts, part by part: limits are looked at between them."""

from libc.stdint cimport int64_t

from ts._core.value.container cimport List

# At a separator that is not empty, `most` times or, negative, wherever it is; `backwards`: from the end.
cdef List split_at(str text, str separator, int64_t most, bint backwards)
# Where there are blanks.
cdef List split_words(str text, int64_t most)
# Lines, with what ends them or without.
cdef List split_lines(str text, bint keep_ends)
# One for each character.
cdef List split_characters(str text)
