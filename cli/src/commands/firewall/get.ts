import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { FIREWALL_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a firewall',
  args: '<firewall>',
  example: 'firewall get web',
  run: async (call, _, firewall: string) => record(await call.berth.firewalls.get(await call.id('firewall', firewall)), FIREWALL_FIELDS),
})
