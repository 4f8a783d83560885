// A machine that may become a host: a sandbox in which nothing runs and nothing is set, as Debian's packages leave it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { missingForSandbox } from '../../libvirt/test/command.ts'
import type { Outcome } from '../src/host-setup/setup-step.ts'
import { missingForOvn } from './ovn-hosts.ts'
import { BERTHD } from './processes.ts'

export const missingForMachine = (): string | undefined => missingForSandbox() ?? missingForOvn()

export interface Report {
  ok: boolean
  range: string | null
  steps: Outcome[]
  next: string | null
}

export interface BareMachine {
  sandbox: Sandbox
  shell(script: string): Promise<string>
  /** A command of `berthd` there, without our settings; its exit code is in `ok`. */
  berthd(...args: string[]): Promise<Report>
  prepare(...args: string[]): Promise<Report>
  close(): Promise<void>
}

export async function openBareMachine(): Promise<BareMachine> {
  const sandboxes = await Sandboxes.open()
  return { ...(await bareMachine(await sandboxes.add())), close: () => sandboxes.close() }
}

/** Its fleet closes it. */
export async function bareMachine(sandbox: Sandbox): Promise<BareMachine> {
  const shell = (script: string): Promise<string> => sandbox.inside('sh', '-ec', script)
  await shell('kill $(cat /run/libvirt/libvirtd.pid) $(cat /run/libvirt/virtlogd.pid); while pgrep -x libvirtd; do sleep 0.1; done')
  await writeFile(join(sandbox.folder, 'etc/libvirtd.conf'), '# as the package has it: nothing is set\n')
  await writeFile(join(sandbox.folder, 'etc/qemu.conf'), 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\n')
  const berthd = async (...args: string[]): Promise<Report> => {
    const line = [process.execPath, BERTHD, ...args, '--json'].join(' ')
    return JSON.parse(await shell(`unset $(env | grep -o '^BERTH_[A-Z_]*') x; ${line} || true`)) as Report
  }
  return { sandbox, shell, berthd, prepare: (...args) => berthd('host', 'prepare', ...args), close: () => sandbox.remove() }
}

/** The steps that changed something. */
export const done = ({ steps }: Report): string[] => steps.filter(({ status }) => status === 'done').map(({ step }) => step)
export const failure = ({ steps }: Report): Outcome | undefined => steps.find(({ status }) => status === 'failed')
