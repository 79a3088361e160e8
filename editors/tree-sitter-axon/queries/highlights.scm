; Of the patterns that match a node the last one counts.

(identifier) @variable

((identifier) @type.builtin
  (#any-of? @type.builtin
    "bool" "i8" "i16" "i32" "i64" "u8" "u16" "u32" "u64" "f16" "bf16" "f32" "f64"))
(element_type) @type.builtin
(shape_type "shape" @type.builtin)
(dim_type "dim" @type.builtin)

(call function: (identifier) @function.call)
(index_call function: (identifier) @function.call)
(named_type . (identifier) @function.call . "(")
(type_alias name: (identifier) @function.call . "(")
(index_call function: (identifier) @function.call)

(binding pattern: (identifier) @function value: (function))
(attribute name: (identifier) @function value: (function))
(record_field name: (identifier) @function value: (function))
(parameter name: (identifier) @function default: (function))

(field_name) @property
(runtime) @variable.builtin

; Words of the language are no names, even where they name a field or an argument.
((identifier) @keyword (#any-of? @keyword "fn" "if" "else" "type"))
((identifier) @keyword.operator (#any-of? @keyword.operator "and" "or" "not"))
((identifier) @constant.builtin (#any-of? @constant.builtin "true" "false" "inf" "None"))

["fn" "if" "else" "type" "where"] @keyword
(operator_declaration "op" @keyword)
(import ["import" "as"] @keyword)

["and" "or" "not"] @keyword.operator
(dim_infix operator: "mod" @keyword.operator)
(prefix_operation operator: "mod" @keyword.operator)
(prefix_operation operator: ["min" "max"] @variable)

[
  "==" "!=" "<" "<=" ">" ">="
  "+" "-" "*" "/" "//" "%" "**" "@"
  "|>" "->" "=" "|"
] @operator
(rest) @operator

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter

(constant) @constant.builtin
(new_axis) @constant.builtin
(integer) @number
(float) @number
(string) @string
(comment) @comment
