/* Elementary functions of a vector of floats (`lane_exp` etc.). `narrow_sin` etc. compute in double and round
   once.

   Included after `simd_primitives.h`, `simd_math_coefficients.h` and `simd_math_f64.h`. Functions first
   compute the common case for all elements, and check once whether it applies to all. Other cases are then
   selected per element. "In two parts" means an unevaluated sum of two vectors, the second being the rounding
   error of the first. */

#ifndef TS_VECTOR_FLOATS_H
#define TS_VECTOR_FLOATS_H

/* ---------------------------------------------------------------- exponentials of floats */

#define LANE_WHOLE 12582912.0f /* 1.5 * 2**23: after this constant is added, the low bits hold the rounded integer */

/* e**r - 1 - r + `more` for |r| <= ln(2) / 2. */
INLINE lanes lane_exp_rest(lanes r, lanes more) {
    return lane_fused(LANE_SUM(r, 0.5f, 0.1666657685f, 0.04166655444f, 0.008363202972f, 0.001392621347f), r * r, more);
}
/* Compute e**r - 1 and n = k + LANE_WHOLE for x = r + k * ln(2). */
INLINE lanes lane_exp_near(lanes x, lanes *n) {
    lanes shifted = LANE_FUSED(x, 1.44269504088896341f, LANE_WHOLE), whole = shifted - LANE_WHOLE;
    lanes first = LANE_FUSED(whole, -0.693359375f, x), then = whole * 2.12194440e-4f, r = first + then;
    *n = shifted;
    return first + lane_exp_rest(r, then);
}
/* y * 2**k for n = k + LANE_WHOLE. `lane_raised` requires a normal result. */
INLINE lanes lane_raised(lanes y, lanes n) { return (lanes)((int_lanes)y + ((int_lanes)n << 23)); }
INLINE lanes lane_power(lanes n) { return (lanes)(((int_lanes)n << 23) + BITS.one); }
INLINE lanes lane_scaled(lanes y, lanes n) {
    lanes half = (n - LANE_WHOLE) * 0.5f + LANE_WHOLE, rest = ((n - LANE_WHOLE) - (half - LANE_WHOLE)) + LANE_WHOLE;
    return (y * lane_power(half)) * lane_power(rest);
}

INLINE lanes lane_exp(lanes x) {
    lanes n, y = 1.0f + lane_exp_near(x, &n);
    if (lane_all(lane_less(lane_abs(x), LANE(87.0f)))) return lane_raised(y, n);
    lanes v = lane_max(LANE(-105.0f), lane_min(LANE(90.0f), x));
    y = 1.0f + lane_exp_near(v, &n);
    return lane_scaled(y, n);
}
INLINE lanes lane_exp2(lanes x) {
    lanes v = lane_max(LANE(-151.0f), lane_min(LANE(129.0f), x)), n = v + LANE_WHOLE;
    lanes d = v - (n - LANE_WHOLE), r = d * 0.693147180559945f, y = 1.0f + LANE_FUSED(d, 0.693147180559945f, lane_exp_rest(r, (lanes){0}));
    if (lane_all(lane_less(lane_abs(x), LANE(126.0f)))) return lane_raised(y, n);
    return lane_scaled(y, n);
}

/* exp(x - less) in two parts, still to be multiplied by 2**n. `less` is small, such as the rounding error of
   x. */
INLINE lanes lane_exp_parts(lanes x, lanes less, lanes *low, lanes *n) {
    lanes shifted = LANE_FUSED(x, 1.44269504088896341f, LANE_WHOLE), whole = shifted - LANE_WHOLE, first = LANE_FUSED(whole, -0.693359375f, x);
    lanes r = LANE_FUSED(whole, 2.12194440e-4f, first), lost = LANE_FUSED(whole, 2.12194440e-4f, first - r) - less;
    lanes q = LANE_SUM(r, 0.5000000013f, 0.1666666668f, 0.0416664646f, 0.00833331089f, 0.001393368586f, 0.0001989103065f) * (r * r) + r, high = 1.0f + q;
    *n = shifted;
    *low = lane_fused(high, lost, q - (high - 1.0f));
    return high;
}

