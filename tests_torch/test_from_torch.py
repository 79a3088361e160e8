"""`axon.from_torch` on modules and on what they export, and its values beside PyTorch's own."""

from __future__ import annotations

import io
import runpy
from pathlib import Path
from typing import Any

import pytest

import axon
from axon.importers.torch.dynamic.module import called_lines

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional

pytestmark = [  # what PyTorch says of itself
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),
    pytest.mark.filterwarnings("ignore:No complete tensor found:UserWarning"),
]
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "torch"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 6)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x: Any, *, shift: Any = None) -> Any:
        y = self.head(x) * self.scale
        if shift is not None:
            y = y + shift
        return y.view(x.shape[0], -1, 2)


def close(given: Any, expected: Any) -> None:
    torch.testing.assert_close(torch.as_tensor(given), expected, rtol=1e-5, atol=1e-5)


def example(name: str, kind: str) -> Any:
    torch.manual_seed(0)
    return runpy.run_path(str(EXAMPLES / name))[kind]().eval()


def test_a_module_is_exported_with_open_sizes() -> None:
    module, x = Net(), torch.rand(3, 4)
    net = axon.from_torch(module, x)
    assert net.report.ok and not net.report.unsupported
    for rows in (1, 3, 7):
        given = torch.rand(rows, 4)
        close(net.model(given), module(given).detach())


def test_arguments_by_name() -> None:
    module, x, shift = Net(), torch.rand(3, 4), torch.rand(6)
    net = axon.from_torch(module, x, shift=shift)
    close(net.model(x, shift), module(x, shift=shift).detach())
    assert "6" in net.report.signature


def test_example_inputs_are_not_marked() -> None:
    x = torch.rand(3, 4)
    axon.from_torch(Net(), x)
    assert not [name for name in vars(x) if "dynamo" in name]


def test_inputs_that_are_nested() -> None:
    class Pair(nn.Module):
        def forward(self, pair: Any, named: Any, *more: Any) -> Any:
            return pair[0] + pair[1] * named["a"] + more[0]

    x = [torch.rand(2, 3) for _ in range(4)]
    net = axon.from_torch(Pair(), (x[0], x[1]), {"a": x[2]}, x[3])
    close(net.model(*x), x[0] + x[1] * x[2] + x[3])
    y = [torch.rand(5, 4) for _ in range(4)]
    close(net.model(*y), y[0] + y[1] * y[2] + y[3])


def test_a_module_without_inputs() -> None:
    class Constant(nn.Module):
        def forward(self) -> Any:
            return torch.ones(2, 3)

    assert axon.from_torch(Constant()).report.ok


def test_an_exported_program() -> None:
    module, x = Net(), torch.rand(3, 4)
    program = torch.export.export(module, (x,))
    for each in (program, program.run_decompositions()):
        net = axon.from_torch(each)
        assert net.report.signature == "f32 [3,4] -> f32 [3,3,2]"
        close(net.model(x), module(x).detach())


def test_the_file_that_it_saves(tmp_path: Path) -> None:
    module, x = Net(), torch.rand(3, 4)
    torch.export.save(torch.export.export(module, (x,)), str(tmp_path / "net.pt2"))
    close(axon.from_torch(tmp_path / "net.pt2").model(x), module(x).detach())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_weights_of_other_types(dtype: str) -> None:
    kind = getattr(torch, dtype)
    linear, x = nn.Linear(4, 3).to(kind), torch.rand(2, 4).to(kind)
    array = x.double().numpy().astype("float16" if dtype == "bfloat16" else dtype)
    if dtype == "bfloat16":
        array = array.astype(pytest.importorskip("ml_dtypes").bfloat16)
    found = axon.from_torch(linear, x).model(array)
    assert found.dtype == array.dtype
    expected = linear(x).detach().double()
    torch.testing.assert_close(
        torch.as_tensor(found.astype("float64")), expected, rtol=2e-2, atol=2e-2
    )


def test_tied_and_strided_weights() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(10, 4)
            self.head = nn.Linear(4, 10, bias=False)
            self.head.weight = self.words.weight
            self.register_buffer("turned", torch.rand(4, 3).t())
            self.register_buffer("part", torch.rand(5, 4)[1::2, 1:])

        def forward(self, ids: Any) -> Any:
            x = self.words(ids)
            return self.head(x), x @ self.turned.t(), self.part

    module, ids = Tied(), torch.tensor([[1, 2, 9]])
    for given, expected in zip(axon.from_torch(module, ids).model(ids), module(ids), strict=True):
        close(given, expected.detach())


def test_messages_have_the_lines_of_this_file() -> None:
    class Strange(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.special.airy_ai(x)

    report = axon.from_torch(Strange(), torch.rand(3)).report
    (found,) = [d for d in report.diagnostics if d.code == "AX503"]
    assert found.span is not None and found.span.source.name == __file__
    assert found.span.text == "return torch.special.airy_ai(x)"


def test_what_cannot_be_exported() -> None:
    class Others(nn.Module):
        def forward(self, **others: Any) -> Any:
            return others["x"]

    with pytest.raises(axon.ProgramError, match=r"no size open for `\*\*others` of Others"):
        axon.from_torch(Others(), x=torch.rand(3))

    class Branch(nn.Module):
        def forward(self, x: Any) -> Any:
            return x if x.sum() > 0 else -x

    with pytest.raises(axon.ProgramError, match=r"torch\.export cannot export Branch: "):
        axon.from_torch(Branch(), torch.rand(3))
    with pytest.raises(axon.ProgramError, match="does not take these example inputs"):
        axon.from_torch(Net())
    with pytest.raises(axon.ProgramError, match=r"takes a \.pt2 file, an ExportedProgram, or an"):
        axon.from_torch([1, 2])
    program = torch.export.export(Net(), (torch.rand(3, 4),))
    with pytest.raises(axon.ProgramError, match="takes no example inputs"):
        axon.from_torch(program, torch.rand(3, 4))


@pytest.mark.parametrize(
    ("file", "kind", "name"),
    [("encoder.py", "Encoder", "encoder.pt2"), ("classifier.py", "Classifier", "classifier.pt2")],
)
def test_the_examples(file: str, kind: str, name: str) -> None:
    module = example(file, kind)
    ids, image = torch.randint(50, (3, 5)), torch.rand(4, 3, 8, 8)
    given = ids if kind == "Encoder" else image
    expected = module(given).detach()
    close(axon.from_torch(EXAMPLES / name).model(given), expected)
    close(axon.from_torch(module, given).model(given), expected)


def test_the_archives_that_this_version_writes_are_read() -> None:
    """Both levels of an export, from memory."""
    program = torch.export.export(Net(), (torch.rand(3, 4),))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    from axon.importers.formats import read_archive

    assert read_archive(buffer, "net").report().ok


@pytest.mark.parametrize("where", ["module", "ours"])
def test_only_the_errors_of_a_module_are_passed_over(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the lines of its operations are found; a mistake of ours is an internal error."""

    class Module(nn.Module):
        def forward(self, x: Any) -> Any:
            if where == "module":
                raise TypeError("a mistake")
            return x + 1

    def mistaken(*_: object) -> object:
        raise TypeError("a mistake")

    if where == "module":
        assert called_lines(Module(), (torch.zeros(2),), {}) == {}
        return
    monkeypatch.setattr("axon.importers.torch.dynamic.module.user_lines", mistaken)
    with pytest.raises(TypeError, match="a mistake"):
        called_lines(Module(), (torch.zeros(2),), {})
