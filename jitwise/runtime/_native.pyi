# The native module is described where it is written, in `native/`; here it is nearly anything.
from collections.abc import Callable
from typing import Any

class Function:
    __wrapped__: Any
    clear_cache: Any
    trace: Any
    lower: Any
    def __init__(
        self,
        miss: Callable[..., Any],
        fallback: Callable[..., Any],
        failed: Callable[..., Any] | None = None,
        flagged: Callable[..., Any] | None = None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def __getattr__(name: str) -> Any: ...
