import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'

type Html = AnchorHTMLAttributes<HTMLAnchorElement>

export const ButtonLink = createLink((props: ButtonProps & Omit<Html, keyof ButtonProps>) => <Button component="a" {...props} />)
export const TextLink = createLink((props: AnchorProps & Omit<Html, keyof AnchorProps>) => <Anchor inherit {...props} />)
