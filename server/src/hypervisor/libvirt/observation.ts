import type { Monitoring } from '../driver.ts'
import { consoleMethods } from './console.ts'
import { eventMethods } from './events.ts'
import { factMethods } from './facts.ts'
import { healthMethods } from './health.ts'
import { inventoryMethods } from './inventory.ts'
import { statsMethods } from './measure.ts'
import type { HostContext } from './session.ts'

export const observation = (context: HostContext): Monitoring => ({
  ...inventoryMethods(context),
  ...statsMethods(context),
  ...eventMethods(context),
  ...consoleMethods(context),
  ...factMethods(context),
  ...healthMethods(context),
})
