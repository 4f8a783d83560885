// Completion scripts. Each shell calls `berth __complete` with the words so far and reads one `candidate<tab>description` per line.

const bash = `_berth() {
  local IFS=$'\\n'
  COMPREPLY=($(berth __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  local i
  for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]=$(printf '%q' "\${COMPREPLY[i]}"); done
}
complete -o default -F _berth berth
`

const zsh = `#compdef berth
_berth() {
  local -a lines candidates
  local line
  lines=("\${(@f)$(berth __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe berth candidates
}
compdef _berth berth
`

const fish = `complete -c berth -f -a '(berth __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

export const SCRIPTS: Record<string, string> = { bash, zsh, fish }
