import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a firewall that is bound to no VM',
  args: '<firewall>',
  example: 'firewall delete web',
  run: async (call, _, firewall: string) =>
    said(await call.berth.firewalls.delete(await call.id('firewall', firewall)), firewall, `Firewall ${firewall} is gone`),
})
