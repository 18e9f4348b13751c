# Words for fish behind `ptxasw`: the program itself tells them. Anything else is a file.
function __ptxasw_words
    set -l words (commandline -opc)
    if test (count $words) -eq 1
        ptxasw help --help=words 2>/dev/null
    else if contains -- $words[2] (ptxasw help --help=words 2>/dev/null | cut -f1)
        contains -- $words[2] launch self-test help; or ptxasw $words[2] --help=words 2>/dev/null
    end
end
complete -c ptxasw -a '(__ptxasw_words)'
