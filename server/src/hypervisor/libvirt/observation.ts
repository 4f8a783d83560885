import type { Observation } from '../driver.ts'
import { consoleVerbs } from './console.ts'
import { eventVerbs } from './events.ts'
import { factVerbs } from './facts.ts'
import { healthVerbs } from './health.ts'
import { inventoryVerbs } from './inventory.ts'
import { measureVerbs } from './measure.ts'
import type { Session } from './session.ts'

export const observation = (session: Session): Observation => ({
  ...inventoryVerbs(session),
  ...measureVerbs(session),
  ...eventVerbs(session),
  ...consoleVerbs(session),
  ...factVerbs(session),
  ...healthVerbs(session),
})
