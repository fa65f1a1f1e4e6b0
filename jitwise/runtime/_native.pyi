# The native module is described where it is written, in `native/`; here it is anything.
from typing import Any

def __getattr__(name: str) -> Any: ...
