"""Functions, as LLVM text, that divide a buffer by another: 64-bit integers, and C's fmod.

    void floor_divide_i64(ptr a, ptr b, ptr out, i64 n)     n a multiple of 16, out may be a

Sixteen elements at a time are divided as float64 vectors where that is exact, else one by one:

    integers   below 2**51 in size: a quotient that is no integer is further from the next integer
               than the rounding error, and quotient times divisor is exact
    fmod       a quotient x / y below 2**53 (float32: 2**24) is rounded to q or q + 1, where q is
               what truncation should give; x - q * y and x - (q + 1) * y are numbers of the dtype,
               so the fused product is exact and shows by its sign which of the two it was

Integers become floats by their bits: 0x4338000000000000 is the float64 1.5 * 2**52, whose last bit
counts ones. A processor without fused multiply-add calls the C library for each fmod.

Flags are NumPy's: 1 / 0 for a zero divisor, behind whose rounding the answer is put; a divisor of 0
or infinity sends fmod to the C library. A quotient of floats that overflows raises a flag too many.
"""

from __future__ import annotations

from typing import NamedTuple

from .flags import quiet_declaration, quiet_operands, raising

WIDTH = 16

_FUNCTION = """define internal void @{name}(ptr %a, ptr %b, ptr %out, i64 %n) nounwind {{
entry:
  %flags = alloca double
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %joined]
  %pa = getelementptr {type}, ptr %a, i64 %i
  %pb = getelementptr {type}, ptr %b, i64 %i
  %po = getelementptr {type}, ptr %out, i64 %i
{fast}
  br label %single
single:
  %k = phi i64 [0, %{before}], [%following, %single]
  %sa = getelementptr {type}, ptr %pa, i64 %k
  %sb = getelementptr {type}, ptr %pb, i64 %k
  %so = getelementptr {type}, ptr %po, i64 %k
  %x = load {type}, ptr %sa
  %y = load {type}, ptr %sb
{body}
  store {type} %r, ptr %so
  %following = add i64 %k, 1
  %again = icmp ult i64 %following, {width}
  br i1 %again, label %single, label %joined
joined:
  %next = add i64 %i, {width}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}"""

_LOADS = """  %va = load <16 x {type}>, ptr %pa, align 8
  %vb = load <16 x {type}>, ptr %pb, align 8"""
_BRANCH = """  %bits = bitcast <16 x i1> %fits to i16
  %all = icmp eq i16 %bits, -1
  br i1 %all, label %together, label %apart
together:
  store <16 x {type}> %vr, ptr %po, align 8
  br label %joined
apart:"""

_INTEGER_FAST = (
    _LOADS.format(type="i64")
    + """
{fits}
  %none = icmp eq <16 x i64> %vb, zeroinitializer
  %vn = select <16 x i1> %none, <16 x i64> splat (i64 1), <16 x i64> %va
  %ma = add <16 x i64> %vn, splat (i64 u0x4338000000000000)
  %md = add <16 x i64> %vb, splat (i64 u0x4338000000000000)
  %ba = bitcast <16 x i64> %ma to <16 x double>
  %bd = bitcast <16 x i64> %md to <16 x double>
  %fa = fsub <16 x double> %ba, splat (double 0x4338000000000000)
  %fd = fsub <16 x double> %bd, splat (double 0x4338000000000000)
  %ratio = fdiv <16 x double> %fa, %fd
  %rounded = call <16 x double> @llvm.{rounding}.v16f64(<16 x double> %ratio)
  %whole = select <16 x i1> %none, <16 x double> zeroinitializer, <16 x double> %rounded
{result}
  %shifted = fadd <16 x double> %wanted, splat (double 0x4338000000000000)
  %back = bitcast <16 x double> %shifted to <16 x i64>
  %integer = sub <16 x i64> %back, splat (i64 u0x4338000000000000)
  %vr = select <16 x i1> %none, <16 x i64> zeroinitializer, <16 x i64> %integer
"""
    + _BRANCH.format(type="i64")
)
_FITS = {
    "i": """  %oa = add <16 x i64> %va, splat (i64 2251799813685247)
  %ob = add <16 x i64> %vb, splat (i64 2251799813685247)
  %ia = icmp ult <16 x i64> %oa, splat (i64 4503599627370495)
  %ib = icmp ult <16 x i64> %ob, splat (i64 4503599627370495)
  %fits = and <16 x i1> %ia, %ib""",
    "u": """  %either = or <16 x i64> %va, %vb
  %fits = icmp ult <16 x i64> %either, splat (i64 2251799813685248)""",
}
_RESULT = {
    "quotient": "  %wanted = fadd <16 x double> %whole, zeroinitializer",
    "rest": """  %product = fmul <16 x double> %whole, %fd
  %wanted = fsub <16 x double> %fa, %product""",
}