/* y / (1 + exp(-x)) for |x| < 16.0f. Here 1 + 2**n is exact, and 2**n * (e**r - 1) is added to it. */
INLINE lanes lane_by_sigmoid(lanes y, lanes x) {
    lanes n, q = lane_exp_near(-x, &n), power = lane_power(n), whole = 1.0f + power;
    lanes down = lane_fused(power, q, whole), lost = lane_fused(power, q, whole - down), inverse = lane_inverse(down), quotient = y * inverse;
    return lane_fused(lane_fused(-quotient, lost, lane_fused(-quotient, down, y)), inverse, quotient);
}
/* y * sigmoid(x) for any x, where y is 1 or x. */
INLINE lanes lane_by_sigmoid_far(lanes y, lanes x, lanes near) {
    lanes n, low, high = lane_exp_parts(lane_max(LANE(-120.0f), -lane_abs(x)), LANE(0.0f), &low, &n), small = lane_scaled(high, n);
    lanes times = lane_max(LANE(-120.0f), lane_min(LANE(1.0f), y)), p = times * high;
    lanes below = lane_scaled(p + ((lane_fused(times, high, -p) + times * low) - p * small), n);
    lanes far = lane_choose(lane_less(x, LANE(0.0f)), below, lane_choose(lane_less(y, LANE(120.0f)), y - y * small, y));
    return lane_choose(lane_less(lane_abs(x), LANE(16.0f)), near, far);
}
INLINE lanes lane_sigmoid(lanes x) {
    lanes y = lane_by_sigmoid(LANE(1.0f), x);
    return lane_all(lane_less(lane_abs(x), LANE(16.0f))) ? y : lane_by_sigmoid_far(LANE(1.0f), x, y);
}
INLINE lanes lane_silu(lanes x) {
    lanes y = lane_by_sigmoid(x, x);
    if (lane_all(lane_less(lane_abs(x), LANE(16.0f)))) return lane_signed(y, x);
    return lane_signed(lane_choose(lane_less(LANE(-INFINITY), x), lane_by_sigmoid_far(x, x, y), LANE(NAN)), x); /* NaN for -inf, like -inf * 0 */
}

/* ---------------------------------------------------------------- error functions and tanh of floats */

/* The polynomial of a table at z, in two parts. The bits of u = z + 1 select the interval. */
INLINE lanes lane_of_table(float_table table, lanes z, lanes *low) {
    int_lanes bits = (int_lanes)(z + 1.0f), i = bits >> 20;
    lanes d = z - ((lanes)((bits & (int32_t)0xFFF00000) | 0x00080000) - 1.0f);
    lanes c[7];
    lane_cells(table, 4, 3, i, c + 4);
    lane_cells(table, 0, 4, i, c);
    lanes p = c[6];
    for (int k = 5; k > 0; k--) p = p * d + c[k];
    lanes high = c[0] + p;
    *low = p - (high - c[0]);
    return high;
}
/* x * table(|x|) for a table that is constant for arguments of at least `limit`. */
INLINE lanes lane_odd_of_table(float_table table, lanes x, float limit) {
    lanes low, z = lane_min(LANE(limit), lane_abs(x)), high = lane_of_table(table, z, &low), p = z * high;
    return lane_signed(p + (lane_fused(z, high, -p) + z * low), x);
}
INLINE lanes lane_erf(lanes x) { return lane_odd_of_table(ERF, x, 4.0f); }
INLINE lanes lane_tanh(lanes x) { return lane_odd_of_table(TANH, x, 9.1f); }

/* table(z) * exp(-s - t) in two parts, still to be multiplied by 2**n. */
INLINE lanes lane_tail(float_table table, lanes z, lanes s, lanes t, lanes *low, lanes *n) {
    lanes el, e = lane_exp_parts(-s, t, &el, n), cl, c = lane_of_table(table, z, &cl), p = e * c;
    *low = lane_fused(e, c, -p) + (e * cl + el * c);
    return p;
}
INLINE lanes lane_erfc(lanes x) {
    lanes z = lane_min(LANE(10.2f), lane_abs(x)), s = z * z, low, n;
    lanes high = lane_tail(ERFCX, z, s, lane_fused(z, z, -s), &low, &n), y;
    if (lane_all(lane_less(z, LANE(9.0f)))) y = lane_raised(high + low, n);
    else y = lane_scaled(high + low, n);
    return lane_choose(lane_less(x, LANE(0.0f)), 2.0f - y, y);
}
/* max(x, 0) - |x| * erfc(|x| / sqrt(2)) / 2 */
INLINE lanes lane_gelu_far(lanes x) {
    lanes z = lane_min(LANE(14.5f), lane_abs(x)), half = z * 0.5f, s = half * z, low, n;
    lanes high = lane_tail(GELU, z, s, lane_fused(half, z, -s), &low, &n), p = z * high;
    low = lane_fused(z, high, -p) + z * low;
    return lane_choose(lane_less(LANE(0.0f), x), x, -lane_scaled(p + low, n));
}
/* The table has the midpoints of the intervals, the values at the midpoints, and a polynomial. `high` and
   `low` are |x| * table, before the multiplication by e**first * e**v. */
