// The serial console of a simulated guest: boot log, login prompt, and a note at login that it is simulated.
import { Duplex } from 'node:stream'
import type { MachineRow } from './definition.ts'
import { PANIC } from './host.ts'

function bootLog({ vcpu, ram_mib, name }: MachineRow): string[] {
  return [
    '[    0.000000] Linux version 6.1.0-simulated (berth) #1 SMP',
    '[    0.000000] Command line: root=/dev/vda1 console=ttyS0',
    `[    0.004211] Memory: ${ram_mib * 1024 - 40_960}K/${ram_mib * 1024}K available`,
    `[    0.031870] smp: Brought up 1 node, ${vcpu} CPU${vcpu === 1 ? '' : 's'}`,
    '[    0.412345] virtio_blk virtio1: [vda] mounted',
    `[    0.873310] systemd[1]: Detected virtualization simulated, machine ${name}`,
    '[    1.204417] cloud-init[412]: Cloud-init finished',
  ]
}

/** The last console lines, for the error of a guest that does not boot. */
export const consoleTail = (row: MachineRow): string[] => (row.is_stuck ? [...bootLog(row).slice(0, 5), PANIC] : bootLog(row))

const NO_SHELL = 'This VM is simulated: there is no shell behind this console.'

export class SerialConsole extends Duplex {
  readonly #prompt: string
  #line = ''

  constructor(row: MachineRow, hostname: string) {
    super({ decodeStrings: false })
    this.#prompt = `\r\n${hostname} login: `
    this.push(`${consoleTail(row).join('\r\n')}\r\n`)
    if (!row.is_stuck) this.push(this.#prompt)
  }

  override _read(): void {}

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    for (const letter of chunk.toString()) this.#type(letter)
    done()
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  #type(letter: string): void {
    if (letter !== '\r' && letter !== '\n') {
      this.#line += letter
      this.push(letter)
      return
    }
    this.push(this.#line.trim() ? `\r\n${NO_SHELL}${this.#prompt}` : this.#prompt)
    this.#line = ''
  }
}
