"""Substrings, words, lower case and strip of strings, optimized for programs that process text word by word.

Input: a string. Output: the result of the corresponding Python method. Examples with their results:

    substring("to be or not to be", 13, 15)   "to", the same object as substring(..., 0, 2)
    lower("Straße")                           "straße"
    strip_string("(be)", "()", True, True)    "be"

Words repeat in a text, so strings of at most 15 ASCII characters are cached.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ts._core.thread.deadline cimport count_items
from ts._core.value.tagged cimport Py_INCREF, Py_XDECREF

cdef extern from "Python.h":
    int PyUnicode_KIND(object string)    # number of bytes per character of the string: 1, 2 or 4
    void *PyUnicode_DATA(object string)
    bint PyUnicode_IS_ASCII(object string)
    bint Py_UNICODE_ISSPACE(uint32_t c) noexcept nogil
    str PyUnicode_New(Py_ssize_t size, Py_UCS4 max_char)
    str PyUnicode_Substring(object string, Py_ssize_t start, Py_ssize_t end)
    uint32_t Py_UNICODE_TOLOWER(uint32_t c) noexcept nogil

cdef extern from *:
    """
    #if PY_LITTLE_ENDIAN
    #define first_byte(word) (__builtin_ctzll(word) >> 3)
    #define COUNT_AT 56
    #else
    #define first_byte(word) (__builtin_clzll(word) >> 3)
    #define COUNT_AT 0
    #endif
    """
    # index of the first nonzero byte of `word` in memory order. `word` must not be 0.
    int first_byte(uint64_t word) noexcept nogil
    int COUNT_AT                                      # bit shift of the last byte, in memory order, of a 64-bit word

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    MAX_CACHED_CHARACTERS = 4096
    SHORT = 15                           # maximal length of a cached string
    READ = 16                            # number of characters read at a time
    BLOCK = 64                           # number of characters converted to lower case at a time
    LIMIT_CHECK_MASK = 0x3fff  # limits are checked every LIMIT_CHECK_MASK + 1 characters
    DOTTED_I = 0x130                     # code point of the capital I with dot above, whose lower case has two characters
    SIGMA = 0x3a3                        # code point of the capital sigma, whose lower case depends on its position in the word


cdef struct Key:
    uint64_t low                         # characters 0 to 7
    uint64_t high                        # characters 8 to 14, and the length in the last byte


cdef struct CachedString:
    Key key
    PyObject *text                       # the cached string (owned reference), or NULL


# The set of characters to strip. `low` and `high` form a bit mask of 128 bits for the ASCII characters.
cdef struct Characters:
    uint64_t low
    uint64_t high
    bint plain                           # True if the string has only ASCII characters
    PyObject *text                       # the string from which the set was made (owned reference), or NULL


cdef CachedString string_cache[MAX_CACHED_CHARACTERS]
cdef uint8_t MASKS[READ][READ]           # MASKS[n] consists of n bytes 0xff, then zeros
for _n in range(READ):
    memset(MASKS[_n], 0xff, _n)
cdef Characters strip_set  # set of the last call of `strip_string`, which a call with the same characters uses again


# ---------------------------------------------------------------- short strings

cdef inline void cut(const uint8_t *bytes, Py_ssize_t n, Key *key) noexcept nogil:
    """Write the cache key of the first `n` characters of `bytes` to `key`. The array `bytes` has READ characters."""
    cdef uint64_t mask[2]
    memcpy(mask, MASKS[n], READ)
    memcpy(key, bytes, READ)
    key.low &= mask[0]
    key.high &= mask[1]
    key.high |= <uint64_t>n << COUNT_AT


cdef inline bint any_of(const uint8_t *flags, Py_ssize_t n) noexcept nogil:
    """Return whether any of the first n flags is set."""
    cdef uint64_t mask[2]
    cdef uint64_t words[2]
    memcpy(mask, MASKS[n], READ)
    memcpy(words, flags, READ)
    return ((words[0] & mask[0]) | (words[1] & mask[1])) != 0


cdef bint pack(const Char *s, Py_ssize_t n, Py_ssize_t room, Key *key) noexcept nogil:
    """Write the cache key of s[:n] to `key`. Return whether all characters of s[:n] are ASCII.

    At least `room` characters can be read from s.
    """
    cdef Char copied[READ]
    cdef uint8_t bytes[READ]
    cdef uint8_t wide[READ]
    cdef int i
    if room < READ:
        memcpy(copied, s, n * sizeof(Char))
        memset(copied + n, 0, (READ - n) * sizeof(Char))
        s = copied
    for i in range(READ):
        bytes[i] = <uint8_t>s[i]
    for i in range(READ):
        wide[i] = s[i] >= 128
    cut(bytes, n, key)
    return not any_of(wide, n)


cdef inline CachedString *cache_entry(Key *key) noexcept nogil:
    cdef uint64_t mixed = (key.low * 0x9E3779B97F4A7C15ULL) ^ (key.high * 0xC2B2AE3D27D4EB4FULL)
    return &string_cache[(mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ULL >> 52]


cdef str cached_string(Key *key):
    """Return the cached string with key `key` (string interning), which is created if the cache lacks it."""
    cdef CachedString *entry = cache_entry(key)
    cdef PyObject *before = entry.text
    if before != NULL and entry.key.low == key.low and entry.key.high == key.high:
        return <str>before
    result = PyUnicode_New((key.high >> COUNT_AT) & SHORT, 127)
    # the fields `low` and `high` of the key are adjacent in memory
    memcpy(PyUnicode_DATA(result), key, len(result))
    Py_INCREF(<PyObject *>result)
    entry.key = key[0]
    entry.text = <PyObject *>result
    Py_XDECREF(before)
    return result


cdef str substring(str string, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t n = end - start, room = len(string) - start
    cdef Key key
    cdef bint short
    if not 1 < n <= SHORT or n == len(string):
        return PyUnicode_Substring(string, start, end)
    if PyUnicode_KIND(string) == 1:
        short = pack(<const uint8_t *>PyUnicode_DATA(string) + start, n, room, &key)
    elif PyUnicode_KIND(string) == 2:
        short = pack(<const uint16_t *>PyUnicode_DATA(string) + start, n, room, &key)
    else:
        short = pack(<const uint32_t *>PyUnicode_DATA(string) + start, n, room, &key)
    return cached_string(&key) if short else PyUnicode_Substring(string, start, end)


# ---------------------------------------------------------------- words

cdef inline Py_ssize_t short_word(const Char *s, Key *key) noexcept nogil:
    """Write the cache key of the short ASCII word at the start of `s`, and return the length of the word.

    Return 0 if `s` does not start with a short ASCII word. At least READ characters must be readable at `s`.
    """
    cdef uint8_t bytes[READ]
    cdef uint8_t wide[READ]
    cdef uint8_t blank[READ]
    cdef uint64_t words[2]
    cdef Py_ssize_t n
    cdef int i
    for i in range(READ):
        bytes[i] = <uint8_t>s[i]
    for i in range(READ):
        wide[i] = s[i] >= 128
    for i in range(READ):  # the characters of `str.isspace`: blank, tab to carriage return, four separators
        blank[i] = (s[i] == 32) | (<Char>(s[i] - 9) < 5) | (<Char>(s[i] - 28) < 4)
    memcpy(words, blank, READ)
    if words[0]:
        n = first_byte(words[0])
    elif words[1]:
        n = 8 + first_byte(words[1])
    else:
        return 0
    cut(bytes, n, key)
    return 0 if any_of(wide, n) else n


cdef inline str next_word(const Char *s, Py_ssize_t n, Py_ssize_t *start, Py_ssize_t *end):
    cdef Py_ssize_t i = end[0], size
    cdef Key key
    while i < n and Py_UNICODE_ISSPACE(s[i]):
        i += 1
    start[0] = i
    if i + READ <= n:
        size = short_word(s + i, &key)
        if size:
            end[0] = i + size
            return cached_string(&key)
    while i < n and not Py_UNICODE_ISSPACE(s[i]):
        i += 1
    end[0] = i
    return None


cdef str find_word(str string, Py_ssize_t *start, Py_ssize_t *end):
    if PyUnicode_KIND(string) == 1:
        return next_word(<const uint8_t *>PyUnicode_DATA(string), len(string), start, end)
    if PyUnicode_KIND(string) == 2:
        return next_word(<const uint16_t *>PyUnicode_DATA(string), len(string), start, end)
    return next_word(<const uint32_t *>PyUnicode_DATA(string), len(string), start, end)


# ---------------------------------------------------------------- lower case

cdef inline bint lower_block(const Char *s, Char *out, Py_ssize_t n, uint32_t *char_bits) noexcept nogil:
    """Convert `n` characters to lower case. Return False if a character needs Python's `str.lower`."""
    cdef Char all = 0
    cdef uint32_t c
    cdef Py_ssize_t i
    for i in range(n):
        all |= s[i]
    if all < 128:
        for i in range(n):
            out[i] = s[i] | (<Char>(<Char>(s[i] - 65) < 26) << 5)
        return True
    for i in range(n):
        c = s[i]
        if c == DOTTED_I or c == SIGMA:
            return False
        c = Py_UNICODE_TOLOWER(c)
        char_bits[0] |= c
        out[i] = <Char>c
    return True


