import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { BINDING_COLUMNS, vmOf } from './bindings.ts'

export const binding = verb({
  name: 'binding',
  about: "whether a firewall guards a VM, and whether the VM's host has its latest rules",
  args: '<firewall> <vm>',
  example: 'firewall binding web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return record(await call.berth.firewalls.binding(id, vmId), BINDING_COLUMNS, vmOf)
  },
})
