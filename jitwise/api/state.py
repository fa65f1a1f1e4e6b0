"""What becomes of a call that the dispatcher of a jitted function has no program for.

A jitted function is a native object. A call it knows goes straight to a program; any other call
comes to `State.miss`:

    1. bring the call into canonical form (positional, keyword: one meaning, one trace);
    2. a trace made for another style of call serves this one too: install it under this style;
    3. so does a trace of another function of the same code, if it would be this one's (`remade`);
    4. else trace, compile, install;
    5. what cannot be traced runs as Python, is recorded, and is said once with its line.

A fault of jitwise itself, anywhere on the way or in the program, ends in the same place: the
function runs as Python, and one warning says whose fault it is and where to report it.

A function that needed many traces of one signature (because values or sizes steered it) runs as
Python for new values.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import config
from ..errors import CannotTrace, JitwiseBug, JitwiseWarning
from ..explain.lines import at
from ..llvm import loading
from ..record import recorder
from ..runtime._native import call_leaves, undo_draws
from ..runtime.executable import no_cyclic_collection
from ..trace.containers import leaves_of
from ..trace.function import trace_call
from .call import Call, canonical
from .faults import ADVICE, definition_of, fault_of, frames_of_ours, is_of_callback, is_of_users
from .options import Options, signature_of
from .remade import remade
from .versions import Signature, Version, compile_traced, install, write_last

if TYPE_CHECKING:
    from .differences import Difference

MOST_UNTRUE = 2  # traces that raised what Python does not, before calls run as Python
MOST_REPEATS = 2  # traces that come out alike, for calls that a program gave up: no more are made
MOST_TRACES = 8  # of one signature with the same sizes of 1; with instances MOST_SIGNATURES
MOST_SIGNATURES = 64  # of one function
MOST_USED_ONCE = 8  # programs with static arguments that served no second call
MOST_SEEN = 4096  # signatures that were met and not traced


class State:
    """The compiler's side of one jitted function."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        self.name = getattr(function, "__name__", type(function).__name__)
        self.signature = signature_of(function)
        options.check(self.name, self.signature)
        self.definition = definition_of(function)
        self.known: dict[Any, Signature] = {}
        self.said: set[Any] = set()
        self.seen: dict[int, None] = {}  # hashes of signatures that ran as Python once
        self.lock = threading.RLock()
        self.native: Any = None
        self.traces = 0
        self.compiles = 0

    # A call the dispatcher does not know

    def miss(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Find or make a program for this call, install it, and give the call's result."""
        if config.active.disable or self.options.strategy == "off":
            return self.function(*args, **kwargs)
        failed: list[CannotTrace] = []
        call, installed = None, False
        with self.lock:
            try:
                call = self._described(args, kwargs)
                if call is not None and self._is_bounded(call):
                    installed = self._prepare(call, failed)
            except (MemoryError, JitwiseBug, JitwiseWarning):
                raise
            except Exception as error:
                self._give_up(fault_of(self.function, "preparing it", error), args, kwargs)
        if installed:
            return self.native(*args, **kwargs)
        if failed and failed[0].suspect is not None:
            return self._judged("tracing it", failed[0].suspect, args, kwargs)
        result = self.function(*args, **kwargs) if call is None else self._by_numpy(call)
        if failed and failed[0].reason == "error":  # and this call did not raise
            self._untrue(failed[0], args, kwargs)
        return result

    def _by_numpy(self, call: Call, entry: Any = None) -> Any:
        """Make a call as Python that the program of `entry`, or any, cannot serve: the result is
        like those of the calls that one does serve, if there are such calls.
        """
        known = self.known.get(call.key)
        versions = known.versions if known is not None else []
        found = [version for version in versions if entry in version.entries]
        if known is not None and not known.python:
            found = found or versions
        if not found:
            return self.function(*call.args, **call.kwargs)
        from .results import as_compiled

        return as_compiled(self.function, call, [version.traced for version in found])

    def _again(self, entry: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Make a call as Python that `entry` has begun to serve."""
        call = self.canonical(args, kwargs)
        return self.function(*args, **kwargs) if call is None else self._by_numpy(call, entry)

    def _described(self, args: tuple, kwargs: dict[str, Any]) -> Call | None:
        """The call in canonical form, if it has one."""
        try:
            call_leaves(args, kwargs)
        except ValueError:
            self._say(CannotTrace("depth"))
            return None
        return self.canonical(args, kwargs)

    def failed(self, entry: Any, error: Exception, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A program raised `error`, and has changed nothing: the result, or what Python raises."""
        by_callback = is_of_callback(error)
        if is_of_users(error) and not by_callback:
            raise error
        if by_callback or getattr(error, "raised_by_numpy", False):  # and perhaps caught
            undo_draws()
            return self._again(entry, args, kwargs)
        return self._judged("running it", error, args, kwargs, entry)

    def flagged(
        self, entry: Any, flags: int, written: bool, given: tuple, args: tuple, kwargs: dict
    ) -> Any:
        """A program raised floating-point flags that NumPy's error state does not ignore: the
        call's result. `given` holds the program's, unless it stopped before it wrote.
        """
        from .float_errors import settle, settle_late

        if not written:
            function = functools.partial(self._again, entry, args, kwargs)
            return settle(function, entry.name, flags, given)
        with self.lock:
            write_last(self.known.values(), self.native, entry)
        settle_late(self.function, flags)
        return given[0]

    def _judged(
        self, doing: str, suspect: Exception, args: tuple, kwargs: dict[str, Any], entry: Any = None
    ) -> Any:
        """Run as Python. An exception of ours that Python does not raise is a fault."""
        undo_draws()
        try:
            result = self.function(*args, **kwargs)
        except Exception as error:
            if type(error) is not type(suspect):
                self._give_up(fault_of(self.function, doing, suspect), args, kwargs, entry)
            raise
        self._give_up(fault_of(self.function, doing, suspect), args, kwargs, entry)
        return result

    def _give_up(
        self, fault: CannotTrace, args: tuple, kwargs: dict[str, Any], entry: Any = None
    ) -> None:
        """After a fault of ours: calls like this one run as Python. `entry` is not used again."""
        with self.lock:
            for known in self.known.values():
                for version in known.versions:
                    if entry in version.entries:
                        known.versions.remove(version)
                        known.python = True
                        for each in version.entries:
                            self.native.remove_entry(each)
                        break
            self.native.add_entry(args, kwargs, None, [], [], [], ("const", None))
        self._say(fault)

    def _is_bounded(self, call: Call) -> bool:
        """Whether the call may have a signature of its own: static objects made anew for each call
        would have no end.
        """
        if call.key in self.known:
            return True
        if len(self.known) < MOST_SIGNATURES:
            return not call.has_objects or self._pays(call)
        text = f"for {MOST_SIGNATURES} kinds of arguments, which differ in {self._varying(call)}"
        self._say(CannotTrace("retraces", text))
        return False

    def _varying(self, call: Call) -> str:
        """The argument in which a call differs from the last that was traced."""
        from .differences import differing_argument

        return differing_argument(next(reversed(self.known)), call, self.signature)

    def _pays(self, call: Call) -> bool:
        """Whether to compile for a new value of a static argument at once: not where such values
        were used for one call each. One that comes again is compiled then.
        """
        key = hash(call.key)
        if key in self.seen:
            return True
        once = [program for _, _, program, hits, _ in self.native.entries() if hits <= 1]
        if sum(program is not None for program in once) < MOST_USED_ONCE:
            return True
        if len(self.seen) >= MOST_SEEN:
            self.seen.clear()
        self.seen[key] = None
        if ("varies", self.definition) not in self.said:
            text = f"{MOST_USED_ONCE} values of {self._varying(call)},"
            self._say(CannotTrace("varies", text))
        return False

    def _prepare(self, call: Call, failed: list[CannotTrace]) -> bool:
        """Whether the dispatcher now has an entry for the call; a trace that fails is added to
        `failed`.
        """
        known = self.known.setdefault(call.key, Signature())
        known.versions = [version for version in known.versions if version.is_alive()]
        if new := call.types.difference(self.native.opaque_types):
            self.native.opaque_types = (*self.native.opaque_types, *new)
        if not self._flattened_alike(call):
            failure = CannotTrace("type", "a dataclass with attributes of its own making")
            self._run_as_python(call, known, failure)
            return True
        if call.style not in known.styles:
            known.styles.add(call.style)
            for version in known.versions:
                self._install(call, version)
            if known.python:
                self._install_python(call)
            if (known.versions or known.python) and self._matches(call, known):
                return True
        if known.python or self._overlaps(call, known):
            return False
        gave_up = bool(known.versions) and self.native.matches(*call.args, **call.kwargs)
        if gave_up and known.repeats >= MOST_REPEATS:
            return False
        if not gave_up and self._remade(call, known):
            return True
        most = MOST_SIGNATURES if call.types else MOST_TRACES
        if known.traces[call.ones] >= most or known.traces.total() >= MOST_SIGNATURES:
            found = self._differs(known, call)
            what = f" of {found.what}" if found else ""
            text = f"{known.traces.total()} times for different values{what}"
            failure = CannotTrace("retraces", text, found.source if found else None)
            self._run_as_python(call, known, failure)
            return True
        try:
            version = self._make(call, known.traces.total() > 0)
        except CannotTrace as failure:
            failed.append(failure)
            known.repeats += gave_up
            return self._fail(call, known, failure)
        if gave_up and known.has(version.traced):
            known.repeats += 1
            return False
        if count := known.traces.total():
            found = self._differs(known, call)
            detail = {"count": count + 1, "differs": found.what if found else ""}
            recorder.event("retrace", self.name, detail, found.source if found else None)
        known.traces[call.ones] += 1
        remade.keep(self._key(call), version.traced, version.executable, self.function)
        known.versions.append(version)
        self._install(call, version)
        if self._overlaps(call, known):
            return False
        if not self.native.matches(*call.args, **call.kwargs):
            self._run_as_python(call, known, CannotTrace("effect", "what it reads"))
        return True

    def _key(self, call: Call) -> Any:
        """What of a call and of what is set decides how a function is compiled."""
        return self.options, config.active, call.key

    def _remade(self, call: Call, known: Signature) -> bool:
        """Whether a trace of another function of the same code, which serves this call, is
        installed now.
        """
        leaves = leaves_of(call.bound_args, call.bound_kwargs)
        for traced, executable in remade.find(self._key(call), self.function, leaves):
            version = Version(traced, executable)
            if call.overlaps(traced):
                continue
            known.versions.append(version)
            self._install(call, version)
            if self.native.matches(*call.args, **call.kwargs):
                return True
        return False

    def _overlaps(self, call: Call, known: Signature) -> bool:
        """Whether an array that is written to shares memory with another: this call is Python's."""
        return any(call.overlaps(version.traced) for version in known.versions)

    def _differs(self, known: Signature, call: Call) -> Difference | None:
        """What of a call no trace was made for."""
        from .differences import difference

        if not known.versions:
            return None
        return difference([each.traced for each in known.versions], call, self.signature)

    def _flattened_alike(self, call: Call) -> bool:
        """Whether the dispatcher counts the leaves of this call as the tracer does."""
        ours, theirs = leaves_of(call.args, call.kwargs), call_leaves(call.args, call.kwargs)
        return [id(leaf) for leaf in ours] == [id(leaf) for leaf in theirs]

    def _matches(self, call: Call, known: Signature) -> bool:
        """Whether an installed version accepts this very call (else the dispatcher would ask again
        for ever).
        """
        return known.python or self.native.matches(*call.args, **call.kwargs)

    def _make(self, call: Call, again: bool) -> Version:
        self.traces += 1
        loading.begin()
        detail: dict[str, Any] = {"number": self.traces}
        with recorder.span("trace", self.name, detail), no_cyclic_collection():
            traced = trace_call(
                self.function,
                call.bound_args,
                call.bound_kwargs,
                fastmath=self.options.fastmath,
                static=call.static,
                # What was decided for one call, and not for the next, is not decided again.
                control_flow=("on" if again else "auto") if self.options.control_flow else "off",
            )
            detail["ops"] = len(traced.graph.ops)
            detail["guards"] = len(traced.graph.guards) + len(traced.guards)
        self.compiles += 1
        try:
            executable = compile_traced(traced, self.options, sizes=traced.sizes)
        except OverflowError as error:  # a size times or plus a number beyond 64 bits
            raise CannotTrace("type", "int beyond 64 bits") from error
        except MemoryError:
            raise
        except Exception as error:
            raise fault_of(self.function, "compiling it", error) from error
        return Version(traced, executable)

    def _fail(self, call: Call, known: Signature, failure: CannotTrace) -> bool:
        """A trace ended. An error NumPy itself would raise says nothing of other calls: they are
        traced again.
        """
        if failure.reason in ("error", "size", "path"):
            if known.versions or known.errors[call.ones] < MOST_TRACES:
                known.errors[call.ones] += 1
                return False
        self._run_as_python(call, known, failure)
        return True

    def _untrue(self, failure: CannotTrace, args: tuple, kwargs: dict[str, Any]) -> None:
        """A trace raised what Python does not: said at once, and not tried more than twice."""
        untrue = CannotTrace("untrue", failure.detail, failure.source)
        with self.lock:
            call = self.canonical(args, kwargs)
            known = None if call is None else self.known.get(call.key)
            if call is None or known is None or known.versions or known.python:
                self._say(untrue)
            elif known.errors[call.ones] < MOST_UNTRUE:
                self._say(untrue)
            else:
                self._run_as_python(call, known, untrue)

    def _run_as_python(self, call: Call, known: Signature, failure: CannotTrace) -> None:
        known.python = True
        self._install_python(call)
        self._say(failure)

    def _say(self, failure: CannotTrace) -> None:
        """Record that the function runs as Python, and warn of each reason once, at the line that
        called it.
        """
        source = failure.source or self.definition
        detail = {"reason": failure.reason, "text": str(failure)}
        said = (failure.reason, source)
        if said in self.said:
            return
        self.said.add(said)
        recorder.event("fallback", self.name, detail, source)
        message = f"{self.name} runs as Python, because {failure}{at(source)}"
        if failure.reason == "fault":
            message = f"{message}. {ADVICE}"
        warnings.warn(JitwiseWarning(message), stacklevel=frames_of_ours())

    # The dispatcher's entries

    def _install(self, call: Call, version: Version) -> None:
        program = version.executable.program
        version.entries.append(install(self.native, call, version.traced, program))

    def _install_python(self, call: Call) -> None:
        self.native.add_entry(call.args, call.kwargs, None, [], [], [], ("const", None))

    # Calls in canonical form

    def canonical(self, args: tuple, kwargs: dict[str, Any]) -> Call | None:
        """The call with arguments bound to parameters; None when Python would refuse it."""
        return canonical(self.function, self.signature, self.options, args, kwargs)
