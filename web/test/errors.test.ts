import { describe, expect, test } from 'vitest'
import { ApiError, type FieldError } from '../../sdk/src/index.ts'
import { errorMessage, fieldError } from '../src/api/errors.ts'

const refusal = (
  fields: FieldError[],
  message = `Validation failed: ${fields.map((each) => `${each.field} ${each.message}`).join('; ')}`,
) => new ApiError(message, { status: 400, code: 'validation_failed', requestId: null, fields, retryAfterSeconds: null })

describe('a rejected field', () => {
  test('is explained at its input as a sentence, without the name of the field', () => {
    expect(fieldError(refusal([{ field: 'publicKey', message: 'is required' }]), 'publicKey')).toBe('Is required.')
    const amount = refusal([{ field: 'amount', message: 'amount must be from 1.00 to 50000.00' }])
    expect(fieldError(amount, 'amount')).toBe('Must be from 1.00 to 50000.00.')
  })

  test('names the entry of a list by its number', () =>
    expect(fieldError(refusal([{ field: 'sourceIps.1', message: 'must be an IP address' }]), 'sourceIps')).toBe(
      'Entry 2 must be an IP address.',
    ))

  test('is not repeated above the button when its input shows it', () => {
    const error = refusal([{ field: 'hostname', message: 'must be letters, digits and hyphens' }])
    fieldError(error, 'hostname')
    expect(errorMessage(error)).toBe('Check the marked fields.')
  })

  test('is named in words above the button when no input shows it', () =>
    expect(errorMessage(refusal([{ field: 'sourceIps.1', message: 'must be an IP address' }]))).toBe(
      'Source IPs, entry 2, must be an IP address.',
    ))
})

test('a message is a sentence, whatever follows it', () => {
  const full = new ApiError('No capacity in fra1: 1 host checked, 1 full', {
    status: 503,
    code: 'no_capacity',
    requestId: 'r1',
    fields: [],
    retryAfterSeconds: null,
  })
  expect(errorMessage(full)).toBe('No capacity in fra1: 1 host checked, 1 full.')
  expect(errorMessage(refusal([], 'Validation failed: sizes must be positive'))).toBe('Sizes must be positive.')
})
