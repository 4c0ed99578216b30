// Types of the platform, also where TypeScript knows no DOM: in Node, workers and React Native.

type Instance<Name extends string, Otherwise> = typeof globalThis extends { [Key in Name]: { prototype: infer Type } }
  ? Type
  : Otherwise;
type Global<Name extends string, Otherwise> = typeof globalThis extends { [Key in Name]: infer Type } ? Type : Otherwise;

export type AbortSignal = Instance<"AbortSignal", { readonly aborted: boolean }>;
export type Blob = Instance<"Blob", { readonly size: number; readonly type: string }>;
export type File = Instance<"File", { readonly size: number; readonly type: string; readonly name: string }>;
export type MediaDevices = Instance<"MediaDevices", object>;
export type MediaStream = Instance<"MediaStream", object>;
export type RTCPeerConnection = Instance<"RTCPeerConnection", object>;
export type PeerConnectionClass = Global<"RTCPeerConnection", new (...values: never[]) => unknown>;
export type Fetch = Global<"fetch", (url: string, options?: never) => Promise<unknown>>;
