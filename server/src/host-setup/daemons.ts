// libvirtd, and virtlogd that keeps the guests' consoles. They belong to the machine and not to us: they outlive whoever started them.
import { stat } from 'node:fs/promises'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { versionText, withLibvirt } from './libvirt.ts'
import { LIBVIRTD_CONF, tlsFiles } from './tls.ts'
import { QEMU_CONF } from './qemu-conf.ts'
import type { HostPlan } from './plan.ts'
import { missing, SetupError, there, type Step } from './step.ts'
import { findDaemon, run, SYSTEM_PATH, type Daemon } from './system.ts'

export const daemons: Step = {
  name: 'libvirt',
  async look(plan) {
    const version = await withLibvirt((libvirt) => libvirt.connect.getLibVersion()).catch(() => null)
    if (version === null) return missing('libvirtd does not answer')
    if (!(await findDaemon('virtlogd')) && !plan.systemd) return missing('virtlogd does not run')
    const stale = await staleReason(plan)
    return stale ? missing(stale) : there(`libvirt ${versionText(version)} at qemu:///system`)
  },
  mend: async (plan) => {
    await (plan.systemd ? startBySystemd(plan) : startByHand(plan))
    await untilAnswered()
  },
}

/** A start takes some of a second, and the times of processes are not exact. */
const START_MS = 500

/** Why a daemon that runs has to be started again. The guests are not touched by it. */
async function staleReason(plan: HostPlan): Promise<string | null> {
  const daemon = await findDaemon('libvirtd')
  if (!daemon) return null // it ends while nobody needs it, and systemd starts it again
  if (plan.tlsAddress && !plan.systemd && !listens(daemon)) return 'libvirtd does not listen for other machines'
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

const listens = ({ args }: Daemon): boolean => args.some((arg) => arg === '--listen' || arg === '-l')

async function startBySystemd({ tlsAddress }: HostPlan): Promise<void> {
  const systemctl = (...args: string[]): Promise<string> => run('systemctl', '--quiet', ...args)
  await systemctl('daemon-reload')
  await systemctl('enable', '--now', 'virtlogd.socket')
  // A socket cannot be opened for a daemon that runs already.
  await systemctl('stop', 'libvirtd.service')
  if (tlsAddress) await systemctl('enable', '--now', 'libvirtd-tls.socket')
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
