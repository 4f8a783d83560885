// What every feature is handed. Only compose.ts builds it.
import type { Config } from '../config.ts'
import type { Api } from '../http/api/api.ts'
import type { DriverPool } from '../hypervisor/driver-pool.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import type { Db } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Mailer } from '../kernel/net/smtp.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Outbound } from '../kernel/net/outbound-http.ts'
import { keyedReconcilersFor, reconcilersFor } from '../workflow/reconciler-loop.ts'
import { workflowsFor, type Engine } from '../workflow/workflow-builder.ts'
import type { RunWatcher } from '../workflow/run-watcher.ts'
import type { AuditTrail } from './audit-log/audit-trail.ts'
import type { EventFeed } from './events/feed.ts'
import type { PaymentProvider } from './payments/provider.ts'

export interface Deps {
  config: Config
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  vault: Vault
  /** Null when customers cannot deposit by themselves. */
  payments: PaymentProvider | null
  workflows: Engine
  watch: RunWatcher
  feed: EventFeed
  audit: AuditTrail
  outbound: Outbound
  /** Null while no mail is to be sent. */
  mailer: Mailer | null
  hypervisors: DriverPool
}

export type Routes = (api: Api, deps: Deps) => void

export const workflow = workflowsFor<Deps>()
export const reconciler = reconcilersFor<Deps>()
export const keyedReconciler = keyedReconcilersFor<Deps>()
