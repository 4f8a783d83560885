// What a control plane issues to a host: its certificate and key, the CA to trust, and the client name to accept.
import { readFile } from 'node:fs/promises'
import { SetupError, type Bundle } from './setup-step.ts'

const FIELDS = ['address', 'ca', 'cert', 'key', 'allowedName', 'range'] as const

export async function readBundle(path: string): Promise<Bundle> {
  const fix = 'issue one on the control plane: npx berthd host certificate --address <this host> --out bundle, and copy it here'
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new SetupError(`The certificate ${path} cannot be read: ${error.message}`, fix)
  })
  const value = parse(text)
  if (FIELDS.every((field) => typeof value?.[field] === 'string')) return value as unknown as Bundle
  throw new SetupError(`${path} is not a certificate made by berthd host certificate`, fix)
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null
  } catch {
    return null // the caller reports it
  }
}
