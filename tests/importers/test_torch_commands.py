"""PyTorch programs on the command line and in Python, as ONNX models are; PyTorch is not there."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest

import axon as library
from axon.importers.formats import read_archive
from axon.importers.reporting.report import Report
from tests.importers.torch_archives import Exported, Tensor, tensor_meta, zipped
from tests.shell import axon

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CLASSIFIER = str(EXAMPLES / "torch" / "classifier.pt2")
ENCODER = str(EXAMPLES / "torch" / "encoder.pt2")


def scaled() -> Exported:
    """`x * w + b`, and then `view(-1, 2)` in a module inside."""
    made = Exported()
    x = made.input("x", "f32", ["s0", 4])
    w = made.weight("head.w", numpy.arange(4, dtype="f4"))
    b = made.weight("head.b", numpy.array(10.0, "f4"), kind="buffer")
    y = made.call("aten.mul.Tensor", self=x, other=w, line=7, text="x * self.w", module="head")
    y = made.call("aten.add.Tensor", self=y, other=b, line=8, text="y + self.b", module="head")
    n = made.call("aten.view.default", self=y, size=[-1, 2], line=9, text="y.view(-1, 2)")
    made.output(n)
    return made


def wrong() -> Exported:
    made = Exported()
    x = made.input("x", "f32", ["s0", 5])
    w = made.weight("enc.w", numpy.ones((4,), "f4"))
    y = made.call(
        "aten.add.Tensor", self=x, other=w, line=42, text="y = x + self.w",
        module="encoder.layers.3.attn",
    )  # fmt: skip
    made.output(made.call("aten.frobnicate.default", self=y, line=43, text="frob(y)", module="h"))
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scaled().save(tmp_path / "m.pt2")
    wrong().save(tmp_path / "wrong.pt2")
    return tmp_path


# --- infer and check -----------------------------------------------------------------------------


def test_infer(folder: Path) -> None:
    found = axon(["infer", "m.pt2"], folder)
    assert (found.status, found.stderr) == (0, "")
    assert found.stdout == "model : f32 [s0,4] -> f32 [2*s0,2]\n"
    both = axon(["infer", "m.pt2", "wrong.pt2"], folder)
    assert both.status == 1 and both.stdout.startswith("# m.pt2\nmodel : ")


def test_inputs_are_forgotten_or_said(folder: Path) -> None:
    found = axon(["infer", "m.pt2", "--forget-inputs"], folder)
    assert found.status == 0 and "suggested, and tried: x : f32 [" in found.stdout
    found = axon(["infer", "m.pt2", "--input", "x=f32 [6,4]"], folder)
    assert found.stdout == "model : f32 [6,4] -> f32 [12,2]\n"
    found = axon(["infer", "m.pt2", "--input", "p_head_w=f32 [6]"], folder)
    assert found.status == 2 and "no input `p_head_w`: its inputs are x" in found.stderr


def test_what_an_archive_says_of_sizes_is_compared(tmp_path: Path) -> None:
    made = scaled()
    made.said(Tensor("view_2"), "f32", [7, 2])
    made.save(tmp_path / "m.pt2")
    loose, strict = (axon(["infer", "m.pt2", *more], tmp_path) for more in ([], ["--check"]))
    assert (loose.status, strict.status) == (0, 1)
    assert "warning[AX501]" in loose.stderr and "error[AX501]" in strict.stderr
    assert "model.py:9" in loose.stderr


def test_a_program_is_not_annotated(folder: Path) -> None:
    found = axon(["infer", "m.pt2", "--write", "out.pt2"], folder)
    assert found.status == 2 and "--write is for ONNX models" in found.stderr
    assert not (folder / "out.pt2").exists()


def test_messages_are_about_the_users_lines(folder: Path) -> None:
    found = axon(["check", "wrong.pt2", "m.pt2"], folder)
    assert found.status == 1
    assert "error[AX110]: add of `encoder.layers.3.attn`: sizes 5 and 4" in found.stderr
    assert "--> /home/me/model.py:42 (encoder.layers.3.attn)\n" in found.stderr
    assert " 42 | y = x + self.w\n" in found.stderr
    assert "4 is a size of weight `enc.w`" in found.stderr
    assert "frobnicate of `h`: Axon has no rule for it" in found.stderr
    assert "p_enc_w" not in found.stderr
    assert found.stdout == "m.pt2: fine, 3 nodes\n"


def test_places_in_json(folder: Path) -> None:
    document = json.loads(axon(["check", "wrong.pt2", "--json"], folder).stdout)
    first = document["diagnostics"][0]
    assert (first["file"], first["line"]) == ("/home/me/model.py", 42)
    label = first["labels"][0]
    assert label["code"] == "y = x + self.w" and label["module"] == "encoder.layers.3.attn"
    shown = axon(["check", "wrong.pt2", "--github"], folder).stdout
    assert "file=/home/me/model.py,line=42" in shown


def test_the_format_is_told_by_the_content(folder: Path) -> None:
    (folder / "m.zip").write_bytes((folder / "m.pt2").read_bytes())
    assert axon(["infer", "m.zip"], folder).stdout == axon(["infer", "m.pt2"], folder).stdout
    (folder / "state.pt").write_bytes(zipped({"data.pkl": b"\x80\x02"}).getvalue())
    assert "it looks like what torch.save writes" in axon(["infer", "state.pt"], folder).stderr
    (folder / "net.pt2").write_text("f = fn (x) { x };\n")
    assert "net.pt2 is not a .pt2 archive" in axon(["infer", "net.pt2"], folder).stderr


# --- run and import ------------------------------------------------------------------------------


def test_run_on_arrays_from_files(folder: Path) -> None:
    x = numpy.arange(8, dtype="f4").reshape(2, 4)
    numpy.savez(folder / "in.npz", x=x, other=x)
    found = axon(["run", "m.pt2", "x=in.npz:x", "--save", "out.npy"], folder)
    assert found.status == 0, found.stderr
    truth = (x * numpy.arange(4, dtype="f4") + 10).reshape(-1, 2)
    numpy.testing.assert_array_equal(numpy.load(folder / "out.npy"), truth)
    assert axon(["run", "m.pt2", "model", "x=in.npz:x"], folder).stdout == found.stdout
    missing = axon(["run", "m.pt2"], folder)
    assert missing.status == 2 and "`x` is missing" in missing.stderr
    small = axon(["run", "m.pt2", "x=ones[2,3]"], folder)
    assert small.status == 1


def test_a_program_and_its_weights_are_written(folder: Path) -> None:
    written = axon(["import", "m.pt2", "-o", "m.axon", "--weights", "m.safetensors"], folder)
    assert (written.status, written.terminal) == (0, "")
    text = (folder / "m.axon").read_text()
    assert "op head_w : () -> f32 [4];" in text and "model = fn (x : f32 [s0,4])" in text
    arguments = ["run", "m.axon", "model", "x=[[1,2,3,4]]", "--weights", "m.safetensors"]
    direct = axon(["run", "m.pt2", "x=[[1,2,3,4]]"], folder)
    assert axon(arguments, folder).stdout == direct.stdout
    assert axon(["import", "m.pt2", "-o", "m.pt2"], folder).status == 2


@pytest.mark.parametrize("ending", ["svg", "html", "dot"])
def test_pictures(ending: str, folder: Path) -> None:
    found = axon(["graph", "m.pt2", "-o", f"m.{ending}"], folder)
    assert (found.status, found.stdout) == (0, f"m.{ending}\n")
    text = (folder / f"m.{ending}").read_text()
    assert "view" in text and "model.py:9" in text and "Operand" not in text


def test_a_picture_as_text(folder: Path) -> None:
    text = axon(["graph", "m.pt2"], folder).stdout
    assert "view(%2, size = [-1, 2], model.py:9)" in text


# --- why -----------------------------------------------------------------------------------------


def why(question: str, folder: Path, file: str = CLASSIFIER) -> str:
    found = axon(["explain", file, "--why", question], folder)
    assert found.status == 0, found.stderr
    return found.stdout


def test_why_a_size_of_an_input(tmp_path: Path) -> None:
    lines = why("x[0]", tmp_path).splitlines()
    asks = "`view` at classifier.py:17 asks for x[0]*(x[2]/2)*(x[3]/2) = 64"
    assert lines[0] == f"x[0] is 4: {asks}"
    assert [line.split() for line in lines[1:]] == [
        ["classifier.py:17:", "x", "=", "x.view(4,", "-1)", "`view`"],
        ["classifier.py:18:", "return", "self.head(x)", "`linear`", "of", "`head`"],
    ]
    assert why("x[1]", tmp_path).startswith("x[1] is 3: `conv2d` at classifier.py:15 asks for that")
    assert why("x[-4]", tmp_path) == why("x[0]", tmp_path)
    assert why(" x ", tmp_path).count(" is ") == 4
    assert "ids[0] is any size\n" in why("ids[0]", tmp_path, ENCODER)


def test_why_a_size_of_another_tensor(tmp_path: Path) -> None:
    assert why("view[1]", tmp_path).splitlines()[0] == "view[1] is 128"
    assert "classifier.py:17: x = x.view(4, -1)" in why("view[1]", tmp_path)
    found = why("result[1]", tmp_path)
    assert found.startswith("result[1] is 10\n") and "`linear` of `head`" in found
    found = why("result[0]", tmp_path, ENCODER)
    assert found.startswith("result[0] is s23\n") and "`layers.1`" in found
    assert why("p_head_weight[0]", tmp_path) == "p_head_weight[0] is 10\n"


def test_why_of_an_onnx_model(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    path = str(EXAMPLES / "onnx" / "encoder.onnx")
    assert why("ids[0]", tmp_path, path).startswith("ids[0] is any size\n")
    assert why("result[2]", tmp_path, path).startswith("result[2] is 16\n  encoder.onnx:")


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ("nope[0]", "the model has no tensor `nope`"),
        ("x[4]", "`x` has 4 dimensions"),
        ("x[-5]", "`x` has 4 dimensions"),
        ("", "the model has no tensor ``"),
        ("[0]", "the model has no tensor"),
        ("x[" + "9" * 5000 + "]", "the model has no tensor"),
    ],
)
def test_questions_about_nothing(question: str, complaint: str, tmp_path: Path) -> None:
    found = axon(["explain", CLASSIFIER, f"--why={question}"], tmp_path)
    assert found.status == 2 and complaint in found.stderr and len(found.stderr) < 200


def test_why_as_json(tmp_path: Path) -> None:
    found = json.loads(axon(["explain", CLASSIFIER, "--why", "x[0]", "--json"], tmp_path).stdout)
    (answer,) = found["definitions"]
    assert (answer["subject"], answer["value"]) == ("x[0]", "4")
    assert answer["because"][0]["file"] == "classifier.py"
    assert answer["because"][0]["line"] == 17
    assert answer["conditions"][0]["text"] == "x[0]*(x[2]/2)*(x[3]/2) = 64"


def test_a_model_is_explained_by_questions_alone(tmp_path: Path) -> None:
    for more in ([], ["--html", "a.html", "--why", "x"], ["net", "--why", "x"]):
        found = axon(["explain", CLASSIFIER, *more], tmp_path)
        assert found.status == 2 and "--why 'x[0]'" in found.stderr


# --- weights -------------------------------------------------------------------------------------


def read(made: Exported) -> dict[str, numpy.ndarray]:
    model = read_archive(made.archive(), "m")
    return {each.name: model.read(each) for each in model.model.graph.constants}


def weight_of(
    elem: str, data: bytes, sizes: list[int], strides: list[int], offset: int = 0
) -> numpy.ndarray:
    made = Exported()
    made.output(made.input("x", "f32", [2]))
    w = made.weight("w", numpy.zeros(sizes), stored=False)
    meta = tensor_meta(elem, sizes)
    made.graph["tensor_values"][w.name] = meta
    steps = [{"as_int": step} for step in strides]
    made.store("w", data, {**meta, "strides": steps, "storage_offset": {"as_int": offset}})
    return read(made)["p_w"]


def test_strides_and_offsets() -> None:
    data = numpy.arange(12, dtype="f4").tobytes()
    whole = numpy.arange(12, dtype="f4").reshape(3, 4)
    numpy.testing.assert_array_equal(weight_of("f32", data, [4, 3], [1, 4]), whole.T)
    numpy.testing.assert_array_equal(weight_of("f32", data, [2, 2], [4, 1], 5), whole[1:, 1:3])
    numpy.testing.assert_array_equal(weight_of("f32", data, [2, 3], [0, 1]), [[0, 1, 2]] * 2)
    assert weight_of("f32", data, [], [], 7) == 7


@pytest.mark.parametrize("elem", ["u8", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "u16"])
def test_element_types(elem: str) -> None:
    array = numpy.array([0, 1, 100]).astype(f"{elem[0]}{int(elem[1:]) // 8}")
    found = weight_of(elem, array.tobytes(), [3], [1])
    assert found.dtype == array.dtype and found.tolist() == [0, 1, 100]


def test_truth_values_and_bf16() -> None:
    assert weight_of("bool", b"\1\0\1", [3], [1]).tolist() == [True, False, True]
    found = weight_of("bf16", b"\x80\x3f\x20\xc0", [2], [1])
    assert found.dtype.name == "bfloat16" and found.astype("f4").tolist() == [1.0, -2.5]


def test_tied_weights(tmp_path: Path) -> None:
    """Two parameters in one storage are read from there."""
    made = Exported()
    x = made.input("x", "f32", [3])
    a = made.weight("embed.weight", numpy.arange(3, dtype="f4"))
    b = made.weight("head.weight", numpy.zeros(3, "f4"), stored=False)
    made.store("head.weight", b"", made.meta(a.name), path="weight_0")
    y = made.call("aten.mul.Tensor", self=x, other=a)
    made.output(made.call("aten.add.Tensor", self=y, other=b))
    assert {name: array.tolist() for name, array in read(made).items()} == {
        "p_embed_weight": [0, 1, 2],
        "p_head_weight": [0, 1, 2],
    }
    made.save(tmp_path / "m.pt2")
    found = axon(["run", "m.pt2", "x=ones[3]"], tmp_path)
    assert found.stdout == "f32 [3]\n[0. 2. 4.]\n"


def test_a_weight_that_is_not_in_the_archive(tmp_path: Path) -> None:
    made = Exported()
    x = made.input("x", "f32", [3])
    w = made.weight("w", numpy.zeros(3, "f4"), stored=False)
    made.output(made.call("aten.mul.Tensor", self=x, other=w))
    made.save(tmp_path / "m.pt2")
    assert axon(["infer", "m.pt2"], tmp_path).status == 0
    found = axon(["run", "m.pt2", "x=ones[3]"], tmp_path)
    assert found.status == 1 and "does not have the values of `p_w`" in found.stderr


# --- without packages ----------------------------------------------------------------------------

WITHOUT = """
import sys
for name in ("numpy", "onnx", "jax", "torch", "ml_dtypes"):
    sys.modules[name] = None
