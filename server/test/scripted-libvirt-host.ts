// A libvirt host in memory, behind a daemon that speaks the wire protocol: volumes, one VM, checkpoints, and one backup job per domain.
// Tests change its state, or script a procedure anew with `daemon.on`, and read from `calls` what arrived in which order. Pauses of the
// driver take no time: they advance the faked clock of its stopwatches.
import { areas, DomainState, ErrorCode, ErrorOrigin, JobType, MomentDeleteFlag, Param, type Domain } from '@berth/libvirt'
import { pino } from 'pino'
import { onTestFinished, vi } from 'vitest'
import { ScriptedDaemon, type Peer } from '../../libvirt/test/scripted-daemon.ts'
import type { AnyProcedure } from '../../libvirt/src/protocol/procedure.ts'
import type { Frame } from '../../libvirt/src/wire/frame.ts'
import { decode } from '../../libvirt/src/xdr/types.ts'
import { openHostContext, type HostContext } from '../src/hypervisor/libvirt/core/host-context.ts'
import { getMachine, type MachineState } from '../src/hypervisor/libvirt/domain/lookup.ts'

const { backups, checkpoints, domains, guests, pools, volumes } = areas

export const VM = 'cvm'
export const DISK = '/berth/vm-cvm-1.qcow2'
export const DISK_BYTES = 2 ** 30

export interface Job {
  target: string
  incremental: string | undefined
  /** How often the driver has read its state. */
  polls: number
}

interface Ended {
  type: number
  errmsg?: string
}

interface HostVolume {
  capacityBytes: number
  backing?: string | undefined
}

type AgentScript = (
  reply: (value: unknown) => void,
  refuse: (code: number, message: string) => void,
  asked: { timeoutSeconds: number },
) => void

export class ScriptedHost {
  readonly daemon: ScriptedDaemon
  /** With pauses that take no time. */
  readonly context: HostContext
  readonly volumes = new Map<string, HostVolume>()
  /** Running domains besides the VM, by name. */
  readonly helpers = new Map<string, string>()
  readonly jobs = new Map<string, Job>()
  /** Paths of the disks that the checkpoints of the VM were made of, by name. */
  readonly checkpoints = new Map<string, string>()
  /** What arrived, without look-ups: `begin vda`, `thaw`, `delete x.qcow2`. */
  readonly calls: string[] = []
  readonly warnings: string[] = []
  isOn = true
  /** Addresses of private interfaces, with their prefixes. */
  addresses: string[] = []
  hasAgent = true
  isFrozen = false
  domainId = 1
  ended: Ended | undefined
  private readonly agent = new Map<string, AgentScript>()
  /** Called whenever the driver reads the state of a running job. */
  onPoll: (job: Job, domain: string) => void = (job, domain) => {
    if (job.polls === 2) this.endJob(domain, { type: JobType.completed })
  }

  private constructor(daemon: ScriptedDaemon) {
    this.daemon = daemon
    const log = pino({ level: 'warn' }, { write: (line) => void this.warnings.push((JSON.parse(line) as { msg: string }).msg) })
    const images = { open: () => Promise.reject(new Error('there are none')) }
    const real = openHostContext({ hostId: 'chost', endpoint: daemon.endpoint, images, log })
    const pause: HostContext['pause'] = (what, ms, signal) => {
      vi.advanceTimersByTime(ms)
      return real.pause(what, 0, signal)
    }
    this.context = { ...real, pause }
    onTestFinished(async () => {
      await real.close()
      await daemon.stop()
    })
  }

  static async start(): Promise<ScriptedHost> {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const host = new ScriptedHost(await ScriptedDaemon.start())
    host.serveDomains()
    host.serveVolumes()
    host.serveJobs()
    host.serveCheckpoints()
    await host.context.host.whenUp(10_000)
    return host
  }

  get names(): string[] {
    return [...this.volumes.keys()]
  }

  machine(): Promise<MachineState> {
    return getMachine(this.context, VM, AbortSignal.timeout(10_000))
  }

  endJob(domain: string, ended: Ended): void {
    this.jobs.delete(domain)
    this.ended = ended
  }

  /** Adds a volume, complete with its marker. */
  addComplete(name: string, volume: HostVolume = { capacityBytes: DISK_BYTES }): void {
    this.volumes.set(name, volume).set(`${name}.whole`, { capacityBytes: 0 })
  }

  /** Answers once as scripted, and as before afterwards. */
  once(procedure: AnyProcedure, script: (call: Frame, peer: Peer) => void): void {
    const before = this.daemon.scriptOf(procedure)
    this.daemon.on(procedure, (call, peer) => {
      this.daemon.on(procedure, before!)
      script(call, peer)
    })
  }

  /** What the guest agent answers to a command: by `reply`, or not at all. */
  onAgent(execute: string, script: AgentScript): void {
    this.agent.set(execute, script)
  }

