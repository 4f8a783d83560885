import { expect, test } from 'vitest'
import { explainCephFailure } from './ceph-failure.ts'

const backend = { id: 'x', monitors: ['10.0.0.1', '10.0.0.2'], pool: 'berth', user: 'ann', key: '' }
const explain = (text: string) => explainCephFailure(text, backend)

const TIMED_OUT = '2026-11-18T14:12:13.153+0000 7fcd0f8a5380  0 monclient(hunting): authenticate timed out after 15'
const END = "rbd: couldn't connect to the cluster!\nrbd: listing images failed: (110) Connection timed out"
const REFUSED = 'monclient(hunting): handle_auth_bad_method server allowed_methods [2] but i only support [2,1]'

test('says which of monitors, user, pool and capabilities is wrong', () => {
  expect(explain(`${TIMED_OUT}\n\n${END}`)).toBe('no monitor answers at 10.0.0.1, 10.0.0.2')
  expect(explain(`${REFUSED}\n\n${REFUSED}\n\n${TIMED_OUT}\n\n${END}`)).toMatch(/refuses the user ann .*client\.ann/)
  expect(explain("rbd: error opening pool 'berth': (2) No such file or directory")).toMatch(/no such pool: .*rbd pool init berth/)
  expect(explain('rbd: listing images failed: (1) Operation not permitted')).toMatch(/the user ann may not use it/)
  expect(explain('rbd: create error: (28) No space left on device')).toBeUndefined()
})
