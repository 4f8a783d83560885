export interface MenuItem {
  label: string
  onClick: () => void
  danger?: boolean
  disabled?: boolean
}

export interface RowMenuProps {
  name: string
  items: MenuItem[]
}
