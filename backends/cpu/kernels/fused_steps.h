/* Optimizer steps for one parameter: gradient, state and parameter are read and written in one pass.

   In: contiguous elements and the options of the rule. Out: the parameter and its state, updated in place. A
   product and sum are fused (`FMA`) exactly where PyTorch's operators do so, so that the results are
   bit-identical to its unfused optimizers. */

#ifndef TS_FUSED_STEPS_H
#define TS_FUSED_STEPS_H

#include <math.h>
#include <stddef.h>

#include "simd_level.h"

#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define WITH_FMA TARGET_AVX2
#define HAS_FMA() (simd_level >= SIMD_AVX2)
#else
#define WITH_FMA
#define HAS_FMA() 0
#endif
#define STEP_INLINE static inline __attribute__((always_inline))

enum { STEP_BLOCK = 256, STEP_LANES = 8 }; /* number of elements whose square roots are computed together */

/* Compute square roots in place. `x` must have room for a whole vector after element n. Written with SIMD
   intrinsics, because compilers do not vectorize `sqrt`, which may set `errno`. */
#define ROOTS(NAME, T, TARGET, LANES, LOAD, STORE, ROOT) \
TARGET static void NAME(T *x, ptrdiff_t n) { \
    for (ptrdiff_t i = n; i % STEP_LANES; i++) x[i] = 0; \
    for (ptrdiff_t i = 0; i < n; i += LANES) STORE(x + i, ROOT(LOAD(x + i))); \
}
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
ROOTS(roots_float_fma, float, WITH_FMA, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_sqrt_ps)
ROOTS(roots_double_fma, double, WITH_FMA, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_sqrt_pd)
ROOTS(roots_float_plain, float, , 4, _mm_loadu_ps, _mm_storeu_ps, _mm_sqrt_ps)
ROOTS(roots_double_plain, double, , 2, _mm_loadu_pd, _mm_storeu_pd, _mm_sqrt_pd)
#else
#define FETCH(ADDRESS) (*(ADDRESS))
#define PUT(ADDRESS, VALUE) (*(ADDRESS) = (VALUE))
ROOTS(roots_float_plain, float, , 1, FETCH, PUT, sqrtf)
ROOTS(roots_double_plain, double, , 1, FETCH, PUT, sqrt)
#define roots_float_fma roots_float_plain
#define roots_double_fma roots_double_plain
#endif

typedef struct {
    double lr, momentum, gain, weight_decay; /* gain is 1 - dampening */
    int nesterov, maximize, first;
} SgdRule;

typedef struct {
    double lr, beta1, beta2, weight_decay, eps;
    int amsgrad, maximize, decoupled;
} AdamRule;

typedef struct {
    double lr, lr_decay, weight_decay, eps;
    int maximize;
} AdagradRule;

