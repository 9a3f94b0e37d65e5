/* Waiting of a thread until a 32-bit word changes (futex), with each operating system's primitives.

   Linux has futexes. Elsewhere, a mutex and a condition variable for each word have the same effect:

       futex_wait(&futex, seen)     sleep while the word equals `seen`; may return early
       futex_wake(&futex, count)    after a change of the word: wake at most `count` sleeping threads, or all of them

   A caller of `futex_wait` checks the word again after the call. */

#ifndef TS_FUTEX_H
#define TS_FUTEX_H

#include <limits.h>
#include <stdatomic.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <pthread.h>
#endif

#if defined(__linux__) && !defined(TS_WITHOUT_FUTEX)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(SYS_futex) && defined(FUTEX_WAIT_PRIVATE)

typedef struct { atomic_uint word; } Futex;

static inline void futex_initialize(Futex *futex) { atomic_init(&futex->word, 0); }

static inline void futex_wait(Futex *futex, unsigned seen) {
    syscall(SYS_futex, &futex->word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static inline void futex_wake(Futex *futex, int count) {
    syscall(SYS_futex, &futex->word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#elif defined(_WIN32)

typedef struct { atomic_uint word; SRWLOCK lock; CONDITION_VARIABLE changed; } Futex;

static inline void futex_initialize(Futex *futex) {
    atomic_init(&futex->word, 0);
    InitializeSRWLock(&futex->lock);
    InitializeConditionVariable(&futex->changed);
}

static inline void futex_wait(Futex *futex, unsigned seen) {
    AcquireSRWLockExclusive(&futex->lock);
    if (atomic_load(&futex->word) == seen) SleepConditionVariableSRW(&futex->changed, &futex->lock, INFINITE, 0);
    ReleaseSRWLockExclusive(&futex->lock);
}

/* The lock orders the caller's change of the word before the check of a waiting thread, or after its sleep began. */
static inline void futex_wake(Futex *futex, int count) {
    (void)count;
    AcquireSRWLockExclusive(&futex->lock);
    ReleaseSRWLockExclusive(&futex->lock);
    WakeAllConditionVariable(&futex->changed);
}

#else

typedef struct { atomic_uint word; pthread_mutex_t mutex; pthread_cond_t changed; } Futex;

static inline void futex_initialize(Futex *futex) {
    atomic_init(&futex->word, 0);
    pthread_mutex_init(&futex->mutex, NULL);
    pthread_cond_init(&futex->changed, NULL);
}

static inline void futex_wait(Futex *futex, unsigned seen) {
    pthread_mutex_lock(&futex->mutex);
    if (atomic_load(&futex->word) == seen) pthread_cond_wait(&futex->changed, &futex->mutex);
    pthread_mutex_unlock(&futex->mutex);
}

/* The mutex orders the caller's change of the word before the check of a waiting thread, or after its sleep began. */
static inline void futex_wake(Futex *futex, int count) {
    (void)count;
    pthread_mutex_lock(&futex->mutex);
    pthread_cond_broadcast(&futex->changed);
    pthread_mutex_unlock(&futex->mutex);
}

#endif
#endif