cdef inline bint lower_all(const Char *s, Char *out, Py_ssize_t n, uint32_t *char_bits) noexcept nogil:
    cdef Py_ssize_t i = 0
    while i + BLOCK <= n:
        if not lower_block(s + i, out + i, BLOCK, char_bits):
            return False
        i += BLOCK
    return lower_block(s + i, out + i, n - i, char_bits)


cdef str lower(str string):
    cdef Py_ssize_t n = len(string)
    cdef int width = PyUnicode_KIND(string)
    cdef uint32_t char_bits = 0
    cdef bint done
    if n == 0:
        return string
    out = PyUnicode_New(n, 127 if PyUnicode_IS_ASCII(string) else 255 if width == 1 else 0xffff if width == 2 else 0x10ffff)
    cdef void *data = PyUnicode_DATA(out)
    if width == 1:
        done = lower_all(<const uint8_t *>PyUnicode_DATA(string), <uint8_t *>data, n, &char_bits)
    elif width == 2:
        done = lower_all(<const uint16_t *>PyUnicode_DATA(string), <uint16_t *>data, n, &char_bits) and char_bits > 0xff
    else:
        done = lower_all(<const uint32_t *>PyUnicode_DATA(string), <uint32_t *>data, n, &char_bits) and char_bits > 0xffff
    # `done` is False if the result needs fewer bytes per character than the string, or if the string has a
    # character with a special rule. In both cases, Python's method converts the string.
    return out if done else string.lower()


