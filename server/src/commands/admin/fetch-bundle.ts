// `berthd host fetch-bundle`: how a new host gets its certificates, by the token of the dashboard. What is sent is made of the token, and what comes back is
// sealed by it: who reads along on the way learns neither.
import { BUNDLE_PATH, bundleIdOf, isBundleToken, openBundle } from '../../features/hosts/service.ts'
import { writeFileAtomic } from '../../host-setup/shell.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { readSecret } from './read-secret.ts'

export interface FetchInput {
  tokenFile: string
  out: string
}

const ANSWER_MS = 30_000

export async function fetchBundle(url: string, { tokenFile, out }: FetchInput): Promise<Result> {
  const at = URL.canParse(url) ? new URL(BUNDLE_PATH, url) : null
  if (!at || !/^https?:$/.test(at.protocol))
    throw new UsageError(`"${url}" is not the address of a dashboard, such as https://cloud.example.com`)
  if (process.stdin.isTTY && tokenFile === '-') process.stderr.write('Enter the token, and then press Enter and Ctrl+D:\n')
  const token = await readSecret(tokenFile)
  if (!isBundleToken(token)) throw new UsageError('This is no token of a host: it does not begin with berthhost_, or is not complete')
  const { sealed } = await ask(at, bundleIdOf(token))
  await writeFileAtomic(out, `${openBundle(token, Buffer.from(sealed, 'base64'))}\n`, 0o600)
  const text = [
    `The certificates of this host are in ${out}, with their keys: delete the file when the host is set up.`,
    `Next: sudo berthd host prepare --certificate ${out}`,
  ]
  return { data: { out }, text: text.join('\n') }
}

async function ask(at: URL, id: string): Promise<{ sealed: string }> {
  const response = await fetch(at, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: Error) => {
    throw new Error(`${at.origin} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`, { cause: error })
  })
  const answer = (await response.json().catch(() => null)) as { data?: { sealed: string }; error?: string } | null
  if (answer?.data) return answer.data
  throw new Error(answer?.error ?? `${at.origin} answers ${response.status}: is it the address of the dashboard?`)
}