from axon.importers.formats import read_model
print(read_model(sys.argv[1]).report().signature)
"""


def test_sizes_in_a_buffer_are_read_without_numpy(tmp_path: Path) -> None:
    made = Exported()
    x = made.input("x", "f32", ["s0", 6])
    sizes = numpy.array([[7, 2], [7, 3]])[:, 1]  # with strides
    made.weight("sizes", sizes, kind="buffer", stored=False)
    meta = {**made.meta("b_sizes"), "strides": [{"as_int": 2}], "storage_offset": {"as_int": 1}}
    made.store("sizes", numpy.array([7, 2, 7, 3]).tobytes(), meta)
    first = made.call("aten.select.int", self=Tensor("b_sizes"), dim=0, index=0)
    second = made.call("aten.select.int", self=Tensor("b_sizes"), dim=0, index=1)
    from tests.importers.torch_archives import SymInt

    n = made.call("aten.item.default", kind=SymInt, self=first)
    m = made.call("aten.item.default", kind=SymInt, self=second)
    made.output(made.call("aten.view.default", self=x, size=[-1, n, m]))
    made.save(tmp_path / "m.pt2")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path / "m.pt2")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "f32 [s0,6] -> f32 [s0,2,3]\n"


# --- Python --------------------------------------------------------------------------------------


def test_from_torch_of_a_file(tmp_path: Path) -> None:
    scaled().save(tmp_path / "m.pt2")
    net = library.from_torch(tmp_path / "m.pt2")
    x = numpy.ones((2, 4), "f4")
    assert net.model(x).shape == (4, 2)
    report: Report = net.report
    assert report.ok
    assert net.report.signature == "f32 [s0,4] -> f32 [2*s0,2]"
    assert net.report.tensors["view_2"].shape == ("2*s0", 2)
    other = net.on("jax")
    assert other.report is not net.report and other.report == net.report
    assert numpy.array_equal(other.model(x), net.model(x))


def test_a_report_of_an_onnx_model() -> None:
    pytest.importorskip("onnx")
    net = library.from_onnx(EXAMPLES / "onnx" / "encoder.onnx")
    assert net.report.signature == "i64 [batch,seq] -> f32 [batch,seq,16]"
    with pytest.raises(library.ProgramError, match="is an ONNX model"):
        net.dynamic  # noqa: B018


def test_what_from_torch_does_not_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs PyTorch for what is not a \.pt2 file"):
        library.from_torch(object())
    with pytest.raises(library.ProgramError, match="there is no file"):
        library.from_torch(tmp_path / "none.pt2")
    (tmp_path / "m.pt2").write_bytes(b"PK")
    with pytest.raises(library.ProgramError, match="no zip file"):
        library.from_torch(str(tmp_path / "m.pt2"))
    with pytest.raises(library.ProgramError, match=r"`axon\.from_torch` takes it"):
        library.load(tmp_path / "m.pt2")
    scaled().save(tmp_path / "m.pt2")
    assert library.from_torch(tmp_path / "m.pt2").model(numpy.ones((1, 4), "f4")).shape == (2, 2)


def test_the_examples_have_no_paths_of_a_machine() -> None:
    for path in (CLASSIFIER, ENCODER):
        with zipfile.ZipFile(path) as archive:
            text = archive.read(next(n for n in archive.namelist() if n.endswith("model.json")))
        assert b'File \\"/' not in text and b'  File \\"/' not in text
        assert Path(path).stat().st_size < 100_000
