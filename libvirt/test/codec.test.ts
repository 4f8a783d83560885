import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areas, Param } from '../src/index.ts'
import { eventKinds } from '../src/protocol/events.ts'
import { parameters } from '../src/protocol/parameters.ts'
import { domain, flagsOf, listOf, uuid } from '../src/protocol/structs.ts'
import { errorPayload } from '../src/wire/error-payload.ts'
import type { AnyType } from '../src/xdr/types.ts'
import { array, bool, chars, decode, double, encode, hyper, int, opaque, optional, str, struct, uhyper, uint } from '../src/xdr/types.ts'
import { isNoneOrOfProtocol, problem } from './problem.ts'

const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'))
const i32 = fc.integer({ min: -0x80000000, max: 0x7fffffff })
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })
const domainValue = fc.record({ name: text, uuid: fc.uuid(), id: i32 })

const cases: [string, AnyType, fc.Arbitrary<unknown>][] = [
  ['int', int, i32],
  ['uint', uint, u32],
  ['hyper', hyper, i64],
  ['uhyper', uhyper, u64],
  ['double', double, fc.double()],
  ['bool', bool, fc.boolean()],
  ['str', str, text],
  ['opaque', opaque, fc.uint8Array().map((bytes) => Buffer.from(bytes))],
  ['char[32]', chars(32), fc.stringMatching(/^[ -~]{0,31}$/)],
  ['uuid', uuid, fc.uuid()],
  ['optional', optional(str), fc.option(text, { nil: undefined })],
  ['array', array(domain), fc.array(domainValue)],
  ['list', listOf(domain), fc.array(domainValue)],
  [
    'nested struct',
    struct({ a: optional(domain), b: array(array(uhyper)) }),
    fc.record({ a: fc.option(domainValue, { nil: undefined }), b: fc.array(fc.array(u64)) }),
  ],
]

describe('XDR', () => {
  test.each(cases)('%s is decoded as encoded, in multiples of four bytes', (_name, type, values) => {
    fc.assert(
      fc.property(values, (value) => {
        const bytes = encode(type, value)
        expect(bytes.length % 4).toBe(0)
        expect(decode(type, bytes)).toEqual(value)
      }),
    )
  })

  test('typed parameters are decoded to plain values', () => {
    const given = {
      a: Param.int(-1),
      b: Param.uint(1),
      c: Param.llong(-1n),
      d: Param.ullong(1n),
      e: Param.double(0.5),
      f: Param.boolean(true),
      g: Param.string('x'),
    }
    expect(decode(parameters, encode(parameters, given))).toEqual({ a: -1, b: 1, c: -1n, d: 1n, e: 0.5, f: true, g: 'x' })
  })

  test('flags are accepted by name or number', () => {
    const flags = flagsOf({ live: 1, config: 2, last: 0x80000000 })
    expect([undefined, 7, ['live', 'config'] as const, ['last'] as const].map((given) => decode(flags, encode(flags, given)))).toEqual([
      0, 7, 3, 0x80000000,
    ])
  })

  test('values that do not fit are rejected', () => {
    const long = 'x'.repeat(4_194_305)
    for (const [type, value] of [
      [str, 'a\0b'],
      [str, long],
      [int, 1.5],
      [uint, -1],
      [int, undefined],
      [uuid, 'no uuid'],
      [opaque, Buffer.alloc(33_554_432)],
    ] as [AnyType, unknown][]) {
      expect(() => encode(type, value)).toThrow(/./)
    }
  })

  test('trailing bytes, missing bytes and impossible counts are errors', () => {
    const bytes = encode(array(domain), [{ name: 'a', uuid: '00000000-0000-4000-8000-000000000000', id: 1 }])
    expect(() => decode(array(domain), Buffer.concat([bytes, Buffer.alloc(4)]))).toThrow('4 bytes are left')
    expect(() => decode(array(domain), bytes.subarray(0, -4))).toThrow('too early')
    expect(() => decode(array(domain), Buffer.from('ffffffff', 'hex'))).toThrow('claims 4294967295 items')
  })
})

const layouts = [
  ...Object.values(areas).flatMap((area) =>
    Object.values(area).flatMap((procedure: { args: AnyType; result: AnyType }) => [procedure.args, procedure.result]),
  ),
  ...Object.values(eventKinds).map((kind): AnyType => kind.layout),
  errorPayload,
]

describe('every layout', () => {
  test('there are the 181 procedures, each number once', () => {
    const numbers = [...Object.values(areas).flatMap((area) => Object.values(area)), ...Object.values(eventKinds)].map(
      (one) => `${'program' in one ? one.program : ''}:${one.number}`,
    )
    expect(numbers.length).toBe(181)
    expect(new Set(numbers).size).toBe(181)
  })

  test('none asks a guest agent over the connection of slow calls', () => {
    const { shutdown, reboot, getAddresses } = areas.domains
    const guest = { name: 'a', uuid: '00000000-0000-4000-8000-000000000000', id: 1 }
    // Without flags, libvirt would ask the agent.
    expect([shutdown, reboot].map(({ args }) => (decode(args, encode(args, { domain: guest })) as { flags: number }).flags)).toEqual([1, 1])
    expect([getAddresses, ...Object.values(areas.guests)].filter(({ pace }) => pace !== 'guest').map(({ name }) => name)).toEqual([
      'DOMAIN_MONITOR_COMMAND',
      'DOMAIN_AGENT_SET_RESPONSE_TIMEOUT',
    ])
  })

  test('decodes garbage to a value or a protocol error, nothing else', () => {
    fc.assert(
      fc.property(fc.nat(layouts.length - 1), fc.uint8Array({ maxLength: 400 }), (index, bytes) => {
        const small = Buffer.from(bytes).map((byte, at) => (at % 4 === 3 ? byte & 3 : byte & (byte > 200 ? 255 : 0)))
        for (const input of [Buffer.from(bytes), Buffer.from(small)]) {
          expect(problem(() => decode(layouts[index] as AnyType, input))).toSatisfy(isNoneOrOfProtocol)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
