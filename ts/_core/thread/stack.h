/* Test for little remaining C stack, for Cython (stack.pxd) and for Python modules compiled by mypyc (setup.py). */
#pragma once

#include <Python.h>

#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#endif
#include <unistd.h>

static __thread uintptr_t ts_stack_end;       /* 0 if not computed yet, 1 if unknown */

#if defined(__linux__)
/* Return the lowest address of the main thread's stack, or 0 if it is unknown. The name of the program is the
   last item on this stack. `pthread_getattr_np` would read /proc/self/maps, which takes a millisecond. */
static uintptr_t ts_find_main_stack(uintptr_t *size) {
    const char *name = (const char *)getauxval(AT_EXECFN);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), frame = (uintptr_t)__builtin_frame_address(0), top;
    struct rlimit most;
    if (name == NULL || getrlimit(RLIMIT_STACK, &most) != 0 || most.rlim_cur == RLIM_INFINITY)
        return 0;
    top = ((uintptr_t)name + strlen(name) + 1 + sizeof(void *) + page - 1) & ~(page - 1);
    if (frame >= top || top - frame > most.rlim_cur || most.rlim_cur > top)
        return 0;
    *size = most.rlim_cur;
    return top - most.rlim_cur;
}
#endif

static __attribute__((noinline)) uintptr_t ts_find_stack_end(void) {
    uintptr_t low = 0, size = 0, reserve;
#if defined(__APPLE__)
    size = pthread_get_stacksize_np(pthread_self());
    low = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size;
#else
    extern int pthread_getattr_np(pthread_t, pthread_attr_t *);
    int is_main = (pid_t)syscall(SYS_gettid) == getpid();
    pthread_attr_t attributes;
    void *address;
    size_t length;
    struct rlimit most;
    if (is_main)
        low = ts_find_main_stack(&size);
    if (low == 0) {
        if (pthread_getattr_np(pthread_self(), &attributes) != 0)
            return 1;
        if (pthread_attr_getstack(&attributes, &address, &length) == 0) {
            low = (uintptr_t)address;
            size = length;
        }
        pthread_attr_destroy(&attributes);
        /* The main thread's stack grows up to the limit. Some C libraries report only its current size. */
        if (is_main && getrlimit(RLIMIT_STACK, &most) == 0) {
            if (most.rlim_cur == RLIM_INFINITY)
                return 1;
            if (most.rlim_cur > size && most.rlim_cur < low + size) {
                low -= most.rlim_cur - size;
                size = most.rlim_cur;
            }
        }
    }
#endif
    if (size == 0)
        return 1;
    reserve = size / 4 < (512 << 10) ? size / 4 : (512 << 10);
    return low + reserve;
}

static inline int ts_stack_is_low(void) {
    if (ts_stack_end == 0)
        ts_stack_end = ts_find_stack_end();
    return (uintptr_t)__builtin_frame_address(0) < ts_stack_end;
}
#else
static inline int ts_stack_is_low(void) { return 0; }
#endif

/* Check at the entry of a compiled Python function, which returns `error` after an exception. Calls of these
   functions do not count for Python's recursion limit. */
#define TS_CHECK_STACK(error)                                                             \
    if (__builtin_expect(ts_stack_is_low(), 0)) {                                         \
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");        \
        return error;                                                                     \
    }