_FMOD_FAST = (
    _LOADS
    + """
  %x0 = call <16 x {type}> @llvm.fabs.v16{short}(<16 x {type}> %va)
  %y0 = call <16 x {type}> @llvm.fabs.v16{short}(<16 x {type}> %vb)
  %by0 = fcmp oeq <16 x {type}> %y0, zeroinitializer
  %byinf = fcmp oeq <16 x {type}> %y0, splat ({type} 0x7FF0000000000000)
  %apart0 = or <16 x i1> %by0, %byinf
  %divisor = select <16 x i1> %apart0, <16 x {type}> splat ({type} 0x7FF8000000000000),
    <16 x {type}> %y0
  %ratio = fdiv <16 x {type}> %x0, %divisor
  %fits = {quiet}(<16 x {type}> %ratio, <16 x {type}> splat ({type} {limit}), {less})
  %whole = call <16 x {type}> @llvm.trunc.v16{short}(<16 x {type}> %ratio)
  %minus = fneg <16 x {type}> %whole
  %near = call <16 x {type}> @llvm.fma.v16{short}(
    <16 x {type}> %minus, <16 x {type}> %y0, <16 x {type}> %x0)
  %below = {quiet}(<16 x {type}> %near, <16 x {type}> zeroinitializer, {less})
  %raised = fadd <16 x {type}> %near, %y0
  %right = select <16 x i1> %below, <16 x {type}> %raised, <16 x {type}> %near
  %small = {quiet}(<16 x {type}> %x0, <16 x {type}> %y0, {less})
  %size = select <16 x i1> %small, <16 x {type}> %x0, <16 x {type}> %right
  %vr = call <16 x {type}> @llvm.copysign.v16{short}(<16 x {type}> %size, <16 x {type}> %va)
"""
    + _BRANCH
)

# One by one the divisor is replaced by 1 where it is 0 or -1: both are answered without dividing.
_SIGNED = """  %zero = icmp eq i64 %y, 0
  %negative_one = icmp eq i64 %y, -1
  %special = or i1 %zero, %negative_one
  %d = select i1 %special, i64 1, i64 %y
  %t = sdiv i64 %x, %d
  %p = mul i64 %t, %d
  %m = sub i64 %x, %p"""
_FLOORED = """
  %inexact = icmp ne i64 %m, 0
  %mixed = xor i64 %m, %d
  %negative = icmp slt i64 %mixed, 0
  %down = and i1 %inexact, %negative"""
_UNSIGNED = """  %zero = icmp eq i64 %y, 0
  %d = select i1 %zero, i64 1, i64 %y"""


class Loop(NamedTuple):
    """One function: its text, what it declares, and the C function it calls."""

    text: str
    declarations: dict[str, str]
    symbol: str | None = None


# The least number divided by -1, which is not among those that are divided together.
_OVERFLOW = """
  %least = icmp eq <16 x i64> %va, splat (i64 -9223372036854775808)
  %minus = icmp eq <16 x i64> %vb, splat (i64 -1)
  %beyond = and <16 x i1> %least, %minus
  %beyonds = bitcast <16 x i1> %beyond to i16
  %anybeyond = icmp ne i16 %beyonds, 0
  store volatile double 0x3FF0000000000000, ptr %flags
  %unit = load volatile double, ptr %flags
"""


