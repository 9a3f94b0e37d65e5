/* Intra-op thread pool: a parallel loop over the partitions of a kernel's work, without the GIL.

       static int fill(void *context, ptrdiff_t partition, ptrdiff_t partition_count) { ... return 0; }
       ...
       code = parallel_for(fill, &arguments, 4);      calls fill(&arguments, i, 4) for i = 0, 1, 2, 3

   Only `parallel_for.pyx` includes this file, because the file defines the pool of the process. Kernels call
   `parallel_for` through `parallel_for.pxd`.

   The calling thread publishes a job in the fields of `pool`, and runs partition 0. Then it and the worker threads take
   the next partition from an atomic counter, until no partition remains. A worker takes part in a job between
   `join_job` and `leave_job`. The caller closes the job when no partition remains, so that no further worker can join,
   and waits only for workers that have joined. It therefore never waits for a worker that sleeps.

   Only one job runs at a time. A call while another job runs, or from a partition of a job, runs all partitions on the
   calling thread. So does a call for which no worker can be created.

   Memory orders. `members` publishes a job: `open_job` stores it with release order, and `join_job` reads it with
   acquire order, so workers see the fields of the job. All later changes of `members` until `close_job` are
   read-modify-write operations, which continue the release sequence. Each `leave_job` has release order and the
   caller's last read has acquire order, so the caller sees all that the workers wrote, and no worker accesses the
   fields of the job when the caller changes them for the next job. `busy` orders the jobs of different callers in the
   same way. `job_number` and `sleeping` have sequentially consistent order: a worker increments `sleeping` and then
   reads `job_number`, the caller increments `job_number` and then reads `sleeping`. So either the worker sees the new
   job, or the caller sees the sleeping worker and wakes it. */

#ifndef TS_THREAD_POOL_H
#define TS_THREAD_POOL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "futex.h"

#if defined(_WIN32)
#include <process.h>
#else
#include <signal.h>
#include <time.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

enum {
    MAX_WORKERS = 1023,
    WAKE_FANOUT = 4,                      /* sleeping workers that one thread wakes for a job */
    SPIN_NANOSECONDS = 4000,              /* time for which a thread polls before it sleeps */
    POLLS_PER_CLOCK_READING = 16,
    WORKER_STACK_BYTES = 8 << 20,
    CPU_MASK_WORDS = 1024,        /* room for 65,536 processors */
};

/* `members` contains the number of workers that take part in the job, the number of further workers that may join, and
   whether the caller sleeps until the first number is 0. */
#define JOINED 1u
#define JOINED_MASK 0xfffu
#define FREE_SLOT 0x1000u
#define FREE_SLOTS_MASK 0xfff000u
#define CALLER_SLEEPS 0x1000000u

#define NO_FAILURE UINT64_MAX

/* A function that computes one partition. It returns 0, or an error code from 1 to INT_MAX or from INT_MIN to -1. */
typedef int (*PartitionBody)(void *context, ptrdiff_t partition, ptrdiff_t partition_count);

static struct {
    atomic_int thread_limit;              /* maximal number of threads of a job, or 0 before the first use */
    atomic_int processors;                /* number of processors of this process, or 0 before the first use */
    atomic_int workers;                   /* number of worker threads */
    atomic_bool busy;                     /* true while a job runs */
    _Alignas(64) Futex job_number;        /* incremented for each job; idle workers sleep until it changes */
    atomic_int sleeping;                  /* number of workers that sleep or are about to sleep */
    _Alignas(64) Futex members;
    /* the job */
    PartitionBody body;
    void *context;
    ptrdiff_t partition_count;
    unsigned long long float_mode;        /* rounding mode and treatment of subnormal numbers of the calling thread */
    atomic_uint_least64_t failure;        /* (partition << 32 | code) of the failed partition with the lowest number */
    _Alignas(64) atomic_ptrdiff_t next;   /* number of the next partition */
} pool;


/* ---------------------------------------------------------------- number of threads */

static int count_processors(void) {
#if defined(_WIN32)
    return (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
#else
    long online;
#if defined(__linux__)
    unsigned long mask[CPU_MASK_WORDS];
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) == 0) {
        int count = CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask);
        if (count > 0) return count;
    }
#endif
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
#endif
}

/* Return the first number of OMP_NUM_THREADS ("4,2" sets 4 for the outermost level), or 0. */
static int threads_of_environment(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    long threads;
    if (text == NULL || *text < '0' || *text > '9') return 0;
    threads = strtol(text, &end, 10);
    if (*end != '\0' && *end != ',') return 0;
    return threads > INT_MAX ? INT_MAX : (int)threads;
}

/* Return the maximal number of threads of a job. */
static int thread_limit(void) {
    int limit = atomic_load_explicit(&pool.thread_limit, memory_order_relaxed);
    if (limit == 0) {
        int unset = 0;
        limit = threads_of_environment();
        if (limit == 0) limit = count_processors();
        if (!atomic_compare_exchange_strong(&pool.thread_limit, &unset, limit)) limit = unset; /* set by another thread */
    }
    return limit;
}

