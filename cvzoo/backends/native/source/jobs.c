/* Threads of the OpenMP runtime that the process has already, and which instructions the processor knows. */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif
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

#if defined(__linux__)
enum { TRIES = 4, YIELDS = 64 };

typedef struct {
    cpu_set_t taken;
    int absent; /* threads that have no CPU yet */
} Places;

static int take(Places *places, int cpu)
{
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return 1;
    unsigned char *byte = (unsigned char *)&places->taken + cpu / 8, bit = (unsigned char)(1 << cpu % 8);
    return !(__atomic_fetch_or(byte, bit, __ATOMIC_RELAXED) & bit);
}

static void take_place(void *data)
{
    Places *places = data;
    for (int k = 0; !take(places, sched_getcpu()) && k < TRIES; k++) {
        cpu_set_t allowed, others;
        if (sched_getaffinity(0, sizeof allowed, &allowed))
            break;
        CPU_ZERO(&others);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed) && !CPU_ISSET(cpu, &places->taken))
                CPU_SET(cpu, &others);
        if (sched_setaffinity(0, sizeof others, &others)) /* there are none, or it may not */
            break;
        sched_setaffinity(0, sizeof allowed, &allowed); /* it stays where it is, and may be moved again */
    }
    __atomic_fetch_sub(&places->absent, 1, __ATOMIC_RELAXED);
    for (int k = 0; k < YIELDS && __atomic_load_n(&places->absent, __ATOMIC_RELAXED) > 0; k++)
        sched_yield(); /* one of them may be waiting for this CPU */
}

/* Moves threads that were woken on one CPU to others. Kernels of Linux may wake a thread where the one runs that wakes it,
even if the next CPU is idle; both spin in turns then, until one is moved after some ten milliseconds. */
EXPORTED void spread_threads(int threads)
{
    Places places;
    if (!parallel || threads < 2)
        return;
    CPU_ZERO(&places.taken);
    places.absent = threads;
    parallel(take_place, &places, (unsigned)threads, 0);
}
#else
EXPORTED void spread_threads(int threads) { (void)threads; }
#endif

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
