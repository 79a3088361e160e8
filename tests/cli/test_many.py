"""`axon infer FOLDER`: many models, some of which are broken, endless or too large."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pytest

from axon.cli import main
from axon.cli.many.pool import Limits, Pool, processors
from tests.shell import Outcome, axon

ROOT = Path(__file__).resolve().parents[2]
ENCODER = ROOT / "examples" / "onnx" / "encoder.onnx"
CLASSIFIER = ROOT / "examples" / "torch" / "classifier.pt2"
GOOD = "f = fn (x, y) { matmul(x, y) };\ng = fn (x : f32 [n]) { x };\n"
BAD = "f = fn (x : f32 [n,3], y : f32 [4,m]) { matmul(x, y) };\n"
SLOW = "".join(f"f{i} = fn (x : f32 [a,b]) {{ relu(x) + sum(x) }};\n" for i in range(60_000))
"""Right, and not done in a second."""
PATIENCE = 30.0


def many(folder: Path, *arguments: str) -> tuple[Outcome, list[dict[str, Any]], dict[str, Any]]:
    """What is said with --json: of each file, and the summary."""
    outcome = axon(["infer", ".", "--json", *arguments], folder)
    *found, last = map(json.loads, outcome.stdout.splitlines())
    return outcome, found, last["summary"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.axon").write_text(GOOD)
    (tmp_path / "bad.axon").write_text(BAD)
    return tmp_path


# --- what is found -----------------------------------------------------------------------------


@pytest.fixture
def mixed(folder: Path) -> Path:
    """Models and programs in folders, with all that may stand among them."""
    inner = folder / "models"
    inner.mkdir()
    (inner / "encoder.onnx").write_bytes(ENCODER.read_bytes())
    (inner / "CLASSIFIER.PT2").write_bytes(CLASSIFIER.read_bytes())
    (inner / "cut.pt2").write_bytes(CLASSIFIER.read_bytes()[:2000])
    (inner / "again").symlink_to(folder, target_is_directory=True)
    (inner / "linked.axon").symlink_to(folder / "good.axon")
    (folder / "gone.onnx").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.onnx")
    os.mkfifo(folder / "pipe.axon")
    (folder / "latin.axon").write_bytes(b"# caf\xe9\n")
    (folder / "notes.txt").write_text("no model")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "bad.axon").write_text(BAD)
    return folder


def test_every_file_has_a_line_by_name_and_the_worst_decides_the_status(mixed: Path) -> None:
    outcome, found, summary = many(mixed, "--jobs", "2")
    assert [(each["file"], each["outcome"]) for each in found] == [
        ("./bad.axon", "errors"),
        ("./gone.onnx", "unreadable"),
        ("./good.axon", "fine"),
        ("./latin.axon", "unreadable"),
        ("./pipe.axon", "unreadable"),
        ("./pipe.onnx", "unreadable"),
        ("./models/CLASSIFIER.PT2", "fine"),
        ("./models/cut.pt2", "unreadable"),
        ("./models/encoder.onnx", "fine"),
        ("./models/linked.axon", "fine"),
    ]
    assert outcome.status == 2
    assert outcome.stderr == ""
    del summary["seconds"]
    counts = {"time": 0, "memory": 0, "bug": 0, "nodes": 71, "unknown": 0}
    assert summary == {"files": 10, "fine": 4, "errors": 1, "unreadable": 5, **counts}
    for each in found:
        if each["outcome"] == "unreadable":
            assert os.path.basename(each["file"]) in each["message"]


def test_lines_are_as_the_schema_says(mixed: Path) -> None:
    schema = json.loads(axon(["schema"], mixed).stdout)
    outcome = axon(["infer", ".", "--json"], mixed)
    for line in outcome.stdout.splitlines():
        document = json.loads(line)
        jsonschema.validate(document, {**schema, "anyOf": [{"$ref": "#/$defs/infer"}]})


def test_a_file_has_what_is_found_when_it_is_alone(mixed: Path) -> None:
    for path in ("models/encoder.onnx", "bad.axon", "good.axon"):
        alone = json.loads(axon(["infer", path, "--json"], mixed).stdout)
        line = axon(["infer", path, "--json", "--jobs", "1"], mixed).stdout.splitlines()[0]
        among = json.loads(line)
        assert {key: among[key] for key in alone} == alone


def test_lines_to_read(mixed: Path) -> None:
    outcome = axon(["infer", "good.axon", "models"], mixed)
    *lines, summary = outcome.stdout.splitlines()
    assert lines == [
        "good.axon: fine, 2 definitions",
        "models/CLASSIFIER.PT2: fine, 5 nodes: f32 [4,3,8,8] -> f32 [4,10]",
        lines[2],
        "models/encoder.onnx: fine, 66 nodes: i64 [batch,seq] -> f32 [batch,seq,16]",
        "models/linked.axon: fine, 2 definitions",
    ]
    assert lines[2].startswith("models/cut.pt2 ")
    assert summary.startswith("5 files in ")
    assert summary.endswith(" s: 4 fine, 1 not readable; 71 nodes, 0 unknown tensors")


def test_errors_are_status_1(folder: Path) -> None:
    outcome = axon(["infer", "."], folder)
    assert outcome.status == 1
    assert outcome.stdout.startswith("./bad.axon: 1 error: AX101: ")
    assert axon(["infer", "good.axon", "--jobs", "3"], folder).status == 0


def test_two_hundred_models_in_the_order_of_their_names(tmp_path: Path) -> None:
    for i in range(200):
        (tmp_path / f"m{i:03}.axon").write_text(f"f{i} = fn (x : f32 [n,{i}]) {{ relu(x) }};\n")
    outcome, found, summary = many(tmp_path, "--jobs", "2")
    assert outcome.status == 0
    assert [each["file"] for each in found] == [f"./m{i:03}.axon" for i in range(200)]
    signatures = [each["definitions"][0]["signature"] for each in found]
    assert signatures == [f"f32 [n,{i}] -> f32 [n,{i}]" for i in range(200)]
    assert summary["fine"] == 200


def test_a_terminal_sees_a_bar(folder: Path) -> None:
    with (
        mock.patch("tests.shell._Tee.isatty", return_value=True),
        mock.patch("axon.cli.bar.PATIENCE_S", 0),
    ):
        outcome = axon(["infer", "."], folder)
    assert "█ 2/2 " in outcome.stderr
    assert outcome.stderr.endswith("\r\033[K")


# --- limits ------------------------------------------------------------------------------------


def customised(folder: Path, code: str) -> dict[str, str]:
    """An environment in which each process begins with this code."""
    inside = folder / ".site"
    inside.mkdir()
    (inside / "sitecustomize.py").write_text(code)
    others = os.environ.get("PYTHONPATH", "")
    return {"PYTHONPATH": os.pathsep.join([str(inside), str(ROOT / "src"), others])}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
def test_one_that_never_ends_or_takes_all_memory_does_not_stop_the_others(folder: Path) -> None:
    """As many as there are processes, and one more."""
    code = """
