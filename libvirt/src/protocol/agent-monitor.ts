// Guest agent and QEMU monitor commands. libvirtd waits for an agent as long as `timeoutSeconds` says; in the calls that have none, for ever unless
// `setAgentTimeout` has limited it.
import { array, defaulted, hyper, int, optional, str, uhyper, uint } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { parameters } from './parameters.ts'
import { byGuest, qemu, slow } from './procedure.ts'
import { domain, flags, flagsOf } from './structs.ts'

const timeoutSeconds = defaulted(int, -1)
const password = { domain, user: optional(str), password: optional(str), flags: flagsOf(flag.PasswordFlag) }
const trim = { domain, mountpoint: optional(str), minimumBytes: defaulted(uhyper, 0n), flags }
const time = { domain, seconds: hyper, nanoseconds: defaulted(uint, 0), flags: flagsOf(flag.SetTimeFlag) }
const sshKeys = { domain, user: str, keys: array(str), flags: flagsOf(flag.SshKeysFlag) }

export const guests = {
  agentCommand: byGuest(qemu(3, 'DOMAIN_AGENT_COMMAND', { domain, command: str, timeoutSeconds, flags }, optional(str))),
  monitorCommand: qemu(1, 'DOMAIN_MONITOR_COMMAND', { domain, command: str, flags: flagsOf(flag.MonitorFlag) }, str),
  setPassword: byGuest(slow(357, 'DOMAIN_SET_USER_PASSWORD', password)),
  getSshKeys: byGuest(slow(424, 'DOMAIN_AUTHORIZED_SSH_KEYS_GET', { domain, user: str, flags }, array(str))),
  setSshKeys: byGuest(slow(425, 'DOMAIN_AUTHORIZED_SSH_KEYS_SET', sshKeys)),
  getInfo: byGuest(slow(418, 'DOMAIN_GET_GUEST_INFO', { domain, groups: flagsOf(flag.GuestInfoGroup), flags }, parameters)),
  setAgentTimeout: slow(420, 'DOMAIN_AGENT_SET_RESPONSE_TIMEOUT', { domain, timeoutSeconds: int, flags }, int),
  trim: byGuest(slow(294, 'DOMAIN_FSTRIM', trim)),
  setTime: byGuest(slow(338, 'DOMAIN_SET_TIME', time)),
} as const
