// The package as published: built, packed and unpacked into a folder without anything else of the repository.
import { execFile } from 'node:child_process'
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

export interface Outcome {
  stdout: string
  stderr: string
}

export interface Packed {
  name: string
  filename: string
  files: { path: string; mode: number }[]
}

/** Packs these workspaces, or all. A file lock serialises it, because each build starts by removing the output of the previous one. */
export async function pack(into: string, ...workspaces: string[]): Promise<Packed[]> {
  const which = workspaces.length > 0 ? workspaces.map((name) => `--workspace=${name}`) : ['--workspaces']
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const command = ['npm', 'pack', '--json', '--pack-destination', into, ...which]
  const { stdout } = await run('flock', [join(root, 'node_modules/.berth-packing'), ...command], { cwd: root, env, maxBuffer: 2 ** 24 })
  return JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as Packed[]
}

export async function packedPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'berth-packed-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const [{ filename, files }] = (await pack(folder, 'sdk')) as [Packed]
  const installed = join(folder, 'node_modules/@berth/sdk')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1'])
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  return {
    files: files.map(({ path }) => path),
    installed,
    write,
    /** Type-checks these files as a program of a user of the package and compiles them to JavaScript. */
    async compile(names: string[], settings: object): Promise<void> {
      const compilerOptions = { target: 'es2022', strict: true, skipLibCheck: false, ...settings }
      write('tsconfig.json', JSON.stringify({ compilerOptions, files: names }))
      await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', folder]).catch((error: Outcome) => {
        throw new Error(`Compilation failed:\n${error.stdout}`)
      })
    },
    runByPlainNode: (name: string, settings: Record<string, string> = {}): Promise<Outcome> =>
      run(plainNode(), [join(folder, name)], { env: settings }),
  }
}

export const NODE_TYPES = { lib: ['es2022'], module: 'nodenext', types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }

/** The system's Node, not the one that package-lock.json pins. */
export function plainNode(): string {
  const folders = process.env['PATH']!.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => join(folder, 'node')).find(isProgram) ?? process.execPath
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