import axon.driver, time
before = axon.driver.check
def check(source, *rest, **named):
    if "endless" in source.name:
        time.sleep(1000)
    if "large" in source.name:
        held = [bytearray(1 << 20) for _ in range(1 << 20)]
    return before(source, *rest, **named)
axon.driver.check = check
"""
    for name in ("endless", "large", "endless_too", "last"):
        (folder / f"{name}.axon").write_text(GOOD)
    with mock.patch.dict("os.environ", customised(folder, code)):
        outcome, found, summary = many(folder, "--timeout", "3", "--memory", "512", "--jobs", "2")
    assert {each["file"][2:-5]: each["outcome"] for each in found} == {
        "bad": "errors",
        "endless": "time",
        "endless_too": "time",
        "good": "fine",
        "large": "memory",
        "last": "fine",
    }
    says = {each["outcome"]: each.get("message") for each in found}
    assert says["time"] == "not done in 3 s"
    assert says["memory"] == "not done with 512 MB of memory"
    assert (outcome.status, outcome.stderr) == (1, "")
    assert (summary["time"], summary["memory"]) == (2, 1)


def test_bugs_are_status_3_and_each_has_a_report(folder: Path) -> None:
    """One is an exception, one ends the process."""
    code = """
import axon.driver, os, signal
def check(source, *_, **__):
    if "good" in source.name:
        os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError("a test's own bug")
