"""The command line's contract (docs/language.md, LANGUAGE section 6): scripts rely on it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from tests.shell import axon

GOOD = "f = fn (x, y) { matmul(x, y) };\nfn (x : f32 [n], y : f32 [m]) { x + y }\n"
BAD = "f = fn (x : f32 [n,3], y : f32 [4,m]) { matmul(x, y) };\ng = fn (x) { exp(x) };\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.axon").write_text(GOOD)
    (tmp_path / "bad.axon").write_text(BAD)
    return tmp_path


def test_check_exits_0_when_fine_and_1_when_not(folder: Path) -> None:
    assert axon(["check", "good.axon"], folder).status == 0
    found = axon(["check", "good.axon", "bad.axon"], folder)
    assert found.status == 1
    assert "error[AX101]" in found.stderr
    assert "error" not in found.stdout


def test_check_takes_what_is_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.axon").write_text("f = fn (x) { x };\n")
    (tmp_path / "b.axon").write_text("g = fn (x) { x };\n")
    found = axon(["check", "."], tmp_path)
    assert found.stdout == "./b.axon: fine, 1 definition\n./deep/a.axon: fine, 1 definition\n"
    (tmp_path / "deep" / "m.onnx").write_bytes(b"no model")
    assert axon(["check", "."], tmp_path).status == 2
    (tmp_path / "none").mkdir()
    assert axon(["check", "none"], tmp_path).status == 2


def test_infer_prints_one_line_a_definition(folder: Path) -> None:
    found = axon(["infer", "good.axon"], folder)
    assert found.status == 0
    assert found.stdout.splitlines() == [
        "f : (t a@[b,c], t a@[c,d]) -> t a@[b,d]",
        "main : (f32 [n], f32 [m]) -> f32 [a] where a = broadcast(n, m)",
    ]
    assert found.stderr == ""


def test_json_has_no_where_in_the_signature(folder: Path) -> None:
    document = json.loads(axon(["infer", "good.axon", "--json"], folder).stdout)
    main = document["definitions"][1]
    assert main["name"] == "main"
    assert main["signature"] == "(f32 [n], f32 [m]) -> f32 [a]"
    assert main["where"] == ["a = broadcast(n, m)"]
    assert main["guards"] == []
    assert document["diagnostics"] == []


def test_plain_prints_a_reading_under_a_definition(folder: Path) -> None:
    found = axon(["infer", "good.axon", "--plain"], folder)
    assert found.status == 0
    assert found.stdout.splitlines() == [
        "f : (t a@[b,c], t a@[c,d]) -> t a@[b,d]",
        "plain: (t [b,c], t [c,d]) -> t [b,d]",
        "main : (f32 [n], f32 [m]) -> f32 [a] where a = broadcast(n, m)",
        "plain: (f32 [n], f32 [n]) -> f32 [n]",
    ]


def test_json_has_the_plain_reading(folder: Path) -> None:
    (folder / "closed.axon").write_text("f = fn (x : f32 [n]) { exp(x) };")
    good = json.loads(axon(["infer", "good.axon", "--json"], folder).stdout)["definitions"]
    closed = json.loads(axon(["infer", "closed.axon", "--json"], folder).stdout)["definitions"]
    assert [d["plain"] for d in good] == [
        "(t [b,c], t [c,d]) -> t [b,d]",
        "(f32 [n], f32 [n]) -> f32 [n]",
    ]
    assert [d["plain"] for d in closed] == [None]


def test_the_plain_reading_in_the_notation_of_the_paper(folder: Path) -> None:
    (folder / "sum.axon").write_text("f = fn (x, y) { concat(x, y) };")
    found = axon(["infer", "sum.axon", "--plain", "--notation", "paper"], folder)
    assert found.stdout.splitlines()[1] == "plain: (t [a], t [c]) -> t [(+ a c)]"


def test_json_goes_to_standard_output_with_errors_too(folder: Path) -> None:
    found = axon(["infer", "bad.axon", "--json"], folder)
    assert found.status == 1
    document = json.loads(found.stdout)
    assert [d["name"] for d in document["definitions"]] == ["g"]
    (diagnostic,) = document["diagnostics"]
    assert diagnostic["code"] == "AX101"
    assert diagnostic["severity"] == "error"
    assert (diagnostic["line"], diagnostic["column"]) == (1, 48)
    assert {"line", "column", "text"} <= diagnostic["labels"][0].keys()
    assert "3 and 4" in diagnostic["message"]


def test_run_time_checks_are_guards(folder: Path) -> None:
    (folder / "conv.axon").write_text(
        "f = fn (x : f32 [n,c,h,w], k : f32 [8,c,5,5]) { conv(x, k) };"
    )
    document = json.loads(axon(["infer", "conv.axon", "--json"], folder).stdout)
    (definition,) = document["definitions"]
    assert definition["where"] == []
    assert definition["guards"] == ["h >= 5", "w >= 5"]


def test_explain_shows_constraints_rules_and_the_result(folder: Path) -> None:
    found = axon(["explain", "good.axon", "main"], folder)
    assert found.status == 0
    assert "constraints" in found.stdout
    assert "broadcasting" in found.stdout
    assert found.stdout.rstrip().endswith("where a = broadcast(n, m)")


def test_explain_why_names_the_places(folder: Path) -> None:
    (folder / "w.axon").write_text("f = fn (x, w : f32 [16,4]) {\n  h = matmul(x, w);\n  h\n};\n")
    found = axon(["explain", "w.axon", "f", "--why", "x[1]"], folder)
    assert found.status == 0
    assert found.stdout.splitlines()[0] == "x[1] is 16"
    assert "w.axon:1:12" in found.stdout
    assert "w.axon:2:17" in found.stdout


WHYS = """f = fn (x, w) { matmul(x, w) };
g = fn (x : f32 [b,h]) where h mod 2 = 0 { reshape(x, [b,2,h/2]) };
k = fn (x : f32 [b,h]) { reshape(x, [b,2,h/2]) };
c = fn (x) { sum(x, axis=1) };
n = fn (x : f32 [m]) { x };
"""


@pytest.mark.parametrize(
    ("name", "question", "first", "more"),
    [
        ("f", "x[-1]", "x[-1] is c", "argument 1 of matmul"),
        ("f", "x[-2]", "x[-2] is b", "argument 1 of matmul"),
        ("f", "w[-2]", "w[-2] is c", "argument 2 of matmul"),
        ("f", "x[0]", "x[0]: `x` is a@[b,c], which begins with the shape a", "x[-1] is c"),
        ("f", "x[1]", "x[1]: `x` is a@[b,c], which begins with the shape a", "x[-2] is b"),
        ("f", "x[-3]", "x[-3]: `x` is a@[b,c], which has, further out,", "x[-1] is c"),
        ("c", "x[1]", "x[1] is b", "argument 1 of sum"),
        ("c", "x[2]", "x[2]: `x` is [a,b]@c, which goes on with the shape c", "x[0] is a"),
        ("c", "x[-1]", "x[-1]: `x` is [a,b]@c, which ends with the shape c", "x[1] is b"),
        ("g", "h", "h is any size", "where h mod 2 = 0\n    w.axon:2:30  h mod 2 = 0"),
        ("g", "x[1]", "x[1] is h", "where h mod 2 = 0"),
        ("k", "h", "h is any size", "where b*(h mod 2) = 0\n    w.axon:3:9"),
        ("n", "m", "m is any size", "nothing says more about it"),
    ],
)
def test_why_answers_for_open_ranks_and_for_conditions(
    folder: Path, name: str, question: str, first: str, more: str
) -> None:
    (folder / "w.axon").write_text(WHYS)
    found = axon(["explain", "w.axon", name, "--why", question], folder)
    assert found.status == 0
    assert found.stdout.replace(" is not known", "").startswith(first)
    assert more in found.stdout
    assert ("nothing says more" in found.stdout) == (name == "n")


def test_explain_from_shows_only_what_follows(folder: Path) -> None:
    text = "f = fn (x : f32 [n,k], w : f32 [k,m]) { matmul(x, w) };"
    (folder / "f.axon").write_text(text)
    everything = axon(["explain", "f.axon", "f", "--short"], folder).stdout
    from_x = axon(["explain", "f.axon", "f", "--short", "--from", "x"], folder).stdout
    assert "argument 2 of matmul" in everything
    assert "argument 2 of matmul" not in from_x
    assert "argument 1 of matmul" in from_x


def test_explain_code_prints_its_page(folder: Path) -> None:
    found = axon(["explain", "AX101"], folder)
    assert found.status == 0
    assert "AX101" in found.stdout
    assert axon(["explain", "AX999"], folder).status == 2


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.axon", None, "no such file"),
        ("binary.axon", b"\x7fELF\x00\x01\x02", "binary"),
        ("latin.axon", b"# caf\xe9\nf = fn (x) { x };\n", "UTF-8"),
        ("empty.axon", b"", "empty"),
        ("blank.axon", b"  \n\n", "empty"),
        ("folder.axon", "directory", "directory"),
    ],
)
@pytest.mark.parametrize("command", ["check", "infer", "explain"])
def test_bad_input_is_one_clear_line_and_exit_2(
    folder: Path, command: str, name: str, content: bytes | str | None, says: str
) -> None:
    path = folder / name
    if content == "directory":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    found = axon([command, name], folder)
    assert found.status == 2
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert says in found.stderr
    assert name in found.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["infer"], ["infer", "--notation", "roman", "x"], ["infer", "a\0b"]],
)
def test_wrong_usage_exits_2(folder: Path, arguments: list[str]) -> None:
    assert axon(arguments, folder).status == 2


def test_an_unknown_definition_is_wrong_usage(folder: Path) -> None:
    found = axon(["explain", "good.axon", "nothing"], folder)
    assert found.status == 2
    assert "f, main" in found.stderr


# --- axon run -----------------------------------------------------------------------------------

NET = """
layer = fn (x : f32 [b,n], w : f32 [n,m]) { relu(x @ w) };
pair = fn (x) { x, sum(x) };
flags = fn (x : bool [n], k : i64) { any(x), k };
means = fn (x : f32 [n,*]) { map(fn (row) { mean(row) }, x) };
twice = fn (x : f32 [n,*]) { x + x };
table = fn (x, sizes : i64 [2]) { reshape(x, sizes) };
op own : f32 [n] -> f32 [n];
uses = fn (x) { own(x) };
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "net.axon").write_text(NET)
    (tmp_path / "bad.axon").write_text(BAD)
    numpy.save(tmp_path / "x.npy", numpy.ones((2, 3), "float32"))
    numpy.savez(tmp_path / "one.npz", only=numpy.ones((3, 1), "float32"))
    numpy.savez(tmp_path / "two.npz", a=numpy.arange(3), b=numpy.arange(4))
    objects = numpy.array([{"a": 1}], dtype=object)
    numpy.save(tmp_path / "objects.npy", objects, allow_pickle=True)
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY garbage")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ("layer x=ones[2,3] w=ones[3,1]", "f32 [2,1]\n[[3.]\n [3.]]\n"),
        ("layer x=x.npy w=one.npz", "f32 [2,1]\n[[3.]\n [3.]]\n"),
        ("layer x=x.npy w=one.npz:only", "f32 [2,1]\n[[3.]\n [3.]]\n"),
        ("layer x=[[1,2]] w=[[3],[4]]", "f32 [1,1]\n[[11.]]\n"),
        ("layer x=zeros[0,3] w=zeros[3,2]", "f32 [0,2]\n[]\n"),
        ("pair x=[1,2,3]", "(i64 [3], i64)\n[1 2 3]\n6\n"),
        ("pair x=1.5", "(f32, f32)\n1.5\n1.5\n"),
        ("pair x=two.npz:a", "(i64 [3], i64)\n[0 1 2]\n3\n"),
        ("flags x=[true,false] k=3", "(bool, i64)\nTrue\n3\n"),
        ("means x=[[1,2],[3]]", "f32 [2]\n[1.5 3. ]\n"),
        ("twice x=[[1,2],[3]]", "f32 [2,*]\nRagged f32 [2,*]: [[2. 4.], [6.]]\n"),
    ],
)
def test_run_prints_the_type_and_then_the_value(net: Path, arguments: str, printed: str) -> None:
    found = axon(["run", "net.axon", *arguments.split()], net)
    assert (found.status, found.stdout, found.stderr) == (0, printed, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("layer x=ones[2,3] w=ones[4,1]", "error[AX101]"),
        ("layer x=ones[2,3] w=ones[3]", "error[AX102]"),
        ("layer x=two.npz:a w=ones[3,1]", "error[AX205]"),
        ("table x=ones[6] sizes=[2,4]", "error[AX404]"),
        ("table x=ones[6] sizes=[2,-3]", "below zero"),
        ("flags x=[true] k=2.5", "i64 is expected"),
        ("pair x=[[1,2],[3]]", "rows differ"),
        ("uses x=ones[3]", "only declares"),
    ],
)
def test_a_call_that_does_not_fit_exits_1(net: Path, arguments: str, says: str) -> None:
    found = axon(["run", "net.axon", *arguments.split()], net)
    assert found.status == 1
    assert found.stdout == ""
    assert says in found.stderr
    assert "bug" not in found.stderr


