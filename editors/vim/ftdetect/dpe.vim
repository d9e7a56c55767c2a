autocmd BufNewFile,BufRead *.dpe setfiletype dpe
