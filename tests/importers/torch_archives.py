"""Small archives as `torch.export.save` writes them, built in a few lines and without PyTorch.

    p = Exported()
    x = p.input("x", "f32", ["n", 4])
    w = p.weight("fc.weight", numpy.zeros((8, 4), "f4"))
    p.output(p.call("aten.linear.default", input=x, weight=w))
    report = infer(p)

What is wrong on purpose is changed in `p.document()` or in `p.entries()`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy

DTYPES = {
    "u8": 1, "i8": 2, "i16": 3, "i32": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "c64": 10,
    "bool": 12, "bf16": 13, "u16": 28, "u32": 34, "u64": 35,
}  # fmt: skip
FILE = "/home/me/model.py"


class Tensor(NamedTuple):
    """A tensor of the program, by its name."""

    name: str


class SymInt(NamedTuple):
    """A size that the program computes, by its name."""

    name: str


class SymBool(NamedTuple):
    """A truth value that the program computes from sizes, by its name."""

    name: str


class SymFloat(NamedTuple):
    """A number that the program computes from sizes, by its name."""

    name: str


class Elem(NamedTuple):
    """An element type as an argument: `Elem("f16")`."""

    name: str


Value = Tensor | SymInt | SymBool | SymFloat
KINDS = {
    Tensor: "as_tensor",
    SymInt: "as_sym_int",
    SymBool: "as_sym_bool",
    SymFloat: "as_sym_float",
}


@dataclass
class Exported:
    """A program in the making. As a `subgraph` it is an argument of `call`."""

    graph: dict[str, Any] = field(
        default_factory=lambda: {
            "inputs": [], "outputs": [], "nodes": [], "tensor_values": {}, "sym_int_values": {},
            "sym_bool_values": {}, "sym_float_values": {}, "custom_obj_values": {},
            "is_single_tensor_return": False,
        }
    )  # fmt: skip
    input_specs: list[Any] = field(default_factory=list)
    output_specs: list[Any] = field(default_factory=list)
    stored: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"weights": {}, "constants": {}}
    )
    storages: dict[str, bytes] = field(default_factory=dict)
    ranges: dict[str, Any] = field(default_factory=dict)
    guards: list[str] = field(default_factory=list)
    level: str = "TRAINING"

    # --- inputs and weights ---

    def input(self, name: str, elem: str = "f32", sizes: Sequence[int | str] = ()) -> Tensor:
        """An input of the user's; a size is a number, a symbol, or an expression as SymPy writes
        it.
        """
        self._enter(name, elem, sizes)
        self.input_specs.append({"user_input": {"arg": {"as_tensor": {"name": name}}}})
        return Tensor(name)

    def size_input(self, name: str) -> SymInt:
        """An input of the user's that is an integer."""
        arg = {"as_sym_int": {"as_name": name}}
        self.graph["inputs"].append(arg)
        self.graph["sym_int_values"][name] = _size(name)
        self.input_specs.append({"user_input": {"arg": arg}})
        return SymInt(name)

    def weight(
        self, own: str, array: Any, kind: str = "parameter", elem: str = "", stored: bool = True
    ) -> Tensor:
        """A parameter, a `buffer` or a `tensor_constant` by its name in the module."""
        prefix = {"parameter": "p_", "buffer": "b_", "tensor_constant": "c_"}[kind]
        name, found = prefix + own.replace(".", "_"), numpy.asarray(array)
        elem = elem or {"b": "bool"}.get(
            found.dtype.kind, f"{found.dtype.kind}{8 * found.itemsize}"
        )
        self._enter(name, elem, found.shape)
        spec: dict[str, Any] = {"arg": {"name": name}, f"{kind}_name": own}
        if kind == "buffer":
            spec["persistent"] = True
        self.input_specs.append({kind: spec})
        if stored:
            where = "constants" if kind == "tensor_constant" else "weights"
            self.store(own, numpy.ascontiguousarray(found).tobytes(), self.meta(name), where)
        return Tensor(name)

    def store(
        self, own: str, data: bytes, meta: dict[str, Any], where: str = "weights", path: str = ""
    ) -> str:
        """Enter the bytes of a storage under a name; `path` is one that is there already."""
        if not path:
            path = f"{'weight' if where == 'weights' else 'tensor'}_{len(self.stored[where])}"
            self.storages[f"data/{where}/{path}"] = data
        self.stored[where][own] = {
            "path_name": path, "is_param": where == "weights", "use_pickle": False,
            "tensor_meta": meta,
        }  # fmt: skip
        return path

    def meta(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.graph["tensor_values"][name]
        return found

    def _enter(self, name: str, elem: str, sizes: Sequence[int | str]) -> None:
        self.graph["inputs"].append({"as_tensor": {"name": name}})
        self.graph["tensor_values"][name] = tensor_meta(elem, sizes)

    # --- nodes ---

    def call(
        self,
        target: str,
        outputs: int | str | Sequence[str] = 1,
        /,
        *,
        line: int = 0,
        text: str = "",
        file: str = FILE,
        module: str = "",
        listed: bool = False,
        arguments: Sequence[Any] = (),
        kind: type[Value] = Tensor,
        **named: Any,
    ) -> Any:
        """A node: its result, or a tuple of several. `target` is without `torch.ops.`; `listed`
        results are one list. `arguments` are those without names, as of higher-order operators.
        """
        operator = target.split(".")[1 if target.count(".") else 0]
        names = self._outputs(operator, outputs)
        found = [kind(name) for name in names]
        given = [{"name": "", "arg": argument(each), "kind": 1} for each in arguments]
        given += [{"name": n, "arg": argument(v), "kind": 1} for n, v in named.items()]
        results = [argument(each) for each in found]
        if listed:
            results = [{"as_tensors": [{"name": name} for name in names]}]
        metadata = {}
        if line:
            metadata["stack_trace"] = f'  File "{file}", line {line}, in forward\n    {text}\n'
        if module:
            metadata["nn_module_stack"] = f"L__self__,,Net;L__self___m,{module},torch.nn.Module"
        full = (
            target
            if target.startswith(("_operator.", "math.", "torch."))
            else f"torch.ops.{target}"
        )
        self.graph["nodes"].append(
            {
                "target": full, "name": names[0] if names else operator, "inputs": given,
                "outputs": results, "metadata": metadata, "is_hop_single_tensor_return": None,
            }
        )  # fmt: skip
        return found[0] if isinstance(outputs, str) or outputs == 1 else tuple(found)

    def _outputs(self, operator: str, outputs: int | str | Sequence[str]) -> list[str]:
        if isinstance(outputs, str):
            return [outputs]
        if not isinstance(outputs, int):
            return list(outputs)
        made = len(self.graph["nodes"])
        ends = [""] if outputs == 1 else [f"_{i}" for i in range(outputs)]
        return [f"{operator}_{made}{end}" for end in ends]

    def said(self, value: Tensor, elem: str, sizes: Sequence[int | str]) -> None:
        """What the exporter wrote of a tensor that the program computes."""
        self.graph["tensor_values"][value.name] = tensor_meta(elem, sizes)

    def output(self, *values: Value) -> None:
        for value in values:
            self.graph["outputs"].append(argument(value))
            self.output_specs.append({"user_output": {"arg": argument(value)}})

    def mutates(self, buffer: str, value: Tensor) -> None:
        """A buffer has another value behind a call; before the other outputs."""
        spec = {"arg": {"name": value.name}, "buffer_name": buffer}
        self.graph["outputs"].append(argument(value))
        self.output_specs.append({"buffer_mutation": spec})

    # --- the archive ---

    def document(self) -> dict[str, Any]:
        """The JSON of the program."""
        return {
            "graph_module": {
                "graph": self.graph,
                "signature": {"input_specs": self.input_specs, "output_specs": self.output_specs},
                "module_call_graph": [],
                "metadata": {},
                "treespec_namedtuple_fields": {},
            },
            "opset_version": {"aten": 10},
            "range_constraints": self.ranges,
            "schema_version": {"major": 8, "minor": 20},
            "verifiers": [self.level],
            "torch_version": "2.13.0+cpu",
            "guards_code": self.guards,
        }

    def entries(self, document: Any = None) -> dict[str, bytes]:
        """The entries of the archive, without the folder that they are in."""
        program = self.document() if document is None else document
        tables = {
            f"data/{where}/model_{where}_config.json": json.dumps({"config": table}).encode()
            for where, table in self.stored.items()
        }
        return {
            **self.storages,
            **tables,
            "models/model.json": json.dumps(program).encode(),
            "archive_format": b"pt2",
            "archive_version": b"0",
            "byteorder": b"little",
            ".data/version": b"6\n",
        }

    def archive(self) -> io.BytesIO:
        return zipped(self.entries())

    def save(self, path: Path | str) -> None:
        Path(path).write_bytes(self.archive().getvalue())


def zipped(
    entries: Mapping[str, bytes], root: str = "m", compression: int = zipfile.ZIP_STORED
) -> io.BytesIO:
    """A zip file of entries, each in the folder `root`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(f"{root}/{name}", data)
    file.seek(0)
    return file


def tensor_meta(elem: str, sizes: Sequence[int | str]) -> dict[str, Any]:
    strides = [1]
    for size in sizes[:0:-1]:
        strides.insert(0, strides[0] * (size if isinstance(size, int) else 1))
    return {
        "dtype": DTYPES[elem],
        "sizes": [_size(each) for each in sizes],
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": each} for each in strides[: len(sizes)]],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def _size(size: int | str) -> dict[str, Any]:
    if isinstance(size, int):
        return {"as_int": size}
    text = size if "(" in size else f"Symbol('{size}', positive=True, integer=True)"
    return {"as_expr": {"expr_str": text, "hint": None}}


def argument(value: Any) -> dict[str, Any]:
    """An argument, or a result, as the archive has it."""
    match value:
        case None:
            return {"as_none": True}
        case Tensor(name):
            return {"as_tensor": {"name": name}}
        case SymInt(name) | SymBool(name) | SymFloat(name):
            return {KINDS[type(value)]: {"as_name": name}}
        case Elem(name):
            return {"as_scalar_type": DTYPES[name]}
        case Exported():
            return {"as_graph": {"name": "graph", "graph": value.graph}}
        case bool():
            return {"as_bool": value}
        case int():
            return {"as_int": value}
        case float():
            special = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
            return {"as_float": special.get(str(value), value)}
        case complex():
            return {"as_complex": {"real": value.real, "imag": value.imag}}
        case str():
            return {"as_string": value}
        case list() | tuple():
            return _list(list(value))
        case _:
            raise TypeError(f"no argument of a program: {value!r}")


def _list(values: list[Any]) -> dict[str, Any]:
    kinds = {type(each) for each in values}
    if SymInt in kinds:
        return {
            "as_sym_ints": [
                {"as_name": v.name} if isinstance(v, SymInt) else {"as_int": v} for v in values
            ]
        }
    if kinds == {Tensor}:
        return {"as_tensors": [{"name": each.name} for each in values]}
    if Tensor in kinds:
        return {"as_optional_tensors": [argument(each) for each in values]}
    name = {bool: "as_bools", int: "as_ints", float: "as_floats", str: "as_strings"}
    return {name[kinds.pop()] if len(kinds) == 1 else "as_ints": values}


def subgraph(inputs: Sequence[Value], exported: Exported | None = None) -> Exported:
    """A graph that is an argument: its inputs, by name; `output` gives its outputs."""
    made = exported or Exported()
    made.graph["inputs"] = [argument(each) for each in inputs]
    return made


def infer(exported: Exported, forget: bool = False) -> Any:
    """The report on a program."""
    from axon.importers.formats import read_archive

    return read_archive(exported.archive(), "model.pt2").report(forget)


def types(exported: Exported) -> list[str]:
    """The types that are inferred for the outputs."""
    report = infer(exported)
    assert not report.diagnostics, [each.message for each in report.diagnostics]
    assert not report.unsupported, report.unsupported
    found = [each["arg"] for spec in exported.output_specs for each in spec.values()]
    names = [next(iter(arg.values())) for arg in found]
    names = [
        name if isinstance(name, str) else name.get("name") or name["as_name"] for name in names
    ]
    return [text(report.tensors[name]) for name in names]


def text(tensor: Any) -> str:
    """A tensor of a report: `f32 [n,4]`."""
    sizes = "?" if tensor.shape is None else f"[{','.join(map(str, tensor.shape))}]"
    return f"{tensor.dtype} {sizes}"


def run(exported: Exported, *arrays: Any) -> list[Any]:
    """What the program that it becomes gives for these arrays, on NumPy."""
    from axon.importers.formats import read_archive
    from axon.run.models import ModelProgram

    program = ModelProgram(read_archive(exported.archive(), "model.pt2"))
    made = program.model(*arrays)
    return [numpy.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]


class Case(NamedTuple):
    """An operator on a tensor `f32 [n,m]`, and what it must give: the types, and the values by
    NumPy.
    """

    name: str
    build: Any
    types: list[str]
    values: Any


def checked(case: Case, shapes: Sequence[tuple[int, int]] = ((4, 6), (5, 7), (3, 4))) -> None:
    """The types and the values of a case, for tensors of some shapes."""
    p = Exported()
    made = case.build(p, p.input("x", "f32", ["n", "m"]))
    p.output(*(made if isinstance(made, list) else [made]))
    assert types(p) == case.types
    if case.values is None:
        return
    for shape in shapes:
        count = shape[0] * shape[1]
        x = ((numpy.arange(count) * 5 % 11 - 4) / 2).astype("f4").reshape(shape)
        expected = case.values(x)
        expected = expected if isinstance(expected, list | tuple) else [expected]
        found = run(p, x)
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
            assert mine.shape == numpy.shape(theirs)
