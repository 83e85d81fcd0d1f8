/** Elements without a framework, and without text that is parsed as HTML. */

type Value = string | number | boolean | undefined | ((event: Event) => void);
type Child = Node | string | false | undefined;

/** A function as value listens to the event of that name; true is an attribute without value, false and undefined are none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter(isShown));
  return element;
}

export function button(
  text: string,
  click: () => void,
  more: Readonly<Record<string, Value>> = {},
  ...children: Child[]
): HTMLButtonElement {
  return h('button', { type: 'button', click, ...more }, ...(children.length > 0 ? children : [text]));
}

const SVG = 'http://www.w3.org/2000/svg';

/** Of 24 by 24, drawn in the colour of the text. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(SVG, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

/** Replaces what is in an element; what had the focus has it again where something of the same `data-key` is there. */
export function refill(element: HTMLElement, ...children: readonly Child[]): void {
  const held = focused(element);
  const key = held !== null && element.contains(held) ? held.dataset.key : undefined;
  element.replaceChildren(...children.filter(isShown));
  if (key !== undefined) element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Puts these elements into the parent, in this order, and moves as few as possible. */
export function arrange(parent: Element, wanted: readonly HTMLElement[]): void {
  const held = focused(parent);
  const kept = new Set<Element>(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((element, at) => {
    const there = parent.children[at];
    if (there !== element) parent.insertBefore(element, there ?? null);
  });
  if (held !== null && held !== focused(parent) && held.isConnected) held.focus();
}

/** In the tree of this element. */
export function focused(element: Node): HTMLElement | null {
  return (element.getRootNode() as Document | ShadowRoot).activeElement as HTMLElement | null;
}

function isShown(child: Child): child is Node | string {
  return child !== undefined && child !== false;
}
