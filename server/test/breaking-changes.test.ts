// An expand does nothing that breaks the version before it, which runs beside it and may be started again.
import { describe, expect, test } from 'vitest'
import { MIGRATIONS } from '../src/database.ts'
import { isContract, knownMigrations } from '../src/kernel/database/migrate.ts'
import { breakingChanges } from './breaking-changes.ts'

/** Before there were contracts. What breaks up to here is in docs/operate/upgrades.md. */
const LAST_WITHOUT_RULE = '0078_vm_address_rests'
/** Of the last release: the contracts after it come last, so that all expands can be applied beside that release. */
const LAST_RELEASED = '0027_invariants'

const migrations = knownMigrations(MIGRATIONS)

test.each(migrations.filter(({ name }) => name > LAST_WITHOUT_RULE && !isContract(name)))(
  '$name breaks nothing; what does belongs into a file named …_contract_…',
  ({ text }) => expect(breakingChanges(text)).toEqual([]),
)

test('contracts come after all expands of their release', () => {
  const names = migrations.map(({ name }) => name).filter((name) => name > LAST_RELEASED)
  const first = names.findIndex(isContract)
  expect(first === -1 ? [] : names.slice(first).filter((name) => !isContract(name))).toEqual([])
})

describe('is found', () => {
  test.each([
    ['drops a column', 'alter table vms drop column note'],
    ['drops a column', 'alter table vms add column title text,\n  drop column if exists note'],
    ['drops: ', 'drop table notes'],
    ['drops: ', 'drop view vm_details'],
    ['drops: ', 'drop function price(text)'],
    ['renames', 'alter table vms rename column note to title'],
    ['renames', 'alter table vms rename to machines'],
    ['changes a type', 'ALTER TABLE vms ALTER COLUMN note TYPE bigint USING note::bigint'],
    ['changes a type', 'alter table vms alter note set data type text'],
    ['requires a value', 'alter table vms alter column note set not null'],
    ['requires a value', 'alter table vms add column note text not null'],
    ['requires a value', 'alter table vms add note text not null references notes'],
    ['drops a default', 'alter table vms alter column note drop default'],
    ['refuses rows', "alter table vms add constraint vms_note check (note <> '')"],
    ['refuses rows', 'alter table vms add column title text, add check (title is null or note is not null)'],
    ['refuses rows', 'alter table vms add unique (note)'],
    ['refuses rows', 'create unique index vms_by_note on vms (note)'],
    ['takes away', 'truncate notes'],
    ['drops a column', '-- a note is no longer kept\nalter table public.vms drop column note;'],
  ])('%s: %s', (what, text) => expect(breakingChanges(text)).toEqual([expect.stringContaining(what)]))
})

describe('is no problem', () => {
  test.each([
    'alter table vms add column note text',
    "alter table vms add column note text not null default ''",
    'alter table vms add column length int generated always as (length(name)) stored not null',
    'alter table vms alter column note drop not null, alter column title set default 0',
    'create table notes (id text primary key, text text not null); create unique index notes_text on notes (text); alter table notes add unique (id, text)',
    'alter table vms add column note text, add column title text, add check (note is null or length(title) between 1 and 9)',
    'alter table vms add column note text; create unique index vms_by_note on vms (note) where note is not null',
    "alter table vms drop constraint vms_kind, add constraint vms_kind check (kind in ('a', 'b', 'c'))",
    'drop view vm_details; create view vm_details as select id from vms',
    'create or replace view vm_details as select id, note from vms',
    "update vms set note = 'drop column name' where note is null",
    '-- alter table vms drop column note\nselect 1',
    'drop index vms_by_note',
    '-- refuses no row: the id is unique already\nalter table vms add constraint vms_place unique (id, region_id)',
  ])('%s', (text) => expect(breakingChanges(text)).toEqual([]))
})
