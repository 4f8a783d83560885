import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateKey, wire } from '../../../test/openssh-keys.ts'
import { ApiError } from '../../kernel/errors.ts'
import { KEY_TYPES, parsePublicKey } from './parse.ts'

const ED25519 = 'AAAAC3NzaC1lZDI1NTE5AAAAIDJ+ujw4zEDGbM5s+5yJfTrlSz16aKG+WpJv/Yd0G0Dn'
const RSA =
  'AAAAB3NzaC1yc2EAAAADAQABAAABAQDIE6sy0XdBjrEVCZxAcP3JI/RNKpc2mYZabXuqgCgOpBzK20eEX5EfjMzRW7S9xlgPR3s9q3JejuN74cwO+fkf/497gQLztR57NnstSc0/o+n33K2cGqY/2/uKRpf4YM1CcQlIj6UEQdpDL6WkWVMXt480cegiK8zNG+c1SZnBtjnaadqrKJqnY5L2QdHemV/AhFsOhCZ8JnTLu+r2zKekLngPpALhjz1SUPbASuTgZMWSQRo8XGL0xay0w/5HiJ6ZxUaJPXev6ItmTQhSDiFkeyLFzWQb9J4n1Crgmv4iY9d7xNgWXIb3bNWOrClWLsuA3lNCOlAP9emkL5Zd4fHp'
const P256 =
  'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBKpzwjHVfGgRV2I0TnTQG79hWSYYwysKLBAgPjsNaCxtfiefnHiTbH2lOHBlc0ecV2bwYjbY8tbxi5xm/eFYJhc='
const P384 =
  'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBJX+T3VaeCTGfUqE7nayXTeTjEZ03KxLtCJIGVZ2RxlxWw6J2c1Y3ztn8+1Sj5Gu4nbDDZwuSJJFv2tJxuHpQ7MtLSv3jaw8DvVadL1r1Ash6Hcz+c/WIKsUrDesZN9mwg=='
const P521 =
  'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAGNV7H0nLX18qFDceWW+/NL22vy+dmaY22DFeWrI7fShhtHH7BqMcfpQl+/ufNyXyON/n4ReK7m2gBNs2oQEWStKQGXivObfl0RtZ4K77/xUp6CHBQNWdBpa8UXQDK6LHzi7WE7L5JT1gSWaHVs8SmcCgzwfZKImgMxZQMRGGL1sKzOYQ=='
const RSA_1024 =
  'AAAAB3NzaC1yc2EAAAADAQABAAAAgQDZ/Ao6IgYQ6f8q2/6FX5YXC/xTuew2w8z3R5BkPTjYQ5e91nCwoSnnMhSKQZaaXUnCk6zuuzebV+CUOHN7tgwM8WJeoTB7ht8iTWyeuRRoNvrinRBqiRNwH3/e5bKhds0oIxJcXK2tS+zk+tNMMJjZozt8SJyCkkOkSqXynSO5gw=='

const refusalOf = (text: string): string => {
  try {
    parsePublicKey(text)
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return (error as ApiError).message
  }
  throw new Error(`accepted: ${text}`)
}

const line = (type: string, ...fields: (string | Uint8Array)[]): string => `${type} ${wire(type, ...fields).toString('base64')}`
const [modulus, point256] = [Buffer.from(RSA, 'base64').subarray(-257), Buffer.from(P256, 'base64').subarray(-65)]
const exponent = Buffer.of(1, 0, 1)

