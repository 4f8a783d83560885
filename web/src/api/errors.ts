import { ApiError, NetworkError, TimeoutError } from '@berth/sdk'
import { commonMessages } from '../messages/common.ts'

export const hasCode = (error: unknown, ...codes: string[]): error is ApiError<string> =>
  error instanceof ApiError && codes.includes(error.code as string)

export const isNotFound = (error: unknown): boolean => hasCode(error, 'not_found')

/** The message of the server, or a text for network errors. */
export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof NetworkError || error instanceof TimeoutError) return commonMessages.unreachable
  return commonMessages.pageError
}

/** The validation message of one field. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.fields.find((each) => each.field === field || each.field.startsWith(`${field}.`))?.message
}
