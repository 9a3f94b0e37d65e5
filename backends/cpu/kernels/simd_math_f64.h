/* Elementary functions of a vector of doubles (`wide_exp` etc.), with the conventions of `simd_math_f32.h`.

   Included after `simd_primitives.h` and `simd_math_coefficients.h`. */

#ifndef TS_VECTOR_DOUBLES_H
#define TS_VECTOR_DOUBLES_H

#define WIDE_WHOLE 6755399441055744.0 /* 1.5 * 2**52 */

INLINE wides wide_power(wides n) { return (wides)(((wide_ints)n << 52) + BITS.wide_one); }

/* ---------------------------------------------------------------- exponentials of doubles */

/* Range reduction x = r + n * ln(2); r is in two parts (double-double). */
INLINE wides wide_reduced(wides x, wides *low, wides *n) {
    wides shifted = WIDE_FUSED(x, 1.44269504088896340736, WIDE_WHOLE), whole = shifted - WIDE_WHOLE;
    wides first = WIDE_FUSED(whole, -6.93147180369123816490e-01, x), r = WIDE_FUSED(whole, -1.90821492927058770002e-10, first);
    *low = WIDE_FUSED(whole, -1.90821492927058770002e-10, first - r);
    *n = shifted;
    return r;
}
/* (e**r - 1 - r) / r**2 for |r| <= ln(2) / 2, without the constant term 1/2. */
#define WIDE_EXP_THIRD(r) \
    WIDE_SUM(r, 0.16666666666666667456, 0.041666666666666667231, 0.0083333333333300513464, 0.0013888888888886545029, 0.00019841269863105968748, \
             0.000024801587317181884708, 2.7557268378684192873e-6, 2.7557282911482681767e-7, 2.5100424157005066788e-8, 2.0911264239196085367e-9)
#define WIDE_EXP_REST(r) WIDE_FUSED(r, WIDE_EXP_THIRD(r), 0.5)
/* e**(r + low) - 1 */
INLINE wides wide_exp_near(wides r, wides low) { return r + WIDE_FUSED(r * r, WIDE_EXP_REST(r), low); }
INLINE wides wide_raised(wides y, wides n) { return (wides)((wide_ints)y + ((wide_ints)n << 52)); }
INLINE wides wide_scaled(wides y, wides n) {
    wides half = (n - WIDE_WHOLE) * 0.5 + WIDE_WHOLE, rest = ((n - WIDE_WHOLE) - (half - WIDE_WHOLE)) + WIDE_WHOLE;
    return (y * wide_power(half)) * wide_power(rest);
}
INLINE wides wide_exp_rounded(wides x, wides *n) { /* still to be multiplied by 2**n */
    wides shifted = WIDE_FUSED(x, 1.44269504088896340736, WIDE_WHOLE), whole = shifted - WIDE_WHOLE;
    wides first = WIDE_FUSED(whole, -6.93147180369123816490e-01, x), then = whole * -1.90821492927058770002e-10, r = first + then;
    *n = shifted;
    return 1.0 + (first + WIDE_FUSED(r * r, WIDE_EXP_REST(r), then));
}
INLINE wides wide_exp(wides x) {
    wides n, y = wide_exp_rounded(x, &n);
    if (wide_all(wide_less(wide_abs(x), WIDE(708.0)))) return wide_raised(y, n);
    y = wide_exp_rounded(wide_max(WIDE(-750.0), wide_min(WIDE(720.0), x)), &n);
    return wide_scaled(y, n);
}
INLINE wides wide_exp2(wides x) {
    wides v = wide_max(WIDE(-1080.0), wide_min(WIDE(1030.0), x)), n = v + WIDE_WHOLE, d = v - (n - WIDE_WHOLE);
    wides r = d * 0.693147180559945286227, low = WIDE_FUSED(d, 0.693147180559945286227, -r) + d * 2.319046813846299558e-17;
    wides y = 1.0 + wide_exp_near(r, low);
    if (wide_all(wide_less(wide_abs(x), WIDE(1021.0)))) return wide_raised(y, n);
    return wide_scaled(y, n);
}
/* exp(x - less) in two parts, still to be multiplied by 2**n. */
INLINE wides wide_exp_parts(wides x, wides less, wides *low, wides *n) {
    wides lost, first = wide_reduced(x, &lost, n), r = first - less, q = wide_exp_near(r, lost + ((first - r) - less)), high = 1.0 + q;
    *low = q - (high - 1.0);
    return high;
}
INLINE wides wide_expm1(wides x) {
    wides n, low, v = wide_max(WIDE(-40.0), x), r = wide_reduced(v, &low, &n), rr = r * r, square = rr * 0.5, q = r + square;
    wides rest = ((r - q) + square) + WIDE_FUSED(rr * r, WIDE_EXP_THIRD(r), WIDE_FUSED(wide_fused(r, r, -rr), 0.5, low));
    wides half = wide_power(n) * 0.5, less = half - 0.5, y = WIDE_FUSED(half, q, less);
    y = y + (WIDE_FUSED(half, q, less - y) + WIDE_FUSED(half, rest, (half - less) - 0.5));
    y = wide_signed(wide_abs(y + y), x);
    if (wide_all(wide_less(x, WIDE(709.0)))) return y;
    return wide_choose(wide_less(x, WIDE(709.0)), y, wide_exp(x));
}

