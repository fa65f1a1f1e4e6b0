"""Functions that call themselves until a value says stop: loops where the call comes last, Python
where it does not, and RecursionError where Python raises it.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from generate_loops import made
from oracle_of_calls import agrees

from jitwise import jit

X = np.array([1.5, -2.0, 0.5])
# Name, text, calls. All of these call themselves last.
LAST = {
    "gcd": ("(a, b): return a if b == 0 else gcd(b, a % b)", [[12, 18], [7, 0], [270, 192]]),
    "power": (
        "(x, n, acc):\n    if n == 0: return acc\n    return power(x, n - 1, acc * x)",
        [[2.0, 5, 1.0], [X, 3, X], [X, 0, X], [np.float32(2), 3, np.float32(1)]],
    ),
    "halved": (
        "(x, limit, turns):\n    if abs(x) < limit:\n        return x, turns\n"
        "    return halved(turns=turns + 1, x=x * 0.5, limit=limit)",
        [[5.0, 1e-3, 0], [np.float64(3), 0.5, 0], [0.1, 0.5, 0]],
    ),
    "collatz": (
        "(n, steps):\n    if n == 1:\n        return steps\n    elif n % 2 == 0:\n"
        "        return collatz(n // 2, steps + 1)\n    else:\n"
        "        half = n * 3\n        return collatz(half + 1, steps + 1)",
        [[np.int64(27), 0], [np.int64(1), 0], [np.int64(6), 3]],
    ),
    "found": (
        "(x, v, low, high):\n    if high - low < 1:\n        return None\n"
        "    middle = (low + high) // 2\n    if x[middle] == v:\n        return middle\n"
        "    return found(x, v, low, middle) if x[middle] > v else found(x, v, middle + 1, high)",
        [[np.arange(9.0), v, 0, 9] for v in (3.0, 8.0, 8.5, -1.0)],
    ),
    "written": (
        "(x, i, s):\n    if i >= len(x) or s > 5: return s\n    x[i] += s\n"
        "    return written(x, i + 1, s + x[i])",
        [[X, 0, 1.0], [X * 9, 0, 1.0], [X, 2, 0.5]],
    ),
    "swapped": (
        "(x, y, n):\n    if (x * n).sum() > 6 or n > 9: return x, y\n"
        "    return swapped(y, x, n + 1)",
        [[X, X * 2, 0], [X, X, 3], [X + 9, X, 0]],
    ),
}
NOT_LAST = {
    "fact": "(n):\n    if n <= 0: return 1.0\n    return n * fact(n - 1)",
    "fib": "(n):\n    if n < 2: return n\n    return fib(n - 1) + fib(n - 2)",
    "odd": "(n):\n    if n < 1: return False\n    return even(n - 1)\n"
    "def even(n):\n    if n < 1: return True\n    return odd(n - 1)",
    "tried": "(n):\n    try:\n        if n < 1: return n\n        return tried(n - 1)\n"
    "    finally:\n        n = 0",
    "kept": "(n):\n    if n > 5: k = n\n    if n < 1: return 0.0\n    if n < 2: return k\n"
    "    return kept(n - 1)",
}


def defined(name: str, text: str, **surroundings: object) -> object:
    source = f"def {name}{text}\n"
    namespace = made(source, f"recursion {name} {len(surroundings)}", name, **surroundings)
    namespace.__globals__[name] = namespace
    return namespace


@pytest.mark.parametrize("name", LAST)
def test_a_function_that_ends_by_calling_itself_is_a_loop(name):
    text, calls = LAST[name]
    compiled = agrees(defined(name, text), *calls)
    if name != "found":  # gives None or an int
        assert not [each for each in compiled.records() if each.subject == "fallback"]


def test_such_a_loop_is_compiled_once():
    compiled = jit(defined("collatz", LAST["collatz"][0]))
    for n in range(1, 40):
        compiled(np.int64(n), 0)
    programs = [row for row in compiled.state.native.entries() if row[2] is not None]
    assert len(programs) == 1


@pytest.mark.parametrize("name", LAST)
def test_a_jitted_function_may_call_itself_by_its_name(name):
    text, calls = LAST[name]
    function = defined(name, text)
    compiled = agrees(function, *calls)
    function.__globals__[name] = jit(function)
    agrees(function, *calls)
    assert compiled is not function


@pytest.mark.parametrize("name", NOT_LAST)
def test_other_recursions_give_what_python_gives(name):
    calls = [[n] for n in (0, 1, 7, 2.5, np.int64(6), np.float64(3), np.float64(12), np.float32(4))]
    agrees(defined(name, NOT_LAST[name]), *calls)


def test_a_name_that_stands_for_another_function_is_called():
    function = defined("power", LAST["power"][0])
    agrees(function, [np.float64(2), np.int64(3), np.float64(1)])
    function.__globals__["power"] = lambda x, n, acc: acc + 100
    agrees(function, [np.float64(2), np.int64(3), np.float64(1)])


@pytest.mark.parametrize("depth", [700, 790, 900, 1500])
def test_a_recursion_that_is_too_deep_for_python_raises(depth):
    text = "(x, n):\n    if x > n:\n        return x\n    return deep(x + 1, n)"
    agrees(defined("deep", text), [np.float64(0), np.float64(depth)], [0.0, float(depth)])


@pytest.mark.parametrize("call", ["never(x + 1)", "1 + never(x)", "never(never(x))"])
def test_a_recursion_that_never_ends_raises_as_in_python(call):
    text = f"(x):\n    if x > 1 and x < 0:\n        return x\n    return {call}"
    agrees(defined("never", text), [np.float64(0)], [0.5])


def test_a_deep_recursion_of_python_numbers_is_followed():
    text = "(n, s):\n    if n == 0:\n        return s\n    return steps(n - 1, s + n)"
    function = jit(defined("steps", text))
    assert function(150, 0.0) == math.comb(151, 2) and sys.getrecursionlimit() > 150
