import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a firewall that is bound to no VM',
  args: '<firewall>',
  example: 'firewall delete web',
  asks: true,
  async run(call, _, firewall: string) {
    const id = await call.id('firewall', firewall)
    await call.confirm(`Firewall ${firewall} and its rules will be gone.`, firewall)
    return said(await call.berth.firewalls.delete(id), firewall, `Firewall ${firewall} is gone`)
  },
})
