// A folder for a test, removed with all processes that run in it, even when the test run is killed: a companion process waits for the end
// of a pipe that only we hold open.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CLEAN_UP = `
  cat
  find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$0/*" | cut -d/ -f3 | xargs -r kill -QUIT
  for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$0" && exit; sleep 0.1; done`

export interface ScratchFolder {
  path: string
  remove(): Promise<void>
}

export async function scratchFolder(parent = tmpdir()): Promise<ScratchFolder> {
  const path = await mkdtemp(join(parent, 'berth-scratch-'))
  await chmod(path, 0o755) // like a cloned repository
  const companion = spawn('sh', ['-c', CLEAN_UP, path], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  companion.unref()
  return {
    path,
    remove: async () => {
      companion.ref()
      const removed = once(companion, 'exit')
      companion.stdin.end()
      await removed
    },
  }
}
