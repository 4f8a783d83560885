// Where the driver finds the images of templates: on the control plane, which carries them to hosts.
import type { TemplateRef } from './driver.ts'

export interface Image {
  path: string
  format: 'qcow2'
  arch: 'x86_64' | 'aarch64'
  virtualBytes: number
  fileBytes: number
  /** `sha256:` and 64 hex digits, of the file. */
  checksum: string
}

export interface ImageSource {
  /** Refuses with a plain Error when the image is not there yet. */
  open(template: TemplateRef): Promise<Image>
}
