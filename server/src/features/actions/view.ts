import type { RunRow, StepRow } from '../../workflow/run-store.ts'
import { PENDING_INITIALIZATION, type Action, type FollowUp } from './schema.ts'

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

/** What customers read where the name in the journal is one of the trade. The journal keeps its names: an open run is resumed by them. */
const STEP_TITLES: Record<string, string> = { filter: 'firewall', 'purge host': 'remove VM' }

export const toAction = (run: RunRow, steps: StepRow[]): Action => ({
  id: run.id,
  ...subjectsOf(run),
  action: run.label,
  status: run.status,
  progress: run.progress,
  error: run.error,
  errorCode: run.error_code,
  steps: steps.map(({ name, status, started_at, completed_at }) => ({
    name: STEP_TITLES[name] ?? name,
    status,
    startedAt: iso(started_at),
    completedAt: iso(completed_at),
  })),
  initialization: initializationOf(run),
  startedAt: iso(run.started_at),
  completedAt: iso(run.completed_at),
  createdAt: run.created_at.toISOString(),
})

function initializationOf({ follow_up, input, status }: RunRow): Action['initialization'] {
  const { hasUserData } = input as { hasUserData?: boolean }
  const isComing = hasUserData === true && status !== 'FAILED' && status !== 'CANCELLED'
  return (follow_up as FollowUp | null)?.initialization ?? (isComing ? PENDING_INITIALIZATION : null)
}

interface Subjects {
  addressId?: string
  imageId?: string
  volumeId?: string
  vmId?: string | null
  previousVmId?: string | null
}

/** The subject is the VM; or the address or image, whose input names the VMs; or a volume that no VM has. */
function subjectsOf({ subject_id, input }: RunRow): Pick<Action, 'vmId' | 'addressId' | 'imageId' | 'volumeId'> {
  const { addressId = null, imageId = null, volumeId = null, vmId, previousVmId } = input as Subjects
  const isOfVm = addressId === null && imageId === null && subject_id !== volumeId
  return { vmId: (isOfVm ? subject_id : (vmId ?? previousVmId)) ?? '', addressId, imageId, volumeId }
}
