// An account with a project.
import { sql } from '../src/kernel/database/db.ts'
import { givenMember } from './browser.ts'
import type { Answer, TestApp } from './harness.ts'
import { generateKey } from './openssh-keys.ts'

export const codeOf = ({ status, headers }: Pick<Answer, 'status' | 'headers'>) => [status, headers['x-error-code']]
export const key = () => ({ name: 'laptop', publicKey: generateKey().line })

export const projectFixture = (app: TestApp) => ({
  /** With an owner, and a name and address that nobody in its project may learn. */
  async company(credit = '100.00') {
    const payer = await app.given.customer({ credit })
    await app.db.run(
      sql`update accounts set name = 'Secret Ltd', email = ${`secret-${payer.accountId}@example.com`} where id = ${payer.accountId}`,
    )
    const member = (role: string, scopes?: string[]) => givenMember(app, payer.accountId, role, scopes)
    const project = await app.given.project(payer)
    return { payer, project, member, owner: await member('owner') }
  },
})
