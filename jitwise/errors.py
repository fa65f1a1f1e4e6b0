"""Every exception a user can see, and the list of reasons for running a function as Python.

Two roots. `JitwiseError`: yours to repair; the message names the value, the variable, the line, and
what to write instead. `JitwiseBug`: ours; it carries the path of a crash file that `python -m
jitwise replay` runs again.

`CannotTrace` never reaches a user: it ends a trace, and the function runs as Python. `REASONS` is
the complete list of why; a test fails when a row is unused.
"""

from __future__ import annotations


class JitwiseError(Exception):
    """Something the caller can repair."""


REPORTS = "https://github.com/jitwise/jitwise/issues"


class JitwiseBug(Exception):
    """A fault of jitwise. `crash_file` names a file that reproduces it, or is None.

    `jit(f)` raises it only where `JITWISE_VERIFY` is set. Otherwise a function that jitwise fails
    to compile or to run runs as Python, and one warning says where to report it; the stages, which
    have nothing to run instead, raise it.
    """

    def __init__(self, message: str, crash_file: str | None = None) -> None:
        super().__init__(message)
        self.crash_file = crash_file


class JitwiseWarning(UserWarning):
    """Said once per function: it runs as Python from some line on, and why."""


class EscapedTracerError(JitwiseError):
    """A traced value was used after its trace had ended.

    Cause: the function stored a value outside (a global, an attribute, a list) while jitwise traced
    it, and the program used it later. Failing example: `kept = []; f = jit(lambda x: (kept.append(x
    * 2), x)[1]); f(1.0); kept[0] + 1`. Repair: return the value from the function.
    """


class StageError(JitwiseError):
    """`lower` or `compile` was asked for a function that cannot be compiled; the message gives the
    line and the reason.

    Failing example: `jit(lambda x: float(x)).lower(1.0).compile()`. Repair: call the function
    itself, which runs as Python.
    """


class ShapeError(JitwiseError, TypeError, ValueError):
    """Arguments of a compiled stage do not have the types it was compiled for.

    Failing example: `jit(f).lower(x).compile()(x.astype("f4"))`. Repair: call `jit(f)`, which
    compiles for new types.
    """


class CarryError(JitwiseError, TypeError):
    """Branches of `lax.cond` or turns of a loop of `lax` give values that cannot be one type.

    Failing example: `lax.cond(p, lambda: np.zeros(2), lambda: np.zeros(3))`. Repair: make the
    shapes and the structure of what the functions give the same.
    """


class CallbackError(JitwiseError, TypeError):
    """A function that a program calls gave something else than it had promised; the message names
    the function, the result, what was promised and what was given, and the line of the call.

    Failing example: `pure_callback(np.sin, ShapeDtypeStruct((3,), np.float32), np.ones(3))`.
    Repair: promise the dtype and shape that the function gives, or let it give what was promised.
    """


REASONS: dict[str, str] = {
    "value": "Python needs the value of a traced array ({detail})",
    "assign": "{detail}",
    "mutate": "{detail} is changed in place; change a copy of it, or let the function return one",
    "function": "{detail} is not traced yet",
    "argument": "{detail} does not take part in tracing with these arguments",
    "error": "NumPy raises {detail}",
    "untrue": "tracing it raised {detail}, and running it did not; write the line with other "
    "functions, or leave it outside of the jitted function",
    "dtype": "arrays of dtype {detail} are not traced",
    "type": "a value of type {detail} is not traced",
    "drawn": "what is drawn by {detail} decides what is computed",
    "random": "random numbers are drawn from {detail}",
    "clock": "{detail} gives another answer at each call",
    "world": "{detail} asks or changes the world outside of the function",
    "effect": "the function changes {detail}, which lives outside it",
    "global": "the function assigns the global or nonlocal variable {detail}",
    "generator": "{detail}",
    "convert": "a traced array is turned into {detail}",
    "source": "{detail} cannot be followed",
    "size": "{detail}",
    "loop": "a loop is not compiled: {detail}",
    "branch": "a branch is not compiled: {detail}",
    "path": "the path that this call takes is not compiled: {detail}",
    "rank": "an array has more than {detail} axes",
    "depth": "its arguments are nested more than 32 deep",
    "fault": "jitwise failed {detail}",
    "varies": "{detail} served one call each; a new value is compiled when it comes again",
    "retraces": "it was traced {detail}",
}


class CannotTrace(BaseException):
    """Ends a trace: the function runs as Python. A BaseException, so that user code does not
    swallow it by accident. `suspect` is an exception that jitwise raised itself: a fault of ours,
    unless Python raises the same.
    """

    suspect: Exception | None = None

    def __init__(
        self, reason: str, detail: str = "", source: tuple[str, int] | None = None
    ) -> None:
        self.reason = reason
        self.detail = detail
        self.source = source
        super().__init__(REASONS[reason].format(detail=detail))
