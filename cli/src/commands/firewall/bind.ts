import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const bind = verb({
  name: 'bind',
  about: 'let a firewall guard a VM',
  args: '<firewall> <vm>',
  example: 'firewall bind web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return said(await call.berth.firewalls.bind(id, vmId), firewall, `Firewall ${firewall} guards ${vm}`)
  },
})
