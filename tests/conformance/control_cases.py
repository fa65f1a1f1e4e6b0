"""Functions with control flow, one for each feature of the language, and arguments to call them
with.
"""

from __future__ import annotations

from typing import Any

CASES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "if": (
        """
def f(x):
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    return y
""",
        [(1,), (-1,), (0,)],
    ),
    "early return": (
        """
def f(x):
    if x > 3:
        return 'big'
    if x > 1:
        return
    return x
""",
        [(5,), (2,), (0,)],
    ),
    "return in a loop": (
        """
def f(xs):
    for i in range(len(xs)):
        if xs[i] > 3: return i
    return -1
""",
        [([1, 5],), ([1],), ([],)],
    ),
    "return in loops": (
        """
def f(n):
    for i in range(n):
        for j in range(i):
            if i * j == 6: return i, j
        else:
            continue
        break
    else:
        return 'end'
""",
        [(0,), (3,), (5,)],
    ),
    "break and else": (
        """
def f(xs, y):
    for x in xs:
        if x == y: break
    else:
        return 'no'
    return x
""",
        [([1, 2], 2), ([1, 2], 3), ([], 1)],
    ),
    "while": (
        """
def f(n):
    k = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k
""",
        [(27,), (1,), ("a",)],
    ),
    "while with walrus": (
        """
def f(xs):
    while (x := xs.pop()) != 3:
        if x == 2: continue
        if x == 7: break
        y = x
    else:
        return 'else', x
    return x, y
""",
        [([3, 2, 1],), ([7, 1],), ([7],), ([1],)],
    ),
    "while True": (
        """
def f(n):
    while True:
        n -= 1
        last = n
        if n < 3: break
    return last if last > 1 else -last
""",
        [(5,), (1,)],
    ),
    "unbound": (
        """
def f(x):
    if x:
        y = 1
    print_ = 3
    return y
""",
        [(0,), (1,)],
    ),
    "unbound in a part": (
        """
def f(x):
    if x: y = 1
    for i in range(2):
        z = y
    return z
""",
        [(0,), (1,)],
    ),
    "unbound operand": (
        """
def f(x):
    if x > 0: y = 1
    return x and y
""",
        [(0,), (1,), (-1,)],
    ),
    "unbound target": (
        """
def f(n):
    for i in range(n): pass
    if n < 2:
        return i
    return -i
""",
        [(0,), (1,), (2,)],
    ),
    "a global of the same name": (
        """
t = 5
def f(n):
    if n:
        print(t)
    for i in range(n):
        t = i
""",
        [(0,), (1,)],
    ),
    "del": (
        """
def f(x):
    y = 1
    if x: del y
    try:
        return y
    except UnboundLocalError as e:
        return str(e)
""",
        [(0,), (1,)],
    ),
    "del in a loop": (
        """
def f(n):
    y = 0
    for i in range(n):
        y = y + i
        if i == 2: del y
    return y
""",
        [(1,), (3,), (4,)],
    ),
    "chained": (
        """
def f(a, b, c):
    return a < b < c, a < b != c > a, a == b == c
""",
        [(1, 2, 3), (3, 2, 1), (1, "a", 2)],
    ),
    "chained with walrus": (
        """
def f(a, b):
    if b: a += 1
    return (a < (c := b) < (d := 5), c)
""",
        [(1, 2), (3, 2)],
    ),
    "boolean": (
        """
def f(a, b):
    return a and b, a or b, not a, a and (not b or a), [] or {} and a
""",
        [(0, 1), (2, []), ("", 3)],
    ),
    "conditional": (
        """
def f(a):
    return [x if x > a else -x if x else None for x in range(4)]
""",
        [(2,), (-1,)],
    ),
    "handler sees the assignment": (
        """
def f(x):
    try:
        if x > 0:
            y = x
            z = 1 / (x - 1)
        else:
            y = 0
        w = 5
    except ZeroDivisionError:
        return 'caught', y
    return y, w
""",
        [(1,), (2,), (0,)],
    ),
    "handler sees the loop": (
        """
def f(xs):
    i = k = None
    try:
        for i, x in enumerate(xs):
            k = 10 // x
    except Exception as e:
        return i, k, str(e)
    finally:
        xs.append(i)
    return k
""",
        [([1, 2],), ([5, 0],), (["a"],), ([],)],
    ),
    "swallowed": (
        """
import contextlib
def f(xs):
    with contextlib.suppress(ZeroDivisionError):
        for x in xs:
            y = 10 // x
    return y
""",
        [([1, 0],), ([0],), ([2],)],
    ),
    "return in with": (
        """
import contextlib
def f(x):
    with contextlib.nullcontext(4) as c:
        if x: return c
        c = 1
    return c, x
""",
        [(0,), (1,)],
    ),
    "return through finally": (
        """
def f(x, log):
    for i in range(3):
        try:
            if i == x: return log
            if i == 1: continue
        finally:
            log.append(i)
    return 'end'
""",
        [(0, []), (2, []), (9, [])],
    ),
    "reraise": (
        """
def f(x):
    try:
        1 / x
    except ZeroDivisionError:
        if x is not None:
            raise
    return 2
""",
        [(0,), (1,)],
    ),
    "from": (
        """
def f(x):
    try:
        [][x]
    except IndexError as e:
        if x > 1:
            raise KeyError(x) from e
        return repr(e)
""",
        [(0,), (2,)],
    ),
    "assert": (
        """
def f(x):
    assert x > 0
    assert x < 5, f'{x} is big'
    return x
""",
        [(1,), (0,), (7,)],
    ),
    "raise with a value": (
        """
def f(x):
    if x[0] < 0: raise ValueError(f'neg {x[0]}')
    return x
""",
        [([-1.0],), ([1],)],
    ),
    "targets": (
        """
class O: pass
def f(a):
    o = O()
    for o.x in a: pass
    for a[0], b in [(1, 2)]: a[1] += b
    for i, (j, *k) in [(1, (2, 3, 4))]:
        a[i] = j, k
    o.x += 1
    return o.x, a
""",
        [([7, 8, 9],), ([],)],
    ),
    "star": (
        """
def f(x):
    if x:
        a, *b, c = x
    else:
        a = b = c = None
    return a, b, c
""",
        [([1, 2, 3, 4],), ([],), ([1],)],
    ),
    "closure": (
        """
def f(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [g() for g in fs]
""",
        [(3,), (0,)],
    ),
    "nonlocal": (
        """
def f(n):
    k = 0
    def add(x):
        nonlocal k
        if x % 2:
            k += x
        return k
    for i in range(n):
        add(i)
    return k
""",
        [(5,), (0,)],
    ),
    "captured and assigned": (
        """
def f(n):
    s = 0
    g = lambda: s
    for i in range(n):
        s += g() + 1
    return g(), s
""",
        [(3,)],
    ),
    "recursion": (
        """
def f(n):
    def fact(k): return 1 if k < 2 else k * fact(k - 1)
    return fact(n)
""",
        [(5,)],
    ),
    "recursion by the name": (
        """
def f(n):
    if n < 2: return 1
    return n * f(n - 1)
""",
        [(5,), ("x",)],
    ),
    "generator": (
        """
def f(n):
    def g(m):
        for i in range(m):
            if i % 2: yield i
    return list(g(n)), sum(x if x > 1 else 0 for x in g(n))
""",
        [(6,)],
    ),
    "lazy": (
        """
def f(n):
    k = 1
    for i in range(n):
        g = (i * k for _ in range(2))
        k += 1
    return list(g)
""",
        [(3,)],
    ),
    "class": (
        """
def f(x):
    k = 3
    class A:
        y = x if x else k
        def m(self, z=y):
            if z: return z, self.__n()
            return k
        def __n(self): return __name__ if x else 'no'
    if x: k = 4
    return A().m(), A.__qualname__, A.m.__qualname__
""",
        [(0,), (1,)],
    ),
    "match": (
        """
def f(x):
    for _ in range(2):
        match x:
            case [a, *b] if a > 1: x = b
            case {'k': v, **r}: return v, r
            case int() as i:
                if i > 3: break
                x = i + 1
            case _: return 'other'
    return x
""",
        [([2, 1],), ({"k": 1, "z": 2},), (3,), (9,), ("s",)],
    ),
    "global": (
        """
t = 0
def f(n):
    global t
    for i in range(n):
        t += i
        if t > 2: break
    return t
""",
        [(2,), (5,)],
    ),
    "annotated": (
        """
def f(x):
    y: int
    if x:
        y: float = x
    return y
""",
        [(0,), (1,)],
    ),
    "imported": (
        """
def f(x):
    if x:
        import os.path, math as m
        from math import floor
    return m.__name__, os.__name__, floor(2.5)
""",
        [(0,), (1,)],
    ),
    "multiple lines": (
        """
def f(x):
    y = (x
        .strip()
        .index('b'))
    if (y
            and 1 / (y - 1)):
        return [
            x
            for _ in range(3)
            if x[
                y + 5]]
    return y
""",
        [("ab",), ("b",), ("a",), (1,), ("aab",)],
    ),
    "calls": (
        """
def g(a, *b, c=1, **d): return a, b, c, d
def f(x):
    return g(x, *x, c=2, **{'e': 3}), x.count(1), g()
""",
        [([1],)],
    ),
    "not iterable": (
        """
def f(x):
    for i in x:
        print(i)
    return 1
""",
        [(5,)],
    ),
    "bad bool": (
        """
class B:
    def __bool__(self): raise TypeError('no bool')
def f(x):
    b = B()
    if x == 1:
        if b: pass
    elif x == 2:
        while b: pass
    return not b
""",
        [(1,), (2,), (3,)],
    ),
    "docstring": (
        """
def f(x):
    'words'
    if x: return f.__doc__
""",
        [(1,), (0,)],
    ),
    "only a docstring in a branch": (
        """
def f(x):
    if x:
        'words'
    return x
""",
        [(1,)],
    ),
    "default": (
        """
def f(x, y=[], *, z={}):
    if x: y.append(x)
    return y, z
""",
        [(1,), (0,)],
    ),
    "lambda": (
        """
f = lambda x, *y: (x if y else -x) and (y or x)
""",
        [(1,), (1, 2), (0, 1)],
    ),
    "walrus in a comprehension": (
        """
def f(xs):
    if any((y := x) > 2 for x in xs):
        return y
    return [y for _ in xs]
""",
        [([1, 3],), ([1],), ([],)],
    ),
    "except star": (
        """
def f(x):
    try:
        if x: raise ExceptionGroup('g', [ValueError(x)])
        y = 0
    except* ValueError as e:
        y = len(e.exceptions)
    return y
""",
        [(0,), (1,)],
    ),
    "handler's name": (
        """
def f(x):
    e = 1
    for i in range(2):
        try:
            1 / x
        except ZeroDivisionError as e:
            k = str(e)
    return e
""",
        [(0,), (1,)],
    ),
}

# Functions that give one which is not rewritten, by the reason.
UNCHANGED: dict[str, str] = {
    "its source is not available": """
exec('def g(x):\\n    if x: return 1', globals())
def f(): return g
""",
    "it is a generator or coroutine": """
def g(x):
    if x: yield 1
def f(): return g
""",
    "it uses locals()": """
def g(x):
    if x: return locals()
def f(): return g
""",
    "it uses eval()": """
def g(x):
    return [eval('x') for _ in range(3)]
def f(): return g
""",
    "it uses vars()": """
def g(x):
    def h(): return vars()
    return h
def f(): return g
""",
    "it uses super()": """
class A:
    def g(self):
        if self: return super().g()
def f(): return A.g
""",
    "a finally clause returns, breaks or continues": """
def g(x):
    try: pass
    finally:
        return x
def f(): return g
""",
}
