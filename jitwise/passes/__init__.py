"""Passes: pure functions from graph to graph, and the loop that runs them."""
