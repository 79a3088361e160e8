autocmd BufNewFile,BufRead *.axon setfiletype axon
