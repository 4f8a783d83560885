// How libvirtd ends a stream, for the scripted daemon.
import { MessageType, Status } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import type { Peer, ScriptedDaemon } from './scripted-daemon.ts'

/** Confirms our "ok" as libvirtd does, and gives what came before it. */
export function confirming(daemon: ScriptedDaemon, peer: Peer): Frame[] {
  const packets: Frame[] = []
  const before = daemon.received.length
  const timer = setInterval(() => {
    packets.splice(
      0,
      Infinity,
      ...daemon.received.slice(before).filter((frame) => frame.type === MessageType.stream || frame.type === MessageType.hole),
    )
    const ok = packets.find((frame) => frame.status === Status.ok)
    if (!ok) return
    clearInterval(timer)
    peer.packet(ok, Status.ok)
  }, 2)
  return packets
}

/** The stream packets the daemon got, with that status. */
export function packetsHeard(daemon: ScriptedDaemon, status: number): Frame[] {
  return daemon.received.filter((frame) => frame.type === MessageType.stream && frame.status === status)
}
