import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../kernel/errors.ts'
import { parseUserData } from './user-data-parts.ts'

const SCRIPT = '#!/bin/sh\necho hello\n'
const CONFIG = '#cloud-config\npackages: [nginx]\n'
const part = (type: string, text: string) => ({ type, filename: null, mergeType: null, text })
const gzipped = (text: string | Buffer) => gzipSync(text).toString('base64')
const refusal = (given: string): string => {
  try {
    parseUserData(given)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed' && error.fields[0]?.field === 'userData') return error.message
    throw error
  }
  throw new Error('It was taken')
}

const MULTIPART = [
  'Content-Type: multipart/mixed; boundary="//"',
  'MIME-Version: 1.0',
  '',
  '--//',
  'Content-Type: text/cloud-config; charset="us-ascii"',
  'Merge-Type: list(append)+dict(recurse_list)+str()',
  'Content-Disposition: attachment;',
  ' filename="cloud-config.txt"',
  '',
  CONFIG,
  '--//',
  'Content-Type: text/x-shellscript; charset="utf-8"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(SCRIPT).toString('base64'),
  '',
  '--//',
  'Content-Type: text/plain',
  '',
  '',
  '--//--',
  '',
].join('\n')

describe('user data', () => {
  test.for([
    [SCRIPT, 'text/x-shellscript'],
    [CONFIG, 'text/cloud-config'],
    ['\n#Cloud-Config\n{}', 'text/cloud-config'],
    ['#cloud-boothook\n#!/bin/sh\n', 'text/cloud-boothook'],
    ['## template: jinja\n#cloud-config\n{}', 'text/jinja2'],
  ])('%j is one part of type %s', ([text, type]) => {
    expect(parseUserData(text!)).toEqual([part(type!, text!)])
    expect(parseUserData(gzipped(text!))).toEqual([part(type!, text!)])
  })

  test.for([MULTIPART, MULTIPART.replaceAll('\n', '\r\n'), gzipped(MULTIPART)])('of several parts is taken apart', (given) => {
    expect(parseUserData(given)).toEqual([
      {
        type: 'text/cloud-config',
        filename: 'cloud-config.txt',
        mergeType: 'list(append)+dict(recurse_list)+str()',
        text: expect.stringContaining('packages: [nginx]'),
      },
      part('text/x-shellscript', SCRIPT),
    ])
  })

  test('is at most 64 KiB long, decoded', () => {
    const most = `#!/bin/sh\n${'#'.repeat(2 ** 16 - 10)}`
    expect(parseUserData(most)).toHaveLength(1)
    expect(parseUserData(gzipped(most))).toHaveLength(1)
    expect(refusal(`${most}#`)).toContain('65537 bytes long: at most 65536')
    expect(refusal(`#!/bin/sh\n${'é'.repeat(2 ** 15)}`)).toContain('at most 65536')
    expect(refusal(gzipped(`${most}#`))).toContain('unpacks to more than 65536 bytes')
  })

  test('that unpacks to gigabytes is refused at once', () => {
    const bomb = gzipSync(Buffer.alloc(90 * 2 ** 20)).toString('base64')
    const began = performance.now()
    expect(refusal(bomb)).toContain('unpacks to more than 65536 bytes')
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  test.for([
    ['hello', 'must begin with "#!"'],
    ['H4sI not base64', 'not valid base64'],
    [gzipped(SCRIPT).slice(0, 20), 'damaged or cut off'],
    ['H4sIAAAA', 'damaged or cut off'],
    [gzipped(Buffer.from([0x23, 0x21, 0xff])), 'UTF-8'],
    ['#!/bin/sh\n\0', 'NUL'],
    ['#!/bin/sh\n\ud800', 'half of a character'],
    ['#include http://example.com/', 'text/x-include-url'],
    ['#part-handler\n', 'text/part-handler'],
    ['#cloud-config-archive\n[]', 'text/cloud-config-archive'],
    ['#cloud-config-jsonp\n[]', 'text/cloud-config-jsonp'],
    [MULTIPART.replace('--//--', ''), 'is cut off'],
    [MULTIPART.replace(' boundary="//"', ''), 'no multipart with a boundary'],
    [MULTIPART.replace('text/x-shellscript', 'text/x-include-url'), 'a part (part 2)'],
    [MULTIPART.replace('text/cloud-config;', 'application/gzip;'), 'application/gzip'],
    [MULTIPART.replace('base64', 'quoted-printable'), 'quoted-printable'],
    [MULTIPART.replace('base64\n\n', 'base64\n\n*'), 'not valid base64'],
    [MULTIPART.replace('list(append)', 'list(append)\\n"'), 'Merge-Type'],
    [MULTIPART.replace('cloud-config.txt', '../x y'), 'file name'],
    [MULTIPART.replace('text/cloud-config;', 'text/x-shellscript-per-boot;'), 'does not begin with "#!"'],
    ['MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n\n--x--', 'no part with any text'],
    [`MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n${`--x\n\n${SCRIPT}`.repeat(51)}--x--`, 'at most 50'],
  ])('%.40j is refused: %s', ([given, why]) => {
    expect(refusal(given!)).toContain(why!)
    expect(refusal(given!)).toContain('userData ')
  })
})
