"""What functions of NumPy written in Python warn of is said as often as by the plain function, at
the same line, under every filter; also where the call is run again for another reason.
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitwise import JitwiseWarning, jit


def mean_of_none(x):
    y = x + 1
    return np.nanmean(y)


def maxima_of_none(x):
    return np.nanmax(
        x,
        axis=0,
    )


def several(x):
    middle = np.nanmedian(x, axis=1)
    return middle, np.nanvar(x, axis=0, ddof=3), np.nanmedian(x), np.nanmin(x, axis=1)


def nothing_left(x):
    return np.nanmean(x[:0]), np.nanstd(x[:0]), np.nanquantile(x, 0.3), np.nanpercentile(x, 5, 0)


def one_column(x):
    return np.cov(x[:, :1]), np.corrcoef(x[:, :1])


def of_some(x):
    there = ~np.isnan(x)
    return np.mean(x, axis=0, where=there), np.var(x, axis=1, where=there), np.median(x[:0], axis=0)


def fitted(x):
    y = np.nan_to_num(x)
    return np.polyfit(y[0], y[1], 2), np.cov(y), np.polyfit(y[0] * 0, y[1], 1, cov="unscaled")


def through_another(x):
    return maxima_of_none(x) + mean_of_none(x)


def in_a_loop(x):
    total = 0.0
    for row in range(len(x)):
        total = total + np.nanmean(x[row])
    return total


def with_a_division(x):
    return np.nanmean(x), 1 / np.zeros_like(x), np.nanmean(x, axis=0)


def with_lost_parts(x):
    return (x * 1j).astype(float) / np.zeros_like(x)


def changing_its_argument(x):
    x += np.nanmean(x, axis=0)
    return x


def raising_in_the_end(x):
    return np.nanmean(x), x[np.arange(9)]


PROGRAMS = [
    of_some, fitted,
    mean_of_none, maxima_of_none, several, nothing_left, one_column, through_another, in_a_loop,
    with_a_division, with_lost_parts, changing_its_argument, raising_in_the_end,
]  # fmt: skip
HALF = np.where(np.arange(12.0).reshape(3, 4) % 4 < 2, np.nan, 1.0)
ARRAYS = {
    "all": np.full((3, 4), np.nan),
    "columns": HALF,
    "rows": HALF.reshape(4, 3).T,
    "none": np.ones((3, 4)),
}


def said(function: Callable[..., Any], calls: list[np.ndarray], mode: Any) -> list[Any]:
    """What is said in each call, under one filter that is set before the first."""
    found = []
    __warningregistry__ = globals().setdefault("__warningregistry__", {})
    __warningregistry__.clear()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter(mode)
        warnings.simplefilter("ignore", JitwiseWarning)
        for given in calls:
            raised = None
            try:
                function(given.copy())
            except Exception as error:
                raised = repr(error)
            rows = [(str(w.message), w.category, w.filename, w.lineno) for w in heard]
            found.append((Counter(rows), raised))
            heard.clear()
    return found


@pytest.mark.parametrize("mode", ["always", "default", "module", "once", "error", "ignore"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_said_is_what_numpy_says(program, mode):
    before = list(warnings.filters)
    for name, x in ARRAYS.items():
        for dtype in ("f8", "f4"):
            calls = [x.astype(dtype)] * 4 + [np.ones((3, 4), dtype)] + [x.astype(dtype)]
            with np.errstate(all="warn", under="ignore"):
                expected = said(program, calls, mode)
                found = said(jit(program), calls, mode)
            assert found == expected, (name, dtype)
    assert warnings.filters == before


def test_threads_do_not_hear_each_other():
    jitted = jit(several)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted(ARRAYS["none"])

    def run(x: np.ndarray) -> None:
        for _ in range(50):
            jitted(x)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=run, args=(ARRAYS[name],)) for name in ("all", "none")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        heard = [str(each.message) for each in caught]
        caught.clear()
        several(ARRAYS["all"])
        several(ARRAYS["none"])
        assert Counter(heard) == Counter(50 * [str(each.message) for each in caught])


def test_a_trace_does_not_make_modules_forget_what_they_have_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        mean_of_none(ARRAYS["all"])
        for dtype in ("f8", "f4", "c8"):
            jit(mean_of_none)(ARRAYS["all"].astype(dtype))
            jit(lambda x: (np.sort(x, axis=0), np.linalg.eigvals(x[:, :3])))(np.ones((3, 4)))
        mean_of_none(ARRAYS["all"])
    assert [str(each.message) for each in caught] == ["Mean of empty slice"]
