// `berthd up` as root on a machine that it makes a host: which process runs as whom, and that everything works for the one without root.
// The machine is a sandbox, with libvirt as Debian's packages install it.
import { once } from 'node:events'
import { chmod, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { readCatalog } from '../src/features/catalog/seed.ts'
import { cleanEnvironment, eventually, service, type Service, type Settings } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { scratchFolder, type ScratchFolder } from './scratch-folder.ts'
import { tinyImage } from './tiny-image.ts'

const BERTHD = join(import.meta.dirname, '../bin/berthd.mjs')
const FIRST_GUEST = 0x7000_0000
const [UP, SERVE, POSTGRES] = ['berthd.mjs up$', 'berthd.mjs serve$', 'native/bin/postgres -D']

describeIf(missingForRealHost())('berthd up as root', { timeout: 3 * TIMEOUT_MS }, () => {
  let folder: ScratchFolder
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  let settings: Settings
  let up: Service
  let token: string
  let vmId: string

  beforeAll(async () => {
    folder = await scratchFolder()
    sandboxes = await Sandboxes.open()
    sandbox = await sandboxes.add()
    await inSandbox('kill $(cat /run/libvirt/libvirtd.pid) $(cat /run/libvirt/virtlogd.pid); while pgrep -x libvirtd; do sleep 0.1; done')
    await writeFile(join(sandbox.folder, 'etc/libvirtd.conf'), '')
    await writeFile(join(sandbox.folder, 'etc/qemu.conf'), 'security_driver = "none"\n')
    // Nothing to build: the sandbox has no internet.
    const catalog = readCatalog(null)
    const osTemplates = catalog.osTemplates.filter(({ slug }) => slug === 'tiny').map((each) => ({ ...each, recipe: undefined }))
    await writeFile(join(folder.path, 'catalog.json'), JSON.stringify({ ...catalog, osTemplates }))
    settings = {
      BERTH_DATA_DIR: join(folder.path, 'data'),
      BERTH_CATALOG_FILE: join(folder.path, 'catalog.json'),
      BERTH_HYPERVISOR: 'libvirt',
      BERTH_HOST: sandbox.address,
      BERTH_PORT: '80',
      BERTH_DRAIN_SECONDS: '5',
    }
  }, TIMEOUT_MS)
  afterAll(async () => {
    await sandboxes?.close()
    await folder?.remove()
  })

  const inSandbox = (script: string): Promise<string> => sandbox.inside('sh', '-ec', script)
  const start = async (): Promise<void> => void (up = await service(settings, 'up', BERTHD, sandbox.enter))

  /** To `up` itself: nsenter, its parent outside, does not forward signals. */
  async function signal(name: string): Promise<number | string> {
    await sandbox.inside('kill', `-${name}`, ...(await pidsOf(UP)))
    return up.ended
  }

  async function berthd<T = Record<string, string>>(...args: string[]): Promise<T> {
    const environment = Object.entries({ ...cleanEnvironment(), ...settings }).map(([name, value]) => `${name}=${value}`)
    return JSON.parse(await sandbox.inside('env', ...environment, process.execPath, BERTHD, ...args, '--json')) as T
  }

  async function call<T = { id: string; status: string }>(method: string, path: string, body?: object): Promise<T> {
    const headers = { 'x-api-key': token, 'content-type': 'application/json' }
    const response = await fetch(`${up.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const answer = (await response.json()) as { data: T; error?: string }
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${answer.error}`)
    return answer.data
  }

  /** Orders an action and waits for its success. */
  async function order(path: string, body: object = {}): Promise<string> {
    const { actionId, vm } = await call<{ actionId: string; vm?: { id: string } }>('POST', path, body)
    const id = vm?.id ?? path.split('/')[2]!
    const action = await eventually(async () => {
      const found = await call<{ status: string; error: string | null }>('GET', `/vms/${id}/actions/${actionId}?wait=5`)
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(found.status) && found
    }, TIMEOUT_MS)
    expect(action).toMatchObject({ status: 'COMPLETED', error: null })
    return id
  }

  /** What a console says, until it has said `words`. */
  async function consoleSays(type: 'serial' | 'vnc', words: string): Promise<void> {
    const { url } = await call<{ url: string }>('POST', `/vms/${vmId}/console`, { type })
    const socket = new WebSocket(url)
    let said = ''
    socket.on('message', (data: Buffer) => (said += data.toString()))
    await once(socket, 'open')
    if (type === 'serial') socket.send('\n')
    await eventually(async () => said.includes(words))
    socket.close()
  }

  /** The processes in the sandbox with that in their command line. */
  const pidsOf = async (pattern: string): Promise<string[]> =>
    (await sandbox.inside('pgrep', '-f', pattern).catch(() => '')).split('\n').filter(Boolean)

  const usersOf = async (pattern: string): Promise<string[]> => {
    const pids = await pidsOf(pattern)
    if (pids.length === 0) return []
    return [...new Set((await sandbox.inside('ps', '-o', 'user:20=', '-p', pids.join(','))).split(/\s+/))].filter(Boolean)
  }

  test('runs API and worker as berth, PostgreSQL as berth-postgres, and only the rest as root', async () => {
    await start()
    await expect.poll(() => up.output()).toMatch(/✓ API and worker run as berth, PostgreSQL as berth-postgres$/m)
    await expect.poll(() => up.output()).toMatch(/✓ as root: the supervisor that starts them, template builds, libvirtd/m)
    expect(await usersOf(SERVE)).toEqual(['berth'])
    expect(await usersOf(POSTGRES)).toEqual(['berth-postgres'])
    for (const rest of [UP, '^libvirtd', '^virtlogd']) expect([rest, await usersOf(rest)]).toEqual([rest, ['root']])
    const listeners = await inSandbox(`ss -Hltnp 'sport = :80 or sport = :81'`)
    const [pid] = await pidsOf(SERVE)
    expect([...listeners.matchAll(/pid=(\d+)/g)].map(([, each]) => each)).toEqual([pid, pid])
  })

  test('accepts the commands of root beside it', async () => {
    await berthd('template', 'import', 'tiny', '--file', (await tinyImage()).path)
    await berthd('account', 'create', '--email', 'ada@example.com')
    await berthd('account', 'credit', '--account', 'ada@example.com', '--amount', '1000.00')
    token = (await berthd('token', 'create', '--account', 'ada@example.com', '--name', 'test', '--scopes', '*'))['token']!
    const backup = await berthd<{ authenticated: boolean }>('backup', join(folder.path, 'backup.gz'))
    expect(backup.authenticated).toBe(true)
  })

  test('boots a VM, whose QEMU is yet another user, and opens its consoles', async () => {
    const [region] = await call<{ id: string }[]>('GET', '/regions')
    const template = await call('GET', '/os-templates/tiny')
    vmId = await order('/vms', { regionId: region!.id, osTemplateId: template.id, hostname: 'web-1' })
    expect(await call('GET', `/vms/${vmId}`)).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })
    const [qemu] = await pidsOf(`^/usr/bin/qemu-system.*${vmId}`)
    expect(Number(await sandbox.inside('ps', '-o', 'uid=', '-p', qemu!))).toBeGreaterThanOrEqual(FIRST_GUEST)
    await consoleSays('serial', 'web-1 login:')
    await consoleSays('vnc', 'RFB 003.')
  })

  test('backs up and restores the VM', async () => {
    await order(`/vms/${vmId}/backups`, { name: 'first' })
    const [backup] = await call<{ id: string; status: string }[]>('GET', `/vms/${vmId}/backups`)
    expect(backup!.status).toBe('AVAILABLE')
    await order(`/vms/${vmId}/backups/${backup!.id}/restore`)
    expect(await call('GET', `/vms/${vmId}`)).toMatchObject({ status: 'RUNNING' })
    await consoleSays('vnc', 'RFB 003.')
  })

  test('leaves no file that the service wrote but its cache, images, and the keys of storage backends', async () => {
    const berths = await inSandbox(
      `cd ${settings['BERTH_DATA_DIR']}; find . -user berth -not -path './compiled/*' | sort; stat -c %a master.key`,
    )
    expect(berths).toBe('./ceph\n./compiled\n./images/accounts\n./images/fetched\n600\n')
  })

  test('continues on the data and the database that an older version left behind, killed', async () => {
    expect(await signal('KILL')).toBe('SIGKILL')
    const socket = join(settings['BERTH_DATA_DIR']!, 'postgres/socket')
    const { uid } = await stat(socket)
    await chmod(socket, 0o700)
    await chown(socket, uid, uid)
    await start()
    expect(await usersOf(SERVE)).toEqual(['berth'])
    expect(await call('GET', `/vms/${vmId}`)).toMatchObject({ status: 'RUNNING' })
    await consoleSays('serial', 'web-1 login:')
    await consoleSays('vnc', 'RFB 003.')
  })

  test('reaches a host over TLS, with certificates from the database', async () => {
    const [bundle, controller] = [join(folder.path, 'bundle'), join(folder.path, 'controller')]
    await berthd('network-controller', 'certificate', '--address', sandbox.address, '--out', controller)
    await berthd('network-controller', 'prepare', '--certificate', controller)
    await berthd('region', 'set', 'fra1', '--network-controller', `ssl:${sandbox.address}`)
    const { range } = await berthd('host', 'certificate', '--address', sandbox.address, '--out', bundle)
    await berthd('host', 'prepare', '--certificate', bundle)
    await berthd('host', 'remove', 'local', '--unmanage', '--yes')
    await berthd('host', 'add', `qemu+tls://${sandbox.address}/system`, '--name', 'local', '--region', 'fra1', '--range', range!)
    await berthd('host', 'set', 'local', '--maintenance', 'off') // which its removal has switched on
    await berthd('vm', 'adopt', vmId)
    await consoleSays('serial', 'web-1 login:')
    // Its ports are made by the network controller, over TLS too.
    const [region] = await call<{ id: string }[]>('GET', '/regions')
    const { id: networkId } = await call('POST', '/networks', { name: 'lan', nodeId: region!.id, cidr: '10.201.0.0/24' })
    await order(`/vms/${vmId}/networks`, { networkId })
    expect(await inSandbox(`ls ${settings['BERTH_DATA_DIR']}`)).not.toContain('pki')
  })

  test('stops with all its processes but the VMs', async () => {
    expect(await signal('TERM')).toBe(0)
    for (const gone of [UP, SERVE, POSTGRES]) expect(await usersOf(gone)).toEqual([])
    expect(await usersOf(`^/usr/bin/qemu-system.*${vmId}`)).toHaveLength(1)
  })
})
