import { describe, expect, test } from 'vitest'
import type { Action, Backup, Event } from '../../sdk/src/index.ts'
import { backupState } from '../src/screens/vm/backup-state.ts'
import { monthly, monthStart, spent, toCome, total } from '../src/screens/vm/cost.ts'
import { happenings } from '../src/screens/vm/happened.ts'

const action = (id: string, createdAt: string, more: Partial<Action> = {}): Action =>
  ({ id, action: 'RESTART', status: 'COMPLETED', createdAt, completedAt: createdAt, error: null, ...more }) as Action
const event = (cursor: string, type: string, timestamp: string, data: object): Event =>
  ({ cursor, type, timestamp, data }) as unknown as Event
const vm = { id: 'cvm000001', name: 'web' }

describe('what happened to a VM', () => {
  test('is its actions as sentences, newest first', () => {
    const actions = [
      action('2', '2026-11-02T00:00:00Z', { status: 'FAILED', error: 'no room' }),
      action('1', '2026-11-01T00:00:00Z', { action: 'CREATE' }),
      action('3', '2026-11-03T00:00:00Z', { status: 'RUNNING', completedAt: null }),
      action('4', '2026-10-01T00:00:00Z', { action: 'NEW_VERB' }),
    ]
    expect(happenings(vm.id, actions, []).map(({ text, tone }) => [text, tone])).toEqual([
      ['Rebooting …', 'busy'],
      ['Rebooting failed: no room', 'bad'],
      ['Created', 'good'],
      ['NEW_VERB: done', 'good'],
    ])
  })

  test('and what no action stands for: of this VM, and not what its owner did', () => {
    const events = [
      event('1', 'vm.renewed', '2026-11-01T00:00:00Z', { vm }),
      event('2', 'vm.renewed', '2026-11-01T00:00:00Z', { vm: { id: 'cother0001', name: 'db' } }),
      event('3', 'vm.stopped', '2026-11-02T00:00:00Z', { vm, reason: 'user' }),
      event('4', 'vm.stopped', '2026-11-03T00:00:00Z', { vm, reason: 'guest' }),
      event('5', 'bandwidth.throttled', '2026-11-04T00:00:00Z', { vm }),
      event('6', 'bandwidth.unthrottled', '2026-11-05T00:00:00Z', { vm }),
      event('7', 'ticket.reply', '2026-11-06T00:00:00Z', { ticket: { subject: 'x' } }),
      event('8', 'alert.fired', '2026-11-06T00:00:00Z', { alert: { name: 'x', metric: 'm' }, vm: null, value: 1 }),
    ]
    expect(happenings(vm.id, [], events).map(({ key, tone }) => [key, tone])).toEqual([
      ['6', 'quiet'],
      ['5', 'bad'],
      ['4', 'quiet'],
      ['1', 'quiet'],
    ])
    expect(happenings(vm.id, [], events, 2)).toHaveLength(2)
  })
})

describe('the cost of a VM', () => {
  const priced = (priceMonthly: string, nextRenewalAt: string) => ({ billing: { priceMonthly, nextRenewalAt } })

  test('is what the ledger says, less refunds, without errors of rounding', () => {
    expect(spent([{ amount: '-0.10' }, { amount: '-0.20' }, { amount: '0.05' }])).toBe('0.25')
    expect(spent([])).toBe('0.00')
    expect(total('0.10', '0.20')).toBe('0.30')
    expect(monthly([priced('1.10', ''), priced('2.20', '')])).toBe('3.30')
  })

  test('to come is what renews before the month ends, in UTC', () => {
    const now = Date.parse('2026-12-15T12:00:00Z')
    expect(monthStart(now).toISOString()).toBe('2026-12-01T00:00:00.000Z')
    expect(toCome([priced('3.00', '2026-12-31T23:59:59Z')], now)).toBe('3.00')
    expect(toCome([priced('3.00', '2027-01-01T00:00:00Z'), priced('4.00', '2026-12-14T00:00:00Z')], now)).toBe('0.00')
  })
})

test('the state of backups is the newest that can be restored, the last proof, and what failed since', () => {
  const backup = (name: string, completedAt: string | null, more: Partial<Backup> = {}): Backup =>
    ({
      name,
      status: 'AVAILABLE',
      completedAt,
      createdAt: completedAt ?? '2026-11-04T00:00:00Z',
      verifiedAt: null,
      verification: null,
      ...more,
    }) as Backup
  expect(backupState([])).toEqual({ latest: null, proved: null, failed: null })
  const [one, two] = [
    backup('one', '2026-11-01T00:00:00Z', { verifiedAt: '2026-11-02T00:00:00Z', verification: 'BOOTED' }),
    backup('two', '2026-11-03T00:00:00Z'),
  ]
  expect(backupState([one, two])).toEqual({ latest: '2026-11-03T00:00:00Z', proved: '2026-11-02T00:00:00Z', failed: null })
  expect(backupState([one, two, backup('three', null, { status: 'FAILED' })]).failed).toBe('three')
  expect(backupState([two, backup('old', null, { status: 'FAILED', createdAt: '2026-11-01T00:00:00Z' })]).failed).toBeNull()
  expect(backupState([backup('bad', '2026-11-01T00:00:00Z', { verification: 'FAILED' })]).failed).toBe('bad')
})
