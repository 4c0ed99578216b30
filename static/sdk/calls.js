/**
 * The code of calls, which the SDK otherwise loads with the first call. An app that imports this has it at once.
 * Types: calls.d.ts.
 */
export { Call } from "./parley/call.js";
export { loadModules as prepareCalls } from "./parley/commands.js";
