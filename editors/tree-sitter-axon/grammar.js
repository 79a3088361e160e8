/**
 * Axon for tree-sitter: the grammar of src/axon/syntax/ast.py. It accepts every program that Axon's
 * parser accepts, and some more: whether comparisons chain, say, is left to the checker.
 *
 * `npm run parser` in editors/ makes src/parser.c of it.
 */

const PREC = {
  pipe: 1,
  or: 2,
  and: 3,
  not: 4,
  comparison: 5,
  sum: 6,
  product: 7,
  sign: 8,
  power: 9,
  postfix: 10,
};

const NAME = /[A-Za-z_][A-Za-z0-9_]*'*/;

const INFIX = [
  ["or", PREC.or],
  ["and", PREC.and],
  ["==", PREC.comparison],
  ["!=", PREC.comparison],
  ["<", PREC.comparison],
  ["<=", PREC.comparison],
  [">", PREC.comparison],
  [">=", PREC.comparison],
  ["+", PREC.sum],
  ["-", PREC.sum],
  ["*", PREC.product],
  ["/", PREC.product],
  ["//", PREC.product],
  ["%", PREC.product],
  ["@", PREC.product],
];

const DIM_INFIX = [
  ["+", PREC.sum],
  ["-", PREC.sum],
  ["*", PREC.product],
  ["/", PREC.product],
  ["//", PREC.product],
  ["%", PREC.product],
  ["mod", PREC.product],
];

/** Items with commas between them, and perhaps one behind the last. */
const commas = (item) => optional(seq(item, repeat(seq(",", item)), optional(",")));

