"""What a person sees of the demo: on terminals of any width, with rich and without, in a pipe that
is closed early, after Ctrl-C.
"""

from __future__ import annotations

import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

import jitwise
from jitwise.cli import demo, programs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix terminal")
BAR = """
from jitwise.cli.progress import Progress
with Progress(4) as progress:
    for step in "data", "NumPy", "first call", "later calls":
        progress.advance(f"a_program_of_a_long_name_that_fills_a_line: {step}")
    progress.print("the row " + "x" * 71)
print("the end")
"""
WITHOUT_RICH = "import sys; sys.modules['rich'] = sys.modules['rich.progress'] = None\n"


def on_a_terminal(program: str, columns: int, **variables: str) -> str:
    """What a Python program writes to a terminal of so many columns."""
    program = f"import sys; sys.path[:] = {sys.path!r}\n" + program
    child, terminal = pty.fork()
    if not child:
        ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", **variables}
        os.execve(sys.executable, [sys.executable, "-c", program], environment)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux's end of a terminal
            break
        if not piece:
            break
        written += piece
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, written
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_plain_bar_stays_on_one_line_of_the_terminal_and_leaves_nothing(columns):
    text = on_a_terminal(WITHOUT_RICH + BAR, columns)
    assert "\x1b" not in text
    drawn = text.split("the row")[0].split("\r")
    assert len([each for each in drawn if each.startswith("[")]) == 4
    assert all(len(each) < columns for each in drawn)
    assert drawn[-2].strip() == "" and len(drawn[-2]) == max(map(len, drawn))
    assert text.endswith("the end\n")
    assert "the row " + "x" * 71 + "\n" in text


@pytest.mark.parametrize("columns", [40, 100])
def test_the_bar_of_rich_leaves_the_rows_whole(columns):
    pytest.importorskip("rich")
    text = on_a_terminal(BAR, columns)
    assert "\x1b" in text
    assert "the row " + "x" * 71 + "\n" in text
    assert text.endswith("the end\n")


@pytest.mark.parametrize("prefix", ["", WITHOUT_RICH])
def test_no_bar_is_shown_where_it_is_not_wanted(prefix):
    text = on_a_terminal(prefix + BAR, 80, JITWISE_PROGRESS="0")
    assert text == "the row " + "x" * 71 + "\nthe end\n"


def test_rows_fit_a_terminal_of_eighty_columns():
    assert len(demo._row(demo.HEADER)) < 80
    names = [name for name in programs.names() if len(name) > 13]
    assert not names
    cells = ("black_scholes", "12345.67", "12345.67", "12345.67", "123.4", "1.9e-15")
    assert len(demo._row(cells)) == len(demo._row(demo.HEADER))


def started(path: Path) -> subprocess.Popen[str]:
    """The demo of one program, in a process of its own."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from jitwise.cli.__main__ import main"
    program += "; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "demo", str(path)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_reader_that_has_seen_enough_ends_the_demo_quietly(tmp_path):
    path = tmp_path / "small.py"
    path.write_text('"""Small."""\ndef data(): return (1.0,)\ndef run(x): return x\n')
    done = started(path)
    done.stdout.readline()
    done.stdout.close()
    assert done.stderr.read() == ""
    assert done.wait() == 128 + signal.SIGPIPE


def test_an_interrupt_ends_the_demo_with_one_word(tmp_path):
    path, ready = tmp_path / "endless.py", tmp_path / "ready"
    path.write_text(
        '"""Endless."""\nimport pathlib, time\n'
        f"def data(): pathlib.Path({str(ready)!r}).touch(); time.sleep(60)\n"
        "def run(): pass\n"
    )
    process = started(path)
    while not ready.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert error == "interrupted\n"
    assert process.returncode == 128 + signal.SIGINT
    assert out.splitlines() == [demo._row(demo.HEADER)]


def test_the_command_line_works_among_the_sources_of_an_installed_package(tmp_path):
    package = Path(jitwise.__file__).parent
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "native")
    shutil.copytree(package, tmp_path / "jitwise", ignore=ignored)
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    environment.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, "-m", "jitwise", "--help"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0 and "demo" in done.stdout, done.stderr
