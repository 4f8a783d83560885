// Manual pages from the help of the commands.
import type { Command } from 'commander'
import { SETTINGS } from '../../server/src/config.ts'

interface Page {
  section: number
  version: string
  date: string
}

/** Text of roff: no request, no escape, and a hyphen that can be searched for and copied. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')
const entry = (term: string, text: string): string => `.TP\n.B ${roff(term)}\n${roff(text) || '\\&'}\n`

export function manPageOf(program: Command, { section, version, date }: Page): string {
  const name = program.name()
  return `.TH ${name.toUpperCase()} ${section} ${date} "Berth ${version}"
.SH NAME
${name} \\- ${roff(program.description().replace(/\.$/, ''))}
.SH SYNOPSIS
.B ${name}
.I command
[options]
.SH DESCRIPTION
${roff(footerOf(program))}
.SH COMMANDS
${leavesOf(program)
  .map((command) => sectionOf(command, name))
  .join('')}`
}

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.createHelp().visibleCommands(command).flatMap(leavesOf)

function sectionOf(command: Command, program: string): string {
  const help = command.createHelp()
  const example = /Example:\n +\$ (.*)/.exec(helpOf(command))?.[1]?.replace('npx berthd', 'sudo berthd')
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help')
  return [
    `.SS "${roff(help.commandUsage(command).replaceAll('"', "''"))}"\n`,
    `${roff(command.description())}\n`,
    ...help.visibleArguments(command).flatMap((each) => (each.description ? [entry(help.argumentTerm(each), each.description)] : [])),
    ...options.map((option) => entry(help.optionTerm(option), help.optionDescription(option))),
    example ? `.PP\nExample:\n.RS\n${roff(example)}\n.RE\n` : '',
  ]
    .join('')
    .replaceAll(`${program} ${program} `, `${program} `)
}

/** With what `addHelpText` adds, which only printing shows. */
function helpOf(command: Command): string {
  let text = ''
  const { writeOut } = command.configureOutput()
  command.configureOutput({ writeOut: (more) => (text += more) })
  command.outputHelp()
  command.configureOutput({ writeOut: writeOut! })
  return text
}

/** What the help of a program says below its commands. */
function footerOf(program: Command): string {
  const text = helpOf(program).replaceAll('npx berthd', 'sudo berthd')
  return text.slice(text.lastIndexOf('\n\n')).trim().replaceAll('\n', '\n\n')
}

export function settingsSections(): string {
  const settings = Object.values(SETTINGS).map(({ variable, about }) => entry(variable, `${about}.`))
  return `.SH ENVIRONMENT
${settings.join('')}.SH FILES
${entry('/etc/berth/berth.env', 'The settings above, one NAME=value per line.')}${entry('/var/lib/berth', 'Master key and images.')}`
}
