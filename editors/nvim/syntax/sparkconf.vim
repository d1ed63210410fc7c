" Spark reads these files as Java properties.
if exists('b:current_syntax')
  finish
endif
runtime! syntax/jproperties.vim
let b:current_syntax = 'sparkconf'
