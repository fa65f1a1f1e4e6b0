"""Fit the polynomials of the vector math library and write them to `coefficients.h`.

Each function is reduced to a small interval and written as `leading terms + correction`; the
correction is fitted by Chebyshev interpolation (within a small factor of the best polynomial of
that degree) with 60 digits, then rounded to double.  `binary64` and `binary32` have the same names
for the two formats; `narrow_fits` serve float32 computed in double, to about 30 bits.  Run

    python coefficients.py

to write the header again.  Constants that must carry more bits than a number are split into sums;
the `short` splits leave low bits zero, so that products with small integers are exact.
"""

from __future__ import annotations

from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.dps = 60


def near_zero(function, series):
    """`function`, with its Taylor series (a list of coefficients) where it would cancel."""

    def value(x):
        x = mpf(x)
        if abs(x) < mpf("1e-12"):
            return sum(c * x**k for k, c in enumerate(series))
        return function(x)

    return value


def expm1_rest(r):
    return (mpmath.expm1(r) - r) / r**2


def atanh_rest(z):
    s = mpmath.sqrt(z)
    return 2 * (mpmath.atanh(s) / s - 1) / z


def atanh_third(z):
    s = mpmath.sqrt(z)
    return 2 * (mpmath.atanh(s) / s - 1 - z / 3) / z**2


def sine_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) / r - 1) / z


def cosine_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.cos(r) - 1 + z / 2) / z**2


def tanh_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.tanh(r) / r - 1) / z


def sinh_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.sinh(r) / r - 1) / z


def atan_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.atan(r) / r - 1) / z


def asin_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.asin(r) / r - 1) / z


def log1p_rest(r):
    """(log1p(r) - r + r^2 / 2) / r^3"""
    return (mpmath.log1p(r) - r + r**2 / 2) / r**3


def tan_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.tan(r) / r - 1) / z


def mpq(numerator, denominator=1):
    return mpf(numerator) / denominator


LOG2 = mpmath.log(2)
HALF_LOG2 = mpmath.log(2) / 2 * mpf("1.01")
S2_LIMIT = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * mpf("1.001")
EIGHTH = mpmath.tan(mp.pi / 8) ** 2 * mpf("1.001")

SIXTEENTH = LOG2 / 32 * mpf("1.01")
SINE_LIMIT = (mp.pi / 2) ** 2 * mpf("1.003")
HALF_PI2 = (mp.pi / 2) ** 2 * mpf("1.001")
QUARTER_PI2 = (mp.pi / 4) ** 2 * mpf("1.001")
NEAR_ONE = mpq(1, 32) + mpq(1, 2**12)
ROOTS = (mpmath.sqrt(mpq(1, 2)), mpmath.sqrt(2))

# name, function, series at 0, interval, terms for float64 and for float32
FITS = [
    ("expm1", expm1_rest, [mpq(1, 2), mpq(1, 6)], (-HALF_LOG2, HALF_LOG2), 11, 5),
    ("atanh", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 8, 4),
    ("log1p_rest", log1p_rest, [mpq(1, 3), mpq(-1, 4)], (-NEAR_ONE, NEAR_ONE), 7, 3),
    ("log1p_precise", log1p_rest, [mpq(1, 3), mpq(-1, 4)], (-NEAR_ONE, NEAR_ONE), 9, 4),
    ("atanh_close", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, NEAR_ONE**2 / 4), 4, 2),
    (
        "atanh_third_base_two",
        lambda z: atanh_third(z) / LOG2,
        [mpq(2, 5) / LOG2, mpq(2, 7) / LOG2],
        (0, S2_LIMIT),
        8,
        4,
    ),
    ("sine_rest", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, HALF_PI2), 8, 5),
    ("sine_quarter", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, QUARTER_PI2), 6, 3),
    ("cosine_rest", cosine_rest, [mpq(1, 24), mpq(-1, 720)], (0, QUARTER_PI2), 6, 3),
    ("tanh_rest", tanh_rest, [mpq(-1, 3), mpq(2, 15)], (0, mpf("0.3026")), 11, 5),
    ("tan_rest", tan_rest, [mpq(1, 3), mpq(2, 15)], (0, QUARTER_PI2), 8, 7),
    ("sinh_rest", sinh_rest, [mpq(1, 6), mpq(1, 120)], (0, mpf("1.001")), 8, 4),
    ("atan_rest", atan_rest, [mpq(-1, 3), mpq(1, 5)], (0, EIGHTH), 13, 5),
    ("asin_rest", asin_rest, [mpq(1, 6), mpq(3, 40)], (0, mpf("0.2501")), 14, 6),
    ("cbrt_start", mpmath.cbrt, [mpq(0)], ROOTS, 6, 4),
]

