// Verifies the webhook examples in other languages against real signatures, and that `console` and `sh` examples use existing commands and options.
import { spawnSync } from 'node:child_process'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { verifyWebhook } from '../../sdk/src/index.ts'
import { createProgram as createBerthdProgram } from '../../server/src/commands/program.ts'
import { signatureOf } from '../../server/src/features/webhooks/message.ts'
import { createProgram } from '../src/program.ts'
import { examplesOf, languagesOf, pages } from './doc-examples.ts'

describe('every example', () => {
  /** Languages that a test executes or parses on every page; `special` adds languages of single pages. */
  const known = ['sh', 'console', 'text', 'json']
  const special: Record<string, string[]> = {
    'docs/guide/go.md': ['go'],
    'docs/guide/sdk.md': ['ts'],
    'docs/guide/python.md': ['python'],
    'docs/guide/ansible.md': ['yaml'],
    'docs/guide/webhooks.md': ['ts', 'python', 'perl'],
  }

  test.each(pages)('of %s has a language that some test checks', (page) => {
    expect(languagesOf(page).filter((language) => ![...known, ...(special[page] ?? [])].includes(language))).toEqual([])
    for (const text of examplesOf(page, 'json')) expect(() => JSON.parse(text) as unknown).not.toThrow()
  })
})

describe('docs/guide/webhooks.md', () => {
  const page = 'docs/guide/webhooks.md'
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, yes').toString('base64')}`
  const body = JSON.stringify({ id: 'c1', type: 'vm.created', timestamp: new Date().toISOString(), data: {} })
  const now = new Date()
  const headers = {
    'webhook-id': 'c1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': `v1,bm90IHRoaXM= ${signatureOf({ id: 'c1', url: '', secrets: [secret], body, sentAt: now })}`,
  }
  const inputs = (received: string): string => JSON.stringify({ body: received, headers, secret })
  const python = `${examplesOf(page, 'python')[0]}\nimport sys\ni = json.loads(sys.argv[1])\nprint(verify(i["body"].encode(), i["headers"], i["secret"])["type"])`
  const perl = `use JSON::PP;\n${examplesOf(page, 'perl')[0]}\nmy $i = decode_json($ARGV[0]);\nprint decode_json(verify($i->{body}, $i->{headers}, $i->{secret}))->{type}, "\\n";`

  test.each([
    ['python3', ['-c', python]],
    ['perl', ['-e', perl]],
  ])('%s accepts a valid signature and rejects a changed body', (program, args) => {
    const good = spawnSync(program, [...args, inputs(body)], { encoding: 'utf8' })
    expect([good.stderr, good.stdout]).toEqual(['', 'vm.created\n'])
    expect(spawnSync(program, [...args, inputs(`${body} `)]).status).not.toBe(0)
  })

  test('the SDK accepts a valid signature', async () => {
    expect(examplesOf(page, 'ts')[0]).toContain('await verifyWebhook(body, headers, secret)')
    expect(await verifyWebhook(body, headers, secret)).toMatchObject({ type: 'vm.created' })
  })
})

describe('examples use existing commands and options', () => {
  const io = { env: {}, stdin: process.stdin, stdout: { write: () => {} }, stderr: { write: () => {} } }
  const programs: Record<string, Command> = { berth: createProgram(io), berthd: createBerthdProgram(false) }
  const lines = pages.flatMap((page) =>
    ['console', 'sh'].flatMap((language) =>
      examplesOf(page, language).flatMap((text) => text.split('\n').map((line) => [page, line] as const)),
    ),
  )
  const ours = lines.flatMap(([page, line]) => {
    const found = /^(?:sudo |npx )*(berthd?) ([^#&|<>]+)/.exec(line)
    return found ? [{ page, program: found[1]!, words: found[2]!.trim().split(/\s+/) }] : []
  })

  test.each(ours)('$page: $program $words', ({ program, words }) => {
    let command = programs[program]!
    const rest = [...words]
    for (let next; (next = command.commands.find((each) => each.name() === rest[0])); rest.shift()) command = next
    expect(command.commands).toEqual([])
    const known = command.options.flatMap(({ short, long }) => [short, long])
    for (const word of rest.filter((each) => each.startsWith('--'))) expect(known).toContain(word)
  })
})
