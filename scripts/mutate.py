"""Break each law on purpose, one at a time, and see whether the tests notice.

    python scripts/mutate.py [--jobs N] [--only WORD] [--quick] [--list]

A mutation is a piece of text of the solver, of the normal forms, of the rules for records,
structures, parameters, subscripts and branches, or of what simplest forms, plain readings and
warnings are made by, and what stands there instead.
Each is made in a copy of the repository. The tests are run on it until one fails: first with few
examples, then, if it is still alive, with as many as `make test` has. The status is 1 if a mutant
lives that is not in `EQUIVALENT`, where it is said why no test can see it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = (
    "solver/*.py",
    "types/poly.py",
    "types/floordiv.py",
    "types/extremum.py",
    "types/sign.py",
    "inference/constructs/records.py",
    "inference/constructs/structures.py",
    "inference/constructs/parameters.py",
    "inference/unify.py",
    "inference/constructs/subscripts.py",
    "inference/constructs/branches.py",
    "inference/constructs/branch_types.py",
    "inference/generalise/simplest.py",
    "inference/generalise/implied.py",
    "inference/unused.py",
    "inference/report/plain.py",
    "inference/report/plain_ranks.py",
    "inference/report/plain_sizes.py",
    "inference/report/forced.py",
    "plain.py",
    "graph/structures.py",
)
SOLVER = [
    "tests/properties/test_laws.py",
    "tests/unit/test_elimination.py",
    "tests/unit/test_facts.py",
    "tests/unit/test_ends.py",
    "tests/unit/test_sums.py",
    "tests/unit/test_words.py",
    "tests/properties/test_solver_ends.py",
    "tests/properties/test_solver.py",
    "tests/properties/test_reasons.py",
    "tests/oracle",
    "tests/test_golden.py",
]
STRUCTURES = [
    "tests/unit/test_hostile_structures.py",
    "tests/run/test_records.py",
    "tests/test_golden.py",
    "tests/properties/test_programs.py",
    "tests/properties/test_structured.py",
    "tests/properties/test_running.py",
    "tests/run/test_if.py",
    "tests/run/test_subscripts.py",
    "tests/run/test_named_arguments.py",
]
SHOWN = [
    "tests/unit/test_strict.py",
    "tests/unit/test_plain.py",
    "tests/properties/test_simplest.py",
    "tests/properties/test_plain.py",
    "tests/test_golden.py",
]
TYPES = ["tests/properties/test_dims.py", *SOLVER]
NEAR = {"types": TYPES, "solver": SOLVER, "inference": STRUCTURES, "graph": STRUCTURES}
NEAR |= dict.fromkeys(("simplest", "implied", "unused", "plain", "report"), SHOWN)
"""The tests of a module, by its name or by that of its package."""
REST = ["tests/properties/test_programs.py", "tests/unit", "tests/test_rules_fire.py"]
LIMIT_S = 180


@dataclass(frozen=True, slots=True)
class Mutation:
    law: str
    old: str
    new: str


M = Mutation
MUTATIONS = (
    # --- polynomials
    M("equal terms add up", "terms[mono] = terms.get(mono, 0) + factor * coefficient",
      "terms[mono] = factor * coefficient"),
    M("a term with coefficient 0 goes",
      "    if 0 in terms.values():\n        terms = {m: c for m, c in terms.items() if c}\n", ""),
    M("1*n is n", "if coefficient == 1 and len(mono) == 1 and isinstance(mono[0], DimVar):",
      "if False:"),
    M("subtraction", "return combine(left, -1, right)", "return combine(left, 1, right)"),
    M("products of sums", "terms[mono] = terms.get(mono, 0) + c1 * c2", "terms[mono] = c1 * c2"),
    M("products commute", "return tuple(sorted(left + right, key=_atom_order))",
      "return left + right"),
    M("scaling", "return from_terms({m: factor * c for m, c in terms_of(dim).items()})",
      "return from_terms({m: factor * c if m else c for m, c in terms_of(dim).items()})"),
    M("large products are vast", "or max(_bits(left), _bits(right)) > MOST_BITS", ""),
    M("a common factor divides every term", "        shared = kept\n", ""),
    M("division of monomials", "        rest.remove(atom)\n    return tuple(rest)",
      "    return tuple(rest)"),
    # --- floor division
    M("(d*p + r)/d = p + r/d", "quotient, remainder = divmod(coefficient, divisor)",
      "quotient, remainder = 0, coefficient"),
    M("the whole part adds up", "whole[mono] = whole.get(mono, 0) + quotient",
      "whole[mono] = quotient"),
    M("(g*p + c)/(g*d) = (p + c/g)/d", "        if common > 1:\n            rest = {m: c // common",
      "        if False:\n            rest = {m: c // common"),
    M("the constant is divided too",
      "            constant //= common\n            divisor //= common",
      "            divisor //= common"),
    M("(p/a + q)/d = (p + a*q)/(a*d)", "if len(inner) != 1 or inner[0].args[1] == 0:",
      "if True:"),
    M("the inner divisor multiplies", "        divisor *= bottom\n", ""),
    M("the rest is scaled by the inner divisor",
      "numerator = combine(top, bottom, from_terms(rest))",
      "numerator = combine(top, 1, from_terms(rest))"),
    M("(d*p)/d = p for a symbolic d",
      "quotient = divide(mono, lead) if coefficient % unit == 0 else None", "quotient = None"),
    M("a coefficient must divide",
      "quotient = divide(mono, lead) if coefficient % unit == 0 else None",
      "quotient = divide(mono, lead)"),
    M("(k*d)/d = k for a sum d", "if factor and combine(numerator, -factor, divisor) == 0:",
      "if False:"),
    M("(h*p)/(h*q) = p/q", "    if shared:\n        # (h*p)/(h*q)",
      "    if False:\n        # (h*p)/(h*q)"),
    M("(p/a)/b = p/(a*b)", "floordiv(inner_top, mul(inner_bottom, bottom_dim))",
      "floordiv(inner_top, bottom_dim)"),
    M("mod", "return sub(left, mul(right, floordiv(left, right)))",
      "return sub(left, floordiv(left, right))"),
    # --- min and max
    M("min is not max", "return _extremum(Min, dims)", "return _extremum(Max, dims)"),
    M("nested extrema are flattened", "if inner is None or terms_of(dim)[inner] != 1 or",
      "if True or"),
    M("a nested extremum with a factor stays",
      "if inner is None or terms_of(dim)[inner] != 1 or", "if inner is None or"),
    M("what is covered goes", "        if any(_covers(kind, other, part) for other in kept):\n"
      "            continue\n", ""),
    M("what covers replaces", "kept = [other for other in kept if not _covers(kind, part, other)]",
      "pass"),
    M("the loser of a minimum is larger",
      "is_nonnegative(sub(loser, winner) if kind is Min else sub(winner, loser))",
      "is_nonnegative(sub(winner, loser) if kind is Min else sub(loser, winner))"),
    M("a common offset is pulled out", "    return min(coefficients)\n", "    return 0\n"),
    M("a nested extremum is not made anew",
      "isinstance(mono[0], kind) and len(set(coefficients)) > 1:", "False:"),
    M("the parts have one order", "args = sorted((sub(p, offset) for p in kept), key=_dim_order)",
      "args = [sub(p, offset) for p in kept]"),
    # --- signs
    M("a sum of sizes is not negative",
      "if min(dim.terms.values()) > 0 and all(map(_atom_nonnegative, compound)):",
      "if min(dim.terms.values()) > 0:"),
    M("p/d >= (p-d+1)/d", "bound = top if coefficient < 0 else sub(top, bottom - 1)",
      "bound = top"),
    M("p/d <= p/d", "bound = top if coefficient < 0 else sub(top, bottom - 1)",
      "bound = sub(top, bottom - 1)"),
    M("-min(p,q) >= -p", "case Min(args=parts) if coefficient < 0:",
      "case Min(args=parts) if coefficient > 0:"),
    M("max(p,q) >= p", "case Max(args=parts) if coefficient > 0:",
      "case Max(args=parts) if coefficient < 0:"),
    M("a minimum of sizes is a size", "return all(is_nonnegative(p, 1) for p in parts)",
      "return any(is_nonnegative(p, 1) for p in parts)"),
    M("never 1 modulo something", "return (constant - 1) % common != 0 or",
      "return constant % common != 0 or"),
    M("at least 2 is not 1", "is_nonnegative(sub(dim, 2))", "is_nonnegative(sub(dim, 1))"),
    # --- dimension equations
    M("constants that differ", '        store.conflict("basic", constraint, "size", left, right)\n',
      ""),
    M("gcd test", "    if constant % common:\n        store.conflict(",
      "    if False:\n        store.conflict("),
    M("divide by the gcd", "        terms = {m: c // common for m, c in terms.items()}\n"
      "        constant //= common", "        terms = {m: c // common for m, c in terms.items()}"),
    M("a size bound to a negative number", "if isinstance(value, int) and value < 0:",
      "if False:"),
    M("the pivot's value", "rest[()] = -coefficient * constant\n        value =",
      "rest[()] = coefficient * constant\n        value ="),
    M("the pivot occurs nowhere else", "or dims.occurs_elsewhere(var, mono, terms):", "or False:"),
    M("a value that may be negative is checked",
      "            if not dims.is_nonnegative(value):\n                self.imply(",
      "            if False:\n                self.imply("),
    # --- sums
    M("sums of sizes below zero", "    if total < 0:", "    if False:"),
    M("a term that is too large", "if c <= total}", "}"),
    M("only terms of one sign", "if sign not in (0, here):", "if False:"),
    M("only terms that are sizes",
      "if not plain and not dims.is_nonnegative(dims.from_terms({mono: 1})):", "if False:"),
    M("all ways to make up a sum", "range(total // first + 1)", "range(total // first)"),
    M("what is known is taken off the sum", "rest[()] = constant + sum(",
      "rest[()] = constant + 0 * sum("),
    M("min(n,5) = 3", "if len(able) != 1 or able[0] == value:", "if True:"),
    M("which part an extremum can be",
      "sign = 1 if isinstance(atom, Min) else -1\n    able =",
      "sign = -1 if isinstance(atom, Min) else 1\n    able ="),
    M("x - x/2 = 0", "if dims.is_nonnegative(bound) and not isinstance(bound, int):",
      "if not isinstance(bound, int):"),
    M("x - x/2 = 0 is seen", "    _squeeze(store, constraint, gap)\n", ""),
    M("a stuck monomial is lent", "        store.rewrite(monos[0], rest, constraint)\n",
      "        pass\n"),
    M("what is lent has its sign", "sign = -terms[monos[0]]", "sign = terms[monos[0]]"),
    M("a sum is lent", "self.sums[key] = -constant, by",
      "self.sums[key] = constant, by"),
    M("what is lent is taken back", "            del self.rewrites[lent]\n", "            pass\n"),
    M("sums that are lent are taken back", "                del self.sums[lent]\n",
      "                pass\n"),
    M("facts are taken back", "            self.facts.forget(constraint)\n",
      "            pass\n"),
    M("dim >= 0, never", "elif dims.is_nonnegative(dims.sub(-1, dim)):", "elif False:"),
    # --- inequalities
    M("dim >= 0 and dim <= 0",
      "elif dims.is_nonnegative(dims.scale(-1, tight := tightened(dim))):", "elif False:"),
    M("two inequalities", "    if dims.is_nonnegative(dims.sub(-1, total)):\n        store.imply",
      "    if False:\n        store.imply"),
    M("two inequalities, not more",
      "    if dims.is_nonnegative(dims.sub(-1, total)):\n        store.imply",
      "    if dims.is_nonnegative(dims.sub(0, total)):\n        store.imply"),
    M("an inequality is rounded down", "{m: c // common for m, c in terms.items()}) if common",
      "{m: -(-c // common) for m, c in terms.items()}) if common"),
    M("an inequality that leaves nothing", "[m for m, c in terms.items() if -c > constant]",
      "[m for m, c in terms.items() if -c >= constant]"),
    # --- facts
    M("a fact rules out the larger part of a minimum",
      "sign = 1 if isinstance(atom, Min) else -1\n        for other",
      "sign = -1 if isinstance(atom, Min) else 1\n        for other"),
    M("of two equal parts one stays", "[p for p in parts if p is not part]",
      "[p for p in atom.args if p is not part]"),
    M("only sums of variables are facts",
      "if all(len(m) <= 1 and all(isinstance(a, DimVar) for a in m) for m in terms):", "if True:"),
    # --- elimination
    M("rows are combined", "row[mono] = row.get(mono, 0) - factor * coefficient",
      "row[mono] = row.get(mono, 0) + factor * coefficient"),
    M("pivots are taken out of the rows above", "    return rows\n\n\ndef _take",
      "    return []\n\n\ndef _take"),
    M("integer solutions", "            if rest % row[rank]:\n                return False\n", ""),
    M("nothing is nothing", "        elif rest:\n            return False\n", ""),
    M("the rows' constants", "wanted = [-row.get((), 0) for row in rows]",
      "wanted = [0 for row in rows]"),
    # --- words
    M("a variable inside its own value", "if any(not isinstance(item, ShapeVar) for item in rest):",
      "if False:"),
    M("what is around it is empty",
      'store.derive("empty shapes", constraint, *(ShapeEq((v,), ()) for v in rest))',
      'store.derive("empty shapes", constraint)'),
    M("different lengths", "        if len(left) != len(right):\n            return",
      "        if False:\n            return"),
    M("more dimensions than there is room for", "if len(dims_of) > len(plain):", "if False:"),
    M("what is left over is empty", "if len(dims_of) == len(plain):", "if False:"),
    M("ends face each other", "    if a != b:\n        equations.append(DimEq(a, b))\n", ""),
    M("shapes of equal rank face each other", "            equations.append(ShapeEq((a,), (b,)))\n",
      ""),
    M("stripped from the end", "a, b = a[: len(a) - end], b[: len(b) - end]", "pass"),
    M("ranks are equal",
      'store.imply("rank", (constraint,), DimEq(shape_rank(left), shape_rank(right)))', "pass"),
    M("a known rank slices", 'store.bind("rank", var, var.dims(rank), constraint)', "pass"),
    M("multisets of numbers", "extra and all(isinstance(d, int) for d in (*extra, *missing))",
      "False"),
    M("multisets have equal sums", 'store.imply("multiset", (constraint,), DimEq(total, 0))',
      "pass"),
    M("equal sides", 'store.imply("append unpacking", because, ShapeEq(a, b))', "pass"),
    M("a piece that is known", "        if first or second:\n", "        if False:\n"),
    M("an equation that waits already", "if store.equal.contains(constraint, *words):", "if 0:"),
    M("a word does not double", "if len(value) > 1 and not store.growth.allows(var, value):",
      "if False:"),
    # --- broadcasting
    M("aligned on the right", "last = [part[-1] for part in parts]",
      "last = [part[0] for part in parts]"),
    M("the rest is before the end", "parts = distinct([part[:-1] for part in parts])",
      "parts = distinct([part[1:] for part in parts])"),
    M("unfolding has a bound", "elif tail and constraint.fronts < MOST_FRONTS:", "elif tail:"),
    M("a broadcast inside itself",
      "if longer and _inside_itself(store, constraint, result, longer):", "if False:"),
    M("a part that is the result goes", " and part != result)", ")"),
    M("a size of a part faces the result",
      "elif size != whole and (dims.is_not_one(size) or _varies(constraint, size)):",
      "elif size != whole:"),
    M("no part is longer than the result",
      "gap = dims.sub(shape_rank(result), shape_rank(part))",
      "gap = dims.sub(shape_rank(part), shape_rank(result))"),
    M("a size that is not 1 decides",
      "if known is not None and all(size in (1, known) for size in sizes):",
      "if known is not None:"),
    M("a scalar changes nothing", "return [part for part in dict.fromkeys(parts) if part]",
      "return [part for part in dict.fromkeys(parts)]"),
    M("a result of rank 0",
      'store.derive("broadcasting", constraint, *(ShapeEq(part, ()) for part in parts))',
      'store.derive("broadcasting", constraint)'),
    M("a result of size 1",
      'store.derive("broadcasting", constraint, *(DimEq(part, 1) for part in parts))',
      'store.derive("broadcasting", constraint)'),
    M("1 gives way", "dict.fromkeys(store.dim(p) for p in relation.parts) if p != 1]",
      "dict.fromkeys(store.dim(p) for p in relation.parts)]"),
    M("sizes that are not 1 are equal", "equal = [DimEq(other, first) for other in decided[1:]]",
      "equal = []"),
    M("what cannot be equal is seen", "return isinstance(dims.sub(part, size), int)",
      "return False"),
    M("a part that is too long", '            store.conflict("broadcasting", constraint, '
      '"broadcast", result, ())\n', "            pass\n"),
    M("only this part can be as long", "    if not reach:\n        return True",
      "    if not reach:\n        return False"),
    M("a first size that is not 1", "and all(part[0] == 1 for part in reach)", ""),
    M("equal broadcasts share", "        return\n    known = store.broadcasts.get(key)",
      "        return\n    known = None"),
    M("shared broadcasts have equal parts", "            leaves.add(part)\n", "            pass\n"),
    # --- the store
    M("binding wakes", "        self._wake(var)\n", ""),
    M("bindings are kept up to date",
      "                binding.value = dims.substitute(value, self._fresh_value, self._size)\n",
      "                pass\n"),
    M("a bound shape has its rank",
      'self.imply("rank", (by,), DimEq(var.rank, shape_rank(value)))', "pass"),
    # --- records
    M("fields of one name are equal",
      "unify(state, wanted[name], given[name], origin.of_part(part), deeper, nested + 1)", "pass"),
    M("a closed record has no other fields",
      "if (missing and other is None) or (extra and rest is None) or (rest and rest is other):",
      "if (missing and other is None) or (rest and rest is other):"),
    M("a field that is missing",
      "if (missing and other is None) or (extra and rest is None) or (rest and rest is other):",
      "if (extra and rest is None) or (rest and rest is other):"),
    M("equal rows have equal fields",
      "if (missing and other is None) or (extra and rest is None) or (rest and rest is other):",
      "if (missing and other is None) or (extra and rest is None):"),
    M("rows of equal records are equal",
      "        unify(state, rest, other, origin, deeper, nested + 1)\n",
      "        pass\n"),
    M("the fields of the other go into the row",
      "_bind(state, rest, record(extra, fresh), origin, deeper, wanted=False)",
      "_bind(state, rest, record({}, fresh), origin, deeper, wanted=False)"),
    M("the fields of this go into the other row",
      "_bind(state, other, record(missing, fresh), origin, deeper, wanted=True)",
      "_bind(state, other, record({}, fresh), origin, deeper, wanted=True)"),
    M("a field of an open record",
      "unify(state, Record((part,), (name,), other), Record((), (), rest), origin)", "pass"),
    M("a value with a field is a record",
      "unify(state, Record((part,), (name,), other), found, origin)", "pass"),
    M("an update keeps the other fields", "record(found.fields | given, found.rest), expr.span)",
      "record(given, found.rest), expr.span)"),
    M("an update replaces", "record(found.fields | given, found.rest), expr.span)",
      "record(given | found.fields, found.rest), expr.span)"),
    M("an update keeps the row", "record(found.fields | given, found.rest), expr.span)",
      "record(found.fields | given, None), expr.span)"),
    M("an update needs the field",
      'unify(state, record(old, rest), base, Origin("field", expr.span))',
      'unify(state, record({}, rest), base, Origin("field", expr.span))'),
    M("a pattern takes fields", 'unify(state, record(parts, rest), found, Origin("pattern", span))',
      "pass"),
    # --- structures
    M("rows have the form of the whole",
      "    unify(state, rows, row, each.origin, deeper=1)\n    pairs",
      "    pairs"),
    M("the whole has the form of its rows",
      "    unify(state, wholes, whole, each.origin)\n    unify(",
      "    unify("),
    M("every tensor has as many rows",
      "unify(state, Tensor(elem, (each.size, all_)), whole, each.origin)",
      "unify(state, Tensor(elem, (state.fresh_dim(), all_)), whole, each.origin)"),
    M("a row has the elements of the whole",
      "unify(state, Tensor(elem, (inside,)), row, each.origin, deeper=1)",
      'unify(state, Tensor(ElemVar("", level), (inside,)), row, each.origin, deeper=1)'),
    M("a row is one shorter", "state.store.post(RowOf((inside,), (all_,), each.call)",
      "state.store.post(RowOf((inside,), (each.size, all_), each.call)"),
    M("the other fields are rows too",
      "        parts.append(replace(each, whole=rests[0], row=rests[1]))\n", "        pass\n"),
    M("an open record may have more fields", "names, rest = other.names, rest and other.rest",
      "names, rest = other.names, None"),
    M("a structure is no part of itself", "        if part is var:\n            return True",
      "        if False:\n            return True"),
    M("what has the form of a part", "todo.extend(forms.like(state, part))", "pass"),
    M("one structure has one number of rows",
      "state.store.post(DimEq(size, each.size), each.origin, each.depth)", "pass"),
    M("rows of one form stack to one",
      "            unify(state, first, each.whole, each.origin)\n", ""),
    M("a structure that is not known waits",
      "if isinstance(whole, TypeVar) and isinstance(row, TypeVar):\n        return None",
      "if isinstance(whole, TypeVar) and isinstance(row, TypeVar):\n        return []"),
    M("conditions on structures are renamed for a use",
      "whole, row = renaming.type(_side(each.whole)), renaming.type(_side(each.row))",
      "whole, row = _side(each.whole), _side(each.row)"),
    M("conditions of an inner function stay inside", "if _deepest(state, each) > level]",
      "if True]"),
    M("rows that are said twice", "if uses[each.row] == 1 and each.row not in shown else kept",
      "if False else kept"),
    M("a row that is seen is said", "if uses[each.row] == 1 and each.row not in shown else kept",
      "if True else kept"),
    M("no tensor, no rows", "        if not isinstance(part, Tuple) or (isinstance(part, Record)",
      "        if True or (isinstance(part, Record)"),
    # --- parameters
    M("a default for each call", "found.append(replace(literal))", "found.append(literal)"),
    M("an argument is given once",
      "place = next((at for at in places if given[at] is None), None)", "place = places[0]"),
    M("arguments in the order of the parameters",
      "        given[place] = attribute.value\n",
      "        given[len(call.args) + call.attributes.index(attribute)] = attribute.value\n"),
    M("a default knows no parameter",
      "    if used.isdisjoint(param.name for param in fn.params):\n", "    if True:\n"),
    M("a default knows no size of a parameter",
      "_is_new(inference, name, env) for name in used", "False for name in used"),
    M("what is given goes before the default", "        if argument is not None:\n",
      "        if argument is not None and literal is None:\n"),
    M("a function without a name takes what it needs",
      "    found = with_defaults(fn)\n", "    found = fn\n"),
    # --- subscripts and branches
    M("what is indexed is a tensor", "    if isinstance(type_, TypeVar):  # so that",
      "    if False:  # so that"),
    M("an index that nothing decides is a size",
      "    if isinstance(type_, TypeVar):\n        size = DimValue(",
      "    if False:\n        size = DimValue("),
    M("-k counts from the end",
      "or _begins_with_minus(expr):\n        return _Place(dim, from_end=True)",
      "or _begins_with_minus(expr):\n        return _Place(dim)"),
    M("an index is not negative",
      'inference.state.post(AtLeast(dim, silent=True), Origin("size", expr.span))', "pass"),
    M("a size of an open shape", "= (*sizes, rest) if at >= 0 else (rest, *sizes)",
      "= (*sizes, rest)"),
    M("branches have one rank",
      "        if not self._ranks_agree():\n            return UNKNOWN\n", ""),
    M("each size of the branches that differs",
      "return tuple([i for i in range(front) if left[i] != right[i]])", "return ()"),
    M("a condition decides between sizes",
      "                choices.add(state, each[0], each[1], each[2], origin)\n",
      "                pass\n"),
    # --- simplest forms
    M("max(p,q) = p says p >= q", "sign = 1 if isinstance(atom, Max) else -1", "sign = -1"),
    M("p/k = e is the upper bound where the lower one holds",
      "if dims.is_nonnegative(low) and _is_plain(high):", "if _is_plain(high):"),
    M("p/k = e is the lower bound where the upper one holds",
      "if dims.is_nonnegative(high) and _is_plain(low):", "if _is_plain(low):"),
    M("an equation replaces what it is about", "rewriting.atoms[step.atom] = step.value", "pass"),
    M("a rest below k", "return dims.sub(bottom - 1, low), low",
      "return dims.sub(bottom, low), low"),
    M("p/k >= e is p >= k*e", "dims.combine(top, bottom, rest))", "dims.combine(top, 1, rest))"),
    M("e >= p/k has the rest of the division", "_between(top, bottom, rest)[0])",
      "_between(top, bottom, rest)[1])"),
    M("e >= max(p,q) is two conditions", "if isinstance(atom, Max) != (coefficient > 0):",
      "if True:"),
    M("a part of a maximum that cannot be as large",
      "if not dims.is_nonnegative(dims.sub(-1, part))]", "if dims.is_nonnegative(part)]"),
    M("one part of a maximum is left", "if len(possible) == 1:", "if possible:"),
    M("a broadcast to 0", "conditions.append(_at_least(dims.sub(1, size)))",
      "conditions.append(_at_least(dims.sub(0, size)))"),
    M("max(q,2) = broadcast(max(q,2), q)",
      "in (dims.maximum(size, 1), dims.maximum(size, 2)):", "in (dims.maximum(size, 3),):"),
    M("q = broadcast(q, max(q,1))", "size == dims.maximum(result, 1):", "size == 1:"),
    M("a broadcast keeps what is not known", "    if len(kept) > 1:\n        conditions",
      "    if False:\n        conditions"),
    M("remainders are joined", "joined = lcm(bottom, found.get((factor, top), 1))",
      "joined = bottom"),
    M("a factor of a remainder may be zero",
      "if factor != 1 and follows(_at_least(dims.sub(factor, 1)), others):", "if factor != 1:"),
    M("a part that another contains", "any(other is not part and _contains(other, part)",
      "any(False and _contains(other, part)"),
    M("a part is not longer than what contains it", "return len(part) <= len(word) and all(",
      "return all("),
    M("a shape is not contained in a size of 1", "(b == 1 and not isinstance(a, ShapeVar))",
      "b == 1"),
    M("conditions on run-time sizes are checks",
      "and not any(var.runtime for var in relation_variables(relation))", ""),
    M("a silent inequality is no condition", "case AtLeast(dim, silent) if not silent:",
      "case AtLeast(dim, silent):"),
    M("what follows is left out", "        if follows(relation, others):\n            kept",
      "        if False:\n            kept"),
    M("a condition does not follow from itself",
      "others = [r for r in kept if r is not relation and",
      "others = [r for r in kept if"),
    M("the weakest goes first", "return False, -_length(dim)", "return True, 1"),
    M("n >= k is n = k + m", "gap = dims.sub(relation.dim, other)",
      "gap = dims.combine(relation.dim, 1, other)"),
    M("a variable that occurs twice is not solved",
      "var is not other and not dims.occurs_elsewhere(var, mono, terms)", "var is not other"),
    M("n mod k = 0 is n = k*m", "yield top, dims.scale(bottom, other)", "yield top, other"),
    # --- plain readings
    M("open rows are closed", "dict.fromkeys(rows, EMPTY)).type(", "{}).type("),
    M("a bias is a vector", "equate(store, part, last)", "equate(store, part, ())"),
    M("a bias of size 1 says nothing", "if end != (1,) and not _is_runtime(end)",
      "if not _is_runtime(end)"),
    M("a batch is no bias", "if shape not in batches and is_open", "if is_open"),
    M("two open operands have one shape", "equate(store, parts[0], part)",
      "equate(store, parts[0], ())"),
    M("a scalar beside open operands",
      "[word for part in relation.parts if (word := store.word(part))]",
      "[store.word(part) for part in relation.parts]"),
    M("sizes that broadcast are equal", "_equal_sizes(store, relation.result, part, said)",
      "_equal_sizes(store, 1, part, said)"),
    M("what is stretched along 1 has no size of it", "                if store.dim(part) != 1:\n",
      "                if True:\n"),
    M("quotients that keep all elements are exact",
      "    if exact and Renaming(exact, {}, {}, {}).dim(gap) == 0:\n", "    if False:\n"),
    M("quotients are exact only if all elements are kept",
      "    if exact and Renaming(exact, {}, {}, {}).dim(gap) == 0:\n", "    if exact:\n"),
    M("images of one size", "        or equal_products(store, said)\n", ""),
    M("weights have no batch", "words = [word for each in records_of(type_)",
      "words = [word for each in ()"),
    M("the first parameter has the batch", "for part in (*reversed(type_.params), type_.result)",
      "for part in (*type_.params, type_.result)"),
    M("a shape beside dimensions is empty",
      "if len(shapes) < len(word) else []", "if shapes else []"),
    M("a parameter with a number is a scalar", "                equate(store, shape, ())\n",
      "                pass\n"),
    M("a reading without its guards", "    if store.guards:\n        return None\n", ""),
    M("a silent condition is none of a reading",
      "for each in waiting(store) if not is_silent(each)]",
      "for each in waiting(store)]"),
    M("a name that means something else", "    names.taken.update(taken)\n", ""),
    M("a reading leaves no structure open",
      "None if scheme is None or scheme.stacked or scheme.choices else scheme", "scheme"),
    M("a reading is what is inferred with it",
      "    if type_text(scheme.type, names) != reading.text:\n", "    if False:\n"),
    M("a bound is about sizes that are shown",
      "if not all(shown.issuperset(relation_variables(each)) for each in bounds):", "if False:"),
    M("open variables of another definition", "return None if _shares_variables(found) else found",
      "return found"),
    # --- warnings
    M("a name that is a number", 'found.append(Forced("AX302", name, var, word))', "pass"),
    M("names that are equal", "            if first != name:\n", "            if False:\n"),
    M("a name that is an expression", 'found.append(Forced("AX303", name, var, word))', "pass"),
    M("an expression in names of the user", "and own.issuperset(dims.variables(value))", ""),
    M("what the program states is no news",
      "if because and all(c.origin.kind in STATED for c in because):", "if False:"),
    M("the fewest places",
      "because = fewest(cone, replays, holds) if cone and holds(cone) else cone",
      "because = cone"),
    M("what is inside of a place is not shown",
      "[s for s in texts if not any(s.is_within(o) for o in texts if o != s)]", "list(texts)"),
    M("a definition with an error has no unused names",
      "isinstance(item, ast.Binding) and item.span not in wrong", "isinstance(item, ast.Binding)"),
    M("a result with an error has no unused names",
      "if result is not None and result.span not in wrong:", "if result is not None:"),
    M("an underscore is meant to be unused", 'if not bound.name.startswith("_"):', "if True:"),
    M("a parameter counts by its size", "unused = [each for each in unused if not self._by_size(",
      "unused = [each for each in unused if True or not self._by_size("),
    M("a size that is named again", "(is_size and named[name] > 1)", "False"),
    M("a size in a condition", "self.values.update(_sizes_in_conditions(expr))", "pass"),
    M("a value is outside its name", "            self._expr(binding.value, inner)\n            "
      "fields = set(_fields(binding.pattern))\n", "            fields = set()\n"),
    M("arguments by name are used", "                    todo.append(attribute.value)\n",
      "                    pass\n"),
    M("a definition that is bound again", "first.get(name)\n", "None\n"),
    M("the types of a file have names apart", 'yield f"type {item.name}", item.name_span',
      "yield item.name, item.name_span"),
    # --- structures in a graph
    M("leaves of leaves",
      "            yield from leaf_types(item, prune)\n", "            yield item\n"),
    M("a row has the leaves of the whole", "flat = Fn((*own, *rows), function.result)",
      "flat = Fn((*own, *reversed(rows)), function.result)"),
    M("a part of a value is its item", "state.emit(Item(part, operand, i))",
      "state.emit(Item(part, operand, 0))"),
    M("values are grouped as they were",
      "return Bundle(tuple([_group(item, rest) for item in type_.items]), names)",
      "return Bundle(tuple([_group(item, rest) for item in type_.items]), None)"),
)  # fmt: skip

# Mutations that change nothing that can be seen, and why.
EQUIVALENT = {
    "equal rows have equal fields": "no two records have one row and different fields: a name of a "
    "row goes with one list of fields, and an update adds none",
    "two inequalities": "if they cannot be, both are said to be zero; the conflict is the same, "
    "one step later",
    "a size bound to a negative number": "the binding is checked to be a size right after; the "
    "conflict is the same, one step later",
    "the whole part adds up": "after the first round every coefficient is below the divisor, so "
    "there is nothing to add up",
}


def files() -> list[Path]:
    return sorted(p for t in TARGETS for p in (ROOT / "src" / "axon").glob(t))


def place(mutation: Mutation) -> Path:
    """The one file that has the text, once."""
    found = [p for p in files() if mutation.old in p.read_text(encoding="utf-8")]
    count = sum(p.read_text(encoding="utf-8").count(mutation.old) for p in found)
    if count != 1:
        sys.exit(f"`{mutation.law}`: its text is there {count} times; mend scripts/mutate.py")
    return found[0]


def broken(mutation: Mutation, quick: bool) -> tuple[bool, str]:
    """Whether the tests notice, and which one."""
    path = place(mutation)
    with tempfile.TemporaryDirectory(prefix="axon-mutant-") as name:
        copy = Path(name)
        ignore = shutil.ignore_patterns("__pycache__", ".venv", ".git", ".fuzz", ".*_cache")
        for part in ("src", "tests", "docs", "examples"):
            shutil.copytree(ROOT / part, copy / part, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", copy)
        target = copy / path.relative_to(ROOT)
        target.write_text(path.read_text(encoding="utf-8").replace(mutation.old, mutation.new))
        stages = [
            ("quick", NEAR.get(path.stem) or NEAR[path.parent.name]),
            ("night", [*TYPES, *REST]),
        ]
        for profile, tests in stages[: 1 if quick else 2]:
            noticed = _first_failure(copy, profile, [t for t in tests if (copy / t).exists()])
            if noticed is not None:
                return True, f"{noticed} ({profile})"
    return False, ""


def _first_failure(copy: Path, profile: str, tests: list[str]) -> str | None:
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AXON_PROFILE": profile,
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1].split("::", 1)[-1] if failed else done.stdout[-200:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only laws with this in their name")
    parser.add_argument("--start", type=int, default=0, help="leave out so many of the first")
    parser.add_argument("--quick", action="store_true", help="few examples only")
    parser.add_argument("--list", action="store_true", help="show the mutations, run nothing")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS[options.start :] if options.only in m.law]
    for mutation in chosen:
        where = place(mutation)
        if options.list:
            print(f"{where.relative_to(ROOT)}: {mutation.law}")
    if options.list:
        return 0
    alive = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        began = time.monotonic()
        for mutation, (noticed, by) in zip(
            chosen, pool.map(lambda m: broken(m, options.quick), chosen), strict=True
        ):
            reason = EQUIVALENT.get(mutation.law)
            verdict = "killed" if noticed else "equivalent" if reason else "ALIVE"
            alive += verdict == "ALIVE"
            print(f"{verdict:10} {mutation.law}: {by or reason or ''}", flush=True)
        print(f"{len(chosen)} mutants, {alive} alive, {time.monotonic() - began:.0f} s")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
