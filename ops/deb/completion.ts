// Completion of commands and options for programs that cannot list them themselves fast enough, generated from their help.
import type { Command } from 'commander'

interface Place {
  /** ` host add`: the words of a command, each after a space. */
  path: string
  words: { word: string; about: string }[]
}

const aboutOf = (text: string): string => text.replaceAll(/[':\\$`\n]/g, ' ')

function placesOf(command: Command, path = ''): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command).map((each) => ({ word: each.name(), about: aboutOf(each.description()) }))
  const options = help.visibleOptions(command).map((each) => ({ word: each.long ?? each.short!, about: aboutOf(each.description) }))
  return [{ path, words: [...commands, ...options] }, ...command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`))]
}

export function completionOf(program: Command): { bash: string; zsh: string; fish: string } {
  const name = program.name()
  const places = placesOf(program)
  const known = places.slice(1).map(({ path }) => `'${path}'`)
  const walk = (words: string): string => `for word in ${words}; do
    case "$place $word" in
      ${known.join(' | ')}) place="$place $word" ;;
    esac
  done`
  const bash = `_${name}() {
  local place='' word words=''
  ${walk('"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$place" in
${places.map(({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`
  const zsh = `#compdef ${name}
_${name}() {
  local place='' word
  local -a candidates
  ${walk('"${(@)words[2,CURRENT-1]}"')}
  case "$place" in
${places.map(({ path, words }) => `    '${path}') candidates=(${words.map(({ word, about }) => `'${word}:${about}'`).join(' ')}) ;;`).join('\n')}
  esac
  _describe ${name} candidates
}
`
  const fish = `function __${name}_place
  set -l place ''
  for word in (commandline -opc)[2..]
    switch "$place $word"
      case ${known.join(' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
${places.map(({ path, words }) => words.map(({ word, about }) => fishLine(name, path, word, about)).join('\n')).join('\n')}
`
  return { bash, zsh, fish }
}

function fishLine(name: string, path: string, word: string, about: string): string {
  const what = word.startsWith('--') ? `-l ${word.slice(2)}` : word.startsWith('-') ? `-s ${word.slice(1)}` : `-f -a ${word}`
  return `complete -c ${name} -n "__${name}_place '${path}'" ${what} -d '${about}'`
}
