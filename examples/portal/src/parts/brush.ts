import { svg } from './dom.js';

/** A shorter drag, of the width of the picture, is a slip of the hand. */
const LEAST_DRAG = 0.006;

/** Lets a part of a picture be drawn over from side to side; `choose` gets where it begins and ends, each from 0 to 1. */
export function brush(
  picture: SVGElement,
  { width, height }: { width: number; height: number },
  choose: (from: number, to: number) => void,
): void {
  let start: number | undefined;
  const drawn = svg('rect', { class: 'span', x: 0, y: 0, width: 0, height });
  const place = ({ clientX }: PointerEvent): number => {
    const { left, width: shown } = picture.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / shown));
  };
  picture.classList.add('brushed');
  picture.addEventListener('pointerdown', (event) => {
    start = place(event);
    picture.classList.add('drawing');
    picture.setPointerCapture(event.pointerId);
    picture.append(drawn);
  });
  picture.addEventListener('pointermove', (event) => {
    if (start === undefined) return;
    const end = place(event);
    drawn.setAttribute('x', String(Math.min(start, end) * width));
    drawn.setAttribute('width', String(Math.abs(end - start) * width));
  });
  const stop = (): void => {
    start = undefined;
    picture.classList.remove('drawing');
    drawn.remove();
  };
  picture.addEventListener('pointercancel', stop);
  picture.addEventListener('pointerup', (event) => {
    const begun = start;
    stop();
    if (begun === undefined) return;
    const [from = 0, to = 0] = [begun, place(event)].sort((one, other) => one - other);
    if (to - from >= LEAST_DRAG) choose(from, to);
  });
}
