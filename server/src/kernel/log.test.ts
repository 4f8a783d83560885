import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { apiError } from './errors.ts'
import { createLog, rateLimitedWarn, type Log } from './log.ts'

test('repeated errors are logged once and counted', () => {
  const written: unknown[] = []
  const warn = rateLimitedWarn({ warn: (fields: unknown, message: string) => written.push([fields, message]) } as unknown as Log, 'queue')
  for (let i = 0; i < 100; i++) warn(`error ${i}`)
  expect(written).toEqual([[{ err: 'error 0' }, 'queue']])
})

describe('the log', () => {
  const linesOf = (pretty: boolean, write: (log: Log) => void): string => {
    const to = new PassThrough()
    write(createLog({ level: 'info', pretty, to }))
    return String(to.read())
  }

  test('prints one line per event on a terminal, followed by its fields', () => {
    const line = linesOf(true, (log) => log.info({ requestId: 'r1', operationId: 'createVm', status: 202 }, 'request completed'))
    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: request completed \{"operationId":"createVm","status":202\}\n$/)
  })

  test('prints an API error on a terminal without a stack', () => {
    const line = linesOf(true, (log) => log.warn({ err: apiError('no_capacity', 'No host has room'), vmId: 'v1' }, 'workflow step failed'))
    expect(line).toMatch(/WARN: workflow step failed \{"vmId":"v1","reason":"No host has room"\}\n$/)
  })

  test('prints the stack of an unexpected error', () => {
    expect(linesOf(true, (log) => log.error({ err: new Error('boom') }, 'request failed'))).toContain('at ')
  })

  test('prints no control and no bidirectional characters on a terminal', () => {
    const evil = 'a\u001b[2J\u009b\r\b\u0085b\u202e\u2028\\u001b"\tc'
    const clean = 'a\ufffd[2J\ufffd\ufffd\ufffd\ufffdb\ufffd\ufffd\\u001b"\tc'
    const error = Object.assign(new Error(evil), { stack: `Error: ${evil}` })
    const lines = linesOf(true, (log) => log.warn({ err: error, label: evil }, evil))
    expect(lines).toContain(`WARN: ${clean} `)
    expect(lines).toContain('"label":"a\ufffd[2J\ufffd')
    expect(lines).toContain(`Error: ${clean}`)
    expect(lines).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u)
  })

  test('prints JSON elsewhere, with stacks and without secrets', () => {
    const line = JSON.parse(linesOf(false, (log) => log.error({ err: apiError('no_capacity', 'No host'), password: 'x' }, 'failed')))
    expect(line).toMatchObject({ msg: 'failed', password: '[redacted]', err: { message: 'No host', stack: expect.any(String) } })
  })
})
