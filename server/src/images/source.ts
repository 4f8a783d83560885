// Where the driver asks for images; openImageStore answers.
export type { Image, ImageSource } from '../hypervisor/libvirt/image-source.ts'
