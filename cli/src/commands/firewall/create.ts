import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { FIREWALL_FIELDS } from '../views.ts'

export const create = verb<{ description?: string }>({
  name: 'create',
  about: 'make a firewall; without rules it lets nothing in',
  args: '<name>',
  options: [['--description <text>', 'what it is for']],
  example: 'firewall create web',
  run: async ({ berth }, { description }, name: string) =>
    record(await berth.firewalls.create({ name, ...given({ description }) }), FIREWALL_FIELDS),
})
