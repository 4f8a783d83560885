// Where the command reads and writes. Data goes to stdout, everything else to stderr.

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
}

export interface Io {
  env: Record<string, string | undefined>
  stdin: NodeJS.ReadStream
  stdout: Output
  stderr: Output
}

/** Whether somebody sits there who can be asked. */
export const isInteractive = ({ stdin }: Io): boolean => Boolean(stdin.isTTY)
