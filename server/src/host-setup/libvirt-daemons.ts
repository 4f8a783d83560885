// libvirtd, and virtlogd that keeps the guests' consoles. They belong to the machine and not to us: they outlive whoever started them.
import { stat } from 'node:fs/promises'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { versionText, withLibvirt } from './libvirt.ts'
import { LIBVIRTD_CONF, TLS_SOCKET, tlsFiles } from './tls.ts'
import { QEMU_CONF } from './qemu-conf.ts'
import type { HostPlan } from './plan.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { findDaemon, run, SYSTEM_PATH, type Daemon } from './shell.ts'

export const daemons: Step = {
  name: 'libvirt',
  async check(plan) {
    const version = await withLibvirt((libvirt) => libvirt.connect.getLibVersion()).catch(() => null)
    if (version === null) return missing('libvirtd does not answer')
    if (!(await findDaemon('virtlogd')) && !plan.systemd) return missing('virtlogd does not run')
    const problem = (await listenProblem(plan)) ?? (await staleReason(plan))
    return problem ? missing(problem) : satisfied(`libvirt ${versionText(version)} at qemu:///system`)
  },
  apply: async (plan) => {
    await (plan.systemd ? startBySystemd(plan) : startByHand(plan))
    await untilAnswered()
  },
}

/** Why other machines cannot reach it though they should. Under systemd its socket counts: that is open also while libvirtd has ended, and
 *  closed beside a libvirtd that was started by somebody's call. What it listens on is known anew only after a reload. */
export async function listenProblem({ tlsAddress, systemd }: Pick<HostPlan, 'tlsAddress' | 'systemd'>, ask = run): Promise<string | null> {
  if (!tlsAddress) return null
  const isOpen = systemd
    ? isUpToDate(await ask('systemctl', 'show', '--property=ActiveState,NeedDaemonReload', TLS_SOCKET))
    : listens(await findDaemon('libvirtd'))
  return isOpen ? null : 'libvirtd does not listen for other machines'
}

const isUpToDate = (shown: string): boolean => /^ActiveState=active$/m.test(shown) && /^NeedDaemonReload=no$/m.test(shown)

const listens = (daemon?: Daemon): boolean => daemon?.args.some((arg) => arg === '--listen' || arg === '-l') ?? true

/** A start takes some of a second, and the times of processes are not exact. */
const START_MS = 500

/** Why a daemon that runs has to be started again. The guests are not touched by it. */
async function staleReason(plan: HostPlan): Promise<string | null> {
  const daemon = await findDaemon('libvirtd')
  if (!daemon) return null // it ends while nobody needs it, and systemd starts it again
  const files = [QEMU_CONF, LIBVIRTD_CONF, ...(plan.tlsAddress ? Object.values(tlsFiles) : [])]
  const changes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  return Math.max(...changes) > daemon.startedAt.getTime() + START_MS ? 'libvirtd has not read its new settings' : null
}

async function startBySystemd({ tlsAddress }: HostPlan): Promise<void> {
  const systemctl = (...args: string[]): Promise<string> => run('systemctl', '--quiet', ...args)
  await systemctl('daemon-reload')
  await systemctl('enable', '--now', 'virtlogd.socket')
  // A socket cannot be opened for a daemon that runs already.
  await systemctl('stop', 'libvirtd.service')
  if (tlsAddress) {
    await systemctl('enable', TLS_SOCKET)
    await systemctl('restart', TLS_SOCKET) // one that is open stays at the address it had
  }
  await systemctl('enable', '--now', 'libvirtd.service')
}

async function startByHand({ tlsAddress }: HostPlan): Promise<void> {
  if (!(await findDaemon('virtlogd'))) await startDetached('virtlogd')
  const running = await findDaemon('libvirtd')
  if (running) await stop(running)
  await startDetached('libvirtd', ...(tlsAddress ? ['--listen'] : []))
}

/** `-d`: it leaves our session, terminal and folder by itself. Nothing of our environment goes with it but a PATH with root's commands. */
const startDetached = (name: string, ...options: string[]): Promise<string> =>
  run('env', '-i', `PATH=${SYSTEM_PATH}`, name, ...options, '-d')

const STOP_MS = 20_000
const ANSWER_MS = 30_000

async function stop({ pid }: Daemon): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const elapsed = stopwatch()
  while ((await findDaemon('libvirtd'))?.pid === pid) {
    if (elapsed() > STOP_MS) throw new SetupError(`libvirtd (pid ${pid}) does not end, and has to read its new settings`, `kill -9 ${pid}`)
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
        `libvirtd was started and does not answer. ${error.message}`,
        'see what it says: libvirtd --verbose, or journalctl -u libvirtd',
      )
    }
    await sleep(100)
  }
}