/* sinh or cosh, from cosh(r), sinh(r) and the powers 2**n and 2**-n. `first` is a sum of these powers, to
   which the correction is added in two parts. */
INLINE wides wide_hyperbolic(wides x, int sine) {
    wides n, low, size = wide_abs(x), r = wide_reduced(wide_min(WIDE(700.0), size), &low, &n), z = r * r;
    wides s = WIDE_SUM(z, 0.16666666666666666667, 0.0083333333333333333333, 0.00019841269841269841270, 2.7557319223985890653e-6, 2.5052108385441718775e-8,
                       1.6059043836821614599e-10, 7.6471637318198164759e-13);
    wides c = WIDE_SUM(z, 0.5, 0.041666666666666666667, 0.0013888888888888888889, 0.000024801587301587301587, 2.7557319223985890653e-7,
                       2.0876756987868098979e-9, 1.1470745597729724714e-11);
    wides up = wide_power(n) * 0.5, down = (wides)(0x7FC0000000000000 - (wide_ints)up); /* `down` is 0.5 * 2**-n */
    wides first = sine ? up - down : up + down, by = sine ? up + down : up - down, high = wide_fused(by, r, first);
    wides rest = wide_fused(by, r, first - high) + wide_fused(first * z, c, by * wide_fused(z * r, s, low));
    wides y = high + rest;
    if (!wide_all(wide_less(size, WIDE(700.0)))) {
        wides e = wide_exp_parts(wide_min(WIDE(720.0), size), WIDE(0.0), &low, &n);
        y = wide_choose(wide_less(size, WIDE(700.0)), y, wide_scaled((e + low) * 0.5, n));
    }
    return sine ? wide_signed(y, x) : y;
}
INLINE wides wide_sinh(wides x) { return wide_hyperbolic(x, 1); }
INLINE wides wide_cosh(wides x) { return wide_hyperbolic(x, 0); }

