"""A pytest plugin: the array API's suite draws the same examples for every array module, and finds
the same on a busy machine as on an idle one.

Hypothesis draws some examples from the constants of the modules that are loaded, which differ,
fails a test whose examples are slow to draw, and shuffles by `random` what `example()` gives. None
of it is wanted here.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers


@pytest.hookimpl(trylast=True)
def pytest_configure(config: Any) -> None:
    """The suite's own profile has been loaded by now."""
    settings.register_profile("steady", settings(), suppress_health_check=list(HealthCheck))
    settings.load_profile("steady")
    nothing = getattr(providers, "_local_constants", None)  # not drawn from yet
    if nothing is not None:
        providers._get_local_constants = lambda: nothing


def pytest_runtest_setup(item: Any) -> None:
    """Each test shuffles in an order of its own, whatever ran before it."""
    random.seed(zlib.crc32(item.nodeid.encode()))
