# Completion of bourse in bash; in ~/.bashrc: source <(bourse completion bash)
_bourse() {
  local i n=0 word last=' ' words=() IFS=$'\n'
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    # Bash makes words of = and : where they stand within one.
    if ((n > 0)) && [[ $word == [=:]* || $last == *[=:] ]]; then
      words[n - 1]+=$word
    else
      words[n++]=$word
    fi
    last=$word
  done
  # shellcheck disable=SC2207 # no candidate holds a space or a pattern
  COMPREPLY=($(bourse complete $((n - 1)) "${words[@]}" 2>/dev/null))
  # What bash has taken for words of their own stays as it is typed.
  [[ ${words[n - 1]} != *[=:]* ]] || COMPREPLY=("${COMPREPLY[@]#"${words[n - 1]%"${last#[=:]}"}"}")
  [[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _bourse bourse