/* y / (1 + exp(-x)) for |x| < 36.0. Here 1 + 2**n is exact, and 2**n * (e**r - 1) is added to it. */
INLINE wides wide_by_sigmoid(wides y, wides x) {
    wides n, low, r = wide_reduced(-x, &low, &n), q = wide_exp_near(r, low), power = wide_power(n), whole = 1.0 + power;
    wides down = wide_fused(power, q, whole), lost = wide_fused(power, q, whole - down), inverse = 1.0 / down, result = y * inverse;
    return wide_fused(wide_fused(-result, lost, wide_fused(-result, down, y)), inverse, result);
}
/* y * sigmoid(x) for any x, where y is 1 or x. */
INLINE wides wide_by_sigmoid_far(wides y, wides x, wides near) {
    wides n, low, high = wide_exp_parts(wide_max(WIDE(-800.0), -wide_abs(x)), WIDE(0.0), &low, &n), small = wide_scaled(high, n);
    wides times = wide_max(WIDE(-800.0), wide_min(WIDE(1.0), y)), p = times * high;
    wides below = wide_scaled(p + ((wide_fused(times, high, -p) + times * low) - p * small), n);
    wides far = wide_choose(wide_less(x, WIDE(0.0)), below, wide_choose(wide_less(y, WIDE(800.0)), y - y * small, y));
    return wide_choose(wide_less(wide_abs(x), WIDE(36.0)), near, far);
}
INLINE wides wide_sigmoid(wides x) {
    wides y = wide_by_sigmoid(WIDE(1.0), x);
    return wide_all(wide_less(wide_abs(x), WIDE(36.0))) ? y : wide_by_sigmoid_far(WIDE(1.0), x, y);
}
INLINE wides wide_silu(wides x) {
    wides y = wide_by_sigmoid(x, x);
    if (wide_all(wide_less(wide_abs(x), WIDE(36.0)))) return wide_signed(y, x);
    return wide_signed(wide_choose(wide_less(WIDE(-INFINITY), x), wide_by_sigmoid_far(x, x, y), WIDE(NAN)), x); /* NaN for -inf, like -inf * 0 */
}

INLINE wides wide_sigmoid_parts(wides x, wides beside, wides *low) { /* sigmoid(x + beside) for |x| < 600 */
    wides n, less, high = wide_exp_parts(-wide_abs(x), (wides)((wide_ints)beside ^ ((wide_ints)x & INT64_MIN)), &less, &n), power = wide_power(n);
    high = high * power;
    less = less * power;
    wides down = 1.0 + high, lost = ((1.0 - down) + high) + less, inverse = 1.0 / down;
    wide_mask below = wide_less(x, WIDE(0.0));
    wides up = wide_choose(below, high, WIDE(1.0)), more = wide_choose(below, less, WIDE(0.0));
    wides y = up * inverse;
    *low = (wide_fused(-y, down, up) + (more - y * lost)) * inverse;
    return y;
}
/* x * sigmoid(v) with v = 2 * sqrt(2 / pi) * x * (1 + 0.044715 * x * x); all factors are in two parts. */
INLINE wides wide_gelu_tanh(wides x) {
    wides v = wide_max(WIDE(-25.0), wide_min(WIDE(25.0), x)), xx = v * v, a = xx * 0.044715, b = 1.0 + a, back = b - 1.0;
    wides lost = WIDE_FUSED(xx, 0.044715, -a) + wide_fused(v, v, -xx) * 0.044715 + xx * 2.1960211427085596e-18;
    lost = lost + ((1.0 - (b - back)) + (a - back));
    wides u = v * 1.5957691216057308, less = WIDE_FUSED(v, 1.5957691216057308, -u) + v * -9.9693088091109203e-17, w = u * b, low;
    less = wide_fused(u, b, -w) + (u * lost + less * b);
    less = wide_choose(wide_less(wide_abs(w), WIDE(600.0)), less, (wides){0});
    w = wide_max(WIDE(-600.0), wide_min(WIDE(600.0), w));
    wides y = wide_sigmoid_parts(w, less, &low), p = v * y;
    wides result = wide_signed(p + (wide_fused(v, y, -p) + v * low), x);
    result = wide_choose(wide_less(WIDE(12.0), x), x, result);
    if (wide_all(wide_less(WIDE(-22.0), x))) return result;
    return wide_choose(wide_less(x, WIDE(-22.0)), wide_choose(wide_less(WIDE(-INFINITY), x), WIDE(-0.0), WIDE(NAN)), result); /* NaN for -inf, like -inf * 0 */
}

/* ---------------------------------------------------------------- error functions and tanh of doubles */

