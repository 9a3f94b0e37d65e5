"""String operators (methods, string search, splitting, string formatting), conversion from and to numbers.

For example, `aten::upper(str self) -> str` calls `str.upper`. Strings are Python's `str`, while PyTorch uses
byte strings. Other differences from PyTorch are:

    characters          Unicode code points: `len("é")` is 1
    line ends           `"\\r\\n"` is one line end
    split(None, n)      splits at most n times
    empty patterns      in `count`, `replace` and `rsplit` as in Python (PyTorch does not terminate)
    format              also supports `{0}`, `{:.2f}` and `{{`

As in PyTorch, the argument `end` = -1 of methods such as `find` means the end of the string. `end` = -2 means
the position before it. `%` supports only the formats `d i s c f F e E %`.
"""

import re

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from ts._core.thread.allowance cimport TEXT_BYTES, limited, take_text
from ts._core.thread.deadline cimport charge_time, timed
from ts._core.value.container cimport List, Tuple, list_item, value_text
from ts._core.dispatch.operator cimport Operator
from ts._core.value.ivalue cimport box_shallow
from ts._core.builtin_ops.op_table cimport define
from ts._core.builtin_ops.slicing cimport slice_bounds
from ts._core.builtin_ops.splitting cimport split_at, split_lines, split_words
from ts._core.builtin_ops.pieces cimport lower, strip_string
from ts._core.value.scalar cimport int_from_float
from ts._core.value.texts cimport text_character, text_equal, text_length
from ts._core.value.tagged cimport (
    IValue,
    TAG_BOOL,
    TAG_FLOAT,
    TAG_INT,
    TAG_NONE,
    TAG_OBJECT,
    set_bool,
    set_float,
    set_int,
    set_object,
)


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *o)
    int PyUnicode_KIND(object string)    # bytes per character
    void PyUnicode_Append(PyObject **left, object right)


cdef enum:
    # temporary bytes per character while Python converts a non-ASCII string to upper or lower case
    MAPPED_BYTES = 12

# Lower bounds, in ns, of the times that are charged to a time limit: for converting a character to upper or
# lower case, for comparing a pattern at one position, and for appending a substring to a result.
cdef double MAP_CHARACTER_NS = 3
cdef double COMPARE_CHARACTER_NS = 2
cdef double BUILD_PART_NS = 8
cdef double FIELD_NS = 100          # lower bound of the time to parse a field of a format string


# Methods of `str` for which `pieces` has an implementation. They are compared with `Operator.data`. The
# references are borrowed from the type `str`.
cdef void *LOWER = <void *>str.lower
cdef void *LSTRIP = <void *>str.lstrip
cdef void *RSTRIP = <void *>str.rstrip


cdef inline str text_of(IValue *x):
    return <str>x.v.o


cdef inline int allow(Py_ssize_t length, int width=1) except -1:
    """Check the memory limit before the creation of a string with `length` characters of `width` bytes each."""
    if not limited:
        return 0
    return take_text(TEXT_BYTES + (length * width if length < (<Py_ssize_t>1 << 60) else length))


cdef inline int set_text(IValue *out, str string) except -1:
    """Store a string in a register, after a check of the memory limit."""
    allow(len(string), PyUnicode_KIND(string))
    set_object(out, string)
    return 0


cdef inline object method_of(Operator op):
    """Return the `str` method in the operator's data. The reference is borrowed from the type."""
    return <object>op.data


cdef inline int spend(double nanoseconds) except -1:
    """Charge the estimated time of the next work to the time limit, if one is set."""
    return charge_time(nanoseconds) if timed else 0


# ---------------------------------------------------------------- methods of str, by signature

cdef int text_method(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    if (limited or timed) and not string.isascii():
        allow(len(string), MAPPED_BYTES)
        spend(MAP_CHARACTER_NS * len(string))
    set_text(&r[at[1]], lower(string) if op.data == LOWER else method_of(op)(string))
    return 0


cdef int predicate(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[1]], method_of(op)(text_of(&r[at[0]])))
    return 0


