# Completion of bourse in fish; in ~/.config/fish/config.fish: bourse completion fish | source
function __bourse
    set -l words (commandline -opc)[2..-1]
    set -l current (commandline -ct)
    set -l candidates (bourse complete (count $words) $words "$current" 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\n' $candidates
    else
        __fish_complete_path "$current"
    end
end
complete -c bourse -f -a '(__bourse)'