/* Value at d of the polynomial (of even degree) that a table has for interval i, in two parts. */
INLINE wides wide_of_table(double_table table, int degree, wides d, wide_ints i, wides *low) {
    wides c[2], dd = d * d;
    wide_cells(table, degree, 2, i, c);
    wides odd = c[0], even = c[1];
    for (int k = degree - 2; k > 0; k -= 2) {
        wide_cells(table, k, 2, i, c);
        odd = odd * dd + c[0];
        even = even * dd + c[1];
    }
    wide_cells(table, 0, 2, i, c);
    wides p = odd * d + (even * dd + c[1]), high = c[0] + p;
    *low = p - (high - c[0]);
    return high;
}
/* Midpoint of the interval that contains u. Each power of two has four intervals. */
INLINE wides wide_middle(wides u) {
    return (wides)(((wide_ints)u & ~(int64_t)0x3FFFFFFFFFFFF) | 0x2000000000000);
}
INLINE wides wide_odd_of_table(double_table table, int degree, wides z, double scale, wides x) {
    wides u = WIDE_FUSED(z, scale, 1.0), low;
    wides high = wide_of_table(table, degree, WIDE_FUSED(z, scale, 1.0 - wide_middle(u)), (wide_ints)u >> 50, &low), p = z * high;
    return wide_signed(p + (wide_fused(z, high, -p) + z * low), x);
}
INLINE wides wide_erf(wides x) { return wide_odd_of_table(WIDE_ERF, 14, wide_min(WIDE(5.95), wide_abs(x)), 2.5, x); }
INLINE wides wide_tanh(wides x) { return wide_odd_of_table(WIDE_TANH, 14, wide_min(WIDE(19.5), wide_abs(x)), 0.75, x); }
INLINE wides wide_tail(wides z, wides more, wides s, wides t, wides *low, wides *n) {
    wides u = z + 2.0, cl, c = wide_of_table(WIDE_ERFCX, 14, (z - (wide_middle(u) - 2.0)) + more, (wide_ints)u >> 50, &cl);
    wides el, e = wide_exp_parts(-s, t, &el, n), p = e * c;
    *low = wide_fused(e, c, -p) + (e * cl + el * c);
    return p;
}
INLINE wides wide_erfc(wides x) {
    wides z = wide_min(WIDE(27.5), wide_abs(x)), s = z * z, low, n;
    wides high = wide_tail(z, WIDE(-0.0), s, wide_fused(z, z, -s), &low, &n), y;
    if (wide_all(wide_less(z, WIDE(26.0)))) y = wide_raised(high + low, n);
    else y = wide_scaled(high + low, n);
    return wide_choose(wide_less(x, WIDE(0.0)), 2.0 - y, y);
}
/* max(x, 0) - |x| * erfc(|x| / sqrt(2)) / 2 */
INLINE wides wide_gelu(wides x) {
    wides size = wide_min(WIDE(39.0), wide_abs(x)), z = size * 0.70710678118654752440, half = size * 0.5, s = half * size, low, n;
    wides more = WIDE_FUSED(size, -4.8336466567264567e-17, WIDE_FUSED(size, 0.70710678118654752440, -z));
    wides high = wide_tail(z, more, s, wide_fused(half, size, -s), &low, &n), p = half * high, over = wide_max(WIDE(0.0), x);
    low = wide_fused(half, high, -p) + half * low;
    if (wide_all(wide_less(wide_abs(x), WIDE(30.0)))) {
        wides power = wide_power(n), t = p * power, y = over - t;
        return wide_signed(y + (((over - y) - t) - low * power), x);
    }
    wides t = wide_scaled(p + low, n), power = wide_scaled(WIDE(1.0), n), u = p * power, y = over - u;
    wides near = y + (((over - y) - u) - low * power);
    near = wide_choose(wide_less(size, WIDE(30.0)), near, over - t);
    return wide_choose(wide_less(WIDE(30.0), x), x, wide_signed(near, x));
}