cdef int strip(Operator op, IValue *r, const int32_t *at) except -1:
    string = strip_string(r[at[0]].v.o, r[at[1]].v.o, op.data != RSTRIP, op.data != LSTRIP)
    # If the result register is the argument register and the string is unchanged, do not store it again.
    if at[0] != at[2] or r[at[2]].v.o != <PyObject *>string:
        set_text(&r[at[2]], string)
    return 0


cdef int pad(Operator op, IValue *r, const int32_t *at) except -1:
    if len(text_of(&r[at[2]])) != 1:
        raise RuntimeError("TypeError: The fill character must be exactly one character long")
    allow(max(r[at[1]].v.i, 0), max(PyUnicode_KIND(text_of(&r[at[0]])), PyUnicode_KIND(text_of(&r[at[2]]))))
    set_object(&r[at[3]], method_of(op)(text_of(&r[at[0]]), r[at[1]].v.i, text_of(&r[at[2]])))
    return 0


cdef int with_number(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    allow(len(string) + max(r[at[1]].v.i, 0) * max(string.count("\t"), 1), PyUnicode_KIND(string))
    set_object(&r[at[2]], method_of(op)(string, r[at[1]].v.i))
    return 0


cdef int split_into_three(Operator op, IValue *r, const int32_t *at) except -1:
    if not text_of(&r[at[1]]):
        raise RuntimeError("ValueError: empty separator")
    before, separator, after = method_of(op)(text_of(&r[at[0]]), text_of(&r[at[1]]))
    set_text(&r[at[2]], before)
    set_text(&r[at[3]], separator)
    set_text(&r[at[4]], after)
    return 0


cdef int split(Operator op, IValue *r, const int32_t *at) except -1:
    separator = box_shallow(&r[at[1]])
    if separator == "":
        raise RuntimeError("ValueError: empty separator")
    string = text_of(&r[at[0]])
    if separator is None:
        set_object(&r[at[3]], split_words(string, r[at[2]].v.i))
    else:
        set_object(&r[at[3]], split_at(string, separator, r[at[2]].v.i, op.data == <void *>str.rsplit))
    return 0


cdef int splitlines(Operator op, IValue *r, const int32_t *at) except -1:
    set_object(&r[at[2]], split_lines(text_of(&r[at[0]]), r[at[1]].v.i != 0))
    return 0


cdef inline int64_t end_of(str string, int64_t end):
    return end + len(string) + 1 if end < 0 else end


cdef int search(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    set_int(&r[at[4]], method_of(op)(string, text_of(&r[at[1]]), r[at[2]].v.i, end_of(string, r[at[3]].v.i)))
    return 0


cdef int search_or_fail(Operator op, IValue *r, const int32_t *at) except -1:
    search(op, r, at)
    if r[at[4]].v.i < 0:
        raise RuntimeError("ValueError: substring not found")
    return 0


cdef int has_affix(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    set_bool(&r[at[4]], method_of(op)(string, text_of(&r[at[1]]), r[at[2]].v.i, end_of(string, r[at[3]].v.i)))
    return 0


cdef int replace(Operator op, IValue *r, const int32_t *at) except -1:
    cdef Py_ssize_t count
    string, old, new = text_of(&r[at[0]]), text_of(&r[at[1]]), text_of(&r[at[2]])
    if limited or timed:
        count = string.count(old)
        if 0 <= r[at[3]].v.i < count:
            count = r[at[3]].v.i
        allow(len(string) + count * len(new), max(PyUnicode_KIND(string), PyUnicode_KIND(new)))
        spend(0 if len(new) == len(old) == 1 else BUILD_PART_NS * count if new else 0)
    set_object(&r[at[4]], string.replace(old, new, r[at[3]].v.i))
    return 0


cdef int join(Operator op, IValue *r, const int32_t *at) except -1:
    cdef List pieces = <List>r[at[1]].v.o
    cdef Py_ssize_t i
    spend(BUILD_PART_NS * pieces.size)
    strings = [<str>list_item(<PyObject *>pieces, i).v.o for i in range(pieces.size)]
    if limited:
        separator = text_of(&r[at[0]])
        width = max([PyUnicode_KIND(string) for string in strings], default=1)
        allow(sum(map(len, strings)) + len(strings) * len(separator), max(width, PyUnicode_KIND(separator)))
    set_object(&r[at[2]], text_of(&r[at[0]]).join(strings))
    return 0


# ---------------------------------------------------------------- sequence operators

cdef int length(Operator op, IValue *r, const int32_t *at) except -1:
    set_int(&r[at[1]], text_length(r[at[0]].v.o))
    return 0


cdef int concatenate(Operator op, IValue *r, const int32_t *at) except -1:
    cdef IValue *left = &r[at[0]]
    cdef PyObject *result
    if at[0] == at[2] and Py_REFCNT(left.v.o) == 1:  # `s += t` if nothing else refers to s: append in place
        right = text_of(&r[at[1]])  # holds a reference, because `right` may be the same string as `left`
        allow(len(right), max(PyUnicode_KIND(text_of(left)), PyUnicode_KIND(right)))
        result = left.v.o
        left.v.o = NULL
        PyUnicode_Append(&result, right)  # releases the old reference to `result`, even if it fails
        if result == NULL:
            raise MemoryError()
        left.v.o = result
        return 0
    first, second = text_of(left), text_of(&r[at[1]])
    allow(len(first) + len(second), max(PyUnicode_KIND(first), PyUnicode_KIND(second)))
    set_object(&r[at[2]], first + second)
    return 0


cdef int character(Operator op, IValue *r, const int32_t *at) except -1:
    if not text_character(r[at[0]].v.o, r[at[1]].v.i, &r[at[2]]):
        raise IndexError("string index out of range")
    return 0


cdef int slice_text(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    cdef int64_t start, step = r[at[3]].v.i
    cdef Py_ssize_t n
    n = slice_bounds(len(string), &r[at[1]], &r[at[2]], step, &start)
    if step == 1:
        set_text(&r[at[4]], string[start : start + n])
        return 0
    if n == 0:
        set_object(&r[at[4]], "")
        return 0
    cdef int64_t last = start + (n - 1) * step
    allow(n, PyUnicode_KIND(string))
    set_object(&r[at[4]], string[start : (last + 1 if step > 0 else last - 1 if last > 0 else None) : step])
    return 0


cdef int eq(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], text_equal(r[at[0]].v.o, r[at[1]].v.o))
    return 0


cdef int ne(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], not text_equal(r[at[0]].v.o, r[at[1]].v.o))
    return 0


cdef int lt(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], text_of(&r[at[0]]) < text_of(&r[at[1]]))
    return 0


cdef int le(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], text_of(&r[at[0]]) <= text_of(&r[at[1]]))
    return 0


