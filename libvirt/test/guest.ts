// A guest of 512 bytes: a boot sector that greets on the serial port, echoes what it is sent and obeys a few letters.
// Firmware and QEMU are real, it boots in a second under emulation, and there is no operating system to wait for.
import { randomUUID } from 'node:crypto'

export const greeting = 'berth guest ready'

/** Sent to the guest: W lets the watchdog bite, R reboots, P powers off, D writes to the disk. Anything else comes back. */
const orders = { W: watchdog(), R: reboot(), P: powerOff(), D: writeSector() }

export function bootSector(): Buffer {
  const origin = 0x7c00
  const start = [0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0xfb] // ax = ds = es = 0; interrupts on
  // next letter of the greeting, its end goes on to the loop: lodsb; test al, al; jz +5; call put; jmp back
  const print = [0xac, 0x84, 0xc0, 0x74, 0x05, 0xe8, 0, 0, 0xeb, 0xf6]
  // wait for a byte, asleep until the next timer tick: in al, 3fd; test al, 1; jnz +3; hlt; jmp back; in al, 3f8
  const read = [0xba, 0xfd, 0x03, 0xec, 0xa8, 0x01, 0x75, 0x03, 0xf4, 0xeb, 0xf5, 0xba, 0xf8, 0x03, 0xec]
  // cmp al, letter; jne over the order
  const obey = Object.entries(orders).flatMap(([letter, order]) => [0x3c, letter.charCodeAt(0), 0x75, order.length, ...order])
  const loop = [...read, ...obey]
  // echo: call put; jmp to the loop
  const echo = [0xe8, 0x03, 0x00, 0xe9, ...word(-(loop.length + 6))]
  // put: push ax; wait until the port is free; pop ax; out; ret
  const put = [0x50, 0xba, 0xfd, 0x03, 0xec, 0xa8, 0x20, 0x74, 0xf8, 0x58, 0xba, 0xf8, 0x03, 0xee, 0xc3]
  const head = [...start, 0xbe, 0, 0] // mov si, greeting
  const putAt = head.length + print.length + loop.length + echo.length
  const greetingAt = putAt + put.length
  print.splice(6, 2, ...word(putAt - (head.length + 8)))
  head.splice(-2, 2, ...word(origin + greetingAt))
  const sector = Buffer.alloc(512)
  sector.set([...head, ...print, ...loop, ...echo, ...put, ...Buffer.from(`${greeting}\r\n\0`)])
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}

/** The ib700's timer at its shortest: mov dx, 443; mov al, 0f; out dx, al. */
function watchdog(): number[] {
  return [0xba, 0x43, 0x04, 0xb0, 0x0f, 0xee]
}

/** The keyboard controller pulls the reset line: mov al, fe; out 64, al. */
function reboot(): number[] {
  return [0xb0, 0xfe, 0xe6, 0x64]
}

/** q35's power management register: mov dx, 604; mov ax, 2000; out dx, ax. */
function powerOff(): number[] {
  return [0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef]
}

/** The firmware writes the boot sector once more, 126 KiB further on: int 13 with ah = 3, head 4, sector 2; then 'D' is echoed. */
function writeSector(): number[] {
  return [0xb8, 0x01, 0x03, 0xb9, 0x02, 0x00, 0xba, 0x80, 0x04, 0xbb, 0x00, 0x7c, 0xcd, 0x13, 0xb0, 0x44]
}

function word(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff]
}

export interface GuestOptions {
  name: string
  /** Path of a disk that begins with the boot sector. */
  disk: string
  format?: 'raw' | 'qcow2'
  readOnly?: boolean
  devices?: string
}

export function guestXml({ name, disk, format = 'raw', readOnly = false, devices = '' }: GuestOptions): string {
  return `<domain type='qemu'>
  <name>${name}</name><uuid>${randomUUID()}</uuid>
  <memory unit='MiB'>48</memory><vcpu current='1'>2</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type><boot dev='hd'/></os>
  <features><acpi/><apic/></features>
  <cpu mode='custom' match='exact'><model fallback='allow'>qemu64</model></cpu>
  <on_reboot>restart</on_reboot>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <disk type='file' device='disk'>
      <driver name='qemu' type='${format}' error_policy='report'/><source file='${disk}'/><target dev='vda' bus='virtio'/>${readOnly ? '<readonly/>' : ''}
    </disk>
    <controller type='usb' model='qemu-xhci'/>
    <controller type='pci' model='pcie-root'/>
    ${"<controller type='pci' model='pcie-root-port'/>".repeat(6)}
    <serial type='pty'><target port='0'/></serial>
    <console type='pty'><target type='serial' port='0'/></console>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <channel type='unix'><target type='virtio' name='berth.test'/></channel>
    <graphics type='vnc'><listen type='none'/></graphics>
    <video><model type='vga'/></video>
    <watchdog model='ib700' action='none'/>
    <memballoon model='virtio'/>
    ${devices}
  </devices>
</domain>`
}