/* ---------------------------------------------------------------- logarithms of doubles */

#define WIDE_LOG_REST(r) \
    WIDE_SUM(r, -0.49999999999999966667, 0.33333333333333041369, -0.25000000000454552339, 0.20000000003983490137, -0.1666666499474245137, \
             0.1428569961283058766, -0.12502272805671263402, 0.11131123856413721911, -0.089785103592666535986)

/* Table index, exponent and mantissa of a positive normal number. */
INLINE wide_ints wide_log_cell(wides x, wides *k, wides *m, wide_ints *power) {
    wide_ints above = (wide_ints)x - 0x3FE7800000000000;
    *power = above & ((int64_t)0xFFF << 52);
    *m = (wides)((wide_ints)x - *power);
    *k = wide_exponent(above);
    return above >> 48;
}
/* log(x + less) in two parts. */
INLINE wides wide_log_parts(wides x, wides less, wides *low) {
    wide_ints power, i;
    wides k, m;
    i = wide_log_cell(x, &k, &m, &power);
    wides c[3];
    wide_cells(WIDE_LOG, 0, 2, i, c);
    wide_cells(WIDE_LOG, 2, 1, i, c + 2);
    wides inverse = c[0], p = m * inverse, r = p - 1.0, first = WIDE_FUSED(k, 0.693147180559890330187, c[1]);
    wides rest = WIDE_FUSED(less * (wides)(0x3FF0000000000000 - power), inverse, wide_fused(m, inverse, -p)), high = first + r;
    *low = ((first - high) + r) + WIDE_FUSED(k, 5.49792301870837115524e-14, c[2]) + (WIDE_LOG_REST(r) * (r * r) + (rest - r * rest));
    return high;
}
/* log(x * 2**more) to a base, like `lane_log_near`, for doubles. */
INLINE wides wide_log_near(wides x, wides more, int base, const double by[4]) {
    wide_ints power, i;
    wides k, m;
    i = wide_log_cell(x, &k, &m, &power);
    k = k + more;
    wides c[7];
    wide_cells(WIDE_LOG, 0, 2, i, c);
    wide_cells(WIDE_LOG, base + 1, 1, i, c + base + 1);
    if (base > 1) wide_cells(WIDE_LOG, base - 1, 2, i, c + base - 1);
    wides inverse = c[0], y = m * inverse, lost = wide_fused(m, inverse, -y), r = y - 1.0;
    wides first = WIDE_FUSED(k, by[0], c[base]), high = WIDE_FUSED(r, by[2], first);
    wides low = WIDE_FUSED(r, by[2], first - high) + WIDE_FUSED(lost - lost * r, by[2], WIDE_FUSED(k, by[1], c[base + 1]));
    wides p = WIDE_LOG_REST(r) * by[2];
    if (base > 1) low = WIDE_FUSED(r, by[3], low);
    return high + wide_fused(r * r, p, low);
}
#define WIDE_LOGARITHM(NAME, ...) \
INLINE wides wide_##NAME(wides x) { \
    if (wide_all(wide_positive(x))) return wide_log_near(x, WIDE(-0.0), __VA_ARGS__); \
    wide_mask usual = wide_less(WIDE(2.2250738585072014e-308), x); \
    wides y = wide_log_near(wide_choose(usual, x, x * 4503599627370496.0), wide_choose(usual, WIDE(0.0), WIDE(-52.0)), __VA_ARGS__); \
    y = wide_choose(wide_less(x, WIDE(INFINITY)), y, x); \
    return wide_choose(wide_less(WIDE(0.0), x), y, wide_choose(wide_less(x, WIDE(0.0)), WIDE(NAN), x - INFINITY)); \
}
WIDE_LOGARITHM(log, 1, (const double[]){0.693147180559890330187, 5.49792301870837115524e-14, 1.0, 0.0})
WIDE_LOGARITHM(log2, 3, (const double[]){1.0, 0.0, 1.44269504088896340736, 2.03552737409310331e-17})
WIDE_LOGARITHM(log10, 5, (const double[]){0.3010299956640665, -8.532344317057107e-14, 0.43429448190325182765, 1.09831965021676508e-17})

