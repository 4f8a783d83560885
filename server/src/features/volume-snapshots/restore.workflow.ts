// The data of the snapshot becomes the next generation of the volume, beside the old one, which is removed in the end: until the new one is
// there, and if it cannot be made, the volume has what it had.
import type { StepContext } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { releaseRestoreRoom } from '../vms/service.ts'
import { endRun, lockVolumeById, placeOfVolume, setGeneration, toVolumeSpec, volumeById } from '../volumes/service.ts'
import { recordSnapshotEvent } from './release.ts'
import { setStatus } from './sql.ts'

interface RestoreInput {
  volumeId: string
  snapshotId: string
  generation: number
  generationBefore: number
}

type Context = Pick<StepContext<Deps, RestoreInput, unknown>, 'deps' | 'input' | 'signal'>

async function open({ deps, input: { volumeId } }: Context) {
  const row = (await volumeById(deps.db, volumeId))!
  return { spec: toVolumeSpec(row), data: await placeOfVolume(deps, row) }
}

export const restoreVolume = workflow<RestoreInput>('volume.restore', {
  deadline: '8h',
  queue: 'copies',
  locks: (tx, { volumeId }) => lockVolumeById(tx, volumeId),
})
  .step('copy', {
    timeout: '3h',
    run: async (context) => {
      const { spec, data } = await open(context)
      const { volumeId, snapshotId, generation } = context.input
      await data.ensureVolume({ ...spec, generation }, { volumeId, snapshotId }, context.signal)
    },
    undo: async (context) => {
      const { spec, data } = await open(context)
      await data.ensureNoVolume({ ...spec, generation: context.input.generation }, context.signal)
    },
  })
  .step('replace', { save: (tx, { input, now }) => setGeneration(tx, now, input.volumeId, input.generation) })
  .step('clean up', {
    run: async (context) => {
      const { spec, data } = await open(context)
      await data.ensureNoVolume({ ...spec, generation: context.input.generationBefore }, context.signal)
    },
    optional: true,
  })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    await endRun(tx, now, input.volumeId)
    await releaseRestoreRoom(tx, runId)
    await recordSnapshotEvent(tx, deps, await setStatus(tx, input.snapshotId, 'AVAILABLE'), 'volume.restored', { actionId: runId })
  })
  .onFailure(async (tx, { deps, input, error, runId, now }) => {
    await endRun(tx, now, input.volumeId)
    await releaseRestoreRoom(tx, runId)
    const reason = `The volume has the data that it had before: ${error?.userMessage ?? 'the restore was cancelled'}`
    const snapshot = await setStatus(tx, input.snapshotId, 'AVAILABLE')
    await recordSnapshotEvent(tx, deps, snapshot, 'volume.restore_failed', { actionId: runId, reason })
  })