module.exports = grammar({
  name: "axon",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n\f\v]/, $.comment],

  supertypes: ($) => [$.expression, $.type, $.index],

  inline: ($) => [$._value, $._attribute_name],

  conflicts: ($) => [
    [$.expression, $._pattern],
    [$.record, $.record_pattern],
    [$.tuple, $.tuple_pattern],
    [$.star, $.prefix_operation],
    [$._index_name, $.prefix_operation],
  ],

  rules: {
    source_file: ($) =>
      seq(
        repeat(";"),
        repeat(seq($._item, repeat1(";"))),
        optional(choice($._item, seq(field("result", $._value), repeat(";")))),
      ),

    _item: ($) => choice($.import, $.operator_declaration, $.type_alias, $.binding),

    // --- definitions ---

    import: ($) => seq("import", field("path", $.string), "as", field("name", $._name)),

    operator_declaration: ($) =>
      seq("op", field("name", $._name), ":", field("type", $.type), optional($.where)),

    type_alias: ($) =>
      seq(
        "type",
        field("name", $._name),
        optional(seq(choice("(", $._touching), commas($._name), ")")),
        "=",
        field("type", $.type),
      ),

    binding: ($) => seq(field("pattern", $._patterns), "=", field("value", $._value)),

    // --- patterns ---

    _patterns: ($) => choice($._pattern, alias($._bare_tuple_pattern, $.tuple_pattern)),
    _pattern: ($) => choice($._name, $.tuple_pattern, $.record_pattern),
    _bare_tuple_pattern: ($) => seq($._pattern, repeat1(seq(",", $._pattern))),
    tuple_pattern: ($) => seq("(", commas($._pattern), ")"),
    record_pattern: ($) => seq("{", commas($._name), "}"),

    // --- expressions ---

    _value: ($) => choice($.expression, alias($._bare_tuple, $.tuple)),
    _bare_tuple: ($) => seq($.expression, repeat1(seq(",", $.expression))),

    expression: ($) =>
      choice(
        $._name,
        $.integer,
        $.float,
        $.constant,
        $.string,
        $.parenthesized,
        $.tuple,
        $.list,
        $.record,
        $.function,
        $.if,
        $.call,
        $.field,
        $.subscript,
        $.infix,
        $.pipe,
        $.negation,
        $.not,
      ),

    parenthesized: ($) => seq("(", choice($.expression, $.operator), ")"),
    tuple: ($) =>
      seq(
        "(",
        optional(
          seq(
            choice($.expression, $.operator),
            ",",
            commas(choice($.expression, $.operator)),
          ),
        ),
        ")",
      ),
    list: ($) => seq("[", commas($.expression), "]"),

    record: ($) =>
      seq("{", optional(seq(field("base", $.path), "|")), commas($.record_field), "}"),
    path: ($) => seq($._name, repeat($.field_name)),
    record_field: ($) => seq(field("name", $._attribute_name), "=", field("value", $.expression)),

    infix: ($) =>
      choice(
        ...INFIX.map(([sign, level]) =>
          prec.left(
            level,
            seq(
              field("left", $.expression),
              field("operator", sign),
              field("right", $.expression),
            ),
          ),
        ),
        prec.right(
          PREC.power,
          seq(field("left", $.expression), field("operator", "**"), field("right", $.expression)),
        ),
      ),
    pipe: ($) =>
      prec.left(
        PREC.pipe,
        seq(field("left", $.expression), "|>", field("right", $.expression)),
      ),
    negation: ($) => prec(PREC.sign, seq("-", field("operand", $.expression))),
    not: ($) => prec(PREC.not, seq("not", field("operand", $.expression))),

    call: ($) =>
      prec(
        PREC.postfix,
        seq(field("function", $.expression), field("arguments", $.arguments)),
      ),
    arguments: ($) => seq("(", commas(choice($.expression, $.operator, $.attribute)), ")"),
    attribute: ($) =>
      seq(
        field("name", $._attribute_name),
        "=",
        field("value", choice($.expression, $.operator)),
      ),
    field: ($) => prec(PREC.postfix, seq(field("record", $.expression), $.field_name)),
    subscript: ($) =>
      prec(
        PREC.postfix,
        seq(field("value", $.expression), "[", commas($._subscript_item), "]"),
      ),
    _subscript_item: ($) => choice($.expression, $.slice, $.rest, $.new_axis),
    slice: ($) =>
      seq(
        optional(field("start", $.expression)),
        ":",
        optional(field("stop", $.expression)),
        optional(seq(":", optional(field("step", $.expression)))),
      ),
    rest: () => "...",
    new_axis: () => "None",

    function: ($) =>
      seq(
        "fn",
        field("parameters", $.parameters),
        optional(seq(":", field("result", $.type))),
        optional($.where),
        field("body", $.block),
      ),
    parameters: ($) => seq("(", commas($.parameter), ")"),
    parameter: ($) =>
      seq(
        field("name", $._name),
        optional(seq(":", field("type", $.type))),
        optional(seq("=", field("default", $.expression))),
      ),
    block: ($) =>
      seq(
        "{",
        repeat(seq($.binding, repeat1(";"))),
        field("result", $._value),
        repeat(";"),
        "}",
      ),
    if: ($) =>
      seq(
        "if",
        field("condition", $.expression),
        field("then", $.block),
        "else",
        field("else", choice($.block, $.if)),
      ),

    // An operator with nothing to work on, as in `reduce(+, 0f, x)`.
    operator: () => choice(...INFIX.map(([sign]) => sign), "**", "not"),

    // --- types ---

    type: ($) =>
      choice(
        $.tensor_type,
        $.named_type,
        $.tuple_type,
        $.function_type,
        $.shape_type,
        $.dim_type,
        $.record_type,
      ),
    tensor_type: ($) =>
      prec.right(
        choice(
          seq(field("element", $.element_type), optional(field("shape", $.index))),
          seq(field("element", $.identifier), field("shape", $.index)),
        ),
      ),
    element_type: () =>
      choice(
        "bool",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
      ),
    named_type: ($) =>
      prec.right(
        seq(
          choice($.identifier, alias(choice("dim", "shape"), $.identifier)),
          optional($.field_name),
          optional(seq($._touching, commas($.index), ")")),
        ),
      ),
    tuple_type: ($) => seq("(", commas($.type), ")"),
    function_type: ($) =>
      prec.right(seq(field("parameter", $.type), "->", field("result", $.type))),
    shape_type: ($) => prec.right(seq("shape", $.index)),
    dim_type: ($) => prec.right(seq("dim", $.index)),
    record_type: ($) =>
      seq("{", optional(seq(field("row", $._name), "|")), commas($.field_type), "}"),
    field_type: ($) => seq(field("name", $._attribute_name), ":", field("type", $.type)),

    // --- dimensions and shapes ---

    index: ($) => choice($.append, $.dim_infix, $._part),
    _part: ($) =>
      choice(
        $.integer,
        $._index_name,
        $.runtime,
        $.star,
        $.dims,
        $.negative,
        $.parenthesized_index,
        $.prefix_operation,
        $.index_call,
      ),
    append: ($) => prec.left(PREC.comparison, seq($.index, "@", $.index)),
    dim_infix: ($) =>
      choice(
        ...DIM_INFIX.map(([sign, level]) =>
          prec.left(
            level,
            seq(field("left", $.index), field("operator", sign), field("right", $.index)),
          ),
        ),
      ),
    negative: ($) => prec(PREC.sign, seq("-", $._part)),
    star: ($) => seq("*", optional(alias(token.immediate(NAME), $.identifier))),
    dims: ($) => seq("[", commas($.index), "]"),
    parenthesized_index: ($) => seq("(", $.index, ")"),
    // The paper's form: `(+ a b)`.
    prefix_operation: ($) =>
      seq(
        "(",
        choice(
          prec.dynamic(1, seq(field("operator", choice("+", "*", "/")), $._part, repeat1($._part))),
          prec.dynamic(-1, seq(field("operator", "-"), $._part, repeat1($._part))),
          prec.dynamic(-1, seq(field("operator", choice("mod", "min", "max")), repeat1($._part))),
        ),
        ")",
      ),
    index_call: ($) =>
      prec(
        PREC.postfix,
        seq(field("function", $._index_name), $._touching, commas($.index), ")"),
      ),
    _touching: () => alias(token.immediate("("), "("),
    _index_name: ($) =>
      choice($.identifier, alias(choice("mod", "min", "max"), $.identifier)),

    // --- conditions ---

    where: ($) => seq("where", $._condition, repeat(seq(",", $._condition))),
    _condition: ($) => choice($.relation, $.element_class, $.compatible),
    relation: ($) =>
      seq(
        field("left", $.index),
        field("operator", choice("=", ">=", "<=", ">", "<")),
        field("right", $.index),
      ),
    compatible: ($) => $.index_call,
    element_class: ($) =>
      seq(field("name", $._index_name), ":", field("class", $._name)),

    // --- words and literals ---

    // Words that mean something in their place alone are names everywhere else.
    _name: ($) => choice($.identifier, alias(choice("op", "import"), $.identifier)),
    _attribute_name: ($) =>
      choice(
        $._name,
        alias(choice("if", "else", "and", "or", "not", "None", "type"), $.identifier),
        alias(choice("fn", "true", "false", "inf"), $.identifier),
      ),
    identifier: () => NAME,
    field_name: () => /\.[A-Za-z_][A-Za-z0-9_]*'*/,
    runtime: () => /\?[A-Za-z_][A-Za-z0-9_]*'*/,
    constant: () => choice("true", "false", "inf"),
    integer: () => /[0-9]+/,
    float: () => /[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?f?|[eE][+-]?[0-9]+f?|f)/,
    string: () => /"([^"\\\n]|\\[^\n])*"/,
    comment: () => /#[^\n]*/,
  },
});
