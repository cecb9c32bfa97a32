"""Files that commands write: complete or not at all, and no device is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from candor.cli import simulate
from candor.studies.simulations import Columns, simulated_parts
from tests.unit.candor.cli.running import answers_file, candor, refused

SIMULATED = ("simulate", "--design", "design.json", "--n", "200000", "--effect", "0.1", "--seed", "1", "-o")


def test_an_interrupted_simulation_leaves_what_was_there_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a file would be a study of half as many people."""

    def interrupted(*given: object, **named: object) -> Iterator[Columns]:
        yield next(simulated_parts(*given, **named))
        raise KeyboardInterrupt

    before = set(Path().iterdir())
    monkeypatch.setattr(simulate, "simulated_parts", interrupted)
    assert candor(*SIMULATED, "data.csv").exit_code == 130
    assert set(Path().iterdir()) == before
    Path("data.csv").write_text("kept")
    assert candor(*SIMULATED, "data.csv").exit_code == 130
    assert Path("data.csv").read_text() == "kept"


def test_a_full_disk_is_told_with_the_name_of_the_file() -> None:
    Path("full").symlink_to("/dev/full")
    assert refused(*SIMULATED, "full").endswith("Error: full: No space left on device")
    assert refused(*SIMULATED, "no/data.csv").endswith("Error: no/data.csv: No such file or directory")


def test_a_figure_that_cannot_be_written_loses_no_results() -> None:
    Path("full").symlink_to("/dev/full")
    answers_file()
    plotted = ("estimate", "answers.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0", "--plot")
    failed = candor(*plotted, "full")
    assert (failed.exit_code, failed.stderr) == (2, "Error: full: No space left on device\n")
    assert failed.stdout == candor(*plotted, "figure.svg").stdout
    assert "attention" in failed.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("estimate", "design.json", "--design", "design.json", "--plot"),
        ("regress", "design.json", "--design", "design.json", "--plot"),
        ("pool", "design.json", "--plot"),
        ("simulate", "--design", "design.json", "--n", "1", "-o"),
        ("anonymize", "design.json", "--k", "2", "-o"),
        ("diagnose", "--design", "design.json", "--n", "1", "--resume"),
    ],
    ids=lambda command: command[0],
)
def test_a_path_that_cannot_be_written_is_told_before_anything_is_computed(command: tuple[str, ...]) -> None:
    """Nothing was read yet: the design is no file of answers, and an option that is missing is not missed."""
    before = set(Path().iterdir())
    assert refused(*command, "no/such/file") == "Error: no/such/file: No such file or directory"
    Path("a file").touch()
    assert refused(*command, "a file/below") == "Error: a file/below: Not a directory"
    assert set(Path().iterdir()) == before | {Path("a file")}


@pytest.mark.parametrize("order", [("-o", "link.json", "--design", "design.json"), ("--design", "design.json", "-o", "./design.json")])
def test_no_command_writes_over_what_it_reads(order: tuple[str, ...]) -> None:
    Path("link.json").symlink_to("design.json")
    before = Path("design.json").read_text()
    assert refused("simulate", "--n", "1", *order).endswith("json is an input of this command: expected another file to write")
    assert Path("design.json").read_text() == before


def test_a_second_file_that_cannot_be_written_is_told_before_the_first_one_is_written() -> None:
    Path("table.csv").write_text("age,mark\n" + "20,1\n21,2\n" * 5)
    Path("roles.json").write_text('{"age": "quasi_identifier", "mark": "sensitive"}')
    Path("out.values.csv").mkdir()
    said = refused("anonymize", "table.csv", "--k", "2", "--l", "mark=2", "--roles", "roles.json", "--anatomy", "-o", "out.csv")
    assert "File 'out.values.csv' is a directory" in said
    assert not Path("out.csv").exists()


def test_a_full_standard_output_is_told_and_loses_no_figure() -> None:
    """It has no name that Python would know."""
    answers_file()
    plotted = ("estimate", "answers.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0", "--plot", "figure.svg")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "candor.cli", *plotted], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "Error: standard output: No space left on device\n")
    assert Path("figure.svg").read_text().startswith("<svg")


def test_work_that_cannot_be_kept_is_told_with_the_name_of_its_file() -> None:
    Path("kept.new").symlink_to("/dev/full")
    diagnosed = ("diagnose", "--design", "design.json", "--n", "50", "--effect", "0.1", "--studies", "2", "--seed", "1")
    assert refused(*diagnosed, "--resume", "kept") == "Error: kept: No space left on device"
    assert not Path("kept.new").is_symlink()


