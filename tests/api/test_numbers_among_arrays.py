"""A Python number beside an array is weak or strong, fits or raises, as NumPy has it in each
function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import agrees

from jitwise import config, jit

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = (2.5, 2, True, 1j, 300, np.float64(2.5))
ARRAYS = (np.ones(3, "f4"), np.arange(3, dtype="i1"))
EXPRESSIONS = """
np.clip(k, x, x)
np.clip(x, k, k)
x.clip(k, None)
np.dot(k, x)
np.inner(k, x)
np.outer(k, x)
np.vdot(k, x)
np.kron(k, x)
np.tensordot(k, x, 0)
np.add.outer(k, x)
np.add.outer(x, k)
np.append(k, x)
np.append(x, k)
np.stack([k, x[0]])
np.array([k, x[0]])
np.hstack([k, x])
np.where(x > 0, k, x)
np.full_like(x, k)
np.full((2,), k, x.dtype)
np.interp(k, x, x)
np.convolve(k, x)
np.isclose(k, x)
np.nan_to_num(x, nan=k)
np.select([x > 0], [x], k)
np.max(x, initial=k)
np.sum(x, initial=k)
np.prod(x, initial=k)
np.diff(x, prepend=k)
np.pad(x, 1, constant_values=k)
np.linspace(x, k, 4)
np.heaviside(k, x)
np.polyval([k, 2], x)
np.polyval(x, k)
np.arctan2(k, x)
np.divmod(k, x)
np.ldexp(x, k)
np.round(k, 1) + x
np.abs(k) + x
np.real(k) + x
np.sum(k) * x
np.sqrt(k) * x
np.asarray(k) * x
np.ravel(k) * x
np.broadcast_to(k, 3) * x
np.expand_dims(k, 0) * x
np.repeat(k, 3) * x
np.squeeze(k) * x
np.conj(k) * x
np.copy(k) * x
np.cumsum(k) * x
np.clip(k, 0, 5) * x
np.floor(k) * x
np.ones_like(k) * x
np.linalg.norm(k) * x
np.sum([k, k]) * x
np.any(k) * x
np.std(k) * x
np.searchsorted(x, k)
"""


@pytest.mark.parametrize("constant", [False, True], ids=["argument", "constant"])
@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_a_number_promotes_and_fits_as_in_numpy(expression, constant):
    with config.override(verify=1):
        for number in NUMBERS:
            function, rest = _function(expression, number, constant)
            jitted = jit(function)
            for x in ARRAYS:
                try:
                    agrees(function, x, *rest, jitted=jitted, ulp=8)
                except AssertionError as error:
                    raise AssertionError(f"k={number!r}, x {x.dtype}: {error}") from None


def _function(expression: str, number: Any, constant: bool) -> tuple[Any, tuple]:
    names = {"np": np, "k": number}
    if constant:
        return eval(f"lambda x: {expression}", names), ()
    return eval(f"lambda x, k: {expression}", names), (number,)