INLINE lanes lane_gelu(lanes x) {
    lanes z = lane_abs(x), half = z * 0.5f, s = half * z, over = lane_max(LANE(0.0f), x);
    int_lanes i = (int_lanes)LANE_FUSED(z, 5.75f, LANE_WHOLE);
    lanes c[7];
    lane_cells(GELU_NEAR, 0, 4, i, c);
    lane_cells(GELU_NEAR, 4, 3, i, c + 4);
    lanes d = z - c[0], value = c[1], p = c[6];
    for (int k = 5; k > 1; k--) p = lane_fused(p, d, c[k]);
    lanes high = z * value, low = LANE_FUSED(z, p * d, lane_fused(z, value, -high));
    lanes n = LANE_FUSED(s, -1.44269504088896341f, LANE_WHOLE), whole = n - LANE_WHOLE, first = LANE_FUSED(whole, -0.693359375f, -s);
    lanes then = LANE_FUSED(whole, 2.12194440e-4f, -lane_fused(half, z, -s)), r = first + then, v = lane_exp_rest(r, then);
    low = lane_fused(high, first, lane_fused(low, first + v, lane_fused(high, v, low)));
    lanes power = lane_power(n), t = high * power, y = over - t;
    y = y + (((over - y) - t) - low * power);
    if (!lane_all(lane_less(z, LANE(5.4f)))) y = lane_choose(lane_less(z, LANE(5.4f)), y, lane_gelu_far(x));
    return lane_signed(y, x);
}
/* max(x, 0) + exp(-|x|) * table(|x|), which is log(1 + exp(x)). */
INLINE lanes lane_softplus(lanes x) {
    lanes size = lane_abs(x), z = lane_min(LANE(14.9f), size), low, n;
    lanes high = lane_tail(SOFTPLUS, z, z, LANE(0.0f), &low, &n), over = lane_max(LANE(0.0f), x), power = lane_power(n), t = high * power;
    lanes more = lane_max(over, t), y = over + t;
    y = y + (((more - y) + lane_min(over, t)) + low * power);
    if (!lane_all(lane_less(size, LANE(14.9f)))) {
        high = lane_exp_parts(lane_max(LANE(-120.0f), -size), LANE(0.0f), &low, &n);
        t = lane_scaled(high, n);
        lanes far = lane_choose(lane_less(x, LANE(0.0f)), lane_scaled(high + (low - high * (t * 0.5f)), n), x + t);
        y = lane_choose(lane_less(size, LANE(14.9f)), y, far);
    }
    return y;
}
INLINE lanes lane_logsigmoid(lanes x) { return -lane_softplus(-x); }

/* x * table(1 - |x|); the exponent of 1 - |x| selects the interval. */
INLINE lanes lane_erfinv(lanes x) {
    lanes size = lane_abs(x);
    int_lanes bits = (int_lanes)(1.0f - size), i = bits >> 23;
    lanes c[10], d = (lanes)((bits & 0x007FFFFF) | 0x3F800000) - 1.5f;
    lane_cells(ERFINV, 8, 2, i, c + 8);
    lane_cells(ERFINV, 4, 4, i, c + 4);
    lane_cells(ERFINV, 0, 4, i, c);
    lanes p = c[9];
    for (int k = 8; k > 0; k--) p = p * d + c[k];
    lanes high = c[0] + p, low = p - (high - c[0]), y = size * high;
    y = y + (lane_fused(size, high, -y) + size * low);
    if (!lane_all(lane_less(size, LANE(1.0f))))
        y = lane_choose(lane_less(size, LANE(1.0f)), y, lane_choose(lane_less(LANE(1.0f), size), LANE(NAN), size * INFINITY));
    return lane_signed(y, x);
}

