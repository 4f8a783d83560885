import { expect, test } from 'vitest'
import { securityModelsIn } from '../../host-setup/facts.ts'
import { confinementOf } from './host.ts'

const capabilities = (...models: string[]): string =>
  `<capabilities><host>${models.map((model) => `<secmodel>\n  <model>${model}</model>\n  <doi>0</doi>\n</secmodel>`).join('')}</host></capabilities>`

test.each([
  [['apparmor', 'dac'], 'ok', 'guests are confined by AppArmor; each guest has a user of its own'],
  [['selinux', 'dac'], 'ok', 'guests are confined by SELinux; each guest has a user of its own'],
  [['none', 'dac'], 'warning', 'guests are confined neither by AppArmor nor by SELinux; each guest has a user of its own'],
  [[], 'warning', 'guests are confined neither by AppArmor nor by SELinux; all guests have one user'],
])('the security models %j are %s', (models, status, message) => {
  expect(confinementOf(securityModelsIn(capabilities(...models)))).toMatchObject({ status, message })
})
