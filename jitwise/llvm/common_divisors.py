"""Functions, as LLVM text, that give greatest common divisors and least common multiples.

    void gcd_i64(ptr a, ptr b, ptr out, i64 n)     n a multiple of 16, out may be a

The binary algorithm, in unsigned numbers, on sixteen elements at a time until all are done:

    gcd(12, 20)    ->   2**2 * gcd(3, 5)   ->   gcd(3, 5 - 3)   ->   gcd(3, 1)   ->   gcd(1, 3 - 1)
                        both odd                2 is made odd        the smaller first  ...  until 0

So nothing is divided, which no vector unit does. The multiple is a / g * b, where a / g is a shift
and a product: the odd part of g has an inverse modulo a power of two, and Newton's step doubles the
bits of it that are right. Integers up to 32 bits are computed in 32. Results wrap, as NumPy's do. A
processor with narrow vectors, which count no zeros, takes one element at a time.
"""

from __future__ import annotations

WIDTH = 16

_FUNCTION = """define internal void @{name}(ptr %a, ptr %b, ptr %out, i64 %n) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %found]
  %pa = getelementptr {memory}, ptr %a, i64 %i
  %pb = getelementptr {memory}, ptr %b, i64 %i
  %po = getelementptr {memory}, ptr %out, i64 %i
  %va = load <{width} x {memory}>, ptr %pa, align {align}
  %vb = load <{width} x {memory}>, ptr %pb, align {align}
{sizes}
  %both = or {vector} {sa}, {sb}
  %zeros = call {vector} @llvm.cttz.{short}({vector} %both, i1 false)
  %common = and {vector} %zeros, splat ({type} {last})
  %absent = icmp eq {vector} {sa}, zeroinitializer
  %present = select <{width} x i1> %absent, {vector} {sb}, {vector} {sa}
  %zerosa = call {vector} @llvm.cttz.{short}({vector} %present, i1 false)
  %shifta = and {vector} %zerosa, splat ({type} {last})
  %odda = lshr {vector} %present, %shifta
  br label %step
step:
  %u = phi {vector} [%odda, %loop], [%smaller, %step]
  %v = phi {vector} [{sb}, %loop], [%rest, %step]
  %zerosv = call {vector} @llvm.cttz.{short}({vector} %v, i1 false)
  %shiftv = and {vector} %zerosv, splat ({type} {last})
  %odd = lshr {vector} %v, %shiftv
  %none = icmp eq {vector} %v, zeroinitializer
  %other = select <{width} x i1> %none, {vector} %u, {vector} %odd
  %smaller = call {vector} @llvm.umin.{short}({vector} %u, {vector} %other)
  %larger = call {vector} @llvm.umax.{short}({vector} %u, {vector} %other)
  %rest = sub {vector} %larger, %smaller
  %left = icmp ne {vector} %rest, zeroinitializer
  %bits = bitcast <{width} x i1> %left to i{width}
  %again = icmp ne i{width} %bits, 0
  br i1 %again, label %step, label %found
found:
{result}
  store <{width} x {memory}> {stored}, ptr %po, align {align}
  %next = add i64 %i, {width}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}"""


def common_divisor(name: str, bits: int, signed: bool, width: int) -> tuple[str, dict[str, str]]:
    """The text of "gcd" or "lcm" for integers of so many bits, called `name` and the dtype, and the
    functions that it declares.
    """
    wide = max(bits, 32)
    type, vector, short = f"i{wide}", f"<{width} x i{wide}>", f"v{width}i{wide}"
    memory = f"<{width} x i{bits}>"
    names, lines = {}, []
    for each in "ab":
        names[each] = f"%v{each}"
        if bits < wide:
            extend = "sext" if signed else "zext"
            lines.append(f"  %w{each} = {extend} {memory} %v{each} to {vector}")
            names[each] = f"%w{each}"
        if signed:
            operands = f"{vector} {names[each]}, i1 false"
            lines.append(f"  %s{each} = call {vector} @llvm.abs.{short}({operands})")
            names[each] = f"%s{each}"
    if name == "gcd":
        result = f"  %whole = shl {vector} %smaller, %common"
    else:
        result = _multiple(type, vector, names["a"], names["b"])
    if bits < wide:
        result += f"\n  %narrow = trunc {vector} %whole to {memory}"
    text = _FUNCTION.format(
        name=f"{name}_{'i' if signed else 'u'}{bits}",
        memory=f"i{bits}",
        type=type,
        vector=vector,
        short=short,
        width=width,
        last=wide - 1,
        align=bits // 8,
        sizes="\n".join(lines),
        sa=names["a"],
        sb=names["b"],
        result=result,
        stored="%narrow" if bits < wide else "%whole",
    )
    return text, {
        f"llvm.{function}.{short}": f"declare {vector} @llvm.{function}.{short}({vector}, {second})"
        for function, second in (("cttz", "i1"), ("abs", "i1"), ("umin", vector), ("umax", vector))
    }


def _multiple(type: str, vector: str, a: str, b: str) -> str:
    """`a / g * b`, where g is `smaller`, an odd number, shifted by `common`. Of the first inverse 5
    bits are right.
    """
    lines = f"""  %threefold = mul {vector} %smaller, splat ({type} 3)
  %inverse0 = xor {vector} %threefold, splat ({type} 2)
"""
    steps = 3 if type == "i32" else 4
    for step in range(steps):
        lines += f"""  %product{step} = mul {vector} %smaller, %inverse{step}
  %error{step} = sub {vector} splat ({type} 2), %product{step}
  %inverse{step + 1} = mul {vector} %inverse{step}, %error{step}
"""
    return f"""{lines}  %shifted = lshr {vector} {a}, %common
  %quotient = mul {vector} %shifted, %inverse{steps}
  %whole = mul {vector} %quotient, {b}"""
