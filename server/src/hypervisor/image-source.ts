// Where the driver reads template images from: the control plane, which uploads them to hosts.
import type { IsoRef, TemplateRef } from './driver.ts'

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
  /** Rejects with a plain Error when the image does not exist yet, and with a DriverError when it could not be fetched. */
  open(template: TemplateRef): Promise<Image>
}

export interface IsoSource {
  /** Where the file of the image is on this machine. Rejects as `open`. */
  openIso(iso: IsoRef): Promise<{ path: string }>
}
