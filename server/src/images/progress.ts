// The progress of an image build, for other processes: one small file beside the images, valid only while its writer is alive.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface ProgressFile {
  pid: number
  doing: string
}

const fileOf = (folder: string, slug: string): string => join(folder, `making-${slug}.json`)

/** `null` when the build has ended, successfully or not. */
export async function recordProgress(folder: string, slug: string, doing: string | null): Promise<void> {
  if (doing === null) return rm(fileOf(folder, slug), { force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(fileOf(folder, slug), JSON.stringify({ pid: process.pid, doing } satisfies ProgressFile))
}

export async function readProgress(folder: string, slug: string): Promise<string | null> {
  try {
    const { pid, doing } = JSON.parse(await readFile(fileOf(folder, slug), 'utf8')) as ProgressFile
    process.kill(pid, 0)
    return doing
  } catch (error) {
    // EPERM: a live process of another user. Otherwise no build runs, or its writer was killed.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'being built' : null
  }
}
