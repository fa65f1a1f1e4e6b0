"""The thread pool starts late, obeys limits, and survives forks and rival callers.

Most claims are about a fresh process, so they run in one.
"""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

native = pytest.importorskip("jitwise.runtime._native")
HERE = Path(__file__).parent
PROLOGUE = """
import os, sys
import numpy as np
sys.path[:] = {path!r}
import handwritten_kernels as kernels
from jitwise.runtime import _native as native
x, out = np.ones(200_000), np.empty(200_000)
big = kernels.add(flops=1e5)
def threads():
    return len(os.listdir("/proc/self/task"))
"""

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="counts threads through /proc"
)


def run(program, **environment):
    """What `program` prints, in a process of its own."""
    text = PROLOGUE.format(path=[str(HERE), *sys.path]) + textwrap.dedent(program)
    env = {
        key: value
        for key, value in os.environ.items()
        if key not in ("JITWISE_THREADS", "OMP_NUM_THREADS")
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", text],
        env={**env, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@linux
def test_no_helper_starts_before_work_that_is_worth_it():
    printed = run("""
        native.set_threads(2)
        before = threads()
        kernels.add().run([x[:1000], x[:1000]], [out[:1000]], 1)
        print(native.helper_count(), threads() - before)
        big.run([x, x], [out], 1)
        print(native.helper_count(), threads() - before)
    """)
    assert printed == ["0", "0", "1", "1"]


def test_the_number_of_threads_obeys_the_environment_and_affinity():
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = "print(native.thread_count())"
    assert run(count, JITWISE_THREADS="1") == ["1"]
    assert run(count, OMP_NUM_THREADS="1") == ["1"]
    assert run(count, OMP_NUM_THREADS="1,2") == ["1"]
    assert 1 <= int(run(count)[0]) <= allowed
    assert 1 <= int(run(count, JITWISE_THREADS="1000")[0]) <= allowed
    if hasattr(os, "sched_setaffinity"):
        first = min(os.sched_getaffinity(0))
        assert run(f"""
            import subprocess
            os.sched_setaffinity(0, {{{first}}})
            print(native.thread_count())
        """) == ["1"]


def test_set_threads_wins_and_zero_takes_it_back():
    before = native.thread_count()
    native.set_threads(3)
    assert native.thread_count() == 3
    native.set_threads(0)
    assert native.thread_count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_makes_its_own_helpers():
    printed = run("""
        import warnings; warnings.simplefilter("ignore")
        native.set_threads(2)
        big.run([x, x], [out], 1)
        child = os.fork()
        if child == 0:
            out[:] = 0
            before = native.helper_count()
            big.run([x, x], [out], 1)
            ok = before == 0 and native.helper_count() == 1 and (out == 2).all()
            os._exit(0 if ok else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        out[:] = 0
        big.run([x, x], [out], 1)
        print((out == 2).all())
    """)
    assert printed == ["0", "True"]


def test_a_process_with_helpers_ends():
    assert run("native.set_threads(4); big.run([x, x], [out], 1); print('end')") == ["end"]


def test_rival_callers_all_get_right_answers():
    spec = sys.modules.get("handwritten_kernels")
    if spec is None:
        sys.path.insert(0, str(HERE))
        try:
            import handwritten_kernels as spec
        finally:
            sys.path.remove(str(HERE))
    kernel, total = spec.add(flops=1e5), spec.row_sum(flops=1e5)
    native.set_threads(3)
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).integers(0, 9, (30, 3000)).astype("f8")
        for _ in range(60):
            out, sums = np.empty_like(x), np.empty(30)
            kernel.run([x, x], [out], 2)
            total.run([x], [sums], 2, 1)
            if not (np.array_equal(out, 2 * x) and np.array_equal(sums, x.sum(-1))):
                wrong.append(seed)

    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        native.set_threads(0)
    assert not wrong


def test_helpers_that_have_parked_are_woken():
    printed = run("""
        import time
        native.set_threads(2)
        for pause in (0, 0.0001, 0.001, 0.02, 0.0005):
            time.sleep(pause)
            out[:] = 0
            big.run([x, x], [out], 1)
            print((out == 2).all())
    """)
    assert printed == ["True"] * 5
