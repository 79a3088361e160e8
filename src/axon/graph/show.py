"""A graph as text: one node a line, with its type."""

from __future__ import annotations

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Check,
    Extern,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.syntax.tokens import INFIX_LEVEL
from axon.types.show import Names, Show
from axon.types.type import Record, type_variables

WIDTH = 48


def show_graph(graph: Graph) -> str:
    """The graph, and the graphs that it calls before it, each once."""
    order: dict[Graph, None] = {}
    _calls(graph, order)
    return "\n\n".join(_Writer(each).text() for each in order)


def _calls(graph: Graph, order: dict[Graph, None]) -> None:
    if graph in order:
        return
    todo = list(graph.nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, Call):
            _calls(node.graph, order)
        elif isinstance(node, Apply):
            todo.extend(n for o in node.operands if isinstance(o, Function) for n in o.nodes)
    order[graph] = None


class _Writer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = Names()
        self.given: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.lines: list[str] = []

    def text(self) -> str:
        graph = self.graph
        for value in graph.params:
            self.names.reserve(type_variables(value.type))
        params = ", ".join(f"{self.name(v)} : {self.type(v)}" for v in graph.params)
        self.lines.append(f"{graph.name}({params}) {{")
        for guard in graph.requires:
            condition = Show(self.names).relation(guard.relation)
            self.lines.append(f"  require {condition}")
        for node in graph.nodes:
            self.node(node, "  ")
        self.lines.append(f"  {self.operand(graph.result, '  ')}")
        self.lines.append("}")
        return "\n".join(self.lines)

    def type(self, value: Value) -> str:
        return Show(self.names).type(value.type)

    def name(self, value: Value) -> str:
        known = self.given.get(value)
        if known is None:
            known = value.name
            number = len(self.given)
            while not known or known in self.taken:
                number += 1
                known = f"{value.name}_{number}" if value.name else f"v{number}"
            self.given[value] = known
            self.taken.add(known)
        return known

    def node(self, node: Node, indent: str) -> None:
        match node:
            case Apply(result, operator, operands, attributes):
                text = self.application(operator.name, operands, indent)
                shown = {k: v for k, v in attributes.items() if v != operator.defaults.get(k)}
                if shown:
                    more = ", ".join(f"{k}={self.attribute(v)}" for k, v in shown.items())
                    text = f"{text[:-1]}{', ' if operands else ''}{more})"
            case Call(result, graph, operands, _):
                text = "call " + self.application(graph.name, operands, indent)
            case Extern(result, name, operands, _):
                text = "op " + self.application(name, operands, indent)
            case Item(result, whole, index):
                fields = whole.type.names if isinstance(whole.type, Record) else ()
                text = f"{self.name(whole)}.{fields[index] if fields else index}"
            case Alias(result, operand):
                text = self.operand(operand, indent)
            case Measure(source, shape, _):
                sizes = Show(self.names, named=True).shape(shape)
                self.lines.append(f"{indent}let {sizes} = {self.operand(source, indent)}")
                return
            case Check(relation, _, _):
                self.lines.append(f"{indent}check {Show(self.names, named=True).check(relation)}")
                return
        line = f"{indent}{self.name(result)} = {text}"
        last = line.rpartition("\n")[2]
        self.lines.append(f"{line}{' ' * max(1, WIDTH - len(last))}: {self.type(result)}")

    def application(self, name: str, operands: tuple[Operand, ...], indent: str) -> str:
        parts = [self.operand(o, indent) for o in operands]
        if name in INFIX_LEVEL and len(parts) == 2:
            return f"({parts[0]} {name} {parts[1]})"
        return f"{name}({', '.join(parts)})"

    def attribute(self, value: object) -> str:
        match value:
            case SizeOf(dim, _):
                return Show(self.names).dim(dim)
            case tuple():
                return f"[{','.join(self.attribute(item) for item in value)}]"
            case bool():
                return str(value).lower()
            case _:
                return str(value)

    def operand(self, operand: Operand, indent: str) -> str:
        match operand:
            case Value():
                return self.name(operand)
            case Number(value, _):
                return str(value).lower()
            case SizeOf(dim, _):
                return Show(self.names, named=True).dim(dim)
            case ShapeOf(shape, _):
                return Show(self.names, named=True).shape(shape)
            case Bundle(items):
                return f"({', '.join(self.operand(item, indent) for item in items)})"
            case OperatorFunction(operator):
                return operator.name
            case Function():
                return self.function(operand, indent)

    def function(self, function: Function, indent: str) -> str:
        params = ", ".join(f"{self.name(p)} : {self.type(p)}" for p in function.params)
        lines, self.lines = self.lines, []
        for node in function.nodes:
            self.node(node, indent + "  ")
        self.lines.append(f"{indent}  {self.operand(function.result, indent + '  ')}")
        lines, self.lines = self.lines, lines
        body = "\n".join(lines)
        return f"fn ({params}) {{\n{body}\n{indent}}}"
