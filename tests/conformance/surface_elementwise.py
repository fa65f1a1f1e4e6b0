"""Calls of NumPy's functions of each element, of reductions and of scans: rows of `surface_table`.

A row is a function's name and calls of it, separated by `;`. The names of arguments say what they
are: see `surface_arguments`.
"""

from __future__ import annotations

_UNARY = """abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
    atanh bitwise_count bitwise_invert bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees
    exp exp2 expm1 fabs floor frexp invert isfinite isinf isnan log log10 log1p log2 logical_not
    modf negative positive rad2deg radians reciprocal rint sign signbit sin sinh spacing sqrt square
    tan tanh trunc"""
_BINARY = """add arctan2 atan2 bitwise_and bitwise_or bitwise_xor copysign divide divmod equal
    float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot lcm less
    less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply
    nextafter not_equal remainder subtract true_divide"""
_SHIFTS = "bitwise_left_shift bitwise_right_shift left_shift right_shift"
_REDUCTIONS = "all any amax amin max min prod sum mean std var"
_ALL_KINDS = (
    "np.{0}(x); np.{0}(x, axis=0); np.{0}(x, axis=(0, 1), keepdims=True); np.{0}(v); np.{0}(t, -1)"
)

ELEMENTWISE = {name: f"np.{name}(x); np.{name}(z)" for name in _UNARY.split()}
ELEMENTWISE |= {
    name: f"np.{name}(x, y); np.{name}(x, u); np.{name}(x, k); np.{name}(v, g)"
    for name in _BINARY.split()
}
ELEMENTWISE |= {name: f"np.{name}(x, 2); np.{name}(x, y)" for name in _SHIFTS.split()}
ELEMENTWISE |= {name: _ALL_KINDS.format(name) for name in _REDUCTIONS.split()}
# Options that all ufuncs have, one function for each combination; and a row for what has more.
_MORE = {
    "add": """np.add(x, y, out=y); np.add(x, y, where=mask, out=y); np.add(x, y, dtype='f4');
        np.add.reduce(x); np.add.reduce(x, axis=1, keepdims=True); np.add.accumulate(x, axis=1);
        np.add.outer(v, u); np.add.at(v, j, 1); np.add.reduceat(v, [0]);
        np.add.reduce(x, axis=1, where=mask); np.add.reduce(x, axis=0, initial=3)""",
    "multiply": """np.multiply(x, y, out=x); np.multiply.reduce(x, axis=1);
        np.multiply.accumulate(v); np.multiply.outer(v, v)""",
    "sin": "np.sin(x, where=mask, out=x); np.sin(x, dtype='f8')",
    "subtract": "np.subtract.outer(v, u); np.subtract(x, y, casting='same_kind')",
    "maximum": "np.maximum.reduce(x, axis=1); np.maximum.accumulate(x); np.maximum.at(v, j, g)",
    "minimum": "np.minimum.reduce(x, initial=1); np.minimum.accumulate(v)",
    "logical_and": "np.logical_and.reduce(x, axis=0); np.logical_and.accumulate(x)",
    "logical_or": "np.logical_or.reduce(x, axis=1)",
    "less": "np.less.outer(v, u)",
    "divmod": "np.divmod(x, y, out=(x, y))",
    "sum": """np.sum(x, dtype='f8'); np.sum(x, axis=1, out=w); np.sum(x, initial=2);
        np.sum(x, where=mask); np.sum(x, axis=0, where=mask, initial=1)""",
    "prod": "np.prod(x, initial=2, axis=0); np.prod(x, where=mask)",
    "max": "np.max(x, initial=0); np.max(x, axis=0, where=mask, initial=-1); np.max(x, 1, out=w)",
    "min": "np.min(x, initial=0, axis=1); np.min(x, where=mask, initial=3)",
    "mean": "np.mean(x, dtype='f4', axis=0); np.mean(x, where=mask); np.mean(x, axis=1, out=w)",
    "std": "np.std(x, ddof=1, axis=0); np.std(x, where=mask); np.std(x, axis=1, correction=1)",
    "var": "np.var(x, ddof=1); np.var(x, axis=0, where=mask); np.var(x, dtype='f8', axis=1)",
    "any": "np.any(x, axis=1, where=mask); np.any(x, axis=1, out=w)",
    "all": "np.all(x, axis=0, where=mask)",
}
ELEMENTWISE = {name: calls + "; " + _MORE.get(name, "") for name, calls in ELEMENTWISE.items()}

