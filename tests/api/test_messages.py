"""What jitwise says: once, at the line of the call, naming the value or the argument and the source
line; and what it refuses, with the parameters that there are.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import jitwise
from jitwise import JitwiseWarning, ShapeError, StageError, jit
from jitwise.api.state import MOST_SIGNATURES, MOST_TRACES, MOST_USED_ONCE

X = np.ones(5)
FACTOR = 2.0
LOG: list[int] = []


def repeated(x, n):
    for _ in list(range(n)):
        x = x + 1
    return x


def by_size(x):
    total = 0.0
    for i in list(range(len(x))):
        total = total + x[i]
    return total


def by_number(x, level):
    return x * len(str(level))


def by_global(x):
    return x * FACTOR


def by_text(x, text):
    return x * len(text)


def by_item(x, options):
    return x * round(options["deep"][0])


def said(jitted, *calls):
    """The texts of the warnings of some calls, each with the line it was attributed to."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for args in calls:
            jitted(*args)
    return [str(each.message) for each in given if each.category is JitwiseWarning]


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    number = next(k for k, line in enumerate(lines) if text in line)
    return f"{inspect.getsourcefile(function)}:{first + number}"


def test_values_that_traced_again_are_named_with_their_line():
    message = said(jit(repeated), *[(X, n) for n in range(MOST_TRACES + 2)])
    assert len(message) == 1
    assert "of n (0, 1, 2, 3, 4, 5, 6, 7, then 8)" in message[0]
    assert message[0].endswith(line_of(repeated, "range(n)"))


def test_sizes_that_traced_again_are_named_with_their_line():
    message = said(jit(by_size), *[(np.ones(n),) for n in range(2, MOST_TRACES + 4)])
    assert len(message) == 1
    assert "of x.shape[0] (2, 3, 4, 5, 6, 7, 8, 9, then 10)" in message[0]
    assert message[0].endswith(line_of(by_size, "len(x)"))


def test_numbers_that_traced_again_are_named_with_their_line():
    levels = [(X, float(n)) for n in range(MOST_TRACES + 2)]
    message = said(jit(by_number), *levels)
    assert len(message) == 1
    assert "of level (now 8.0)" in message[0]
    assert message[0].endswith(line_of(by_number, "str(level)"))


def test_globals_that_traced_again_are_named_with_their_line():
    global FACTOR
    jitted = jit(by_global)
    messages = []
    for number in range(MOST_TRACES + 2):
        FACTOR = float(number)
        messages += said(jitted, (X,))
    assert len(messages) == 1
    assert "of FACTOR (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, then 8.0)" in messages[0]
    assert messages[0].endswith(line_of(by_global, "FACTOR"))


def test_static_values_that_are_new_at_each_call_are_named():
    message = said(jit(by_text), *[(X, "a" * n) for n in range(MOST_SIGNATURES + 3)])
    assert len(message) == 1
    assert f"{MOST_USED_ONCE} values of text, a str, served one call each" in message[0]
    assert message[0].endswith(line_of(by_text, "def by_text"))


def test_arguments_of_new_structure_at_each_call_are_named():
    message = said(jit(by_text), *[(X, [X] * n) for n in range(MOST_SIGNATURES + 3)])
    assert len(message) == 1
    assert f"for {MOST_SIGNATURES} kinds of arguments, which differ in text, a list" in message[0]
    assert message[0].endswith(line_of(by_text, "def by_text"))


def test_items_of_arguments_are_named_as_the_user_writes_them():
    calls = [(X, {"deep": [float(n), 1.0]}) for n in range(MOST_TRACES + 2)]
    message = said(jit(by_item), *calls)
    assert len(message) == 1
    assert "options['deep'][0]" in message[0]


def appended(x):
    LOG.append(1)
    return x


def generated(x):
    return x * sum(each for each in (1, 2))


def branched(x):
    return x if x.sum() in (5.0, 7.0) else -x


def assigned_global(x):
    global FACTOR
    FACTOR = 3.0
    return x


def unknown(x):
    return x.tolist()


def converted(x):
    return complex(x.sum())


def stringed(x):
    return np.array(["a", "b"])[: len(x) - 3]


@pytest.mark.parametrize(
    "function",
    [appended, branched, assigned_global, unknown, converted, stringed],
)
def test_every_reason_is_said_once_with_a_line_of_the_function(function):
    message = said(jit(function), *[(X,)] * 3)
    assert len(message) == 1
    lines, first = inspect.getsourcelines(function)
    path, number = message[0].rsplit(", at ", 1)[1].rsplit(":", 1)
    assert path == inspect.getsourcefile(function)
    assert first <= int(number) < first + len(lines)
    assert "runs as Python, because" in message[0]


def test_a_function_that_always_raises_is_said_once_it_runs_as_python_for_good():
    def wrong(x):
        return x + np.ones(3)

    jitted, messages = jit(wrong), []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(2 * MOST_TRACES):
            with pytest.raises(ValueError, match="broadcast"):
                jitted(X)
        messages = [str(each.message) for each in given]
    assert len(messages) == 1
    assert "NumPy raises" in messages[0]


def test_the_warning_is_attributed_to_the_line_of_the_call():
    jitted = jit(branched)

    def caller():
        return jitted(X)

    with pytest.warns(JitwiseWarning) as given:
        caller()
    assert given[0].filename == __file__
    assert given[0].lineno == caller.__code__.co_firstlineno + 1


