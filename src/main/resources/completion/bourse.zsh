#compdef bourse
# Completion of bourse in zsh; in ~/.zshrc: source <(bourse completion zsh)
_bourse() {
  local -a candidates
  candidates=(${(f)"$(bourse complete $((CURRENT - 2)) "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (($#candidates == 0)); then
    _files
  elif [[ $candidates[1] == *: ]]; then
    compadd -S '' -- $candidates
  else
    compadd -- $candidates
  fi
}
(($+functions[compdef])) || { autoload -Uz compinit && compinit; }
compdef _bourse bourse
