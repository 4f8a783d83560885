import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.ts'
import { VERSION } from '../src/version.ts'
import { berth } from './fixture.ts'

const io = { env: {}, stdin: process.stdin, stdout: { write: () => {} }, stderr: { write: () => {} } }

const leaves = (command: Command, path: string[] = []): { command: Command; path: string[] }[] =>
  command.commands.length === 0 ? [{ command, path }] : command.commands.flatMap((child) => leaves(child, [...path, child.name()]))

test.each(leaves(createProgram(io)).map(({ path }) => path.join(' ')))('%s has an example that it parses', async (path) => {
  const { code, stdout } = await berth({}, [...path.split(' '), '--help'])
  const [, example] = /\nExample:\n {2}\$ berth (.+)\n$/.exec(stdout)!
  expect([code, example!.startsWith(path)]).toEqual([0, true])
  const program = createProgram(io)
  const { command } = leaves(program).find((each) => each.path.join(' ') === path)!
  const words = [...example!.replace(/ [<>|].*$/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3]!,
  )
  command.action(() => {})
  await program.parseAsync(words, { from: 'user' })
})

test('--version prints the package version', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string }
  expect([VERSION, (await berth({}, ['--version'])).stdout]).toEqual([version, `${version}\n`])
})
