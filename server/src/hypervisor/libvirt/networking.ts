import type { Networking } from '../driver.ts'
import { filterVerbs } from './filters.ts'
import { interfaceVerbs } from './interfaces.ts'
import { limitVerbs } from './limits.ts'
import { networkVerbs } from './networks.ts'
import type { Session } from './session.ts'

export const networking = (session: Session): Networking => ({
  ...networkVerbs(session),
  ...interfaceVerbs(session),
  ...limitVerbs(session),
  ...filterVerbs(session),
})
