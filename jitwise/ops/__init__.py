"""Every primitive, one file per family; importing this package fills the registry."""

from . import compare, control, convert, elementwise, movement, reduce

__all__ = ["compare", "control", "convert", "elementwise", "movement", "reduce"]
