"""NumPy's functions and ndarray's methods on tracers, written with primitives; importing this
package registers them.

One file per family. A handler has NumPy's signature after `trace`, gives exactly NumPy's result,
or ends the trace.
"""

from . import (
    arrange,
    assign,
    contract,
    create,
    differences,
    einsum,
    elementwise,
    grids,
    index,
    join,
    library_arrays,
    library_changes,
    library_linear,
    lists,
    outside,
    predicates,
    ranges,
    reduce,
    scan,
    shape,
    standard,
    statistics,
)

__all__ = [
    "arrange",
    "assign",
    "contract",
    "create",
    "differences",
    "einsum",
    "elementwise",
    "grids",
    "index",
    "join",
    "library_arrays",
    "library_changes",
    "library_linear",
    "lists",
    "outside",
    "predicates",
    "ranges",
    "reduce",
    "scan",
    "shape",
    "standard",
    "statistics",
]
