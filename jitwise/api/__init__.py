"""What users import: `jit`, its stages, and ways of looking at functions without running them."""

from . import stages  # gives jitted functions their methods `trace` and `lower`

__all__ = ["stages"]
