// What the control plane does about a host before it is one. compose.ts has the functions.

export interface HostCheck {
  status: 'ok' | 'warning' | 'failure'
  message: string
  /** What to do. */
  fix: string | null
}

/** As the host reports itself, to the network controller too. */
export interface VerifiedHost {
  hostname: string
  arch: string
  acceleration: 'kvm' | 'emulation'
  guestTypes: string[]
  vcpu: number
  ramMiB: number
  diskGiB: number
}

export interface IssuedBundle {
  /** What `berthd host prepare` takes: certificates, keys among it. */
  text: string
  range: string
  gateway: string
}

export interface HostSetup {
  /** In place of what the address had: its earlier certificates are revoked. */
  issueBundle(address: string, order: { regionId: string; inUse: string[]; controllers: string[] }): Promise<IssuedBundle>
  revokeCertificates(address: string): Promise<number>
  /** Checks it over the connection by which it will be managed. Leaves nothing changed. */
  verify(uri: string): Promise<{ checks: HostCheck[]; host: VerifiedHost | null }>
}
