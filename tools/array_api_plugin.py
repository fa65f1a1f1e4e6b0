"""A pytest plugin: the array API's suite finds the same on a busy machine as on an idle one.

Hypothesis fails a test whose examples are slow to draw; here only what is drawn counts.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings


@pytest.hookimpl(trylast=True)
def pytest_configure(config: Any) -> None:
    """The suite's own profile has been loaded by now."""
    settings.register_profile("steady", settings(), suppress_health_check=list(HealthCheck))
    settings.load_profile("steady")