axon.driver.check = check
"""
    environment = {**customised(folder, code), "TMPDIR": str(folder)}
    with (
        mock.patch.dict("os.environ", environment),
        mock.patch("tempfile.tempdir", str(folder)),
    ):
        outcome, found, summary = many(folder)
    assert outcome.status == 3
    assert [each["outcome"] for each in found] == ["bug", "bug"]
    assert "a test's own bug" in found[0]["message"]
    assert "SIGSEGV" in found[1]["message"]
    assert summary["bug"] == 2
    reports = sorted(folder.glob("axon-bug-*.txt"))
    assert len(reports) == 2
    assert all(any(str(r) in each["message"] for r in reports) for each in found)


def test_a_system_without_limits_of_memory_is_said(folder: Path) -> None:
    code = "import sys\nsys.modules['resource'] = None\n"
    with mock.patch.dict("os.environ", customised(folder, code)):
        outcome = axon(["infer", "."], folder)
    assert outcome.status == 1
    assert outcome.stderr.startswith("axon: this system has no limit of memory")


# --- ending early ------------------------------------------------------------------------------


def children(pid: int) -> set[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    found = set(map(int, text.split()))
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found |= set(map(int, (thread / "children").read_text().split()))
    return found


def waiting(condition: Any) -> Iterator[None]:
    """Look again and again, until it is so; not for ever."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)
        yield


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_it_leaves_no_process_and_no_traceback(
    tmp_path: Path, number: signal.Signals
) -> None:
    for name in "abc":
        (tmp_path / f"{name}.axon").write_text(SLOW)
    command = [sys.executable, "-m", "axon", "infer", ".", "--jobs", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in waiting(lambda: len(children(process.pid)) == 2):
            pass
        workers = children(process.pid)
        time.sleep(0.5)
        process.send_signal(number)
        out, errors = process.communicate(timeout=PATIENCE)
    assert (out, errors) == ("", "")
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    for _ in waiting(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers)):
        pass


# --- file names, streams, starting ------------------------------------------------------------


def test_a_file_has_one_line_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "a\nb.axon: fine, 9.axon").write_text(GOOD)
    (tmp_path / "c\nd.onnx").write_bytes(b"no model")
    outcome = axon(["infer", ".", "--jobs", "1"], tmp_path)
    assert outcome.stdout.splitlines()[:-1] == [
        "./a<U+000A>b.axon: fine, 9.axon: fine, 2 definitions",
        "./c<U+000A>d.onnx is not an ONNX model",
    ]


@pytest.mark.parametrize("command", ["infer . --jobs 1", "infer good.axon", "check good.axon"])
def test_a_closed_output_is_no_bug(folder: Path, command: str) -> None:
    (folder / "bad.axon").unlink()
    line = f'"$0" -m axon {command} >&-'
    found = subprocess.run(
        ["sh", "-c", line, sys.executable], cwd=folder, capture_output=True, text=True
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_many_workers_are_not_started_at_once() -> None:
    """Each would take so long that it would pass for one that does not start."""
    pool = Pool(8, Limits(1.0, 512), {})
    starting, most = 0, 0

    class Slow:
        process, greeting = None, {"limited": True}

        def start(self) -> None:
            nonlocal starting, most
            if self.process is None:
                starting += 1
                most = max(most, starting)
                time.sleep(0.02)
                starting -= 1
                self.process = True

        def ask(self, path: str, seconds: float) -> dict[str, Any]:
            return {"outcome": "fine"}

        def close(self) -> None: ...

        end = close

    pool._workers = [Slow() for _ in range(8)]  # type: ignore[misc]
    found = dict(pool.results([str(i) for i in range(40)]))
    pool.close()
    assert len(found) == 40 and 1 <= most <= processors()


def test_why_no_worker_can_be_started(folder: Path) -> None:
    with (
        mock.patch("axon.processes.command", return_value=["/nowhere/python"]),
        contextlib.redirect_stderr(io.StringIO()) as said,
        contextlib.chdir(folder),
    ):
        assert main(["infer", ".", "--jobs", "2"]) == 2
    assert said.getvalue() == (
        "axon: no process can be started with 4096 MB: No such file or directory\n"
    )


# --- wrong usage -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("empty", "empty: no programs and no models in this directory"),
        (". --jobs 0", "'0' is no number from 1 to 256"),
        (". --jobs two", "'two' is no number"),
        (". --timeout 0", "'0' is no number of seconds above 0"),
        (". --timeout nan", "'nan' is no number of seconds"),
        (". --memory 100", "'100' is no number from 256"),
        (". --write x.onnx", "--write is for one file at a time"),
        (". --input x=f32", "--input is for one file at a time"),
        (". --params", "--params is for one file at a time"),
        (". -", "- is for one file at a time"),
        ("none.axon --jobs 1", "none.axon: there is no such file"),
    ],
)
def test_wrong_usage(folder: Path, arguments: str, says: str) -> None:
    (folder / "empty").mkdir()
    outcome = axon(["infer", *arguments.split()], folder)
    assert outcome.status == 2
    assert says in outcome.terminal
    assert "Traceback" not in outcome.terminal
