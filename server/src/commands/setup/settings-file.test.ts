import { describe, expect, test } from 'vitest'
import { changeSettings, readSettings } from './settings-file.ts'

const FILE = `# A comment.
BERTH_PORT=9000
#BERTH_DATABASE_URL=
export BERTH_SELLER_NAME="Example # Cloud"
BERTH_PUBLIC_URL=https://old.example.com
`

test('changes what is named and keeps everything else, comments too', () => {
  const changed = changeSettings(FILE, {
    BERTH_PUBLIC_URL: 'https://new.example.com',
    BERTH_DATABASE_URL: 'postgres://a:b@c/d',
    BERTH_HYPERVISOR: 'libvirt',
  })
  expect(changed).toBe(`# A comment.
BERTH_PORT=9000
BERTH_DATABASE_URL=postgres://a:b@c/d
export BERTH_SELLER_NAME="Example # Cloud"
BERTH_PUBLIC_URL=https://new.example.com
BERTH_HYPERVISOR=libvirt
`)
  expect(changeSettings(changed, { BERTH_HYPERVISOR: 'libvirt' })).toBe(changed)
  expect(readSettings(changed)['BERTH_SELLER_NAME']).toBe('Example # Cloud')
})

test('begins with an empty file', () => expect(changeSettings('', { BERTH_PORT: '1' })).toBe('BERTH_PORT=1\n'))

describe('values', () => {
  test.each(['Example Cloud <noreply@example.com>', 'a#b', 'with "quotes"', 'postgres://u:p%23@[::1]:5432/d?sslmode=require', '$HOME'])(
    'are read as they were given: %s',
    (value) => expect(readSettings(changeSettings(FILE, { BERTH_MAIL_FROM: value }))['BERTH_MAIL_FROM']).toBe(value),
  )

  test.each(["it's", 'a\\b', 'a\nBERTH_PORT=1'])('that systemd and Node would read differently are refused: %j', (value) =>
    expect(() => changeSettings(FILE, { BERTH_MAIL_FROM: value })).toThrow('BERTH_MAIL_FROM must not contain'),
  )
})

test('a value of several lines is left to the operator', () =>
  expect(() => changeSettings('BERTH_SELLER_ADDRESS="a\nb"\n', { BERTH_SELLER_ADDRESS: 'c' })).toThrow('Edit it by hand'))
