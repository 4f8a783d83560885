/** The largest message libvirt takes, its length word included. */
export const MAX_MESSAGE_BYTES = 33_554_432
export const MAX_STRING_BYTES = 4_194_304
/** The most data in one stream packet that every release of libvirt takes. */
export const MAX_PACKET_BYTES = 262_120
