// Everything the product can do, in dependency order.
import type { AnyWorkflow } from '../workflow/run.ts'
import type { Reconciler } from '../workflow/reconcile.ts'
import { accountRoutes } from './accounts/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import type { Deps, Routes } from './deps.ts'
import { hostRoutes } from './hosts/routes.ts'
import { applyNetworks } from './networks/apply.reconciler.ts'
import { watchNetworks } from './networks/drift.reconciler.ts'
import { networkRoutes } from './networks/routes.ts'
import { sshKeyRoutes } from './ssh-keys/routes.ts'
import { walletRoutes } from './wallet/routes.ts'
import { nothingRenews } from './wallet/service.ts'

export const routes: Routes[] = [catalogRoutes, accountRoutes, walletRoutes(nothingRenews), hostRoutes, sshKeyRoutes, networkRoutes]

export const workflows: AnyWorkflow[] = []

export const reconcilers: Reconciler<Deps>[] = [applyNetworks, watchNetworks]
