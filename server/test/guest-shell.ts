// Runs commands in a guest through its agent.
import { setTimeout as delay } from 'node:timers/promises'
import { Host, type Domain, type Endpoint } from '@berth/libvirt'
import { eventually } from '../../libvirt/test/eventually.ts'

export interface Ran {
  exitCode: number
  output: string
}

export class GuestShell {
  private readonly host: Host
  private readonly patienceMs: number

  constructor(endpoint: Endpoint, patienceMs: number) {
    this.host = new Host({ endpoint })
    this.patienceMs = patienceMs
  }

  /** Waits for the agent, and for the command to end. `args` are `$0`, `$1` and so on. */
  async run(vmId: string, script: string, ...args: string[]): Promise<Ran> {
    const domain = await this.booted(vmId)
    const started = await this.ask(domain, 'guest-exec', { path: '/bin/sh', arg: ['-c', script, ...args], 'capture-output': true })
    const { pid } = started as { pid?: number }
    if (pid === undefined) throw new Error(`The agent of ${vmId} answers nonsense: ${JSON.stringify(started)}`)
    return eventually(`${script} in ${vmId}`, () => this.outcome(domain, pid), this.patienceMs)
  }

  /** For commands that end the guest before it can respond. */
  async order(vmId: string, script: string): Promise<void> {
    await this.ask(await this.booted(vmId), 'guest-exec', { path: '/bin/sh', arg: ['-c', script] })
  }

  close(): Promise<void> {
    return this.host.close()
  }

  private async booted(vmId: string): Promise<Domain> {
    await this.host.whenUp(this.patienceMs)
    const domain = await this.host.domains.lookupByName({ name: `berth-${vmId}` })
    await eventually(`the agent of ${vmId}`, () => this.ask(domain, 'guest-ping', {}).then(() => true), this.patienceMs)
    return domain
  }

  private async outcome(domain: Domain, pid: number): Promise<Ran | undefined> {
    const status = (await this.ask(domain, 'guest-exec-status', { pid })) as { exited: boolean; exitcode?: number; 'out-data'?: string }
    if (!status.exited) return delay(100, undefined)
    return { exitCode: status.exitcode ?? -1, output: Buffer.from(status['out-data'] ?? '', 'base64').toString() }
  }

  private async ask(domain: Domain, execute: string, args: Record<string, unknown>): Promise<unknown> {
    const command = JSON.stringify({ execute, arguments: args })
    const answer = await this.host.guests.agentCommand({ domain, command, timeoutSeconds: 10 })
    return (JSON.parse(answer ?? '{}') as { return?: unknown }).return
  }
}
