import { describe, expect, test } from 'vitest'
import { conflicts, withSettings } from './managed-block.ts'

const ours = { listen_tls: 1, tls_port: '16514', tls_allowed_dn_list: ['CN=a', 'CN=b'] }
const block = (...lines: string[]) => ['# Berth: begin. Written by berthd host prepare.', ...lines, '# Berth: end', ''].join('\n')
const all = block('listen_tls = 1', 'tls_port = "16514"', 'tls_allowed_dn_list = ["CN=a", "CN=b"]')

describe('the managed block of a foreign configuration file', () => {
  test('is appended at the end', () => {
    expect(withSettings('', ours)).toBe(all)
    expect(withSettings('#listen_tls = 0\nmax_clients = 5\n', ours)).toBe(`#listen_tls = 0\nmax_clients = 5\n\n${all}`)
  })

  test('is replaced as a unit and idempotent', () => {
    const once = withSettings('max_clients = 5\n', { listen_tls: 0 })
    expect(withSettings(once, ours)).toBe(`max_clients = 5\n\n${all}`)
    expect(withSettings(withSettings(once, ours), ours)).toBe(`max_clients = 5\n\n${all}`)
    expect(withSettings(withSettings('max_clients = 5\n', ours), {})).toBe('max_clients = 5\n')
  })

  test('omits settings that the operator has set to the same value', () => {
    const theirs = 'tls_port="16514"\ntls_allowed_dn_list = [\n  "CN=a",\n  "CN=b"\n]\n'
    expect(conflicts(theirs, ours)).toEqual([])
    expect(withSettings(theirs, ours)).toBe(`${theirs}\n${block('listen_tls = 1')}`)
  })

  test('conflicts with settings that the operator has set to another value', () => {
    expect(conflicts('tls_port = "1" # as agreed\n', ours)).toEqual(['tls_port'])
    expect(conflicts('#tls_port = "1"\nother_tls_port = "1"\n', ours)).toEqual([])
  })
})
