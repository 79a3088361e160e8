" For each N.axon of a folder, N.groups: the syntax group of each byte, a line of names for a line.
set nocompatible encoding=utf-8 fileencodings=utf-8 noswapfile synmaxcol=0
syntax on
for s:number in range($COUNT)
  execute 'edit! ' . $FOLDER . '/' . s:number . '.axon'
  unlet! b:current_syntax
  execute 'source ' . $SYNTAX
  let s:lines = []
  for s:line in range(1, line('$'))
    let s:names = map(range(1, len(getline(s:line))), 'synIDattr(synID(s:line, v:val, 1), "name")')
    call add(s:lines, join(s:names, ','))
  endfor
  call writefile(s:lines + [''], $FOLDER . '/' . s:number . '.groups')
  bwipeout!
endfor
qall!
