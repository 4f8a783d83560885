// A command of `berthd` as another user, which root starts.
import { execFile } from 'node:child_process'
import { asUser, ENVIRONMENT, type OsUser } from '../kernel/os-user.ts'

export type Berthd = (...args: string[]) => Promise<unknown>

/** Runs a command of `berthd` with these settings, which need not be in a file yet. Returns its JSON. */
export const berthdAs =
  (user: OsUser, program: string[], settings: Record<string, string>): Berthd =>
  (...args) => {
    const [command, ...rest] = [...asUser(user), ...program, ...args, '--json']
    const env = { ...ENVIRONMENT, NODE_ENV: 'production', NODE_DISABLE_COMPILE_CACHE: '1', ...settings }
    return new Promise((resolve, reject) => {
      execFile(command, rest, { env, cwd: '/', maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
        if (!error) resolve(JSON.parse(stdout))
        else reject(new Error(messageOf(stderr) ?? `berthd ${args.join(' ')} failed: ${stderr.trim() || error.message}`))
      })
    })
  }

function messageOf(stderr: string): string | undefined {
  try {
    return (JSON.parse(stderr) as { error: string }).error
  } catch {
    return undefined
  }
}
