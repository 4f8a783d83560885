// Power of a machine by its management card: Redfish (DMTF DSP0266), HTTP with JSON. Switched off is what reads back as off, of the system with the
// UUID that was compared with the host's own: a card that was moved to another machine, or numbers its systems anew, switches nothing off.
import { request as http, type RequestOptions } from 'node:http'
import { request as https } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { DriverError } from './errors.ts'
import { connectTrusted, UntrustedError } from './pinned-tls.ts'

/** How a card is spoken to. */
export interface PowerAccess {
  /** Of the card, if it has one system, or of the system: `https://10.0.9.5/redfish/v1/Systems/1`. */
  url: string
  user: string
  password: string
  /** Its certificate, or that of who issued it, in PEM; null: the usual ones. */
  ca: string | null
}

export interface PowerController extends PowerAccess {
  /** Of the system, as the card writes it; null where it was never compared. */
  systemUuid: string | null
}

export interface PowerSystem {
  /** In lower case; null where the card does not know it. */
  uuid: string | null
  power: string
}

const LONGEST_ANSWER = 2 ** 20
const LOOK_EVERY_MS = 1_000

export async function readSystem(access: PowerAccess, signal: AbortSignal): Promise<PowerSystem> {
  return read(access, await systemOf(access, signal), signal)
}

/** Of the system that was meant, or it throws. */
export async function readPower(controller: PowerController, signal: AbortSignal): Promise<string> {
  return readOwn(controller, await systemOf(controller, signal), signal)
}

/** Resolves when the system is off. */
export async function ensureOff(controller: PowerController, signal: AbortSignal): Promise<void> {
  const system = await systemOf(controller, signal)
  const isOff = async (): Promise<boolean> => (await readOwn(controller, system, signal)) === 'Off'
  if (await isOff()) return
  await call(controller, 'POST', `${system}/Actions/ComputerSystem.Reset`, signal, { ResetType: 'ForceOff' }).catch(
    async (error: unknown) => {
      if (!(await isOff())) throw error // a card may refuse to switch off what has just gone off
    },
  )
  while (!(await isOff())) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined) // the next look says `aborted`
}

/** Firmware and cards do not agree on the order of the bytes in the first three parts. */
export const isSameUuid = (one: string, other: string): boolean =>
  [one, swapBytes(one)].some((each) => each.toLowerCase() === other.toLowerCase())

const swapBytes = (uuid: string): string =>
  uuid.replace(/^(..)(..)(..)(..)-(..)(..)-(..)(..)-/, (_, ...bytes: string[]) => {
    const [a, b, c, d, e, f, g, h] = bytes
    return `${d}${c}${b}${a}-${f}${e}-${h}${g}-`
  })

async function readOwn(controller: PowerController, path: string, signal: AbortSignal): Promise<string> {
  const { url, systemUuid } = controller
  const { uuid, power } = await read(controller, path, signal)
  const again = 'npx berthd host set-power compares them'
  if (systemUuid === null) throw new DriverError('permanent', `${url}: its system was never compared with the host: ${again}`)
  if (uuid !== systemUuid)
    throw new DriverError('permanent', `${url} is another machine now: its system is ${uuid ?? 'unknown'}, it was ${systemUuid}: ${again}`)
  return power
}

async function read(access: PowerAccess, path: string, signal: AbortSignal): Promise<PowerSystem> {
  const { UUID, PowerState } = await call<{ UUID?: string | null; PowerState?: string | null }>(access, 'GET', path, signal)
  return { uuid: UUID?.toLowerCase() ?? null, power: PowerState ?? 'unknown' }
}

async function systemOf(access: PowerAccess, signal: AbortSignal): Promise<string> {
  const path = new URL(access.url).pathname.replace(/\/+$/, '')
  if (/\/Systems\/[^/]+$/.test(path)) return path
  const { Members = [] } = await call<{ Members?: { '@odata.id': string }[] }>(access, 'GET', '/redfish/v1/Systems', signal)
  if (Members.length !== 1)
    throw new DriverError(
      'permanent',
      `${access.url} has ${Members.length} systems: name one, such as ${new URL(Members[0]?.['@odata.id'] ?? '/redfish/v1/Systems/1', access.url).href}`,
    )
  return Members[0]!['@odata.id'].replace(/\/+$/, '')
}

async function call<T>(
  { url, user, password, ca }: PowerAccess,
  method: string,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<T> {
  const at = new URL(path, url)
  const what = `${method} ${at.href}`
  const payload = body && JSON.stringify(body)
  const options: RequestOptions = {
    method,
    signal,
    auth: `${user}:${password}`,
    headers: {
      accept: 'application/json',
      ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    },
  }
  try {
    signal.throwIfAborted()
    if (at.origin !== new URL(url).origin) throw new Error('the card names a system of another server')
    const socket = at.protocol === 'https:' ? await connectTrusted(at, ca, signal) : null
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const sent = (socket ? https : http)(at, { ...options, ...(socket && { createConnection: () => socket }) }, (response) => {
        let length = 0
        response.on(
          'data',
          (chunk: Buffer) => (length += chunk.length) > LONGEST_ANSWER && response.destroy(new Error('the answer is too long')),
        )
        text(response).then((answer) => resolve({ status: response.statusCode!, answer }), reject)
      })
      sent.once('error', reject).end(payload)
    })
    if (status >= 300)
      throw new DriverError(
        status === 401 || status === 403 || status === 404 ? 'permanent' : 'transient',
        `${what} answered ${status}: ${answer.slice(0, 300)}`,
      )
    return (answer === '' ? {} : JSON.parse(answer)) as T
  } catch (error) {
    if (error instanceof DriverError) throw error
    if (error instanceof UntrustedError)
      throw new DriverError(
        'permanent',
        `${at.origin}: ${error.message}. If the card itself shows the same one: npx berthd host set-power … --fingerprint ${error.fingerprint}; for one that an authority has issued: --ca-file`,
        { cause: error },
      )
    throw new DriverError(signal.aborted ? 'aborted' : 'unreachable', `${what}: ${(error as Error).message}`, { cause: error })
  }
}
