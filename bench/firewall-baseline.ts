// The same change by ovn-nbctl alone: a group of the ports of some VMs with one rule more.
import { portName } from '../server/src/hypervisor/network-controller.ts'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'

export interface BareRule {
  open(): Promise<unknown>
  close(): Promise<unknown>
}

const GROUP = 'bench'
/** Above the rules of customers. */
const PRIORITY = '31000'

/** A group is made anew each time, as ours are: OVN 23.03 does not always notice a rule that returns to a group which was there. */
export async function bareRule(sandbox: Sandbox, vmIds: readonly string[], port: number): Promise<BareRule> {
  const nbctl = (...args: string[]): Promise<string> => sandbox.inside('ovn-nbctl', '--wait=hv', ...args)
  const ports = await Promise.all(vmIds.map(async (vmId) => portName(await macOf(sandbox, vmId))))
  const rule = [GROUP, 'to-lport', PRIORITY, `outport == @${GROUP} && udp.dst == ${port}`, 'allow-related']
  return {
    open: () => nbctl('pg-add', GROUP, ...ports, '--', '--type=port-group', 'acl-add', ...rule),
    close: () => nbctl('pg-del', GROUP),
  }
}

const macOf = async (sandbox: Sandbox, vmId: string): Promise<string> =>
  /(?:[\da-f]{2}:){5}[\da-f]{2}/.exec(await sandbox.virsh('domiflist', `berth-${vmId}`))![0]
