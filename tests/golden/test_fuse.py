"""What the fuse pass makes of graphs: one behaviour a file."""

from __future__ import annotations

import pytest

from jitwise.kernel.build import build_kernel
from jitwise.passes.pipeline import parse_pipeline
from jitwise.passes.pipelines import PASSES


def run(graph, header):
    return parse_pipeline(header["pipeline"], PASSES).run(graph)


def count(graph):
    kernels = [build_kernel(op.attrs["body"]) for op in graph.ops if op.primitive.name == "fusion"]
    return {
        "kernels": len(kernels),
        "distinct": len({str(kernel) for kernel in kernels}),
        "phases": sum(len(kernel.phases) for kernel in kernels),
        "scratch": sum(len(kernel.scratch) for kernel in kernels),
    }


@pytest.mark.golden("fuse")
def test_fusing(golden_path, golden):
    golden(golden_path, run, count)


def kernels_of(graph, header):
    fused = run(graph, header)
    return "\n\n".join(
        str(build_kernel(op.attrs["body"])) for op in fused.ops if op.primitive.name == "fusion"
    )


@pytest.mark.golden("phases")
def test_building_kernels(golden_path, golden):
    golden(golden_path, kernels_of)
