import type { Config } from '../../config.ts'
import type { Finding } from '../../host-setup/finding.ts'

export { failure, ok, warning, type Finding } from '../../host-setup/finding.ts'

export type Check = (config: Config) => Promise<Finding>
