// Pages that the browser translates: it puts <font> elements in the place of the text nodes that Preact knows. Before
// a component is drawn anew, its own text nodes go back to their places; the browser translates what is new again.
// Uses Preact's private names: docs/decisions/web-client.md#0100
import { options } from "preact";

const fonts = document.getElementsByTagName("font");

// The nodes that stand in an element, in order; `below` receives the vnodes of elements.
function nodesOf(vnode, nodes, below) {
  for (const child of vnode?.__k ?? []) {
    if (!child) continue;
    if (typeof child.type === "function") nodesOf(child, nodes, below);
    else if (child.__e) {
      nodes.push(child.__e);
      if (child.type) below.push(child);
    }
  }
}

function restore(vnode, host) {
  const [nodes, below] = [[], []];
  nodesOf(vnode, nodes, below);
  for (const child of [...host.children]) if (child.localName === "font") child.remove();
  let next = null;
  for (const node of nodes.reverse()) {
    if (node.parentNode !== host) host.insertBefore(node, next);
    next = node;
  }
  for (const child of below) restore(child, child.__e);
}

// A hook that Preact has for its own tools.
/** @type {{ __r?: (vnode: any) => void }} */
const hooks = /** @type {any} */ (options);
const drawn = hooks.__r;
hooks.__r = (vnode) => {
  // What its parent draws with it has been restored with the parent.
  if (fonts.length && vnode.__k && vnode.__c?.__P) {
    let top = vnode;
    while (top.__ && typeof top.type !== "string") top = top.__;
    restore(top, typeof top.type === "string" ? top.__e : vnode.__c.__P);
  }
  drawn?.(vnode);
};