# ---------------------------------------------------------------- strip

cdef int build_strip_set(str chars) except -1:
    """Set `strip_set` to the set of characters in `chars`."""
    cdef PyObject *before = strip_set.text
    cdef Py_UCS4 c
    strip_set.low = strip_set.high = 0
    strip_set.plain = chars.isascii()
    for c in chars:
        if c < 64:
            strip_set.low |= <uint64_t>1 << <int>c
        elif c < 128:
            strip_set.high |= <uint64_t>1 << (<int>c - 64)
    Py_INCREF(<PyObject *>chars)
    strip_set.text = <PyObject *>chars
    Py_XDECREF(before)
    return 0


cdef inline bint is_in(Characters among, uint32_t c) noexcept nogil:
    return c < 128 and ((among.low if c < 64 else among.high) >> (c & 63)) & 1


cdef int find_bounds(const Char *s, Py_ssize_t *start, Py_ssize_t *end, bint left, bint right) except -1:
    cdef Characters among = strip_set          # a copy, because a signal handler may change `strip_set`
    while left and start[0] < end[0] and is_in(among, s[start[0]]):
        start[0] += 1
        if start[0] & LIMIT_CHECK_MASK == 0:
            count_items(LIMIT_CHECK_MASK)
    while right and start[0] < end[0] and is_in(among, s[end[0] - 1]):
        end[0] -= 1
        if end[0] & LIMIT_CHECK_MASK == 0:
            count_items(LIMIT_CHECK_MASK)
    return 0


cdef str strip_string(PyObject *string_object, PyObject *chars, bint left, bint right):
    string = <str>string_object
    cdef Py_ssize_t start = 0, end = len(string)
    if strip_set.text != chars:
        build_strip_set(<str>chars)
    if not strip_set.plain:
        while left and start < end and string[start] in <str>chars:
            start += 1
            if start & LIMIT_CHECK_MASK == 0:
                count_items(LIMIT_CHECK_MASK)
        while right and start < end and string[end - 1] in <str>chars:
            end -= 1
            if end & LIMIT_CHECK_MASK == 0:
                count_items(LIMIT_CHECK_MASK)
    elif PyUnicode_KIND(string) == 1:
        find_bounds(<const uint8_t *>PyUnicode_DATA(string), &start, &end, left, right)
    elif PyUnicode_KIND(string) == 2:
        find_bounds(<const uint16_t *>PyUnicode_DATA(string), &start, &end, left, right)
    else:
        find_bounds(<const uint32_t *>PyUnicode_DATA(string), &start, &end, left, right)
    return substring(string, start, end)
