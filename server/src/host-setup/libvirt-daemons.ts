// Starts libvirtd, and virtlogd, which writes the guests' console logs. Both outlive the process that started them.
import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { versionText, withLibvirt } from './libvirt.ts'
import { LIBVIRTD_CONF, TLS_SOCKET, tlsFiles } from './tls.ts'
import { QEMU_CONF } from './qemu-conf.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { findDaemon, readFileOrNull, run, SYSTEM_PATH, writeFileAtomic, type Daemon } from './shell.ts'

/** systemd starts services in the locale of the machine, in which libvirtd would translate its errors; some of them have a text only. */
const LOCALE_UNIT = '/etc/systemd/system/libvirtd.service.d/berth.conf'
const localeUnit = '# Written by berthd host prepare.\n[Service]\nEnvironment=LC_ALL=C\n'

export const daemons: Step = {
  name: 'libvirt',
  async check(plan) {
    const version = await withLibvirt((libvirt) => libvirt.connect.getLibVersion()).catch(() => null)
    if (version === null) return missing('libvirtd is not running')
    if (!(await findDaemon('virtlogd')) && !plan.systemd) return missing('virtlogd is not running')
    if (plan.systemd && (await readFileOrNull(LOCALE_UNIT)) !== localeUnit) return missing(`the locale of libvirtd in ${LOCALE_UNIT}`)
    const problem = (await listenProblem(plan)) ?? (await staleReason(plan))
    return problem ? missing(problem) : satisfied(`libvirt ${versionText(version)} at qemu:///system`)
  },
  apply: async (plan) => {
    await (plan.systemd ? startBySystemd(plan) : startByHand(plan))
    await untilAnswered()
  },
}

/**
 * Why other machines cannot connect though they should. Under systemd the socket unit decides: it stays open while libvirtd is stopped, and
 * is closed beside a libvirtd started by another unit. A changed ListenStream takes effect after daemon-reload.
 */
export async function listenProblem({ tlsAddress, systemd }: Pick<HostPlan, 'tlsAddress' | 'systemd'>, exec = run): Promise<string | null> {
  if (!tlsAddress) return null
  const isOpen = systemd
    ? isUpToDate(await exec('systemctl', 'show', '--property=ActiveState,NeedDaemonReload', TLS_SOCKET))
    : listens(await findDaemon('libvirtd'))
  return isOpen ? null : 'libvirtd does not listen on the network'
}

const isUpToDate = (shown: string): boolean => /^ActiveState=active$/m.test(shown) && /^NeedDaemonReload=no$/m.test(shown)

const listens = (daemon?: Daemon): boolean => daemon?.args.some((arg) => arg === '--listen' || arg === '-l') ?? true

/** Tolerance for start-up time and the resolution of process start times. */
const START_MS = 500

/** Why a running daemon must be restarted. Guests are not affected by a restart. */
async function staleReason(plan: HostPlan): Promise<string | null> {
  const daemon = await findDaemon('libvirtd')
  if (!daemon) return null // systemd starts it on demand
  const files = [QEMU_CONF, LIBVIRTD_CONF, ...(plan.tlsAddress ? Object.values(tlsFiles) : [])]
  const changes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  return Math.max(...changes) > daemon.startedAt.getTime() + START_MS ? 'libvirtd has not loaded its new settings' : null
}

async function startBySystemd({ tlsAddress }: HostPlan): Promise<void> {
  const systemctl = (...args: string[]): Promise<string> => run('systemctl', '--quiet', ...args)
  await writeFileAtomic(LOCALE_UNIT, localeUnit)
  await systemctl('daemon-reload')
  await systemctl('enable', '--now', 'virtlogd.socket')
  // A socket unit cannot be started while its service runs.
  await systemctl('stop', 'libvirtd.service')
  if (tlsAddress) {
    await systemctl('enable', TLS_SOCKET)
    await systemctl('restart', TLS_SOCKET) // restart: an open socket keeps its old address
  }
  await systemctl('enable', '--now', 'libvirtd.service')
}

async function startByHand({ tlsAddress }: HostPlan): Promise<void> {
  if (!(await findDaemon('virtlogd'))) await run('env', ...CLEAN_ENV, 'virtlogd', '-d')
  const running = await findDaemon('libvirtd')
  if (running) await stop(running)
  // QEMU outlives its parent, and libvirt waits until a stopped QEMU is reaped. The first process of a container may do that late or never,
  // so tini does.
  const command = [...CLEAN_ENV, 'tini', '-s', '--', 'libvirtd', ...(tlsAddress ? ['--listen'] : [])]
  spawn('/usr/bin/env', command, { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/** A PATH that includes the sbin folders, and the C locale. */
const CLEAN_ENV = ['-i', `PATH=${SYSTEM_PATH}`, 'LC_ALL=C']

const STOP_MS = 20_000
const ANSWER_MS = 30_000

async function stop({ pid }: Daemon): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const elapsed = stopwatch()
  while ((await findDaemon('libvirtd'))?.pid === pid) {
    if (elapsed() > STOP_MS)
      throw new SetupError(`libvirtd (pid ${pid}) does not stop, but must restart to load its new settings`, `kill -9 ${pid}`)
    await sleep(100)
  }
}

async function untilAnswered(): Promise<void> {
  const elapsed = stopwatch()
  for (;;) {
    const error = await withLibvirt((libvirt) => libvirt.connect.getLibVersion()).then(
      () => null,
      (reason: Error) => reason,
    )
    if (!error) return
    if (elapsed() > ANSWER_MS) {
      throw new SetupError(
        `libvirtd was started but does not respond. ${error.message}`,
        'check its log: libvirtd --verbose, or journalctl -u libvirtd',
      )
    }
    await sleep(100)
  }
}