def test_run_of_a_program_with_errors_exits_1(net: Path) -> None:
    found = axon(["run", "bad.axon", "g", "x=1"], net)
    assert found.status == 1
    assert found.stdout == ""
    assert "error[AX101]" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("net.axon", "say which definition of net.axon to run: it has layer, pair"),
        ("none.axon layer", "no such file"),
        ("net.axon nothing x=1", "it has layer, pair"),
        ("net.axon pair x", "NAME=VALUE"),
        ("net.axon pair x=1 x=2", "given twice"),
        ("net.axon pair x=none.npy", "no file none.npy"),
        ("net.axon pair x=objects.npy", "could run code"),
        ("net.axon pair x=broken.npy", "broken.npy cannot be read"),
        ("net.axon pair x=two.npz", "two.npz:KEY (a, b)"),
        ("net.axon pair x=two.npz:c", "no array `c`"),
        ("net.axon pair x=", "is no input"),
        ("net.axon pair x=[1,2", "is no input"),
        ("net.axon pair x=rand[2", "is no input"),
        ("net.axon pair x=rand[-1]", "is no input"),
        ("net.axon pair x=abc", "is no input"),
        ('net.axon pair x="abc"', "no number"),
        ("net.axon pair x=rand[99999,99999]", "9,999,800,001 elements"),
        ("net.axon pair x=1 --backend abacus", "abacus"),
        ("net.axon pair x=1 --seed some", "--seed"),
        ("net.axon twice x=[[1],[2,3]] --save out.npy", "can be saved"),
        ("net.axon pair x=1 --save none/out.npz", "No such file"),
    ],
)
def test_a_wrong_run_exits_2(net: Path, arguments: str, says: str) -> None:
    found = axon(["run", *arguments.split()], net)
    assert found.status == 2
    assert says in found.stderr
    assert "bug" not in found.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [("pair y=1", "its arguments are x"), ("layer x=ones[2,3]", "`w` is missing")],
)
def test_the_names_of_arguments_are_looked_at(net: Path, arguments: str, says: str) -> None:
    found = axon(["run", "net.axon", *arguments.split()], net)
    assert found.status == 2
    assert len(found.stderr.splitlines()) == 1
    assert says in found.stderr


