// Everything the product can do, in dependency order.
import type { AnyWorkflow } from '../workflow/run.ts'
import type { Reconciler } from '../workflow/reconcile.ts'
import { catalogRoutes } from './catalog/routes.ts'
import type { Deps, Routes } from './deps.ts'
import { hostRoutes } from './hosts/routes.ts'

export const routes: Routes[] = [catalogRoutes, hostRoutes]

export const workflows: AnyWorkflow[] = []

export const reconcilers: Reconciler<Deps>[] = []
