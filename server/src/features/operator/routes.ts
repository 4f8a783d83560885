// The operator area. Its scope is one that no token can have: only people who are operators do.
import type { Routes } from '../deps.ts'
import { customerRoutes } from './customers.routes.ts'
import { fleetRoutes } from './fleet.routes.ts'
import { ticketRoutes } from './tickets.routes.ts'
import { workRoutes } from './work.routes.ts'
import type { HealthChecks } from './actions-health.ts'

/** `look`: the checks of this process. */
export const operatorRoutes = (look: HealthChecks): Routes[] => [fleetRoutes, customerRoutes, workRoutes(look), ticketRoutes]
