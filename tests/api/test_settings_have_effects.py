"""Every setting does something: for each of the table there is a program that shows it."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jitwise
import jitwise.ir.verify
import jitwise.passes.compare
from jitwise import config, ir, jit, passes
from jitwise.record import recorder
from jitwise.runtime import kernels

X = np.linspace(0, 1, 7)


def shown_wave(x):
    return (x * 2 + 1) / 3


def text_of(stage="fuse"):
    return jit(shown_wave).lower(X).as_text(stage)


def a_dump(capsys, tmp_path):
    for stage in ("trace", "fuse", "kernel", "llvm", "asm", "program"):
        with config.override(dump=config.Dump(frozenset({stage}), "shown_wave")):
            jit(shown_wave)(X)
        assert f"# shown_wave after {stage}\n" in capsys.readouterr().err
    with config.override(dump=config.Dump(frozenset({"all"}), "another")):
        jit(shown_wave)(X)
    assert capsys.readouterr().err == ""


def a_dump_dir(capsys, tmp_path):
    changes = {"dump": config.Dump(frozenset({"all"})), "dump_dir": str(tmp_path / "dumps")}
    with config.override(**changes):
        jit(shown_wave)(X)
    written = {path.name for path in (tmp_path / "dumps").iterdir()}
    assert {"shown_wave.trace.jw", "shown_wave.kernel.jw", "shown_wave.asm.jw"} <= written


def a_log(capsys, tmp_path):
    with config.override(log=1):
        jit(shown_wave)(X)
    assert "jitwise: traced shown_wave" in capsys.readouterr().err


def a_verify(capsys, tmp_path, monkeypatch):
    verified, compared = [], []
    monkeypatch.setattr(ir.verify, "verify", lambda graph, around: verified.append(graph))
    monkeypatch.setattr(passes.compare, "compare", lambda *graphs, exact: compared.append(graphs))
    for level, expected in ((0, (0, 0)), (1, (1, 0)), (2, (1, 1))):
        verified.clear()
        compared.clear()
        with config.override(verify=level):
            jit(shown_wave)(X)
        assert (bool(verified), bool(compared)) == tuple(map(bool, expected))


def a_bisect(capsys, tmp_path):
    def with_dead_code(x):
        np.sin(x)
        return x * 2

    def changed():
        before = recorder.counts["pass"]
        jit(with_dead_code)(X)
        count = recorder.counts["pass"] - before
        return {
            record.name
            for record in jitwise.records("pass")[len(jitwise.records("pass")) - count :]
        }

    assert "dead_code" in changed()
    with config.override(bisect=0):
        assert "dead_code" not in changed()


def a_passes(capsys, tmp_path):
    with config.override(passes="fuse{max_weight=1}"):
        assert text_of().count("fusion") > 1
    assert text_of().count("fusion") == 1


def a_threads(capsys, tmp_path):
    text = (
        "import numpy as np, jitwise\n"
        "from jitwise.runtime import _native\n"
        "x = np.ones(8_000_000)\n"
        "f = jitwise.jit(lambda x: np.sin(x) + np.cos(x))\n"
        "for _ in range(3): f(x)\n"
        "print(_native.helper_count())\n"
    )
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    assert output(text, JITWISE_THREADS="1") == "0"
    assert output(text, JITWISE_THREADS="2") == "1"


def output(text, **environment):
    root = str(Path(jitwise.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-P", "-c", text],
        env={"PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def a_disable(capsys, tmp_path):
    with config.override(disable=True):
        f = jit(shown_wave)
        assert f(X).tolist() == shown_wave(X).tolist()
        assert f.state.traces == 0


def a_progress(capsys, tmp_path):
    from jitwise.cli.progress import Progress

    for wanted in (True, False):
        with config.override(progress=wanted), Progress(2) as progress:
            progress.advance("a step")
        assert ("a step" in capsys.readouterr().err) is wanted


EFFECTS = {
    name.removeprefix("a_"): check for name, check in globals().items() if name.startswith("a_")
}


def test_every_setting_of_the_table_has_an_effect_here():
    assert set(EFFECTS) == {setting.name for setting in dataclasses.fields(config.Settings)}


@pytest.mark.parametrize("name", EFFECTS)
def test_a_setting_does_what_it_says(name, capsys, tmp_path, monkeypatch):
    kernels.clear()
    more = (monkeypatch,) if name == "verify" else ()
    with config.override(verify=0):
        EFFECTS[name](capsys, tmp_path, *more)


def test_the_readme_has_the_settings_that_there_are():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for setting in dataclasses.fields(config.Settings):
        assert f"| `JITWISE_{setting.name.upper()}` |" in readme
    assert readme.count("| `JITWISE_") == len(dataclasses.fields(config.Settings))