/* a * b + c, rounded once in functions named `exact`, twice in those named `plain`. */
STEP_INLINE float exact_float(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
STEP_INLINE double exact_double(double a, double b, double c) { return __builtin_fma(a, b, c); }
STEP_INLINE float plain_float(float a, float b, float c) { return a * b + c; }
STEP_INLINE double plain_double(double a, double b, double c) { return a * b + c; }

#define RULES(T, FMA, TARGET, SUFFIX) \
TARGET static void sgd_##SUFFIX(T *restrict p, const T *restrict grad, T *restrict memory, ptrdiff_t n, const SgdRule *rule) { \
    const T sign = rule->maximize ? -1 : 1, decay = (T)rule->weight_decay, by = (T)-rule->lr; \
    const T momentum = (T)rule->momentum, gain = (T)rule->gain; \
    if (!memory) { \
        for (ptrdiff_t i = 0; i < n; i++) { \
            T g = sign * grad[i]; \
            if (decay != 0) g = FMA(p[i], decay, g); \
            p[i] = FMA(g, by, p[i]); \
        } \
        return; \
    } \
    for (ptrdiff_t i = 0; i < n; i++) { \
        T g = sign * grad[i]; \
        if (decay != 0) g = FMA(p[i], decay, g); \
        T m = rule->first ? g : FMA(g, gain, memory[i] * momentum); \
        memory[i] = m; \
        p[i] = FMA(rule->nesterov ? FMA(m, momentum, g) : m, by, p[i]); \
    } \
} \
STEP_INLINE void adam_of_##SUFFIX(T *restrict p, const T *restrict grad, T *restrict mean, T *restrict squares, \
                                  T *restrict largest, ptrdiff_t n, double step, const AdamRule *rule, const int low) { \
    const T sign = rule->maximize ? -1 : 1, decay = (T)(rule->decoupled ? 0 : rule->weight_decay); \
    const T shorter = (T)(rule->decoupled && rule->weight_decay != 0 ? 1 - rule->lr * rule->weight_decay : 1); \
    const T weight = (T)(1 - rule->beta1), keep = (T)rule->beta2, add = (T)(1 - rule->beta2), eps = (T)rule->eps; \
    const T root = (T)sqrt(1 - pow(rule->beta2, step)), by = (T)-(rule->lr / (1 - pow(rule->beta1, step))); \
    T roots[STEP_BLOCK]; \
    for (ptrdiff_t at = 0; at < n; at += STEP_BLOCK) { \
        const ptrdiff_t some = n - at < STEP_BLOCK ? n - at : STEP_BLOCK; \
        for (ptrdiff_t i = 0; i < some; i++) { \
            T x = p[at + i] * shorter, g = sign * grad[at + i], m = mean[at + i]; \
            if (decay != 0) g = FMA(x, decay, g); \
            mean[at + i] = low ? FMA(g - m, weight, m) : FMA(g - m, weight - 1, g); \
            roots[i] = squares[at + i] = FMA(add * g, g, squares[at + i] * keep); \
        } \
        if (largest) { \
            for (ptrdiff_t i = 0; i < some; i++) { \
                T before = largest[at + i]; \
                roots[i] = largest[at + i] = (before != before) | (before > roots[i]) ? before : roots[i]; \
            } \
        } \
        roots_##SUFFIX(roots, some); \
        for (ptrdiff_t i = 0; i < some; i++) p[at + i] = p[at + i] * shorter + by * mean[at + i] / (roots[i] / root + eps); \
    } \
} \
TARGET static void adam_##SUFFIX(T *restrict p, const T *restrict grad, T *restrict mean, T *restrict squares, \
                                 T *restrict largest, ptrdiff_t n, double step, const AdamRule *rule) { \
    if (1 - rule->beta1 >= 0.5) adam_of_##SUFFIX(p, grad, mean, squares, largest, n, step, rule, 0); \
    else if (largest) adam_of_##SUFFIX(p, grad, mean, squares, largest, n, step, rule, 1); \
    else adam_of_##SUFFIX(p, grad, mean, squares, NULL, n, step, rule, 1); \
} \
TARGET static void adagrad_##SUFFIX(T *restrict p, const T *restrict grad, T *restrict sum, ptrdiff_t n, double step, \
                                    const AdagradRule *rule) { \
    const T sign = rule->maximize ? -1 : 1, decay = (T)rule->weight_decay, eps = (T)rule->eps; \
    const T by = (T)-(rule->lr / (1 + (step - 1) * rule->lr_decay)); \
    T roots[STEP_BLOCK], changes[STEP_BLOCK]; \
    for (ptrdiff_t at = 0; at < n; at += STEP_BLOCK) { \
        const ptrdiff_t some = n - at < STEP_BLOCK ? n - at : STEP_BLOCK; \
        for (ptrdiff_t i = 0; i < some; i++) { \
            T g = sign * grad[at + i]; \
            if (decay != 0) g = FMA(p[at + i], decay, g); \
            changes[i] = g; \
            roots[i] = sum[at + i] = FMA(g, g, sum[at + i]); \
        } \
        roots_##SUFFIX(roots, some); \
        for (ptrdiff_t i = 0; i < some; i++) p[at + i] += by * changes[i] / (roots[i] + eps); \
    } \
} \
TARGET static void unscale_##SUFFIX(T *grad, ptrdiff_t n, double scale) { \
    for (ptrdiff_t i = 0; i < n; i++) grad[i] /= (T)scale; \
}

RULES(float, exact_float, WITH_FMA, float_fma)
RULES(double, exact_double, WITH_FMA, double_fma)
RULES(float, plain_float, , float_plain)
RULES(double, plain_double, , double_plain)

/* Selection of a function by dtype and FMA support. */
#define CHOOSE(NAME, FLOATS, ...) \
    (HAS_FMA() ? (FLOATS) ? NAME##_float_fma(__VA_ARGS__) : NAME##_double_fma(__VA_ARGS__) \
               : (FLOATS) ? NAME##_float_plain(__VA_ARGS__) : NAME##_double_plain(__VA_ARGS__))

static void step_sgd(int floats, void *p, void *grad, void *memory, ptrdiff_t n, const SgdRule *rule) {
    CHOOSE(sgd, floats, p, grad, memory, n, rule);
}
static void step_adam(int floats, void *p, void *grad, void *mean, void *squares, void *largest, ptrdiff_t n, double step,
                      const AdamRule *rule) {
    CHOOSE(adam, floats, p, grad, mean, squares, largest, n, step, rule);
}
static void step_adagrad(int floats, void *p, void *grad, void *sum, ptrdiff_t n, double step, const AdagradRule *rule) {
    CHOOSE(adagrad, floats, p, grad, sum, n, step, rule);
}
static void step_unscale(int floats, void *grad, ptrdiff_t n, double scale) { CHOOSE(unscale, floats, grad, n, scale); }

#pragma GCC pop_options
#endif
