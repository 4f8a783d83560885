// What a control plane issues to a host or a network controller: its certificate and key, and whom to trust.
import { readFile } from 'node:fs/promises'
import { SetupError, type Bundle, type ControllerBundle } from './setup-step.ts'

export const readBundle = (path: string): Promise<Bundle> =>
  read<Bundle>(path, 'berthd host certificate', ['address', 'ca', 'cert', 'key', 'crl', 'allowedName', 'range'])

export const readControllerBundle = (path: string): Promise<ControllerBundle> =>
  read<ControllerBundle>(path, 'berthd network-controller certificate', ['address', 'ca', 'chassisCa', 'cert', 'key'])

async function read<Kind>(path: string, command: string, fields: string[]): Promise<Kind> {
  const fix = `issue one on the control plane: npx ${command} --address <this machine> --out bundle, and copy it here`
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new SetupError(`The certificate ${path} cannot be read: ${error.message}`, fix)
  })
  const value = parse(text)
  if (fields.every((field) => typeof value?.[field] === 'string')) return value as Kind
  throw new SetupError(`${path} is not a certificate made by ${command}`, fix)
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null
  } catch {
    return null // the caller reports it
  }
}
