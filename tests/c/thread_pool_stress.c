/* Stress test of the thread pool (backends/cpu/kernels/thread_pool.h), without Python, for ThreadSanitizer.

   Several threads call `parallel_for` at once, with nested calls, failing partitions, changing thread limits and forks.
   The program prints `ok`, or the failed check and exits with 1.

       cc -fsanitize=thread -I backends/cpu/kernels tests/c/thread_pool_stress.c -lpthread && ./a.out 1000 */

#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "thread_pool.h"

enum { CALLERS = 4, MAX_PARTITIONS = 40, ELEMENTS = 64, NESTED_PARTITIONS = 3 };

#define REQUIRE(condition) \
    do { \
        if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); exit(1); } \
    } while (0)

typedef struct {
    long seed;
    int first_failure;                 /* partitions from this number on fail with the code -(number + 1) */
    long elements[MAX_PARTITIONS][ELEMENTS]; /* not atomic: a data race is an error that the sanitizer reports */
    int calls[MAX_PARTITIONS];
} Job;

static int add_one(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    ((int *)context)[partition] += (int)partition_count;
    return 0;
}

static int fill(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    Job *job = context;
    (void)partition_count;
    job->calls[partition]++;
    for (int i = 0; i < ELEMENTS; i++) job->elements[partition][i] = job->seed * (partition + 1) + i;
    return partition >= job->first_failure ? -(int)(partition + 1) : 0;
}

static int fill_nested(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    int calls[NESTED_PARTITIONS] = {0};
    REQUIRE(parallel_for(add_one, calls, NESTED_PARTITIONS) == 0);
    for (int i = 0; i < NESTED_PARTITIONS; i++) REQUIRE(calls[i] == NESTED_PARTITIONS);
    return fill(context, partition, partition_count);
}

static void check_job(Job *job, long seed, int partitions, int first_failure, PartitionBody body) {
    job->seed = seed;
    job->first_failure = first_failure;
    for (int i = 0; i < partitions; i++) job->calls[i] = 0;
    REQUIRE(parallel_for(body, job, partitions) == (first_failure < partitions ? -(first_failure + 1) : 0));
    for (int i = 0; i < partitions; i++) {
        REQUIRE(job->calls[i] == 1);
        for (int k = 0; k < ELEMENTS; k++) REQUIRE(job->elements[i][k] == seed * (i + 1) + k);
    }
}

static long rounds;
static Job jobs[CALLERS + 1];

static void *call_repeatedly(void *argument) {
    Job *job = argument;
    long caller = job - jobs;
    for (long i = 0; i < rounds; i++) {
        int partitions = 1 + (int)((i * 7 + caller * 3) % MAX_PARTITIONS);
        check_job(job, i + caller, partitions, i % 3 == 0 ? (int)(i % MAX_PARTITIONS) : MAX_PARTITIONS, i % 5 == 0 ? fill_nested : fill);
        if (caller == 0) set_thread_limit(1 + (int)(i % 9));
    }
    return NULL;
}

/* Fork while other threads use the pool; the child uses its own pool, and forks again. */
static void check_fork(int depth) {
    int status;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        set_thread_limit(3);
        for (long i = 0; i < 20; i++) check_job(&jobs[CALLERS], i, 7, MAX_PARTITIONS, fill_nested);
        if (depth > 0) check_fork(depth - 1);
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int divide_by_three(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    volatile double one = 1, three = 3;
    (void)partition_count;
    usleep(1000); /* so that the worker takes part */
    ((double *)context)[partition] = one / three;
    return 0;
}

/* All partitions use the rounding mode of the calling thread. */
static void check_float_mode(void) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TONEAREST};
    double quotients[3][8];
    set_thread_limit(2);
    for (int i = 0; i < 3; i++) {
        fesetround(modes[i]);
        REQUIRE(parallel_for(divide_by_three, quotients[i], 8) == 0);
        for (int k = 1; k < 8; k++) REQUIRE(quotients[i][k] == quotients[i][0]);
    }
    fesetround(FE_TONEAREST);
    REQUIRE(quotients[0][0] == quotients[2][0] && quotients[0][0] < quotients[1][0]);
}

int main(int argument_count, char **arguments) {
    pthread_t threads[CALLERS];
    int forks = argument_count > 2 ? atoi(arguments[2]) : 0;
    rounds = argument_count > 1 ? atol(arguments[1]) : 100;
    initialize_pool();
    REQUIRE(parallel_for(fill, &jobs[0], 0) == 0);
    for (int i = 0; i < CALLERS; i++) REQUIRE(pthread_create(&threads[i], NULL, call_repeatedly, &jobs[i]) == 0);
    for (int i = 0; i < forks; i++) check_fork(1);
    for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
    check_float_mode();
    REQUIRE(count_jobs() > 0);
    puts("ok");
    return 0;
}