INLINE wides wide_log1p(wides x) {
    wides y = 1.0 + x, less = wide_choose(wide_less(x, WIDE(1.0)), (1.0 - y) + x, (x - y) + 1.0), low;
    wide_mask near = wide_less(WIDE(-1.0), x) & wide_less(x, WIDE(1e30)); /* for larger x, the addition of 1 has no effect */
    wides high = wide_log_parts(wide_choose(near, y, WIDE(1.0)), wide_choose(near, less, WIDE(0.0)), &low), result = high + low;
    result = wide_choose(wide_less(wide_abs(x), WIDE(1e-8)), x - x * x * 0.5, result);
    result = wide_signed(wide_abs(result), x);
    return wide_all(near) ? result : wide_choose(near, result, wide_log(y));
}
/* log(1 + exp(x)) */
INLINE wides wide_softplus(wides x) {
    wides n, less, high = wide_exp_parts(wide_max(WIDE(-700.0), -wide_abs(x)), WIDE(0.0), &less, &n), power = wide_power(n);
    high = high * power;
    less = less * power;
    wides y = 1.0 + high, low, sum = wide_log_parts(y, ((1.0 - y) + high) + less, &low), over = wide_max(WIDE(0.0), x);
    wide_mask tiny = wide_less(high, WIDE(1e-8));
    sum = wide_choose(tiny, high, sum);
    low = wide_choose(tiny, less - high * high * 0.5, low);
    wides result = over + sum, lost = ((over - result) + sum) + low;
    result = result + wide_choose(wide_less(over, WIDE(1.0)), low + ((over - result) + sum), lost);
    if (wide_all(wide_less(wide_abs(x), WIDE(700.0)))) return result;
    return wide_choose(wide_less(x, WIDE(-700.0)), wide_exp(x), wide_choose(wide_less(WIDE(700.0), x), x, result));
}
INLINE wides wide_logsigmoid(wides x) { return -wide_softplus(-x); }

/* x * table(-log(1 - x * x)) */
INLINE wides wide_erfinv(wides x) {
    wides size = wide_abs(x), out = 1.0 - size, up = 1.0 + size, lost = (1.0 - up) + size, less = (1.0 - out) - size;
    wides v = out * up, rest = WIDE_FUSED(out, up, -v) + (out * lost + less * up), low;
    wides w = wide_log_parts(wide_max(WIDE(1e-17), v), rest, &low), u = 4.0 - w;
    wides tail, high = wide_of_table(WIDE_ERFINV, 12, ((4.0 - wide_middle(u)) - w) - low, (wide_ints)u >> 50, &tail), y = size * high;
    y = y + (wide_fused(size, high, -y) + size * tail);
    if (!wide_all(wide_less(size, WIDE(1.0))))
        y = wide_choose(wide_less(size, WIDE(1.0)), y, wide_choose(wide_less(WIDE(1.0), size), WIDE(NAN), size * INFINITY));
    return wide_signed(y, x);
}

/* ---------------------------------------------------------------- sine, cosine and tangent of doubles */

enum { MAX_REDUCED_ANGLE = 1000000 }; /* for larger arguments the C library is called, because the constant pi has too few digits */

#define NEARLY(NAME, VALUE) \
    wides y = VALUE; \
    if (!wide_all(wide_less(wide_abs(x), WIDE((double)MAX_REDUCED_ANGLE)))) \
        for (int i = 0; i < WIDES; i++) \
            if (!(fabs(x[i]) < MAX_REDUCED_ANGLE)) y[i] = NAME(x[i]); \
    return y;