  /** Answers once as scripted, and as before afterwards. */
  onceAgent(execute: string, script: AgentScript): void {
    const before = this.agent.get(execute)!
    this.onAgent(execute, (...given) => {
      this.onAgent(execute, before)
      script(...given)
    })
  }

  /** As QEMU does when a crash left the dirty bitmap of the parent inconsistent. */
  refuseIncremental(): void {
    const begin = this.daemon.scriptOf(backups.begin)!
    this.daemon.on(backups.begin, (call, peer) => {
      const { xml } = decode(backups.begin.args as never, call.payload) as { xml: string }
      if (tag(xml, 'incremental') === undefined) return begin(call, peer)
      peer.refuse(call, ErrorCode.checkpointInconsistent, 'missing or broken bitmap')
    })
  }

  private on<T>(procedure: AnyProcedure, answer: (args: T, call: Frame, peer: Peer) => unknown): void {
    this.daemon.on(procedure, (call, peer) => {
      const result = answer(decode(procedure.args as never, call.payload) as T, call, peer)
      if (result !== REFUSED) peer.reply(call, procedure.result as never, result)
    })
  }

  private serveDomains(): void {
    const vm = (): Domain => this.domainOf(`berth-${VM}`)
    this.on(domains.getAllStats, () => [])
    this.on<{ name: string }>(domains.lookupByName, ({ name }, call, peer) => {
      if (name === vm().name || this.helpers.has(name)) return this.domainOf(name)
      return refuse(peer, call, ErrorCode.noDomain, `no domain ${name}`)
    })
    this.on(domains.getXml, () => this.vmXml())
    this.on(domains.getState, () => ({ state: this.isOn ? DomainState.running : DomainState.shutoff, reason: 0 }))
    this.on(domains.getBlockInfo, () => ({ allocation: 0n, capacity: BigInt(DISK_BYTES), physical: 0n }))
    this.on<{ xml: string }>(domains.createXml, ({ xml }, call, peer) => {
      const name = tag(xml, 'name')!
      this.calls.push(`create ${name}`)
      if (this.helpers.has(name)) return refuse(peer, call, ErrorCode.operationFailed, 'exists', { origin: ErrorOrigin.domain })
      this.helpers.set(name, xml)
      return this.domainOf(name)
    })
    this.on<{ domain: Domain }>(domains.destroy, ({ domain }) => {
      this.calls.push(`destroy ${domain.name}`)
      this.helpers.delete(domain.name)
      this.jobs.delete(domain.name)
    })
    this.onAgent('guest-fsfreeze-freeze', (reply) => {
      this.calls.push('freeze')
      this.isFrozen = true
      reply(1)
    })
    this.onAgent('guest-fsfreeze-thaw', (reply) => {
      this.calls.push('thaw')
      this.isFrozen = false
      reply(1)
    })
    this.daemon.on(guests.agentCommand, (call, peer) => {
      const asked = decode(guests.agentCommand.args as never, call.payload) as { command: string; timeoutSeconds: number }
      const { execute } = JSON.parse(asked.command) as { execute: string }
      const reply = (value: unknown): void => peer.reply(call, guests.agentCommand.result, JSON.stringify({ return: value }))
      this.agent.get(execute)?.(reply, (code, message) => peer.refuse(call, code, message), asked)
    })
  }

  private serveVolumes(): void {
    const described = (name: string) => ({ pool: 'berth', name, key: `/berth/${name}` })
    this.on(pools.lookupByName, () => ({ name: 'berth', uuid: UUID }))
    this.on(pools.listAllVolumes, () => this.names.map(described))
    this.on<{ name: string }>(volumes.lookupByName, ({ name }, call, peer) =>
      this.volumes.has(name) ? described(name) : refuse(peer, call, ErrorCode.noStorageVolume, `no volume ${name}`),
    )
    this.on<{ xml: string }>(volumes.create, ({ xml }, call, peer) => {
      const name = tag(xml, 'name')!
      if (this.volumes.has(name)) return refuse(peer, call, ErrorCode.volumeExists, `volume ${name} exists`)
      const backing = tag(xml, 'path')
      if (backing !== undefined && !this.volumes.has(backing)) return refuse(peer, call, ErrorCode.internal, `no backing file ${backing}`)
      this.calls.push(`create ${name}`)
      this.volumes.set(name, { capacityBytes: Number(tag(xml, 'capacity')), backing })
      return described(name)
    })
    this.on<{ volume: { name: string } }>(volumes.delete, ({ volume: { name } }) => {
      this.calls.push(`delete ${name}`)
      this.volumes.delete(name)
    })
    this.on<{ volume: { name: string } }>(volumes.getXml, ({ volume: { name } }) => {
      const { capacityBytes, backing } = this.volumes.get(name)!
      const layer = backing === undefined ? '' : `<backingStore><path>${backing}</path></backingStore>`
      return `<volume><name>${name}</name><capacity>${capacityBytes}</capacity>${layer}</volume>`
    })
    this.on(volumes.getInfo, () => ({ type: 0, capacity: BigInt(DISK_BYTES), allocation: 4096n }))
  }

