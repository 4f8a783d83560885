// The kernel's modules in the order they must be loaded, dependencies first.

/** `dependencies` is modules.dep as depmod writes it, `builtin` is modules.builtin. Answers paths below the modules' folder. */
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
  return [...needs.get(path)!.toReversed(), path] // depmod lists the nearest dependency first, each before what it needs itself
}

function parseLine(line: string): [string, string[]] {
  const [path = '', rest = ''] = line.split(':')
  return [path, rest.trim().split(' ').filter(Boolean)]
}

/** The kernel takes - and _ for the same. */
const moduleName = (path: string): string =>
  path
    .replace(/^.*\//, '')
    .replace(/\.ko.*$/, '')
    .replaceAll('-', '_')

const SIGNED = Buffer.from('~Module signature appended~\n')
/** What stands before that mark: eight bytes of kinds and lengths, and the length of the signature. */
const SIGNATURE_HEAD = 12

/** Checking signatures takes most of the time of loading a module under emulation, and these are files of our own. */
export function withoutSignature(module: Buffer): Buffer {
  if (!module.subarray(-SIGNED.length).equals(SIGNED)) return module
  const head = module.length - SIGNED.length - SIGNATURE_HEAD
  return module.subarray(0, head - module.readUInt32BE(head + 8))
}
