// Ids are `c` + 8 base36 characters of time + 16 random ones: sortable by age, unguessable, 25 characters in all.
import { randomBytes } from 'node:crypto'
import { systemClock } from './clock.ts'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz'

export function newId(): string {
  const time = systemClock.now().getTime().toString(36).slice(-8).padStart(8, '0')
  return `c${time}${randomText(16, ALPHABET)}`
}

/** Uniform over the alphabet: bytes that would favour its first letters are thrown away. */
export function randomText(length: number, alphabet: string): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
