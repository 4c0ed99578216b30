// The address is the state of navigation: links below /app/ change it without loading the page anew.
import { html, useEffect } from "./lib/html.js";
import { createStore, useStore } from "./lib/store.js";

const read = () => ({ path: location.pathname, search: location.search, hash: location.hash });
const place = createStore(read());

addEventListener("popstate", () => place.set(read()));

export function navigate(path, { replace = false } = {}) {
  if (path === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", path);
  place.set(read());
}

export const onNavigation = place.subscribe;

export const isOurs = (path) => path === "/" || path.startsWith("/app/");

export function usePlace() {
  return useStore(place);
}

// A part that is no valid encoding stands for itself.
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// "/app/chats/:id" against a path: {id} or null.
export function match(pattern, path) {
  const names = pattern.split("/");
  const parts = path
    .replace(/(.)\/$/, "$1")
    .split("/")
    .map(decode);
  if (names.length !== parts.length) return null;
  const params = {};
  for (const [index, name] of names.entries()) {
    if (name.startsWith(":")) params[name.slice(1)] = parts[index];
    else if (name !== parts[index]) return null;
  }
  return params;
}

function onClick(event) {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const address = new URL(link.href, location.href);
  if (address.origin !== location.origin || !isOurs(address.pathname)) return;
  event.preventDefault();
  navigate(address.pathname + address.search);
}

// Once, in the shell: plain <a href="/app/…"> are enough everywhere.
export function useLinks() {
  useEffect(() => {
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}

// A link of a navigation, marked when the reader is there or below.
export function NavLink({ href, children, ...rest }) {
  const { path } = usePlace();
  const here = path === href || path.startsWith(`${href}/`);
  return html`<a href=${href} aria-current=${here ? "page" : undefined} ...${rest}>${children}</a>`;
}