cdef int gt(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], text_of(&r[at[0]]) > text_of(&r[at[1]]))
    return 0


cdef int ge(Operator op, IValue *r, const int32_t *at) except -1:
    set_bool(&r[at[2]], text_of(&r[at[0]]) >= text_of(&r[at[1]]))
    return 0


# ---------------------------------------------------------------- numbers and characters

cdef int ordinal(Operator op, IValue *r, const int32_t *at) except -1:
    string = text_of(&r[at[0]])
    if len(string) != 1:
        raise RuntimeError(f"String for ord() must be 1 character, found {len(string)}")
    cdef int64_t code = ord(string)
    # A surrogate from 0xDC80 to 0xDCFF stands for a byte that was invalid in UTF-8 (`surrogateescape`).
    # Return this byte.
    set_int(&r[at[1]], code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code)
    return 0


cdef int from_ordinal(Operator op, IValue *r, const int32_t *at) except -1:
    cdef int64_t code = r[at[0]].v.i
    if not 0 <= code < 0x110000:
        raise RuntimeError(f"chr() arg not in range(0x110000), found {code}")
    set_text(&r[at[1]], chr(code))
    return 0


cdef int in_hex(Operator op, IValue *r, const int32_t *at) except -1:
    set_text(&r[at[1]], hex(r[at[0]].v.i))
    return 0


