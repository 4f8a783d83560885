// Power of a machine by its management card: Redfish (DMTF DSP0266), HTTP with JSON. Switched off is what reads back as off.
import { request as http, type RequestOptions } from 'node:http'
import { request as https } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { DriverError } from './errors.ts'

export interface PowerController {
  /** Of the card, if it has one system, or of the system: `https://10.0.9.5/redfish/v1/Systems/1`. */
  url: string
  user: string
  password: string
  /** Its certificate, or that of who issued it, in PEM; null: the usual ones. */
  ca: string | null
}

const LONGEST_ANSWER = 2 ** 20
const LOOK_EVERY_MS = 1_000

export async function readPower(controller: PowerController, signal: AbortSignal): Promise<string> {
  const { PowerState } = await call<{ PowerState?: string }>(controller, 'GET', await systemOf(controller, signal), signal)
  return PowerState ?? 'unknown'
}

/** Resolves when the system is off. */
export async function ensureOff(controller: PowerController, signal: AbortSignal): Promise<void> {
  const system = await systemOf(controller, signal)
  const isOff = async (): Promise<boolean> => (await readPower(controller, signal)) === 'Off'
  if (await isOff()) return
  await call(controller, 'POST', `${system}/Actions/ComputerSystem.Reset`, signal, { ResetType: 'ForceOff' })
  while (!(await isOff())) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined) // the next look says `aborted`
}

async function systemOf(controller: PowerController, signal: AbortSignal): Promise<string> {
  const path = new URL(controller.url).pathname.replace(/\/+$/, '')
  if (/\/Systems\/[^/]+$/.test(path)) return path
  const { Members = [] } = await call<{ Members?: { '@odata.id': string }[] }>(controller, 'GET', '/redfish/v1/Systems', signal)
  if (Members.length !== 1)
    throw new DriverError(
      'permanent',
      `${controller.url} has ${Members.length} systems: name one, such as ${new URL('/redfish/v1/Systems/1', controller.url).href}`,
    )
  return Members[0]!['@odata.id'].replace(/\/+$/, '')
}

async function call<T>(
  { url, user, password, ca }: PowerController,
  method: string,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<T> {
  const at = new URL(path, url)
  const what = `${method} ${at.href}`
  const payload = body && JSON.stringify(body)
  const options: RequestOptions & { ca?: string } = {
    method,
    signal,
    auth: `${user}:${password}`,
    headers: {
      accept: 'application/json',
      ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    },
    ...(ca !== null && { ca }),
  }
  try {
    signal.throwIfAborted()
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const sent = (at.protocol === 'https:' ? https : http)(at, options, (response) => {
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
        status === 401 || status === 403 ? 'permanent' : 'transient',
        `${what} answered ${status}: ${answer.slice(0, 300)}`,
      )
    return (answer === '' ? {} : JSON.parse(answer)) as T
  } catch (error) {
    if (error instanceof DriverError) throw error
    throw new DriverError(signal.aborted ? 'aborted' : 'unreachable', `${what}: ${(error as Error).message}`, { cause: error })
  }
}
