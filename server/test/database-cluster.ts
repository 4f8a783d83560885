// PostgreSQL on three machines by Patroni, behind HAProxy, by the files of ops/ha. A machine is a network namespace, so that it can be cut off, and
// everything in it killed at once.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { env, missingCommands, run } from '../../libvirt/test/command.ts'
import { eventually } from './processes.ts'
import { HA_FILES as FILES, spawnHaproxy } from './haproxy.ts'
import { scratchFolder } from './scratch-folder.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const NUMBERS = [1, 2, 3]
const READY_MS = 60_000

export const missingForDatabaseCluster = (): string | undefined =>
  process.getuid?.() !== 0 ? 'needs root' : missingCommands('etcd', 'patroni', 'patronictl', 'haproxy', 'ip', 'setpriv', `${BIN}/postgres`)

export interface Machine {
  name: string
  address: string
  /** With everything on it, as by a loss of power. */
  kill: () => Promise<void>
  start: () => Promise<void>
  killPostmaster: () => Promise<void>
  /** Patroni hangs, PostgreSQL runs on. */
  freezePatroni: () => Promise<void>
  thawPatroni: () => Promise<void>
  cutOff: () => Promise<unknown>
  reconnect: () => Promise<unknown>
}

export interface DatabaseCluster {
  machines: Machine[]
  /** Of the database, through HAProxy, as the owner. */
  url: string
  apiUrl: string
  primary(): Promise<Machine>
  /** A primary with a synchronous standby, and the third machine too. */
  isWhole(): Promise<boolean>
  restartHaproxy: () => Promise<void>
  close(): Promise<void>
}

interface State {
  role: string
  replication?: { state: string; sync_state: string }[]
}

