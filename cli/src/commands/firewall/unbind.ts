import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const unbind = verb({
  name: 'unbind',
  about: 'let a firewall guard a VM no longer',
  args: '<firewall> <vm>',
  example: 'firewall unbind web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return said(await call.berth.firewalls.unbind(id, vmId), firewall, `Firewall ${firewall} no longer guards ${vm}`)
  },
})
