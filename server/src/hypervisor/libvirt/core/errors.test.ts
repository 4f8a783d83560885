import { ConnectionLostError, ErrorCode, ProtocolError, RemoteError, TimeoutError } from '@berth/libvirt'
import { describe, expect, test } from 'vitest'
import { DriverError } from '../../driver.ts'
import { toDriverError, undefinedIfNotFound } from './errors.ts'

const refused = (code: number, message = 'no') => new RemoteError('CALL', { code, origin: 0, level: 2, message, details: [] })

describe('what libvirt says', () => {
  test.each([
    [refused(ErrorCode.noDomain), 'not_found'],
    [refused(ErrorCode.operationInvalid), 'invalid_state'],
    [refused(ErrorCode.operationInvalid, "storage pool 'berth' is not active"), 'transient'],
    [refused(ErrorCode.operationFailed, "domain 'x' is already defined with uuid 1"), 'conflict'],
    [refused(ErrorCode.internal, 'qemu-img: error while writing: No space left on device'), 'no_space'],
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

  test('is told to the operator, and its sentence is fit for a customer', () => {
    const error = toDriverError(refused(ErrorCode.internal, 'cannot open /var/lib/x'), 'start berth-cvm', 'chost')
    expect(error.message).toBe('Could not start berth-cvm on host chost: CALL: cannot open /var/lib/x')
    expect(error.userMessage).not.toContain('/var')
  })
})

test('what is missing is undefined, and any other failure stays one', async () => {
  expect(await undefinedIfNotFound(Promise.reject(refused(ErrorCode.noStorageVolume)))).toBeUndefined()
  await expect(undefinedIfNotFound(Promise.reject(refused(ErrorCode.internal)))).rejects.toThrow('no')
})
