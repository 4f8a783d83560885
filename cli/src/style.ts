// Colours for terminals (https://no-color.org), and removal of control characters from texts of other users.
import type { Io, Output } from './io.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

export type Colour = keyof typeof CODES
export type Paint = (colour: Colour, text: string) => string

export const paintOn = (output: Output, env: Io['env']): Paint => {
  const colourful = output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return (colour, text) => (colourful && text ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text)
}

const GOOD = new Set(['RUNNING', 'ACTIVE', 'AVAILABLE', 'COMPLETED', 'SUCCEEDED', 'ANSWERED', 'ACCEPT', 'succeeded', 'yes'])
const BAD = new Set(['ERROR', 'FAILED', 'SUSPENDED', 'EXHAUSTED', 'PAST_DUE', 'DROP', 'REJECT', 'refused'])
const IN_PROGRESS = new Set(['PROVISIONING', 'REBUILDING', 'UPGRADING', 'PENDING', 'CREATING', 'RESTORING', 'DELETING', 'PROCESSING'])

export function colourOf(word: string): Colour | null {
  if (GOOD.has(word)) return 'green'
  if (BAD.has(word)) return 'red'
  return IN_PROGRESS.has(word) ? 'yellow' : null
}

/** Replaces control characters, so that names and messages cannot move the cursor or change the terminal's title. */
export const sanitizeTerminal = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')

/** Keeps line breaks. */
export const sanitizeLines = (text: string): string => text.split('\n').map(sanitizeTerminal).join('\n')

/** Escapes the control characters that JSON.stringify leaves in strings, so that no data is lost. */
export const escapeJson = (data: unknown, indent?: number): string =>
  JSON.stringify(data ?? null, null, indent).replace(
    /[\x7f-\x9f\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
