import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given, requireSome } from '../../options.ts'
import { FIREWALL_FIELDS } from '../views.ts'

export const update = verb<{ name?: string; description?: string }>({
  name: 'update',
  about: 'change the name or description of a firewall',
  args: '<firewall>',
  options: [
    ['--name <name>', 'its new name'],
    ['--description <text>', 'what it is for'],
  ],
  example: 'firewall update web --name frontend',
  async run(call, { name, description }, firewall: string) {
    const body = requireSome(given({ name, description }), '--name, --description')
    return record(await call.berth.firewalls.update(await call.id('firewall', firewall), body), FIREWALL_FIELDS)
  },
})
