"""What jitwise does can be read: as lines, with `JITWISE_LOG=1`, and as records."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import jitwise
from jitwise import config, jit
from jitwise.cli.__main__ import main
from jitwise.explain.lines import line
from jitwise.record import Decision, Event, Span
from jitwise.trace import watch

X = np.ones(4)


def logged_wave(x):
    return x * 2 + np.sin(x)


def logged_branch(x):
    return x if x.sum() in (4.0, 7.0) else -x


def long_program(x):
    for _ in range(watch.OFTEN * 3):
        x = x * 1.5 + 1.0
    return x


def lines_of(capsys):
    return [each for each in capsys.readouterr().err.splitlines() if each.startswith("jitwise: ")]


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_one_line_for_each_trace_compilation_and_fallback(capsys):
    f, g = jit(logged_wave), jit(logged_branch)
    with config.override(log=1):
        for _ in range(3):
            f(X)
        f(X.astype(np.float32))
        g(X)
        g(X)
    shown = lines_of(capsys)
    assert len(shown) == 6
    assert re.match(r"jitwise: traced logged_wave in \d+\.\d ms: 4 ops, \d+ guards$", shown[0])
    assert re.match(
        r"jitwise: compiled logged_wave in \d+\.\d ms: 4 ops, 1 kernel, 2 instructions$", shown[1]
    )
    assert shown[2].endswith(", trace 2")
    assert shown[3].startswith("jitwise: compiled logged_wave")
    assert shown[4].startswith("jitwise: tracing logged_branch ended after")
    assert re.match(
        r"jitwise: logged_branch runs as Python, because .*, at .*test_log_lines.py:\d+$", shown[5]
    )


def test_nothing_is_printed_without_being_asked_for(capsys):
    jit(logged_wave)(X)
    assert lines_of(capsys) == []


def test_passes_are_said_on_the_second_level(capsys):
    with config.override(log=2):
        jit(logged_wave)(X)
    assert "logged_wave: fuse" in capsys.readouterr().err


def test_the_variable_of_the_readme_prints(tmp_path):
    from test_messages import program

    text = "f = jit(lambda x: x + 1)\nf(np.ones(2))\n"
    shown = program(tmp_path, text, JITWISE_LOG="1").splitlines()
    assert [each.split()[1] for each in shown] == ["traced", "compiled"]
    assert program(tmp_path, text) == ""


@pytest.mark.filterwarnings("ignore::jitwise.JitwiseWarning")
def test_a_function_gives_its_own_records():
    def recorded_wave(x):
        return x * 2 + np.sin(x)

    def recorded_branch(x):
        return x if x.sum() in (4.0, 7.0) else -x

    f, g = jit(recorded_wave), jit(recorded_branch)
    assert f.records() == g.records() == []
    f(X)
    g(X)
    f(X.astype(np.float32))
    assert [each.subject for each in f.records()] == ["trace", "program", "trace", "program"]
    assert [each.subject for each in g.records()] == ["trace", "fallback"]
    fallback = g.records()[-1]
    assert fallback.detail["reason"] == "value"
    assert fallback.source == (__file__, recorded_branch.__code__.co_firstlineno + 1)
    assert jitwise.records("trace")[-1] == f.records()[-2]
    assert jitwise.records("fallback", "recorded_branch") == [fallback]


def test_another_trace_is_recorded_with_what_differs():
    def counted(x, n):
        for _ in list(range(n)):
            x = x + 1
        return x

    f = jit(counted)
    f(X, 2)
    f(X, 5)
    (again,) = jitwise.records("retrace", "counted")[-1:]
    assert again.detail["differs"] == "n (2, then 5)"
    assert again.source == (__file__, counted.__code__.co_firstlineno + 1)


def test_a_long_trace_says_once_what_it_is_at(capsys, monkeypatch):
    monkeypatch.setattr(watch, "SECONDS", 0.0)
    jit(long_program)(X)
    (shown,) = lines_of(capsys)
    assert re.match(
        rf"jitwise: still tracing long_program after \d+ s: {watch.OFTEN} ops so far, "
        r"at .*test_log_lines.py:\d+ ",
        shown,
    )
    number = int(re.search(r"py:(\d+) ", shown)[1])
    assert number == long_program.__code__.co_firstlineno + 2


def test_a_long_trace_is_silent_where_no_progress_is_wanted(capsys, monkeypatch):
    monkeypatch.setattr(watch, "SECONDS", 0.0)
    with config.override(progress=False):
        jit(long_program)(X)
    assert lines_of(capsys) == []


def test_a_trace_that_is_not_long_says_nothing(capsys):
    jit(long_program)(X)
    assert lines_of(capsys) == []


def test_watching_costs_one_look_at_the_clock_in_many_operations(monkeypatch):
    looks = []
    watched = watch.Watch("f")
    clock = lambda: looks.append(1) or watched.start  # noqa: E731
    monkeypatch.setattr(time, "perf_counter", clock)
    for _ in range(watch.OFTEN * 4):
        watched()
    assert len(looks) == 4


@pytest.mark.parametrize(
    "record",
    [
        Event("fallback", "f", {"reason": "value", "text": "it must"}, ("a.py", 3), 0.0),
        Event("kernel", "k", {"ops": 3}, None, 0.0),
        Event("bug", "f", {"text": "KeyError"}, None, 0.0),
        Decision("inline", "f", "call", {"call": 1.0, "inline": 2.0}, "seconds", "less", None, 0.0),
        Span("compile", "f", 0.0, 0.5, 1, {"kernels": 2}),
        Span("trace", "f", 0.0, 0.5, 1, {}),
    ],
)
def test_every_record_has_a_line(record):
    words = line(record)
    assert record.name in words
    assert "\n" not in words


def test_the_help_of_the_command_line_names_the_records(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "f.records()" in shown
    assert "jitwise.records()" in shown
    assert "JITWISE_LOG=1" in shown
