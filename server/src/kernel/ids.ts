// Ids are `c` + 8 base36 characters of time + 16 random ones: sortable by age, unguessable, 25 characters in all.
import { randomFillSync } from 'node:crypto'
import { systemClock } from './clock.ts'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'

export const newId = (): string => `${idsSince(systemClock.now())}${randomText(16, ALPHABET)}`

/** What all ids from then on are greater than. */
export const idsSince = (time: Date): string => `c${time.getTime().toString(36).slice(-8).padStart(8, '0')}`

/** Uniform over the alphabet: bytes that would bias towards its first letters are discarded (rejection sampling). */
export function randomText(length: number, alphabet: string): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    const byte = randomByte()
    if (byte < limit) text += alphabet[byte % alphabet.length]
  }
  return text
}

const drawn = new Uint8Array(4096)
let spent = drawn.length

/** Buffered: every request needs an id, and a system call per id would dominate its cost. */
function randomByte(): number {
  if (spent === drawn.length) {
    randomFillSync(drawn)
    spent = 0
  }
  return drawn[spent++]!
}
