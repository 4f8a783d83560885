// The request of the form as code. The password and user data are omitted, because code ends up in files.
import type { CreateVm } from '@berth/sdk'

const withoutSecret = (request: CreateVm): CreateVm => ({
  ...request,
  ...(request.password && { password: '…' }),
  ...(request.userData && { userData: '…' }),
})

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const asCurl = (request: CreateVm, origin: string): string =>
  [
    `curl -X POST ${origin}/api/public/v1/vms \\`,
    `  -H "x-api-key: $BERTH_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(withoutSecret(request), null, 2))}`,
  ].join('\n')

export function asTypeScript(request: CreateVm, origin: string, user: string): string {
  const login = `console.log(\`ssh ${user}@\${vm.${request.publicIpv4 === false ? 'ipv6Address' : 'ipAddress'}}\`)`
  return [
    `import { Berth } from '@berth/sdk'`,
    ``,
    `const berth = new Berth({ baseUrl: '${origin}', token: process.env.BERTH_TOKEN! })`,
    `const created = await berth.vms.create(${JSON.stringify(withoutSecret(request), null, 2)})`,
    ...(request.count === undefined
      ? [`await berth.waitForAction(created)`, `const vm = await berth.vms.get(created.vmId)`, login]
      : [
          `for (const [index, { id }] of created.vms!.entries()) {`,
          `  await berth.waitForAction({ vmId: id, actionId: created.actionIds![index]! })`,
          `  const vm = await berth.vms.get(id)`,
          `  ${login}`,
          `}`,
        ]),
  ].join('\n')
}

/** Slugs for the options of the CLI that accept them; the other options take ids. */
export interface Names {
  region: string
  os: string
  plan: string
  /** The default user of the image. */
  user: string
  /** `region=fra1,plan=small`, in the order of the request. */
  alternatives: string[]
}

type VmVolume = NonNullable<CreateVm['volumes']>[number]

const volumeOption = ({ volumeId, name, sizeGiB, storage }: VmVolume): string =>
  volumeId ?? quoted(`name=${name},size=${sizeGiB}${storage ? `,storage=${storage.toLowerCase()}` : ''}`)

export function asCli(request: CreateVm, { region, os, plan, alternatives }: Names): string {
  const { customConfig } = request
  const options = [
    `--region ${region}`,
    request.fromBackupId ? `--from-backup ${request.fromBackupId}` : `--os ${os}`,
    customConfig ? `--vcpu ${customConfig.vcpu} --ram ${customConfig.ram} --disk ${customConfig.disk}` : `--plan ${plan}`,
    ...(request.name ? [`--name ${quoted(request.name)}`] : []),
    ...(request.password ? ['--password -'] : []),
    ...(request.sshKeyIds ?? []).map((id) => `--key ${id}`),
    ...(request.privateNetworkIds ?? []).map((id) => `--network ${id}`),
    ...(request.firewallIds ?? []).map((id) => `--firewall ${id}`),
    ...(request.placementGroupId ? [`--placement-group ${request.placementGroupId}`] : []),
    ...(request.volumes ?? []).map((volume) => `--volume ${volumeOption(volume)}`),
    ...(request.userData ? ['--user-data @user-data'] : []),
    ...Object.entries(request.labels ?? {}).map(([key, value]) => `--label ${value === '' ? key : `${key}=${value}`}`),
    ...(request.dailyBackupEnabled ? ['--daily-backups'] : []),
    ...(request.network10gEnabled ? ['--network-10g'] : []),
    ...(request.publicIpv4 === false ? ['--ipv6-only'] : []),
    ...(request.isProtected ? ['--protect'] : []),
    ...(request.count === undefined ? [] : [`--count ${request.count}`]),
    ...alternatives.map((each) => `--alternative ${each}`),
  ]
  return [`berth vm create ${request.hostname}`, ...options.map((option) => `  ${option}`)].join(' \\\n')
}
