// Prometheus metrics on a separate port, which listens on loopback by default.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Metric, type OpenMetricsContentType } from 'prom-client'

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const withExemplars = { enableExemplars: true, registers: [] } // registered below: prom-client wants another format for them at this point
  const metrics = {
    registry,
    requests: new Histogram({
      name: 'berth_http_request_seconds',
      help: 'Duration of HTTP requests by operation and status',
      labelNames: ['operation', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      ...withExemplars,
    }),
    limiterFallbacks: new Counter({
      name: 'berth_rate_limit_fallback_total',
      help: 'Requests limited per process because the shared counter store did not answer',
      registers,
    }),
    steps: new Histogram({
      name: 'berth_workflow_step_seconds',
      help: 'Duration of workflow steps by workflow, step and outcome',
      labelNames: ['workflow', 'step', 'outcome'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300],
      ...withExemplars,
    }),
    runs: new Counter({
      name: 'berth_workflow_runs_total',
      help: 'Workflow runs that ended, by workflow and final status',
      labelNames: ['workflow', 'status'],
      registers,
    }),
    cleanupFailed: new Counter({
      name: 'berth_workflow_cleanup_failed_total',
      help: 'Workflow runs whose compensation was abandoned; manual cleanup required',
      labelNames: ['workflow'],
      registers,
    }),
    reconcilers: new Histogram({
      name: 'berth_reconciler_seconds',
      help: 'Duration of reconciler passes by name and outcome',
      labelNames: ['reconciler', 'outcome'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60],
      registers,
    }),
    outbound: new Histogram({
      name: 'berth_webhook_request_seconds',
      help: 'Duration of webhook requests, by outcome',
      labelNames: ['outcome'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 15],
      registers,
    }),
    emails: new Counter({
      name: 'berth_emails_total',
      help: 'Attempts to send an email by outcome: SENT, PENDING (will retry) or FAILED',
      labelNames: ['outcome'],
      registers,
    }),
    deadlocks: new Counter({
      name: 'berth_database_deadlocks_total',
      help: 'Transactions aborted by a deadlock and retried',
      registers,
    }),
    hostUp: new Gauge({
      name: 'berth_host_up',
      help: 'Whether a host is reachable, by host and maintenance mode',
      labelNames: ['host', 'maintenance'],
      registers,
    }),
    hostProblems: new Gauge({
      name: 'berth_host_problems',
      help: 'Number of problems of a reachable host, such as a nearly full disk; the log names them',
      labelNames: ['host'],
      registers,
    }),
    hostDiskRoom: new Gauge({
      name: 'berth_host_disk_room_ratio',
      help: 'Share of the disk of a host that can still be written above its reserve; negative below it, where nothing new is written',
      labelNames: ['host'],
      registers,
    }),
    hostRoom: new Gauge({
      name: 'berth_host_room_ratio',
      help: 'Share of the vCPUs and of the memory of a host that can still be sold; negative where more is sold than its overcommit allows',
      labelNames: ['host', 'resource'],
      registers,
    }),
    hostLost: new Gauge({
      name: 'berth_host_lost',
      help: 'Whether a host is silent on every path by which it could be heard',
      labelNames: ['host'],
      registers,
    }),
    hostFence: new Gauge({
      name: 'berth_host_fence',
      help: 'Hosts that are to be fenced, by state: requested, failed (nothing of it starts elsewhere) or fenced',
      labelNames: ['host', 'state'],
      registers,
    }),
    recoveriesFailed: new Gauge({
      name: 'berth_recoveries_failed',
      help: 'How many machines of lost hosts no other host could start; it is tried again',
      registers,
    }),
    storageUp: new Gauge({
      name: 'berth_storage_up',
      help: 'Whether a storage backend answers',
      labelNames: ['storage'],
      registers,
    }),
    storageRoom: new Gauge({
      name: 'berth_storage_room_ratio',
      help: 'Share of a storage backend that can still be written above its reserve; negative below it',
      labelNames: ['storage'],
      registers,
    }),
    backupProofsFailed: new Gauge({
      name: 'berth_backup_proofs_failed',
      help: 'Backups that could not be restored when that was tried',
      registers,
    }),
    backupProofsOverdue: new Gauge({
      name: 'berth_backup_proofs_overdue',
      help: 'Trial restores of backups that are overdue by a week',
      registers,
    }),
    controlPlaneBackupAge: new Gauge({
      name: 'berth_control_plane_backup_age_seconds',
      help: 'Age of the last backup of the control plane in a backup target that is to have one a day',
      labelNames: ['region'],
      registers,
    }),
    backupTargetLocked: new Gauge({
      name: 'berth_backup_target_locked_bytes',
      help: 'What was deleted in a backup target and object lock keeps',
      labelNames: ['region'],
      registers,
    }),
    machines: new Gauge({
      name: 'berth_machines',
      help: 'Machines of customers by region, status and billing status',
      labelNames: ['region', 'status', 'billing'],
      registers,
    }),
    accounts: new Gauge({
      name: 'berth_accounts',
      help: 'Accounts of customers by state: active or suspended',
      labelNames: ['state'],
      registers,
    }),
    openTickets: new Gauge({
      name: 'berth_open_tickets',
      help: 'Tickets that wait for an answer',
      registers,
    }),
    walletBalance: new Gauge({
      name: 'berth_wallet_balance',
      help: 'What customers have in their wallets, all together, by currency',
      labelNames: ['currency'],
      registers,
    }),
    walletDay: new Gauge({
      name: 'berth_wallet_day_amount',
      help: 'Sum of the transactions of all wallets in the last 24 hours by type; charges are negative',
      labelNames: ['type', 'currency'],
      registers,
    }),
    violations: new Gauge({
      name: 'berth_invariant_violations',
      help: 'Rows that violate an invariant; zero unless something is wrong',
      labelNames: ['invariant'],
      registers,
    }),
  }
  for (const each of [metrics.requests, metrics.steps]) registry.registerMetric(each as Metric)
  for (const outcome of ['SENT', 'PENDING', 'FAILED']) metrics.emails.inc({ outcome }, 0) // rate() and increase() need a first sample of zero
  return metrics
}

export type Metrics = ReturnType<typeof createMetrics>

/** The format that has exemplars. prom-client takes `_total` from the names of counters for it, which must stay in those of the other format. */
function openMetricsOf(registry: Registry): Registry<OpenMetricsContentType> {
  const openMetrics = new Registry<OpenMetricsContentType>()
  openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const metric of registry.getMetricsAsArray()) openMetrics.registerMetric(Object.create(metric as object) as Metric)
  return openMetrics
}

export interface MetricsServer {
  port: number
  close(): Promise<void>
}

export async function serveMetrics(metrics: Metrics, host: string, port: number): Promise<MetricsServer> {
  const openMetrics = openMetricsOf(metrics.registry)
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end()
    const { accept = '' } = request.headers
    const registry = accept.includes('application/openmetrics-text') ? openMetrics : metrics.registry
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: Error) => response.writeHead(500).end(error.message),
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections() // including idle ones, which close() would wait for
      }),
  }
}
