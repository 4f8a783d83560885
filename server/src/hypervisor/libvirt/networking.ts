import type { Networking } from '../driver.ts'
import { filterMethods } from './filters.ts'
import { interfaceMethods } from './interfaces.ts'
import { limitMethods } from './limits.ts'
import { networkMethods } from './networks.ts'
import type { HostContext } from './session.ts'

export const networking = (context: HostContext): Networking => ({
  ...networkMethods(context),
  ...interfaceMethods(context),
  ...limitMethods(context),
  ...filterMethods(context),
})