static void set_thread_limit(int threads) { atomic_store_explicit(&pool.thread_limit, threads, memory_order_relaxed); }


/* ---------------------------------------------------------------- polling */

static inline void relax_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

/* Return whether a thread may poll: only if each thread of a job has a processor. */
static bool can_spin(void) {
    int processors = atomic_load_explicit(&pool.processors, memory_order_relaxed);
    if (processors == 0) {
        processors = count_processors();
        atomic_store_explicit(&pool.processors, processors, memory_order_relaxed);
    }
    return thread_limit() <= processors;
}

static int64_t read_clock(void) {
#if defined(_WIN32)
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return now.QuadPart / frequency.QuadPart * 1000000000 + now.QuadPart % frequency.QuadPart * 1000000000 / frequency.QuadPart;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}

/* Poll until `(*word & mask)` differs from `value`, for at most SPIN_NANOSECONDS. Return whether it differs. */
static bool spin_while_equal(atomic_uint *word, unsigned mask, unsigned value) {
    int64_t start;
    if ((atomic_load_explicit(word, memory_order_acquire) & mask) != value) return true;
    if (!can_spin()) return false;
    start = read_clock();
    do {
        for (int i = 0; i < POLLS_PER_CLOCK_READING; i++) {
            if ((atomic_load_explicit(word, memory_order_acquire) & mask) != value) return true;
            relax_processor();
        }
    } while (read_clock() - start < SPIN_NANOSECONDS);
    return false;
}


/* ---------------------------------------------------------------- floating-point mode */

/* The results of a partition must not depend on its thread. Workers therefore use the rounding mode and the treatment
   of subnormal numbers of the calling thread, which libraries compiled with -ffast-math change. */
static inline unsigned long long read_float_mode(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~0x3fu; /* without the exception flags */
#elif defined(__aarch64__)
    unsigned long long mode;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return 0;
#endif
}

static inline void write_float_mode(unsigned long long mode) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((unsigned)mode);
#elif defined(__aarch64__)
    __asm__ __volatile__("msr fpcr, %0" : : "r"(mode));
#else
    (void)mode;
#endif
}


/* ---------------------------------------------------------------- partitions */

static void run_partition(ptrdiff_t partition) {
    int code = pool.body(pool.context, partition, pool.partition_count);
    if (code != 0) {
        uint_least64_t found = (uint_least64_t)partition << 32 | (uint32_t)code;
        uint_least64_t lowest = atomic_load_explicit(&pool.failure, memory_order_relaxed);
        while (found < lowest
               && !atomic_compare_exchange_weak_explicit(&pool.failure, &lowest, found, memory_order_relaxed, memory_order_relaxed)) {}
    }
}

static void run_next_partitions(void) {
    ptrdiff_t partition;
    while ((partition = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed)) < pool.partition_count)
        run_partition(partition);
}

/* Run all partitions on this thread. Return the code of the first failed partition, or 0. */
static int run_on_this_thread(PartitionBody body, void *context, ptrdiff_t partition_count) {
    int first = 0;
    for (ptrdiff_t partition = 0; partition < partition_count; partition++) {
        int code = body(context, partition, partition_count);
        if (first == 0) first = code;
    }
    return first;
}


/* ---------------------------------------------------------------- workers */

/* Wake sleeping workers, unless enough other workers are awake for the free slots of the job. */
static void wake_workers(unsigned members) {
    int sleeping = atomic_load(&pool.sleeping);
    if (sleeping > 0) {
        int idle = atomic_load_explicit(&pool.workers, memory_order_relaxed) - sleeping - (int)(members & JOINED_MASK);
        int count = (int)((members & FREE_SLOTS_MASK) / FREE_SLOT) - (idle > 0 ? idle : 0);
        if (count > 0) futex_wake(&pool.job_number, count < WAKE_FANOUT ? count : WAKE_FANOUT);
    }
}

/* Take part in the job, if it has a free slot. Return whether this worker takes part. */
static bool join_job(void) {
    unsigned members = atomic_load_explicit(&pool.members.word, memory_order_relaxed);
    while (members & FREE_SLOTS_MASK) {
        if (atomic_compare_exchange_weak_explicit(&pool.members.word, &members, members - FREE_SLOT + JOINED,
                                                  memory_order_acquire, memory_order_relaxed)) {
            wake_workers(members - FREE_SLOT + JOINED);
            return true;
        }
    }
    return false;
}

static void leave_job(void) {
    unsigned before = atomic_fetch_sub_explicit(&pool.members.word, JOINED, memory_order_release);
    if (before == (CALLER_SLEEPS | JOINED)) futex_wake(&pool.members, 1);
}

static void run_worker(void) {
    for (;;) {
        /* Read before the job: if a job begins after `join_job`, the number has changed and the worker does not sleep. */
        unsigned seen = atomic_load(&pool.job_number.word);
        if (join_job()) {
            write_float_mode(pool.float_mode);
            run_next_partitions();
            leave_job();
        } else if (!spin_while_equal(&pool.job_number.word, UINT_MAX, seen)) {
            atomic_fetch_add(&pool.sleeping, 1);
            if (atomic_load(&pool.job_number.word) == seen) futex_wait(&pool.job_number, seen);
            atomic_fetch_sub(&pool.sleeping, 1);
        }
    }
}

