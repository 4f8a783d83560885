// Everything that is asked of one machine.
import type { Machines } from '../driver.ts'
import { passwordVerbs } from './agent.ts'
import { diskVerbs } from './disks.ts'
import { goneVerbs } from './gone.ts'
import { powerVerbs } from './power.ts'
import { readyVerbs } from './ready.ts'
import { restartVerbs } from './restart.ts'
import type { Session } from './session.ts'
import { shapeVerbs } from './shape.ts'

export const machines = (session: Session): Machines => ({
  ...diskVerbs(session),
  ...shapeVerbs(session),
  ...powerVerbs(session),
  ...restartVerbs(session),
  ...readyVerbs(session),
  ...passwordVerbs(session),
  ...goneVerbs(session),
})
