"""argmin and argmax over rows in which nothing is better than what the lanes begin with."""

from __future__ import annotations

import numpy as np
import pytest

from jitwise import jit


def worst(dtype: str, name: str):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return name == "argmin"
    if kind.kind == "f":
        return np.inf if name == "argmin" else -np.inf
    return getattr(np.iinfo(kind), "max" if name == "argmin" else "min")


@pytest.mark.parametrize("width", [1, 63, 64, 65, 700, 5000, 70_000])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_rows_of_the_worst_value(name, dtype, width):
    rows = np.full((4, width), worst(dtype, name)).astype(dtype)
    rows[1, -1] = 1 if dtype != "?" else not worst(dtype, name)
    rows[2, width // 2 :] = rows[1, -1]
    if np.dtype(dtype).kind == "f":
        rows[3, width * 2 // 3 :] = np.nan
    found = jit(lambda x: getattr(np, name)(x, axis=1))(rows)
    np.testing.assert_array_equal(found, getattr(np, name)(rows, axis=1))
