import type { Config } from '../config.ts'

/** What runs the VMs here. Must be asked before the catalog is filled in, which writes it into the local host's row. */
export function requireHypervisor({ hypervisor }: Pick<Config, 'hypervisor'>): 'simulated' {
  if (hypervisor !== 'libvirt') return 'simulated'
  throw new Error('BERTH_HYPERVISOR=libvirt: this version cannot drive libvirt yet. Unset it, or set it to simulated')
}
