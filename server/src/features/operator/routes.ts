// The operator area. No token can have its scope: only users who are operators have it.
import type { Routes } from '../deps.ts'
import { addressHistoryRoutes } from './addresses.routes.ts'
import { announcementRoutes } from './announcements.routes.ts'
import { brandingRoutes } from './branding.routes.ts'
import { customerRoutes } from './customers.routes.ts'
import { enrollmentRoutes } from './enrollments.routes.ts'
import { fleetRoutes } from './fleet.routes.ts'
import { maintenanceRoutes } from './maintenances.routes.ts'
import { moveRoutes } from './moves.routes.ts'
import { revenueRoutes } from './revenue.routes.ts'
import { templateRoutes } from './templates.routes.ts'
import { ticketRoutes } from './tickets.routes.ts'
import { workRoutes } from './work.routes.ts'
import type { HealthChecks } from './actions-health.ts'

/** `look`: the health checks of this process. */
export const operatorRoutes = (look: HealthChecks): Routes[] => [
  fleetRoutes,
  enrollmentRoutes,
  templateRoutes,
  maintenanceRoutes,
  moveRoutes,
  announcementRoutes,
  brandingRoutes,
  customerRoutes,
  revenueRoutes,
  addressHistoryRoutes,
  workRoutes(look),
  ticketRoutes,
]
