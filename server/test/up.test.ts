import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { findPortHolder } from '../src/commands/port-owner.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { findUser, SERVICE_USER } from '../src/kernel/os-user.ts'
import { inspectEmbeddedPostgres } from '../src/kernel/postgres/embedded.ts'
import { berthd, berthdJson, eventually, get, service, type Service, type Settings } from './processes.ts'
import { scratchFolder, type ScratchFolder } from './scratch-folder.ts'

let folder: ScratchFolder
let settings: Settings
let token: string

beforeAll(async () => {
  folder = await scratchFolder()
  settings = { BERTH_DATA_DIR: join(folder.path, 'data'), BERTH_PORT: '0' }
})
afterAll(() => folder.remove())

const postgres = () => inspectEmbeddedPostgres(join(settings['BERTH_DATA_DIR']!, 'postgres'))
const postmasterPid = async () =>
  (await readFile(join(settings['BERTH_DATA_DIR']!, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0]
const isRoot = process.getuid!() === 0
const readyz = async ({ url }: Service): Promise<Response> => fetch(new URL('/readyz', url))

/** The process of API and worker, which `up` starts as root. */
const servicePid = async ({ pid }: Service): Promise<number> => {
  for (const child of (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' '))
    if ((await readFile(`/proc/${child}/cmdline`, 'utf8')).endsWith('serve\0')) return Number(child)
  throw new Error('there is no such process')
}

/** A request that stays open until `finish` is called. */
async function slowRequest(url: string) {
  const { hostname, port, pathname } = new URL(`${url}/ssh-keys`)
  const body = JSON.stringify({ name: 'slow', publicKey: 'ssh-ed25519 nonsense' })
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  const head = [`POST ${pathname} HTTP/1.1`, `host: ${hostname}`, `x-api-key: ${token}`, 'content-type: application/json']
  socket.write(`${[...head, `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await get(`${url}/regions`, token) // read after the previous request
  return {
    finish: async () => {
      socket.write(body.slice(5))
      await closed
      return answer
    },
  }
}

describe('berthd up', { timeout: 120_000 }, () => {
  test('is initialised by commands that need no data, and only by those', async () => {
    const dataDir = settings['BERTH_DATA_DIR']!
    for (const command of [
      ['account', 'create', '--email', 'first@example.com'],
      ['backup', `${dataDir}.gz`],
      ['host', 'list'],
    ])
      expect(await berthd(settings, ...command)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`no database in ${dataDir}. Set`),
      })
    expect([existsSync(dataDir), existsSync(`${dataDir}.gz`)]).toEqual([false, false])
    await berthdJson(settings, 'migrate')
    const { id, email } = await berthdJson(settings, 'account', 'create', '--email', 'first@example.com')
    expect({ id, email }).toEqual({ id: expect.stringMatching(/^c/), email: 'first@example.com' })
    expect(await postgres()).toEqual({ dataVersion: '18', running: false, owner: undefined })
  })

  test('makes commands wait while it starts for the first time', async () => {
    const fresh = { ...settings, BERTH_DATA_DIR: join(folder.path, 'fresh') }
    const starting = service(fresh, 'up')
    await eventually(async () => existsSync(join(fresh.BERTH_DATA_DIR, 'postgres')))
    expect(await berthdJson(fresh, 'account', 'list')).toEqual([])
    expect(await (await starting).kill('SIGTERM')).toBe(0)
  })

  test('serves, accepts commands while it runs, and stops cleanly', async () => {
    const up = await service(settings, 'up')
    expect(await (await readyz(up)).json()).toMatchObject({ status: 'ready', checks: { host: 'ok' } })
    await berthdJson(settings, 'account', 'create', '--email', 'ada@example.com')
    const credit = await berthdJson(settings, 'account', 'credit', '--account', 'ada@example.com', '--amount', '100.00')
    expect(credit).toMatchObject({ amount: '100.00', balance: '100.00', transactionId: expect.stringMatching(/^c/) })
    const made = await berthdJson(settings, 'token', 'create', '--account', 'ada@example.com', '--name', 'test', '--scopes', '*')
    token = made['token']!
    const answer = await get(`${up.url}/regions`, token)
    expect([answer.status, await answer.json()]).toEqual([200, { success: true, data: [expect.objectContaining({ slug: 'fra1' })] }])
    const lines = up.output().split('\n')
    expect(lines[0]).toMatch(/^berth \d+\.\d+\.\d+ · data in .* · Ctrl-C stops it, data is kept$/)
    expect(lines[1]).toMatch(/^ ✓ PostgreSQL 18 \(embedded\), schema \d{4} +\d+\.\d s$/)
    expect(up.output()).toMatch(/^ Dashboard \(works once, 15 min\): {2}http:\/\/127\.0\.0\.1:\d+\/welcome#lnk_\w{46}$/m)
    expect(up.output()).not.toContain('\x1b')
    expect(await up.kill('SIGTERM')).toBe(0)
    expect(await postgres()).toEqual({ dataVersion: '18', running: false, owner: undefined })
  })

  test('resumes after it is killed', async () => {
    const killed = await service(settings, 'up')
    const before = await postmasterPid()
    expect(await killed.kill('SIGKILL')).toBe('SIGKILL')
    expect((await postgres()).running).toBe(true)
    const up = await service(settings, 'up')
    expect(await postmasterPid()).toBe(before)
    expect((await get(`${up.url}/regions`, token)).status).toBe(200)
    await expect.poll(() => up.output().split('\n').filter(Boolean)).toHaveLength(isRoot ? 7 : 5)
    await up.kill('SIGTERM')
  })

  describeIf(isRoot ? undefined : 'only root can give up root')('as root', () => {
    test('runs API and worker as a user without rights', async () => {
      const up = await service(settings, 'up')
      const { uid, gid } = (await findUser(SERVICE_USER))!
      const pid = await servicePid(up)
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      const field = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)![1]!.trim()
      expect([field('Uid'), field('Gid'), field('Groups')]).toEqual([`${uid}\t`.repeat(4).trim(), `${gid}\t`.repeat(4).trim(), ''])
      expect([field('CapEff'), field('CapPrm'), field('CapAmb'), field('NoNewPrivs')]).toEqual([
        ...Array<string>(3).fill('0'.repeat(16)),
        '1',
      ])
      expect(await findPortHolder(Number(new URL(up.url).port))).toMatchObject({ pid })
      expect((await stat(join(settings['BERTH_DATA_DIR']!, 'master.key'))).mode & 0o777).toBe(0o600)
      const keys = await stat(join(settings['BERTH_DATA_DIR']!, 'ceph')) // of storage backends, which it writes
      expect([keys.uid, keys.mode & 0o777]).toEqual([uid, 0o700])
      await expect.poll(up.output).toMatch(/^ ✓ API and worker run as berth, PostgreSQL as berth-postgres$/m)
      await expect.poll(up.output).toMatch(/^ ✓ as root: the supervisor that starts them, template builds +why: SECURITY\.md$/m)
      await up.kill('SIGTERM')
      expect(existsSync(`/proc/${pid}`)).toBe(false)
    })

    test('stops when API and worker die', async () => {
      const up = await service(settings, 'up')
      process.kill(await servicePid(up), 'SIGKILL')
      expect(await up.ended).toBe(1)
      expect(up.output()).toContain('API and worker have ended unexpectedly (SIGKILL)')
      expect((await postgres()).running).toBe(false)
    })

    test('goes on as root where the user cannot be created, and says so', async () => {
      const script =
        'mount -t tmpfs tmpfs /mnt; grep -v "^berth:" /etc/passwd > /mnt/passwd; mount --bind -o ro /mnt/passwd /etc/passwd; exec "$@"'
      const up = await service(settings, 'up', undefined, ['unshare', '--mount', 'sh', '-c', script, 'sh'])
      await expect
        .poll(up.output)
        .toMatch(/^ ! API and worker run as root, PostgreSQL as berth-postgres: creating the system user berth failed/m)
      expect((await readyz(up)).status).toBe(200)
      await up.kill('SIGTERM')
    })
  })

  test('stops cleanly when its parent is killed', async () => {
    const starter = await service(settings, join(import.meta.dirname, 'starter.mjs'))
    await starter.kill('SIGKILL')
    await expect.poll(postgres, { timeout: 20_000 }).toEqual({ dataVersion: '18', running: false, owner: undefined })
    expect(starter.output()).toContain('the program that started it has ended')
  })

  test('finishes open requests and accepts no new ones', async () => {
    const up = await service(settings, 'up')
    const slow = await slowRequest(up.url)
    const ended = up.kill('SIGTERM')
    await expect
      .poll(() =>
        readyz(up).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    expect(await slow.finish()).toMatch(/^HTTP\/1.1 400 /)
    expect(await ended).toBe(0)
  })

  test('waits no longer than BERTH_DRAIN_SECONDS', async () => {
    const up = await service({ ...settings, BERTH_DRAIN_SECONDS: '1' }, 'up')
    await slowRequest(up.url)
    const elapsed = stopwatch()
    expect(await up.kill('SIGTERM')).toBe(0)
    expect(elapsed()).toBeGreaterThan(900)
    expect(elapsed()).toBeLessThan(6_000)
  })

  test('stops immediately on a second signal, including PostgreSQL', async () => {
    const up = await service({ ...settings, BERTH_DRAIN_SECONDS: '600' }, 'up')
    await slowRequest(up.url)
    const ended = up.kill('SIGINT')
    await expect
      .poll(() =>
        readyz(up).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    const insisting = setInterval(() => process.kill(up.pid, 'SIGINT'), 600)
    expect(await ended.finally(() => clearInterval(insisting))).toBe(0)
    expect((await postgres()).running).toBe(false)
  })

  test('reports which program uses its port, and leaves nothing running', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, stdout, stderr } = await berthd({ ...settings, BERTH_PORT: String(port) }, 'up')
    other.close()
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ API/)
    expect(stderr).toContain(`Port ${port} is in use by`)
    expect(stderr).toContain(`(pid ${process.pid}). Stop it, or set BERTH_PORT to another port`)
    expect((await postgres()).running).toBe(false)
  })

  test('does not start twice on the same data', async () => {
    const up = await service(settings, 'up')
    const { code, stderr } = await berthd(settings, 'up')
    expect([code, stderr.trim()]).toEqual([1, expect.stringContaining(`already running on this data (pid ${up.pid})`)])
    expect((await readyz(up)).status).toBe(200)
    await up.kill('SIGTERM')
  })

  test('never looks for simulated VMs and networks on a real host', async () => {
    const up = await service(settings, 'up')
    const [region] = ((await (await get(`${up.url}/regions`, token)).json()) as { data: { id: string }[] }).data
    const network = { name: 'lan', cidr: '10.1.0.0/24', nodeId: region!.id }
    const made = await fetch(`${up.url}/networks`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify(network),
    })
    expect(made.status).toBe(201)
    await up.kill('SIGTERM')
    const { code, stderr } = await berthd({ ...settings, BERTH_HYPERVISOR: 'libvirt' }, 'up')
    expect([code, stderr]).toEqual([1, expect.stringContaining('The VMs of this data are simulated')])
  })
})
