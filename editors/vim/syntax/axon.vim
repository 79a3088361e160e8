" Vim syntax for Axon. Made by scripts/grammars.py from src/axon/highlight/lexicon.py; change those instead.
if exists("b:current_syntax")
  finish
endif

" Of the items that match at one place Vim takes the last.
syntax case match
syntax match axonBad /\v\C[^ \t\rA-Za-z0-9_#"\-+*\d47%@<>=(),;:|[\]{}]+/ display
syntax match axonString /\v\C%([A-Za-z0-9_'])@1<!['‘’“”„][^'‘’“”„"]*['‘’“”"]/ display
syntax match axonRuntime /\v\C\?[A-Za-z_][A-Za-z0-9_]*'*/ display
syntax match axonBad /\v\C\.?[0-9][A-Za-z0-9_.]*/ display
syntax match axonNumber /\v\C%([0-9]+%(\.[0-9]+)?%([eE][+-]?[0-9]+)?f?%([A-Za-z0-9_.])@!|[0-9]+%([A-Za-z0-9_.])@!)/ display
syntax match axonOperator /\v\C\.\.\.|-\>|\|\>|\/\/|\*\*|[=!<>]\=|[-+*\d47%@<>=(),;:|[\]{}]/ display
syntax match axonPunctuation /\v\C[(),:;[\]{}]/ display
syntax match axonField /\v\C\.[A-Za-z_][A-Za-z0-9_]*'*/ display
syntax match axonName /\v\C[A-Za-z_][A-Za-z0-9_]*'*/ display
syntax match axonCall /\v\C[A-Za-z_][A-Za-z0-9_]*'*%([A-Za-z0-9_'])@!%(\()@=/ display
syntax match axonFunction /\v\C[A-Za-z_][A-Za-z0-9_]*'*%([A-Za-z0-9_'])@!%([ \t]*\=[ \t]*fn%([A-Za-z0-9_'])@!)@=/ display
syntax match axonType /\v\C%(bf16|bool|f16|f32|f64|i16|i32|i64|i8|u16|u32|u64|u8)%([A-Za-z0-9_'])@!/ display
syntax match axonWordOperator /\v\C%(and|not|or)%([A-Za-z0-9_'])@!/ display
syntax match axonConstant /\v\C%(None|false|inf|true)%([A-Za-z0-9_'])@!/ display
syntax match axonKeyword /\v\C%(else|fn|if|type)%([A-Za-z0-9_'])@!/ display
syntax match axonType /\v\C%(dim|shape)%([A-Za-z0-9_'])@!%([ \t]+%(%(where|and|or|mod|as)%([A-Za-z0-9_'])@!)@![A-Za-z_0-9?[(])@=/ display
syntax match axonWordOperator /\v\C%(mod)%([A-Za-z0-9_'])@!%([ \t]+%(%(where|and|or|mod|as)%([A-Za-z0-9_'])@!)@![A-Za-z_0-9?[(])@=/ display
syntax match axonKeyword /\v\Cwhere%([A-Za-z0-9_'])@!%(%([ \t]+%(%(where|and|or|mod|as)%([A-Za-z0-9_'])@!)@![A-Za-z_0-9?[(])@=|%([ \t\r]*%(#.*)?$)@=)/ display
syntax match axonKeyword /\v\C%(op|as)%([A-Za-z0-9_'])@!%([ \t]+[A-Za-z_])@=/ display
syntax match axonKeyword /\v\Cimport%([A-Za-z0-9_'])@!%([ \t]*")@=/ display
syntax match axonBad /\v\C".*/ display
syntax match axonString /\v\C"[^"\\]*%(\\.[^"\\]*)*"/ display
syntax match axonComment /\v\C#.*/ display

highlight default link axonComment Comment
highlight default link axonString String
highlight default link axonNumber Number
highlight default link axonConstant Constant
highlight default link axonKeyword Keyword
highlight default link axonWordOperator Operator
highlight default link axonType Type
highlight default link axonFunction Function
highlight default link axonCall Function
highlight default link axonName Identifier
highlight default link axonRuntime Special
highlight default link axonField Identifier
highlight default link axonOperator Operator
highlight default link axonPunctuation Delimiter
highlight default link axonBad Error

let b:current_syntax = "axon"
