"""Fit the polynomials of the vector math library and write them to `coefficients.h`.

Each function is reduced to a small interval and written as `leading terms + correction`; the
correction is fitted by Chebyshev interpolation (within a small factor of the best polynomial of
that degree) with 60 digits, then rounded to double.  `wide` polynomials serve float64, `narrow`
ones serve float32, which is computed in double and needs about 32 good bits.  Run

    python coefficients.py

to write the header again.  Constants that must carry more than 53 bits are split into a sum of
doubles; the `short` splits leave low bits zero, so that products with small integers are exact.
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


def tan_rest(z):
    r = mpmath.sqrt(z)
    return (mpmath.tan(r) / r - 1) / z


def mpq(numerator, denominator=1):
    return mpf(numerator) / denominator


LOG2 = mpmath.log(2)
HALF_LOG2 = mpmath.log(2) / 2 * mpf("1.01")
S2_LIMIT = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * mpf("1.001")
EIGHTH = mpmath.tan(mp.pi / 8) ** 2 * mpf("1.001")

# name, function, series at 0, interval, terms
FITS = [
    ("expm1_wide", expm1_rest, [mpq(1, 2), mpq(1, 6)], (-HALF_LOG2, HALF_LOG2), 11),
    ("expm1_narrow", expm1_rest, [mpq(1, 2), mpq(1, 6)], (-HALF_LOG2, HALF_LOG2), 5),
    ("atanh_wide", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 8),
    ("atanh_narrow", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 4),
    ("atanh_middle", atanh_rest, [mpq(2, 3), mpq(2, 5)], (0, S2_LIMIT), 5),
    ("atanh_third_base_two", lambda z: atanh_third(z) / LOG2,
     [mpq(2, 5) / LOG2, mpq(2, 7) / LOG2], (0, S2_LIMIT), 8),
    ("sine_wide", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, (mp.pi / 2) ** 2 * mpf("1.001")), 8),
    ("sine_narrow", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, (mp.pi / 2) ** 2 * mpf("1.001")), 5),
    ("sine_short", sine_rest, [mpq(-1, 6), mpq(1, 120)], (0, (mp.pi / 4) ** 2 * mpf("1.001")), 6),
    (
        "cosine_short",
        cosine_rest,
        [mpq(1, 24), mpq(-1, 720)],
        (0, (mp.pi / 4) ** 2 * mpf("1.001")),
        6,
    ),
    ("tan_narrow", tan_rest, [mpq(1, 3), mpq(2, 15)], (0, (mp.pi / 4) ** 2 * mpf("1.001")), 8),
    ("tanh_wide", tanh_rest, [mpq(-1, 3), mpq(2, 15)], (0, mpf("0.3026")), 11),
    ("sinh_wide", sinh_rest, [mpq(1, 6), mpq(1, 120)], (0, mpf("0.251")), 6),
    ("atan_wide", atan_rest, [mpq(-1, 3), mpq(1, 5)], (0, EIGHTH), 13),
    ("atan_narrow", atan_rest, [mpq(-1, 3), mpq(1, 5)], (0, EIGHTH), 6),
    ("asin_wide", asin_rest, [mpq(1, 6), mpq(3, 40)], (0, mpf("0.2501")), 14),
    ("asin_narrow", asin_rest, [mpq(1, 6), mpq(3, 40)], (0, mpf("0.2501")), 7),
    ("cbrt_start", mpmath.cbrt, [mpq(0)], (mpmath.sqrt(mpq(1, 2)), mpmath.sqrt(2)), 6),
]


def split(value, bits):
    """`value` as a sum of doubles with at most `bits[k]` significant bits each."""
    parts = []
    for count in bits:
        with mp.workprec(count):
            part = +value
        parts.append(float(part))
        value = value - mpf(part)
    return parts


CONSTANTS = [
    ("pi", split(mp.pi, [53, 53, 53])),
    ("pi_short", split(mp.pi, [30, 30, 30, 53])),
    ("half_pi", split(mp.pi / 2, [53, 53, 53])),
    ("half_pi_short", split(mp.pi / 2, [30, 30, 30, 53])),
    ("quarter_pi", split(mp.pi / 4, [53, 53])),
    ("ln2", split(LOG2, [53, 53])),
    ("ln2_short", split(LOG2, [42, 53, 53])),
    ("three_quarter_pi", split(3 * mp.pi / 4, [53, 53])),
    ("cbrt_2", split(mpmath.cbrt(2), [53])),
    ("cbrt_half", split(mpmath.cbrt(mpq(1, 2)), [53])),
    ("ln10_inverse", split(1 / mpmath.log(10), [53, 53])),
    ("log10_2", split(mpmath.log10(2), [42, 53])),
    ("ln2_inverse", split(1 / LOG2, [53, 53])),
    ("two_over_ln2", split(2 / LOG2, [53, 53])),
    ("two_thirds_over_ln2", split(2 / (3 * LOG2), [53, 53])),
    ("inverse_pi", split(1 / mp.pi, [53])),
    ("two_over_pi", split(2 / mp.pi, [53])),
]


def literal(value):
    return float(value).hex()


def fit(name, function, series, interval, terms):
    coefficients, error = mpmath.chebyfit(near_zero(function, series), interval, terms, error=True)
    lines = ",\n    ".join(literal(c) for c in reversed(coefficients))
    comment = f"// error {mpmath.nstr(error, 3)} on [{mpmath.nstr(interval[0], 6)}, "
    comment += f"{mpmath.nstr(interval[1], 6)}]"
    return f"{comment}\nconstexpr double {name}[] = {{\n    {lines}}};\n"


def main():
    parts = [
        "// Written by coefficients.py; do not edit.",
        "#pragma once\n",
        "namespace jitwise {\nnamespace math {\nnamespace coefficients {\n",
    ]
    parts += [fit(*row) for row in FITS]
    for name, values in CONSTANTS:
        lines = ",\n    ".join(literal(v) for v in values)
        parts.append(f"constexpr double {name}[] = {{\n    {lines}}};\n")
    parts.append("}  // namespace coefficients\n}  // namespace math\n}  // namespace jitwise")
    Path(__file__).with_name("coefficients.h").write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
