/* Elementary functions of floats and doubles in whole vectors: the mathematics, without tables and without branches.

   In: a row and its length; out: another row, which may be the same.  `simd.h` says how vectors are compiled; these are compiled for
   processors that multiply and add at once, too.  The last elements of a row are computed in a vector of their own, so that an
   element has the same bits wherever it stands.  Polynomials were fitted by Remez's exchange in 40 digits; what is reduced, and
   how the parts are added, follows fdlibm.  tests/test_vector_math.py holds how far they may be from the truth. */

#ifndef TS_VECTOR_MATH_H
#define TS_VECTOR_MATH_H

#include "simd.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define MATH_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MATH_CLONES CLONES
#endif

typedef double wides __attribute__((vector_size(64)));
typedef int64_t wide_ints __attribute__((vector_size(64)));
typedef uint64_t wide_bits __attribute__((vector_size(64)));
typedef double any_wides __attribute__((vector_size(64), aligned(1), may_alias)); /* of any alignment */
typedef float narrows __attribute__((vector_size(32)));

enum { WIDES = 8 };

INLINE wides wide_at(const double *x) { return *(const any_wides *)x; }
INLINE void wide_to(double *x, wides v) { *(any_wides *)x = v; }
INLINE wides wide_choose(wide_ints mask, wides a, wides b) {
    return (wides)((mask & (wide_ints)a) | (~mask & (wide_ints)b));
}
INLINE wides wide_abs(wides x) { return (wides)((wide_ints)x & 0x7FFFFFFFFFFFFFFF); }
INLINE wides wide_signed(wides size, wides sign) { /* copysign */
    return (wides)((wide_ints)size | ((wide_ints)sign & (int64_t)0x8000000000000000));
}
INLINE lanes lane_abs(lanes x) { return (lanes)((int_lanes)x & 0x7FFFFFFF); }
INLINE lanes lane_signed(lanes size, lanes sign) { return (lanes)((int_lanes)size | ((int_lanes)sign & (int)0x80000000)); }

/* Polynomials with their coefficients from the constant on. */
#define SUM_2(x, a, b) ((b) * (x) + (a))
#define SUM_4(x, xx, a, b, c, d) (SUM_2(x, c, d) * (xx) + SUM_2(x, a, b))
#define SUM_8(x, xx, x4, a, b, c, d, e, f, g, h) (SUM_4(x, xx, e, f, g, h) * (x4) + SUM_4(x, xx, a, b, c, d))

/* ---------------------------------------------------------------- exponentials */

#define TO_WHOLE 6755399441055744.0 /* 1.5 * 2**52: behind an addition the integer stands in the low bits */

/* e**r - 1 for |r| <= ln(2) / 2. */
INLINE wides wide_exp_near(wides r) {
    wides rr = r * r, r4 = rr * rr;
    wides p = SUM_8(r, rr, r4, 0.5, 0.1666666666666667144, 0.04166666666666668552, 0.008333333333325544193, 0.00138888888888732111,
                    0.0001984126987686586633, 0.00002480158735014265775, 2.755725283174264402e-6);
    p = p + (r4 * r4) * (SUM_2(r, 2.755725022866379894e-7, 2.510627543666706532e-8) + rr * 2.092248678940260047e-9);
    return p * rr + r;
}

/* y * 2**n for whole n that may be outside of the exponents: in two steps, the second of which rounds. */
INLINE wides wide_scaled(wides y, wides n) {
    wides half = n * 0.5 + TO_WHOLE, rest = (n - (half - TO_WHOLE)) + TO_WHOLE;
    wide_ints one = (wide_ints)((wides){0} + 1.0);
    return (y * (wides)(((wide_ints)half << 52) + one)) * (wides)(((wide_ints)rest << 52) + one);
}

