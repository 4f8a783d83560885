// How the programs of Ceph reach a pool: their configuration and the key of the pool's user, in files of a folder.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DriverError } from '../errors.ts'
import { readTool, runTool } from './command.ts'

export interface RbdBackend {
  id: string
  /** `host` or `host:port`. */
  monitors: string[]
  pool: string
  /** Of Ceph, without `client.`; with the profile `rbd`. */
  user: string
  /** As Ceph prints it, in base64. */
  key: string
}

export interface PoolAccess {
  readonly backend: RbdBackend
  /** The path of the configuration, which is there once a program was run. */
  readonly conf: string
  /** Resolves to what it prints. `what` completes "Could not …". */
  rbd(what: string, args: string[], signal: AbortSignal, input?: AsyncIterable<Buffer>): Promise<string>
  json<T>(what: string, args: string[], signal: AbortSignal): Promise<T>
  read(what: string, args: string[], signal: AbortSignal): AsyncGenerator<Buffer>
  /** Of the cluster. Null where it prints nothing. */
  ceph<T>(what: string, args: string[], signal: AbortSignal): Promise<T>
}

/** Of the worker's user, who alone may read it. */
export const accessFolder = (dataDir: string): string => join(dataDir, 'ceph')

/** `folder` is private to this installation; the user's key is written to a file in it. */
export function openAccess(backend: RbdBackend, folder: string): PoolAccess {
  const conf = join(folder, `${backend.id}.conf`)
  let written: Promise<void> | undefined
  const access = (): Promise<void> =>
    (written ??= writeAccess(backend, folder, conf).catch((error: unknown) => {
      written = undefined
      throw new DriverError('permanent', `Could not write ${conf}: ${(error as Error).message}`, { cause: error })
    }))
  const user = [`--conf=${conf}`, `--id=${backend.user}`]
  const credentials = [...user, `--pool=${backend.pool}`]
  const rbd = async (what: string, args: string[], signal: AbortSignal, input?: AsyncIterable<Buffer>): Promise<string> => {
    await access()
    return runTool('rbd', what, [...credentials, ...args], signal, input)
  }

  return {
    backend,
    conf,
    rbd,
    json: async <T>(what: string, args: string[], signal: AbortSignal): Promise<T> =>
      JSON.parse(await rbd(what, [...args, '--format=json'], signal)) as T,

    async *read(what, args, signal) {
      await access()
      yield* readTool('rbd', what, [...credentials, ...args], signal)
    },

    async ceph<T>(what: string, args: string[], signal: AbortSignal): Promise<T> {
      await access()
      return JSON.parse((await runTool('ceph', what, [...user, ...args, '--format=json'], signal)).trim() || 'null') as T
    },
  }
}

/** Timeouts, because Ceph's own is five minutes for a cluster that does not answer. */
const confOf = ({ monitors, user }: RbdBackend, keyring: string): string => `[global]
mon_host = ${monitors.join(',')}
keyring = ${keyring}
client_mount_timeout = 15
rados_mon_op_timeout = 15
rbd_default_clone_format = 2
log_file = /dev/null
admin_socket =
[client.${user}]
keyring = ${keyring}
`

async function writeAccess(backend: RbdBackend, folder: string, conf: string): Promise<void> {
  const keyring = join(folder, `${backend.id}.keyring`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [path, text] of [
    [keyring, `[client.${backend.user}]\n\tkey = ${backend.key}\n`],
    [conf, confOf(backend, keyring)],
  ] as const) {
    const draft = `${path}.${process.pid}`
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, path)
  }
}
