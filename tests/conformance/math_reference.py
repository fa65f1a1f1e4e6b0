"""References and samples for the vector math library: true values, errors in ulp, hard inputs.

The reference is NumPy's long double function where that has 64 bits (x86), which is enough to judge
an error of 2 ulp to a thousandth, and mpmath where it has not or where the function cancels.
"""

from __future__ import annotations

import mpmath
import numpy as np

FUNCTIONS = {
    "sine": np.sin, "cosine": np.cos, "tan": np.tan, "exponential": np.exp, "exp2": np.exp2,
    "exponential_minus_one": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log_plus_one": np.log1p, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "cbrt": np.cbrt, "atan2": np.arctan2,
    "power": np.power, "hypot": np.hypot, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2,
}  # fmt: skip
BINARY = ("atan2", "power", "hypot", "logaddexp", "logaddexp2")
DTYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
EXTENDED = np.finfo(np.longdouble).nmant >= 63

EXACT = {
    "sine": mpmath.sin, "cosine": mpmath.cos, "tan": mpmath.tan, "exponential": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x), "exponential_minus_one": mpmath.expm1,
    "log": mpmath.log, "log2": lambda x: mpmath.log(x) / mpmath.log(2), "log10": mpmath.log10,
    "log_plus_one": mpmath.log1p, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "asinh": mpmath.asinh,
    "acosh": mpmath.acosh, "atanh": mpmath.atanh,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "atan2": mpmath.atan2,
    "power": mpmath.power, "hypot": mpmath.hypot,
    "logaddexp": lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)),
    "logaddexp2": lambda a, b: (
        mpmath.log(mpmath.power(2, a) + mpmath.power(2, b)) / mpmath.log(2)
    ),
}  # fmt: skip

# Intervals in which the mpmath samples are drawn.
INTERVALS = {
    "log": (1e-3, 1e3), "log2": (0.1, 10), "log10": (0.1, 10), "log_plus_one": (-0.99, 10),
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 30), "power": (0.01, 30),
    "logaddexp": (-2, 2), "logaddexp2": (-2, 2), "exponential": (-700, 700), "exp2": (-999, 999),
    "sine": (-1e6, 1e6), "cosine": (-1e6, 1e6), "tan": (-1e6, 1e6),
}  # fmt: skip


def special_values(dtype):
    """Zeros, infinities, NaN, the ends of the normal and subnormal ranges, and round numbers."""
    limits = np.finfo(dtype)
    positive = [0.0, limits.smallest_subnormal, limits.tiny, limits.max, np.inf, 0.25, 0.5, 1.0]
    positive += [1.5, 2.0, 3.0, 10.0, 100.0, 1e6, 2.0**24, 2.0**24 - 1, 88.7, 104.0, 709.7, 745.2]
    positive += [2.0**52, 2.0**53 - 1, 2.0**53, 1 + limits.eps, 1 - limits.epsneg, np.pi, np.pi / 2]
    return np.array(positive + [-value for value in positive] + [np.nan], dtype)


def samples(dtype, count, seed):
    """Inputs of every exponent, ordinary sizes, close to one, and the special values."""
    rng = np.random.default_rng(seed)
    bits = np.uint32 if dtype.itemsize == 4 else np.uint64
    any_bits = rng.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(dtype)
    any_bits = np.where(np.isnan(any_bits), dtype.type(np.nan), any_bits)
    sign = rng.choice([-1.0, 1.0], (2, count))
    parts = [
        any_bits,
        sign[0] * np.exp2(rng.uniform(-12, 12, count)),
        1 + sign[1] * np.exp2(rng.uniform(-53, 0, count)),
        rng.uniform(-750, 750, count),
        rng.uniform(-2, 2, count),
        special_values(dtype),
    ]
    return np.concatenate([part.astype(dtype) for part in parts])


def ulp_errors(got, true):
    """Distance of `got` from `true` (long double) in units of the last place of `got`'s dtype."""
    limits = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.abs(true))[1] - 1, limits.minexp)
        unit = np.ldexp(np.longdouble(1), exponent - limits.nmant)
        error = np.abs(got.astype(np.longdouble) - true) / unit
        # Overflow: the rounded reference is infinite as well.
        agrees = (got == true.astype(got.dtype)) | (np.isnan(got) & np.isnan(true))
    error = np.where(np.isfinite(error), error, np.longdouble(1e30))
    return np.where(agrees, np.minimum(error, 1), error).astype(float)


def exact_ulp_errors(name, got, *inputs):
    """The same from mpmath, for finite results."""
    with mpmath.workprec(400):
        errors = []
        for k, value in enumerate(got):
            true = EXACT[name](*(mpmath.mpf(float(x[k])) for x in inputs))
            unit = mpmath.mpf(float(np.spacing(np.abs(value))))
            errors.append(float(abs(mpmath.mpf(float(value)) - true) / unit))
    return np.array(errors)