def test_a_pipe_stays_one() -> None:
    """A file in its place would be read by nobody; as root, /dev/null itself was replaced."""
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    Path("table.csv").write_text("age,mark\n" + "20,1\n21,2\n" * 5)
    Path("roles.json").write_text('{"age": "quasi_identifier", "mark": "sensitive"}')
    Path("labels.json").write_text('{"age": {"interval": [5]}}')
    done = candor("anonymize", "table.csv", "--k", "2", "--roles", "roles.json", "--hierarchies", "labels.json", "-o", "pipe")
    assert done.exit_code == 0, done.output
    reader.join(10)
    assert Path("pipe").is_fifo()
    assert read[0].startswith("age,mark")


def test_what_a_shell_makes_for_another_program_is_written_as_it_is() -> None:
    """As `>(gzip)` and /dev/stdout: a link that leads to no path, in a folder where no file can be made."""
    read, written = os.pipe()
    place = f"/dev/fd/{written}"
    assert candor("simulate", "--design", "design.json", "--n", "4", "--effect", "0.1", "--seed", "1", "-o", place).exit_code == 0
    os.close(written)
    with os.fdopen(read) as file:
        assert len(file.readlines()) == 5


def test_a_link_leads_to_the_new_file() -> None:
    Path("link.csv").symlink_to("data.csv")
    assert candor(*SIMULATED, "link.csv").exit_code == 0
    assert Path("link.csv").is_symlink()
    assert Path("data.csv").read_text().startswith("arm,subsample,outcome")


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "--design", "design.json", "--n", "100000", "--effect", "0.1", "--seed", "1"),  # more than a pipe holds
        ("simulate", "--design", "design.json", "--n", "10", "--effect", "0.1", "--seed", "1"),  # so few that the end writes them
        ("--help",),
        ("no-such-command",),
    ],
)
def test_a_reader_who_has_read_enough_ends_the_command_in_silence(arguments: tuple[str, ...]) -> None:
    """As it ends other programs of a shell: 141 stands for SIGPIPE. 1 would say that a check found something, 0 that it found nothing."""
    reads, writes = os.pipe()
    os.close(reads)
    told = subprocess.STDOUT if arguments == ("no-such-command",) else subprocess.PIPE
    with os.fdopen(writes, "wb") as closed:
        ended = subprocess.run([sys.executable, "-m", "candor.cli", *arguments], stdout=closed, stderr=told, timeout=60)
    assert (ended.returncode, ended.stderr or b"") == (141, b"")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((*SIMULATED, "data.csv"), 0, b""),
        (("no-such-command",), 2, b"No such command"),
        (("plan", "--design", "design.json", "--n", "100", "--effect", "0.1"), 2, b"Error: standard output is closed\n"),
        (
            ("plan", "--design", "design.json", "--n", "100", "--effect", "0.1", "--format", "json"),
            2,
            b"Error: standard output is closed\n",
        ),
        ((*SIMULATED, "-"), 2, b"Error: standard output is closed\n"),
        (("--version",), 2, b"Error: standard output is closed\n"),
    ],
)
def test_a_closed_standard_output_is_missed_by_what_is_written_there_alone(arguments: tuple[str, ...], status: int, said: bytes) -> None:
    """A job of the system may begin without one. 0 would say that the numbers are there."""
    ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "candor.cli", *arguments], capture_output=True, timeout=60)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (status, False)
    assert said in ended.stderr


def test_a_dash_is_standard_output_where_a_command_writes_there_and_no_file_elsewhere() -> None:
    """A file that is called “-” is hard to remove, and a reader of a pipe waited for nothing."""
    few = ("simulate", "--design", "design.json", "--n", "20", "--effect", "0.1", "--seed", "1")
    assert candor(*few, "-o", "-").stdout == candor(*few).stdout != ""
    assert "expected the name of a file, found '-'" in refused("estimate", answers_file(), "--design", "design.json", "--plot", "-")
    assert not Path("-").exists()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16"])
def test_output_is_utf_8_in_every_locale(encoding: str) -> None:
    """As input is: whoever wrote a file could not have it read again, and a table ended with a traceback, and with 1, as a failed check."""

    def written(*arguments: str) -> str:
        command = [sys.executable, "-m", "candor.cli", *arguments]
        ended = subprocess.run(
            command, capture_output=True, timeout=60, env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        return ended.stdout.decode()

    assert "ε = 1.3863" in written("estimate", answers_file(), "--design", "design.json", "--bootstrap", "0", "--outcome", "attention")
    assert "arm,subsample,müde ε" in written(*SIMULATED[:4], "9", *SIMULATED[5:9], "--outcome", "müde ε")