  private serveJobs(): void {
    this.on<{ domain: Domain; xml: string; checkpointXml?: string }>(backups.begin, ({ domain, xml, checkpointXml }, call, peer) => {
      const target = /file='([^']*)'/.exec(xml)![1]!
      const checkpoint = checkpointXml && tag(checkpointXml, 'name')
      this.calls.push(`begin ${target.slice('/berth/'.length)}`)
      if (this.jobs.has(domain.name)) return refuse(peer, call, ErrorCode.operationInvalid, 'busy')
      if (checkpoint && this.checkpoints.has(checkpoint)) return refuse(peer, call, ErrorCode.operationFailed, 'exists', DOMAIN)
      if (checkpoint) this.checkpoints.set(checkpoint, DISK)
      this.jobs.set(domain.name, { target, incremental: tag(xml, 'incremental'), polls: 0 })
      return undefined
    })
    this.on<{ domain: Domain }>(backups.getXml, ({ domain }, call, peer) => {
      const job = this.jobs.get(domain.name)
      if (job) {
        job.polls++
        this.onPoll(job, domain.name)
      }
      const now = this.jobs.get(domain.name)
      if (!now) return refuse(peer, call, ErrorCode.noBackup, 'no job')
      return `<domainbackup><disks><disk name='vda'><target file='${now.target}'/></disk></disks></domainbackup>`
    })
    this.on(domains.getJobStats, () => {
      const { type = JobType.none, errmsg } = this.ended ?? {}
      return { type, parameters: errmsg === undefined ? {} : { errmsg: Param.string(errmsg) } }
    })
    this.on<{ domain: Domain }>(domains.abortJob, ({ domain }) => {
      this.calls.push('abort')
      this.endJob(domain.name, { type: JobType.cancelled })
    })
  }

  private serveCheckpoints(): void {
    const described = (name: string) => ({ name, domain: this.domainOf(`berth-${VM}`) })
    this.on<{ name: string }>(checkpoints.lookupByName, ({ name }, call, peer) =>
      this.checkpoints.has(name) ? described(name) : refuse(peer, call, ErrorCode.noCheckpoint, `no checkpoint ${name}`),
    )
    this.on(checkpoints.listAll, () => [...this.checkpoints.keys()].map(described))
    this.on<{ checkpoint: { name: string } }>(checkpoints.getXml, ({ checkpoint: { name } }) => {
      const disk = `<disk><source file='${this.checkpoints.get(name)}'/><target dev='vda'/></disk>`
      return `<domaincheckpoint><name>${name}</name><domain><devices>${disk}</devices></domain></domaincheckpoint>`
    })
    this.on<{ checkpoint: { name: string }; flags: number }>(checkpoints.delete, ({ checkpoint: { name }, flags }) => {
      this.calls.push(`delete checkpoint ${name}${flags & MomentDeleteFlag.metadataOnly ? ' (metadata only)' : ''}`)
      this.checkpoints.delete(name)
    })
  }

  private domainOf(name: string): Domain {
    const isVm = name === `berth-${VM}`
    return { name, uuid: isVm ? UUID : OTHER_UUID, id: isVm ? (this.isOn ? this.domainId : -1) : 7 }
  }

  private vmXml(): string {
    const metadata = `<vm xmlns='urn:berth:vm:1' id='${VM}' account='cacc' generation='1' template='ctpl' agent='yes'/>`
    const agent = `<channel><target name='org.qemu.guest_agent.0' state='${this.hasAgent ? 'connected' : 'disconnected'}'/></channel>`
    const disk = `<disk><source file='${DISK}'/><target dev='vda'/></disk>`
    return `<domain><metadata>${metadata}</metadata><os><type arch='x86_64' machine='q35'>hvm</type></os>
      <devices>${disk}${this.addresses.map(nicXml).join('')}${agent}</devices></domain>`
  }
}

const nicXml = (address: string, index: number): string =>
  `<interface type='bridge'><mac address='52:54:00:00:00:0${index}'/><virtualport><parameters profileid='${address}'/></virtualport></interface>`

const UUID = '00000000-0000-4000-8000-000000000001'
const OTHER_UUID = '00000000-0000-4000-8000-000000000002'
const REFUSED = Symbol('refused')
const DOMAIN = { origin: ErrorOrigin.domain }

const tag = (xml: string, name: string): string | undefined => new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1]

function refuse(peer: Peer, call: Frame, code: number, message: string, details?: { origin: number }): symbol {
  peer.refuse(call, code, message, details)
  return REFUSED
}
