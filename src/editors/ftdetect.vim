" Detects HLO text by the suffix of its file.
autocmd BufRead,BufNewFile *.hlo setfiletype hlo
