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
  /** `berthd host prepare`; its exit code is in `ok`. */
  prepare(...args: string[]): Promise<Report>
  close(): Promise<void>
}

export async function openBareMachine(): Promise<BareMachine> {
  const sandboxes = await Sandboxes.open()
  const sandbox = await sandboxes.add()
  const shell = (script: string): Promise<string> => sandbox.inside('sh', '-ec', script)
  await shell('kill $(cat /run/libvirt/libvirtd.pid) $(cat /run/libvirt/virtlogd.pid); while pgrep -x libvirtd; do sleep 0.1; done')
  await writeFile(join(sandbox.folder, 'etc/libvirtd.conf'), '# as the package has it: nothing is set\n')
  await writeFile(join(sandbox.folder, 'etc/qemu.conf'), 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\n')
  return {
    sandbox,
    shell,
    async prepare(...args) {
      const line = [process.execPath, BERTHD, 'host', 'prepare', '--json', ...args].join(' ')
      return JSON.parse(await shell(`unset $(env | grep -o '^BERTH_[A-Z_]*') x; ${line} || true`)) as Report
    },
    close: () => sandboxes.close(),
  }
}

/** The steps that changed something. */
export const done = ({ steps }: Report): string[] => steps.filter(({ status }) => status === 'done').map(({ step }) => step)
export const failure = ({ steps }: Report): Outcome | undefined => steps.find(({ status }) => status === 'failed')
