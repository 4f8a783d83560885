// Everything that is asked of one machine.
import type { Machines } from '../driver.ts'
import { passwordMethods } from './agent.ts'
import { diskMethods } from './disks.ts'
import { purgeMethods } from './gone.ts'
import { powerMethods } from './power.ts'
import { readinessMethods } from './ready.ts'
import { restartMethods } from './restart.ts'
import type { HostContext } from './session.ts'
import { definitionMethods } from './shape.ts'

export const machines = (context: HostContext): Machines => ({
  ...diskMethods(context),
  ...definitionMethods(context),
  ...powerMethods(context),
  ...restartMethods(context),
  ...readinessMethods(context),
  ...passwordMethods(context),
  ...purgeMethods(context),
})
