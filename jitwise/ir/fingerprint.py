"""A stable hash of a graph: equal text (without source lines), equal fingerprint, on any machine
and in any process.
"""

from __future__ import annotations

import hashlib

from .graph import Graph
from .printer import print_graph


def fingerprint(graph: Graph) -> str:
    """32 hexadecimal digits of BLAKE2b over the graph's text."""
    text = print_graph(graph, sources=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
