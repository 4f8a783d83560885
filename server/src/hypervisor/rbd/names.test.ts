import { expect, test } from 'vitest'
import {
  backupImage,
  backupSnapshot,
  baseSnapshot,
  diskImage,
  draftOf,
  imageOfDraft,
  keptImage,
  readBackupSnapshot,
  readImageName,
  snapshotIdOf,
  snapshotName,
  templateImage,
  volumeImage,
} from './names.ts'

const disk = { vmId: 'cvm1', generation: 12 }

test('names are read back', () => {
  expect(readImageName(diskImage(disk))).toEqual({ kind: 'disk', isDraft: false, id: 'cvm1', generation: 12 })
  expect(readImageName(keptImage({ id: 'cvm1', generation: 12 }))).toEqual({ kind: 'kept', isDraft: false, id: 'cvm1', generation: 12 })
  for (const generation of [0, 3])
    expect(readImageName(volumeImage({ volumeId: 'cvol', generation }))).toEqual({ kind: 'volume', isDraft: false, id: 'cvol', generation })
  expect(readImageName(templateImage('debian'))).toEqual({ kind: 'template', isDraft: false, id: 'debian', generation: 0 })
  expect(readImageName(backupImage('cvm1', 'cback'))).toEqual({
    kind: 'backup',
    isDraft: false,
    id: 'cvm1',
    generation: 0,
    backupId: 'cback',
  })
  expect(snapshotIdOf(snapshotName('csnap'))).toBe('csnap')
  const [full, increment, base] = [backupSnapshot('cback', null), backupSnapshot('cback', 'cparent'), baseSnapshot('cback')]
  expect(readBackupSnapshot(full)).toEqual({ name: full, backupId: 'cback', parentId: null, isBase: false })
  expect(readBackupSnapshot(increment)).toEqual({ name: increment, backupId: 'cback', parentId: 'cparent', isBase: false })
  expect(readBackupSnapshot(base)).toEqual({ name: base, backupId: 'cback', parentId: null, isBase: true })
  for (const other of ['base', 'snapshot-cback', 'my-backup-cback']) expect(readBackupSnapshot(other)).toBeUndefined()
})

test('a draft is told from its image and from drafts of others', () => {
  const draft = draftOf(diskImage(disk))
  expect(readImageName(draft)).toEqual({ kind: 'disk', isDraft: true, id: 'cvm1', generation: 12 })
  expect(imageOfDraft(draft)).toBe(diskImage(disk))
  expect(imageOfDraft(diskImage(disk))).toBeUndefined()
  expect(draftOf('template-debian')).not.toBe(draftOf('template-debian'))
})

test.each(['backup', 'vm-cvm1', 'vm-cvm1-1-old', 'vm-cvm1-1.qcow2', 'draft-vm-cvm1-1', 'template-a-b', 'my-vm-cvm1-1', ''])(
  'the image %j of an operator is none of ours',
  (name) => expect(readImageName(name)).toBeUndefined(),
)

test.each(['../x', 'a@b', 'a/b', '-a', 'A', ''])('%j becomes no name', (id) => {
  expect(() => diskImage({ vmId: id, generation: 1 })).toThrow('BUG')
  expect(() => snapshotName(id)).toThrow('BUG')
  expect(() => templateImage(id)).toThrow('BUG')
})
