"""Every primitive, one file per family; importing this package fills the registry."""

from . import (
    compare,
    complex_number,
    contract,
    control,
    convert,
    elementwise,
    extremes,
    floating,
    integer,
    movement,
    promotion,
    reduce,
    scan,
    transcendental,
    ufuncs,
    update,
)

__all__ = [
    "compare",
    "complex_number",
    "contract",
    "control",
    "convert",
    "elementwise",
    "extremes",
    "floating",
    "integer",
    "movement",
    "promotion",
    "reduce",
    "scan",
    "transcendental",
    "ufuncs",
    "update",
]
