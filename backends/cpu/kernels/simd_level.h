/* SIMD dispatch: runtime dispatch by instruction set level to functions compiled once for each level.

   Three levels: baseline (the instructions of the compiler's target, SSE2 on x86-64), AVX2 (with FMA and
   F16C) and AVX-512 (F, VL, DQ, BW). `simd_level` is the highest level of the processor, or the lower one
   that the environment variable TS_SIMD names (`baseline`, `avx2`, `avx512`). Every extension that includes
   this file sets its copy when it is loaded, so all kernels of a process run at one level. `simd_level.pyx`
   raises an error for other values of TS_SIMD.

   A function with a version for each level is written once, inlined into three wrappers, and called by its name:

       SIMD_BODY void add_rows_body(const float *x, const float *y, ptrdiff_t n, float *out) { ... }
       SIMD_VERSIONS(void, add_rows, (const float *x, const float *y, ptrdiff_t n, float *out), (x, y, n, out))
*/

#ifndef TS_SIMD_LEVEL_H
#define TS_SIMD_LEVEL_H

#include <stdlib.h>
#include <string.h>

enum { SIMD_BASELINE, SIMD_AVX2, SIMD_AVX512 };

#define SIMD_BODY static inline __attribute__((always_inline, unused))

#if defined(__x86_64__) && defined(__GNUC__) /* clang defines this macro too */
#define HAS_SIMD_LEVELS 1
#ifdef __clang__
#define WHOLE_VECTORS
#else
#define WHOLE_VECTORS ",prefer-vector-width=512" /* GCC would use 256 bits by default */
#endif
#define TARGET_AVX2 __attribute__((target("avx2,fma,f16c"), unused))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c" WHOLE_VECTORS), unused))

/* CPU feature detection: return the highest level whose instructions the processor and the operating system support. */
static int detect_simd_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return SIMD_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512bw"))
        return SIMD_AVX512;
    return SIMD_AVX2;
}

static int simd_level = SIMD_BASELINE;

__attribute__((constructor)) static void initialize_simd_level(void) {
    const char *requested = getenv("TS_SIMD");
    simd_level = detect_simd_level();
    if (requested && !strcmp(requested, "baseline")) simd_level = SIMD_BASELINE;
    if (requested && !strcmp(requested, "avx2") && simd_level > SIMD_AVX2) simd_level = SIMD_AVX2;
}

#define SIMD_VERSIONS(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    TARGET_AVX512 static RESULT NAME##_avx512 PARAMETERS { return NAME##_body ARGUMENTS; } \
    TARGET_AVX2 static RESULT NAME##_avx2 PARAMETERS { return NAME##_body ARGUMENTS; } \
    __attribute__((noinline, unused)) static RESULT NAME##_baseline PARAMETERS { return NAME##_body ARGUMENTS; } \
    __attribute__((unused)) static inline RESULT NAME PARAMETERS { \
        if (simd_level == SIMD_AVX512) return NAME##_avx512 ARGUMENTS; \
        if (simd_level == SIMD_AVX2) return NAME##_avx2 ARGUMENTS; \
        return NAME##_baseline ARGUMENTS; \
    }
#else
#define HAS_SIMD_LEVELS 0
enum { simd_level = SIMD_BASELINE };
static inline int detect_simd_level(void) { return SIMD_BASELINE; }
#define SIMD_VERSIONS(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    __attribute__((unused)) static RESULT NAME PARAMETERS { return NAME##_body ARGUMENTS; }
#endif

#endif
