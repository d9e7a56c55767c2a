" Data Path Expressions
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal comments=s1:/*,mb:*,ex:*/,:// commentstring=//\ %s
setlocal noexpandtab tabstop=8 shiftwidth=8
setlocal formatprg=dpe\ fmt\ -
let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< tabstop< shiftwidth< formatprg<'
