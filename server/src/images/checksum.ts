// Checksums as distributions publish them: sha256 or sha512, with or without the algorithm as prefix.

export interface Checksum {
  algorithm: 'sha256' | 'sha512'
  hex: string
}

export function parseChecksum(text: string): Checksum {
  const [, named, hex = ''] = /^(?:(sha256|sha512):)?([0-9a-f]+)$/i.exec(text.trim()) ?? []
  const algorithm = ({ 64: 'sha256', 128: 'sha512' } as const)[hex.length]
  if (!algorithm || (named && named.toLowerCase() !== algorithm)) {
    throw new Error(`"${text}" is not a checksum: give 64 hex digits of sha256 or 128 of sha512`)
  }
  return { algorithm, hex: hex.toLowerCase() }
}
