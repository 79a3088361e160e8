"""What could be dynamic in a program of PyTorch: free sizes, and the lines that fix others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

from axon.importers.operations import NoModel
from axon.importers.torch.archive import open_archive
from axon.importers.torch.dynamic.answers import dynamic_of
from axon.importers.torch.dynamic.arguments import tree_of
from axon.importers.torch.dynamic.conditions import guard_of
from axon.importers.torch.dynamic.spelled import Spelling, mentions, spelled
from axon.importers.torch.dynamic.table import Answer, Dynamic
from axon.importers.torch.read import model_of
from tests.importers.torch_archives import Exported, SymInt, Tensor
from tests.shell import axon


def dynamic(program: Exported) -> Dynamic:
    archive = open_archive(program.archive(), "model.pt2")
    return dynamic_of(model_of(archive), archive)


def answer(found: Dynamic, name: str, axis: int) -> Answer:
    return found.inputs[name][axis]


def lines(given: Answer) -> list[int]:
    return [place.line for place in given.places]


def of_view(text: str, sizes: list[int], x: list[int] | None = None) -> Exported:
    """A view whose result meets a weight of 4 rows, from a line of that text."""
    p = Exported()
    h = p.call("aten.relu.default", self=p.input("x", "f32", x or [4, 6]), line=8, text="relu(x)")
    h = p.call("aten.view.default", self=h, size=sizes, line=9, text=text)
    p.output(p.call("aten.neg.default", self=h, line=10, text="return -h"))
    return p


def masked(batch: int | str = 2) -> Exported:
    """Attention with a mask for 16 positions, exported with numbers for sizes."""
    p = Exported()
    x = p.input("x", "f32", [batch, 16, 8])
    mask = p.weight("mask", numpy.zeros((16, 16), "f4"), "buffer")
    text = "q = x.view(b, t, 2, 4)"
    b: Any = batch
    if isinstance(batch, str):
        b = p.call("aten.sym_size.int", self=x, dim=0, kind=SymInt)
    q = p.call("aten.view.default", self=x, size=[b, 16, 2, 4], line=15, text=text)
    q = p.call("aten.permute.default", self=q, dims=[0, 2, 1, 3], line=15, text=text)
    k = p.call("aten.transpose.int", self=q, dim0=-1, dim1=-2, line=16, text="a = q @ q.mT")
    a = p.call("aten.matmul.default", self=q, other=k, line=16, text="a = q @ q.mT")
    a = p.call("aten.add.Tensor", self=a, other=mask, line=17, text="a = a + self.mask")
    p.output(p.call("aten.matmul.default", self=a, other=q, line=18, text="return a @ q"))
    return p


# --- what fixes a size --------------------------------------------------------------------------


def test_a_buffer_fixes_a_size_where_it_is_used() -> None:
    found = answer(dynamic(masked()), "x", 1)
    assert (found.free, found.value) == (False, 16)
    assert lines(found)[0] == 17, "the line of the mask comes before those that pass the size on"
    assert len(found.places) <= 3


def test_a_size_that_tracing_wrote_down_is_neither() -> None:
    found = answer(dynamic(masked()), "x", 0)
    assert (found.free, found.value) == (None, 2)
    assert lines(found) == [15]
    assert "it may be a number of yours or x[0] itself" in found.why


def test_an_archive_with_open_sizes_tells() -> None:
    found = dynamic(masked("s77"))
    assert answer(found, "x", 0).free is True
    assert answer(found, "x", 1).free is False
    assert lines(answer(found, "x", 1))[0] == 17


def test_a_number_in_the_source_fixes_a_size() -> None:
    p = Exported()
    x = p.input("x", "f32", [4, 10, 8])
    h = p.call("aten.reshape.default", self=x, shape=[4, -1, 8], line=9, text="x.reshape(4, -1, 8)")
    p.output(p.call("aten.add.Tensor", self=h, other=x, line=10, text="return h + x"))
    found = answer(dynamic(p), "x", 0)
    assert (found.free, found.value, lines(found)[0]) == (False, 4, 9)


def test_a_batch_folded_into_features_is_blamed_on_the_fold() -> None:
    p = Exported()
    x = p.input("x", "f32", [2, 7, 8])
    weight = p.weight("head.weight", numpy.zeros((4, 56 * 2), "f4"))
    h = p.call("aten.view.default", self=x, size=[1, -1], line=14, text="h = x.view(1, -1)")
    h = p.call("aten.gelu.default", self=h, line=15, text="h = F.gelu(h)")
    p.output(
        p.call("aten.linear.default", input=h, weight=weight, line=16, text="return self.head(h)")
    )
    found = answer(dynamic(p), "x", 0)
    assert (found.free, found.value, lines(found)[:2]) == (False, 2, [14, 16])
    assert found.where == ["x[0]*x[1]*x[2] = 112"]


def test_what_is_broadcast_otherwise_is_fixed() -> None:
    p = Exported()
    x = p.input("x", "f32", [2, 12, 4])
    table = p.weight("pos", numpy.zeros((1, 12, 4), "f4"))
    p.output(p.call("aten.add.Tensor", self=x, other=table, line=5, text="return x + self.pos"))
    found = answer(dynamic(p), "x", 1)
    assert (found.free, found.value, found.where) == (False, 12, ["x[1] is 1 or 12"])
    assert lines(found) == [5]


def test_the_operation_that_made_a_number_a_size_is_named() -> None:
    p = Exported()
    x = p.input("x", "f32", [2, 9])
    i = p.call("aten.arange.default", end=9, line=4, text="i = torch.arange(9)")
    i = p.call("aten.unsqueeze.default", self=i, dim=0, line=5, text="i = i[None]")
    h = p.call("aten.add.Tensor", self=x, other=i, line=6, text="h = x + i")
    p.output(p.call("aten.mul.Tensor", self=h, other=x, line=7, text="return h * x"))
    found = answer(dynamic(p), "x", 1)
    assert (found.free, found.value, lines(found)[0]) == (False, 9, 4)


def test_a_size_of_a_tensor_in_the_source_is_free() -> None:
    found = dynamic(of_view("h = x.view(x.shape[0], -1)", [4, -1]))
    assert [each.free for each in found.inputs["x"]] == [True, True]


@pytest.mark.parametrize("text", ["h = x.view(n, -1)", "h = self.split(x)", ""])
def test_a_name_in_the_source_does_not_tell(text: str) -> None:
    p = Exported()
    x = p.input("x", "f32", [4, 6])
    h = p.call("aten.view.default", self=x, size=[4, -1], line=9, text=text)
    p.output(p.call("aten.add.Tensor", self=h, other=x, line=10, text="return h + x"))
    assert answer(dynamic(p), "x", 0).free is not True


def test_sizes_that_go_together_are_free_together() -> None:
    p = Exported()
    x = p.input("x", "f32", [5, 5])
    h = p.call("aten.reshape.default", self=x, shape=[-1], line=3, text="h = x.reshape(-1)")
    h = p.call("aten.unsqueeze.default", self=h, dim=0, line=4, text="h = h[None]")
    t = p.call("aten.t.default", self=x, line=5, text="t = x.t()")
    h = p.call("aten.reshape.default", self=t, shape=[1, -1], line=6, text="t.reshape(1, -1)")
    p.output(p.call("aten.add.Tensor", self=x, other=t, line=7, text="return x + t"), h)
    assert [each.free for each in dynamic(p).inputs["x"]] == [True, True]


# --- conditions and the argument ----------------------------------------------------------------


def test_a_bound_is_a_condition_and_a_range() -> None:
    p = Exported()
    x = p.input("x", "f32", ["s0", "s1", 4])
    length = p.call("aten.sym_size.int", self=x, dim=1, kind=SymInt)
    table = p.weight("pos", numpy.zeros((12, 4), "f4"))
    text = "x + self.pos.narrow(0, 0, x.shape[1])"
    rows = p.call(
        "aten.narrow.default", self=table, dim=0, start=0, length=length, line=3, text=text
    )
    p.output(p.call("aten.add.Tensor", self=x, other=rows, line=3, text=text))
    found = dynamic(p)
    assert answer(found, "x", 1).where == ["x[1] <= 12"]
    assert 'x_1 = Dim("x_1", max=12)' in found.argument.lines
    assert '{"x": {0: x_0, 1: x_1}}' in found.argument.text


def test_a_multiple_is_a_derived_dim() -> None:
    p = Exported()
    x = p.input("x", "f32", ["s0", 3])
    weight = p.weight("w", numpy.zeros((3, 3), "f4"))
    h = p.call("aten.linear.default", input=x, weight=weight, line=2, text="self.l(x)")
    h = p.call("aten.view.default", self=h, size=[-1, 8, 3], line=3, text="x.view(-1, 8, 3)")
    p.output(p.call("aten.sum.dim_IntList", self=h, dim=[1], line=4, text="return h.sum(1)"))
    found = dynamic(p)
    assert answer(found, "x", 0).where == ["x[0] mod 8 = 0"]
    assert str(found.argument) == '_x_0 = Dim("_x_0")\ndynamic_shapes={"x": {0: 8*_x_0}}'


def test_equal_sizes_share_a_dim() -> None:
    p = Exported()
    x, y = p.input("x", "f32", [5, 3]), p.input("y", "f32", [3, 5])
    h = p.call("aten.mm.default", self=x, mat2=y, line=3, text="x @ y")
    k = p.call("aten.mm.default", self=h, mat2=h, line=4, text="h @ h")
    p.output(k)
    found = dynamic(p)
    assert '{"x": {0: x_0, 1: x_1}, "y": {0: x_1, 1: x_0}}' in found.argument.text


def test_a_fixed_size_is_not_in_the_argument() -> None:
    assert dynamic(masked("s77")).argument.text == '{"x": {0: x_0}}'


def test_what_hangs_together_stays_as_it_is() -> None:
    found = dynamic(of_view("x.view(-1, 8)", [-1, 8]))
    assert all(each.free for each in found.inputs["x"])
    assert found.argument.text == '{"x": {}}' or "1:" not in found.argument.text
    assert any("stay" in note for note in found.notes)


def test_inputs_are_nested_as_the_module_takes_them() -> None:
    p = Exported()
    a, b = p.input("state_h", "f32", [2, 3]), p.input("state_c", "f32", [2, 3])
    x = p.input("x", "f32", [2, 3])
    p.output(p.call("aten.add.Tensor", self=p.call("aten.add.Tensor", self=a, other=b), other=x))
    leaf: dict[str, Any] = {"type": None, "context": None, "children_spec": []}
    pair = {"type": "builtins.dict", "context": '["h", "c"]', "children_spec": [leaf, leaf]}
    args = {"type": "builtins.tuple", "context": "null", "children_spec": [pair]}
    kwargs = {"type": "builtins.dict", "context": '["x"]', "children_spec": [leaf]}
    spec = {"type": "builtins.tuple", "context": "null", "children_spec": [args, kwargs]}
    document = p.document()
    document["graph_module"]["module_call_graph"] = [
        {
            "fqn": "",
            "signature": {"in_spec": json.dumps([1, spec]), "forward_arg_names": ["state", "x"]},
        }
    ]
    from tests.importers.torch_archives import zipped

    archive = open_archive(zipped(p.entries(document)), "model.pt2")
    assert tree_of(archive, ["state_h", "state_c", "x"]) == {
        "state": {"h": "state_h", "c": "state_c"},
        "x": "x",
    }
    found = dynamic_of(model_of(archive), archive)
    assert found.argument.text.startswith('{"state": {"h": {0: state_h_0')


# --- what PyTorch says --------------------------------------------------------------------------


def test_sizes_that_pytorch_excludes_and_the_program_takes() -> None:
    p = Exported(ranges={"s0": {"min_val": 2, "max_val": None}})
    x = p.input("x", "f32", ["s0", 4])
    p.output(p.call("aten.relu.default", self=x, line=3, text="relu(x)"))
    assert dynamic(p).more == ["x[0] of 0, 1: PyTorch asks for x[0] >= 2"]


def test_what_refuses_empty_tensors_does_not_take_0() -> None:
    p = Exported(ranges={"s0": {"min_val": 2, "max_val": None}})
    x = p.input("x", "f32", ["s0", 4])
    p.output(p.call("aten.amax.default", self=x, dim=[0], line=3, text="x.amax(0)"))
    assert dynamic(p).more == ["x[0] of 1: PyTorch asks for x[0] >= 2"]


def test_sizes_that_the_program_refuses_and_pytorch_does_not() -> None:
    p = Exported(ranges={"s0": {"min_val": 0, "max_val": None}})
    x = p.input("x", "f32", ["s0", 3])
    table = p.weight("pos", numpy.zeros((12, 3), "f4"))
    length = p.call("aten.sym_size.int", self=x, dim=0, kind=SymInt)
    rows = p.call("aten.narrow.default", self=table, dim=0, start=0, length=length, line=3)
    p.output(p.call("aten.add.Tensor", self=x, other=rows, line=3))
    assert dynamic(p).less == ["x[0] cannot be 16, 25, 64, 100"]


def test_a_size_that_pytorch_fixed_though_it_was_asked() -> None:
    p = Exported(guards=["L['x'].size()[0] == 4"])
    p.output(p.call("aten.relu.default", self=p.input("x", "f32", [4, "s1"]), line=3, text="y"))
    found = answer(dynamic(p), "x", 0)
    assert (found.free, found.value) == (False, 4)
    assert "Python code that ran while PyTorch traced read it" in found.why


def test_a_loop_that_was_written_out() -> None:
    p = Exported()
    x = p.input("x", "f32", [2, 3, 4])
    steps = [
        p.call("aten.select.int", self=x, dim=1, index=i, line=14, text="h = self.cell(x[:, t], h)")
        for i in range(3)
    ]
    p.output(p.call("aten.stack.default", tensors=steps, dim=1, line=16, text="torch.stack(out)"))
    found = answer(dynamic(p), "x", 1)
    assert (found.free, found.value, lines(found)) == (None, 3, [14])
    assert "it may run over x[1]" in found.why


def test_what_has_no_rule_makes_nothing_free() -> None:
    p = Exported()
    x = p.input("x", "f32", ["s0", 4])
    p.output(p.call("aten.no_such_operator.default", self=x, line=3, text="strange(x)"))
    found = answer(dynamic(p), "x", 0)
    assert found.free is None
    assert found.why == "Axon does not know what the program asks of sizes in no_such_operator"


def test_what_takes_too_long_makes_nothing_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axon.importers.torch.dynamic.search.WORK", 0)
    found = dynamic(of_view("x.view(-1, 8)", [-1, 8]))
    assert [each.free for each in found.inputs["x"]] == [None, None]
    assert "too long" in found.inputs["x"][0].why


def test_a_program_that_contradicts_itself_has_no_table() -> None:
    p = Exported()
    a, b = p.weight("a", numpy.zeros((3, 4), "f4")), p.weight("b", numpy.zeros((5, 6), "f4"))
    p.output(p.call("aten.mm.default", self=a, mat2=b, line=3), p.input("x", "f32", [2]))
    found = dynamic(p)
    assert not found.inputs
    assert "contradicts itself" in str(found)


@pytest.mark.parametrize(
    ("ranges", "guards"),
    [
        ({"s0": {}, "": {"min_val": "2"}, "s9": None}, []),
        ({"s0": {"min_val": -(10**40), "max_val": None}}, []),
        (None, ["L['x'].size()[99] == 4", "L['x'].size()[0] == 4 == "]),
        ({}, ["L['x'].size()[0] % 2 == 0"] * 5000),
    ],
)
def test_what_pytorch_says_of_no_size_is_not_asked(ranges: Any, guards: Any) -> None:
    p = Exported(ranges=ranges, guards=guards)
    p.output(p.call("aten.relu.default", self=p.input("x", "f32", ["s0", 4]), line=3, text="y"))
    assert answer(dynamic(p), "x", 0).free is True


@pytest.mark.parametrize(
    ("ranges", "guards", "why"),
    [
        (
            {"s0": {"min_val": "2"}},
            [],
            "`range_constraints.s0.min_val` in models/model.json is not",
        ),
        ({"s0": {"max_val": True}}, [], "`range_constraints.s0.max_val` in models/model.json is"),
        ([], [], "`range_constraints` in models/model.json is not an object"),
        ({}, "L['x'].size()[0] == 4", "`guards_code` in models/model.json is not a list"),
        ({}, ["", 7], "`guards_code[1]` in models/model.json is not text"),
    ],
)
def test_conditions_of_another_form_are_an_error(ranges: Any, guards: Any, why: str) -> None:
    p = Exported(ranges=ranges, guards=guards)
    p.output(p.call("aten.relu.default", self=p.input("x", "f32", ["s0", 4]), line=3, text="y"))
    with pytest.raises(NoModel, match=re.escape(why)):
        dynamic(p)


# --- texts --------------------------------------------------------------------------------------

NAMES = {"x[0]", "x[1]", "y_0[2]"}


@pytest.mark.parametrize(
    ("text", "shown", "sizes", "holds"),
    [
        ("L['x'].size()[0] == 4", "x[0] == 4", (4, 0), True),
        ("(L['x'].size()[0] // 8) != 1", "x[0] // 8 != 1", (9, 0), False),
        ("L['x'].shape[0] % 2 == 0", "x[0] % 2 == 0", (3, 0), False),
        ("max(L['x'].size()[0], 2) <= L['x'].size()[1]", "max(x[0], 2) <= x[1]", (1, 2), True),
        ("not L['x'].size()[0] == 1 or L['x'].size()[1] == 3", None, (1, 3), True),
        ("1 <= L['x'].size()[0] < 5", "1 <= x[0] < 5", (5, 0), False),
        ("(-1) + L['x'].size()[0] >= 0", "-1 + x[0] >= 0", (0, 0), False),
        ("7 // L['x'].size()[0] == 1", "7 // x[0] == 1", (0, 0), None),
    ],
)
def test_conditions_are_read(
    text: str, shown: str | None, sizes: tuple[int, int], holds: bool | None
) -> None:
    found = guard_of(text, NAMES)
    assert found is not None
    assert shown is None or found.text == shown
    assert found.holds({"x[0]": sizes[0], "x[1]": sizes[1]}) is holds


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "L['x'].size()[0].__class__", "exec('1')", "", "1 == 1",
        "L['x'].size()[0] ** 9 ** 9 ** 9 == 1", "(lambda: 1)()", "L['z'].size()[0] == 1",
        "L['x'].size()[0] == 'a'", "L['x'].size(0) == 1", "[" * 5000, "-" * 9000 + "1", "a\0b",
        " + ".join(["L['x'].size()[0]"] * 400), "L[f'x'].size()[0] == 1",
        "L['x'].size()[0] in {}",
    ],
)  # fmt: skip
def test_what_is_no_condition_on_sizes_says_nothing(text: Any) -> None:
    assert guard_of(text, NAMES) is None


def test_numbers_in_conditions_stay_small() -> None:
    found = guard_of("*".join(["9999999999"] * 200) + " * L['x'].size()[0] == 1", NAMES)
    assert found is None or found.holds({"x[0]": 9}) is None


NUMBER, SIZE, UNKNOWN = Spelling.NUMBER, Spelling.SIZE, Spelling.UNKNOWN


@pytest.mark.parametrize(
    ("text", "operator", "sizes", "expected"),
    [
        ("h = x.view(4, -1)", "view", (4, -1), (NUMBER, NUMBER)),
        ("h = x.view(b, t, 2, 8)", "view", (2, 9, 2, 8), (UNKNOWN, UNKNOWN, NUMBER, NUMBER)),
        ("x.view((b, 8)).sum()", "view", (2, 8), (UNKNOWN, NUMBER)),
        ("x.reshape(x.shape[0], -1)", "reshape", (4, -1), (SIZE, NUMBER)),
        ("x.reshape(len(x), 3)", "view", (4, 3), (UNKNOWN, UNKNOWN)),
        ("torch.reshape(x, (4, y.size(1)))", "reshape", (4, 5), (NUMBER, SIZE)),
        ("torch.full((10, 10), -1e9).triu(1)", "full", (10, 10), (NUMBER, NUMBER)),
        ("x.view(self.w.shape[0], 3)", "view", (4, 3), (UNKNOWN, NUMBER)),
        ("x.view(x.shape[0] * 2, 3)", "view", (4, 3), (UNKNOWN, NUMBER)),
        ("x.view(*s, 3)", "view", (4, 3), (UNKNOWN, UNKNOWN)),
        ("x.view(4, 3) + y.view(n, 3)", "view", (4, 3), (UNKNOWN, NUMBER)),
        ("x.view(5, 3) + y.view(4, 3)", "view", (4, 3), (NUMBER, NUMBER)),
        ("x.view(", "view", (4, 3), (UNKNOWN, UNKNOWN)),
        ("torch.split(x, [5, 7], dim=1)", "split_with_sizes", (5, 7), (NUMBER, NUMBER)),
        ("F.interpolate(h, size=(16, w))", "upsample_nearest2d", (16, 12), (NUMBER, UNKNOWN)),
        ("review(4, 3)", "view", (4, 3), (UNKNOWN, UNKNOWN)),
        ("((((" * 200, "view", (4, 3), (UNKNOWN, UNKNOWN)),
    ],
)
def test_sizes_in_a_line_of_source(
    text: str, operator: str, sizes: tuple[int, ...], expected: tuple[Spelling, ...]
) -> None:
    assert spelled(text, operator, sizes) == expected


def test_numbers_in_a_line_stand_alone() -> None:
    assert mentions("x[:, :12]", 12)
    assert not mentions("x[:, :112] * 1.12", 12)


# --- the command --------------------------------------------------------------------------------


def test_the_table(tmp_path: Path) -> None:
    masked("s77").save(tmp_path / "m.pt2")
    found = axon(["infer", "m.pt2", "--dynamic"], tmp_path)
    assert found.status == 0
    first, second, *_ = found.stdout.splitlines()
    assert first == "x[0]  free"
    assert second.split("  ", 2)[:2] == ["x[1]", "fixed: 16"]
    assert second.endswith("  model.py:17: a = a + self.mask")
    assert '  dynamic_shapes={"x": {0: x_0}}' in found.stdout


def test_the_table_as_json(tmp_path: Path) -> None:
    masked().save(tmp_path / "m.pt2")
    found = json.loads(axon(["infer", "m.pt2", "--dynamic", "--json"], tmp_path).stdout)
    (first, second, _) = found["dynamic"]["x"]
    assert (first["free"], first["value"], first["places"]) == (None, 2, ["model.py:15"])
    assert (second["free"], second["value"], second["where"]) == (False, 16, [])
    assert second["places"][0] == "model.py:17"
    assert found["dynamic_shapes"] == ""


def test_only_programs_of_pytorch_have_the_table(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text("f = fn (x) { x };\n")
    found = axon(["infer", "a.axon", "--dynamic"], tmp_path)
    assert found.status == 2
    assert "--dynamic is for programs of PyTorch" in found.stderr


def test_what_is_no_archive_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(b"PK\x03\x04 nothing")
    found = axon(["infer", "m.pt2", "--dynamic"], tmp_path)
    assert found.status == 2
    assert "Traceback" not in found.stderr
    with pytest.raises(NoModel):
        open_archive(str(tmp_path / "m.pt2"), "m.pt2")


def test_answers_do_not_hang_on_what_pytorch_wrote_of_other_tensors() -> None:
    p = masked()
    before = dynamic(p).as_json()
    for node in p.graph["nodes"]:
        for output in node["outputs"]:
            p.said(Tensor(output["as_tensor"]["name"]), "f32", [99])
    assert dynamic(p).as_json() == before