/* x minus the nearest multiple of pi / 2, in two parts. */
INLINE wides wide_turned(wides x, wides *low, wides *n) {
    wides shifted = WIDE_FUSED(x, 0.63661977236758134308, WIDE_WHOLE), whole = shifted - WIDE_WHOLE;
    wides first = WIDE_FUSED(whole, -1.57079632673412561417e+00, x), r = WIDE_FUSED(whole, -6.07710050630396597660e-11, first);
    *low = WIDE_FUSED(whole, -2.02226624879595063154e-21, WIDE_FUSED(whole, -6.07710050630396597660e-11, first - r));
    *n = shifted;
    return r;
}
INLINE wides wide_sine_rest(wides r, wides low, wides z) { /* sin(r + low) - r */
    wides s = WIDE_SUM(z, -0.1666666666666666667, 0.00833333333333333126, -0.0001984126984126456858, 2.755731921895653471e-6,
                       -2.505210610079490258e-8, 1.605851095124059182e-10, -7.585490499422335826e-13);
    return WIDE_FUSED(z * r, s, WIDE_FUSED(z * -0.5, low, low));
}
INLINE wides wide_cosine_rest(wides r, wides low, wides z, wides *first) {
    wides c = WIDE_SUM(z, 0.04166666666666666667, -0.001388888888888888774, 0.00002480158730158437026, -2.755731922118995907e-7,
                       2.087675571784541631e-9, -1.147044939134839081e-11, 4.745200761242130736e-14);
    wides w = WIDE_FUSED(z, -0.5, 1.0), lost = WIDE_FUSED(z, -0.5, 1.0 - w);
    *first = w;
    return wide_fused(-r, low, wide_fused(z * z, c, lost));
}
INLINE wides wide_sine(wides x, int is_cosine) {
    wides n, low, w, r = wide_turned(x, &low, &n), z = r * r, sine = r + wide_sine_rest(r, low, z), rest = wide_cosine_rest(r, low, z, &w);
    wide_ints quarter = (wide_ints)n + is_cosine;
    wides result = wide_choose(wide_odd(quarter), w + rest, sine);
    result = (wides)((wide_ints)result ^ ((quarter & 2) << 62));
    return is_cosine ? result : wide_choose(wide_less(WIDE(0.0), wide_abs(x)), result, x);
}
INLINE wides wide_sin(wides x) { NEARLY(sin, wide_sine(x, 0)) }
INLINE wides wide_cos(wides x) { NEARLY(cos, wide_sine(x, 1)) }

INLINE wides wide_tan_near(wides x) {
    wides n, low, w, r = wide_turned(x, &low, &n), z = r * r, rest = wide_sine_rest(r, low, z), more = wide_cosine_rest(r, low, z, &w);
    wides s = r + rest, sl = rest - (s - r), c = w + more, cl = more - (c - w);
    wide_mask turned = wide_odd((wide_ints)n);
    wides up = wide_choose(turned, c, s), ul = wide_choose(turned, cl, sl), down = wide_choose(turned, -s, c), dl = wide_choose(turned, -sl, cl);
    wides inverse = 1.0 / down, y = up * inverse;
    y = y + (wide_fused(-y, down, up) + (ul - y * dl)) * inverse;
    return wide_choose(wide_less(WIDE(0.0), wide_abs(x)), y, x);
}
INLINE wides wide_tan(wides x) { NEARLY(tan, wide_tan_near(x)) }

/* ---------------------------------------------------------------- inverse trigonometric functions of doubles */

INLINE wides wide_root_parts(wides x, wides *low) {
#if TIER == 4
    wides guess = wide_root_guess(x + 1e-300), y = x * guess, half = guess * 0.5, off = wide_fused(-y, half, WIDE(0.5));
    y = wide_fused(y, off, y);
    half = wide_fused(half, off, half);
    y = wide_fused(wide_fused(-y, y, x), half, y);
#else
    wides y = wide_sqrt(x), half = 0.5 / wide_max(WIDE(1e-150), y);
#endif
    *low = wide_fused(-y, y, x) * half;
    return y;
}
#define WIDE_ASIN(z) \
    WIDE_SUM(z, 0.16666666666666667827, 0.074999999999984329332, 0.044642857146355429783, 0.030381944138531247287, 0.022372172942149887875, \
             0.017352392720869972942, 0.013971212973552933304, 0.011479177415184905896, 0.010322814350185779287, 0.0054575067186403583004, \
             0.017400879442694022443, -0.014851887071247203224, 0.028757851367421564708)

