/* Times of `parallel_for` (backends/cpu/kernels/thread_pool.h), without Python.

   For each number of threads, the program prints a row of a Markdown table: the time of a call with 16 empty partitions,
   and of calls with a partition per thread that computes for 10 and for 100 us. Before each call of the last two
   columns, the workers sleep. The shortest and the median time are printed. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "thread_pool.h"

enum { CALLS = 1001, EMPTY_PARTITIONS = 16, PAUSE_MICROSECONDS = 50 };

static int run_empty(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    (void)context, (void)partition, (void)partition_count;
    return 0;
}

static int run_busy(void *context, ptrdiff_t partition, ptrdiff_t partition_count) {
    int64_t start = read_clock();
    (void)partition, (void)partition_count;
    while (read_clock() - start < *(int64_t *)context) {}
    return 0;
}

static int compare(const void *x, const void *y) {
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void print_times(PartitionBody body, int64_t work, int partitions, int pause) {
    static int64_t times[CALLS];
    for (int i = 0; i < CALLS; i++) {
        if (pause) usleep(PAUSE_MICROSECONDS);
        times[i] = read_clock();
        parallel_for(body, &work, partitions);
        times[i] = read_clock() - times[i];
    }
    qsort(times, CALLS, sizeof *times, compare);
    printf(" %.2f, %.2f us |", (double)times[0] / 1000, (double)times[CALLS / 2] / 1000);
}

int main(void) {
    int processors = count_processors();
    initialize_pool();
    puts("| Threads | 16 empty partitions | 10 us per partition | 100 us per partition |\n|---|---|---|---|");
    for (int threads = 1; threads <= processors; threads *= 2) {
        set_thread_limit(threads);
        printf("| %d |", threads);
        print_times(run_empty, 0, EMPTY_PARTITIONS, 0);
        print_times(run_busy, 10000, threads, 1);
        print_times(run_busy, 100000, threads, 1);
        puts("");
    }
    return 0;
}
