"""Programs that are really run."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import termios
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Self

import pytest

from listwatch.rest.exec._program import Finished, start_program
from tests.rest.exec.plugins import script

pytestmark = pytest.mark.clause("N2")

PATIENCE = 60
"""Real seconds after which a test that waits for a program gives up."""

BLOCK = "import threading; threading.Event().wait()"


class Started:
    """A program under way, or over."""

    def __init__(
        self,
        *argv: str | Path,
        environ: dict[str, str] | None = None,
        search: str = "",
        interactive: bool = False,
        timeout: float = PATIENCE,
    ) -> None:
        self._end: Future[Finished | Exception] = Future()
        self.kill = start_program(
            [str(arg) for arg in argv],
            environ or {},
            search=search,
            interactive=interactive,
            timeout=timeout,
            done=self._end.set_result,
        )

    @property
    def end(self) -> Finished:
        end = self._end.result(PATIENCE)
        assert isinstance(end, Finished), end
        return end

    @property
    def error(self) -> Exception:
        error = self._end.result(PATIENCE)
        assert isinstance(error, Exception), error
        return error


def python(code: str, *args: str, **options: object) -> Started:
    return Started(sys.executable, "-c", code, *args, **options)  # type: ignore[arg-type]


class Life:
    """Whether the programs that run `code` live."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.code = (
            f"life = open({str(path)!r}, 'w'); print('lives', file=life, flush=True); {BLOCK}"
        )
        self._path = path

    def __enter__(self) -> Self:
        self._file = self._path.open("rb")  # when somebody has it open for writing
        assert self._file.readline() == b"lives\n"
        return self

    def until_it_ends(self) -> None:
        assert self._file.read() == b""  # when nobody has any more

    def __exit__(self, *error: object) -> None:
        self._file.close()


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path / "life")


def test_output_and_exit_code_are_as_they_were() -> None:
    end = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)").end
    assert (end.code, end.stdout, end.stderr, end.killed) == (3, b"out\n", b"err\n", "")


def test_arguments_and_environment_are_those_given() -> None:
    code = "import os, sys; print(sys.argv[1:], os.environ['A'], 'HOME' in os.environ)"
    end = python(code, "-x", "y z", environ={"A": "1"}).end
    assert end.stdout.decode() == "['-x', 'y z'] 1 False\n"


def test_there_is_nothing_to_read_and_no_terminal_to_ask_on() -> None:
    code = (
        "import os, sys\nprint(repr(sys.stdin.read()))\n"
        "try: os.open('/dev/tty', os.O_RDWR)\nexcept OSError: print('none')"
    )
    assert python(code).end.stdout == b"''\nnone\n"


def test_a_signal_that_ended_it_is_told() -> None:
    assert python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)").end.code == -15


def test_a_bare_name_is_looked_for_in_the_given_folders(tmp_path: Path) -> None:
    script(tmp_path / "plugin", "print('found')")
    search = os.pathsep.join([str(tmp_path / "none"), str(tmp_path)])
    assert Started("plugin", search=search).end.stdout == b"found\n"


@pytest.mark.parametrize("search", ["", ".", "/nonexistent", os.pathsep])
def test_a_bare_name_is_not_taken_from_the_current_folder(
    search: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "plugin", "print('found')")
    monkeypatch.chdir(tmp_path)
    error = Started("plugin", search=search).error
    assert isinstance(error, FileNotFoundError)
    assert error.strerror == "there is no such program in the folders of PATH"


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    error = Started(tmp_path / "plugin", search=str(tmp_path)).error
    assert isinstance(error, FileNotFoundError)
    assert error.strerror == "there is no such file"


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "plugin").write_text("")
    error = Started(tmp_path / "plugin").error
    assert isinstance(error, PermissionError)


def test_a_script_whose_interpreter_is_not_there(tmp_path: Path) -> None:
    path = script(tmp_path / "plugin", "")
    path.write_text("#!/nonexistent/python\n")
    error = Started(path).error
    assert isinstance(error, OSError)
    assert (error.errno, error.strerror) == (
        errno.ENOEXEC,
        "the interpreter that its first line names is not there",
    )


def test_what_the_system_cannot_pass_on() -> None:
    assert isinstance(python("", "a\0b").error, ValueError)


def test_one_that_does_not_end_is_killed() -> None:
    end = python(BLOCK, timeout=0).end
    assert (end.code, end.killed) == (-9, "did not end within 0 s")


def test_one_that_does_not_stop_talking_is_killed() -> None:
    end = python("while True: print('x' * 10000)").end
    assert (end.code, end.killed) == (-9, "printed more than 8 MiB")


@pytest.mark.parametrize("interactive", [False, True])
def test_killed_it_is_gone(interactive: bool, life: Life) -> None:
    started = python(life.code, interactive=interactive)
    with life:
        started.kill()
        life.until_it_ends()
    assert started.end.code == -9
    started.kill()  # of no effect


def test_killed_before_it_runs_it_is_gone_too() -> None:
    started = python(BLOCK)
    started.kill()
    assert started.end.code == -9


def test_killed_those_it_had_started_are_gone_with_it(life: Life) -> None:
    started = python(
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {life.code!r}])"
    )
    with life:
        started.kill()
        life.until_it_ends()
    assert started.end.code == -9


def test_a_helper_that_it_leaves_behind_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "enough")
    helper = f"open({str(tmp_path / 'enough')!r}).read()"
    code = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {helper!r}]); "
        "print('x' * 50_000)"
    )
    end = python(code).end
    assert (end.code, len(end.stdout), end.killed) == (0, 50_001, "")
    with open(tmp_path / "enough", "w"):
        pass  # which ends it


def test_it_is_killed_when_the_interpreter_exits(life: Life) -> None:
    code = (
        "import sys\n"
        "from listwatch.rest.exec._program import start_program\n"
        f"start_program([sys.executable, '-c', {life.code!r}], {{}}, search='',"
        " interactive=False, timeout=600, done=lambda end: None)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as interpreter, life:
        assert interpreter.stdin is not None
        interpreter.stdin.close()
        assert interpreter.wait(PATIENCE) == 0
        life.until_it_ends()


@pytest.fixture
def terminal() -> Iterator[int]:
    """A terminal as standard input; the number is its other side."""
    ours, theirs = os.openpty()
    before = os.dup(0)
    os.dup2(theirs, 0)
    yield ours
    os.dup2(before, 0)
    for number in (ours, theirs, before):
        os.close(number)


def test_one_that_is_interactive_reads_our_standard_input(terminal: int) -> None:
    started = python("print(input())", interactive=True)
    os.write(terminal, b"yes\n")
    assert started.end.stdout == b"yes\n"


def test_one_that_is_interactive_writes_its_errors_where_we_do(
    capfd: pytest.CaptureFixture[str],
) -> None:
    end = python("import sys; print('Password:', file=sys.stderr)", interactive=True).end
    assert end.stderr == b""
    assert capfd.readouterr().err == "Password:\n"


def test_the_echo_of_the_terminal_is_on_again_after_a_kill(terminal: int, life: Life) -> None:
    before = termios.tcgetattr(0)
    code = (
        "import termios; a = termios.tcgetattr(0); a[3] &= ~termios.ECHO;"
        " termios.tcsetattr(0, termios.TCSANOW, a); "
    )
    started = python(code + life.code, interactive=True)
    with life:
        assert termios.tcgetattr(0) != before
        started.kill()
        assert termios.tcgetattr(0) == before
        life.until_it_ends()
    assert started.end.code == -9
