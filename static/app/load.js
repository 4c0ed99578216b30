// Modules that are loaded when they are first wanted. Firefox keeps the failure of a module until the page goes: what
// has failed once is asked for under another address.
const failures = new Map();

// By its place below this folder, such as "calls/layer.js".
export async function load(name) {
  const address = `./${name}`;
  const count = failures.get(name) ?? 0;
  try {
    return await import(count ? `${import.meta.resolve(address)}?retry=${count}` : address);
  } catch (error) {
    failures.set(name, count + 1);
    throw error;
  }
}
