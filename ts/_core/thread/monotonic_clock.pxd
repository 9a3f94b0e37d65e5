"""Monotonic clock for the profiler, time limits and run times, in nanoseconds since an arbitrary point."""

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <time.h>
    static long long ts_monotonic_ns(void) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
    #ifdef CLOCK_MONOTONIC
        clock_gettime(CLOCK_MONOTONIC, &now);
    #endif
        return now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    """
    int64_t monotonic_ns "ts_monotonic_ns" () noexcept nogil
