"""Lists and dictionaries that Python code and scripts share."""

from ts._core.value.container cimport Dict, List
from ts._core.value.lists cimport SharedContainer


cdef class ScriptList(SharedContainer):
    cdef List core


cdef class ScriptDict(SharedContainer):
    cdef Dict core
