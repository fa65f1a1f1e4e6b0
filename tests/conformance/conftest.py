"""Puts this folder on the path, so that tests import `edge_values` and `one_kernel`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
