import type { Config } from '../config.ts'

/** Where the dashboard is, for links. */
export const dashboardUrl = ({ publicUrl, host, port }: Config): string =>
  publicUrl?.replace(/\/$/, '') ?? `http://${host.includes(':') ? `[${host}]` : host.replace('0.0.0.0', '127.0.0.1')}:${port}`
