import type { Body } from '@berth/sdk'
import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { wrongUsage } from '../../failure.ts'
import { given, whole } from '../../options.ts'

type Packet = Body<'checkPacket'>

export const check = verb<{ protocol?: string; port?: string; from?: string; to?: string }>({
  name: 'check',
  about: 'would this packet pass, and which rule decides?',
  args: '<firewall> <vm>',
  options: [
    ['--protocol <protocol>', 'tcp (unless given), udp or icmp'],
    ['--port <number>', 'destination port'],
    ['--from <address>', 'a packet to the VM from there'],
    ['--to <address>', 'a packet from the VM to there'],
  ],
  example: 'firewall check web web-1 --port 22 --from 198.51.100.7',
  async run(call, { protocol = 'tcp', port, from, to }, firewall: string, vm: string) {
    const address = from ?? to
    if (!address || (from && to)) throw wrongUsage('Say either --from or --to, with an address')
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    const verdict = await call.berth.firewalls.check(id, {
      vmId,
      address,
      direction: from ? 'IN' : 'OUT',
      protocol: protocol.toUpperCase() as Packet['protocol'],
      ...given({ port: port === undefined ? undefined : whole('--port', port) }),
    })
    const why = verdict.rule ? `rule ${verdict.rule.position} of firewall ${verdict.firewallId}` : 'no rule matches, so the default decides'
    return said(verdict, verdict.action, `${verdict.action}: ${why}`)
  },
})
