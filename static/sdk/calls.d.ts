export { Call, type CallStats, type Device, type ShownCall } from "./parley.js";

/** Loads the code of calls before the first call. */
export function prepareCalls(): Promise<unknown>;
