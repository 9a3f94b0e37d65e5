/* Generation of a block of Mersenne Twister words: the next 624 words, and uniform numbers made from them.

   In: the state's words in PyTorch's layout, 32 bits in 64. Out: the words after the twist, or numbers. In C,
   for the macros of `simd_level.h`. `fma` rounds each number once, so all SIMD levels give the same bits. */

#ifndef TS_WORDS_H
#define TS_WORDS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "simd_level.h"

enum { WORDS = 624, FAR = 397 };

static inline uint64_t twisted(uint64_t far, uint64_t here, uint64_t next) {
    uint64_t y = (here & 0x80000000u) | (next & 0x7FFFFFFFu);
    return far ^ (y >> 1) ^ ((0 - (y & 1)) & 0x9908B0DFu);
}

SIMD_BODY void twist_words_body(uint64_t *w) {
    for (int i = 0; i < WORDS - FAR; i++) w[i] = twisted(w[i + FAR], w[i], w[i + 1]);
    for (int i = WORDS - FAR; i < WORDS - 1; i++) w[i] = twisted(w[i + FAR - WORDS], w[i], w[i + 1]);
    w[WORDS - 1] = twisted(w[FAR - 1], w[WORDS - 1], w[0]);
}
SIMD_VERSIONS(void, twist_words, (uint64_t *w), (w))

static inline uint64_t tempered(uint64_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    return y ^ (y >> 18);
}

/* low + span * u for a uniform u in [0, 1) made of 24 bits of a word. */
SIMD_BODY void floats_of_words_body(const uint64_t *w, ptrdiff_t n, float low, float span, float *out) {
    if (low == 0 && span == 1) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] = (float)(int32_t)(tempered(w[i]) & 0xFFFFFFu) * (1.0f / 16777216);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = fmaf((float)(int32_t)(tempered(w[i]) & 0xFFFFFFu) * (1.0f / 16777216), span, low);
}
SIMD_VERSIONS(void, floats_of_words, (const uint64_t *w, ptrdiff_t n, float low, float span, float *out), (w, n, low, span, out))

/* low + span * u for a uniform u in [0, 1) made of 53 bits of two words. The first word is the high half. */
SIMD_BODY void doubles_of_words_body(const uint64_t *w, ptrdiff_t n, double low, double span, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t both = (tempered(w[2 * i]) << 32 | tempered(w[2 * i + 1])) & 0x1FFFFFFFFFFFFFu;
        double unit = (double)(int64_t)both * (1.0 / 9007199254740992.0);
        out[i] = low == 0 && span == 1 ? unit : fma(unit, span, low);
    }
}
SIMD_VERSIONS(void, doubles_of_words, (const uint64_t *w, ptrdiff_t n, double low, double span, double *out), (w, n, low, span, out))

#endif
