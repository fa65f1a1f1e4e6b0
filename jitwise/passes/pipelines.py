"""The pipelines, readable as lists."""

from __future__ import annotations

from .. import config
from .dead_code import DeadCode
from .expand import Expand
from .fuse import Fuse
from .pipeline import Pass, Pipeline, parse_pipeline
from .regions import Regions
from .simplify import Simplify

PASSES: dict[str, type[Pass]] = {
    kind.name: kind for kind in (Expand, Simplify, DeadCode, Regions, Fuse)
}

DEFAULT = Pipeline(
    (
        DeadCode(),  # first, so that nothing dead is expanded or simplified
        Expand(),
        Simplify(),
        DeadCode(),
        Regions(),
        Fuse(),
    )
)


def default_pipeline() -> Pipeline:
    """The pipeline of a compiled function: the one of the setting `passes`, or the list above."""
    if config.active.passes is not None:
        return parse_pipeline(config.active.passes, PASSES)
    return DEFAULT
