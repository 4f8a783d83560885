// Issues the bundle of a host: its certificate and its address range. Ranges are recorded when they are issued, because the host is
// registered only later.
import { isIP } from 'node:net'
import { join } from 'node:path'
import { parseCidr, formatCidr, type Cidr } from '../kernel/cidr.ts'
import { openAuthority, pkiFolder } from './certificate-authority.ts'
import type { Bundle } from './setup-step.ts'
import { freeRange } from './address-range.ts'
import { readFileOrNull, writeFileAtomic } from './shell.ts'

type Issued = Record<string, string>

const issuedFile = (dataDir: string): string => join(pkiFolder(dataDir), 'ranges.json')

const readIssued = async (dataDir: string): Promise<Issued> => JSON.parse((await readFileOrNull(issuedFile(dataDir))) ?? '{}') as Issued

export const issuedRange = async (dataDir: string, address: string): Promise<string | undefined> => (await readIssued(dataDir))[address]

export async function issueBundle(dataDir: string, address: string, inUse: string[], out: string): Promise<Bundle> {
  if (isIP(address) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(address))
    throw new Error(`"${address}" is neither an address nor a name`)
  const authority = await openAuthority(dataDir)
  const issued = await readIssued(dataDir)
  const range = issued[address] ?? formatCidr(freeRange(ranges([...inUse, ...Object.values(issued)])))
  const bundle = { address, ca: authority.ca, ...(await authority.issue(address)), allowedName: `CN=${authority.name}`, range }
  await writeFileAtomic(issuedFile(dataDir), JSON.stringify({ ...issued, [address]: range }), 0o600)
  await writeFileAtomic(out, `${JSON.stringify(bundle)}\n`, 0o600)
  return bundle
}

const ranges = (texts: string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? [])
