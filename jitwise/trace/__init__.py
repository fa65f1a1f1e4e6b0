"""From a Python function to a graph: tracers, sizes, captured state, and NumPy's functions on
them.
"""
