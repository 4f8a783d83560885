// Kernel modules in load order, dependencies first.

/** `dependencies` is modules.dep as depmod writes it, `builtin` is modules.builtin. Returns paths relative to the module folder. */
export function loadOrder(names: string[], dependencies: string, builtin: string): string[] {
  const needs = new Map(dependencies.split('\n').filter(Boolean).map(parseLine))
  const pathOf = new Map([...needs.keys()].map((path) => [moduleName(path), path]))
  const isBuiltIn = new Set(builtin.split('\n').filter(Boolean).map(moduleName))
  const wanted = names.map(moduleName).filter((name) => !isBuiltIn.has(name))
  return [...new Set(wanted.flatMap((name) => withDependencies(name, pathOf, needs)))]
}

function withDependencies(name: string, pathOf: Map<string, string>, needs: Map<string, string[]>): string[] {
  const path = pathOf.get(name)
  if (path === undefined) throw new Error(`The kernel has no module ${name}`)
  return [...needs.get(path)!.toReversed(), path] // modules.dep lists direct dependencies first
}

function parseLine(line: string): [string, string[]] {
  const [path = '', rest = ''] = line.split(':')
  return [path, rest.trim().split(' ').filter(Boolean)]
}

/** The kernel treats - and _ in module names alike. */
const moduleName = (path: string): string =>
  path
    .replace(/^.*\//, '')
    .replace(/\.ko.*$/, '')
    .replaceAll('-', '_')

const SIGNED = Buffer.from('~Module signature appended~\n')
/** The fields before the mark: eight bytes of types and lengths, and the signature length. */
const SIGNATURE_HEAD = 12

/** Verifying signatures dominates module loading under emulation, and the modules are part of the image. */
export function withoutSignature(module: Buffer): Buffer {
  if (!module.subarray(-SIGNED.length).equals(SIGNED)) return module
  const head = module.length - SIGNED.length - SIGNATURE_HEAD
  return module.subarray(0, head - module.readUInt32BE(head + 8))
}
