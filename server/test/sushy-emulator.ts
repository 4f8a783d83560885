// The Redfish emulator of sushy-tools (OpenStack): a management card whose systems are the domains of a libvirtd. It is installed from PyPI once, and
// kept for the next run.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Identity } from '../../libvirt/test/certificates.ts'
import { env, run } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { freePort } from './free-port.ts'
import { scratchFolder } from './scratch-folder.ts'

const VERSION = '2.2.0'
/** Debian's, which has libvirt's bindings. */
const PYTHON = '/usr/bin/python3'
const BINDINGS = '/usr/lib/python3/dist-packages/libvirt.py'
const FOLDER = join(tmpdir(), `berth-sushy-tools-${VERSION}`)

/** Says why it cannot run here. */
export const missingForSushy = (): string | undefined => {
  if (!existsSync(BINDINGS)) return 'python3-libvirt is not installed'
  if (spawnSync(PYTHON, ['-c', 'import ensurepip, venv']).status !== 0) return 'python3-venv is not installed'
  return undefined
}

async function install(): Promise<void> {
  if (existsSync(FOLDER)) return
  const folder = await mkdtemp(join(tmpdir(), 'berth-sushy-'))
  const [venv, made] = [join(folder, 'venv'), join(folder, 'made')]
  await run(PYTHON, '-m', 'venv', venv)
  await run(join(venv, 'bin/pip'), 'install', '--quiet', '--target', made, `sushy-tools==${VERSION}`)
  await rename(made, FOLDER).catch((error: unknown) => {
    if (!existsSync(FOLDER)) throw error // another proof was faster
  })
  await rm(folder, { recursive: true })
}

export interface SushyEmulator {
  /** Of the card: it has as many systems as the libvirtd has domains. */
  url: string
  user: string
  password: string
  stop(): Promise<void>
}

/** Over plain HTTP, unless it has a certificate. */
export async function startSushy(sandbox: Sandbox, identity?: Identity): Promise<SushyEmulator> {
  await install()
  const folder = await scratchFolder()
  const path = (name: string): string => join(folder.path, name)
  const [port, user, password] = [await freePort(), 'berth', 'secret: with a colon']
  const environment = { ...env, PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: '1' }
  const hash = spawnSync(
    PYTHON,
    ['-c', 'import bcrypt, sys; print(bcrypt.hashpw(sys.argv[1].encode(), bcrypt.gensalt(4)).decode())', password],
    {
      env: environment,
      encoding: 'utf8',
    },
  ).stdout.trim()
  await mkdir(path('run'))
  await writeFile(path('users'), `${user}:${hash}\n`)
  await writeFile(path('emulator.conf'), `SUSHY_EMULATOR_AUTH_FILE = '${path('users')}'\n`)
  if (identity) {
    await writeFile(path('card.pem'), identity.cert)
    await writeFile(path('card.key'), identity.key)
  }
  const uri = `qemu+unix:///system?socket=${sandbox.socket}`
  const tls = identity ? ['--ssl-certificate', path('card.pem'), '--ssl-key', path('card.key')] : []
  const place = ['--config', path('emulator.conf'), '--interface', '127.0.0.1', '--port', String(port), '--libvirt-uri', uri]
  const child = spawn(PYTHON, ['-m', 'sushy_tools.emulator.main', ...place, ...tls], {
    env: environment,
    cwd: path('run'), // by which it ends with the folder
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isListening = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`sushy-emulator has ended: ${said}`)
    return said.includes('Running on')
  }
  await eventually('sushy-emulator', async () => ((await isListening()) ? true : undefined))
  return {
    url: `${identity ? 'https' : 'http'}://127.0.0.1:${port}`,
    user,
    password,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await folder.remove()
    },
  }
}

/** A machine that boots nothing, and runs until it is switched off. */
export async function startMachine(sandbox: Sandbox, name: string, uuid: string): Promise<void> {
  const file = join(sandbox.folder, `${name}.xml`)
  await writeFile(
    file,
    `<domain type='qemu'><name>${name}</name><uuid>${uuid}</uuid><memory unit='MiB'>64</memory><vcpu>1</vcpu>
      <os><type arch='x86_64' machine='pc'>hvm</type></os></domain>`,
  )
  await sandbox.virsh('define', file)
  await sandbox.virsh('start', name)
}