/** `apis`: addresses of two. */
export async function startDatabaseCluster(apis: [string, string]): Promise<DatabaseCluster> {
  const folder = await scratchFolder()
  const path = (...parts: string[]): string => join(folder.path, ...parts)
  const id = randomInt(10, 250)
  const [bridge, network] = [`bha${id}`, `10.98.${id}`]
  const here = `${network}.254`
  const addressOf = (text: string): string => text.replaceAll('10.0.0.', `${network}.`)
  await copyFile(join(FILES, 'patroni.yml'), path('patroni.yml'))
  await run('ip', 'link', 'add', bridge, 'type', 'bridge')
  await run('ip', 'addr', 'add', `${here}/24`, 'dev', bridge)
  await run('ip', 'link', 'set', bridge, 'up')

  /** The settings of the first machine, as those of this one. */
  const settingsOf = async (file: string, number: number): Promise<Record<string, string>> => {
    const text = addressOf(await readFile(join(FILES, file), 'utf8'))
    const settings = parseEnv(text) as Record<string, string>
    for (const [name, value] of Object.entries(settings))
      if (!/HOSTS$|INITIAL_CLUSTER$/.test(name))
        settings[name] = value.replace(/^db1$/, `db${number}`).replace(`${network}.1:`, `${network}.${number}:`)
    return settings
  }
  const log = (name: string): number => openSync(path(`${name}.log`), 'a')
  const startIn = (machine: string, name: string, command: string[], settings: Record<string, string>): ChildProcess =>
    // In the folder, so that it ends with it.
    spawn('ip', ['netns', 'exec', machine, ...command], {
      cwd: path(machine),
      env: { ...env, ...settings },
      stdio: ['ignore', log(`${machine}-${name}`), log(`${machine}-${name}`)],
      detached: true,
    })

  const machines = NUMBERS.map((number): Machine => {
    const [name, address] = [`${bridge}-db${number}`, `${network}.${number}`]
    const [outside, inside] = [`${bridge}v${number}`, 'eth0']
    let patroni: ChildProcess | undefined
    const signal = (pid: number | undefined, name: NodeJS.Signals): void => {
      try {
        if (pid) process.kill(pid, name)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it has just ended
      }
    }
    return {
      name,
      address,
      async start() {
        if (!(await run('ip', 'netns', 'list')).includes(name)) {
          await run('ip', 'netns', 'add', name)
          await run('ip', 'link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name)
          await run('ip', 'link', 'set', outside, 'master', bridge, 'up')
          for (const command of [`addr add ${address}/24 dev ${inside}`, `link set ${inside} up`, 'link set lo up'])
            await run('ip', '-n', name, ...command.split(' '))
          await mkdir(path(name))
          await run('chown', 'postgres:', path(name))
        }
        const etcd = { ...(await settingsOf('etcd.env', number)), ETCD_DATA_DIR: path(name, 'etcd') }
        startIn(name, 'etcd', ['etcd'], etcd)
        const settings = {
          ...(await settingsOf('patroni.env', number)),
          PATRONI_POSTGRESQL_DATA_DIR: path(name, 'data'),
          PATRONI_POSTGRESQL_PGPASS: path(name, 'pgpass'),
          PATRONI_POSTGRESQL_BIN_DIR: BIN,
        }
        const asPostgres = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--init-groups', '--']
        patroni = startIn(name, 'patroni', [...asPostgres, 'patroni', path('patroni.yml')], settings)
      },
      async kill() {
        await eventually(async () => {
          const pids = (await run('ip', 'netns', 'pids', name)).split('\n').filter(Boolean)
          for (const pid of pids) signal(Number(pid), 'SIGKILL')
          return pids.length === 0
        })
      },
      async killPostmaster() {
        signal(Number((await readFile(path(name, 'data/postmaster.pid'), 'utf8')).split('\n')[0]), 'SIGKILL')
      },
      freezePatroni: async () => signal(patroni?.pid, 'SIGSTOP'),
      thawPatroni: async () => signal(patroni?.pid, 'SIGCONT'),
      cutOff: () => run('ip', 'link', 'set', outside, 'down'),
      reconnect: () => run('ip', 'link', 'set', outside, 'up'),
    }
  })

  let haproxy: ChildProcess
  const apiPort = 8080
  const startHaproxy = async (): Promise<void> => {
    const databases = Object.fromEntries(NUMBERS.map((number) => [`DB${number}`, `${network}.${number}`]))
    const settings = { ...databases, DATABASE_BIND: `${here}:5432`, API_BIND: `${here}:${apiPort}`, API1: apis[0], API2: apis[1] }
    haproxy = await spawnHaproxy(folder.path, settings)
  }

  const close = async (): Promise<void> => {
    haproxy?.kill('SIGKILL')
    for (const machine of machines) {
      await machine.kill().catch(() => undefined)
      await run('ip', 'netns', 'del', machine.name).catch(() => undefined)
    }
    await run('ip', 'link', 'del', bridge)
    await folder.remove()
  }

  const ask = async <T>({ address }: Machine, what: string): Promise<T> => {
    const response = await fetch(`http://${address}:8008/${what}`, { signal: AbortSignal.timeout(2_000) })
    return (await response.json()) as T
  }
  const isWhole = async (): Promise<boolean> => {
    // Of themselves: what Patroni says of the others is old where one hangs.
    const states = await Promise.all(machines.map((machine) => ask<State>(machine, 'patroni'))).catch(() => [])
    const [primary, ...more] = states.filter(({ role }) => role !== 'replica')
    const standbys = primary?.replication?.filter(({ state }) => state === 'streaming') ?? []
    return more.length === 0 && standbys.length === NUMBERS.length - 1 && standbys.some(({ sync_state: mode }) => mode === 'sync')
  }

  try {
    await Promise.all(machines.map((machine) => machine.start()))
    await eventually(isWhole, READY_MS)
    await startHaproxy()
    const { PATRONI_SUPERUSER_PASSWORD: password } = await settingsOf('patroni.env', 1)
    const create = ['-c', `create role berth login password 'secret'`, '-c', 'create database berth owner berth']
    // Until its first check HAProxy takes standbys for the primary.
    await eventually(
      () =>
        run(`${BIN}/psql`, '-v', 'ON_ERROR_STOP=1', `postgres://postgres:${password}@${here}:5432/postgres`, ...create).then(
          () => true,
          () => false,
        ),
      READY_MS,
    )
  } catch (cause) {
    const said = await run('sh', '-c', 'tail -n 8 "$0"/*.log', folder.path)
    await close()
    throw new Error(`The cluster did not start:\n${said}`, { cause })
  }

  return {
    machines,
    url: `postgres://berth:secret@${here}:5432/berth`,
    apiUrl: `http://${here}:${apiPort}`,
    isWhole,
    async primary() {
      const asked = machines.map((machine) => ask<{ members: { name: string; role: string }[] }>(machine, 'cluster'))
      const leader = (await Promise.any(asked)).members.find(({ role }) => role === 'leader')
      return machines.find(({ name }) => name.endsWith(`-${leader?.name}`))!
    },
    async restartHaproxy() {
      haproxy.kill('SIGKILL')
      await once(haproxy, 'exit')
      await startHaproxy()
    },
    close,
  }
}