_NAN_REDUCTIONS = "nansum nanprod nanmax nanmin nanmean nanmedian nanstd nanvar"
ELEMENTWISE |= {
    name: _ALL_KINDS.format(name) for name in (*_NAN_REDUCTIONS.split(), "median", "ptp")
}
ELEMENTWISE |= {
    name: f"np.{name}(x, axis=0); np.{name}(v); np.{name}(x); np.{name}(x, axis=1, keepdims=True)"
    for name in ("argmax", "argmin", "nanargmax", "nanargmin")
}
ELEMENTWISE |= {
    name: f"np.{name}(x); np.{name}(x, axis=1); np.{name}(v, dtype='f8')"
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")
}
ELEMENTWISE |= {
    name: f"np.{name}(v); np.{name}(x, axis=1); np.{name}(x, axis=0, include_initial=True)"
    for name in ("cumulative_sum", "cumulative_prod")
}
ELEMENTWISE |= {
    "angle": "np.angle(x); np.angle(x, deg=True); np.angle(z)",
    "around": "np.around(x, 1); np.around(x)",
    "average": """np.average(x); np.average(x, axis=0); np.average(x, weights=y);
        np.average(x, axis=1, weights=u); np.average(v, weights=w, returned=True);
        np.average(x, axis=0, keepdims=True)""",
    "clip": "np.clip(x, 0, 2); np.clip(x, y, None); np.clip(x, u, 3); np.clip(x, 0, 1, out=x)",
    "choose": """np.choose(i, [x, y, 1]); np.choose(i, (x, u, z), mode='wrap');
        np.choose(i, [x, y, x], mode='clip')""",
    "count_nonzero": "np.count_nonzero(x); np.count_nonzero(x, axis=0, keepdims=True)",
    "fix": "np.fix(x); np.fix(z)",
    "i0": "np.i0(x); np.i0(v)",
    "imag": "np.imag(x); np.imag(z)",
    "isclose": "np.isclose(x, y); np.isclose(x, u, rtol=0.1, equal_nan=True)",
    "iscomplex": "np.iscomplex(x); np.iscomplex(z)",
    "iscomplexobj": "np.iscomplexobj(x)",
    "isneginf": "np.isneginf(x); np.isneginf(x, mask)",
    "isposinf": "np.isposinf(x)",
    "isreal": "np.isreal(x)",
    "isrealobj": "np.isrealobj(x)",
    "ldexp": "np.ldexp(x, i); np.ldexp(v, 2)",
    "nan_to_num": """np.nan_to_num(x); np.nan_to_num(x, nan=1.0, posinf=2.0);
        np.nan_to_num(v, copy=False)""",
    "piecewise": """np.piecewise(v, [v < 0, v >= 0], [-1, 1]); np.piecewise(x, [mask], [2, 3]);
        np.piecewise(v, [v < 1], [lambda e: e * 2, lambda e: e + 1])""",
    "pow": "np.pow(x, 2); np.pow(x, y); np.pow(x, u)",
    "power": "np.power(x, 2); np.power(x, y); np.power(v, 0.5); np.power(x, i)",
    "real": "np.real(x); np.real(z)",
    "real_if_close": "np.real_if_close(x); np.real_if_close(v, tol=10)",
    "round": "np.round(x); np.round(x, 2); np.round(v, -1)",
    "select": """np.select([mask, x > 1], [x, y]); np.select([v > 1, v < 0], [v, w], default=7);
        np.select([mask], [0], 1)""",
    "sinc": "np.sinc(x); np.sinc(z)",
    "unwrap": "np.unwrap(x); np.unwrap(v, period=4); np.unwrap(x, axis=0)",
    "where": "np.where(mask, x, y); np.where(mask, x, 0); np.where(x, u, z)",
    "interp": """np.interp(v, o, w); np.interp(x, o, b); np.interp(v, o, w, left=-1, right=9);
        np.interp(v, o, w, period=3)""",
    "trapezoid": "np.trapezoid(x); np.trapezoid(x, axis=0, dx=2.0); np.trapezoid(v, w)",
    "gradient": """np.gradient(v); np.gradient(x, axis=1); np.gradient(x); np.gradient(v, 2.0);
        np.gradient(v, o); np.gradient(x, 2, axis=0, edge_order=2)""",
    "diff": """np.diff(x); np.diff(x, n=2, axis=0); np.diff(v, prepend=0); np.diff(x, append=x)""",
    "ediff1d": "np.ediff1d(x); np.ediff1d(v, to_begin=1, to_end=[2, 3])",
    "allclose": "np.allclose(x, y); np.allclose(x, x, atol=1.0)",
    "array_equal": "np.array_equal(x, y); np.array_equal(x, x); np.array_equal(x, v)",
    "array_equiv": "np.array_equiv(x, u); np.array_equiv(x, x); np.array_equiv(x, v)",
}
for _name in ("percentile", "nanpercentile"):
    ELEMENTWISE[_name] = (
        f"np.{_name}(x, 30); np.{_name}(x, [10, 50], axis=0); np.{_name}(v, 100 * q);"
        f" np.{_name}(x, 25, axis=1, keepdims=True, method='lower')"
    )
for _name in ("quantile", "nanquantile"):
    ELEMENTWISE[_name] = (
        f"np.{_name}(x, 0.3); np.{_name}(x, q, axis=0); np.{_name}(v, [0.1, 0.5]);"
        f" np.{_name}(x, f / 10, axis=1, method='nearest')"
    )
