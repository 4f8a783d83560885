// Moves and scales the map by mouse, wheel, touch and keyboard.
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'

export interface View {
  x: number
  y: number
  scale: number
}

const SMALLEST = 0.15
const LARGEST = 2.5
const STEP_PX = 60
/** Less than this is a click. */
const DRAG_PX = 5

const clamp = (scale: number): number => Math.min(LARGEST, Math.max(SMALLEST, scale))

/** Keeps the point below the pointer where it is. */
export function zoomAt(view: View, factor: number, x: number, y: number): View {
  const scale = clamp(view.scale * factor)
  const by = scale / view.scale
  return { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by }
}

export function fitTo(content: { width: number; height: number }, frame: { width: number; height: number }): View {
  const margin = 24
  const scale = clamp(Math.min((frame.width - 2 * margin) / content.width, (frame.height - 2 * margin) / content.height, 1))
  return { scale, x: (frame.width - content.width * scale) / 2, y: Math.max(margin, (frame.height - content.height * scale) / 2) }
}

export function usePanZoom(content: { width: number; height: number }) {
  const frame = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 })
  const pointers = useRef(new Map<number, { x: number; y: number }>())
  const moved = useRef(0)
  const { width, height } = content
  const fit = useCallback(() => {
    const { clientWidth, clientHeight } = frame.current!
    setView(fitTo({ width, height }, { width: clientWidth, height: clientHeight }))
  }, [width, height])
  useEffect(fit, [fit])
  useEffect(() => {
    const element = frame.current!
    const wheel = (event: WheelEvent): void => {
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1)
      setView((now) => zoomAt(now, Math.exp(-pixels / 400), event.clientX - left, event.clientY - top))
    }
    // What the pointer was dragged over is not followed.
    const click = (event: MouseEvent): void => {
      if (moved.current <= DRAG_PX) return
      event.preventDefault()
      event.stopPropagation()
      moved.current = 0
    }
    const keepLink = (event: DragEvent): void => event.preventDefault()
    element.addEventListener('wheel', wheel, { passive: false })
    element.addEventListener('click', click, true)
    element.addEventListener('dragstart', keepLink)
    return () => {
      element.removeEventListener('wheel', wheel)
      element.removeEventListener('click', click, true)
      element.removeEventListener('dragstart', keepLink)
    }
  }, [])

  const zoomBy = (factor: number): void =>
    setView((now) => zoomAt(now, factor, frame.current!.clientWidth / 2, frame.current!.clientHeight / 2))
  const pan = (x: number, y: number): void => setView((now) => ({ ...now, x: now.x + x, y: now.y + y }))

  const onPointerDown = (event: PointerEvent): void => {
    moved.current = 0
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
  }
  const onPointerMove = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId)
    if (!before) return
    const at = { x: event.clientX, y: event.clientY }
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1]
    pointers.current.set(event.pointerId, at)
    moved.current += Math.abs(at.x - before.x) + Math.abs(at.y - before.y)
    if (moved.current > DRAG_PX) frame.current!.setPointerCapture(event.pointerId)
    if (!other) return pan(at.x - before.x, at.y - before.y)
    const { left, top } = frame.current!.getBoundingClientRect()
    const factor = Math.hypot(at.x - other.x, at.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y))
    setView((now) => zoomAt(now, factor, (at.x + other.x) / 2 - left, (at.y + other.y) / 2 - top))
  }
  const onPointerUp = (event: PointerEvent): void => {
    pointers.current.delete(event.pointerId)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = ACTS[event.key]
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (act === 'fit') fit()
    else if (typeof act === 'number') zoomBy(act)
    else pan(act[0] * STEP_PX, act[1] * STEP_PX)
  }
  return {
    frame,
    view,
    fit,
    zoomBy,
    onKeyDown,
    handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  }
}

const ACTS: Record<string, 'fit' | number | [number, number]> = {
  ArrowLeft: [1, 0],
  ArrowRight: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  '+': 1.25,
  '=': 1.25,
  '-': 0.8,
  '0': 'fit',
}
