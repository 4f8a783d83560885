// Money is integer cents as bigint internally, and a decimal string with two places in the API. Never a float.
import { invalid } from './errors.ts'

export type Cents = bigint

export function formatCents(cents: Cents): string {
  const absolute = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${absolute.slice(0, -2)}.${absolute.slice(-2)}`
}

export function parseCents(text: string): Cents {
  const match = /^(-?)(\d{1,13})(?:\.(\d{1,2}))?$/.exec(text)
  if (!match) throw invalid(`"${text}" is not an amount of money such as 12 or 12.50`, 'amount')
  const cents = BigInt(match[2]!) * 100n + BigInt((match[3] ?? '').padEnd(2, '0'))
  return match[1] ? -cents : cents
}

/** `amount × part ÷ whole`, rounded up to the next cent: a prorated charge is never below the price. */
export function prorateUp(amount: Cents, part: bigint, whole: bigint): Cents {
  return (amount * part + whole - 1n) / whole
}

/** `amount × part ÷ whole`, rounded down: a refund is never more than was paid. */
export function prorateDown(amount: Cents, part: bigint, whole: bigint): Cents {
  return (amount * part) / whole
}
