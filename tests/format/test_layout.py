"""What the canonical form looks like."""

from __future__ import annotations

import re

import pytest

from tests.format.laws import formatted

ROOM = "a_name_that_takes_room"

CASES = """\
x=f( a,b , axis = 1 );
---
x = f(a, b, axis=1);
===
f = fn(x:f32[n , m],w=1e-5):f32[n]where n>=1,m=n{x@w};
---
f = fn (x : f32 [n,m], w = 1e-5) : f32 [n] where n >= 1, m = n { x @ w };
===
f = fn (x) {

  y = x; y

};
---
f = fn (x) {
  y = x;
  y
};
===
f = fn (x) {
  x + 1
};
---
f = fn (x) { x + 1 };
===
x = ((a + b)) * (c * d) - (e - (f)) + (a and b);
---
x = (a + b) * (c * d) - (e - f) + (a and b);
===
x = (a ** b) ** c ** (d ** e) + (-a) ** -(b) + (-a) * b;
---
x = (a**b)**c**d**e + (-a)**-b + -a * b;
===
x = (fn (y) { y })(a); y = (if c { a } else { b }) + (2)[0];
---
x = (fn (y) { y })(a);
y = (if c { a } else { b }) + (2)[0];
===
a = 1;


b = 2;
c = 3;

# about d
d = 4
---
a = 1;

b = 2;
c = 3;

# about d
d = 4;
===
y=f(s="\\t\\"a\\'b",t="é");z=1.50f+0f+1E5+007;
---
y = f(s="\\t\\"a\\'b", t="é");
z = 1.50f + 0f + 1E5 + 007;
===
y = x|>f|>g(ROOM,ROOM)|>h(ROOM,ROOM)|>fn(x){x};
---
y = x
  |> f
  |> g(ROOM, ROOM)
  |> h(ROOM, ROOM)
  |> fn (x) { x };
===
y = x |> f |> g(a);
---
y = x |> f |> g(a);
===
y = ROOM * ROOM + ROOM * ROOM - ROOM / ROOM;
---
y = ROOM * ROOM
  + ROOM * ROOM
  - ROOM / ROOM;
===
y = f(ROOM, ROOM, ROOM, ROOM, keep=true) + 1;
---
y = f(
  ROOM,
  ROOM,
  ROOM,
  ROOM,
  keep=true,
)
  + 1;
===
y = { a = ROOM, b = ROOM, c = { ROOM | d = ROOM } };
---
y = {
  a = ROOM,
  b = ROOM,
  c = { ROOM | d = ROOM },
};
===
y = map(xs, ROOM, fn (ROOM, x) { y = x; y });
---
y = map(xs, ROOM, fn (ROOM, x) {
  y = x;
  y
});
===
y = fold(x, fn (x, p) { y = x; y }, ROOM);
---
y = fold(
  x,
  fn (x, p) {
    y = x;
    y
  },
  ROOM,
);
===
y = if a { b } else { if c { d } else { e } };
---
y = if a { b } else if c { d } else { e };
===
y = if a { ROOM } else if b { ROOM } else { ROOM };
---
y = if a {
  ROOM
} else if b {
  ROOM
} else {
  ROOM
};
===
x, (y, z), { w, b } = ROOM, ROOM, (ROOM, ROOM);
---
x, (y, z), { w, b } = (
  ROOM,
  ROOM,
  (ROOM, ROOM),
);
===
type T(d,e)={w:f32[d , e],inner:{r|b:f32[e]},f:(f32[d])->(f32,i64)};
---
type T(d, e) = { w : f32 [d,e], inner : { r | b : f32 [e] }, f : f32 [d] -> (f32, i64) };
===
type T = { ROOM : f32 [d,e], x_ROOM : f32 [d,e], y_ROOM : f32 [e,e] };
---
type T = {
  ROOM : f32 [d,e],
  x_ROOM : f32 [d,e],
  y_ROOM : f32 [e,e],
};
===
op f:(t [n,(+ 1 (- h r))],t s @ [m % 2,h//2])->t broadcast(p,q) where t:num,n>=1;
---
op f : (t [n,1+(h-r)], t s@[m mod 2,h/2]) -> t broadcast(p,q) where t : num, n >= 1;
===
import   "a.axon"   as a; f(x, -inf,true)
---
import "a.axon" as a;
f(x, -inf, true)
===
x = a[ : , None, ..., 1:n:2, ::-1 ] .field [0];
---
x = a[:, None, ..., 1:n:2, ::-1].field[0];
"""

COMMENTS = """\
x = 1;# end of a line
---
x = 1;  # end of a line
===
x = # before the value
  1;
---
x =  # before the value
  1;
===
x =
# on its own
f(a);
---
x =
  # on its own
  f(a);
===
f = fn (x, # the input
  # the weights
  w
  # no bias
) { x @ w };
---
f = fn (
  x,  # the input
  # the weights
  w,
  # no bias
) { x @ w };
===
x = f(# first
  a # of a
  , # behind the comma
  b
  # before the end
);
---
x = f(  # first
  a,  # of a
  # behind the comma
  b,
  # before the end
);
===
x = a # one
  + b # two
  # three
  * c;
---
x = a  # one
  + b  # two
    # three
    * c;
===
y = x # one
  |> f # two
  # before g
  |> g; # three
---
y = x  # one
  |> f  # two
  # before g
  |> g;  # three
===
x = [ # numbers
  1, 2, 3];
---
x = [  # numbers
  1,
  2,
  3,
];
===
f = fn (x) { # about the block
  # about y
  y = x; # of y

  # about the result
  y # of the result
  # at the end
}; # of f

# at the end of the file
---
f = fn (x) {  # about the block
  # about y
  y = x;  # of y

  # about the result
  y  # of the result
  # at the end
};  # of f

# at the end of the file
===
f = fn (x) { x # why
};
---
f = fn (x) {
  x  # why
};
===
y = if a { b # yes
} else { # no
c };
---
y = if a {
  b  # yes
} else {  # no
  c
};
===
type T = { # all
  w : f32 [n], # weights
  # biases
  b : f32 [n]
};
---
type T = {  # all
  w : f32 [n],  # weights
  # biases
  b : f32 [n],
};
===
op f : t [n, # rows
 m] -> t;
---
op f : t [
  n,  # rows
  m,
] -> t;
===
x = ( # dropped
  a );
---
x =  # dropped
  a;
===
x = f(
  # nothing
);
---
x = f(
  # nothing
);
===
a, # first
b = x;
---
a, b =  # first
  x;
===
# head

import "a.axon" as a; # one
# two
x
# tail
---
# head

import "a.axon" as a;  # one
# two
x
# tail
"""


def cases(text: str) -> list[tuple[str, str]]:
    found = []
    for case in re.split(r"^===\n", text.replace("ROOM", ROOM), flags=re.MULTILINE):
        before, _, after = case.partition("---\n")
        found.append((before, after))
    return found


@pytest.mark.parametrize(("before", "after"), cases(CASES) + cases(COMMENTS))
def test_layout(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after
