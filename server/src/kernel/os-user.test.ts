import { afterAll, expect, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { ensureSystemUser, findUser, run } from './os-user.ts'

const name = `berth-test-${process.pid}`
afterAll(async () => {
  if (await findUser(name)) await run(['userdel', name])
})

describeIf(process.getuid!() === 0 ? undefined : 'only root creates users')('ensureSystemUser', () => {
  test('gives processes that start at once the same user', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => ensureSystemUser(name)))
    expect(new Set(users.map(({ uid }) => uid)).size).toBe(1)
  })
})