cdef int in_octal(Operator op, IValue *r, const int32_t *at) except -1:
    set_text(&r[at[1]], oct(r[at[0]].v.i))
    return 0


cdef int in_binary(Operator op, IValue *r, const int32_t *at) except -1:
    set_text(&r[at[1]], bin(r[at[0]].v.i))
    return 0


cdef int parse_int(Operator op, IValue *r, const int32_t *at) except -1:
    """Parse a signed decimal integer.

    Leading blanks are allowed. Trailing blanks and underscores raise an error.
    """
    string = text_of(&r[at[0]])
    value = None
    if string.isascii() and string == string.rstrip() and "_" not in string:
        try:
            value = int(string)
        except ValueError:
            pass
    if value is None or not -(1 << 63) <= value < (1 << 63):
        raise RuntimeError(f"invalid literal for int() with base 10: '{string}'")
    set_int(&r[at[1]], value)
    return 0


cdef int parse_float(Operator op, IValue *r, const int32_t *at) except -1:
    """Parse a float like C's strtod, including hexadecimal numbers.

    Trailing blanks and underscores raise an error.
    """
    string = text_of(&r[at[0]])
    value = None
    if string.isascii() and string == string.rstrip() and "_" not in string:
        try:
            value = float.fromhex(string) if "0x" in string.lower() else float(string)
        except (ValueError, OverflowError):
            pass
    if value is None:
        raise RuntimeError(f"could not convert string to float: '{string}'")
    set_float(&r[at[1]], value)
    return 0




# ---------------------------------------------------------------- formatting

cdef int to_text(Operator op, IValue *r, const int32_t *at) except -1:
    set_text(&r[at[1]], value_text(&r[at[0]]))
    return 0


# Matches the escapes `{{` and `}}`, and fields such as `{}`, `{0}`, `{:5d}` and `{0:.2f}`. For a field, the
# groups are (position, format specification).
FIELD = r"\{\{|\}\}|\{(\d*)(?::([^{}]*))?\}"


cdef str format_field(IValue *x, str specification):
    """Format one value for a replacement field of `str.format`.

    A value with a format specification is formatted by Python's `format`.
    """
    if not specification:
        return value_text(x)
    value = box_shallow(x)
    if limited:
        allow(sum(map(int, re.findall("[0-9]{1,15}", specification))))
    if not isinstance(value, (int, float, complex, str)):
        raise RuntimeError(f"the format specification '{specification}' requires a number or a string")
    try:
        return format(value, specification)
    except ValueError as error:
        raise RuntimeError(str(error)) from None


cdef int format_braces(Operator op, IValue *r, const int32_t *at) except -1:
    """Compute `template.format(...)`, such as `"{} {}".format(a, b)`.

    Only braces that match the pattern FIELD are replaced. Other braces are copied literally.
    """
    cdef Tuple arguments = <Tuple>r[at[1]].v.o
    cdef Py_ssize_t position, used = 0, end = 0
    template = text_of(&r[at[0]])
    result = []
    spend(COMPARE_CHARACTER_NS * len(template))
    for match in re.finditer(FIELD, template):
        spend(FIELD_NS)
        result.append(template[end:match.start()])
        end = match.end()
        field_index = match[1]
        if field_index is None:
            result.append(match[0][0])
            continue
        position = int(field_index) if field_index else used
        used += not field_index
        if position >= arguments.size:
            raise RuntimeError(f"Too few arguments for format string: {template}")
        result.append(format_field(&arguments.items[position], match[2]))
    result.append(template[end:])
    set_text(&r[at[2]], "".join(result))
    return 0


