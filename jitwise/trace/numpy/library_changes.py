"""Functions of NumPy that change their first array, left to NumPy: rows of `library`.

np.put(x, [0, 2], 7)    ->   the call works on a copy, which `x` becomes
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tracer import METHODS
from .library import method_of, row
from .library_shapes import same


def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """The parameters of `np.put`."""


def _put_mask(a: Any, /, mask: Any, values: Any) -> None:
    """The parameters of `np.putmask`."""


row(np.put, "a ind v", same, raising=True, nested=True, changes="a", like=_put)
row(np.place, "arr mask vals", same, raising=True, nested=True, changes="arr")
row(np.putmask, "a mask values", same, raising=True, nested=True, changes="a", like=_put_mask)
row(np.fill_diagonal, "a val", same, raising=True, nested=True, changes="a")
_facts = {"raising": True, "nested": True, "changes": "arr", "arrays_only": ("indices",)}
row(np.put_along_axis, "arr indices values", same, **_facts)
METHODS["put"] = method_of(np.put)
