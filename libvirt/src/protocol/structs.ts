// The compound values that procedures share.
import { array, int, str, struct, uint } from '../xdr/types.ts'
import type { OutOf, Type } from '../xdr/types.ts'

const UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** Sixteen bytes on the wire, the usual text in a program. */
export const uuid: Type<string> = {
  write(to, value) {
    if (!UUID.test(value)) throw new TypeError(`'${value}' is not a UUID`)
    to.raw(Buffer.from(value.replaceAll('-', ''), 'hex'))
  },
  read(from) {
    const hex = from.raw(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  },
  atLeastBytes: 16,
}

/** `id` is -1 while the domain is not running. */
export const domain = struct({ name: str, uuid, id: int })
/** A network, storage pool or network filter. */
export const named = struct({ name: str, uuid })
export const volume = struct({ pool: str, name: str, key: str })
/** A snapshot or checkpoint. */
export const moment = struct({ name: str, domain })
export const filterBinding = struct({ portDevice: str, filter: str })
export const networkPort = struct({ network: named, uuid })

export type Domain = OutOf<typeof domain>
export type Named = OutOf<typeof named>
export type Volume = OutOf<typeof volume>
export type Moment = OutOf<typeof moment>

/** The result of a "list all" call: the items, and their count again. */
export function listOf<In, Out>(item: Type<In, Out>): Type<readonly In[], Out[]> {
  const items = array(item)
  return {
    write(to, values) {
      items.write(to, values)
      to.uint(values.length)
    },
    read(from) {
      const values = items.read(from)
      from.uint()
      return values
    },
    atLeastBytes: 8,
  }
}

/** Flags by name, `['live', 'config']`, or as a number for those we have no name for. */
export function flagsOf<F extends Record<string, number>>(names: F): Type<number | readonly (keyof F & string)[] | undefined, number> {
  return {
    write: (to, value) => to.uint(typeof value === 'number' ? value : combine(names, value ?? [])),
    read: (from) => from.uint(),
    atLeastBytes: 4,
  }
}

function combine<F extends Record<string, number>>(names: F, wanted: readonly (keyof F & string)[]): number {
  return wanted.reduce((bits, name) => (bits | (names[name] ?? unknownFlag(name))) >>> 0, 0)
}

function unknownFlag(name: string): never {
  throw new TypeError(`there is no flag '${name}' for this call`)
}

/** The flags of a call for which we know no names. */
export const flags: Type<number | undefined, number> = { ...uint, write: (to, value) => to.uint(value ?? 0) }
