/**
 * As much of a document as Observable Plot and d3-selection ask for to build an SVG, where there
 * is none: elements with attributes, styles and children that can be written as text.
 */

const SVG = "http://www.w3.org/2000/svg";
const XHTML = "http://www.w3.org/1999/xhtml";

/** Digits behind the point: a hundredth of a pixel is seen by nobody. */
const DIGITS = 2;

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    // XML has no place for these, not even escaped, nor for halves of a letter.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

/** What places and paths are made of. The last bits of a logarithm are not the same on every CPU. */
const GEOMETRY = new Set([
  "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height", "transform", "points",
]);

function rounded(name: string, value: string): string {
  if (!GEOMETRY.has(name)) return value;
  return value.replace(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(DIGITS))));
}

export class TextNode {
  parentNode: ElementNode | null = null;
  constructor(public data: string) {}
  get textContent(): string {
    return this.data;
  }
  toString(): string {
    return escaped(this.data);
  }
}

type Child = ElementNode | TextNode;

class Style {
  readonly set = new Map<string, string>();
  setProperty(name: string, value: unknown): void {
    this.set.set(name, String(value));
  }
  removeProperty(name: string): void {
    this.set.delete(name);
  }
  getPropertyValue(name: string): string {
    return this.set.get(name) ?? "";
  }
  toString(): string {
    return [...this.set].map(([name, value]) => `${name}:${value}`).join(";");
  }
}

const hyphenated = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A style whose properties are also written as members: `style.fontSize = "12px"`. */
function assignable(style: Style): Style {
  return new Proxy(style, {
    set(target, name, value: unknown): boolean {
      target.setProperty(hyphenated(String(name)), value);
      return true;
    },
  });
}

export class ElementNode {
  readonly nodeType = 1;
  readonly attributes = new Map<string, string>();
  readonly style: Style;
  childNodes: Child[] = [];
  parentNode: ElementNode | null = null;

  constructor(
    readonly namespaceURI: string,
    readonly tagName: string,
    readonly ownerDocument: unknown,
  ) {
    this.style = assignable(new Style());
  }

  get nodeName(): string {
    return this.tagName;
  }
  get firstChild(): Child | null {
    return this.childNodes[0] ?? null;
  }
  get lastChild(): Child | null {
    return this.childNodes.at(-1) ?? null;
  }
  get children(): ElementNode[] {
    return this.childNodes.filter((child) => child instanceof ElementNode);
  }
  get textContent(): string {
    return this.childNodes.map((child) => child.textContent).join("");
  }
  set textContent(text: string | null) {
    this.childNodes = [];
    if (text) this.append(String(text));
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.attributes.has(name);
  }
  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }
  setAttributeNS(_namespace: string, name: string, value: unknown): void {
    this.setAttribute(name, value);
  }
  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  appendChild<C extends Child>(child: C): C {
    return this.insertBefore(child, null);
  }
  insertBefore<C extends Child>(child: C, next: Child | null): C {
    child.parentNode?.removeChild(child);
    child.parentNode = this;
    const place = next ? this.childNodes.indexOf(next) : -1;
    this.childNodes.splice(place < 0 ? this.childNodes.length : place, 0, child);
    return child;
  }
  removeChild(child: Child): Child {
    this.childNodes = this.childNodes.filter((other) => other !== child);
    child.parentNode = null;
    return child;
  }
  append(...children: (Child | string)[]): void {
    for (const child of children) this.appendChild(typeof child === "string" ? new TextNode(child) : child);
  }
  remove(): void {
    this.parentNode?.removeChild(this);
  }
  querySelector(): null {
    return null;
  }
  querySelectorAll(): never[] {
    return [];
  }
  addEventListener(): void {}
  removeEventListener(): void {}

  toString(): string {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escaped(rounded(name, value))}"`);
    const style = this.style.toString();
    const styled = style === "" ? "" : ` style="${escaped(style)}"`;
    const inside = this.childNodes.map(String).join("");
    const opening = `<${this.tagName}${attributes.join("")}${styled}`;
    return inside === "" ? `${opening}/>` : `${opening}>${inside}</${this.tagName}>`;
  }
}

/** A document for one drawing. */
export function newDocument(): Document {
  const document = {
    createElement: (name: string): ElementNode => new ElementNode(XHTML, name, document),
    createElementNS: (namespace: string, name: string): ElementNode => new ElementNode(namespace, name, document),
    createTextNode: (text: string): TextNode => new TextNode(text),
    defaultView: {},
    documentElement: null as ElementNode | null,
  };
  document.documentElement = new ElementNode(XHTML, "html", document);
  return document as unknown as Document;
}

/** An element of a drawing. */
export function svgElement(name: string, attributes: Record<string, string | number>, ...children: (Child | string)[]): ElementNode {
  const element = new ElementNode(SVG, name, null);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}
