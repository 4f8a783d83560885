// The image is read back by a reader of its own that follows the standard's pointers rather than the writer's arithmetic.
import { describe, expect, test } from 'vitest'
import { isoImage } from './iso9660.ts'

interface Entry {
  isoName: string
  name: string
  content: string
}

function readImage(image: Buffer): { label: string; entries: Entry[] } {
  const volume = image.subarray(16 * 2048, 17 * 2048)
  expect(volume.toString('latin1', 1, 6)).toBe('CD001')
  expect(volume.readUInt32LE(80)).toBe(image.length / 2048)
  const [root, size] = [volume.readUInt32LE(156 + 2), volume.readUInt32BE(156 + 14)]
  const directory = image.subarray(root * 2048, root * 2048 + size)
  const entries: Entry[] = []
  for (let at = 0; directory[at]; at += directory[at]!) entries.push(readRecord(image, directory.subarray(at, at + directory[at]!)))
  return { label: volume.toString('latin1', 40, 72).trim(), entries }
}

function readRecord(image: Buffer, record: Buffer): Entry {
  const nameLength = record[32]!
  const isoName = record.toString('latin1', 33, 33 + nameLength)
  let name = ''
  for (let at = 33 + nameLength + (nameLength % 2 === 0 ? 1 : 0); at + 4 <= record.length && record[at + 2]!; at += record[at + 2]!)
    if (record.toString('latin1', at, at + 2) === 'NM') name = record.toString('utf8', at + 5, at + record[at + 2]!)
  const [start, bytes] = [record.readUInt32BE(6) * 2048, record.readUInt32LE(10)]
  return { isoName, name, content: image.toString('utf8', start, start + bytes) }
}

describe('an ISO image', () => {
  test('holds its label, and its files by their real names', () => {
    const files = { 'meta-data': '{}', 'user-data': '#cloud-config\n', 'network-config': 'x'.repeat(5000), empty: '' }
    const { label, entries } = readImage(isoImage('cidata', files))
    expect(label).toBe('cidata')
    expect(Object.fromEntries(entries.slice(2).map(({ name, content }) => [name, content]))).toEqual(files)
    expect(entries.slice(0, 2).map(({ isoName }) => isoName)).toEqual(['\0', '\x01'])
  })

  test('rejects what does not fit', () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, number) => [`file-${number}`, '']))
    expect(() => isoImage('cidata', many)).toThrow('do not fit')
  })
})
