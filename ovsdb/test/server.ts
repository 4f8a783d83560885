// Real ovsdb-servers with a database of every type, alone or as a cluster of three.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, run } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import { Database, operationsOn, unix, type DatabaseOptions } from '../src/index.ts'

const many = (key: string, value?: string) => ({ key, ...(value && { value }), min: 0, max: 'unlimited' })
const schema = {
  name: 'Fixture',
  version: '1.0.0',
  tables: {
    Switch: {
      isRoot: true,
      indexes: [['name']],
      columns: {
        name: { type: 'string' },
        size: { type: 'integer' },
        ratio: { type: 'real' },
        enabled: { type: 'boolean' },
        note: { type: { key: 'string', min: 0, max: 1 } },
        tags: { type: many('string') },
        ids: { type: many('string', 'string') },
        numbers: { type: many('integer', 'integer') },
        ports: { type: { key: { type: 'uuid', refTable: 'Port' }, min: 0, max: 'unlimited' } },
        first: { type: { key: { type: 'uuid', refTable: 'Port', refType: 'weak' }, min: 0, max: 1 } },
      },
    },
    Port: { columns: { name: { type: 'string' } } },
  },
}

export type Tables = {
  Switch: {
    name: string
    size: number
    ratio: number
    enabled: boolean
    note: string | null
    tags: string[]
    ids: Record<string, string>
    numbers: Record<string, number>
    ports: string[]
    first: string | null
  }
  Port: { name: string }
}

export const { insert, select, update, mutate, remove, wait, comment } = operationsOn<Tables>()

export interface Server {
  socket: string
  signal(signal: NodeJS.Signals): void
  start(): Promise<void>
  /** Resolves when the process has ended. */
  kill(): Promise<void>
}

export class Servers {
  readonly folder: string
  private readonly all: Server[] = []
  private readonly opened: Database<Tables>[] = []

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(): Promise<Servers> {
    const servers = new Servers(await mkdtemp(join(tmpdir(), 'ovsdb-')))
    await writeFile(join(servers.folder, 'schema'), JSON.stringify(schema))
    return servers
  }

  async single(...options: string[]): Promise<Server> {
    const name = `s${this.all.length}`
    await run('ovsdb-tool', 'create', this.path(`${name}.db`), this.path('schema'))
    return this.add(name, options)
  }

  async cluster(): Promise<Server[]> {
    const addresses = (await freePorts(3)).map((port) => `tcp:127.0.0.1:${port}`)
    await run('ovsdb-tool', 'create-cluster', this.path('c0.db'), this.path('schema'), addresses[0]!)
    const members = [await this.add('c0')]
    for (const [i, address] of addresses.entries()) {
      if (i === 0) continue
      await run('ovsdb-tool', 'join-cluster', this.path(`c${i}.db`), schema.name, address, ...addresses.filter((each) => each !== address))
      members.push(await this.add(`c${i}`))
    }
    return members
  }

  connect(servers: readonly Server[], options: Partial<DatabaseOptions> = {}): Database<Tables> {
    const database = new Database<Tables>({ name: schema.name, endpoints: servers.map(({ socket }) => unix(socket)), ...options })
    this.opened.push(database)
    return database
  }

  async close(): Promise<void> {
    for (const database of this.opened) database.close()
    for (const server of this.all) await server.kill()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** The member of a cluster that says it leads. */
  async leader(members: readonly Server[]): Promise<Server> {
    return eventually('a leader', async () => {
      for (const member of members) {
        const control = member.socket.replace(/sock$/, 'ctl')
        const status = await run('ovs-appctl', '--timeout=2', '-t', control, 'cluster/status', schema.name).catch(() => '')
        if (/^Role: leader$/m.test(status)) return member
      }
      return undefined
    })
  }

  /** The member leaves the leadership to another. */
  async handOver(member: Server): Promise<void> {
    await run('ovs-appctl', '-t', member.socket.replace(/sock$/, 'ctl'), 'cluster/failure-test', 'transfer-leadership')
  }

  async subfolder(name: string): Promise<string> {
    await mkdir(this.path(name))
    return this.path(name)
  }

  private path(name: string): string {
    return join(this.folder, name)
  }

  private async add(name: string, options: string[] = []): Promise<Server> {
    const socket = this.path(`${name}.sock`)
    const control = this.path(`${name}.ctl`)
    let process: ChildProcess | undefined
    const server: Server = {
      socket,
      signal: (signal) => process?.kill(signal),
      async start() {
        const args = [
          `--remote=punix:${socket}`,
          `--unixctl=${control}`,
          '--no-chdir',
          '-vconsole:off',
          ...options,
          `${socket.replace(/sock$/, 'db')}`,
        ]
        process = spawn('ovsdb-server', args, { env, stdio: 'ignore' })
        await eventually('ovsdb-server', () => run('ovsdb-client', '--timeout=2', 'list-dbs', `unix:${socket}`))
      },
      async kill() {
        if (!process || process.exitCode !== null || process.signalCode !== null) return
        const ended = once(process, 'exit')
        process.kill('SIGKILL')
        await ended
        await rm(socket, { force: true })
      },
    }
    this.all.push(server)
    await server.start()
    return server
  }
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
