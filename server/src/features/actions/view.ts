import type { RunRow, StepRow } from '../../workflow/run-store.ts'
import type { Action } from './schema.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

export const toAction = (run: RunRow, steps: StepRow[]): Action => ({
  id: run.id,
  vmId: run.subject_id ?? '',
  action: run.label,
  status: run.status,
  progress: run.progress,
  error: run.error,
  errorCode: run.error_code,
  steps: steps.map(({ name, status, started_at, completed_at }) => ({
    name,
    status,
    startedAt: iso(started_at),
    completedAt: iso(completed_at),
  })),
  startedAt: iso(run.started_at),
  completedAt: iso(run.completed_at),
  createdAt: run.created_at.toISOString(),
})