def test_what_is_made_up_depends_on_the_seed_alone(net: Path) -> None:
    def run(*more: str) -> str:
        return axon(["run", "net.axon", "pair", "x=rand[5]", *more], net).stdout

    assert run() == run("--seed", "0") != run("--seed", "1")


def test_a_saved_result_can_be_read_back(net: Path) -> None:
    assert (
        axon(["run", "net.axon", "layer", "x=x.npy", "w=one.npz", "--save=r.npy"], net).status == 0
    )
    assert numpy.array_equal(numpy.load(net / "r.npy"), [[3], [3]])
    assert axon(["run", "net.axon", "pair", "x=r.npy", "--save", "r.npz"], net).status == 0
    with numpy.load(net / "r.npz") as saved:
        assert sorted(saved.files) == ["result0", "result1"]
        assert saved["result1"] == 6
    assert axon(["run", "net.axon", "pair", "x=r.npz:result0"], net).status == 0


def test_run_on_jax_prints_the_same(net: Path) -> None:
    pytest.importorskip("jax")
    arguments = ["run", "net.axon", "layer", "x=rand[2,3]", "w=one.npz"]
    assert axon([*arguments, "--backend", "jax"], net) == axon(arguments, net)


def test_a_real_process_has_the_same_exit_codes(folder: Path) -> None:
    def run(*arguments: str) -> int:
        return subprocess.run(
            [sys.executable, "-m", "axon", *arguments], cwd=folder, capture_output=True
        ).returncode

    assert [run("check", "good.axon"), run("check", "bad.axon"), run("check", "no")] == [0, 1, 2]


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    (folder / "many.axon").write_text("".join(f"f{i} = fn (x) {{ x }};\n" for i in range(3000)))
    command = f"{sys.executable} -m axon infer many.axon | head -n 1"
    found = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert found.stdout == "f0 : a -> a\n"
    assert found.stderr == ""


def test_a_bug_is_exit_3_with_a_report_in_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise AssertionError("a test's own bug")

    monkeypatch.setattr("axon.driver.check", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = axon(["check", "good.axon"], folder)
    assert found.status == 3
    (report,) = tmp_path.glob("axon-bug-*.txt")
    assert str(report) in found.stderr
    text = report.read_text()
    assert "command: ['check', 'good.axon']" in text
    assert "a test's own bug" in text
    assert "Traceback" in text


def test_colours_are_as_asked(folder: Path) -> None:
    assert "\x1b[" not in axon(["check", "bad.axon"], folder).stderr
    assert "\x1b[" in axon(["check", "bad.axon", "--color", "always"], folder).stderr
    assert "\x1b[" not in axon(["check", "bad.axon", "--color=never"], folder).stderr


def test_no_command_is_wrong_usage_with_the_list_of_them(folder: Path) -> None:
    found = axon([], folder)
    assert found.status == 2
    assert "infer" in found.stderr