/* ---------------------------------------------------------------- logarithms of floats */

/* log(x * 2**more) to a base. `base` selects the row of the base in the table. `by` has log(2) in two parts
   and 1 / log(base) in two parts. */
INLINE lanes lane_log_near(lanes x, lanes more, int base, const float by[4]) {
    int_lanes above = (int_lanes)x - 0x3F420000, i = above >> 18;
    lanes m = (lanes)((int_lanes)x - (above & (int32_t)0xFF800000)), k = __builtin_convertvector(above >> 23, lanes) + more;
    lanes c[7];
    lane_cells(LOG, 0, 4, i, c);
    if (base > 1) lane_cells(LOG, 4, 3, i, c + 4);
    lanes r = LANE_FUSED(m, c[0], -1.0f), first = LANE_FUSED(k, by[0], c[base]);
    lanes high = LANE_FUSED(r, by[2], first), low = LANE_FUSED(r, by[2], first - high) + LANE_FUSED(k, by[1], c[base + 1]);
    lanes p = LANE_HORNER(r, -0.5f, 0.3333857967f, -0.2500437199f) * by[2];
    if (base > 1) low = LANE_FUSED(r, by[3], low);
    return high + lane_fused(r * r, p, low);
}
#define LANE_LOG(NAME, ...) \
INLINE lanes lane_##NAME(lanes x) { \
    if (lane_all(lane_positive(x))) return lane_log_near(x, LANE(-0.0f), __VA_ARGS__); \
    lane_mask usual = lane_less(LANE(1.17549435e-38f), x); \
    lanes y = lane_log_near(lane_choose(usual, x, x * 8388608.0f), lane_choose(usual, LANE(0.0f), LANE(-23.0f)), __VA_ARGS__); \
    y = lane_choose(lane_less(x, LANE(INFINITY)), y, x); \
    return lane_choose(lane_less(LANE(0.0f), x), y, lane_choose(lane_less(x, LANE(0.0f)), LANE(NAN), x - INFINITY)); \
}
LANE_LOG(log, 1, (const float[]){0.693145751953125f, 1.42860677e-6f, 1.0f, 0.0f})
LANE_LOG(log2, 3, (const float[]){1.0f, 0.0f, 1.44269504088896341f, 1.92596303e-8f})
LANE_LOG(log10, 5, (const float[]){0.301025390625f, 4.605038981e-6f, 0.43429448190325182f, -1.01032389e-8f})

/* ---------------------------------------------------------------- inverse trigonometric functions of floats */

/* sqrt(x) in two parts, 0 for 0 and NaN for negative numbers. The added constant changes only the case 0. */
INLINE lanes lane_root_parts(lanes x, lanes *low) {
#if TIER == 4
    lanes guess = lane_root_guess(x + 1e-30f), half = guess * 0.5f, y = x * guess;
    y = lane_fused(lane_fused(-y, y, x), half, y);
#else
    lanes y = lane_sqrt(x), half = 0.5f / lane_max(LANE(1e-15f), y);
#endif
    *low = lane_fused(-y, y, x) * half;
    return y;
}
#define LANE_ASIN(z) LANE_SUM(z, 0.1666666634f, 0.07500094543f, 0.04459940153f, 0.03110066274f, 0.01714923836f, 0.0336908472f)

