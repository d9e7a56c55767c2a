/* The files of page/ as texts, each with a NUL behind it. */
	.macro text name, file
	.global dpe_view_\name
dpe_view_\name:
	.incbin "view/page/\file"
	.byte 0
	.endm

	.section .rodata
	text html, page.html
	text css, page.css
	text compare, compare.js
	text model, model.js
	text diagram, diagram.js
	text automaton, automaton.js
	text net, net.js
	text panels, panels.js

	.section .note.GNU-stack, "", @progbits
