// What this browser keeps for the client. Nothing else of the client touches its storage.
import { browserStorage, isKept, SafeStorage } from "../../sdk/parley/storage.js";

// Of all windows, and of this one. The SDK takes the browser's own: by it, tabs know one another.
export const ofBrowser = browserStorage("localStorage");
export const ofWindow = browserStorage("sessionStorage");
export const stored = new SafeStorage(ofBrowser);
export const storedHere = new SafeStorage(ofWindow);

// Whether a sign-in outlives a reload of the page.
export const isKeeping = isKept(ofBrowser) && isKept(ofWindow);

// A JSON value; `empty` when there is none, or none that can be read.
export function readStored(storage, key, empty) {
  try {
    return JSON.parse(storage.getItem(key)) ?? empty;
  } catch {
    return empty;
  }
}
