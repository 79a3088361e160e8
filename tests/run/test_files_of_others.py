"""What comes in from the command line and goes out to files: nothing there is trusted."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy
import pytest

from axon.files import Unwritable, replacing
from axon.run.safetensors import ToStore, written
from tests.shell import Outcome, axon

PROGRAM = 'import "other.axon" as other;\nop w : () -> f32 [2];\nf = fn (x) { other.g(x) };\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.axon").write_text("f = fn (x) { x };\ng = fn (x : f32 [n]) { x };\n")
    return tmp_path


def wrong(outcome: Outcome, text: str = "") -> None:
    """Wrong usage, told in a sentence."""
    assert outcome.status == 2, outcome
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("axon: ")
    assert "bug" not in outcome.stderr
    assert text in outcome.stderr
    assert len(outcome.stderr) < 2000


# --- what is written on the command line ----------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("zeros[0,99999999999999999999]", "would take more than"),
        ("zeros[99999999999,99999999999]", "would take more than"),
        ("rand[99999999999]", "would have 99,999,999,999 elements"),
        (f"ones[{','.join(['1'] * 70)}]", "70 dimensions"),
        (f"rand[{'9' * 5000}]", "a size that no array can have"),
        (f"zeros[0,{'9' * 5000}]", "a size that no array can have"),
        ("9" * 5000, "is no input"),
        (f"[{'9' * 5000}]", "is no input"),
        ("(" * 3000 + "1" + ")" * 3000, "nested more than 64 deep"),
        ("[" * 3000 + "1" + "]" * 3000, "is no input"),
        ("(" * 3000, "is no input"),
        ("{w}", "is no field of a record"),
        ("{a=" * 3000 + "1" + "}" * 3000, "nested more than 64 deep"),
        ("\x1b[31mred", "<U+001B>[31mred"),
    ],
    ids=range(14),
)
def test_absurd_inputs(folder: Path, given: str, text: str) -> None:
    wrong(axon(["run", "p.axon", "f", f"x={given}"], folder), text)


def test_lists_that_are_nested_deeper_than_an_array(folder: Path) -> None:
    found = axon(["run", "p.axon", "f", "x=" + "[" * 70 + "1" + "]" * 70], folder)
    assert found.status == 1
    assert "nested more than 64 deep" in found.stderr


# --- files of arrays ------------------------------------------------------------------------------


def header(text: str, data: bytes = b"") -> bytes:
    """An .npy file with this header."""
    line = text.encode("latin-1") + b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + data


def npy(shape: str, kind: str = "'<f4'", order: str = "False") -> bytes:
    return header(f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}}}")


def saved(array: object) -> bytes:
    file = io.BytesIO()
    numpy.save(file, numpy.asarray(array), allow_pickle=True)
    return file.getvalue()


FILES = {
    "vast": npy("(0, 99999999999999999999)"),
    "huge": npy("(4611686018427387904,)"),
    "product": npy("(3000000, 3000000, 3000000)"),
    "negative": npy("(-1,)"),
    "deep": npy(f"({'1,' * 70})"),
    "digits": npy(f"({'9' * 5000},)"),
    "fraction": npy("(1.5,)"),
    "no tuple": npy("3"),
    "no type": npy("(1,)", "'nonsense'"),
    "objects": saved(numpy.array([{}, []], object)),
    "truncated": saved(numpy.zeros(100))[:150],
    "short": npy("(1000,)"),
    "no header": b"\x93NUMPY\x01\x00\xff\xff",
    "code": header("__import__('os').system('touch here')"),
    "brackets": header("(" * 5000),
    "empty": b"",
    "text": b"hello",
    "pickle": b"\x80\x04K\x01.",
    "version": b"\x93NUMPY\x09\x00" + b"\0" * 100,
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_arrays(folder: Path, name: str) -> None:
    (folder / "x.npy").write_bytes(FILES[name])
    wrong(axon(["run", "p.axon", "f", "x=x.npy"], folder), "x: x.npy")
    assert sorted(os.listdir(folder)) == ["p.axon", "x.npy"]


@pytest.mark.parametrize(
    "kind", ["'<U5'", "'<c16'", "'<M8[s]'", "[('a', '<f4')]", "'|S3'", "'|V4'"]
)
def test_arrays_of_something_else(folder: Path, kind: str) -> None:
    size = numpy.dtype(eval(kind)).itemsize
    (folder / "x.npy").write_bytes(npy("(1,)", kind) + b"\0" * size)
    found = axon(["run", "p.axon", "f", "x=x.npy"], folder)
    assert found.status in (1, 2)
    assert found.stderr.startswith("axon: ")
    assert "bug" not in found.stderr


@pytest.mark.parametrize("name", ["vast", "objects", "truncated", "code", "empty"])
def test_archives_with_such_files(folder: Path, name: str) -> None:
    with zipfile.ZipFile(folder / "x.npz", "w") as archive:
        archive.writestr("a.npy", FILES[name])
    found = axon(["run", "p.axon", "f", "x=x.npz"], folder)
    assert found.status in (1, 2)
    assert found.stderr.startswith("axon: ")
    assert "bug" not in found.stderr
    (folder / "x.npz").write_bytes((folder / "x.npz").read_bytes()[:-30])
    wrong(axon(["run", "p.axon", "f", "x=x.npz"], folder), "x.npz")


def test_names_in_an_archive_do_not_reach_the_terminal(folder: Path) -> None:
    name = "\x1b[31mred\x07\x9b2J\u202egnp"
    with zipfile.ZipFile(folder / "x.npz", "w") as archive:
        archive.writestr(f"{name}.npy", saved([1.0]))
        archive.writestr("b.npy", saved([1.0]))
    for given in ("x=x.npz", "x=x.npz:c"):
        found = axon(["run", "p.axon", "f", given], folder)
        assert "<U+001B>[31mred<U+0007><U+009B>2J<U+202E>gnp" in found.stderr
        assert found.stderr.replace("\n", "").isprintable()


def test_names_in_a_model_do_not_reach_the_terminal(folder: Path) -> None:
    helper = pytest.importorskip("onnx.helper")
    name = "\x1b[31mred\x9b2J"
    node = helper.make_node("Nope", [name], ["y"], name=name, domain="x")
    float_ = helper.make_tensor_value_info
    graph = helper.make_graph([node], name, [float_(name, 1, [name, 2])], [float_("y", 1, None)])
    (folder / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    for arguments in (
        ["infer", "m.onnx"],
        ["infer", "m.onnx", "--json"],
        ["infer", "m.onnx", "--input", "q=f32"],
        ["import", "m.onnx"],
    ):
        shown = axon(arguments, folder).terminal
        assert shown.replace("\n", "").isprintable(), arguments


# --- what is written ------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A program in two files, its weights, an input, and links to them."""
    (tmp_path / "p.axon").write_text(PROGRAM)
    (tmp_path / "other.axon").write_text("g = fn (x : f32 [n]) { x + 1 };\n")
    with written(str(tmp_path / "w.st"), [ToStore("w", "f32", (2,), lambda: numpy.ones(2, "f4"))]):
        pass
    numpy.save(tmp_path / "x.npy", numpy.ones(2, "f4"))
    numpy.savez(tmp_path / "x.npz", a=numpy.ones(2, "f4"))
    for name in ("p.axon", "other.axon", "w.st", "x.npy"):
        os.link(tmp_path / name, tmp_path / f"hard-{name}")
        os.symlink(tmp_path / name, tmp_path / f"soft-{name}")
    return tmp_path


