// The product as an operator runs it, on a sandboxed host: an API and a worker of `berthd`, and one customer.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from '../server/src/kernel/database/db.ts'
import { missingForCeph, startCeph, type CephCluster } from '../server/test/ceph.ts'
import { missingForLibvirtHost, openLibvirtHost, type LibvirtHost } from '../server/test/libvirt-host.ts'
import { scratchFolder } from '../server/test/scratch-folder.ts'
import { tinyImage } from '../server/test/tiny-image.ts'
import type { Image } from '../server/src/hypervisor/image-source.ts'
import type { RbdBackend } from '../server/src/hypervisor/rbd/access.ts'
import { connect, prepare, withPostgres } from './vms-database.ts'

const BERTHD = join(import.meta.dirname, '../server/bin/berthd.mjs')
const API = '/api/public/v1'

export interface Product {
  /** From POST /vms until the API says that it runs: milliseconds, in all and by step. */
  create(): Promise<Created>
  remove(vmId: string): Promise<void>
  ask: Ask
}

/** Answers the data of what must work. */
type Ask = <T>(method: string, path: string, body?: object) => Promise<T>

export interface Created {
  vmId: string
  totalMs: number
  stepsMs: Record<string, number>
}

interface Action {
  status: string
  error: string | null
  steps: { name: string; startedAt: string; completedAt: string }[]
}

interface Stage {
  folder: string
  host: LibvirtHost
  image: Image
  /** Where disks are that are not on the host. */
  ceph?: CephStage | undefined
}

export interface CephStage {
  cluster: CephCluster
  backend: RbdBackend
}

/** A host in a sandbox for a bench, with what the product needs beside it. All of it goes with the stack. */
export async function openStage(stack: AsyncDisposableStack): Promise<Stage> {
  if (missingForLibvirtHost()) throw new Error('This takes root, libvirt, QEMU and OVN; npm run doctor says what is missing')
  const folder = await scratchFolder()
  stack.defer(folder.remove)
  const image = await tinyImage()
  const host = await openLibvirtHost()
  stack.defer(host.close)
  return { folder: folder.path, host, image }
}

/** A cluster of this machine that the host reaches. */
export async function openCeph(stack: AsyncDisposableStack, { sandbox }: LibvirtHost): Promise<CephStage> {
  const missing = missingForCeph()
  if (missing) throw new Error(missing)
  const cluster = await startCeph({ address: sandbox.address.replace(/\d+$/, '1') })
  stack.defer(cluster.close)
  return { cluster, backend: await cluster.addPool() }
}

type Work<T> = (product: Product, another: Product) => Promise<T>

/** `another` is the same product for another customer. */
export const withProduct = <T>({ folder, host, image, ceph }: Stage, work: Work<T>): Promise<T> =>
  withPostgres(folder, async (postgres) => {
    await using stack = new AsyncDisposableStack()
    const { maker, many } = await prepare(postgres)
    const env = environment(postgres.url, folder)
    await berthd(env, 'host', 'remove', 'local', '--yes')
    await berthd(env, 'template', 'import', 'tiny', '--file', image.path)
    const networks = ['--network-controller', host.networkController, '--range', '10.77.0.0/16', '--dns', host.gateway]
    await berthd(env, 'host', 'add', host.uri, '--name', 'sandbox', ...networks)
    await berthd(env, 'host', 'set', 'sandbox', '--overcommit', '16')
    if (ceph) await addStorage(env, postgres.url, folder, ceph.backend)
    const order = await orderOf(postgres.url)
    const said = await start(env, 'api', stack)
    await start(env, 'worker', stack)
    const url = `${/http:\/\/[\d.]+:\d+/.exec(said)![0]}${API}`
    return await work(customer(url, maker.token, order), customer(url, many.token, order))
  })

function customer(url: string, token: string, order: object): Product {
  const ask: Ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'x-api-key': token, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const { data, error } = (await answer.json()) as { data: T; error?: string }
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${error}`)
    return data
  }
  const ended = async (vmId: string, actionId: string): Promise<Action> => {
    for (let waits = 0; waits < 5; waits++) {
      const action = await ask<Action>('GET', `/vms/${vmId}/actions/${actionId}?wait=60`)
      if (action.status === 'COMPLETED') return action
      if (action.status === 'FAILED') throw new Error(`${vmId}: ${action.error}`)
    }
    throw new Error(`${vmId} took more than five minutes`)
  }
  return {
    ask,
    async create() {
      const begun = performance.now()
      const { vm, actionId } = await ask<{ vm: { id: string }; actionId: string }>('POST', '/vms', order)
      const { steps } = await ended(vm.id, actionId)
      const totalMs = performance.now() - begun
      const took = steps.map(({ name, startedAt, completedAt }) => [name, Date.parse(completedAt) - Date.parse(startedAt)] as const)
      return { vmId: vm.id, totalMs, stepsMs: Object.fromEntries(took) }
    },
    async remove(vmId) {
      const { actionId } = await ask<{ actionId: string }>('DELETE', `/vms/${vmId}`)
      await ended(vmId, actionId)
    },
  }
}

const environment = (url: string, dataDir: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  BERTH_DATABASE_URL: url,
  BERTH_DATA_DIR: dataDir,
  BERTH_PORT: '0',
  BERTH_HYPERVISOR: 'simulated', // of this machine; the host in the sandbox is real
})

const berthd = (env: Record<string, string>, ...args: string[]): Promise<unknown> =>
  promisify(execFile)(process.execPath, [BERTHD, ...args], { env })

/** Answers what it said until it was ready. */
async function start(env: Record<string, string>, role: 'api' | 'worker', stack: AsyncDisposableStack): Promise<string> {
  const child = spawn(process.execPath, [BERTHD, role], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let said = ''
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += chunk
    if (said.includes('ready')) break
  }

  child.stdout.resume()
  return said
}

/** The plan of the order has its disks there. */
async function addStorage(env: Record<string, string>, url: string, folder: string, backend: RbdBackend): Promise<void> {
  const db = connect(url)
  const { slug } = await db.one<{ slug: string }>(sql`select slug from regions limit 1`)
  const keyFile = join(folder, 'ceph.key')
  await writeFile(keyFile, backend.key)
  const access = ['--monitors', ...backend.monitors, '--pool', backend.pool, '--user', backend.user, '--key-file', keyFile]
  await berthd(env, 'storage', 'add', 'ceph', '--region', slug, ...access)
  await db.run(sql`update plans set storage = 'REPLICATED' where slug = 'nano'`)
  await db.close()
}

/** The smallest VM there is, with a disk of 1 GiB, so that any machine holds many of them. */
async function orderOf(url: string): Promise<object> {
  const db = connect(url)
  await db.run(sql`update plans set disk_gib = 1 where slug = 'nano'`)
  const ids = await db.one<object>(sql`
    select (select id from regions limit 1) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
      (select id from plans where slug = 'nano') as "planId"`)
  await db.close()
  return { ...ids, hostname: 'web-1' }
}
