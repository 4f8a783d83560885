// Labels as text, one `name=value` a line.
export const labelLines = (labels: Record<string, string>): string[] => Object.entries(labels).map(([name, value]) => `${name}=${value}`)

/** A line without `=` is a label without a value. */
export const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => {
        const [name = '', ...value] = line.split('=')
        return [name.trim(), value.join('=').trim()]
      }),
  )
