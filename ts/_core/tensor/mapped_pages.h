/* Release of clean pages of a private file mapping. Only Linux shows which pages were written to. */

#ifndef TS_MAPPED_PAGES_H
#define TS_MAPPED_PAGES_H

#include <Python.h>
#include <stdint.h>

/* Return whether this interpreter has other threads, which could write to memory while they do not hold the GIL. */
static int has_other_threads(void) {
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    return first != NULL && PyThreadState_Next(first) != NULL;
}

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Release the whole pages in [begin, end) in ranges of RANGE_PAGES pages. A range is kept if one of its pages was
   changed, so that its contents differ from the file. Return the number of bytes of the released ranges. */
static int64_t release_clean_range(char *begin, char *end) {
    enum { RANGE_PAGES = 512 };
    /* bits of the entries of /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst) */
    const uint64_t PRESENT = (uint64_t)1 << 63, SWAPPED = (uint64_t)1 << 62, OF_FILE = (uint64_t)1 << 61;
    uint64_t entries[RANGE_PAGES];
    const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t page = ((uint64_t)(uintptr_t)begin + size - 1) / size, last = (uint64_t)(uintptr_t)end / size;
    int64_t released = 0;
    int descriptor = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    while (page < last) {
        uint64_t count = last - page < RANGE_PAGES ? last - page : RANGE_PAGES;
        int clean = pread(descriptor, entries, count * 8, (off_t)(page * 8)) == (ssize_t)(count * 8);
        for (uint64_t i = 0; clean && i < count; i++)
            clean = !(entries[i] & SWAPPED) && (!(entries[i] & PRESENT) || (entries[i] & OF_FILE));
        if (clean && madvise((void *)(uintptr_t)(page * size), count * size, MADV_DONTNEED) == 0)
            released += (int64_t)(count * size);
        page += count;
    }
    close(descriptor);
    return released;
}
#else
static int64_t release_clean_range(char *begin, char *end) {
    (void)begin; (void)end;
    return 0;
}
#endif

#endif
