/** Creates elements without a framework. Text is never parsed as HTML. */

type Value = string | number | boolean | undefined | ((event: Event) => void);
type Child = Node | string | false | undefined;

/** A function is added as listener for the event of that name. True sets an attribute without value; false and undefined set none. */
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

/** An icon with a view box of 24 by 24 in the colour of the text. */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(SVG, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

/** Replaces the children of an element. If the focused one has a successor with the same `data-key`, that gets the focus. */
export function refill(element: HTMLElement, ...children: readonly Child[]): void {
  const held = focused(element);
  const key = held !== null && element.contains(held) ? held.dataset.key : undefined;
  element.replaceChildren(...children.filter(isShown));
  if (key !== undefined) element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Makes these elements the children of the parent, in this order, with as few moves as possible. */
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

/** The focused element in the tree of this element. */
export function focused(element: Node): HTMLElement | null {
  return (element.getRootNode() as Document | ShadowRoot).activeElement as HTMLElement | null;
}

function isShown(child: Child): child is Node | string {
  return child !== undefined && child !== false;
}