/* exp(x + more), where `more` is small. */
INLINE wides wide_exp_of_two(wides x, wides more) {
    wides v = wide_choose(x > 710.0, (wides){0} + 710.0, x);
    v = wide_choose(v < -746.0, (wides){0} - 746.0, v);
    wides n = (v * 1.44269504088896340736 + TO_WHOLE) - TO_WHOLE;
    wides r = (v - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    return wide_scaled(1.0 + wide_exp_near(r + more), n);
}
INLINE wides wide_exp(wides x) { return wide_exp_of_two(x, (wides){0}); }

/* exp(x) for x from -700 to 0, to 32 bits. */
INLINE wides wide_exp_rough(wides x) {
    wides shifted = x * 1.44269504088896340736 + TO_WHOLE, n = shifted - TO_WHOLE;
    wides r = x - n * 0.693147180559945309417, rr = r * r;
    wides p = SUM_2(r, 0.5000000014295948621, 0.1666666676192583262) +
              rr * (SUM_2(r, 0.04166645674616955974, 0.008333284103416314498) + rr * SUM_2(r, 0.001393454711175840776, 0.0001990890632812082576));
    return (wides)(((wide_ints)shifted << 52) + (wide_ints)((wides){0} + 1.0)) * (p * rr + (r + 1.0));
}

/* e**r - 1 for |r| <= ln(2) / 2, and the whole powers of two that are left. */
INLINE lanes lane_exp_near(lanes x, lanes *n) {
    lanes whole = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
    lanes high = x - whole * 0.693359375f, low = whole * 2.12194440e-4f, r = high + low, rr = r * r;
    lanes p = (r * 1.394216242600676575e-3f + 8.363779058856013663e-3f) * rr;
    *n = whole;
    p = (p + (r * 4.166636344554231133e-2f + 1.666657333426242479e-1f)) * r + 5.000000028582172039e-1f;
    return (p * rr + ((high - r) + low)) + r;
}
INLINE lanes lane_power(lanes n) { return (lanes)(((int_lanes)(n + 12582912.0f) << 23) + 0x3F800000); }

INLINE lanes lane_exp(lanes x) {
    lanes v = choose(x > 89.0f, (lanes){0} + 89.0f, x), n;
    v = choose(v < -104.0f, (lanes){0} - 104.0f, v);
    lanes y = 1.0f + lane_exp_near(v, &n);
    lanes half = (n * 0.5f + 12582912.0f) - 12582912.0f;
    return (y * lane_power(half)) * lane_power(n - half);
}

/* ---------------------------------------------------------------- a logarithm of few digits */

/* 1 / x to 46 bits, for what floats can hold; a division of doubles takes longer than this with all the rest. */
INLINE wides wide_inverse(wides x) {
    wides y = __builtin_convertvector(1.0f / __builtin_convertvector(x, narrows), wides);
    return y * (2.0 - x * y);
}

/* To 32 bits, for x from 1e-300 on. */
INLINE wides wide_log_rough(wides x) {
    wide_ints bits = (wide_ints)x, above = bits - 0x3FE6A09E667F3BCD;
    wide_ints power = (wide_ints)((wide_bits)(above + ((int64_t)1024 << 52)) >> 52) - 1024;
    wides f = (wides)(bits - (above & ((int64_t)0xFFF << 52))) - 1.0;
    wides k = (wides)((wide_ints)((wides){0} + TO_WHOLE) + power) - TO_WHOLE;
    wides s = f * wide_inverse(2.0 + f), z = s * s;
    wides p = z * SUM_4(z, z * z, 0.6666666654358075435, 0.4000013037565797097, 0.2854988418160887967, 0.2335530380897821179);
    return k * 0.693147180559945309417 + (s * p + 2.0 * s);
}

/* ---------------------------------------------------------------- sine and cosine */

enum { FEW_TURNS = 1000000 }; /* beyond, the C library's: there are too few digits of pi here */

/* sin(x + turn * pi / 2), for turn 0 and 1. */
INLINE wides wide_sine(wides x, int turn) {
    wides shifted = x * 0.63661977236758134308 + TO_WHOLE, n = shifted - TO_WHOLE;
    wides first = x - n * 1.57079632673412561417e+00, then = n * 6.07710050630396597660e-11;
    wides r = first - then, lost = n * 2.02226624879595063154e-21 - ((first - r) - then);
    wides y = r - lost, more = (r - y) - lost, z = y * y, zz = z * z;
    wides s = SUM_4(z, zz, 0.00833333333333333126, -0.0001984126984126456858, 2.755731921895653471e-6, -2.505210610079490258e-8) +
              zz * zz * SUM_2(z, 1.605851095124059182e-10, -7.585490499422335826e-13);
    wides v = z * y, sine = y - ((z * (0.5 * more - v * s) - more) + v * 0.1666666666666666667);
    wides c = SUM_4(z, zz, 0.04166666666666666667, -0.001388888888888888774, 0.00002480158730158437026, -2.755731922118995907e-7) +
              zz * zz * (SUM_2(z, 2.087675571784541631e-9, -1.147044939134839081e-11) + zz * 4.745200761242130736e-14);
    wides h = 0.5 * z, w = 1.0 - h, cosine = w + (((1.0 - w) - h) + (z * (z * c) - y * more));
    wide_ints quarter = (wide_ints)shifted + turn;
    wides found = wide_choose((quarter & 1) == 0, sine, cosine);
    found = (wides)((wide_ints)found ^ ((quarter & 2) << 62));
    return turn ? found : wide_choose(x == 0.0, x, found);
}

INLINE int is_zero(wides x) {
    typedef int64_t four __attribute__((vector_size(32)));
    four a = ((four *)&x)[0] | ((four *)&x)[1];
    return ((a[0] | a[1]) | (a[2] | a[3])) == 0;
}

#define SINE(NAME, TURN) \
INLINE wides wide_##NAME(wides x) { \
    wides y = wide_sine(x, TURN); \
    if (!is_zero(wide_choose(wide_abs(x) <= (double)FEW_TURNS, (wides){0}, (wides){0} + 1.0))) \
        for (int i = 0; i < WIDES; i++) \
            if (!(fabs(x[i]) <= FEW_TURNS)) y[i] = NAME(x[i]); \
    return y; \
}

