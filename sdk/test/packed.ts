// The package as it is published, installed in a folder of its own: built, packed, unpacked, and used by whoever has nothing else of ours.
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

/** Of these workspaces, or of all. One after the other on this machine: each build begins by removing what the one before has built. */
export async function pack(into: string, ...workspaces: string[]): Promise<Packed[]> {
  const which = workspaces.length > 0 ? workspaces.map((name) => `--workspace=${name}`) : ['--workspaces']
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const command = ['npm', 'pack', '--json', '--pack-destination', into, ...which]
  const { stdout } = await run('flock', [join(root, 'node_modules/.berth-packing'), ...command], { cwd: root, env, maxBuffer: 2 ** 24 })
  return JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as Packed[]
}

export async function packed() {
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
    /** Type-checks these files of the folder as somebody's own program, and compiles them to JavaScript. */
    async compile(names: string[], settings: object): Promise<void> {
      const compilerOptions = { target: 'es2022', strict: true, skipLibCheck: false, ...settings }
      write('tsconfig.json', JSON.stringify({ compilerOptions, files: names }))
      await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', folder]).catch((error: Outcome) => {
        throw new Error(`It does not compile:\n${error.stdout}`)
      })
    },
    runByPlainNode: (name: string, settings: Record<string, string> = {}): Promise<Outcome> =>
      run(plainNode(), [join(folder, name)], { env: settings }),
  }
}

export const NODE_TYPES = { lib: ['es2022'], module: 'nodenext', types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }

/** The Node that was on the machine before ours came. */
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
