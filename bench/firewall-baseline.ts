// The same change by ovn-nbctl alone: one rule more for the ports of some VMs.
import { portName } from '../server/src/hypervisor/network-controller.ts'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'

export interface BareRule {
  open(): Promise<unknown>
  close(): Promise<unknown>
  remove(): Promise<unknown>
}

const GROUP = 'bench'
/** Above the rules of customers. */
const PRIORITY = '31000'

export async function bareRule(sandbox: Sandbox, vmIds: readonly string[], port: number): Promise<BareRule> {
  const nbctl = (...args: string[]): Promise<string> => sandbox.inside('ovn-nbctl', '--wait=hv', ...args)
  const ports = await Promise.all(vmIds.map(async (vmId) => portName(await macOf(sandbox, vmId))))
  await nbctl('pg-add', GROUP, ...ports)
  const match = [GROUP, 'to-lport', PRIORITY, `outport == @${GROUP} && udp.dst == ${port}`]
  return {
    open: () => nbctl('--type=port-group', 'acl-add', ...match, 'allow-related'),
    close: () => nbctl('--type=port-group', 'acl-del', ...match),
    remove: () => nbctl('pg-del', GROUP),
  }
}

const macOf = async (sandbox: Sandbox, vmId: string): Promise<string> =>
  /(?:[\da-f]{2}:){5}[\da-f]{2}/.exec(await sandbox.virsh('domiflist', `berth-${vmId}`))![0]