# float32 in double
NARROW_FITS = [
    ("expm1_narrow", expm1_rest, [mpq(1, 2), mpq(1, 6)], (-HALF_LOG2, HALF_LOG2), 5),
    ("atanh_narrow", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 4),
    ("atanh_middle", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 5),
    ("sine_narrow", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, HALF_PI2), 5),
    ("tan_narrow", tan_rest, [mpq(1, 3), mpq(2, 15)], (0, QUARTER_PI2), 8),
    ("atan_narrow", atan_rest, [mpq(-1, 3), mpq(1, 5)], (0, EIGHTH), 6),
    ("asin_narrow", asin_rest, [mpq(1, 6), mpq(3, 40)], (0, mpf("0.2501")), 7),
]


# Where sine_ratio is centred: near 1, so that its first two coefficients are almost numbers of
# the format.
SINE_CENTRES = [float.fromhex("0x1.e76d8p-1"), float.fromhex("0x1.e7788p-1")]

# Terms of the fits in which rounding matters more, for float64 and for float32.
SINE_RATIO_TERMS = [9, 5]
SIXTEENTH_TERMS = [5, 2]


def rounded_fit(name, function, interval, weight, terms, bits):
    """A weighted fit; each coefficient is rounded before those after it are fitted."""
    low, high = interval
    count = 4 * terms + 4
    cosines = [mpmath.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    points = [(low + high) / 2 + (high - low) / 2 * each for each in cosines]
    coefficients = []
    for first in range(terms):
        matrix, right = mp.matrix(count, terms - first), mp.matrix(count, 1)
        for row, x in enumerate(points):
            for power in range(first, terms):
                matrix[row, power - first] = weight(x) * x**power
            known = sum(c * x**k for k, c in enumerate(coefficients))
            right[row] = weight(x) * (function(x) - known)
        coefficients += [mpf(v) for v in split(mp.qr_solve(matrix, right)[0][0], [bits])]
    points = [low + (high - low) * (k + mpf(0.5)) / 400 for k in range(400)]
    error = max(
        abs(weight(x) * (function(x) - sum(c * x**k for k, c in enumerate(coefficients))))
        for x in points
    )
    return coefficient_lines(name, coefficients, error, interval)


def sine_ratio(centre):
    """sin(r) / r - 1 as a function of r^2 - centre, its interval, and the weight of an error."""

    def ratio(u):
        r = mpmath.sqrt(u + centre)
        return mpmath.sin(r) / r if r > mpf("1e-20") else mpf(1)

    return lambda u: ratio(u) - 1, (-centre, SINE_LIMIT - centre), lambda u: 1 / ratio(u)


def split(value, bits):
    """`value` as a sum of doubles with at most `bits[k]` significant bits each."""
    parts = []
    for count in bits:
        with mp.workprec(count):
            part = +value
        parts.append(float(part))
        value = value - mpf(part)
    return parts


# name, value, bits of each part for float64 and for float32
CONSTANTS = [
    ("pi", mp.pi, [53, 53], [24, 24]),
    ("half_pi", mp.pi / 2, [53, 53], [24, 24]),
    # For the reduction of arguments: products of all but the last with the multiple are exact.
    ("pi_parts", mp.pi, [53, 33, 53], [24, 11, 11, 24]),
    ("half_pi_parts", mp.pi / 2, [53, 33, 53], [24, 11, 11, 24]),
    ("pi_thirds", mp.pi, [53, 53, 53], [24, 24, 24]),
    ("ln2_parts", LOG2, [53, 53], [24, 24]),
    ("quarter_pi", mp.pi / 4, [53, 53], [24, 24]),
    ("three_quarter_pi", 3 * mp.pi / 4, [53, 53], [24, 24]),
    ("ln2", LOG2, [53, 53], [24, 24]),
    ("ln2_short", LOG2, [42, 53, 53], [15, 24, 24]),
    ("ln2_inverse", 1 / LOG2, [53, 53], [24, 24]),
    ("ln10_inverse", 1 / mpmath.log(10), [53, 53], [24, 24]),
    ("log10_2", mpmath.log10(2), [42, 53], [15, 24]),
    ("two_over_ln2", 2 / LOG2, [53, 53], [24, 24]),
    ("two_thirds_over_ln2", 2 / (3 * LOG2), [53, 53], [24, 24]),
    ("inverse_pi", 1 / mp.pi, [53], [24]),
    ("two_over_pi", 2 / mp.pi, [53], [24]),
    ("cbrt_2", mpmath.cbrt(2), [53], [24]),
    ("cbrt_half", mpmath.cbrt(mpq(1, 2)), [53], [24]),
]


def literal(value):
    return float(value).hex()


def fit(name, function, series, interval, terms):
    coefficients, error = mpmath.chebyfit(near_zero(function, series), interval, terms, error=True)
    return coefficient_lines(name, coefficients[::-1], error, interval)


def array(name, values):
    rows = [", ".join(map(literal, values[k : k + 3])) for k in range(0, len(values), 3)]
    lines = ",\n    ".join(rows)
    return f"constexpr double {name}[] = {{\n    {lines}}};\n"


def coefficient_lines(name, coefficients, error, interval):
    comment = f"// error {mpmath.nstr(error, 3)} on [{mpmath.nstr(interval[0], 6)}, "
    comment += f"{mpmath.nstr(interval[1], 6)}]"
    return f"{comment}\n{array(name, coefficients)}"


def heads(name, value):
    """The first part of `value`, in two pieces: without fma its products are exact that way."""
    return constant(name, mpf(split(value, [53])[0]), [32, 21])


def constant(name, value, bits):
    return array(name, split(value, bits))


def tables(bits, centre, format):
    """Fits that are rounded as they are made, and the powers 2^(i/16)."""
    ends, terms = (-SIXTEENTH, SIXTEENTH), SIXTEENTH_TERMS[format]
    rows = [
        rounded_fit("expm1_sixteenth", expm1_rest, ends, lambda r: r**2, terms, bits),
        constant("sine_centre", mpf(centre), [bits]),
        rounded_fit("sine_ratio", *sine_ratio(mpf(centre)), SINE_RATIO_TERMS[format], bits),
    ]
    powers = [split(mpf(2) ** (mpf(k) / 16), [bits, bits]) for k in range(16)]
    rows.append(array("exp2_sixteenths", [high for high, _ in powers]))
    rows.append(array("exp2_sixteenths_low", [low for _, low in powers]))
    for base, name in ((mp.e, "log"), (2, "log2"), (10, "log10")):
        # The high parts are multiples of what the short parts of ln 2 and log10 2 are, so that the
        # sum of one with an exponent times the other is exact.
        step = mpf(2) ** (-43 if bits == 53 else -16)
        logs = [-mpmath.log(1 + mpf(k) / 16, base) for k in range(16)]
        highs = [mpmath.nint(each / step) * step for each in logs]
        lows = [split(each - high, [bits])[0] for each, high in zip(logs, highs, strict=True)]
        rows += [array(f"{name}_sixteenths", highs), array(f"{name}_sixteenths_low", lows)]
    return rows


def namespace(name, parts):
    return [f"namespace {name} {{\n", *parts, f"}}  // namespace {name}\n"]


def main():
    parts = [
        "// Written by coefficients.py; do not edit.",
        "#pragma once\n",
        "namespace jitwise {\nnamespace math {\n",
    ]
    for k, name in enumerate(["binary64", "binary32"]):
        rows = [fit(*row[:4], row[4 + k]) for row in FITS]
        rows += [constant(*row[:2], row[2 + k]) for row in CONSTANTS]
        rows += tables([53, 24][k], SINE_CENTRES[k], k)
        if name == "binary64":
            rows += [heads("pi_head", mp.pi), heads("half_pi_head", mp.pi / 2)]
        parts += namespace(name, rows)
    parts += namespace("narrow_fits", [fit(*row) for row in NARROW_FITS])
    parts.append("}  // namespace math\n}  // namespace jitwise")
    Path(__file__).with_name("coefficients.h").write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
