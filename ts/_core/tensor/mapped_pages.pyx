"""Release of the resident memory (RSS) of arrays in private file mappings (`ts._core.private_mapping`).

Input: an array whose elements are needed rarely, such as a weight of which a packed copy exists. The next access
reads the elements from the file or its page cache again.
"""

import numpy as np

from libc.stdint cimport int64_t

from ts._core.private_mapping import has_private_mapping
from ts._core.tensor.ndarray cimport PyArrayObject, data_of

cdef extern from "mapped_pages.h":
    bint has_other_threads()
    int64_t release_clean_range(char *begin, char *end)


def release_clean_pages(array):
    """Release memory of an array in a private file mapping, given the array or a view of it.

    Return the number of released bytes, 0 for other arrays. Pages that the program wrote to are kept, because their
    contents exist only in memory. Nothing is released if the process has other Python threads, because one of them
    could write to the array during the call, or on systems other than Linux.
    """
    while type(array) is np.ndarray and type(array.base) is np.ndarray:
        array = array.base
    if type(array) is not np.ndarray or not has_private_mapping(array.base):
        return 0
    cdef int64_t size = array.nbytes
    cdef char *begin = data_of(<PyArrayObject *>array)
    # The GIL is held from this test to the release of the last page.
    return 0 if has_other_threads() else release_clean_range(begin, begin + size)
