"""The session itself, without a terminal: values, functions, changes, mistakes."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from axon.repl.interpreter import Interpreter
from axon.repl.names import Known
from axon.repl.programs import Compiled
from tests.repl.sessions import say, session

# --- values ----------------------------------------------------------------------------------


def test_bindings_and_expressions() -> None:
    made = Interpreter()
    assert say(made, "x = zeros([2,3]);") == "x : f32 [2,3]"
    assert say(made, "x + 1.5") == "f32 [2,3]\n[[1.5 1.5 1.5]\n [1.5 1.5 1.5]]"
    assert say(made, "dense = fn (w) { x @ w }") == "dense : (w : f32 a@[3,b]) -> f32 a@[2,b]"
    assert say(made, "dense") == "(w : f32 a@[3,b]) -> f32 a@[2,b]"
    assert say(made, "dense(ones([3,1]))") == "f32 [2,1]\n[[0.]\n [0.]]"


@pytest.mark.parametrize("line", ["help", "help()", "?", "exit", "quit()"])
def test_commands_as_other_sessions_call_them(line: str) -> None:
    made = Interpreter()
    said = say(made, line)
    assert said == "(quit)" if line[0] in "eq" else ":type EXPR" in said
    name = line.removesuffix("()")
    if name.isalpha():  # a name of one's own is that
        assert say(made, f"{name} = 2.5;") == f"{name} : f32"
        assert say(made, name) == "f32\n2.5"


def test_a_long_array_is_abbreviated() -> None:
    said = say(session("x = ones([1000]);"), "x")
    assert said.startswith("f32 [1000]\n[1. 1. 1. ...") and len(said) < 60


@pytest.mark.parametrize(
    ("binding", "line", "use", "value"),
    [
        ("n = 3", "n : i64", "zeros([n])", "f32 [3]\n[0. 0. 0.]"),
        ("n = 2 - 5", "n : i64", "n", "i64\n-3"),
        ("n = 3 / 2", "n : i64", "ones([2]) * n", "f32 [2]\n[1.5 1.5]"),
        ("s = [2,1]", "s : shape [2,1]", "ones(s)", "f32 [2,1]\n[[1.]\n [1.]]"),
        ("e = 0.5", "e : f32", "cast(ones([1]), to=f64) * e", "f64 [1]\n[0.5]"),
        ("t = (2, [1.0])", "t : (i64, f32 [1])", "t", "(i64, f32 [1])\n2\n[1.]"),
        (
            "r = { w = [1.0], n = 2, in = { b = true } }",
            "r : { in : { b : bool }, n : i64, w : f32 [1] }",
            "r.in.b, zeros([r.n])",
            "(bool, f32 [2])\nTrue\n[0. 0.]",
        ),
        ("k = nonzero([0, 1, 1])", "k : i64 [2]", "reshape(k, [2,1])[0, 0]", "i64\n1"),
        (
            "v = map(fn (k) { nonzero(ones([3]) > k) }, [0.0, 2.0])",
            "v : i64 [2,*]",
            "map(fn (row) { sum(row) }, v)",
            "i64 [2]\n[3 0]",
        ),
        ("f, n = (fn (a) { a + a }, 4)", "f : t a -> t a\nn : i64", "f(n)", "i64\n8"),
        (
            "(a, _), { w } = ((1, 2), { w = [3.0] })",
            "a : i64\nw : f32 [1]",
            "a * w",
            "f32 [1]\n[3.]",
        ),
        ("g = max", "g : (t a, t a) -> t a", "g(1, 2)", "i64\n2"),
        ("z = uniform(random_key(3), [2])", "z : f32 [2]", "z == z", "bool [2]\n[ True  True]"),
    ],
)
def test_every_kind_of_value(binding: str, line: str, use: str, value: str) -> None:
    made = Interpreter()
    assert say(made, binding) == line
    assert say(made, use) == value


def test_a_value_is_computed_once() -> None:
    made = session("x = ones([4]);", "y = x * 2.0;", "f = fn (a) { a + y };")
    (held,) = made.state.table.known["y"].held or ()
    assert held.value.tolist() == [2.0] * 4
    names = {each.key for each in made.state.table.needed(["f"])}
    assert names == {"f", "y"}  # and not x, from which y was computed


def test_a_ragged_value_keeps_which_sizes_vary() -> None:
    made = session(
        "v = map(fn (k) { nonzero(ones([2]) > k) }, [0.0, 0.5]);",  # rows of equal size, by chance
        "total = fn (x : i64 [n,*]) { map(fn (r) { sum(r) }, x) };",
    )
    assert say(made, "v").startswith("i64 [2,*]")
    assert say(made, "total(v)") == "i64 [2]\n[1 1]"


def test_jax_computes_the_same() -> None:
    pytest.importorskip("jax")
    made = session("x = ones([2,3]);", ":backend jax", "y = x + 1.0;")
    assert say(made, ":backend") == "jax"
    assert say(made, "y @ transpose(x)") == "f32 [2,2]\n[[6. 6.]\n [6. 6.]]"


# --- names that change -----------------------------------------------------------------------


def test_what_uses_a_name_is_checked_again() -> None:
    made = session("x = ones([2,3]);", "f = fn (w) { matmul(x, w) };", "g = fn (w) { f(w) };")
    assert say(made, "x = ones([2,5]);") == (
        "x : f32 [2,5]\n"
        "with this `x`:\n"
        "  f : (w : f32 [5,a]) -> f32 [2,a]\n"
        "  g : (w : f32 [5,a]) -> f32 [2,a]"
    )
    said = say(made, "x = ones([2]);")
    assert "with this `x`, `f` and `g` have errors" in said
    assert "--> session:2:21" in said
    assert "error[AX102]" in say(made, "g(ones([5,1]))")
    assert "g : (w : f32 [3,a]) -> f32 [2,a]" in say(made, "x = ones([2,3]);")
    assert say(made, "g(ones([3,1]))").startswith("f32 [2,1]")


def test_a_value_keeps_its_value() -> None:
    made = session("x = 2.0;", "y = x * 3.0;")
    assert say(made, "x = 5.0;") == "x : f32\n`y` keeps its value, computed before"
    assert say(made, "y") == "f32\n6."
    assert say(made, "x = x + 1.0") == "x : f32\n`y` keeps its value, computed before"
    assert say(made, "x = x + 1.0").startswith("x : f32")
    assert say(made, "x") == "f32\n7."


def test_old_values_are_let_go() -> None:
    made = session("x = ones([3]);", *["x = x + 1.0;"] * 5)
    known = made.state.table.known["x"]
    assert not any(isinstance(each, Known) for each in known.basis.values())
    assert len(made.state.table.known) == 1


def test_a_function_cannot_come_to_use_itself() -> None:
    made = session("f = fn (x) { x };", "g = fn (x) { f(x) };")
    assert "would use itself" in say(made, "f = fn (x) { f(x) }")
    assert "it uses `g`, which uses `f`" in say(made, "f = fn (x) { g(x) }")
    assert say(made, "f(3)") == "i64\n3"


def test_a_name_of_an_operator_may_be_taken_and_given_back() -> None:
    made = session("f = fn (x) { softmax(x) };")
    assert "with this `softmax`:\n  f : (x : f32 [a])" in say(
        made, "softmax = fn (x : f32 [n]) { x }"
    )
    said = say(made, ":forget softmax")
    assert said.startswith("forgotten: softmax") and "f : (x : t a@[b])" in said


# --- mistakes --------------------------------------------------------------------------------


def test_a_mistake_loses_nothing() -> None:
    made = session("x = 1;")
    assert "error[AX201]" in say(made, "y = nope + x")
    assert "error[AX002]" in say(made, "y = (")
    said = say(made, "a = 1; b = nope; c = 2")
    assert said.startswith("a : i64") and "error[AX201]" in said
    assert say(made, ":names") == "x : i64\na : i64"


def test_failures_of_a_run() -> None:
    made = session("x = 1;")
    assert "more than 128 TiB" in say(made, "y = ones([100000000, 100000000])")
    with mock.patch.object(Compiled, "run", side_effect=MemoryError):
        assert say(made, "y = x + x") == "there is not enough memory"
    with (
        mock.patch.object(Compiled, "run", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        say(made, "y = x + x")
    assert say(made, ":names") == "x : i64"


def test_a_message_has_the_number_of_the_line() -> None:
    made = session("x = 1;", "y = 2;")
    assert "--> session:3:1" in say(made, "nope")
    assert "--> session:5:3" in say(made, "f = fn (x) {\n  nope\n}")


def test_what_is_only_declared_is_checked_and_not_run() -> None:
    made = session("op twice : t s -> t s;", "f = fn (x) { twice(x) + 1.0 };")
    assert say(made, "f") == "(x : t a) -> t a"
    assert "`twice` is only declared" in say(made, "f(2.0)")


# --- commands --------------------------------------------------------------------------------


def test_questions() -> None:
    made = session("f = fn (x, w, b) { x @ w + b };", "x = ones([2]);")
    assert say(made, ":type nonzero(x)") == "i64 [?a]"
    assert say(made, ":plain f") == "f : (t [b,c], t [c,e], t [e]) -> t [b,e]"
    assert say(made, ":explain f").startswith("f\n\nconstraints\n")
    assert say(made, ":explain AX101").startswith("# AX101")
    assert say(made, ":why f w[0]").startswith("w[0] is ")
    assert "best of" in say(made, ":time x + x")
    assert "`x : f32 [2]` is a value" in say(made, ":plain x")
    assert "a size such as" in say(made, ":why f")
    assert "nonzero" in say(made, ":ops elements not zero")
    assert say(made, ":ops matmul").startswith("matmul : ")
    assert say(made, ":quit") == "(quit)"
    assert ":backend [numpy|jax]" in say(made, ":help")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (":nmes", "there is no command :nmes; did you mean :names"),
        (":t x", ":t may be :type or :time"),
        (":plain", ":plain is used like this: :plain NAME"),
        (":names x", ":names takes nothing after it"),
        (":plain nope", "`nope` is not defined here"),
        (":backend torch", "there is no backend 'torch'"),
        (":load nowhere.axon", "nowhere.axon: there is no such file"),
        (":reload", "no file was loaded"),
        (":forget nope", "`nope` is not defined here"),
        (":save somewhere.axon", "nothing is defined yet"),
        (":type (", "error[AX002]"),
        (":", "there is no command :"),
    ],
)
def test_commands_that_cannot_be_done(line: str, said: str) -> None:
    assert said in say(Interpreter(), line)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "base.axon").write_text("scale = fn (x) { x * 2.0 };\n", encoding="utf-8")
    file = tmp_path / "net.axon"
    file.write_text(
        'import "base.axon" as base;\n'
        "type P(d) = { w : f32 [d,d] };\n"
        "n = 2;\nw = ones([n,n]);\n"
        "apply = fn (p : P(n), x) { base.scale(matmul(x, p.w)) };\n"
        "apply({ w = w }, w)\n",
        encoding="utf-8",
    )
    made = Interpreter()
    said = say(made, f":load {file}")
    assert "apply : (p : { w : f32 [n,n] }, x : f32 [a,n]) -> f32 [a,n]" in said
    assert said.endswith("f32 [2,2]\n[[4. 4.]\n [4. 4.]]")
    assert say(made, "f = fn (x) { apply({ w = w }, x) }").startswith("f : ")
    file.write_text(file.read_text(encoding="utf-8").replace("n = 2", "n = 3"), encoding="utf-8")
    said = say(made, ":reload")
    assert "w : f32 [3,3]" in said and "f : (x : f32 [a,3]) -> f32 [a,3]" in said
    file.write_text("broken = fn (x) { nope };\n", encoding="utf-8")
    assert "error[AX201]" in say(made, ":reload")
    assert say(made, "f(ones([1,3]))").startswith("f32 [1,3]")


def test_a_saved_session_is_the_same_program(tmp_path: Path) -> None:
    (tmp_path / "base.axon").write_text("scale = fn (x) { x * 2.0 };\n", encoding="utf-8")
    (tmp_path / "net.axon").write_text('import "base.axon" as base;\n', encoding="utf-8")
    made = Interpreter()
    say(made, f":load {tmp_path / 'net.axon'}")
    for line in (
        "h = fn (y) { base.scale(y) @ x };",
        "x = ones([2,2]);",
        "h = fn (y) { base.scale(y) @ x };",
        "a, b = 1, ones([2]);",
        "c = b;",
        "b = zeros([1]);",
    ):
        say(made, line)
    path = tmp_path / "out.axon"
    said = say(made, f":save {path}")
    assert f"{path}: 5 definitions" in said
    assert "left out" in said and said.endswith(": c")
    other = Interpreter()
    assert "error" not in say(other, f":load {path}")
    assert say(other, "h(x)") == say(made, "h(x)")
    assert "definitions" in say(made, f":save {path}")  # its own file may be written again
    assert "is there already" in say(other, f":save {tmp_path / 'base.axon'}")