/* asin(|x|) = pi / 2 - 2 * asin(sqrt((1 - |x|) / 2)) for |x| >= 1/2. */
INLINE lanes lane_asin(lanes x) {
    lanes size = lane_abs(x), low;
    lane_mask near = lane_less(size, LANE(0.5f));
    lanes z = lane_choose(near, size * size, (1.0f - size) * 0.5f), root = lane_root_parts(z, &low), p = LANE_ASIN(z) * z;
    lanes far = 1.57079637f - 2.0f * root, lost = (1.57079637f - far) - 2.0f * root;
    far = far + (lost - (4.37113883e-8f + 2.0f * (root * p + low)));
    return lane_signed(lane_choose(near, size + size * p, far), x);
}
INLINE lanes lane_acos(lanes x) {
    lanes size = lane_abs(x), low;
    lane_mask near = lane_less(size, LANE(0.5f));
    lanes z = lane_choose(near, size * size, (1.0f - size) * 0.5f), root = lane_root_parts(z, &low), p = LANE_ASIN(z) * z;
    lanes middle = 1.57079637f - x, lost = ((1.57079637f - middle) - x) - 4.37113883e-8f;
    middle = middle + (lost - x * p);
    lanes rest = root * p + low, below = 3.14159274f - 2.0f * root;
    lost = (3.14159274f - below) - 2.0f * root;
    below = below + (lost - (8.74227766e-8f + 2.0f * rest));
    return lane_choose(near, middle, lane_choose(lane_less(x, LANE(0.0f)), below, 2.0f * (root + rest)));
}
INLINE lanes lane_atan(lanes x) {
    lanes size = lane_abs(x);
    lane_mask far = lane_less(LANE(1.0f), size);
    lanes down = lane_choose(far, size, LANE(1.0f)), up = lane_choose(far, LANE(1.0f), size), y = up / down, z = y * y;
    lanes p = LANE_HORNER(z, -0.3333331943f, 0.1999943405f, -0.1427704394f, 0.1104144379f, -0.08752437681f, 0.06615500152f,
                          -0.04299804941f, 0.02115878649f, -0.006690400187f, 0.0009920621f);
    p = lane_fused(lane_fused(y, y, -z), p, z * p);
    lanes rest = lane_choose(lane_less(size, LANE(INFINITY)), (lane_fused(-y, down, up) * y) * (1.0f - 0.5f * z), (lanes){0});
    lanes turned = 1.57079637f - y, lost = ((1.57079637f - turned) - y) - (4.37113883e-8f + rest);
    return lane_signed(lane_choose(far, turned + lane_fused(-y, p, lost), lane_fused(y, p, y)), x);
}

/* ---------------------------------------------------------------- floats computed in double */

/* Compute e**r - 1 and n for x = r + n * ln(2), with 38 correct bits. */
INLINE wides narrow_exp_near(wides x, wides *n) {
    wides shifted = WIDE_FUSED(x, 1.44269504088896340736, WIDE_WHOLE), r = WIDE_FUSED(shifted - WIDE_WHOLE, -0.693147180559945309417, x);
    *n = shifted;
    return WIDE_SUM(r, 0.5, 0.1666666671915, 0.04166666671913, 0.008333298413941, 0.001388885398168, 0.0001989933205656, 2.48596354174e-5) *
               (r * r) + r;
}
/* log(x) with 36 correct bits, for positive normal numbers. */
INLINE wides narrow_log(wides x) {
    wide_ints above = (wide_ints)x - 0x3FE7800000000000, i = above >> 48;
    wides k = wide_exponent(above), m = (wides)((wide_ints)x - (above & ((int64_t)0xFFF << 52))), c[2];
    wide_cells(WIDE_LOG, 0, 2, i, c);
    wides r = WIDE_FUSED(m, c[0], -1.0);
    wides p = WIDE_SUM(r, -0.5, 0.3333332906635, -0.2499999626643, 0.2001746305096, -0.1668194705653);
    return WIDE_FUSED(k, 0.693147180559945309417, c[1]) + (p * (r * r) + r);
}
/* log(1 + x) for x > -1 */
INLINE wides narrow_log_above(wides x) {
    return wide_choose(wide_less(wide_abs(x), WIDE(2e-8)), x, narrow_log(1.0 + x));
}
INLINE wides narrow_log1p(wides x) {
    wides y = narrow_log_above(x);
    if (wide_all(wide_less(WIDE(-1.0), x)) && wide_all(wide_less(x, WIDE(INFINITY)))) return y;
    y = wide_choose(wide_less(x, WIDE(INFINITY)), y, x);
    return wide_choose(wide_less(WIDE(-1.0), x), y, wide_choose(wide_less(x, WIDE(-1.0)), WIDE(NAN), (x + 1.0) - INFINITY));
}
INLINE wides narrow_expm1(wides x) {
    wides n, q = narrow_exp_near(wide_max(WIDE(-40.0), wide_min(WIDE(90.0), x)), &n), power = wide_power(n);
    return wide_choose(wide_less(wide_abs(x), WIDE(1e-9)), x, WIDE_FUSED(power, q, power - 1.0));
}
/* sinh or cosh, from cosh(r), sinh(r) and the powers 2**n and 2**-n. */
INLINE wides narrow_hyperbolic(wides x, int sine) {
    wides v = wide_min(WIDE(92.0), wide_abs(x)), shifted = WIDE_FUSED(v, 1.44269504088896340736, WIDE_WHOLE);
    wides r = WIDE_FUSED(shifted - WIDE_WHOLE, -0.693147180559945309417, v), z = r * r;
    wides s = WIDE_SUM(z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880) * r, c = WIDE_SUM(z, 1.0, 1.0 / 2, 1.0 / 24, 1.0 / 720, 1.0 / 40320);
    wides up = wide_power(shifted) * 0.5, down = (wides)(0x7FC0000000000000 - (wide_ints)up); /* `down` is 0.5 * 2**-n */
    return sine ? wide_signed(WIDE_FUSED(up - down, c, (up + down) * s), x) : WIDE_FUSED(up + down, c, (up - down) * s);
}
INLINE wides narrow_sinh(wides x) { return narrow_hyperbolic(x, 1); }
INLINE wides narrow_cosh(wides x) { return narrow_hyperbolic(x, 0); }