/* ---------------------------------------------------------------- error functions */

/* erf(x) / x - 1 for |x| <= 1.41, by u = x * x. */
INLINE wides wide_erf_near(wides u) {
    wides uu = u * u, u4 = uu * uu;
    wides p = SUM_8(u, uu, u4, 0.1283791670955125739, -0.3761263890318375182, 0.1128379167095509912, -0.02686617064512686629,
                    0.005223977625404108253, -0.0008548327021445068273, 0.0001205533291223146499, -0.00001492564868671388675);
    wides q = SUM_8(u, uu, u4, 1.646208559652065217e-6, -1.636548299004791832e-7, 1.480383732104243942e-8, -1.226756316578531594e-9,
                    9.3073779456181659e-11, -6.295728812568119802e-12, 3.426550210426376882e-13, -1.097516362318899516e-14);
    return p + u4 * u4 * q;
}

/* Beyond 1.2 it is 1 - exp(-q). */
INLINE wides wide_erf(wides x) {
    wides size = wide_abs(x), z = wide_choose(size > 6.0, (wides){0} + 6.0, size);
    z = wide_choose(size < 1.0, (wides){0} + 1.0, z); /* what is not used may not be subnormal: that takes long */
    wides zz = z * z, z4 = zz * zz;
    wides q = SUM_8(z, zz, z4, 3.772209705518088597e-6, 1.128346262386329504, 0.6367538630393805741, 0.1024335709073182524,
                    -0.01853300263227504043, -0.0009792477603052466982, 0.002453499709962129591, -0.001165106524581475459);
    q = q + z4 * z4 * SUM_8(z, zz, z4, 0.0003624730723287165355, -0.0000833186221236967354, 0.0000144442911035946803, -1.861151807794666064e-6,
                            1.710220083915471706e-7, -1.035897833270201915e-8, 3.531940156115391051e-10, -4.483945646946211445e-12);
    wides shifted = q * -1.44269504088896340736 + TO_WHOLE, n = shifted - TO_WHOLE;
    wides r = (-q - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10, rr = r * r, r4 = rr * rr;
    wides e = SUM_8(r, rr, r4, 0.5000000000000002281, 0.1666666666664677908, 0.0416666666665911158, 0.008333333354972991335,
                    0.001388888893095335356, 0.0001984120627266548988, 0.00002480150294683033694, 2.762646719733807867e-6);
    e = ((e + r4 * r4 * 2.762774901708985626e-7) * rr + r) + 1.0;
    wides far = wide_signed(1.0 - e * (wides)(((wide_ints)shifted << 52) + (wide_ints)((wides){0} + 1.0)), x);
    wides small = wide_choose(size > 1e-10, x, (wides){0} + 1e-10);
    return wide_choose(size < 1.2, x + x * wide_erf_near(small * small), far);
}

/* erfc(z) = exp(-z * z) * p(t) / (1 + 2 * z) with t = (z - 2) / (z + 2); z * z is exp's argument in two parts. */
INLINE wides wide_erfc(wides x) {
    wides size = wide_abs(x), z = wide_choose(size > 28.0, (wides){0} + 28.0, size);
    wides down = z + 2.0, up = 1.0 + 2.0 * z, r = 1.0 / (down * up), t = (z - 2.0) * (r * up), tt = t * t, t4 = tt * tt;
    wides p = SUM_8(t, tt, t4, 1.276978381552528714, -0.09276382658574594362, -0.1660303976152865994, 0.1640512800334311971,
                    -0.05422000099226529367, -0.008034015081841338073, 0.008722653882959954625, 0.001271338950886248107);
    wides q = SUM_8(t, tt, t4, -0.001456814064337149264, -0.0004543406073459883597, 0.0002063683102396692932, 0.0001510370939779426578,
                    -0.000001516182573225535616, -0.00003641069155817256847, -0.00001346995512439333649, 0.000003659886200814536157);
    wides s = SUM_8(t, tt, t4, 0.000005173307550708625457, 0.000001638011257683847145, -6.359998282487431007e-7, -0.000001059355693470276900,
                    -2.780700878961137939e-7, 3.592282572877806807e-7, 1.222871947103168228e-7, -8.024621991876179890e-8);
    p = p + t4 * t4 * (q + t4 * t4 * s);
    wides high = (wides)((wide_ints)z & ~(int64_t)0x7FFFFFF), low = (high - z) * (high + z);
    wides tail = wide_exp_of_two(-(high * high), low) * (p * (r * down));
    wides far = wide_choose(x < 0.0, 2.0 - tail, tail), near = 1.0 - (x + x * wide_erf_near(x * x));
    far = wide_choose(x == x, far, x);
    return wide_choose(x < 0.4, wide_choose(x > -1.0, near, far), far); /* GCC takes `&` of comparisons apart lane by lane */
}

INLINE lanes lane_erf(lanes x) {
    lanes size = lane_abs(x), z = choose(size > 4.0f, (lanes){0} + 4.0f, size);
    z = choose(size < 1.0f, (lanes){0} + 1.0f, z);
    lanes small = choose(size > 1e-4f, x, (lanes){0} + 1e-4f), u = small * small, uu = u * u, zz = z * z;
    lanes near = SUM_8(u, uu, uu * uu, 0.128379164989918393f, -0.3761262362908743704f, 0.1128360704581966277f, -0.02685755508486736829f,
                       0.005203956573278418437f, -0.0008290927384089845031f, 0.0001016272824397578027f, -7.142686850210720239e-6f);
    lanes q = SUM_8(z, zz, zz * zz, -0.0001834459926008171706f, 1.129556840410723578f, 0.6332625894468991445f, 0.108372506561970634f,
                    -0.02517898792157149836f, 0.004193619550432350922f, -0.0004391083021096728917f, 0.00002149629751248802602f);
    lanes shifted = q * -1.44269504088896341f + 12582912.0f, n = shifted - 12582912.0f, r = -q - n * 0.693147180559945f, rr = r * r;
    lanes e = (r * 8.363779058856013663e-3f + 4.166636344554231133e-2f) * rr + (r * 1.666657333426242479e-1f + 5.000000028582172039e-1f);
    lanes power = (lanes)(((int_lanes)shifted << 23) + 0x3F800000);
    e = e + rr * rr * 1.394216242600676575e-3f;
    lanes far = 1.0f - power * (e * rr + (r + 1.0f));
    return choose(size < 1.1f, x + x * near, choose(x == x, lane_signed(far, x), x));
}

/* ---------------------------------------------------------------- floats by way of doubles, rounded once */

INLINE wides narrow_erfc(wides x) {
    wides size = wide_abs(x), z = wide_choose(size > 10.2, (wides){0} + 10.2, size);
    wides down = z + 2.0, up = 1.0 + 2.0 * z, d = down * up;
    wides r = wide_inverse(d);
    wides t = (z - 2.0) * (r * up), tt = t * t, t4 = tt * tt;
    wides p = SUM_8(t, tt, t4, 1.276978381807523081, -0.09276382857302213559, -0.1660304305292792852, 0.1640513560896964342,
                    -0.05421928248744526172, -0.008034658770713887848, 0.008716700473558484861, 0.001272001353757359474);
    p = p + t4 * t4 * (SUM_4(t, tt, -0.001434087998136259999, -0.0004445291848673109914, 0.0001673322766477057841, 0.0001157611743980046254) +
                       t4 * 0.00001748832474871057837);
    wides tail = wide_exp_rough(-(z * z)) * (p * (r * down));
    tail = wide_choose(x < 0.0, 2.0 - tail, tail);
    return wide_choose(x == x, tail, x);
}

/* By w = -log(1 - x * x): in w around 2.5, and beyond in its root (as Giles has it). */
INLINE wides narrow_erfinv(wides x) {
    wides out = 1.0 - x * x, w = -wide_log_rough(wide_choose(out > 1e-16, out, (wides){0} + 1e-16));
    wides y = (wides)(0x5FE6EB50C7B537A9 - (wide_ints)((wide_bits)w >> 1)), half = 0.5 * w; /* 1 / sqrt(w), by Newton */
    y = y * (1.5 - half * y * y);
    y = y * (1.5 - half * y * y);
    y = y * (1.5 - half * y * y);
    wides root = w * y;
    wides a = w - 2.5, b = root - 3.0, aa = a * a, bb = b * b;
    wides near = SUM_8(a, aa, aa * aa, 1.501409351692499945, 0.2466402757852976857, -0.004177324635409946208, -0.001252704875867108038,
                       0.0002182635565551666066, -4.998760450074743654e-6, -3.42601178199010545e-6, 4.796990464761677953e-7) +
                 aa * aa * aa * aa * SUM_4(a, aa, 1.645716545930672965e-8, -1.102323970624170661e-8, 4.370350431508147197e-10, 1.328603129926809173e-10);
    wides far = SUM_8(b, bb, bb * bb, 2.832976798144254674, 1.001675257852071897, 0.009445572541780474104, -0.007643216367260724977,
                      0.005684351360474631746, -0.003563885704145333188, 0.001489486404345149452, -0.0001311521443786171711) +
                bb * bb * bb * bb * SUM_4(b, bb, -0.0003027805153919806631, 0.0001794896639746926828, -0.00001377194576552902628, -0.00001235036915763723918);
    y = x * wide_choose(w < 5.0, near, far);
    y = wide_choose(out == 0.0, wide_signed((wides){0} + INFINITY, x), y);
    return wide_choose(out < 0.0, (wides){0} + NAN, wide_choose(x == x, y, x));
}

/* ---------------------------------------------------------------- rows */

#define WITH_TAIL(T, V, COUNT, AT, TO, VALUE) \
    ptrdiff_t i = 0; \
    for (; i + COUNT <= n; i += COUNT) { \
        V v = AT(x + i); \
        TO(out + i, VALUE); \
    } \
    if (i < n) { \
        V v = {0}; \
        memcpy(&v, x + i, (n - i) * sizeof(T)); \
        v = VALUE; \
        memcpy(out + i, &v, (n - i) * sizeof(T)); \
    }

#define MATH_ROW(NAME, T, V, COUNT, AT, TO, VALUE) \
MATH_CLONES static void NAME(const T *x, ptrdiff_t n, T *out) { WITH_TAIL(T, V, COUNT, AT, TO, VALUE) }
typedef float any_narrows __attribute__((vector_size(32), aligned(1), may_alias));
INLINE narrows narrow_at(const float *x) { return *(const any_narrows *)x; }
INLINE void narrow_to(float *x, narrows v) { *(any_narrows *)x = v; }

#define FLOAT_ROW(NAME) MATH_ROW(float_##NAME##_row, float, lanes, WIDTH, simd_at, simd_to, lane_##NAME(v))
#define DOUBLE_ROW(NAME) MATH_ROW(double_##NAME##_row, double, wides, WIDES, wide_at, wide_to, wide_##NAME(v))
#define NARROW_ROW(NAME) \
    MATH_ROW(float_##NAME##_row, float, narrows, WIDES, narrow_at, narrow_to, \
             __builtin_convertvector(narrow_##NAME(__builtin_convertvector(v, wides)), narrows))

FLOAT_ROW(exp)
FLOAT_ROW(erf)
NARROW_ROW(erfc)
NARROW_ROW(erfinv)
SINE(sin, 0)
SINE(cos, 1)
DOUBLE_ROW(sin)
DOUBLE_ROW(cos)
DOUBLE_ROW(erf)
DOUBLE_ROW(erfc)

/* ---------------------------------------------------------------- activations */

/* 1 / (1 + exp(-x)), without overflow on either side. */
INLINE wides wide_sigmoid(wides x) {
    wides small = wide_exp(-wide_abs(x)), y = 1.0 / (1.0 + small);
    return wide_choose(x < 0.0, small * y, y);
}
INLINE wides wide_silu(wides x) { return x * wide_sigmoid(x); }
INLINE wides wide_gelu(wides x) { return (0.5 * x) * wide_erfc(x * -0.70710678118654752440); }
INLINE wides wide_gelu_tanh(wides x) { return x * wide_sigmoid(x * 1.5957691216057308 * (1.0 + 0.044715 * (x * x))); }
DOUBLE_ROW(sigmoid)
DOUBLE_ROW(silu)
DOUBLE_ROW(gelu)
DOUBLE_ROW(gelu_tanh)

/* exp(x) - 1 for x <= 0 and NaN. */
INLINE lanes lane_expm1(lanes x) {
    lanes n, v = choose(x < -20.0f, (lanes){0} - 20.0f, x), e = lane_exp_near(v, &n), power = lane_power(n);
    return power * e + (power - 1.0f);
}
INLINE wides wide_expm1(wides x) {
    wides v = wide_choose(x < -40.0, (wides){0} - 40.0, x), shifted = v * 1.44269504088896340736 + TO_WHOLE, n = shifted - TO_WHOLE;
    wides e = wide_exp_near((v - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10);
    wides power = (wides)(((wide_ints)shifted << 52) + (wide_ints)((wides){0} + 1.0));
    return power * e + (power - 1.0);
}

/* log(1 + exp(x)): by the polynomial of log(1 + u) / u for u from 0 to 1. */
INLINE lanes lane_softplus(lanes x) {
    lanes u = lane_exp((lanes)((int_lanes)x | (int)0x80000000)), v = only(u > 1e-9f, u), vv = v * v;
    lanes p = SUM_2(v, 0.04147748048522075928f, -0.01340717129236517796f) + vv * 0.002030168556810121956f;
    p = p * vv + SUM_2(v, 0.1241837820076216298f, -0.08244090059724150293f);
    p = p * vv + SUM_2(v, 0.1989074202352943913f, -0.1610566776638506158f);
    p = p * vv + SUM_2(v, 0.3333255958971600182f, -0.2498727014697998884f);
    p = p * vv + SUM_2(v, 0.9999999992570225148f, -0.4999998143409343202f);
    return only(x > 0.0f, x) + u * p; /* NaN comes by u */
}

MATH_CLONES static void float_elu_row(const float *x, ptrdiff_t n, float alpha, float scale, float input_scale, float *out) {
    WITH_TAIL(float, lanes, WIDTH, simd_at, simd_to, choose(v > 0.0f, v, lane_expm1(choose(v > 0.0f, -v, v) * input_scale) * alpha) * scale)
}
MATH_CLONES static void double_elu_row(const double *x, ptrdiff_t n, double alpha, double scale, double input_scale, double *out) {
    WITH_TAIL(double, wides, WIDES, wide_at, wide_to,
              wide_choose(v > 0.0, v, wide_expm1(wide_choose(v > 0.0, -v, v) * input_scale) * alpha) * scale)
}
MATH_CLONES static void float_softplus_row(const float *x, ptrdiff_t n, float beta, float threshold, float *out) {
    WITH_TAIL(float, lanes, WIDTH, simd_at, simd_to, choose(v * beta > threshold, v, lane_softplus(v * beta) / beta))
}
MATH_CLONES static void float_log_sigmoid_row(const float *x, ptrdiff_t n, float *out) {
    WITH_TAIL(float, lanes, WIDTH, simd_at, simd_to, -lane_softplus(-v))
}

#endif
