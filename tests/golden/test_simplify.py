"""What a builder makes of ops as they are emitted: rules, constant folding, numbering."""

from __future__ import annotations

import pytest

from jitwise.ir.walk import live_ops, map_graph


@pytest.mark.golden("simplify")
def test_replaying_through_a_builder_simplifies(golden_path, golden):
    golden(
        golden_path,
        lambda graph, header: map_graph(graph),
        lambda graph: {"ops": len(graph.ops), "live": len(live_ops(graph))},
    )


@pytest.mark.golden("simplify")
def test_simplifying_twice_changes_nothing(golden_path, golden):
    golden(golden_path, lambda graph, header: map_graph(map_graph(graph)))


@pytest.mark.golden("text")
def test_text_means_what_it_says(golden_path, golden):
    golden(golden_path, lambda graph, header: graph)