def program(tmp_path, text, *options, **environment):
    """Run a program as a user does; gives what it prints on standard error."""
    path = tmp_path / "program.py"
    path.write_text("import warnings\nimport numpy as np\nfrom jitwise import *\n" + text)
    root = str(Path(jitwise.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *options, str(path)],
        env={"PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


FALLS_BACK = """
@jit
def f(x):
    return x if x.sum() in (3.0, 7.0) else -x

for _ in range(3):
    f(np.ones(3))
"""


def test_a_user_sees_the_reason_once_by_default(tmp_path):
    shown = program(tmp_path, FALLS_BACK)
    assert shown.count("f runs as Python, because") == 1
    assert "program.py:7" in shown.split("because")[1]
    assert "program.py:10: JitwiseWarning" in shown


def test_the_reason_is_silenced_as_documented(tmp_path):
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    statement = 'warnings.simplefilter("ignore", jitwise.JitwiseWarning)'
    assert statement in " ".join(readme.split())
    assert program(tmp_path, "import jitwise\n" + statement + FALLS_BACK) == ""
    assert program(tmp_path, FALLS_BACK, "-W", "ignore") == ""


# Compiled stages


def test_a_compiled_stage_is_called_by_position_or_by_name():
    compiled = jit(lambda a, b: a * b).lower(X, 2.0).compile()
    assert compiled(X, 3.0).tolist() == [3.0] * 5
    assert compiled(a=X, b=3.0).tolist() == [3.0] * 5
    assert compiled(X, b=4.0).tolist() == [4.0] * 5


def test_a_compiled_stage_names_the_argument_that_does_not_fit():
    compiled = jit(lambda a, b: a * b).lower(X, 2.0).compile()
    with pytest.raises(
        ShapeError,
        match=r"for \(a: f64\[n0\], b: float\), and is called with \(a: f64\[5\], b: int\)",
    ):
        compiled(X, 3)
    with pytest.raises(ShapeError, match=r"called with \(a: f32\[5\], b: float\)"):
        compiled(X.astype(np.float32), 3.0)
    with pytest.raises(TypeError, match="missing"):
        compiled(X)


def test_a_compiled_stage_says_which_value_it_was_compiled_for():
    global FACTOR
    FACTOR = 2.0
    compiled = jit(repeated).lower(X, 2).compile()
    with pytest.raises(ShapeError, match=r"values of n \(2, then 3\), at .*test_messages.py:\d+"):
        compiled(X, 3)
    compiled = jit(by_global).lower(X).compile()
    FACTOR = 5.0
    with pytest.raises(StageError, match=r"values of FACTOR \(2.0, then 5.0\)"):
        compiled(X)


# Arguments of jit


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"static_argnames": "nope"}, "static_argnames='nope'"),
        ({"static_argnames": ("x", "nope")}, "static_argnames='nope'"),
        ({"donate_argnames": "nope"}, "donate_argnames='nope'"),
        ({"static_argnums": 7}, "static_argnums=7"),
        ({"static_argnums": (0, 3)}, "static_argnums=3"),
        ({"static_argnums": -4}, "static_argnums=-4"),
        ({"donate_argnums": 9}, "donate_argnums=9"),
    ],
)
def test_an_argument_that_the_function_has_not_is_an_error_that_lists_what_it_has(options, text):
    def f(x, mode, size=1, *, key=None):
        return x

    with pytest.raises(ValueError, match="its parameters are x, mode, size, key") as raised:
        jit(f, **options)
    assert text in str(raised.value)
    with pytest.raises(ValueError, match="its parameters are"):
        jit(**options)(f)


def test_a_misspelt_name_is_told_with_the_nearest_one():
    with pytest.raises(ValueError, match="perhaps 'mode'"):
        jit(lambda x, mode: x, static_argnames="mod")


def test_any_number_and_any_name_is_taken_where_the_function_takes_any():
    f = jit(lambda *items: items[0] * items[-1], static_argnums=-1)
    assert f(X, 3).tolist() == [3.0] * 5
    g = jit(lambda x, **options: x * options["scale"], static_argnames="scale")
    assert g(X, scale=3).tolist() == [3.0] * 5


def test_a_negative_number_counts_back_from_the_last_parameter():
    def f(x, n, m=2):
        return x * [1, 2, 3][n] * m

    jitted = jit(f, static_argnums=-2)
    for n in (0, 1, 2):
        assert jitted(X, n).tolist() == f(X, n).tolist()
        assert jitted(X, n=n, m=3).tolist() == f(X, n, 3).tolist()


def test_a_keyword_is_static_and_no_argument_that_stands_where_it_is_written():
    def f(x, *rest, key):
        return x * rest[0] * rest[1] * len(key)

    jitted = jit(f, static_argnames="key")
    for last in range(3, 3 + 2 * MOST_TRACES):
        assert jitted(X, 2, last, key="ab").tolist() == f(X, 2, last, key="ab").tolist()
    assert jitted.state.traces == 1


@pytest.mark.parametrize("nothing", [None, 3, "f"])
def test_what_is_no_function_is_an_error(nothing):
    with pytest.raises(TypeError, match="jit expects a function"):
        jit(nothing)
    with pytest.raises(TypeError, match="jit expects a function"):
        jit(static_argnums=0)(nothing)


def test_a_jitted_function_shows_what_is_meant_for_users():
    f = jit(repeated)
    shown = {name for name in dir(f) if not name.startswith("_")}
    assert shown == {"clear_cache", "lower", "records", "trace"}
    f.note = "mine"
    assert "note" in dir(f)
    for name in shown:
        assert inspect.getdoc(getattr(f, name))