describe('OpenSSH public key', () => {
  test.each([
    ['ssh-ed25519', ED25519, 'SHA256:RK90Uy//QAcwWBWc/AjSFhn4gqjEhv5yo7XZzZPw6Vo'],
    ['ssh-rsa', RSA, 'SHA256:pp6vWChGHOYzQY8Cfta14PWyEeNbI1jdTXvSMIhE2Bo'],
    ['ecdsa-sha2-nistp256', P256, 'SHA256:Hz0woGl/zp2wfcI9TNS/M1j4o9QVvj8DtYCR9DZ0dOM'],
    ['ecdsa-sha2-nistp384', P384, 'SHA256:4K6msJdo/YZ5YNJQjlCEAtBspxtNA00jfMyQc2h5Ovo'],
    ['ecdsa-sha2-nistp521', P521, 'SHA256:Ur73jtpF7dhQM9ClT6CTnnb5jtDqOgHeiKlBmFroOOc'],
  ])('of type %s has the fingerprint that ssh-keygen shows', (type, base64, fingerprint) => {
    expect(parsePublicKey(`${type} ${base64} someone@example.com`)).toEqual({ type, publicKey: `${type} ${base64}`, fingerprint })
  })

  test.each(KEY_TYPES)('of type %s is accepted as generated', (type) => {
    const generated = generateKey(type)
    const parsed = parsePublicKey(generated.line)
    expect(parsed).toMatchObject({ type, fingerprint: generated.fingerprint })
    expect(generated.line.startsWith(`${parsed.publicKey} `)).toBe(true)
  })

  test.each([
    ['white space around it', `\n  ssh-ed25519 \t ${ED25519}\r\n`],
    ['a comment of several words', `ssh-ed25519 ${ED25519} my ssh-rsa "laptop" $(reboot) é`],
  ])('is stripped of %s', (_, text) => {
    expect(parsePublicKey(text).publicKey).toBe(`ssh-ed25519 ${ED25519}`)
  })

  test.each([
    ['nothing', '', /must be an OpenSSH public key such as "ssh-ed25519 AAAA…"/],
    ['nonsense', 'hello', /must be an OpenSSH public key/],
    ['the type alone', 'ssh-ed25519', /not base64/],
    ['the base64 alone', ED25519, /must be an OpenSSH public key/],
    ['a type known from objects', `constructor ${ED25519}`, /must be an OpenSSH public key/],
    [
      'a DSA key',
      'ssh-dss AAAAB3NzaC1kc3MAAACB',
      /is a DSA key, which OpenSSH no longer accepts: make a new one with ssh-keygen -t ed25519/,
    ],
    ['a certificate', `ssh-ed25519-cert-v01@openssh.com ${ED25519}`, /Its type must be one of ssh-ed25519, ssh-rsa/],
    ['options', `command="reboot" ssh-ed25519 ${ED25519}`, /must start with the type of the key: options/],
    ['an option without spaces', `no-pty ssh-rsa ${RSA}`, /must start with the type of the key: options/],
    ['a line break inside', `ssh-ed25519 ${ED25519}\nssh-rsa`, /must be one key on one line/],
    ['a carriage return inside', `ssh-ed25519 ${ED25519}\rfrom`, /must be one key on one line/],
    ['two keys on two lines', `ssh-ed25519 ${ED25519}\nssh-rsa ${RSA}`, /must be one key on one line/],
    ['two keys on one line', `ssh-ed25519 ${ED25519} ssh-rsa ${RSA}`, /must be one key on one line/],
    ['an OpenSSH private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END', /holds a private key. It was not stored/],
    ['a PEM private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n', /holds a private key/],
    ['an encrypted private key', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE\n', /holds a private key/],
    ['a private key without its first line', 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU', /holds a private key/],
    ['a PuTTY private key', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', /holds a private key/],
    ['a PEM public key', '-----BEGIN PUBLIC KEY-----\nMIIB\n', /convert this key with ssh-keygen -i -f FILE/],
    ['an RFC 4716 public key', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n', /convert this key with ssh-keygen -i -f FILE/],
    ['base64 without its padding', `ecdsa-sha2-nistp256 ${P256.slice(0, -1)}`, /is damaged: what follows the type is not base64/],
    ['base64 of the other alphabet', `ssh-ed25519 ${ED25519.replaceAll('+', '-').replaceAll('/', '_')}`, /not base64/],
    ['spare bits in the base64', `ecdsa-sha2-nistp256 ${P256.slice(0, -2)}d=`, /not base64/],
    ['a missing end', `ssh-ed25519 ${ED25519.slice(0, -4)}`, /is damaged: it ends in the middle/],
    [
      'a byte too many',
      `ssh-ed25519 ${Buffer.concat([Buffer.from(ED25519, 'base64'), Buffer.of(0)]).toString('base64')}`,
      /ends in the middle/,
    ],
    ['a field too many', line('ssh-ed25519', Buffer.alloc(32), ''), /its content does not fit ssh-ed25519/],
    ['a field too few', line('ssh-rsa', exponent), /its content does not fit ssh-rsa/],
    ['another type inside', `ssh-rsa ${ED25519}`, /it says ssh-rsa outside and something else inside/],
    ['31 bytes', line('ssh-ed25519', Buffer.alloc(31)), /does not fit/],
    ['33 bytes', line('ssh-ed25519', Buffer.alloc(33)), /does not fit/],
    ['another curve inside', line('ecdsa-sha2-nistp256', 'nistp384', point256), /does not fit/],
    ['a point off the curve', line('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)])), /does not fit/],
    [
      'a compressed point',
      line('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.of(2), point256.subarray(1, 33)])),
      /does not fit/,
    ],
    ['a security key without its application', line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32)), /does not fit/],
    ['a line break in the application', line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32), 'ssh:\nx'), /does not fit/],
    ['an RSA key of 1024 bits', `ssh-rsa ${RSA_1024}`, /is an RSA key of 1024 bits: it must have 2048-16384/],
    ['an RSA key of 2047 bits', line('ssh-rsa', exponent, Buffer.alloc(256, 0x7f)), /is an RSA key of 2047 bits/],
    ['a negative modulus', line('ssh-rsa', exponent, modulus.subarray(1)), /does not fit/],
    ['a modulus with a spare zero', line('ssh-rsa', exponent, Buffer.concat([Buffer.of(0), modulus])), /does not fit/],
    ['an even modulus', line('ssh-rsa', exponent, Buffer.concat([modulus.subarray(0, -1), Buffer.of(2)])), /does not fit/],
    ['the exponent 1', line('ssh-rsa', Buffer.of(1), modulus), /does not fit/],
    ['an even exponent', line('ssh-rsa', Buffer.of(4), modulus), /does not fit/],
    ['no exponent', line('ssh-rsa', '', modulus), /does not fit/],
    ['an exponent of 65 bits', line('ssh-rsa', Buffer.from('010000000000000001', 'hex'), modulus), /does not fit/],
  ])('is rejected with %s', (_, text, sentence) => {
    expect(refusalOf(text)).toMatch(sentence)
  })

  test('a private key is not repeated in the error message', () => {
    expect(refusalOf(`-----BEGIN OPENSSH PRIVATE KEY-----\n${ED25519}\n-----END`)).not.toContain(ED25519.slice(0, 8))
  })
})

describe('parser', () => {
  const lines = KEY_TYPES.map((type) => generateKey(type).line)
  const anyLine = fc.constantFrom(...lines)

  const onlyRefuses = (text: string): void => {
    try {
      const parsed = parsePublicKey(text)
      expect(parsePublicKey(parsed.publicKey)).toEqual(parsed)
      expect(parsed.publicKey).toMatch(/^[\w@.-]+ [A-Za-z0-9+/]+={0,2}$/)
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError)
    }
  }

  test('returns a key or an ApiError for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), onlyRefuses))
  })

  test('returns a key or an ApiError for any bytes after a type', () => {
    const type = fc.constantFrom(...KEY_TYPES)
    fc.assert(fc.property(type, fc.uint8Array(), (each, bytes) => onlyRefuses(`${each} ${Buffer.from(bytes).toString('base64')}`)))
    fc.assert(fc.property(type, fc.array(fc.uint8Array(), { maxLength: 4 }), (each, fields) => onlyRefuses(line(each, ...fields))))
  })

  test('returns a key or an ApiError for a damaged key', () => {
    fc.assert(
      fc.property(anyLine, fc.nat(), fc.nat(40), fc.string({ maxLength: 10 }), (text, at, length, patch) => {
        const start = at % text.length
        onlyRefuses(text.slice(0, start) + patch + text.slice(start + length))
      }),
      { numRuns: 500 },
    )
  })

  test('round-trips its own output, with any comment', () => {
    const comment = fc.string({ maxLength: 40 }).filter((text) => !/-BEGIN|AAAA|PuTTY|b3Blbn/.test(text))
    fc.assert(
      fc.property(anyLine, comment, (text, words) => {
        const parsed = parsePublicKey(`${text.trim()} ${words}`)
        expect(text.startsWith(`${parsed.publicKey} `)).toBe(true)
        expect(parsePublicKey(parsed.publicKey)).toEqual(parsed)
      }),
    )
  })
})
