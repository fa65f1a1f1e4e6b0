"""The command line: `python -m jitwise`."""
