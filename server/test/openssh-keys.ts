// New OpenSSH public keys: from ssh-keygen if installed, otherwise built with node:crypto.
import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface GeneratedKey {
  type: string
  /** As in a .pub file: type, base64, comment and a line break. */
  line: string
  fingerprint: string
}

const ARGUMENTS: Record<string, string[]> = {
  'ssh-ed25519': ['-t', 'ed25519'],
  'ssh-rsa': ['-t', 'rsa', '-b', '2048'],
  'ecdsa-sha2-nistp256': ['-t', 'ecdsa', '-b', '256'],
  'ecdsa-sha2-nistp384': ['-t', 'ecdsa', '-b', '384'],
  'ecdsa-sha2-nistp521': ['-t', 'ecdsa', '-b', '521'],
}

export function generateKey(type = 'ssh-ed25519'): GeneratedKey {
  const options = ARGUMENTS[type]
  return (options && bySshKeygen(type, options)) ?? byNode(type)
}

/** Undefined without ssh-keygen. */
function bySshKeygen(type: string, options: string[]): GeneratedKey | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'berth-keys-'))
  const file = join(folder, 'key')
  try {
    const made = spawnSync('ssh-keygen', ['-q', ...options, '-N', '', '-C', 'someone@example.com', '-f', file])
    if (made.error) return undefined
    const shown = spawnSync('ssh-keygen', ['-l', '-E', 'sha256', '-f', `${file}.pub`], { encoding: 'utf8' }).stdout
    return { type, line: readFileSync(`${file}.pub`, 'utf8'), fingerprint: shown.split(' ')[1] ?? '' }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function byNode(type: string): GeneratedKey {
  const blob = wire(type, ...fieldsOf(type))
  const hash = createHash('sha256').update(blob).digest('base64')
  return { type, line: `${type} ${blob.toString('base64')} someone@example.com\n`, fingerprint: `SHA256:${hash.replaceAll('=', '')}` }
}

/** SSH wire format: length-prefixed strings. */
export const wire = (...strings: (string | Uint8Array)[]): Buffer =>
  Buffer.concat(
    strings.map((each) => {
      const bytes = Buffer.from(each)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return Buffer.concat([length, bytes])
    }),
  )

function fieldsOf(type: string): (string | Buffer)[] {
  const application = type.startsWith('sk-') ? ['ssh:'] : []
  if (type === 'ssh-rsa') return rsa()
  if (type.includes('ed25519')) return [base64url(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x), ...application]
  const curve = /nistp\d+/.exec(type)![0]
  const { x, y } = generateKeyPairSync('ec', { namedCurve: curve.replace('nistp', 'P-') }).publicKey.export({ format: 'jwk' })
  return [curve, Buffer.concat([Buffer.of(4), base64url(x), base64url(y)]), ...application]
}

function rsa(): Buffer[] {
  const { e, n } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
  return [base64url(e), Buffer.concat([Buffer.of(0), base64url(n)])]
}

const base64url = (text = ''): Buffer => Buffer.from(text, 'base64url')