cdef str kind_text(IValue *x):
    """Return the name that PyTorch's error messages use for the type of a value."""
    if x.tag == TAG_NONE:
        return "None"
    if x.tag != TAG_OBJECT:
        return "Int" if x.tag == TAG_INT else ("Double" if x.tag == TAG_FLOAT else "Bool")
    o = <object>x.v.o
    return "String" if isinstance(o, str) else ("GenericList" if isinstance(o, List) else type(o).__name__)


cdef str format_one(str specifier, IValue *x):
    cdef bint is_number = x.tag == TAG_INT or x.tag == TAG_FLOAT or x.tag == TAG_BOOL
    if specifier == "s":
        return value_text(x)
    if specifier == "c":
        if x.tag == TAG_INT and 0 <= x.v.i < 0x110000:
            return chr(x.v.i)
        if kind_text(x) == "String" and len(<str>x.v.o) == 1:
            return <str>x.v.o
        raise RuntimeError(f"%c requires an int or char for formatting, but got {kind_text(x)}")
    if specifier not in "difFeE":
        raise RuntimeError(f"The specifier %{specifier} is not supported in TorchScript format strings")
    if not is_number:
        raise RuntimeError(f"%{specifier} requires a number for formatting, but got {kind_text(x)}")
    if specifier in "di":
        return str(int_from_float(x.v.f) if x.tag == TAG_FLOAT else x.v.i)
    return f"%{specifier}" % (x.v.f if x.tag == TAG_FLOAT else <double>x.v.i)


cdef int format_percent(Operator op, IValue *r, const int32_t *at) except -1:
    """Format `"%d of %s" % (a, b)`. The variadic arguments are the values, or one tuple of the values."""
    cdef Tuple arguments = <Tuple>r[at[1]].v.o
    cdef Py_ssize_t used = 0, i
    if arguments.size == 1 and arguments.items[0].tag == TAG_OBJECT and type(<object>arguments.items[0].v.o) is Tuple:
        arguments = <Tuple>arguments.items[0].v.o
    if limited or timed:
        i = text_of(&r[at[0]]).count("%")
        allow(8 * i)
        spend(BUILD_PART_NS * i)
    pieces = text_of(&r[at[0]]).split("%")
    i = 1
    result = [pieces[0]]
    while i < len(pieces):
        spend(FIELD_NS)
        piece = pieces[i]
        if not piece:  # An empty piece follows a "%" that is part of "%%" or ends the text.
            if i + 1 == len(pieces):
                raise RuntimeError("Incomplete format specifier")
            result.append("%" + pieces[i + 1])
            i += 2
            continue
        if used == arguments.size:
            raise RuntimeError("Too few arguments for format string")
        result.append(format_one(piece[0], &arguments.items[used]))
        result.append(piece[1:])
        used += 1
        i += 1
    if used < arguments.size:
        raise RuntimeError("Too many arguments for format string")
    set_text(&r[at[2]], "".join(result))
    return 0


# ---------------------------------------------------------------- operator table

cdef str BLANKS = '" \\n\\t\\f\\v"'


