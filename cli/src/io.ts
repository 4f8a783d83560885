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

/** Whether somebody sits there who can see and be asked. */
export const isAttended = ({ stdin, stderr }: Io): boolean => stdin.isTTY && stderr.isTTY === true
