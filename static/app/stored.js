// A JSON value that this browser keeps; `empty` when there is none, or none that can be read.
export function readStored(storage, key, empty) {
  try {
    return JSON.parse(storage.getItem(key)) ?? empty;
  } catch {
    return empty;
  }
}