def operators():
    """Return the operators of this module."""
    bounds = "str substr, int start=0, int end=-1"
    return [
        define("aten::upper(str self) -> str", text_method, <void *>str.upper),
        define("aten::lower(str self) -> str", text_method, <void *>str.lower),
        define("aten::capitalize(str self) -> str", text_method, <void *>str.capitalize),
        define("aten::title(str self) -> str", text_method, <void *>str.title),
        define("aten::swapcase(str self) -> str", text_method, <void *>str.swapcase),
        define("aten::isalnum(str self) -> bool", predicate, <void *>str.isalnum),
        define("aten::isalpha(str self) -> bool", predicate, <void *>str.isalpha),
        define("aten::isdecimal(str self) -> bool", predicate, <void *>str.isdecimal),
        define("aten::isdigit(str self) -> bool", predicate, <void *>str.isdigit),
        define("aten::isidentifier(str self) -> bool", predicate, <void *>str.isidentifier),
        define("aten::islower(str self) -> bool", predicate, <void *>str.islower),
        define("aten::isnumeric(str self) -> bool", predicate, <void *>str.isnumeric),
        define("aten::isprintable(str self) -> bool", predicate, <void *>str.isprintable),
        define("aten::isspace(str self) -> bool", predicate, <void *>str.isspace),
        define("aten::istitle(str self) -> bool", predicate, <void *>str.istitle),
        define("aten::isupper(str self) -> bool", predicate, <void *>str.isupper),
        define(f"aten::strip(str self, str chars={BLANKS}) -> str", strip, <void *>str.strip),
        define(f"aten::lstrip(str self, str chars={BLANKS}) -> str", strip, <void *>str.lstrip),
        define(f"aten::rstrip(str self, str chars={BLANKS}) -> str", strip, <void *>str.rstrip),
        define('aten::center(str self, int width, str fillchar=" ") -> str', pad, <void *>str.center),
        define('aten::ljust(str self, int width, str fillchar=" ") -> str', pad, <void *>str.ljust),
        define('aten::rjust(str self, int width, str fillchar=" ") -> str', pad, <void *>str.rjust),
        define("aten::zfill(str self, int width) -> str", with_number, <void *>str.zfill),
        define("aten::expandtabs(str self, int tabsize=8) -> str", with_number, <void *>str.expandtabs),
        define("aten::partition(str self, str separator) -> (str, str, str)", split_into_three, <void *>str.partition),
        define("aten::rpartition(str self, str separator) -> (str, str, str)", split_into_three, <void *>str.rpartition),
        define("aten::split.str(str self, str? separator=None, int max=-1) -> str[]", split, <void *>str.split),
        define('aten::rsplit(str self, str separator=" ", int max=-1) -> str[]', split, <void *>str.rsplit),
        define("aten::splitlines(str self, bool keepends=False) -> str[]", splitlines),
        define(f"aten::find(str self, {bounds}) -> int", search, <void *>str.find),
        define(f"aten::rfind(str self, {bounds}) -> int", search, <void *>str.rfind),
        define(f"aten::index.str(str self, {bounds}) -> int", search_or_fail, <void *>str.find),
        define(f"aten::rindex(str self, {bounds}) -> int", search_or_fail, <void *>str.rfind),
        define(f"aten::count(str self, {bounds}) -> int", search, <void *>str.count),
        define(f"aten::startswith(str self, {bounds}) -> bool", has_affix, <void *>str.startswith),
        define(f"aten::endswith(str self, {bounds}) -> bool", has_affix, <void *>str.endswith),
        define("aten::replace(str self, str old, str new, int max=-1) -> str", replace),
        define("aten::join(str self, str[] values) -> str", join),
        # sequences
        define("aten::len.str(str s) -> int", length),
        define("aten::add.str(str a, str b) -> str", concatenate),
        define("aten::__getitem__.str(str s, int index) -> str", character),
        define("prim::StringIndex(str string, int index) -> str", character),
        define("aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str", slice_text),
        define("aten::eq.str(str a, str b) -> bool", eq),
        define("aten::ne.str(str a, str b) -> bool", ne),
        define("aten::lt.str(str a, str b) -> bool", lt),
        define("aten::le.str(str a, str b) -> bool", le),
        define("aten::gt.str(str a, str b) -> bool", gt),
        define("aten::ge.str(str a, str b) -> bool", ge),
        # numbers
        define("aten::ord(str string) -> int", ordinal),
        define("aten::chr(int i) -> str", from_ordinal),
        define("aten::hex(int i) -> str", in_hex),
        define("aten::oct(int i) -> str", in_octal),
        define("aten::bin(int i) -> str", in_binary),
        define("aten::Int.str(str a) -> int", parse_int),
        define("aten::Float.str(str a) -> float", parse_float),
        # conversion of values to strings
        define("aten::str(t elem) -> str", to_text),
        define("aten::format(str self, ...) -> str", format_braces),
        define("aten::percentFormat(str self, ...) -> str", format_percent),
    ]