INLINE wides wide_asin(wides x) {
    wides size = wide_abs(x), low;
    wide_mask near = wide_less(size, WIDE(0.5));
    wides z = wide_choose(near, size * size, (1.0 - size) * 0.5), root = wide_root_parts(z, &low), p = WIDE_ASIN(z) * z;
    wides far = 1.5707963267948966 - 2.0 * root, lost = (1.5707963267948966 - far) - 2.0 * root;
    far = far + (lost - (2.0 * (root * p + low) - 6.123233995736766e-17));
    return wide_signed(wide_choose(near, size + size * p, far), x);
}
INLINE wides wide_acos(wides x) {
    wides size = wide_abs(x), low;
    wide_mask near = wide_less(size, WIDE(0.5));
    wides z = wide_choose(near, size * size, (1.0 - size) * 0.5), root = wide_root_parts(z, &low), p = WIDE_ASIN(z) * z;
    wides middle = 1.5707963267948966 - x, lost = ((1.5707963267948966 - middle) - x) + 6.123233995736766e-17;
    middle = middle + (lost - x * p);
    wides rest = root * p + low, below = 3.141592653589793 - 2.0 * root;
    lost = (3.141592653589793 - below) - 2.0 * root;
    below = below + (lost - (2.0 * rest - 1.2246467991473532e-16));
    return wide_choose(near, middle, wide_choose(wide_less(x, WIDE(0.0)), below, 2.0 * (root + rest)));
}
/* atan(x) as atan(c) + atan((x - c) / (1 + c * x)), for the nearest c of 0, 1/2, 1, 3/2 and infinity. */
INLINE wides wide_atan(wides x) {
    wides size = wide_abs(x), c = WIDE(0.0), high = c, low = c;
    const double near[4][4] = {{0.4375, 0.5, 0.463647609000806093515, 2.26987774529616870924e-17},
                               {0.6875, 1.0, 0.785398163397448278999, 3.06161699786838301793e-17},
                               {1.1875, 1.5, 0.982793723247329054082, 1.39033110312309984516e-17},
                               {2.4375, 0.0, 1.570796326794896557999, 6.12323399573676603587e-17}};
    for (int k = 0; k < 4; k++) {
        wide_mask less = wide_less(size, WIDE(near[k][0]));
        c = wide_choose(less, c, WIDE(near[k][1]));
        high = wide_choose(less, high, WIDE(near[k][2]));
        low = wide_choose(less, low, WIDE(near[k][3]));
    }
    wide_mask far = wide_less(WIDE(near[3][0]), size);
    wides up = wide_choose(far, WIDE(-1.0), size - c), down = wide_fused(c, size, WIDE(1.0)), more = wide_fused(c, size, 1.0 - down);
    down = wide_choose(far, size, down);
    wides inverse = 1.0 / down, t = up * inverse, z = t * t;
    wides lost = wide_choose(wide_less(size, WIDE(INFINITY)), (wide_fused(-t, down, up) - t * more) * inverse, (wides){0});
    wides p = WIDE_SUM(z, -3.33333333333329318027e-01, 1.99999999998764832476e-01, -1.42857142725034663711e-01, 1.11111104054623557880e-01,
                       -9.09088713343650656196e-02, 7.69187620504482999495e-02, -6.66107313738753120669e-02, 5.83357013379057348645e-02,
                       -4.97687799461593236017e-02, 3.65315727442169155270e-02, -1.62858201153657823623e-02);
    wides sum = high + t, rest = ((high - sum) + t) + (low + wide_fused(t * z, p, lost - lost * z));
    return wide_signed(sum + rest, x);
}

#endif
