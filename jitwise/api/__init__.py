"""What users import: `jit`, its stages, and ways of looking at functions without running them."""
