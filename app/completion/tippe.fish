# Fish completion of tippe. What is offered comes from the program itself (tippe complete), so that it
# never falls behind.

function __tippe_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete $words[2..-1] 2>/dev/null)
        if test "$line" = @files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end

complete -c tippe -f -a '(__tippe_complete)'
