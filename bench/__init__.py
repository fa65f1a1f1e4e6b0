"""Measurements beside other compilers: times, never verdicts. `python -m bench --help`."""