#define NEARLY_NOT_ZERO(NAME, VALUE) \
    wides y = VALUE; \
    if (!wide_all(wide_within(x, MAX_REDUCED_ANGLE))) \
        for (int i = 0; i < WIDES; i++) \
            if (!(fabs(x[i]) < MAX_REDUCED_ANGLE) || x[i] == 0.0) y[i] = NAME(x[i]); \
    return y;

/* sin(x) or cos(x), computed as the sine of the remainder modulo pi. */
INLINE wides narrow_sine(wides x, int is_cosine) {
    wides shifted = WIDE_FUSED(x, 0.318309886183790671538, WIDE_WHOLE);
    if (is_cosine) shifted = WIDE_FUSED(x, 0.318309886183790671538, -0.5) + WIDE_WHOLE;
    wides n = shifted - WIDE_WHOLE;
    if (is_cosine) n = n + 0.5;
    wides r = WIDE_FUSED(n, -1.2246467991473531772e-16, WIDE_FUSED(n, -3.14159265358979311600, x)), z = r * r;
    wides p = WIDE_HORNER(z, -0.16666665961, 0.00833324186407, -0.000198227029368, 2.63463803393e-6);
    wides y = p * (z * r) + r;
    y = (wides)((wide_ints)y ^ (((wide_ints)shifted + (is_cosine ? 1 : 0)) << 63));
    return y;
}
INLINE wides narrow_sin(wides x) { NEARLY_NOT_ZERO(sin, narrow_sine(x, 0)) }
INLINE wides narrow_cos(wides x) { NEARLY(cos, narrow_sine(x, 1)) }

INLINE wides narrow_tan_near(wides x) {
    wides shifted = WIDE_FUSED(x, 0.63661977236758134308, WIDE_WHOLE), n = shifted - WIDE_WHOLE;
    wides r = WIDE_FUSED(n, -6.1232339957367658860e-17, WIDE_FUSED(n, -1.57079632679489655800, x)), z = r * r;
    wides p = WIDE_HORNER(z, 0.3333333398, 0.133332308722, 0.0539944806287, 0.0216210021905, 0.00996258610453, 0.00118462020494, 0.00384355598192);
    wides t = p * (z * r) + r;
    wide_mask turned = wide_odd((wide_ints)shifted);
    wides inverse = wide_of(-1.0f / narrow_of(t));
    t = wide_choose(turned, WIDE_FUSED(inverse, 2.0, (t * inverse) * inverse), t);
    return t;
}
INLINE wides narrow_tan(wides x) { NEARLY_NOT_ZERO(tan, narrow_tan_near(x)) }

INLINE wides narrow_gelu_tanh(wides x) {
    wides u = x * -1.59576912160573071 * (1.0 + 0.044715 * (x * x)), n, q = narrow_exp_near(wide_max(WIDE(-600.0), wide_min(WIDE(600.0), u)), &n);
    wides y = x / (1.0 + (1.0 + q) * wide_power(n));
    return wide_choose(wide_less(y, WIDE(-FLT_MAX)), WIDE(NAN), y); /* NaN for -inf, like -inf * 0 */
}

#endif
