// Where the control plane keeps the images that disks of VMs begin with.
import type { Arch } from './arch.ts'

export interface Image {
  path: string
  format: 'qcow2'
  arch: Arch
  /** What a guest sees. */
  virtualBytes: number
  fileBytes: number
  /** sha256:… of the file. */
  checksum: string
}

export interface ImageSource {
  /** Rejects with one sentence when the image is not there. */
  open(template: { id: string; slug: string; checksum: string }): Promise<Image>
}
