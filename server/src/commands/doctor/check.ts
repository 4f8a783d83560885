import type { Config } from '../../config.ts'
import type { Finding } from '../../host-setup/finding.ts'

export { failure, ok, warning, type Finding } from '../../host-setup/finding.ts'

/** API and worker as units, with a user of their own: all hosts are reached over TLS, this machine too if it is one. */
export const isService = ({ databaseUrl, hypervisor }: Config): boolean =>
  databaseUrl !== null && hypervisor === 'libvirt' && process.getuid?.() !== 0

export type Check = (config: Config) => Promise<Finding>
