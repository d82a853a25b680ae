/* Threads of the OpenMP runtime that the process has already, and which instructions the processor knows. */
#include "native.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void Parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
static Parallel *parallel;

/* Takes the address of libgomp's GOMP_parallel, which compiled OpenMP programs call: so the kernels share their threads
with oneDNN's, and need no OpenMP where they are compiled. Without it they run in one thread. */
EXPORTED void use_threads_of(Parallel *function) { parallel = function; }

typedef struct {
    void (*job)(void *, int64_t);
    void *what;
    int64_t n, next;
} Jobs;

static void take_jobs(void *data)
{
    Jobs *jobs = data;
    for (;;) {
        int64_t k = __atomic_fetch_add(&jobs->next, 1, __ATOMIC_RELAXED);
        if (k >= jobs->n)
            return;
        jobs->job(jobs->what, k);
    }
}

void run_jobs(void (*job)(void *, int64_t), void *what, int64_t n, int threads)
{
    if (threads > 1 && n > 1 && parallel) {
        Jobs jobs = {job, what, n, 0};
        parallel(take_jobs, &jobs, (unsigned)least(threads, n), 0);
    } else {
        for (int64_t k = 0; k < n; k++)
            job(what, k);
    }
}

/* 2: AVX-512 as servers have it, 1: AVX2 and FMA, 0: neither. */
EXPORTED int best_instructions(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512cd");
    return avx2 ? 1 + avx512 : 0;
#else
    return 0;
#endif
}

EXPORTED const char *hash_of_sources(void) { return SOURCES; }
