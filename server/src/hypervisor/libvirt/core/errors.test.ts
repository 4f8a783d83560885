import { constants } from 'node:os'
import { areas, ConnectionLostError, ErrorCode, ErrorOrigin, ProtocolError, RemoteError, TimeoutError } from '@berth/libvirt'
import { describe, expect, test } from 'vitest'
import { DriverError } from '../../driver.ts'
import { hasText, isNameTaken, toDriverError, undefinedIfNotFound } from './errors.ts'

const refused = (code: number, message = 'no', { origin = ErrorOrigin.qemu as number, procedure = 'CALL', errno = 0 } = {}) =>
  new RemoteError(procedure, { code, origin, level: 2, message, details: [], errno: errno || undefined })
const define = { procedure: areas.domains.define.name, origin: ErrorOrigin.domain }

describe('a libvirt error', () => {
  test.each([
    [refused(ErrorCode.noDomain), 'not_found'],
    [refused(ErrorCode.operationInvalid), 'invalid_state'],
    [refused(ErrorCode.operationInvalid, 'pool inactive', { origin: ErrorOrigin.storage }), 'transient'],
    [refused(ErrorCode.operationFailed, 'Domain ist bereits definiert', define), 'conflict'],
    [refused(ErrorCode.operationFailed, 'domain is not running', { origin: ErrorOrigin.domain }), 'transient'],
    [refused(ErrorCode.internal, 'qemu-img: error while writing: No space left on device'), 'no_space'],
    [refused(ErrorCode.operationInvalid, 'a volume named "No space left on device"'), 'invalid_state'],
    [refused(ErrorCode.system, 'Auf dem Gerät ist kein Speicherplatz mehr verfügbar', { errno: constants.errno.ENOSPC }), 'no_space'],
    [refused(ErrorCode.system, 'Datenträgerkontingent überschritten', { errno: constants.errno.EDQUOT }), 'no_space'],
    [refused(ErrorCode.system, 'Keine Berechtigung', { errno: constants.errno.EACCES }), 'transient'],
    [refused(ErrorCode.agentUnresponsive), 'transient'],
    [refused(ErrorCode.xml), 'permanent'],
    [refused(12_345), 'transient'],
    [new ConnectionLostError('x', { outcome: 'unknown' }), 'unknown_outcome'],
    [new ConnectionLostError('x', { outcome: 'not sent' }), 'unreachable'],
    [new TimeoutError('x', { outcome: 'unknown' }), 'unknown_outcome'],
    [new TimeoutError('x', { outcome: 'not sent' }), 'transient'],
    [new ProtocolError('x'), 'unknown_outcome'],
    [new DriverError('in_use', 'x'), 'in_use'],
    [new Error('a bug of ours'), 'permanent'],
  ])('%s is %s', (error, kind) => {
    expect(toDriverError(error, 'do it', 'chost').kind).toBe(kind)
  })

  test('has the full text for operators, and a message without paths for customers', () => {
    const error = toDriverError(refused(ErrorCode.internal, 'cannot open /var/lib/x'), 'start berth-cvm', 'chost')
    expect(error.message).toBe('Could not start berth-cvm on host chost: CALL: cannot open /var/lib/x')
    expect(error.userMessage).not.toContain('/var')
  })
})

test('an object that does not exist is undefined, and any other failure is thrown', async () => {
  expect(await undefinedIfNotFound(Promise.reject(refused(ErrorCode.noStorageVolume)))).toBeUndefined()
  await expect(undefinedIfNotFound(Promise.reject(refused(ErrorCode.internal)))).rejects.toThrow('no')
})

test.each([
  ['exists', refused(ErrorCode.operationFailed, '', define), true],
  ['is being started', refused(ErrorCode.operationInvalid, '', define), true],
  ['is refused by QEMU', refused(ErrorCode.operationFailed, '', { ...define, origin: ErrorOrigin.qemu }), false],
  ['fails in another call', refused(ErrorCode.operationFailed, '', { origin: ErrorOrigin.domain }), false],
  ['has invalid XML', refused(ErrorCode.xml, '', define), false],
])('the name of a domain that %s: taken or not, by code, origin and procedure', (_, error, isTaken) => {
  expect(isNameTaken(error)).toBe(isTaken)
})

test('the text of an error counts only where libvirt has no code for it', () => {
  const text = 'Failed to get "write" lock'
  expect(hasText(refused(ErrorCode.internal, text), 'imageNotReady')).toBe(true)
  expect(hasText(toDriverError(refused(ErrorCode.operationFailed, text), 'do it', 'chost'), 'imageNotReady')).toBe(true)
  expect(hasText(refused(ErrorCode.invalidArgument, text), 'imageNotReady')).toBe(false)
  expect(hasText(new Error(text), 'imageNotReady')).toBe(false)
})
