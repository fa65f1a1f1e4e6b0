"""Puts this folder on the path, so that tests import `oracle`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.with_name("conformance"))]  # there are the layouts
