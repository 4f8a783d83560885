// Normalises a response for use as an example: the same in every run, and short.

const MAX_LIST = 1

/** Lists are cut to their first item. */
export function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_LIST).map(shorten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]))
}

const REPLACED: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2027-01-31T12:00:00.000Z'],
  [/\buntil \d{4}-\d\d-\d\d\b/g, 'until 2027-02-28'],
  [/"20\d\d-\d\d"/g, '"2027-01"'],
  [/\b10\.77\.\d+\.\d+/g, '10.77.0.10'],
  [/\b10\.1\d\d\.\d+\.(\d+)\b/g, '10.0.0.$1'],
  [/ssh-ed25519 [\w+/=]+/g, 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample'],
  [/SHA256:[\w+/]+/g, 'SHA256:ExampleExampleExampleExampleExampleExampleE'],
  [/sha256:[\da-f]{64}/g, `sha256:${'5e'.repeat(32)}`],
  [/whsec_[\w+/=]+/g, 'whsec_…'],
  [/v1,[\w+/=]+/g, 'v1,…'],
  [/(webhook-timestamp\\?":\s*\\?")\d+/g, '$11801396800'],
  [/\bvm[a-z]_[\w-]+/g, 'vmc_…'],
  [/\binv_\w+/g, 'inv_…'],
  [/(\/invoices\/)[\w.-]{20,}/g, '$1…'],
  [/expires=\d+&signature=[\w-]+/g, 'expires=…&signature=…'],
  [/iVBORw0KGgo[\w+/=]+/g, 'iVBORw0KGgo…'],
  [/"aarch64"/g, '"x86_64"'],
  [/INV-\d+/g, 'INV-000042'],
  [/virtio-[a-z0-9]{20}\b/g, 'virtio-mple00000000000000001'],
  [/customer\d+@example\.com/g, 'ada@example.com'],
  [/("(?:latencyMs|usedBytes|bandwidthUsedBytes)":\s*)\d+/g, '$10'],
  [/https?:\/\/127\.0\.0\.1:(?!9\/)\d+/g, 'https://cloud.example.com'],
  [/ws:\/\/127\.0\.0\.1:\d+/g, 'wss://cloud.example.com'],
]

export function steadyText(text: string): string {
  const names = new Map<string, string>()
  const named = text.replace(/\bc[a-z0-9]{24}\b/g, (id) => {
    if (!names.has(id)) names.set(id, `cexample${String(names.size + 1).padStart(17, '0')}`)
    return names.get(id)!
  })
  return REPLACED.reduce((changed, [pattern, by]) => changed.replace(pattern, by), named)
}
