import { expect, test } from 'vitest'
import { labelLines, readLabels } from '../src/screens/images/labels.ts'
import { NO_SOURCE, toSource } from '../src/screens/images/source.ts'

test('labels are read from lines, and written as lines', () => {
  const labels = { team: 'web', 'a.b/c': 'x=y', empty: '' }
  expect(readLabels(' team = web \n\na.b/c=x=y\nempty')).toEqual(labels)
  expect(readLabels(labelLines(labels).join('\n'))).toEqual(labels)
  expect(readLabels('')).toEqual({})
})

test('the request has what the chosen source needs, and nothing of the others', () => {
  const filled = {
    ...NO_SOURCE,
    vmId: 'web',
    copyId: 'monday',
    url: 'https://example.com/a',
    checksum: 'sha256:0',
    defaultUser: 'ada',
    guestAgent: true,
  }
  expect(toSource({ ...filled, type: 'VM' })).toEqual({ vmId: 'web' })
  expect(toSource({ ...filled, type: 'SNAPSHOT' })).toEqual({ snapshotId: 'monday' })
  expect(toSource({ ...filled, type: 'BACKUP' })).toEqual({ backupId: 'monday' })
  const file = { url: filled.url, checksum: filled.checksum }
  expect(toSource({ ...filled, type: 'URL' })).toEqual({ ...file, defaultUser: 'ada', guestAgent: true })
  expect(toSource({ ...filled, type: 'URL', kind: 'ISO' })).toEqual({ ...file, kind: 'ISO' })
  expect(toSource({ ...filled, type: 'URL', defaultUser: '', guestAgent: false })).toEqual(file)
})

test.each(['VM', 'SNAPSHOT', 'BACKUP', 'URL'] as const)('nothing is asked while the %s is missing', (type) =>
  expect(toSource({ ...NO_SOURCE, type })).toBeNull(),
)