@pytest.mark.parametrize("name", ["p.axon", "other.axon", "w.st", "x.npy", "x.npz"])
@pytest.mark.parametrize("link", ["", "hard-", "soft-", "./"])
def test_nothing_in_use_is_overwritten(run: Path, name: str, link: str) -> None:
    if link in ("hard-", "soft-") and name == "x.npz":
        return
    before = (run / name).read_bytes()
    given = "x=x.npz:a" if name == "x.npz" else "x=x.npy"
    found = axon(["run", "p.axon", "f", given, "--weights", "w.st", "--save", f"{link}{name}"], run)
    wrong(found, "name another file")
    assert (run / name).read_bytes() == before
    assert not [entry for entry in os.listdir(run) if entry.endswith(".part")]


def test_a_result_takes_the_place_of_a_file_whole(run: Path) -> None:
    (run / "y.npy").write_bytes(b"old")
    with open(run / "y.npy", "rb") as reader:
        found = axon(["run", "p.axon", "f", "x=x.npy", "--save", "y.npy"], run)
        assert found.status == 0, found
        assert reader.read() == b"old"  # who reads it goes on to read what was there
    assert numpy.load(run / "y.npy").tolist() == [2, 2]
    os.symlink(run / "y.npy", run / "link.npy")
    assert axon(["run", "p.axon", "f", "x=[1,2,3]", "--save", "link.npy"], run).status == 0
    assert (run / "link.npy").is_symlink()
    assert numpy.load(run / "y.npy").tolist() == [2, 3, 4]


def test_what_cannot_be_written(run: Path) -> None:
    for path in (".", "missing/y.npy", "p.axon/y.npy", "\0", "y" * 500 + ".npy"):
        found = axon(["run", "p.axon", "f", "x=x.npy", "--save", path], run)
        assert found.status == 2
        assert found.stderr.startswith("axon: ")
        assert "cannot be written" in found.stderr
    assert axon(["run", "p.axon", "f", "x=x.npy", "--save", os.devnull], run).status == 0
    assert not os.path.isfile(os.devnull)
    assert not [entry for entry in os.listdir(run) if entry.endswith(".part")]


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    path = tmp_path / "y"
    path.write_bytes(b"old")

    def write() -> None:
        with replacing(str(path), {}) as file:
            file.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert path.read_bytes() == b"old"
    with pytest.raises(Unwritable), replacing(str(path), {str(path): "in use"}):
        pass
    assert os.listdir(tmp_path) == ["y"]


def test_a_page_does_not_overwrite_what_it_is_about(run: Path) -> None:
    for name in ("p.axon", "other.axon", "soft-other.axon"):
        wrong(axon(["explain", "p.axon", "--html", name], run), "name another file")
    assert (run / "p.axon").read_text() == PROGRAM
