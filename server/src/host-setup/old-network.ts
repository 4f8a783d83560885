// Removes what earlier versions made the networks of VMs with: libvirt networks on Linux bridges, libvirt's filters, and their iptables chains.
import type { Connection, Named } from '@berth/libvirt'
import { withLibvirt } from './libvirt.ts'
import { findInterface, OLD_GATEWAY } from './plan.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { succeeds } from './shell.ts'

const CHAINS = [
  { table: 'raw', parent: 'PREROUTING', name: 'BERTH-RAW' },
  { table: 'mangle', parent: 'POSTROUTING', name: 'BERTH-UNSEEN' },
  { table: 'filter', parent: 'libvirt-in', name: 'BERTH-FROM-VM' },
  { table: 'filter', parent: 'libvirt-out', name: 'BERTH-TO-VM' },
]

export const oldNetwork: Step = {
  name: 'old-network',
  check: () =>
    withLibvirt(async (libvirt) => {
      const { networks, filters } = await find(libvirt)
      const rest = [...networks, ...filters].map(({ name }) => name)
      if (await findInterface(OLD_GATEWAY)) rest.push(OLD_GATEWAY)
      for (const { table, name } of CHAINS) if (await succeeds('iptables', '-w', '-t', table, '-S', name)) rest.push(name)
      return rest.length === 0
        ? satisfied('no bridges and filters of earlier versions')
        : missing(`earlier versions left ${rest.join(', ')}`)
    }).catch((error: unknown) => {
      if ((error as { outcome?: string }).outcome !== 'not sent') throw error
      return satisfied('networks of earlier versions are looked for when libvirtd runs')
    }),
  apply: () =>
    withLibvirt(async (libvirt) => {
      const { networks, filters } = await find(libvirt)
      await requireUnused(libvirt)
      for (const network of networks) {
        if (await libvirt.networks.isActive({ network })) await libvirt.networks.destroy({ network })
        await libvirt.networks.undefine({ network })
      }
      for (const filter of filters) await libvirt.filters.undefine({ filter })
      await succeeds('ip', 'link', 'del', OLD_GATEWAY)
      for (const { table, parent, name } of CHAINS) {
        for (const command of [
          ['-D', parent, '-j', name],
          ['-F', name],
          ['-X', name],
        ])
          await succeeds('iptables', '-w', '-t', table, ...command)
      }
    }),
}

async function find(libvirt: Connection): Promise<{ networks: Named[]; filters: Named[] }> {
  const ours = ({ name }: Named): boolean => name.startsWith('berth-')
  return {
    networks: (await libvirt.networks.listAll({})).filter(ours),
    filters: (await libvirt.filters.listAll({})).filter(ours),
  }
}

async function requireUnused(libvirt: Connection): Promise<void> {
  const domains = await libvirt.domains.listAll({})
  const described = await Promise.all(domains.map(async (domain) => ({ name: domain.name, xml: await libvirt.domains.getXml({ domain }) })))
  const users = described.filter(({ xml }) => /<source network='berth-/.test(xml)).map(({ name }) => name)
  if (users.length === 0) return
  throw new SetupError(
    `VMs of an earlier version use its network: ${users.join(', ')}`,
    `delete them, then run this again: ${users.map((name) => `virsh destroy ${name}; virsh undefine --nvram ${name}`).join('; ')}`,
  )
}
