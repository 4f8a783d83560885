import { expect, test } from 'vitest'
import { findChecksum } from './published-checksum.ts'

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string]
const LONG = 'd'.repeat(128)

test.each<[string, string, string]>([
  ['sha256sum', `${B}  other.qcow2\n${A}  image.qcow2\n`, A],
  ['binary mode', `${A} *image.qcow2\n${B} *image.qcow2.manifest`, A],
  ['a path', `${A}  ./image.qcow2`, A],
  ['BSD', `# image.qcow2: 589 bytes\nSHA256 (image.qcow2) = ${A}\nSHA256 (image.qcow2.xz) = ${B}\n`, A],
  [
    'clear-signed',
    `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSHA256 (image.qcow2) = ${A}\n-----BEGIN PGP SIGNATURE-----\n\nabc\n`,
    A,
  ],
  ['upper case', `${A.toUpperCase()}  image.qcow2`, A],
  ['the strongest', `${A}  image.qcow2\n${LONG}  image.qcow2`, LONG],
])('a checksum file in the form of %s', (_form, text, hex) => {
  expect(findChecksum(text, 'image.qcow2', false)?.hex).toBe(hex)
})

test('a file of the image itself may hold only a digest, or another name', () => {
  expect(findChecksum(`${A}\n`, 'image.qcow2', true)?.hex).toBe(A)
  expect(findChecksum(`SHA256 (image-20260101.qcow2) = ${A}\n`, 'image.qcow2', true)?.hex).toBe(A)
  expect(findChecksum(`${A}\n`, 'image.qcow2', false)).toBeUndefined()
})

test('another file, part of a name or several names are no checksum of the image', () => {
  for (const text of ['', 'html', `${A}  image.qcow2.sig`, `${A}  not-image.qcow2`, `${A.slice(1)}  image.qcow2`, `x${A}  image.qcow2`])
    expect(findChecksum(text, 'image.qcow2', false)).toBeUndefined()
  expect(findChecksum(`${A}  one.qcow2\n${C}  two.qcow2`, 'image.qcow2', true)).toBeUndefined()
})