#if defined(_WIN32)

static unsigned __stdcall worker_main(void *argument) {
    (void)argument;
    run_worker();
    return 0;
}

static bool start_worker(void) {
    uintptr_t thread = _beginthreadex(NULL, WORKER_STACK_BYTES, worker_main, NULL, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (thread != 0) CloseHandle((HANDLE)thread);
    return thread != 0;
}

#else

static void *worker_main(void *argument) {
    (void)argument;
#if defined(__linux__)
    pthread_setname_np(pthread_self(), "ts-worker");
#endif
    run_worker();
    return NULL;
}

/* Start a detached thread that blocks signals, so that other threads handle them. Signals of the thread's own errors,
   such as SIGSEGV, stay unblocked, because handlers of these signals print a traceback (faulthandler). */
static bool start_worker(void) {
    static const int errors[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t blocked, before;
    bool started;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) sigdelset(&blocked, errors[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before); /* the new thread inherits the mask */
    started = pthread_create(&thread, &attributes, worker_main, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

#endif

/* Start workers until `wanted` exist or the system creates no more. Return the number of workers, at most `wanted`. */
static int require_workers(int wanted) {
    int workers = atomic_load_explicit(&pool.workers, memory_order_relaxed);
    while (workers < wanted && start_worker()) atomic_store_explicit(&pool.workers, ++workers, memory_order_relaxed);
    return workers < wanted ? workers : wanted;
}


/* ---------------------------------------------------------------- jobs */

static void open_job(PartitionBody body, void *context, ptrdiff_t partition_count, int workers) {
    unsigned members = (unsigned)workers * FREE_SLOT;
    pool.body = body;
    pool.context = context;
    pool.partition_count = partition_count;
    pool.float_mode = read_float_mode();
    atomic_store_explicit(&pool.failure, NO_FAILURE, memory_order_relaxed);
    atomic_store_explicit(&pool.next, 1, memory_order_relaxed); /* this thread runs partition 0 */
    atomic_store_explicit(&pool.members.word, members, memory_order_release);
    atomic_fetch_add(&pool.job_number.word, 1);
    wake_workers(members);
}

/* Admit no further workers, and wait until the workers that take part have left. */
static void close_job(void) {
    unsigned members = atomic_fetch_and_explicit(&pool.members.word, JOINED_MASK, memory_order_acquire) & JOINED_MASK;
    while (members != 0) {
        bool changed = spin_while_equal(&pool.members.word, JOINED_MASK, members);
        members = atomic_load_explicit(&pool.members.word, memory_order_acquire);
        if (!changed && members != 0) break;
    }
    if (members == 0) return;
    members = atomic_fetch_or_explicit(&pool.members.word, CALLER_SLEEPS, memory_order_acquire) | CALLER_SLEEPS;
    while (members & JOINED_MASK) {
        futex_wait(&pool.members, members);
        members = atomic_load_explicit(&pool.members.word, memory_order_acquire);
    }
}

/* Call `body` for all partitions, on this thread and on worker threads. After all partitions have run, return 0, or the
   code of the failed partition with the lowest number. */
static int parallel_for(PartitionBody body, void *context, ptrdiff_t partition_count) {
    int workers = thread_limit() - 1;
    uint_least64_t failure;
    if (workers > partition_count - 1) workers = (int)(partition_count - 1);
    if (workers > MAX_WORKERS) workers = MAX_WORKERS;
    if (workers <= 0 || partition_count > INT32_MAX || atomic_exchange_explicit(&pool.busy, true, memory_order_acquire))
        return run_on_this_thread(body, context, partition_count);
    workers = require_workers(workers);
    if (workers == 0) {
        atomic_store_explicit(&pool.busy, false, memory_order_release);
        return run_on_this_thread(body, context, partition_count);
    }
    open_job(body, context, partition_count, workers);
    run_partition(0);
    run_next_partitions();
    close_job();
    failure = atomic_load_explicit(&pool.failure, memory_order_relaxed);
    atomic_store_explicit(&pool.busy, false, memory_order_release);
    return failure == NO_FAILURE ? 0 : (int)(uint32_t)failure;
}

/* Return the number of jobs since the start of the process or its fork, modulo 2**32. */
static unsigned count_jobs(void) { return atomic_load_explicit(&pool.job_number.word, memory_order_relaxed); }


/* ---------------------------------------------------------------- initialization */

/* Set the state of a process without workers. */
static void reset_pool(void) {
    futex_initialize(&pool.job_number);
    futex_initialize(&pool.members);
    atomic_store(&pool.workers, 0);
    atomic_store(&pool.sleeping, 0);
    atomic_store(&pool.busy, false);
}

/* Prepare the pool before the first job. In the child of a fork, no worker and no other caller exists. The thread that
   forks is not inside of `parallel_for`, so the child's pool is idle. */
static void initialize_pool(void) {
    reset_pool();
#if !defined(_WIN32)
    pthread_atfork(NULL, NULL, reset_pool);
#endif
}

#endif
