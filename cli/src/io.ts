// Input and output of a command. Data goes to stdout, everything else to stderr.

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

/** Whether a user at a terminal can answer prompts. */
export const isInteractive = ({ stdin }: Io): boolean => Boolean(stdin.isTTY)
