// The image as an operator gets it: read by the tools of others, and run with a database, read-only, without rights, by a container runtime.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { missingCommands } from '../libvirt/test/command.ts'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { pack } from '../sdk/test/packed-package.ts'
import { freePort } from '../server/test/free-port.ts'
import { emptyDatabase } from '../server/test/harness.ts'
import { eventually } from '../server/test/processes.ts'
import { buildDeb, type Architecture } from './deb/build.ts'
import { buildImage } from './oci/build.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const arch: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
const TOOLS = ['mmdebstrap', 'skopeo', 'umoci', 'crun', 'dpkg-deb']

describeIf(missingCommands(...TOOLS))('the OCI image', { timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-oci-prove-'))
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 26 })
  const bundle = join(folder, 'bundle')
  const children: ChildProcess[] = []
  let image: string
  let sbom: { components: { name: string; version: string; purl: string; hashes?: object[] }[] }
  let source: Parameters<typeof buildImage>[0]

  beforeAll(async () => {
    const tarballs = new Map((await pack(folder)).map(({ name, filename }) => [name, join(folder, filename)]))
    const deb = buildDeb({ root, version, epochSeconds: 1_700_000_000 }, arch, tarballs, folder)
    source = { root, version, epochSeconds: 1_700_000_000, arch, deb: join(folder, deb) }
    const [imageFile, sbomFile] = await buildImage(source, folder)
    image = join(folder, imageFile)
    sbom = JSON.parse(readFileSync(join(folder, sbomFile), 'utf8')) as typeof sbom
    run('skopeo', 'copy', '--quiet', `oci-archive:${image}`, `oci:${folder}/layout:${version}`)
    run('umoci', 'unpack', '--image', `${folder}/layout:${version}`, bundle)
  }, 1_800_000)
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  test('is read by the tools of others, and made again bit by bit', async () => {
    expect(JSON.parse(run('skopeo', 'inspect', `oci-archive:${image}`))).toMatchObject({
      Architecture: arch,
      Os: 'linux',
      Labels: { 'org.opencontainers.image.version': version },
    })
    const again = join(folder, 'again')
    mkdirSync(again)
    const [file] = await buildImage(source, again)
    expect(run('sha256sum', join(again, file)).slice(0, 64)).toBe(run('sha256sum', image).slice(0, 64))
  })

  test('says what it contains, with the checksum of every package that was fetched', () => {
    const fetched = sbom.components.filter(({ purl }) => !purl.startsWith('pkg:npm/%40berth/'))
    expect(fetched.filter(({ hashes }) => !hashes).map(({ name }) => name)).toEqual([])
    const names = new Set(fetched.map(({ purl }) => purl.split('@')[0]))
    for (const purl of ['pkg:deb/debian/openssl', 'pkg:deb/debian/libc6', 'pkg:npm/fastify', 'pkg:npm/pg-boss'])
      expect(names).toContain(purl)
    const installed = run('chroot', join(bundle, 'rootfs'), 'dpkg-query', '--show', '--showformat=${Package} ${Version}\\n')
      .trim()
      .split('\n')
    const listed = sbom.components.filter(({ purl }) => purl.startsWith('pkg:deb/')).map((each) => `${each.name} ${each.version}`)
    expect(listed.toSorted()).toEqual(installed.filter((line) => !line.startsWith('berth ')).toSorted())
  })

  test('has nothing of the machine that it was built on', () => {
    const has = (path: string): string => run('find', join(bundle, 'rootfs', path), '-type', 'f').trim()
    for (const path of ['var/log', 'var/cache', 'tmp', 'var/lib/berth']) expect(has(path)).toBe('')
    expect(run('sh', '-c', `find ${bundle}/rootfs/etc/apt -name '*.list' -o -name '*.sources' | wc -l`).trim()).toBe('0')
    expect(run('find', join(bundle, 'rootfs'), '-xdev', '-perm', '/6000', '-type', 'f')).toBe('')
  })

  test('serves the API with a database, without any right, on a file system that nobody can write to', async () => {
    const port = await freePort()
    const data = join(folder, 'data')
    /** The container sees no socket of this machine's file system. */
    const overTcp = async (url: string): Promise<string> => {
      const socket = join(new URL(url).searchParams.get('host')!, '.s.PGSQL.5432')
      const server = createServer((from) => void pipeline(from, connect(socket), from, () => {}))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void server.close())
      const { pathname, searchParams } = new URL(url)
      return `postgresql://${searchParams.get('user')}@127.0.0.1:${(server.address() as AddressInfo).port}${pathname}?sslmode=disable`
    }
    const [user, group] = run('chroot', join(bundle, 'rootfs'), 'sh', '-c', 'id -u berth; id -g berth').trim().split('\n').map(Number)
    run('install', '-d', '-m', '0700', '-o', String(user), '-g', String(group), data)
    const environment = [
      `BERTH_DATABASE_URL=${await overTcp(await emptyDatabase())}`,
      `BERTH_PORT=${port}`,
      'BERTH_METRICS_PORT=0',
      'BERTH_HYPERVISOR=simulated',
    ]
    const start = (command: string): ChildProcess => {
      const config = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as RuntimeConfig
      expect(config.process.user).toMatchObject({ uid: user, gid: group })
      config.process.args = [...config.process.args.slice(0, -1), command]
      config.process.env.push(...environment)
      config.process.terminal = false
      config.process.noNewPrivileges = true
      config.process.capabilities = {}
      config.root.readonly = true
      config.mounts = config.mounts.filter(({ destination }) => !destination.startsWith('/sys') && destination !== '/var/lib/berth')
      config.mounts.push(
        { destination: '/var/lib/berth', type: 'bind', source: data, options: ['bind', 'rw'] },
        { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] },
        { destination: '/var/cache/berth', type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] },
      )
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => !['network', 'cgroup'].includes(type))
      delete config.linux.resources
      const own = join(folder, `bundle-${command}`)
      mkdirSync(own)
      config.root.path = join(bundle, 'rootfs')
      writeFileSync(join(own, 'config.json'), JSON.stringify(config))
      const args = ['--cgroup-manager=disabled', '--root', join(folder, 'state'), 'run', '--bundle', own, `berth-${process.pid}-${command}`]
      // crun refuses a machine that has both versions of cgroups, also where it is to use none.
      const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'] // what is in it ends with it
      const alone = [...namespaces, 'sh', '-ec', 'mount -t cgroup2 cgroup2 /sys/fs/cgroup; exec crun "$@"', 'crun']
      const child = spawn('unshare', [...alone, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      child.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()))
      return child
    }
    let said = ''
    const migrate = start('migrate')
    const code = await new Promise<number | null>((resolve) => void migrate.on('close', resolve))
    if (code !== 0) throw new Error(`migrate (${code}): ${said}`)
    const api = start('api')
    start('worker')
    const isReady = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually(async () => api.exitCode !== null || (await isReady()), 180_000)
    if (!(await isReady())) throw new Error(said)
  })
})

interface RuntimeConfig {
  process: {
    args: string[]
    env: string[]
    user: object
    terminal: boolean
    noNewPrivileges: boolean
    capabilities: object
  }
  root: { path: string; readonly: boolean }
  mounts: { destination: string; type: string; source: string; options: string[] }[]
  linux: { namespaces: { type: string }[]; resources?: object }
}
