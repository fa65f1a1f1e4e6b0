"""Settings are read once, refuse what they cannot mean, and never lose a typing mistake."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

from jitwise import config


def test_without_variables_every_setting_has_its_default():
    assert config.read({}) == config.Settings()
    assert config.read({"JITWISE_VERIFY": "", "HOME": "/"}) == config.Settings()


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("JITWISE_DUMP", "trace,fuse", "dump", config.Dump(frozenset({"trace", "fuse"}))),
        ("JITWISE_DUMP", "all:f", "dump", config.Dump(frozenset({"all"}), "f")),
        ("JITWISE_DUMP_DIR", "there", "dump_dir", "there"),
        ("JITWISE_LOG", "2", "log", 2),
        ("JITWISE_VERIFY", "1", "verify", 1),
        ("JITWISE_BISECT", "0", "bisect", 0),
        ("JITWISE_PASSES", "fuse{max_ops=8}", "passes", "fuse{max_ops=8}"),
        ("JITWISE_THREADS", "3", "threads", 3),
        ("JITWISE_DISABLE", "yes", "disable", True),
        ("JITWISE_PROGRESS", "off", "progress", False),
    ],
)
def test_a_variable_sets_its_setting(variable, text, name, value):
    assert getattr(config.read({variable: text}), name) == value


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("JITWISE_VERIFY", "3", "JITWISE_VERIFY='3' .* a number from 0 to 2"),
        ("JITWISE_THREADS", "many", "a number of at least 0"),
        ("JITWISE_THREADS", "-1", "a number of at least 0"),
        ("JITWISE_DISABLE", "maybe", "0 or 1"),
    ],
)
def test_a_variable_that_cannot_be_read_is_an_error_that_says_what_may_stand_there(
    variable, text, message
):
    with pytest.raises(ValueError, match=message):
        config.read({variable: text})


def test_a_misspelt_variable_is_said_with_the_nearest_one():
    with pytest.warns(UserWarning, match="JITWISE_VERIFI; it has JITWISE_VERIFY"):
        config.read({"JITWISE_VERIFI": "1"})


def test_variables_of_others_are_not_looked_at():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.read({"NUMBA_DUMP": "1", "JIT": "x"})


def test_a_stage_is_dumped_for_the_function_named():
    dump = config.read({"JITWISE_DUMP": "fuse,kernel:loss"}).dump
    assert dump.wants("fuse", "loss")
    assert not dump.wants("fuse", "other")
    assert not dump.wants("llvm", "loss")
    assert config.read({"JITWISE_DUMP": "all"}).dump.wants("llvm", "anything")
    assert not config.Settings().dump.wants("fuse", "loss")


def test_settings_are_changed_for_a_while():
    before = config.active
    with config.override(verify=2, log=1) as inside:
        assert config.active is inside
        assert (config.active.verify, config.active.log) == (2, 1)
        with config.override(log=0):
            assert (config.active.verify, config.active.log) == (2, 0)
    assert config.active is before


def test_settings_come_back_after_an_error():
    before = config.active
    with pytest.raises(KeyError), config.override(verify=2):
        raise KeyError
    assert config.active is before


def test_the_environment_is_read_at_import():
    program = "from jitwise import config; print(config.active.threads)"
    program = f"import sys; sys.path[:] = {sys.path!r}; {program}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"JITWISE_THREADS": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "5"
