import type { ReactNode } from 'react'

/** A dialog has nothing to choose from: what is missing, and the way to it. */
export const Missing = ({ text, link }: { text: string; link: ReactNode }) => (
  <p>
    <span className="muted">{text}</span> {link}
  </p>
)