def integer_loop(name: str, kind: str, rounding: str, result: str, body: str) -> Loop:
    """Division of 64-bit integers of `kind`; `body` divides one by one."""
    fast = _INTEGER_FAST.format(fits=_FITS[kind], rounding=rounding, result=_RESULT[result])
    if name == "floor_divide_i64":
        overflow = raising("%anybeyond", "%unit", "overflow", "%flags", "%overflowed")
        fast += _OVERFLOW + "\n".join(overflow)
    text = _FUNCTION.format(
        name=name, type="i64", fast=fast, before="apart", body=body, width=WIDTH
    )
    return Loop(text, _declared({rounding: 1}, "double", "f64"))


def float_loop(name: str, type: str, symbol: str, fused: bool) -> Loop:
    """C's fmod of floats; `fused` says whether the processor multiplies and adds at once."""
    short, limit = (
        ("f64", "0x4340000000000000") if type == "double" else ("f32", "0x4170000000000000")
    )
    quiet = f"llvm.experimental.constrained.fcmp.v{WIDTH}{short}"
    fast = _FMOD_FAST.format(
        type=type,
        short=short,
        limit=limit,
        quiet=f"call <{WIDTH} x i1> @{quiet}",
        less=quiet_operands("olt"),
    )
    body = f"  %r = call {type} @{symbol}({type} %x, {type} %y)"
    text = _FUNCTION.format(
        name=name,
        type=type,
        fast=fast if fused else "",
        before="apart" if fused else "loop",
        body=body,
        width=WIDTH,
    )
    wide = {"fabs": 1, "trunc": 1, "fma": 3, "copysign": 2} if fused else {}
    declarations = _declared(wide, type, short)
    if fused:
        vector, mask = f"<{WIDTH} x {type}>", f"<{WIDTH} x i1>"
        declarations[quiet] = quiet_declaration(quiet, vector, mask)
    declarations[symbol] = f"declare {type} @{symbol}({type}, {type})"
    return Loop(text, declarations, symbol)


def _declared(intrinsics: dict[str, int], type: str, short: str) -> dict[str, str]:
    vector = f"<{WIDTH} x {type}>"
    return {
        f"llvm.{name}.v{WIDTH}{short}": f"declare {vector} @llvm.{name}.v{WIDTH}{short}"
        f"({', '.join([vector] * operands)})"
        for name, operands in intrinsics.items()
    }


_FLOOR_QUOTIENT = """
  %one = zext i1 %down to i64
  %f = sub i64 %t, %one
  %opposite = sub i64 0, %x
  %g = select i1 %negative_one, i64 %opposite, i64 %f
  %r = select i1 %zero, i64 0, i64 %g"""
_FLOOR_REST = """
  %shift = select i1 %down, i64 %d, i64 0
  %f = add i64 %m, %shift
  %r = select i1 %special, i64 0, i64 %f"""

INTEGER_LOOPS = {
    name: integer_loop(name, kind, rounding, result, body)
    for name, kind, rounding, result, body in (
        ("floor_divide_i64", "i", "floor", "quotient", _SIGNED + _FLOORED + _FLOOR_QUOTIENT),
        ("remainder_i64", "i", "floor", "rest", _SIGNED + _FLOORED + _FLOOR_REST),
        (
            "truncated_remainder_i64",
            "i",
            "trunc",
            "rest",
            _SIGNED + "\n  %r = select i1 %special, i64 0, i64 %m",
        ),
        (
            "floor_divide_u64",
            "u",
            "floor",
            "quotient",
            _UNSIGNED + "\n  %q = udiv i64 %x, %d\n  %r = select i1 %zero, i64 0, i64 %q",
        ),
        (
            "remainder_u64",
            "u",
            "floor",
            "rest",
            _UNSIGNED + "\n  %m = urem i64 %x, %d\n  %r = select i1 %zero, i64 0, i64 %m",
        ),
    )
}
