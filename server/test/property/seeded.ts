// Deterministic randomness: node:crypto, Math.random and the system time are replaced by a seeded generator, so that a failing seed is
// reproducible.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { vi } from 'vitest'
import { randomText } from '../../src/kernel/ids.ts'

export interface Random {
  /** In [0, 1). */
  next(): number
  /** Inclusive. */
  int(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T | undefined
}

/** Mulberry32: small, fast and random enough. */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return { next, int, chance: (probability) => next() < probability, pick: (items) => items[int(0, items.length - 1)] }
}

const real = {
  randomBytes: crypto.randomBytes,
  randomFillSync: crypto.randomFillSync,
  randomInt: crypto.randomInt,
  randomUUID: crypto.randomUUID,
  random: Math.random,
}

export interface Chance {
  /** From here on everything is drawn from this seed, and the system time stands still. */
  reseed(seed: number, now: Date): void
  end(): void
}

export function controlChance(): Chance {
  let random = randomFrom(0)
  let filled = false
  const fill = <T extends Uint8Array>(bytes: T): T => {
    filled = true
    for (let index = 0; index < bytes.length; index++) bytes[index] = random.int(0, 255)
    return bytes
  }
  const uuid = (): string => {
    const hex = Buffer.from(fill(new Uint8Array(16))).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  Object.assign(crypto, {
    randomBytes: (size: number) => Buffer.from(fill(new Uint8Array(size))),
    randomFillSync: fill,
    randomInt: (least: number, most?: number) => (most === undefined ? random.int(0, least - 1) : random.int(least, most - 1)),
    randomUUID: uuid,
  })
  syncBuiltinESMExports()
  Math.random = () => random.next()
  vi.useFakeTimers({ toFake: ['Date'] })
  return {
    reseed(seed, now) {
      random = randomFrom(seed)
      vi.setSystemTime(now)
      filled = false
      while (!filled) randomText(1, 'ab') // discards bytes buffered for the previous seed
    },
    end() {
      const { random: realRandom, ...realCrypto } = real
      Object.assign(crypto, realCrypto)
      syncBuiltinESMExports()
      Math.random = realRandom
      vi.useRealTimers()
    },
  }
}
