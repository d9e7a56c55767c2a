" Data Path Expressions
if exists('b:current_syntax')
  finish
endif
syntax keyword dpeMode expect detect predict measure sync
syntax keyword dpePairing keep fifo last all once rounds during exclusive shared reads writes
syntax keyword dpeKeyword include var observing without ends by from to
syntax keyword dpeConditional if else
syntax keyword dpeCall print printf break error sync_event hold share unhold wait_for release forget creates begins ended joined sends receives unordered check_deadlock check_order check_hang progress count sum hist quantiles
syntax match dpePhase /\.\(enter\|exit\)\>/
syntax match dpeField /\.\(tid\|pid\|process\|time\|ret\|args\|name\|stack\|comm\|host\|access\)\>/
syntax match dpePosition /\$\d\+/
syntax match dpeNumber /\<\(0[xX]\x\+\|0[bB][01]\+\|\d\+\)[uUlL]*\>/
syntax match dpeNumber /\<\d\+\(\.\d\+\([eE][-+]\=\d\+\)\=\|[eE][-+]\=\d\+\)[fFlL]\=\>/
syntax match dpeCaret /\^/
syntax match dpeOperator /[;+&*@]/
syntax region dpeString start=/"/ skip=/\\./ end=/"/ oneline
syntax match dpeCharacter /'\(\\.\|[^'\\]\)'/
syntax region dpeComment start=/\/\*/ end=/\*\// contains=@Spell
syntax match dpeComment /\/\/.*$/ contains=@Spell
syntax sync ccomment dpeComment
highlight default link dpeMode Keyword
highlight default link dpePairing StorageClass
highlight default link dpeKeyword Keyword
highlight default link dpeConditional Conditional
highlight default link dpeCall Function
highlight default link dpePhase Type
highlight default link dpeField Identifier
highlight default link dpePosition Identifier
highlight default link dpeNumber Number
highlight default link dpeCaret Special
highlight default link dpeOperator Operator
highlight default link dpeString String
highlight default link dpeCharacter Character
highlight default link dpeComment Comment
let b:current_syntax = 'dpe'
