import { ApiError, NetworkError, TimeoutError } from '@berth/sdk'
import { commonWords } from '../messages/common.ts'

export const isCode = (error: unknown, ...codes: string[]): error is ApiError<string> =>
  error instanceof ApiError && codes.includes(error.code as string)

export const isMissing = (error: unknown): boolean => isCode(error, 'not_found')

/** The server's own sentence, which says what happened, why, and what to do; or that no answer came. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof NetworkError || error instanceof TimeoutError) return commonWords.noAnswer
  return commonWords.brokenPage
}

/** What the server says about one field of a form. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.fields.find((each) => each.field === field || each.field.startsWith(`${field}.`))?.message
}
